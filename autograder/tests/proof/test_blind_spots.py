"""Wrong versions of each class of inputs lose points where they should; what is right loses nothing."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autograder.homework import reference
from autograder.homework.rubric import current
from autograder.proof import blind_spots
from autograder.proof.probes import Probe, probes

FUNCTIONS = [(m, f) for m, entry in current().modules.items() for f in entry.functions if probes(m)]


def probe_of(module: str, function: str, way: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Probe:
    about = frozenset(c.id for c in current().of(module) if function in c.grades)
    return Probe(module, function, "made here", about, lambda: way(reference.functions()[function]))


def test_a_part_of_the_probes_lose_points_in_a_criterion_about_them() -> None:
    found = list(blind_spots.run(jobs=1, part=True))
    assert {one.probe.function for one in found} == {function for _, function in FUNCTIONS}
    assert blind_spots.problems(found) == []


@pytest.mark.slow
def test_every_probe_loses_points_or_has_its_reason() -> None:
    found = list(blind_spots.run(jobs=2))
    assert blind_spots.problems(found) == [] == blind_spots.unused(found)
    assert sum(not one.seen for one in found) <= len(found) / 50


def test_names_are_used_once() -> None:
    for module in current().modules:
        names = [(probe.function, probe.name) for probe in probes(module)]
        assert len(set(names)) == len(names)


def test_a_probe_that_is_right_is_a_problem() -> None:
    right = blind_spots.tried(probe_of("layernorm", "rms_norm", lambda function: function))
    assert not right.lost
    assert blind_spots.problems([right]) == ["keeps all criteria that are about it: rms_norm: made here"]


def test_a_probe_that_loses_another_criterion_is_a_problem() -> None:
    probe = next(p for p in probes("layernorm") if p.name == "remembers results by the shapes of its arguments")
    seen = blind_spots.tried(probe)
    elsewhere = blind_spots.Tried(probe, frozenset({"layernorm.statistics"}))
    assert seen.seen and "layernorm.purity" in seen.lost
    assert len(blind_spots.problems([seen, elsewhere])) == 1


def leaning_on_the_running_mean(result: Any, running_mean: Any, training: Any) -> Any:
    return (result[0] + 1e-6 * running_mean, *result[1:]) if training else result


def with_another_variance(result: Any, running_mean: Any, training: Any) -> Any:
    return (*result[:2], 1.001 * result[2]) if training else result


def with_another_grad_x(result: Any, *arguments: Any) -> Any:
    return (1.001 * result[0], *result[1:])


def with_another_grad_gamma(result: Any, *arguments: Any) -> Any:
    return (result[0], 1.001 * result[1], result[2])


@pytest.mark.parametrize(
    ("module", "function", "way", "lost"),
    [
        ("batchnorm_comparison", "batch_norm", leaning_on_the_running_mean, "training"),
        ("batchnorm_comparison", "batch_norm", with_another_variance, "running"),
        ("layernorm", "layer_norm_backward", with_another_grad_x, "backward_x"),
        ("layernorm", "layer_norm_backward", with_another_grad_gamma, "backward_parameters"),
    ],
)
def test_a_wrong_part_loses_the_one_criterion_of_value_that_is_about_it(
    module: str, function: str, way: Callable[..., Any], lost: str
) -> None:
    def wrong(right: Callable[..., Any]) -> Callable[..., Any]:
        def spoiled(*args: Any, **kwargs: Any) -> Any:
            given = inspect.signature(right).bind(*args, **kwargs).arguments
            return way(right(*args, **kwargs), given.get("running_mean"), given.get("training"))

        return spoiled

    values = {criterion.id for criterion in current().of(module) if criterion.looks_at == "values"}
    assert blind_spots.tried(probe_of(module, function, wrong)).lost & values == {f"{module}.{lost}"}


@pytest.mark.parametrize(("module", "function"), FUNCTIONS)
def test_read_only_results_and_lists_for_tuples_lose_nothing(module: str, function: str) -> None:
    assert not blind_spots.tried(probe_of(module, function, read_only)).lost


@pytest.mark.parametrize(("module", "function"), FUNCTIONS)
def test_results_that_are_views_lose_nothing_unless_a_new_array_is_promised(module: str, function: str) -> None:
    lost = blind_spots.tried(probe_of(module, function, viewing)).lost
    assert lost == ({"causal_mask.apply"} if function == "apply_mask" else set())


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
