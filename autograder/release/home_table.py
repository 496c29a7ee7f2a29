"""Writes checks/mistakes.txt of the student folder, with which the public checks name misconceptions.

The table has the wrong results of misconceptions for the inputs of the public checks, their sentences, and fingerprints
of correct results for other arguments. The public checks show the correct results for these inputs, so the wrong ones
reveal nothing. The table contains no code. solutions/checks/known_mistakes.py reads it and describes its format. Only
the kit's own code runs here.
"""

import importlib
import inspect
import json
import math
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from autograder.feedback.counterexamples import other_results
from autograder.grading.call_results import Target, TestCall
from autograder.homework import library, reference
from autograder.homework.homework import Homework
from autograder.homework.library import Misconception
from autograder.sandbox.protocol import Call
from autograder.shared.tree import copied, mapped

MISTAKES = "checks/mistakes.txt"  # not .json, since JupyterLite reads those in JavaScript: no NaN, and 1 for 1.0
# Digits of a result in the table: few enough to remove rounding errors; costs a tenth of the checks' tolerance.
DIGITS = 7
SINGLE = 1e-5  # more than the rounding error of any public check in single precision
NOT_SENT = Call("", "")


def text(homework: Homework) -> str:
    """Return the table as JSON. The same tree gives the same bytes."""
    with importable_checks(homework.solutions):
        modules = filter(homework.rubric.explains, homework.rubric.modules)
        table = {module: table_of(homework, module) for module in modules}
    return _in_lines(table, 4) + "\n"


def _in_lines(value: Any, depth: int) -> str:
    """Write JSON with one line for each entry at `depth`, so that branches which add different entries can be merged."""
    if not depth or not value or not isinstance(value, dict | list):
        return json.dumps(value, separators=(",", ":"))
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    keys = [f"{json.dumps(key)}:" for key in value] if isinstance(value, dict) else [""] * len(value)
    parts = value.values() if isinstance(value, dict) else value
    lines = [key + _in_lines(item, depth - 1) for key, item in zip(keys, parts, strict=True)]
    return f"{opening}\n" + ",\n".join(lines) + f"\n{closing}"


def importable_checks(solutions: Path) -> AbstractContextManager[None]:
    """Make the public checks importable. The hidden suites have the same module names and are set aside."""
    folder = solutions / "checks"
    return reference.importable(folder, {path.stem for path in folder.iterdir()} - {"conftest"})


def table_of(homework: Homework, module: str) -> dict[str, Any]:
    """Return the table of one module; the public checks must be importable."""
    calls = importlib.import_module("student_calls").calls_in(module)
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        return {
            function: _of_function(homework, module, function, [c for c in calls if c.function == function and c.told])
            for function in homework.rubric.modules[module].functions
        }


def _of_function(homework: Homework, module: str, function: str, calls: list[Any]) -> dict[str, Any]:
    reference = homework.functions[function]
    expected = [(call, call.due(reference)) for call in {call.key: call for call in calls}.values()]
    rows: list[list[Any]] = []
    # The results of code that ignores an argument, by whether its number is known.
    numbered, unnumbered = list[Any](), list[Any]()
    for misconception in homework.of_function(module, function):
        version = homework.alone(misconception)
        default = _wrong_default(reference, version.fresh())
        words = [misconception.does, misconception.read, misconception.right]
        variants = [(words, _wrong_results(expected, version.fresh), default)]
        if default:
            # Code that ignores the argument and uses the wrong default, if a public call that passes the argument detects it
            [(name, value)], forced, passed = default.items(), [], set()
            for number, (call, entry) in enumerate(expected):
                bound = inspect.signature(reference).bind(*call.args, **call.kwargs)
                passed |= {number} if name in bound.arguments else set()
                bound.arguments[name] = value
                forced.append((replace(call, args=bound.args, kwargs=bound.kwargs), entry))
            does, fix = _ignoring(reference, name, value)
            results = _wrong_results(forced, version.fresh)
            words = [does, f"the docstring of `{function}`", fix]
            variants.append((words, results if passed & results.keys() else {}, {}))
        for words, results, needed in variants:
            row = [*words, {str(number): result for number, result in results.items()}, needed]
            if results and row not in rows:  # two variants of a mistake may give the same results
                rows.append(row)
                numbered += [row[3]] * (words is not variants[0][0])
                unnumbered += [row] * bool(misconception.ignores)
    sentences: list[Any] = []
    for_other_arguments = {
        str(number): prints
        for number, (call, _) in enumerate(expected)
        if (prints := _for_other_arguments(reference, call, sentences))
    }
    return {
        "parameters": [
            [p.name, *([] if p.default is p.empty else [p.default])]
            for p in inspect.signature(reference).parameters.values()
        ],
        "calls": [call.key for call, _ in expected],
        "mistakes": [row for row in rows if row not in unnumbered or row[3] not in numbered],
        "sentences": sentences,
        "others": for_other_arguments,
    }


