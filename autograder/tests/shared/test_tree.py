"""Values as trees: mapping over the leaves, and copies that share nothing."""

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

from autograder.shared.tree import Opaque, arrays, copied, describe, in_order, leaves, mapped

Pair = namedtuple("Pair", "one two")
ZERO = np.zeros(2)
VALUE = {"a": [np.ones((2, 3), order="F"), None, (2, ZERO, ZERO)], "": [], "b": Pair(1, [2])}


def test_mapping_keeps_the_structure() -> None:
    np.testing.assert_equal(mapped(lambda leaf: leaf, VALUE), VALUE)
    assert [*leaves(mapped(lambda leaf: 7, VALUE))] == 7 * [7]
    assert [type(part) for part in mapped(lambda leaf: leaf, [[1], (2,), Pair(1, 2)])] == [list, tuple, tuple]


def test_copies_share_no_memory() -> None:
    copy = copied(VALUE)
    np.testing.assert_equal(copy, VALUE)
    assert not any(np.shares_memory(one, other) for one in arrays(copy) for other in arrays(VALUE))
    assert copy["a"][0].flags.f_contiguous and copy["a"][2][1] is not copy["a"][2][2]
    given = {"s": {1, ("a", 2)}}
    copy = copied(given)
    given["s"].add(3)
    assert copy == {"s": {1, ("a", 2)}} and sorted(map(str, leaves(copy))) == ["1", "2", "a"]


@pytest.mark.parametrize(("value", "kind"), [
    (np.zeros(3, int), "an array of integers with shape (3,)"), (np.zeros(3, np.int16), "an array of int16 with shape (3,)"),
    (np.ma.array([1.0]), "an ndarray subclass"), (None, "None"), (True, "a bool"), (np.int8(1), "an int"), (1.5, "a float"),
    ("", "a string"), ((), "a tuple"), ({}, "a dict"), ((n for n in [0]), "a generator"), (print, "a function"), (int, "a class"),
    (object(), "an object of another type"), (Opaque("a kind"), "a kind"),
])  # fmt: skip
def test_kinds_have_names(value: Any, kind: str) -> None:
    assert describe(value) == kind


def test_elements_of_any_kinds_have_an_order() -> None:
    numbers, others = (
        [np.float64(0.5), True, 1.5, np.int64(2), "a", "b", b"x", None],
        [{1, 2}, {1, 3}, (1, "b"), [2, 2], (2, "a")],
    )
    ordered = repr([*numbers, *others])
    assert repr(in_order([*others, *numbers])) == repr(in_order(reversed([*others, *numbers]))) == ordered
