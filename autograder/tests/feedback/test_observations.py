"""Observations about a failing public example that no misconception explains, from other arguments and from probes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autograder.feedback.counterexamples import observe, other_results
from autograder.grading.call_results import CallResult
from autograder.grading.examples import Probe, ProbeResult, probes_of
from autograder.sandbox.protocol import Response
from autograder.shared.compare import Failure, equal
from autograder.tests.files import HOMEWORK
from autograder.tests.making import a_test_call
from autograder.tests.running import known_responses

F = HOMEWORK.functions
ATTENTION, NORM = F["scaled_dot_product_attention"], F["layer_norm"]
X = np.array([[1.0, 2.0, 6.0], [0.0, 4.0, 9.0]])
NARROW, WIDE = X[:1], np.array([[1.0, 2.0, 6.0, 5.0, -3.0]])
GAMMA, BETA, GRAD = np.array([1.0, 2.0, 0.5]), np.array([0.5, 0.0, -1.0]), np.array([[1.0, -2.0, 0.5], [0.5, 1.0, 3.0]])
ARGS = (X, GAMMA, BETA)
SMALL = (np.array([0.0, 0.0, 0.003]), np.ones(3), np.zeros(3))
BATCH = (*ARGS, np.array([0.0, 1.0, 2.0]), np.array([1.0, 4.0, 2.0]), True)
Q, K, V = np.array([[1.0, 0.0], [0.5, 2.0]]), np.array([[0.0, 1.0], [2.0, 1.0]]), np.array([[1.0, 2.0], [3.0, 5.0]])
MASK = {"mask": np.tri(2, dtype=bool)}
FLOW = (np.arange(8.0).reshape(2, 2, 2), np.array([1.0, 2.0]))


# A call with these arguments returns the correct result for other arguments.
@pytest.mark.parametrize(
    ("function", "args", "kwargs", "value", "said"),
    [
        ("scaled_dot_product_attention", (Q, K, V), MASK, ATTENTION(Q, K, V), "would be the correct result with `mask=None`."),
        ("norm_moments", (X, "layer"), {}, F["norm_moments"](X, "batch"), "would be the correct result with `kind='batch'`."),
        ("gradient_flow", FLOW, {"residual": True}, F["gradient_flow"](*FLOW, residual=False), "with `residual=False`."),
        ("layer_norm", SMALL, {}, NORM(*SMALL, 0.0), "would be the correct result with `eps=0`."),
        ("layer_norm", SMALL, {}, NORM(*SMALL, 1e-6), "would be the correct result with `eps=1e-06`."),
    ],
)  # fmt: skip
def test_wrong_result_is_correct_for_other_arguments(
    function: str, args: Any, kwargs: dict[str, Any], value: Any, said: str
) -> None:
    found = other_results(a_test_call(function, *args, **kwargs))
    assert any(sentence.endswith(said) for sentence, other in found.items() if equal(other, value, 1e-8))


def test_result_is_that_for_other_arguments_as_a_whole() -> None:
    evaluated, trained = (F["batch_norm"](*BATCH[:-1], training) for training in (False, True))
    of = a_test_call("batch_norm", *BATCH[:-1], False)
    for value, is_said in ((trained, True), ((evaluated[0], *trained[1:]), False)):
        example = CallResult(of, Response(value), Failure("value"))
        assert ("with `training=True`" in observe(example)) is is_said


def no_beta(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
    return NORM(x, gamma, 0 * beta, eps)


def no_eps_in_long_rows(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
    return NORM(x, gamma, beta, eps if x.shape[-1] < 4 else 0.0)


def off_in_others(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
    return NORM(x, gamma, beta, eps if x.shape[-1] > 4 else 0.0) + (x.shape[-1] > 4) * x**2


@pytest.mark.parametrize(("wrong", "fits"), [(no_eps_in_long_rows, True), (off_in_others, False)])
def test_other_arguments_must_fit_every_failing_example(wrong: Callable[..., Any], fits: bool) -> None:
    calls = [(x, np.ones(x.shape[-1]), np.arange(1.0, x.shape[-1] + 1)) for x in (NARROW, WIDE)]
    found = [known_responses(a_test_call("layer_norm", *args, number=n), wrong) for n, args in enumerate(calls, 1)]
    example = next(call_result for call_result in found if call_result.failure is not None)
    assert ("with `eps=0`" in observe(example, found)) is fits


# Whole observations about a call alone, and with the results of its probes: calls with one change to it


def probe_results(function: str, wrong: Callable[..., Any], *args: Any) -> tuple[ProbeResult, ...]:
    probes = probes_of(a_test_call(function, *args))
    return tuple((probe, known_responses(probe.test_call, wrong)) for probe in probes)


def over_all(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
    return gamma * (x - x.mean()) / np.sqrt(x.var() + eps) + beta


def about_running(x: Any, gamma: Any, beta: Any, mean: Any, var: Any, training: Any, **rest: Any) -> Any:
    y, *new = F["batch_norm"](x, gamma, beta, mean, var, training, **rest)
    return (y + mean if training else y, *new)


def no_eps_by_chance(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
    return NORM(x, gamma, beta, 0.0 if x[0, 0] == 1 and gamma[0] == 1 else 0.1)


def causal(q: Any, k: Any, v: Any, mask: Any = None) -> Any:
    own = np.tri(len(q), dtype=bool)
    return ATTENTION(q, k, v, own if mask is None else own & mask)


def of_one_row(x: Any, *rest: Any) -> Any:
    return NORM(x, *rest) if len(x) == 1 else 1 / 0


def unsteady(x: Any, *rest: Any, earlier: list[int] = []) -> Any:  # noqa: B006
    earlier.append(0)
    return NORM(x, *rest) + len(earlier)


def exchanged(*args: Any, **named: Any) -> Any:
    y, mean, var = F["batch_norm"](*args, **named)
    return y, var, mean


SQUARE = np.array([[1.0, 2.0], [5.0, 4.0]])
ROW_0 = "When only row 0 of {}, row 1 of your result changed, but should not have."
FIRST_ROW = "The same call is correct with the first row alone."
STILL = "When only `{}` was changed, your {} stayed the same, but should have changed."
WRONG = "{0} of {0} entries are wrong: entry {1} is {2} instead of {3}."
BY_RUNNING = "When only `running_mean` was changed, your `y` changed, but should not have."


@pytest.mark.parametrize(("function", "wrong", "args", "alone", "more"), [
    ("layer_norm", no_beta, ARGS, "Only column 1 is correct.", STILL.format("beta", "result")),
    ("layer_norm", over_all, ARGS, WRONG.format(6, "[1, 1]", 0.2156654, -0.1810714),
     f"{ROW_0.format('`x` was changed')} {FIRST_ROW}"),
    ("layer_norm", lambda x, *rest: NORM(x, *rest) + x.max(), ARGS, WRONG.format(6, "[0, 0]", 8.574181, -0.4258191),
     "When only row 1 of `x` was changed, row 0 of your result changed, but should not have."),
    ("layer_norm", lambda x, *rest: NORM(x, 1.0, 0.0), ARGS, WRONG.format(6, "[0, 2]", 1.388729, -0.3056357),
     f"{STILL.format('gamma', 'result')} {STILL.format('beta', 'result')}"),
    ("layer_norm", lambda x, *rest: NORM(x, *rest) + x.ndim - 1, ARGS, WRONG.format(6, "[0, 0]", 0.5741809, -0.4258191), ""),
    ("layer_norm", lambda x, *rest: x.sum(axis=-1), ARGS, "", ""),
    ("layer_norm", lambda *_: None, ARGS, "", ""),
    ("layer_norm", of_one_row, ARGS, "", FIRST_ROW),
    ("layer_norm", unsteady, ARGS, None, None),
    ("softmax", lambda x: F["softmax"](x).T, (SQUARE,), "", ROW_0.format("`scores` was changed")),
    ("batch_norm", exchanged, BATCH,
     "All parts are correct, but they are in the wrong order: `y`, `new_running_var`, `new_running_mean`.", ""),
    ("batch_norm", about_running, BATCH, "Only `y` is wrong: only column 0 is correct.",
     f"{BY_RUNNING} The same call is correct with `training=False`."),
    ("batch_norm", lambda x, *rest: F["batch_norm"](x, *rest)[:2], BATCH, "", ""),
    ("scaled_dot_product_attention", lambda q, k, v: (np.ones((2, 2)), np.ones((2, 2)) / 2), (Q, K, V),
     "`output`: All entries are equal: 1. `weights`: All entries are equal: 0.5.",
     f"{STILL.format('q', '`output`')} {STILL.format('k', '`output`')}"),
    ("split_heads", lambda x, n: F["split_heads"](x, n)[::-1], (np.arange(16.0).reshape(2, 8), 2),
     WRONG.format(16, "[0, 0, 0]", 4, 0), "The same call is correct with `n_heads=1`."),
    ("softmax", lambda x: F["softmax"](x).T, (X,), "Your result is the transpose of the expected one.", ""),
    ("apply_mask", lambda x, mask: np.where(mask, x, -1e10), (Q, np.tri(2, dtype=bool)), "Only entry [0, 1] is wrong.", FIRST_ROW),
    ("influence", lambda x, kind: np.zeros((3, 3), bool), (np.vstack([X, X[:1]]), "layer"), "Every entry is False.", ""),
    ("split_heads", lambda x, n: x, (X, 2), "", ""),  # must raise an error
])  # fmt: skip
def test_observations(function: str, wrong: Callable[..., Any], args: Any, alone: str | None, more: str | None) -> None:
    if alone is None:
        assert observe(probe_results(function, wrong, *args)[0][1], (), probe_results(function, wrong, *args)) == ""
        return
    found = probe_results(function, wrong, *args) or (
        (Probe(of := a_test_call(function, *args)), known_responses(of, wrong)),
    )
    assert observe(found[0][1]) == alone
    assert observe(found[0][1], (), found) == " ".join(filter(None, (alone, more)))


# Probes decide between two observations
@pytest.mark.parametrize(("function", "wrong", "args", "alone", "text"), [
    ("layer_norm", no_eps_by_chance, ARGS, "This would be the correct result with `eps=0`.",
     f"{WRONG.format(6, '[0, 0]', -0.4258201, -0.4258191)} {ROW_0.format('`x` was changed')}"),
    ("scaled_dot_product_attention", causal, (X, GRAD, GRAD), *["This would be the correct result with a causal mask."] * 2),
])  # fmt: skip
def test_observations_of_a_call_and_of_its_probes(
    function: str, wrong: Callable[..., Any], args: Any, alone: str, text: str
) -> None:
    found = probe_results(function, wrong, *args)
    assert (observe(found[0][1]), observe(found[0][1], (), found)) == (alone, text)
