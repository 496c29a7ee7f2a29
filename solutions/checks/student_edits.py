"""Searches for a single small edit of your function that makes every public check pass, as the grader does, and shows its line.

`pytest --hint` uses this for a function whose results no known mistake explains. The edits come from your code alone, so the line
says where to look, not what is right. If no edit helps, the values that your code computes on the way are shown.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from io import StringIO
from itertools import groupby
from time import monotonic, process_time
from types import FrameType
from typing import Any

import numpy as np
from student_calls import Call, calls_in
from student_errors import Stopped, TooLong
from student_limits import as_graded
from student_modules import definitions, find
from student_values.display import display
from student_values.edits import MOST_EDITS, Edit, Text, executed, line_names, redefined
from student_values.tree import copied, describe

# For all searches of one run, in processor time and by the clock: a loaded machine finds the same edits.
SECONDS, WAITING = 2.5, 10.0
EDITED_SECONDS = 0.1  # of processor time, for one call of edited code
FEW = 2  # lines that are worth showing
MOST_VALUES, MOST_LINES, WIDTH = 6, 4, 74
NUMBERS = np.ndarray | np.generic | int | float | tuple
LEFT = [SECONDS, WAITING]


def searched(call: Call, are_several: bool) -> tuple[str, list[tuple[str, str]]]:
    """Return the place to look at ("" if none), and the lines about a function whose first failing call this is.

    `are_several`: several known mistakes match; otherwise none does.
    """
    began = process_time(), monotonic()
    with redirect_stdout(StringIO()), np.errstate(all="ignore"):
        lines, finished, slip = _lines(call, began[0] + LEFT[0], began[1] + LEFT[1])
    LEFT[:] = LEFT[0] - (process_time() - began[0]), LEFT[1] - (monotonic() - began[1])
    if slip or 0 < len(lines) <= FEW:
        places = line_names(lines) if slip else " or of ".join(line_names([line]) for line in lines)
        said = f"An edit of {places} makes every public check of `{call.function}` pass."
        return f"{call.module}.py, line {lines[0]}", [("look at", f"{slip} {said}".strip())]
    tried = ", and none of the small edits tried makes every check pass" if finished and not lines else ""
    values = _values_on_the_way(call)
    compare = " Compare these values with those you expect:" if values else ""
    known = "Several known mistakes give" if are_several else "No known mistake gives"
    return "", [("search", f"{known} these results{tried}.{compare}"), ("values", values)]


def _lines(call: Call, end: float, latest: float) -> tuple[list[int], bool, str]:
    """The lines of the smallest edits that make every call pass, whether all edits were tried in time, and the name that does not
    exist, if that is the mistake.
    """
    module, function = call.module, call.function
    names, calls = vars(sys.modules[module]), [other for other in calls_in(module) if other.function == function]
    file = str(names["__file__"])
    right = [other.passes(find(module, function), EDITED_SECONDS, process_time) for other in calls]
    calls = [calls[number] for number in sorted(range(len(calls)), key=right.__getitem__)]  # failing ones first
    if all(right) or len({other.key for other in calls if other.told}) < 2:  # many edits make a single call pass
        return [], False, ""
    try:
        with open(file, "rb") as source:
            others = [other for other in definitions(module) if other in _contract(module)]
            text = Text(source.read(), function, others, docstring=calls[0].key)  # the keys of dicts are in it
        with executed(file) as run:
            calls[0].passes(find(module, function))
    except (OSError, ValueError, SyntaxError):
        return [], False, ""
    edits = [edit for _, edit in text.reached(run)][:MOST_EDITS]
    for _, same in groupby(edits, key=lambda edit: edit.size):
        lines: dict[int, None] = {}
        slip = ""
        for edit in same:
            if process_time() > end or monotonic() > latest:
                return [], False, ""
            if edit.lines[0] not in lines and _is_fixed(text, edit, names, file, calls):
                lines |= dict.fromkeys(edit.lines)
                slip = slip or edit.sentence
        if lines:
            return sorted(lines), True, slip
    return [], True, ""


def _contract(module: str) -> set[str]:
    return {call.function for call in calls_in(module)}


def _is_fixed(text: Text, edit: Edit, names: dict[str, Any], file: str, calls: Sequence[Call]) -> bool:
    try:
        with edit.applied(), redefined(text.dependents(edit.unit), names, file, as_graded):
            if any(map(_appends_to_itself, ast.walk(edit.unit))):
                return False
            return all(call.passes(names[call.function], EDITED_SECONDS, process_time) for call in calls)
    except (Exception, SystemExit, TooLong, Stopped):
        return False


def _appends_to_itself(node: ast.AST) -> bool:
    """Return True for code that makes a list contain itself: NumPy hangs on it, and no time limit can stop it."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=name), attr="append" | "insert"), args=[*_, ast.Name(id=last)]
        ):
            return name == last
    return False


def _values_on_the_way(call: Call) -> str:
    """Return the local variables of the function when the call ends, or the values of the calls in its last expression."""
    found: dict[str, Any] = {}
    code = getattr(inspect.unwrap(find(call.module, call.function)), "__code__", None)

    def watch(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code is not code:
            return None
        if event == "return" and not found:
            named = (
                {n: v for n, v in pairs if isinstance(v, NUMBERS)}
                for pairs in (_assigned(frame), _computed(frame, call.module))
            )
            found.update(copied(next(filter(None, named), {})))
        return watch

    sys.settrace(watch)
    try:
        with redirect_stdout(StringIO()), np.errstate(all="ignore"):
            call.passes(find(call.module, call.function))
    finally:
        sys.settrace(None)
    return "\n".join(_shown(*item) for item in [*found.items()][:MOST_VALUES])


def _assigned(frame: FrameType) -> Iterator[tuple[str, Any]]:
    """Yield the local variables without the arguments."""
    arguments = frame.f_code.co_varnames[: frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount]
    yield from ((name, value) for name, value in frame.f_locals.items() if name not in (*arguments, "_"))


def _computed(frame: FrameType, module: str) -> Iterator[tuple[str, Any]]:
    """Yield the values of the calls in the statement that returned."""
    for node in (node for nodes in definitions(module).values() for node in ast.walk(nodes[-1])):
        if isinstance(node, ast.Return) and node.value and node.lineno <= frame.f_lineno <= (node.end_lineno or 0):
            for inner in reversed([*ast.walk(node.value)]):
                if isinstance(inner, ast.Call):
                    try:
                        code = compile(ast.Expression(inner), "<value>", "eval")
                        yield ast.unparse(inner), eval(code, frame.f_globals, frame.f_locals)  # noqa: S307 - the student's
                    except Exception:
                        continue


def _shown(name: str, value: Any) -> str:
    """Return a name with its value, on a few lines, or else with the kind of the value."""
    start, indent = (f"{name} = ", len(name) + 3) if len(name) < WIDTH // 2 else (f"{name} =\n  ", 2)
    lines = display(value, width=WIDTH - indent).splitlines()
    if len(lines) > MOST_LINES or max(map(len, lines)) + indent > WIDTH:
        lines = [f"{value.dtype} array of shape {value.shape}" if isinstance(value, np.ndarray) else describe(value)]
    return start + f"\n{' ' * indent}".join(lines)
