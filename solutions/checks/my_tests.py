"""Runs your tests on correct and on wrong code: `pytest --test-my-tests`.

The code under test is made from your own functions. Two versions are correct: your function, and your function with other rounding
and another memory layout. Three are wrong: their arguments or results are changed. The grader has more of both.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from student_errors import FOLDER, TooLong, where
from student_modules import Broken, functions_of, load, place, unwritten_functions
from student_values.errors import location
from student_values.running_tests import pytest_module, tested
from time_limit import limit

FILE = FOLDER / "test_decoder_parts.py"
MOST = 3  # functions that count
Function = Callable[..., Any]
Version = tuple[str, Callable[[Function], Function]]


def changed(change: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """Return a version of a function whose result is changed, or each part of it."""

    def version(function: Function) -> Function:
        def called(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            return tuple(map(change, result)) if isinstance(result, tuple) else change(result)

        return called

    return version


def rounded(value: Any) -> Any:
    """Return the same value with different rounding and a different memory layout."""
    if isinstance(value, np.ndarray):
        return np.asfortranarray(value + value * value.dtype.type(1e-15) if value.dtype.kind == "f" else value)
    return value * (1 + 1e-15) if isinstance(value, float) else value


def opposite(value: Any) -> Any:
    return np.logical_not(value) if np.asarray(value).dtype == bool else np.negative(value)


def first_result(function: Function) -> Function:
    """Return a version that always returns the result of its first call."""
    kept: list[Any] = []

    def called(*args: Any, **kwargs: Any) -> Any:
        kept.append(kept[0] if kept else function(*args, **kwargs))
        return kept[0]

    return called


CORRECT: tuple[Version, ...] = (("your own code", lambda f: f), ("your code with other rounding", changed(rounded)))
WRONG: dict[str, tuple[Version, ...]] = {
    "layer_norm": (
        ("it scales by beta and adds gamma", lambda f: lambda x, gamma, beta, eps=1e-5: f(x, beta, gamma, eps)),
        ("it adds beta before it scales", lambda f: lambda x, gamma, beta, eps=1e-5: f(x, gamma, gamma * beta, eps)),
        ("it ignores eps", lambda f: lambda x, gamma, beta, eps=1e-5: f(x, gamma, beta)),
    ),
    "scaled_dot_product_attention": (
        ("it ignores the mask", lambda f: lambda q, k, v, mask=None: f(q, k, v)),
        ("it does not scale the scores", lambda f: lambda q, k, v, mask=None: f(q * q.shape[-1] ** 0.5, k, v, mask)),
        ("it divides the scores by d_k", lambda f: lambda q, k, v, mask=None: f(q / q.shape[-1] ** 0.5, k, v, mask)),
    ),
    "causal_mask": (
        ("its diagonal is False", lambda f: lambda t: f(t) & ~np.eye(t, dtype=bool)),
        ("it is transposed", changed(np.transpose)),
        ("True and False are swapped", changed(np.logical_not)),
    ),
    "": (  # any other function
        ("its sign is wrong, or True and False are swapped", changed(opposite)),
        ("its last axis is reversed", changed(lambda value: value[..., ::-1] if np.ndim(value) else value)),
        ("it always returns the result of its first call", first_result),
    ),
}


def report(modules: dict[str, list[str]]) -> tuple[list[str], bool]:
    """Return the lines to print, and whether every test passes on correct code and every wrong version is detected.

    `modules` are the functions of each module.
    """
    if not FILE.is_file():
        return [f"There is no {FILE.name} next to the folder checks."], False
    module_of = {function: module for module, functions in modules.items() for function in functions}
    tests: dict[str, list[str]] = {}
    for name in functions_of(FILE.read_bytes()):
        if name.startswith("test_") and (function := tested(name, module_of)):
            tests.setdefault(function, []).append(name)
    if not tests:
        return [f"{FILE.name} has no tests. Name each after its function: test_layer_norm_of_one_row."], False
    lines, fine = [], True
    for function, names in list(tests.items())[:MOST]:
        own, passed = _report(module_of[function], function, names)
        lines += own
        fine = fine and passed
    left = list(tests)[MOST:]
    return lines + ([f"Only the first {MOST} functions count, not {', '.join(left)}."] if left else []), fine


def _report(module: str, function: str, names: list[str]) -> tuple[list[str], bool]:
    """Return the lines about the tests of one function."""
    loaded = load(module)
    if isinstance(loaded, Broken):
        return [f"{function}: {loaded.text}"], False
    if unwritten_functions(module, [function]):
        return [f"{function} is not written yet ({place(module, function)}): its tests need it."], False
    right = vars(loaded)[function]
    for name, version in CORRECT:
        if failure := _failure(loaded, function, version(right), names):
            advice = (
                "which is correct"
                if name != "your own code"
                else f"so one of the two is wrong; run pytest --only {function}"
            )
            return [f"{function}: a test fails on {name}, {advice}: {failure}"], False
    wrong = WRONG.get(function, WRONG[""])
    found = [bool(_failure(loaded, function, version(right), names)) for _, version in wrong]
    missed = [f"  not detected: {name}" for (name, _), detected in zip(wrong, found, strict=True) if not detected]
    return [f"{function}: {sum(found)} of {len(wrong)} wrong versions detected", *missed], not missed


def _failure(module: Any, function: str, version: Function, names: list[str]) -> str:
    """Return the first of some tests that fails on a version of a function, with file and line; "" if all pass."""
    before, shadowed = vars(module)[function], sys.modules.get("pytest")
    vars(module)[function], sys.modules["pytest"] = version, pytest_module()
    try:
        with limit():
            tests: dict[str, Any] = {"__name__": FILE.stem}
            exec(compile(ast.parse(FILE.read_bytes()), str(FILE), "exec"), tests)  # noqa: S102 - the student's own tests
            for name in names:
                tests[name]()
    except (Exception, SystemExit, TooLong) as error:
        line = location(error.__traceback__, lambda file: file == str(FILE))[1]
        return f"{FILE.name}, line {line}" if line and isinstance(error, AssertionError) else where(error)
    finally:
        vars(module)[function] = before
        if shadowed is not None:
            sys.modules["pytest"] = shadowed
    return ""
