"""The calls of the hidden suites: only what the contract allows, the same in every run, the examples those of the docstrings."""

import copy
import doctest
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from autograder.grading import plan as scripts
from autograder.grading.call_results import TestCall
from autograder.homework import reference
from autograder.homework.rubric import current
from autograder.values.tree import arrays

MODULES = [name for name in current().modules if name != "concept_check"]
OF_INTEGERS = {"tokens", "lengths"}


@pytest.fixture(scope="module")
def plan() -> scripts.Plan:
    return scripts.record(current())


def every_call(plan: scripts.Plan) -> Iterator[tuple[str, dict[str, Any]]]:
    """Function and arguments of every call of a suite, objects of earlier calls aside."""
    for test_calls in (*plan.hidden.values(), *plan.visible.values()):
        for test_call in test_calls:
            if test_call.kind == "call":
                yield test_call.target.function, arguments(test_call)


def arguments(test_call: TestCall) -> dict[str, Any]:
    function = reference.functions()[test_call.target.function]
    return inspect.signature(function).bind(*test_call.args, **test_call.kwargs).arguments


def test_integers_come_only_where_the_contract_names_them(plan: scripts.Plan) -> None:
    for function, given in every_call(plan):
        for name, value in given.items():
            kinds = {array.dtype.kind for array in arrays(value)}
            allowed = {"i"} if name in OF_INTEGERS else {"b"} if name == "mask" else {"f"}
            assert kinds <= allowed, f"{function}: {name}"


def test_the_floats_of_a_call_have_one_dtype(plan: scripts.Plan) -> None:
    for function, given in every_call(plan):
        assert len({array.dtype for array in arrays(given) if array.dtype.kind == "f"}) <= 1, function


def test_no_array_is_empty_and_every_mask_has_two_axes(plan: scripts.Plan) -> None:
    for function, given in every_call(plan):
        assert all(array.size for array in arrays(given)), function
        assert all(array.ndim >= 2 for array in arrays(given.get("mask"))), function


def test_arrays_are_small(plan: scripts.Plan) -> None:
    for function, given in every_call(plan):
        assert sum(array.nbytes for array in arrays(given)) <= 20_000, function


@pytest.mark.slow
def test_every_run_makes_the_same_calls(plan: scripts.Plan) -> None:
    again = scripts.record(current())
    for module in MODULES:
        for one, other in zip(plan.hidden[module], again.hidden[module], strict=True):
            assert one.target == other.target
            pairs = zip(arrays([*one.args, one.kwargs]), arrays([*other.args, other.kwargs]), strict=True)
            assert all(np.array_equal(a, b) for a, b in pairs), one.test


def test_every_part_of_a_tuple_has_the_name_that_the_docstring_gives_it(plan: scripts.Plan) -> None:
    for test_calls in (*plan.hidden.values(), *plan.visible.values()):
        for test_call in test_calls:
            returned = len(test_call.expected) if isinstance(test_call.expected, tuple) else 0
            assert len(test_call.parts) == returned or test_call.expected is None, test_call.target
    assert reference.parts(reference.functions()["batch_norm"]) == ("y", "new_running_mean", "new_running_var")


@pytest.mark.parametrize("module", MODULES)
def test_the_worked_examples_are_those_of_the_docstrings(plan: scripts.Plan, module: str) -> None:
    """All of them and nothing else: what `python -m doctest` calls, in its order, in each function of the module."""
    in_docstrings = docstring_calls(module)
    in_suite = [
        (test_call.target.function, arguments(test_call))
        for test_call in plan.visible[module]
        if test_call.kind == "call"
    ]
    assert len(in_suite) == len(in_docstrings)
    for (name, given), (other, values) in zip(in_docstrings, in_suite, strict=True):
        assert name == other and same(given, values), f"{name} of {given}"
    functions = list(current().modules[module].functions)
    assert list(dict.fromkeys(name for name, _ in in_docstrings)) == functions
    assert sorted(current().criteria[f"{module}.example"].grades) == sorted(functions)


def docstring_calls(module: str) -> list[tuple[str, dict[str, Any]]]:
    """What the doctests of a reference module call with: each function in its own docstring."""
    calls: list[tuple[str, dict[str, Any]]] = []
    loaded = reference.modules()[module]

    def watched(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def watching(*args: Any, **kwargs: Any) -> Any:
            # A copy, because a docstring may go on to change what it has called a function with.
            calls.append((name, copy.deepcopy(inspect.signature(function).bind(*args, **kwargs).arguments)))
            return function(*args, **kwargs)

        return watching

    for name in current().modules[module].functions:
        function = getattr(loaded, name)
        names = {**vars(loaded), name: watched(name, function)}
        for test in doctest.DocTestFinder(recurse=False).find(function, name, globs=names):
            assert doctest.DocTestRunner(verbose=False).run(test).failed == 0, name
    return calls


def same(one: Any, other: Any) -> bool:
    """Equal arguments, of one type; functions are not compared."""
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, dict | list | tuple):
        keys = one.keys() if isinstance(one, dict) else range(len(one))
        return len(one) == len(other) and all(same(one[key], other[key]) for key in keys)
    return (callable(one) and callable(other)) or bool(one == other)
