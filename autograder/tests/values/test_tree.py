"""A value as a tree: what its leaves are, and that copies share nothing."""

from collections import namedtuple
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from autograder.values.tree import arrays, copied, leaves, mapped

Pair = namedtuple("Pair", "one two")
VALUES = st.recursive(
    st.integers() | st.none() | st.builds(np.ones, st.integers(1, 3)),
    lambda inner: (
        st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_mapping_keeps_the_tree(value: Any) -> None:
    np.testing.assert_equal(mapped(lambda leaf: leaf, value), value)
    assert [*leaves(mapped(lambda leaf: 7, value))] == [7 for _ in leaves(value)]


@given(VALUES)
def test_a_copy_shares_no_array(value: Any) -> None:
    copy = copied(value)
    np.testing.assert_equal(copy, value)
    assert not any(np.shares_memory(one, other) for one in arrays(copy) for other in arrays(value))


def test_arrays_that_are_one_object_become_two() -> None:
    zero = np.zeros(2)
    one, other = copied((zero, zero))
    assert one is not other


def test_layout_and_named_tuples() -> None:
    columns = np.asfortranarray(np.ones((2, 3)))
    assert copied([columns])[0].flags.f_contiguous
    assert copied(Pair(1, [2])) == (1, [2])
