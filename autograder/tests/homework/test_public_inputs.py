"""Public inputs distinguish unused from misused arguments: no array begins with 0 or 1, or is constant.

With gamma[0] = 1, for example, code that omits gamma and code that uses gamma[0] for all features return the same.
"""

import ast
import doctest
import importlib
import inspect
import json
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from autograder.release import home_table
from autograder.shared.signatures import required
from autograder.tests.files import HOMEWORK
from autograder.tests.running import the_plan

MODULES = [module for module in HOMEWORK.rubric.modules if HOMEWORK.of_module(module)]

# Arrays that need such a value: source, function, path of the array, reason. A star matches any text.
ALLOWED = [
    ("docstrings", "layer_norm", "gamma", "a worked example of the source notes, without gamma and beta"),
    ("docstrings", "layer_norm", "beta", "a worked example of the source notes, without gamma and beta"),
    ("docstrings", "scaled_dot_product_attention", "[qkv]", "the example of the source notes: The cat sat on the mat"),
    ("docstrings", "*", "*attention.w_[qk]", "equal scores, so that the attention can be computed by hand"),
    ("docstrings", "transformer_stack", "blocks.*", "blocks without attention, or that add a constant"),
    ("docstrings", "sequence_log_prob", "params.*", "a model whose logits are b_out alone"),
    ("docstrings", "generate", "params.embedding", "only the position of the last token counts"),
    ("checks", "batch_norm", "running_*", "code may take the usual first values for no statistics at all"),
    ("checks", "transformer_stack", "blocks.*", "a block without attention that adds a constant"),
    ("checks", "decoder_logits", "params.*", "a block without attention, and a model whose logits are b_out alone"),
    ("checks", "sequence_log_prob", "params.*", "a block without attention, and a model whose logits are b_out alone"),
    ("checks", "generate", "params.*", "only the position of the last token counts; equal logits are ties"),
    ("examples", "batch_norm", "running_mean", "code may take zeros for no statistics at all"),
    ("examples", "generate", "params.w_out", "equal logits are ties"),
]


def examples(module: str) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """The EXAMPLES of the misconception library."""
    for function in HOMEWORK.rubric.modules[module].functions:
        for args, kwargs in HOMEWORK.library[module][function].examples:
            yield function, args, kwargs


def docstrings(module: str) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """The worked examples of the docstrings."""
    for test_call in the_plan().visible[module]:
        if test_call.kind == "call" and test_call.criterion == f"{module}.example":
            yield test_call.target.function, test_call.args, dict(test_call.kwargs)


def checks(module: str) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """The calls in the public checks."""
    with home_table.importable_checks(HOMEWORK.solutions):
        for call in importlib.import_module("student_calls").calls_in(module):
            yield call.function, call.args, call.kwargs


def arrays(value: Any, path: str) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """The arrays in an argument, with their paths."""
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from arrays(part, f"{path}.{key}")
    elif isinstance(value, np.ndarray):
        yield path, value


def is_neutral(array: np.ndarray[Any, Any]) -> bool:
    return array.flat[0] in (0, 1) or (array.size > 1 and bool((array == array.flat[0]).all()))


def inputs(source: Any, module: str, kinds: str) -> Iterator[tuple[str, str, np.ndarray[Any, Any]]]:
    """The arrays whose dtype is of one of these kinds, with their functions and paths."""
    for function, args, kwargs in source(module):
        arguments = inspect.signature(HOMEWORK.functions[function]).bind(*args, **kwargs).arguments
        for path, array in (pair for name, value in arguments.items() for pair in arrays(value, name)):
            if array.dtype.kind in kinds:
                yield function, path, array


def neutral(source: Any, module: str) -> list[tuple[str, str, str]]:
    """The source, function and path of each neutral array of floats; masks and tokens do not count."""
    return [(source.__name__, name, path) for name, path, array in inputs(source, module, "f") if is_neutral(array)]


def is_allowed(place: tuple[str, str, str], patterns: tuple[str, ...]) -> bool:
    return all(fnmatchcase(text, pattern) for text, pattern in zip(place, patterns[:3], strict=True))


