"""Special cases of the search for misconceptions. Cases of whole modules are in test_graded_modules.py."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from autograder.grading.call_results import CallResult, Rules, TestCall, observed
from autograder.grading.diagnosis import Diagnosis, computes_nothing, for_one_reason
from autograder.sandbox.protocol import Call, Changes, Ended, Error, Look, Response
from autograder.sandbox.wire import Handle
from autograder.shared.changes import Change
from autograder.shared.compare import Failure
from autograder.tests import running
from autograder.tests.files import HOMEWORK
from autograder.tests.making import a_test_call


def diagnoses_of(module: str, *ids: str) -> dict[str, Diagnosis]:
    call_results = running.in_processes(module, partial(running.with_mistakes, module, *ids))
    return running.diagnoser().explain(module, call_results)


def test_misconception_whose_own_criterion_passes_explains_nothing() -> None:
    wrong = running.call_results("layernorm", running.with_mistakes("layernorm", "layer_norm.sample_variance"))
    right = running.call_results("layernorm", running.with_source("layernorm"))
    criterion = "layernorm.statistics"
    mixed = [r if r.test_call.criterion == criterion else w for w, r in zip(wrong, right, strict=True)]
    assert any(call_result.failure is not None for call_result in mixed)
    assert running.diagnoser().explain("layernorm", mixed)["layer_norm"].misconceptions == ()


def test_cheapest_of_misconceptions_with_equal_responses_is_deducted_but_not_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    points = {c.id: c.points for c in HOMEWORK.rubric.of("layernorm") if c.looks_at == "values"}
    cheapest = min(points, key=lambda name: points[name])
    assert points[cheapest] < points["layernorm.statistics"]
    known = HOMEWORK.of_function("layernorm", "layer_norm")
    again = [replace(m, name="again", criteria=(cheapest,)) for m in known if m.name == "no_root"]
    monkeypatch.setattr(HOMEWORK, "of_function", lambda module, function: [*known, *again])
    found = diagnoses_of("layernorm", "layer_norm.no_root")["layer_norm"]
    assert [misconception.id for misconception in found.misconceptions] == ["layer_norm.again"] and found.named == ()


def test_variants_of_a_helper_with_equal_responses_are_told_apart_by_its_callers() -> None:
    helped = "softmax.equal_weights_for_an_empty_slice"
    own = HOMEWORK.of_function("scaled_attention", "softmax")
    [second] = [m.source for m in own if m.id == helped and m.way == 1]
    call_results = running.call_results("scaled_attention", running.with_source("scaled_attention", second))
    above = running.diagnoser().explain("scaled_attention", call_results)["scaled_dot_product_attention"]
    assert above.misconceptions == () and [m.id for m in above.helpers] == [helped]


OTHER_DIMENSIONS = {
    "an IndexError in place of a ValueError": (
        "layernorm",
        "right = layer_norm\n"
        "def layer_norm(x, gamma, beta, eps=1e-5):\n"
        "    x.shape[1]\n"
        "    return np.moveaxis(right(np.moveaxis(x, 1, -1), 1.0, 0.0, eps), -1, 1) * gamma + beta\n",
        ["layer_norm.axis_one"],
        True,
    ),
    "a result for some batches": (
        "scaled_attention",
        "right = multi_head_attention\n"
        "def multi_head_attention(x, params, n_heads, mask=None):\n"
        "    if x.ndim > 2 and x.shape[0] != x.shape[-1]:\n"
        "        raise ValueError\n"
        "    return 2 * x if x.ndim > 2 else right(x, params, n_heads, np.tri(len(x), dtype=bool))\n",
        ["multi_head_attention.always_causal"],
        False,
    ),
}


@pytest.mark.parametrize(("module", "source", "named", "complete"), OTHER_DIMENSIONS.values(), ids=OTHER_DIMENSIONS)
def test_errors_for_unsupported_dimensions_hide_no_misconception(
    module: str, source: str, named: list[str], complete: bool
) -> None:
    call_results = running.call_results(module, running.with_source(module, source))
    diagnosis = running.diagnoser().explain(module, call_results)[named[0].partition(".")[0]]
    assert ([m.id for m in diagnosis.named], diagnosis.complete) == (named, complete)


def error(text: str) -> Response:
    return Response(error=Error(("ValueError",), text, "", 0, ""))


@pytest.mark.parametrize(("first", "second", "same"), [
    (error("shapes (2,) (3,)"), error("other 3 and 2"), True), (error("a b"), error("b a"), True),
    (error("a b"), error("a c"), False), (error("a 1"), error("a 2"), False), (Response(np.nan), error("nan"), False),
])  # fmt: skip
def test_errors_with_the_same_numbers_or_words_have_one_reason(first: Response, second: Response, same: bool) -> None:
    assert for_one_reason(first, second) == same


ROWS = np.array([[1.0, 3.0], [4.0, 2.0]])
SOFTMAX = [a_test_call("softmax", ROWS[0]), a_test_call("softmax", ROWS)]
BACKWARD = [a_test_call("layer_norm_backward", ROWS[0], 2 * ROWS[0], ROWS[1])]
GENERATED = [a_test_call("split_heads", ROWS, 2)]  # which returns the numbers of an argument


def refuse(*_: Any) -> Any:
    raise ValueError("no")


@pytest.mark.parametrize(("test_calls", "function", "nothing"), [
    (SOFTMAX, HOMEWORK.functions["softmax"], False), (SOFTMAX, lambda x: x, True), (SOFTMAX, lambda x: 0 * x, True),
    (SOFTMAX, lambda x: 0 * x + x.ndim, False), (SOFTMAX, refuse, True), (SOFTMAX, lambda x: None, True),
    (SOFTMAX, lambda x: x if x.ndim == 1 else refuse(), False), (SOFTMAX, lambda x: x[:0], True),
    (SOFTMAX, lambda x: x if x.ndim == 1 else 2 * x, False), (SOFTMAX, lambda x: x > 1, False),
    (BACKWARD, lambda g, x, gamma: (g, g, g), True), (BACKWARD, lambda g, x, gamma: [gamma] * 3, True),
    (BACKWARD, lambda g, x, gamma: (g, x, gamma), False), (BACKWARD, lambda g, x, gamma: g, True),
    (GENERATED, lambda x, n: x, True), (GENERATED, lambda x, n: 0 * x + 1.5, True), (GENERATED, lambda x, n: n, True),
])  # fmt: skip
def test_function_computes_nothing(test_calls: list[TestCall], function: Any, nothing: bool) -> None:
    results = [running.known_responses(test_call, function) for test_call in test_calls]
    assert computes_nothing(results) == nothing
    # Calls that must raise an error, requests of other kinds, and ended processes say nothing.
    errors = running.known_responses(a_test_call("split_heads", ROWS, 3), lambda x, n: x + 1)
    look = replace(results[0], test_call=replace(test_calls[0], call=Look(Handle(1, ("result",)))))
    ended = replace(results[0], response=Response(ended=Ended("deadline")))
    assert computes_nothing([*results, errors, look, ended]) == nothing
    kept = replace(results[0], test_call=replace(test_calls[0], args=(Handle(1, ("result",)), *test_calls[0].args[1:])))
    assert computes_nothing([*results, kept]) == nothing
    assert computes_nothing([ended])


F32 = [a.astype(np.float32) for a in (ROWS, ROWS[0], ROWS[1])]
NORM = a_test_call("layer_norm", *F32, rules=Rules(dtype=True), criterion="layernorm.dtype")
RIGHT, FLOAT64, CONVERT = NORM.expected, NORM.expected.astype(float), "Results keep the dtype of the arguments."
WRITTEN = (Change(0, (), "entry written"), Change(2, ("k",), "key added"))
LATER = CallResult(replace(NORM, call=Changes(1, Call("", ""))), Response(changed=WRITTEN), Failure("changed_later"))
POSITIONS = a_test_call("positional_encoding", 2, 2, rules=Rules(dtype=True))
WORK = "Do not change the arguments: work on copies."
SAID = {
    "changes_x": f"Your code changes the argument `x`: values in `x` were overwritten. {WORK}",
    "changes_beta": f"Your code changes the argument `beta`: a key was added to `beta['k']`. {WORK}",
    "float64_result": f"Your result is float64 for float32 arguments. {CONVERT} "
    "Convert float64 values such as np.zeros(3) or np.sqrt(8); math.sqrt(8) keeps the dtype.",
    "int64_result": f"Your result is int64 for float32 arguments. {CONVERT}",
    "float32_result": "Your result is float32 instead of float64. Return float64.",
    "shares_memory": "Your result shares memory with an argument. Return a new array, or a copy.",
    "overwrites_result": "A result that you returned changed in a later call, or when another result was overwritten. "
    "Return a new one in every call.",
    "remembers": "The same call returned different results. Keep nothing from one call to the next, and use no random numbers.",
}


@pytest.mark.parametrize(("results", "names"), [
    ([CallResult(NORM, Response(FLOAT64, changed=WRITTEN, shared=True), Failure("dtype"))],
     "changes_x changes_beta float64_result shares_memory"),
    ([CallResult(NORM, Response(FLOAT64, changed=WRITTEN, shared=True))], ""),
    ([LATER], "changes_x_later changes_beta_later"),
    ([LATER, CallResult(NORM, Response(RIGHT, changed=WRITTEN[:1]), Failure("changed"))], "changes_beta_later changes_x"),
    ([CallResult(NORM, Response(RIGHT), Failure("unsteady"))] * 2, "remembers"),
    ([CallResult(NORM, Response(RIGHT), Failure("overwritten"))], "overwrites_result"),
    ([CallResult(POSITIONS, Response(POSITIONS.expected.astype(np.float32)), Failure("dtype"))], "float32_result"),
    ([CallResult(NORM, Response(RIGHT > 0), Failure("type"))], ""),
    ([CallResult(NORM, Response(RIGHT.astype(int)), Failure("dtype"))], "int64_result"),
    ([CallResult(NORM, error(""), Failure("raised"))], ""),
])  # fmt: skip
def test_side_effects_and_dtypes_are_observed(results: list[CallResult], names: str) -> None:
    found = {m.name: m for m in observed(results, False)}
    assert [*found] == names.split()
    for name, m in found.items():
        later = name.endswith("_later")
        text = f"{m.does} {m.right}"
        said = text.replace(", which is visible only after the call", "")
        assert said == SAID[name.removesuffix("_later")] and (said != text) == later
        assert m.criteria == ((NORM.criterion,) if "float32" not in name else ())
        assert m.changes == (name.split("_")[1] if name.startswith("changes_") else "")
    assert [m.name for m in observed(results, True)] == [name for name in names.split() if name != "remembers"]
