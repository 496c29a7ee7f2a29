"""Changed arguments are reported by argument, place and kind."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autograder.shared.changes import MAX_CHANGES, differences
from autograder.shared.tree import copied


def arguments() -> tuple[Any, ...]:
    return (
        np.arange(6.0).reshape(2, 3),
        {
            "set": {1, 2},
            "pairs": [(2, "a"), (1, "a")],
            "w": np.ones(2),
            "blocks": [{"g": np.ones(1)}, {"g": np.zeros(1)}],
        },
        (np.ones(2, int), 3.5),
        None,
    )


def remove(params: dict[str, Any]) -> None:
    del params["w"]


CHANGES: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "nothing": (lambda x, p, t, n: None, []),
    "entry": (lambda x, p, t, n: x.__setitem__((0, 1), 9), [(0, (), "entry written")]),
    "nested entry": (lambda x, p, t, n: p["blocks"][1]["g"].fill(7), [(1, ("blocks", 1, "g"), "entry written")]),
    "in a tuple": (lambda x, p, t, n: t[0].fill(0), [(2, (0,), "entry written")]),
    "key added": (lambda x, p, t, n: p.update(secret=1), [(1, (), "key added")]),
    "key removed": (lambda x, p, t, n: remove(p), [(1, ("w",), "key removed")]),
    "replaced": (lambda x, p, t, n: p.update(w="text"), [(1, ("w",), "replaced")]),
    "equal in its place": (lambda x, p, t, n: p.update(w=np.ones(2)), []),
    "length": (lambda x, p, t, n: p["blocks"].pop(), [(1, ("blocks",), "length")]),
    "shape": (lambda x, p, t, n: p.update(w=np.ones((2, 1))), [(1, ("w",), "dtype or shape")]),
    "dtype": (lambda x, p, t, n: p.update(w=np.ones(2, "f4")), [(1, ("w",), "dtype or shape")]),
    "reordered": (lambda x, p, t, n: p.update(w=p.pop("w")), []),
    "elements": (lambda x, p, t, n: p["set"].add(3), [(1, ("set",), "elements")]),
    "sorted in place": (lambda x, p, t, n: p["pairs"].sort(), [(1, ("pairs", 0), "replaced"), (1, ("pairs", 1), "replaced")]),
    "several": (lambda x, p, t, n: (x.fill(5), p.update(z=1)), [(0, (), "entry written"), (1, (), "key added")]),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_is_reported(name: str) -> None:
    change, expected = CHANGES[name]
    given = arguments()
    before = copied(given)
    change(*given)
    assert differences(given, before) == expected


def test_change_undone_up_to_rounding_is_not_reported() -> None:
    x = np.linspace(0.1, 9, 50)
    before = [x.copy()]
    x *= 3
    assert differences([x], before)
    x /= 3
    assert differences([x], before) == []


def test_integers_are_compared_exactly_and_nan_equals_nan() -> None:
    x, y = np.array([2**60]), np.array([np.nan])
    before = [x.copy(), y.copy()]
    assert differences([x, y], before) == []
    x += 1
    assert differences([x, y], before) == [(0, (), "entry written")]


def test_number_of_reported_changes_is_limited() -> None:
    many = [np.zeros(1) for _ in range(100)]
    before = [copied(many)]
    for array in many:
        array += 1
    assert len(differences([many], before)) == MAX_CHANGES
