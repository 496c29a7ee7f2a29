"""The hidden tests detect state between calls and changed arguments, and accept read-only results, lists and views."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from autograder.grading.call_results import compared, with_needed
from autograder.grading.runner.processes import Direct
from autograder.shared.tree import arrays, copied
from autograder.tests.files import HOMEWORK
from autograder.tests.running import the_plan

Function = Callable[..., Any]
FUNCTIONS = [(m, f) for m, entry in HOMEWORK.rubric.modules.items() if HOMEWORK.of_module(m) for f in entry.functions]


def lost(module: str, function: str, replacement: Function) -> set[str]:
    """The criteria with a failing call if this function replaces the reference."""
    recorded = the_plan().visible.get(module, ()) + the_plan().hidden[module]
    own = with_needed(recorded, [test_call for test_call in recorded if test_call.target.function == function])
    responses = Direct({**HOMEWORK.functions, function: replacement}).run(test_call.call for test_call in own)
    return {r.test_call.criterion for r in compared(own, responses) if r.failed}


def shapes(value: Any) -> Any:
    """The value, with the shape and dtype of each array in its place."""
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype
    if isinstance(value, dict):
        return tuple((key, shapes(part)) for key, part in value.items())
    return tuple(map(shapes, value)) if isinstance(value, list | tuple) else None if callable(value) else value


def caching(right: Function) -> Function:
    """A version that caches results by the shapes of the arguments."""
    results: dict[Any, Any] = {}

    def wrong(*args: Any, **kwargs: Any) -> Any:
        result = right(*args, **kwargs)
        return copied(results.setdefault(shapes((args, kwargs)), copied(result)))

    return wrong


def reusing(right: Function) -> Function:
    """A version that returns all results of the same shape in one array."""
    buffers: dict[Any, Any] = {}

    def wrong(*args: Any, **kwargs: Any) -> Any:
        result = right(*args, **kwargs)
        buffer = buffers.setdefault(shapes(result), copied(result))
        for old, new in zip(arrays(buffer), arrays(result), strict=True):
            old[...] = new
        return buffer

    return wrong


def writing(right: Function) -> Function:
    """A version that changes the last array of its arguments after it has used it."""

    def wrong(*args: Any, **kwargs: Any) -> Any:
        result = copied(right(*args, **kwargs))
        given = [array for array in arrays((args, kwargs)) if array.size]
        if given:
            first = (0,) * given[-1].ndim
            given[-1][first] = given[-1][first] == 0
        return result

    return wrong


def stateful() -> Iterator[tuple[str, str, Callable[[Function], Function]]]:
    for module, function in FUNCTIONS:
        arguments, _, result = str(inspect.signature(HOMEWORK.functions[function])).partition("->")
        if "ndarray" in arguments and function != "influence":  # its result depends only on shapes
            yield module, function, caching
        if "ndarray" in result:
            yield module, function, reusing
        if "ndarray" in arguments:
            yield module, function, writing


@pytest.mark.parametrize(("module", "function", "way"), [*stateful()])
def test_state_and_changed_arguments_are_detected(
    module: str, function: str, way: Callable[[Function], Function]
) -> None:
    graded = {c.id for c in HOMEWORK.rubric.of(module) if function in c.grades}
    about = {f"{module}.purity"} & graded or graded
    advice = f"the tests of one of {sorted(about)} must call leaves_no_trace(check, {function!r}, ...)"
    assert lost(module, function, way(HOMEWORK.functions[function])) & about, advice


@pytest.mark.parametrize(("module", "function"), FUNCTIONS)
def test_read_only_results_and_lists_for_tuples_are_accepted(module: str, function: str) -> None:
    def frozen(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            value = value.copy()
            value.flags.writeable = False
        return value

    def right(*args: Any, **kwargs: Any) -> Any:
        result = HOMEWORK.functions[function](*args, **kwargs)
        return list(map(frozen, result)) if isinstance(result, tuple) else frozen(result)

    assert not lost(module, function, right)


@pytest.mark.parametrize(("module", "function"), FUNCTIONS)
def test_views_are_accepted_unless_a_new_array_is_required(module: str, function: str) -> None:
    def right(*args: Any, **kwargs: Any) -> Any:
        given = [value for value in (*args, *kwargs.values()) if isinstance(value, np.ndarray)]

        def view(value: Any) -> Any:
            same = (g[...] for g in given if isinstance(value, np.ndarray) and g.dtype == value.dtype)
            return next((g for g in same if np.array_equal(g, value)), value)

        result = HOMEWORK.functions[function](*args, **kwargs)
        return tuple(map(view, result)) if isinstance(result, tuple) else view(result)

    assert lost(module, function, right) == ({"causal_mask.apply"} if function == "apply_mask" else set())