def _wrong_results(expected: list[tuple[Any, Any]], fresh: Callable[[], Callable[..., Any]]) -> dict[int, Any]:
    """Return the wrong results of a function for these calls, by the number of the call."""
    home, tolerance = importlib.import_module("known_mistakes"), importlib.import_module("student_calls").TOLERANCE
    single, double = fresh(), fresh()  # two, since a function may keep state between calls
    results = {}
    for number, (call, entry) in enumerate(expected):
        # The last digits of single precision depend on the machine (BLAS kernels), so they come from double precision.
        result = _steady(call.entry_of(single), _in_double(call).entry_of(double))
        if not home.same(result, entry, tolerance):
            no_error = "raised" in entry and "raised" not in result
            results[number] = home.NO_ERROR if no_error else mapped(_short, result)
    return results


def _wrong_default(reference: Callable[..., Any], variant: Callable[..., Any]) -> dict[str, Any]:
    """Return the parameter whose default value differs, as {"eps": 1e-6}; {} unless it is exactly one."""
    defaults, changes = (
        {p.name: p.default for p in inspect.signature(f).parameters.values()} for f in (reference, variant)
    )
    differing = {name: changes[name] for name in defaults if name in changes and changes[name] != defaults[name]}
    simple = len(differing) == 1 and all(isinstance(value, bool | int | float | str) for value in differing.values())
    return differing if simple else {}


def _ignoring(reference: Callable[..., Any], name: str, value: Any) -> tuple[str, str]:
    """Return both sentences about code that ignores the argument `name` and uses `value`."""
    used, due = (
        re.sub(r"e-0", "e-", f"{one:g}") if isinstance(one, float) else repr(one)
        for one in (value, inspect.signature(reference).parameters[name].default)
    )
    return f"{library.IGNORES.format(name, used)}.", f"{library.USE.format(name)}, whose default is {due}."


def sentences(homework: Homework, misconception: Misconception) -> Iterator[str]:
    """Yield all sentences in the table about a misconception, with each wrong default that code may use for a fixed number."""
    yield from (misconception.does, misconception.right)
    reference = homework.functions[misconception.function]
    for variant in homework.of_function(misconception.module, misconception.function) if misconception.ignores else ():
        default = _wrong_default(reference, homework.alone(variant).fresh())
        if misconception.ignores in default:
            yield from _ignoring(reference, misconception.ignores, default[misconception.ignores])


def _for_other_arguments(function: Callable[..., Any], call: Any, sentences: list[Any]) -> list[list[Any]]:
    """Return fingerprints of the correct result and of results for other arguments, each with the number of its sentence."""
    home, tolerance = importlib.import_module("known_mistakes"), importlib.import_module("student_calls").TOLERANCE
    try:
        call = _in_double(call)
        result = function(*copied(call.args), **copied(call.kwargs))
    except ValueError:
        return []
    values = call.args, call.kwargs, result, tolerance
    test_call = TestCall(0, Target(call.module, call.function), NOT_SENT, *values, reference=function)
    fingerprints = []
    for sentence, value in other_results(test_call).items():
        if sentence not in sentences:
            sentences.append(sentence)
        fingerprints.append([sentences.index(sentence), home.fingerprints(value)])
    return mapped(_short, [[-1, home.fingerprints(result)], *fingerprints]) if fingerprints else []


def _in_double(call: Any) -> Any:
    both = call.args, call.kwargs
    args, kwargs = mapped(lambda leaf: leaf.astype(float) if getattr(leaf, "dtype", "") == np.float32 else leaf, both)
    return replace(call, args=args, kwargs=kwargs)


def _steady(single: Any, double: Any) -> Any:
    """Replace numbers by their double-precision versions where both agree up to single-precision rounding."""
    if isinstance(single, dict) and isinstance(double, dict):
        return {key: _steady(value, double.get(key)) for key, value in single.items()}
    if isinstance(single, list | tuple) and isinstance(double, list | tuple) and len(single) == len(double):
        return [*map(_steady, single, double)]
    both = isinstance(single, float) and isinstance(double, float) and math.isfinite(double)
    return double if both and abs(single - double) <= SINGLE * (1 + abs(double)) else single


def _short(leaf: Any) -> Any:
    """Round a number to few digits, in two steps: half a last digit could round up on one machine and down on another."""
    if not isinstance(leaf, float):
        return leaf
    return round(float(f"{float(f'{leaf:.12g}'):.{DIGITS}g}"), DIGITS) + 0.0  # no -0.0
