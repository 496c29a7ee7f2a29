"""Changed arguments are reported by argument, place and kind."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autograder.shared.changes import MAX_CHANGES, Change, differences, in_words
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


# What is changed, the changes, and what is said of them.
CHANGES: dict[str, tuple[Callable[..., Any], list[Any], str]] = {
    "nothing": (lambda x, p, t, n: None, [], ""),
    "entry": (lambda x, p, t, n: x.__setitem__((0, 1), 9), [(0, (), "entry written")], "values in `x` were overwritten"),
    "nested entry": (
        lambda x, p, t, n: p["blocks"][1]["g"].fill(7),
        [(1, ("blocks", 1, "g"), "entry written")], "values in `p['blocks'][1]['g']` were overwritten",
    ),
    "in a tuple": (lambda x, p, t, n: t[0].fill(0), [(2, (0,), "entry written")], "values in `argument 2[0]` were overwritten"),
    "key added": (lambda x, p, t, n: p.update(secret=1), [(1, (), "key added")], "a key was added to `p`"),
    "key removed": (lambda x, p, t, n: p.pop("w"), [(1, ("w",), "key removed")], "`p['w']` was removed"),
    "replaced": (lambda x, p, t, n: p.update(w="text"), [(1, ("w",), "replaced")], "`p['w']` was replaced"),
    "equal in its place": (lambda x, p, t, n: p.update(w=np.ones(2)), [], ""),
    "length": (lambda x, p, t, n: p["blocks"].pop(), [(1, ("blocks",), "length")], "the length of `p['blocks']` changed"),
    "shape": (
        lambda x, p, t, n: p.update(w=np.ones((2, 1))), [(1, ("w",), "dtype or shape")], "the shape or dtype of `p['w']` changed",
    ),
    "dtype": (
        lambda x, p, t, n: p.update(w=np.ones(2, "f4")),
        [(1, ("w",), "dtype or shape")], "the shape or dtype of `p['w']` changed",
    ),
    "reordered": (lambda x, p, t, n: p.update(w=p.pop("w")), [], ""),
    "elements": (lambda x, p, t, n: p["set"].add(3), [(1, ("set",), "elements")], "the elements of `p['set']` changed"),
    "sorted in place": (
        lambda x, p, t, n: p["pairs"].sort(),
        [(1, ("pairs", 0), "replaced"), (1, ("pairs", 1), "replaced")], "`p['pairs'][0]` was replaced",
    ),
    "several": (
        lambda x, p, t, n: (x.fill(5), p.update(z=1)),
        [(0, (), "entry written"), (1, (), "key added")], "values in `x` were overwritten, a key was added to `p`",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_is_reported(name: str) -> None:
    change, expected, said = CHANGES[name]
    given = arguments()
    before = copied(given)
    change(*given)
    found = differences(given, before)
    assert found == expected and in_words(("x", "p"), found) == said
    assert in_words(("x", "p"), [Change(*change) for change in expected[::-1]][-1:]) == said.split(", ")[0]


UNIT = np.finfo(float).eps


@pytest.mark.parametrize(("before", "after", "changed"), [
    (np.array([0.0, np.nan]), np.array([16 * UNIT, np.nan]), False), (np.array([0.0]), np.array([17 * UNIT]), True),
    (np.array([1.0]), np.array([1 + 32 * UNIT]), False), (np.array([1.0]), np.array([1 + 34 * UNIT]), True),
    (np.array([2**60]), np.array([2**60 + 1]), True), (np.array([True]), np.array([False]), True),
    (np.linspace(0.1, 9, 50), np.linspace(0.1, 9, 50) * 3 / 3, False), (1.5, 1.5, False), (1.5, 1.25, True),
])  # fmt: skip
def test_only_floats_may_differ_by_rounding(before: Any, after: Any, changed: bool) -> None:
    assert bool(differences([after], [before])) is changed


def test_number_of_reported_changes_is_limited() -> None:
    assert len(differences([[*np.ones((100, 1))]], [[*np.zeros((100, 1))]])) == MAX_CHANGES
