"""checks/mistakes.json of the students' folder: what known mistakes give for the inputs of the public checks, their
sentences, and fingerprints of what is right for other arguments.

It has wrong results of inputs whose right result stands in the checks, and no code; solutions/checks/known_mistakes.py reads it
and says what its format is. Here the kit's own code is run, never a student's.
"""

import importlib
import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from autograder.feedback.other_arguments import others
from autograder.grading.record import Step, Target
from autograder.homework import mistakes, reference
from autograder.homework.rubric import Rubric
from autograder.sandbox.messages import Call
from autograder.values.tree import copied, mapped

NAME = "checks/mistakes.json"
# Of a result in the table: a tenth of the checks' tolerance is lost, and what only rounding has made is gone.
DIGITS = 7
NOT_SENT = Call("call", "", b"")


def text(solutions: Path, rubric: Rubric) -> str:
    """The whole table: the same bytes for the same tree."""
    with checks(solutions):
        table = {module: of_module(module, rubric) for module in rubric.modules if rubric.explains(module)}
    return json.dumps(table, separators=(",", ":")) + "\n"


@contextmanager
def checks(solutions: Path) -> Iterator[None]:
    """While this lasts, the public checks can be imported; the hidden suites have the same names as some of their modules."""
    folder = solutions / "checks"
    own = {path.stem for path in folder.iterdir() if path.stem != "conftest"}
    hidden = {name: sys.modules.pop(name) for name in [*sys.modules] if name.partition(".")[0] in own}
    path, dont_write = [*sys.path], sys.dont_write_bytecode
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:], sys.dont_write_bytecode = path, dont_write
        for name in [name for name in sys.modules if name.partition(".")[0] in own]:
            del sys.modules[name]
        sys.modules.update(hidden)


def of_module(module: str, rubric: Rubric) -> dict[str, Any]:
    """The part of one module; the public checks must be importable."""
    calls = importlib.import_module("student_calls").calls_in(module)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            function: _of_function(module, function, [c for c in calls if c.function == function and c.told])
            for function in rubric.modules[module].functions
        }


def _of_function(module: str, function: str, calls: list[Any]) -> dict[str, Any]:
    known = importlib.import_module("known_mistakes")
    tolerance = importlib.import_module("student_calls").TOLERANCE
    right = reference.functions()[function]
    expected = [(call, call.due(right)) for call in {call.key: call for call in calls}.values()]
    results: list[list[Any]] = [[] for _ in expected]
    rows = []
    for mistake in mistakes.of_function(module, function):
        wrong, own = mistake.fresh(), {}
        for place, (call, entry) in enumerate(expected):
            found = call.entry_of(wrong)
            if not known.same(found, entry, tolerance):
                no_error = "raised" in entry and "raised" not in found
                own[str(place)] = _place(known.NO_ERROR if no_error else _rounded(found), results[place])
        row = [mistake.does, mistake.read, mistake.right, own]
        if own and row not in rows:  # two ways to make a mistake may give the same
            rows.append(row)
    sentences: list[Any] = []
    others = {str(place): found for place, (call, _) in enumerate(expected) if (found := _others(call, sentences))}
    keys = [call.key for call, _ in expected]
    return {"calls": keys, "results": results, "mistakes": rows, "sentences": sentences, "others": others}


def _others(call: Any, sentences: list[Any]) -> list[list[Any]]:
    """The fingerprints of the right result, then of those for other arguments, each with the number of its sentence."""
    known, tolerance = importlib.import_module("known_mistakes"), importlib.import_module("student_calls").TOLERANCE
    try:
        right = reference.functions()[call.function](*copied(call.args), **copied(call.kwargs))
    except ValueError:
        return []
    step = Step(0, Target(call.module, call.function), call.args, call.kwargs, right, tolerance, NOT_SENT)
    given = [[_place(other.sentence, sentences), known.fingerprints(other.value)] for other in others(step)]
    return mapped(_short, [[-1, known.fingerprints(right)], *given]) if given else []


def _place(result: Any, results: list[Any]) -> int:
    """Where a result stands; it is added if it does not."""
    if result not in results:
        results.append(result)
    return results.index(result)


def _rounded(value: Any) -> Any:
    return mapped(_short, value)


def _short(leaf: Any) -> Any:
    return round(float(f"{leaf:.{DIGITS}g}"), DIGITS) + 0.0 if isinstance(leaf, float) else leaf  # no -0.0
