"""Values as trees: mapping over the leaves, and copies that share nothing."""

from collections import namedtuple

import numpy as np

from autograder.shared.tree import arrays, copied, describe, in_order, leaves, mapped

Pair = namedtuple("Pair", "one two")
ZERO = np.zeros(2)
VALUE = {"a": [np.ones((2, 3), order="F"), None, (2, ZERO, ZERO)], "": [], "b": Pair(1, [2])}


def test_mapping_keeps_the_structure() -> None:
    np.testing.assert_equal(mapped(lambda leaf: leaf, VALUE), VALUE)
    assert [*leaves(mapped(lambda leaf: 7, VALUE))] == 7 * [7]


def test_copies_share_no_memory() -> None:
    copy = copied(VALUE)
    np.testing.assert_equal(copy, VALUE)
    assert not any(np.shares_memory(one, other) for one in arrays(copy) for other in arrays(VALUE))
    assert copy["a"][0].flags.f_contiguous and copy["a"][2][1] is not copy["a"][2][2]
    given = {"s": {1, ("a", 2)}}
    copy = copied(given)
    given["s"].add(3)
    assert copy == {"s": {1, ("a", 2)}} and sorted(map(str, leaves(copy))) == ["1", "2", "a"]


def test_default_integers_have_one_name_whatever_their_size() -> None:
    assert describe(np.zeros(3, int)) == "an array of integers with shape (3,)"
    assert describe(np.zeros(3, np.int16)) == "an array of int16 with shape (3,)"


def test_elements_of_any_kinds_have_an_order() -> None:
    values = [2, 1.5, True, "b", "a", b"x", None, (2, "a"), (1, "b"), frozenset({2}), np.float64(0.5)]
    assert in_order(values) == in_order(reversed(values))
    assert in_order(values)[:3] == [0.5, True, 1.5]