SOURCES = (examples, docstrings, checks)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("module", MODULES)
def test_public_inputs_are_not_neutral(source: Any, module: str) -> None:
    found = [place for place in neutral(source, module) if not any(is_allowed(place, each) for each in ALLOWED)]
    assert not found, (
        "these public inputs hide mistakes; use different numbers, positive and negative, whose mean is not zero"
    )


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("module", MODULES)
def test_only_tokens_and_lengths_are_integers(source: Any, module: str) -> None:
    assert {path for _, path, _ in inputs(source, module, "iu")} <= {"tokens", "lengths"}


def codes() -> Iterator[tuple[str, str]]:
    """The code that students read or run beside their own, by file: modules, docstrings, checks, the tour and the notebook."""
    for path in sorted(HOMEWORK.solutions.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        yield path.name, text
        for node in ast.walk(ast.parse(text)):
            docstring = ast.get_docstring(node) if isinstance(node, ast.Module | ast.FunctionDef) else None
            yield (
                path.name,
                "".join(example.source for example in doctest.DocTestParser().get_examples(docstring or "")),
            )
    for path in HOMEWORK.solutions.glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        codes = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        yield from ((path.name, re.sub(r"^\s*[%!].*$", "pass", code, flags=re.M)) for code in codes)


def test_required_arguments_are_passed_by_position_and_optional_ones_by_name() -> None:
    """The names of a student's required arguments are free, and so is the order of the optional ones."""
    functions, calls, wrong = HOMEWORK.functions, 0, []
    for file, code in codes():
        for node in ast.walk(ast.parse(code)):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            names = required(functions[name]) if name in functions else []
            by_name = {keyword.arg for keyword in node.keywords} & {*names, None}
            has_star = any(isinstance(argument, ast.Starred) for argument in node.args)
            calls += bool(names)
            if names and (by_name or (len(node.args) > len(names) and not has_star)):
                wrong.append(f"{file}: {ast.unparse(node)}")
    assert not wrong and calls > 100


@pytest.mark.parametrize("module", MODULES)
def test_checks_use_every_optional_argument_and_the_defaults(module: str) -> None:
    """A signature that refuses a call of the contract fails a check at home."""
    used = [(function, {*kwargs}) for function, _, kwargs in checks(module)]
    for function in HOMEWORK.rubric.modules[module].functions:
        right = HOMEWORK.functions[function]
        for name in {*inspect.signature(right).parameters} - {*required(right)}:
            assert any(own == function and name in names for own, names in used), (function, name)
        assert (function, set()) in used, function


@pytest.mark.parametrize("module", MODULES)
def test_mistakes_in_other_functions_fail_no_check_of_a_correct_one(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every check counts for one function, so no other function may affect it."""
    with home_table.importable_checks(HOMEWORK.solutions):
        calls, modules = map(importlib.import_module, ("student_calls", "student_modules"))
        for check in calls.checks_in(module):
            (function,) = {call.function for call in calls.calls_of(check, module)}
            for wrong in (lambda *_, **__: None, lambda *_, **__: 1 / 0):
                functions = dict.fromkeys(HOMEWORK.rubric.modules[module].functions, wrong)
                functions[function] = HOMEWORK.functions[function]
                monkeypatch.setattr(modules, "load", lambda _, functions=functions: SimpleNamespace(**functions))
                check(calls.Caller(module))


@pytest.mark.parametrize("source", [examples, docstrings, checks])
def test_dependencies_show_for_changes_of_any_sign(source: Any) -> None:
    """The contract leaves the direction of the change to the student."""
    calls = [(args, kwargs) for function, args, kwargs in source("causal_mask") if function == "dependency_matrix"]
    for (f, x), kwargs in calls:
        expected = HOMEWORK.functions["dependency_matrix"](f, x, **kwargs)
        for signs in product((1, -1), repeat=x.shape[1]):
            step = kwargs.get("delta", 1e-3) * np.linspace(1.0, 2.0, x.shape[1]) * signs
            bumps = (np.eye(len(x))[:, :, None] * step).astype(x.dtype)
            found = [np.any(np.abs(f(x + bump) - f(x.copy())) > 1e-8, axis=1) for bump in bumps]
            np.testing.assert_array_equal(np.transpose(found), expected, err_msg=f"{f.__name__}, {signs}")
    assert calls
