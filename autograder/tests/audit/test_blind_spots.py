"""Every class of inputs has a graded call, what keeps something between calls loses points, what is right loses nothing."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autograder.audit import blind_spots
from autograder.audit.blind_spots import calls_of, demands, uncovered, unseen, wrongly
from autograder.grading.call_results import Rules, TestCall
from autograder.homework import factors, reference
from autograder.homework.rubric import current

FUNCTIONS = [(module, function) for module in current().modules for function in factors.of_module(module)]
EPS_ZERO = "no eps: eps 0"


@pytest.mark.slow
def test_every_blind_spot_has_its_reason_and_every_reason_its_blind_spot() -> None:
    found = blind_spots.run()
    assert blind_spots.problems(found) == []
    assert {function for function, _ in found} == {function for function, _ in blind_spots.reasons()}


def test_every_function_has_demands_and_no_two_of_one_name() -> None:
    spots = [spot for module in current().modules for spot, _ in demands(module)]
    assert len(set(spots)) == len(spots) > 2000
    assert {function for function, _ in spots} == {function for _, function in FUNCTIONS}


def with_eps_zero(test_call: TestCall) -> bool:
    return (
        test_call.target.function == "rms_norm"
        and test_call.kwargs.get("eps", test_call.args[2] if test_call.args[2:] else 1) == 0
    )


def test_a_class_without_a_call_is_found() -> None:
    every = calls_of("layernorm")
    fewer = [test_call for test_call in every if not with_eps_zero(test_call)]
    assert len(fewer) < len(every) and uncovered("layernorm", every) == []
    found = uncovered("layernorm", fewer)
    assert {("rms_norm", f"values, {EPS_ZERO}"), ("rms_norm", f"eps not seen, {EPS_ZERO}")} <= set(found)
    assert all(function == "rms_norm" and "eps" in name for function, name in found)


def test_a_call_under_a_criterion_that_does_not_speak_of_the_class_does_not_count() -> None:
    moved = [replace(s, criterion="layernorm.rms") if with_eps_zero(s) else s for s in calls_of("layernorm")]
    assert ("rms_norm", f"values, {EPS_ZERO}") in uncovered("layernorm", moved)


def test_an_argument_that_changes_nothing_does_not_count() -> None:
    """As if no call showed what eps does: nothing that is allowed is exact enough to tell."""
    coarse = [replace(test_call, allowed=np.inf) for test_call in calls_of("layernorm")]
    found = {name for function, name in uncovered("layernorm", coarse) if function == "rms_norm"}
    assert found == {
        name
        for (function, name), _ in demands("layernorm")
        if function == "rms_norm" and name.startswith("eps not seen, ")
    }


@pytest.mark.parametrize("what", ["dtype", "arguments"])
def test_a_call_that_is_not_looked_at_for_it_does_not_count(what: str) -> None:
    lenient = [replace(test_call, rules=Rules(error=test_call.rules.error)) for test_call in calls_of("layernorm")]
    found = uncovered("layernorm", lenient)
    assert {spot for spot, _ in demands("layernorm") if spot[1].startswith(f"{what}, ")} <= set(found)


def test_without_the_calls_about_purity_a_program_with_memory_is_a_problem() -> None:
    fewer = [test_call for test_call in calls_of("layernorm") if test_call.criterion != "layernorm.purity"]
    found = dict.fromkeys(unseen("layernorm", fewer), "")
    name = "caches results by the shapes of its arguments"
    assert f"not covered: rms_norm: {name}" in blind_spots.problems(found)


def test_a_reason_that_fits_nothing_is_a_problem() -> None:
    assert any("has a reason, but is covered: softmax" in line for line in blind_spots.problems({}))


def made(module: str, function: str, way: Callable[[Callable[..., Any]], Callable[..., Any]]) -> frozenset[str]:
    """The criteria that are lost with what `way` makes of a function."""
    found = wrongly(calls_of(module), function, way(reference.functions()[function]))
    return frozenset(test_call.criterion for test_call in found)


def leaning_on_the_running_mean(result: Any, running_mean: Any, training: Any) -> Any:
    return (result[0] + 1e-6 * running_mean, *result[1:]) if training else result


def with_another_variance(result: Any, running_mean: Any, training: Any) -> Any:
    return (*result[:2], 1.001 * result[2]) if training else result


def with_another_grad_x(result: Any, *arguments: Any) -> Any:
    return (1.001 * result[0], *result[1:])


def with_another_grad_gamma(result: Any, *arguments: Any) -> Any:
    return (result[0], 1.001 * result[1], result[2])


@pytest.mark.parametrize(
    ("module", "function", "way", "about"),
    [
        ("batchnorm_comparison", "batch_norm", leaning_on_the_running_mean, "training"),
        ("batchnorm_comparison", "batch_norm", with_another_variance, "running"),
        ("layernorm", "layer_norm_backward", with_another_grad_x, "backward_x"),
        ("layernorm", "layer_norm_backward", with_another_grad_gamma, "backward_parameters"),
    ],
)
def test_a_wrong_part_loses_the_one_criterion_of_value_that_is_about_it(
    module: str, function: str, way: Callable[..., Any], about: str
) -> None:
    def wrong(right: Callable[..., Any]) -> Callable[..., Any]:
        def spoiled(*args: Any, **kwargs: Any) -> Any:
            given = inspect.signature(right).bind(*args, **kwargs).arguments
            return way(right(*args, **kwargs), given.get("running_mean"), given.get("training"))

        return spoiled

    values = {criterion.id for criterion in current().of(module) if criterion.looks_at == "values"}
    assert made(module, function, wrong) & values == {f"{module}.{about}"}


@pytest.mark.parametrize(("module", "function"), FUNCTIONS)
def test_read_only_results_and_lists_for_tuples_lose_nothing(module: str, function: str) -> None:
    assert not made(module, function, read_only)


@pytest.mark.parametrize(("module", "function"), FUNCTIONS)
def test_results_that_are_views_lose_nothing_unless_a_new_array_is_promised(module: str, function: str) -> None:
    assert made(module, function, viewing) == ({"causal_mask.apply"} if function == "apply_mask" else set())


def read_only(function: Callable[..., Any]) -> Callable[..., Any]:
    def right(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        if isinstance(result, tuple):
            return [frozen(part) for part in result]
        return frozen(result)

    return right


def frozen(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = value.copy()
        value.flags.writeable = False
    return value


def viewing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Gives the first array of the arguments that equals the result, as a view, instead of the result."""

    def right(*args: Any, **kwargs: Any) -> Any:
        given = [value for value in (*args, *kwargs.values()) if isinstance(value, np.ndarray)]
        result = function(*args, **kwargs)
        if isinstance(result, tuple):
            return tuple(equal(part, given) for part in result)
        return equal(result, given)

    return right


def equal(value: Any, given: list[Any]) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    alike = (
        one for one in given if one.shape == value.shape and one.dtype == value.dtype and np.array_equal(one, value)
    )
    return next((one[...] for one in alike), value)
