"""Small edits of a function's source: their kinds, their order and their scope."""

import ast
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from autograder.shared.edits import (
    LARGEST,
    MOST_BYTES,
    MOST_EDITS,
    MOST_NODES,
    Text,
    executed,
    line_names,
    redefined,
)


def text(body: str) -> str:
    return f'def f(x, y=2):\n    """There are 512."""\n    {body}\n'


# edits.txt has all edits of these functions in their order: size, lines, the old part, and the new ones. After a deliberate change,
# write `every_edit()` to it.
EDITS = Path(__file__).with_name("edits.txt")
BODIES = (
    "return x + y * 2.5",
    "return x.mean(axis=0) - y[1:, 0]",
    'return f(x, -1) if not x < y <= 3 else (x, y, "beta")',
    'return {"gamma": x, "beta": y}["gamma"]',
    "return x and y is None",
    "x[0] = np.sqrt(x - (y - 1))\n    return x",
    "z = x.sum(0)\n    y = z\n    return -x.max(axis=1, ddof=1)",
)


def every_edit() -> str:
    return "".join(f"{body!r}\n{''.join(_edits(body))}" for body in BODIES)


def _edits(body: str) -> Iterator[str]:
    edits = Text(text(body).encode(), "f", ()).edits
    for (size, lines, old), group in groupby(edits, key=lambda e: (e.size, e.lines, ast.unparse(e.old))):
        news = (" & ".join(ast.unparse(ast.fix_missing_locations(node)) for node in edit.new) for edit in group)
        yield f"  {size} {lines} {old}  ->  {'  |  '.join(news)}\n"


def test_edits_come_in_a_fixed_order() -> None:
    assert every_edit() == EDITS.read_text()


def test_edits_are_undone_and_can_be_run_and_sizes_ascend() -> None:
    source = "def f(x, y):\n    for i in range(y):\n        x = x - i * np.mean(x, axis=0)\n    return x, y\n"
    found = Text(source.encode(), "f", ())
    names: dict[str, Any] = {"f": 1}
    before = ast.dump(found.tree)
    for edit in found.edits:
        with edit.applied(), redefined(found.dependents(edit.unit), names, "m.py", nullcontext):
            assert ast.dump(found.tree) != before
            assert callable(names["f"]) and names["f"].__code__.co_filename == "m.py"
        assert names["f"] == 1
    assert ast.dump(found.tree) == before
    assert [edit.size for edit in found.edits] == sorted(edit.size for edit in found.edits)
    assert found.edits[-1].size <= LARGEST


def test_edits_of_a_short_helper_are_within_the_limit() -> None:
    long = "".join(f"    a_{n} = x * {n} + a_{max(0, n - 1)}\n" for n in range(40))
    source = f"def _g(x):\n    return np.sqrt(x) + 1\ndef f(x):\n{long}    return _g(a_0)\n"
    found = Text(source.encode(), "f", ())
    of_helper = [number for number, edit in enumerate(found.edits) if edit.lines == (2,) and edit.size <= 2]
    assert max(of_helper) < MOST_EDITS < len(found.edits)


@pytest.mark.parametrize(("source", "limit"), [
    (b"#" * MOST_BYTES, ""), (b"#" * (MOST_BYTES + 1), "too large"),
    (b"pass\n" * (MOST_NODES - 1), ""), (b"pass\n" * MOST_NODES, "too many nodes"),
])  # fmt: skip
def test_size_of_the_source_is_limited(source: bytes, limit: str) -> None:
    if not limit:
        assert Text(source, "f", ()).edits == []
    else:
        with pytest.raises(ValueError, match=limit):
            Text(source, "f", ())


SEVERAL = """A = 1
B = 2
def _g(x):
    return x + A
def h(x):
    return B
def f(x):
    if x:
        return h(_g(x))
    return [
        A,
        2]
T = _g
@T
def _g(x):
    return 3
"""


def test_private_functions_and_constants_are_edited_but_other_functions_are_not() -> None:
    found = Text(SEVERAL.encode(), "f", ["h"])
    assert {line for edit in found.edits for line in edit.lines} == {1, 4, 8, 9, 10, 11, 12, 13, 16}
    reached = {lines: {edit.lines[0] for _, edit in found.reached(lines)} for lines in ((4,), (9, 99), (8,), (11, 16))}
    assert reached == {(4,): {4}, (9, 99): {9}, (8,): {8}, (11, 16): {10, 11, 12, 16}}
    assert [number for number, edit in found.reached([4])] == [
        number for number, edit in enumerate(found.edits) if edit.lines == (4,)
    ]
    dependents = {unit.lineno: [later.lineno for later in found.dependents(unit)] for unit in found.units}
    assert dependents == {1: [1, 15, 13], 3: [3, 15, 13], 7: [7, 15, 13], 13: [13, 15], 15: [15]}


def test_replacements_add_no_operation() -> None:
    found = Text(b"def f(x, y): return x - 2", "f", ())
    replacements = [ast.unparse(ast.fix_missing_locations(edit.new[0])) for edit in found.replacements(found.units[0])]
    assert replacements[:3] == ["x", "2", "2 - x"]
    assert {"x * 2", "y", "-2"} <= {*replacements} and "-x" not in replacements


def test_lines_that_run_are_those_of_the_file() -> None:
    names: dict[str, object] = {}
    exec(compile("def f(x):\n    if x:\n        return 1\n    return g()\n", "m.py", "exec"), names)
    exec(compile("\n\n\n\n\n\n\ndef g():\n    return 2\n", "other.py", "exec"), names)
    with executed("m.py") as lines:
        eval("f(0)", names)
    assert lines == {1, 2, 4}


def test_lines_in_words() -> None:
    assert [line_names([3]), line_names([3, 4]), line_names([3, 4, 7])] == [
        "line 3",
        "lines 3 and 4",
        "lines 3, 4 and 7",
    ]
