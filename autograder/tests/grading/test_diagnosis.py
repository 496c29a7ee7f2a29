"""Known mistakes are found again: alone, two in one function, behind a helper, in other words; else nothing is named."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from autograder.grading import diagnosis, search
from autograder.grading.diagnosis import Diagnosis
from autograder.homework import library, rubric
from autograder.sandbox.messages import Ended, Response
from autograder.tests import running
from autograder.tests.making import few
from autograder.values.compare import Failure


def explained(module: str, *ids: str) -> dict[str, Diagnosis]:
    call_results = running.in_processes(module, partial(running.with_mistakes, module, *ids))
    return running.diagnoser().explain(module, call_results)


def explained_source(module: str, *sources: str) -> dict[str, Diagnosis]:
    return running.diagnoser().explain(module, running.call_results(module, running.with_source(module, *sources)))


def explained_visible(module: str, functions: Mapping[str, Callable[..., Any]]) -> dict[str, Diagnosis]:
    """The diagnoses from visible criteria and examples alone."""
    criteria = rubric.current().criteria
    call_results = running.call_results(module, functions)
    shown = [r for r in call_results if not r.test_call.criterion or criteria[r.test_call.criterion].visible]
    return running.diagnoser().explain(module, shown)


def named(diagnoses: dict[str, Diagnosis]) -> set[str]:
    return {misconception.id for diagnosis in diagnoses.values() for misconception in diagnosis.named}


def test_a_right_module_needs_no_explanation() -> None:
    assert explained("layernorm") == {}


# Those of batch_norm change how the other one shows: wrong shape and dtype; one moves the other; wrong values are kept.
@pytest.mark.parametrize(
    "ids",
    [
        "layer_norm.sample_variance",
        "layer_norm.one_pass_variance",  # told by the size of its rounding
        "layer_norm.statistics_kept",  # told by what earlier calls left
        "layer_norm.sample_variance layer_norm.eps_outside_root",
        "layer_norm.eps_hard_coded layer_norm.one_pass_variance",
        "layer_norm_backward.no_gamma layer_norm_backward.axes_kept",
        "layer_norm.no_beta rms_norm.no_root layer_norm_backward.averaged",
        "layer_norm.sample_variance layer_norm.eps_outside_root layer_norm.no_beta",
        "norm_moments.no_keepdims norm_moments.float64_result",
        pytest.param("batch_norm.training_reversed batch_norm.results_swapped", marks=pytest.mark.slow),
        pytest.param("batch_norm.momentum_default batch_norm.remembers", marks=pytest.mark.slow),
    ],
)
def test_mistakes_are_named(ids: str) -> None:
    module = rubric.current().module_of(ids.partition(".")[0])
    assert named(explained(module, *ids.split())) == set(ids.split())


def test_the_text_does_not_matter() -> None:
    other = """
def layer_norm(x, gamma, beta, eps=1e-5):
    rows = x.reshape(-1, x.shape[-1])
    out = [gamma * (r - r.sum() / len(r)) / np.sqrt(((r - r.mean()) ** 2).sum() / (len(r) - 1) + eps) for r in rows]
    return np.array(out).reshape(x.shape) + beta
"""
    assert named(explained_source("layernorm", other)) == {"layer_norm.sample_variance"}


@pytest.mark.slow
def test_an_error_that_goes_one_way_is_not_called_rounding() -> None:
    one_way = """
def softmax(scores, axis=-1):
    largest = scores.max(axis=axis, keepdims=True)
    weights = np.exp(scores - np.where(np.isneginf(largest), 0.0, largest).astype(scores.dtype))
    total = weights.sum(axis=axis, keepdims=True)
    return weights / np.where(total == 0, 1.0, total * (1 + 1e-7)).astype(scores.dtype)
"""
    assert named(explained_source("scaled_attention", one_way)) == set()


@pytest.mark.parametrize("error", ["ValueError('todo')", "Exception('TODO')"])
def test_nothing_is_guessed_of_code_that_only_raises(error: str) -> None:
    for module, signature in (
        ("layernorm", "layer_norm(x, gamma, beta, eps=1e-5)"),
        ("scaled_attention", "softmax(scores, axis=-1)"),
    ):
        found = explained_source(module, f"def {signature}:\n    raise {error}\n")
        assert not named(found) and found[signature.partition("(")[0]].empty


@pytest.mark.parametrize(
    ("product", "told"),
    few([("x @ params['w_1'].T", True), ("x * params['w_1']", False), ("(x.T @ params['w_1']).T", False)], 1),
)
def test_an_error_names_a_mistake_that_raises_it_for_the_same_reason(product: str, told: bool) -> None:
    source = f"""
def feed_forward(x, params):
    hidden = np.maximum({product} + params["b_1"], 0)
    return hidden @ params["w_2"].T + params["b_2"]
"""
    found = explained_visible("transformer_block", running.with_source("transformer_block", source))
    assert ("feed_forward.transposed_weights" in named(found)) is told


def test_of_several_that_agree_none_is_named() -> None:
    call_results = running.call_results("layernorm", running.with_mistakes("layernorm", "layer_norm.eps_missing"))
    ordinary = [
        r for r in call_results if r.target.function == "layer_norm" and "given_by_the_caller" in r.test_call.test
    ]
    diagnosis = running.diagnoser().explain("layernorm", ordinary or call_results[:1])["layer_norm"]
    assert diagnosis.complete and diagnosis.named == ()
    assert {"layer_norm.eps_missing", "layer_norm.eps_only_for_zero"} <= {m.id for m in diagnosis.undecided}


def test_only_the_records_that_are_given_are_explained() -> None:
    wrong = running.with_mistakes("layernorm", "layer_norm.no_beta", "rms_norm.no_root")
    given = [r for r in running.call_results("layernorm", wrong) if r.target.function == "rms_norm"]
    assert set(running.diagnoser().explain("layernorm", given)) == {"rms_norm"}


@pytest.mark.parametrize(
    ("module", "name"),
    few([("layernorm", "layer_norm.sample_variance"), ("transformer_block", "transformer_stack.always_post")], 1),
)
def test_a_mistake_that_does_not_show_where_it_belongs_explains_nothing(module: str, name: str) -> None:
    misconception = library.find(name)
    assert misconception is not None
    wrong = running.call_results(module, running.with_mistakes(module, name))
    right = running.call_results(module, running.with_source(module))
    mixed = [r if r.test_call.criterion in misconception.criteria else w for w, r in zip(wrong, right, strict=True)]
    assert any(call_result.failure is not None for call_result in mixed)
    assert running.diagnoser().explain(module, mixed)[misconception.function].misconceptions == ()


def test_a_helpers_mistake_explains_its_caller_which_may_have_mistakes_of_its_own() -> None:
    helped, own = "dependency_matrix.transposed", "is_autoregressive.negated"
    alone, both = explained("causal_mask", helped), explained("causal_mask", helped, own)
    assert named(alone) == {helped}
    above = alone["is_autoregressive"]
    assert above.complete and above.misconceptions == () and [m.id for m in above.helpers] == [helped]
    assert [m.id for m in both["dependency_matrix"].named] == [helped]
    assert [m.id for m in both["is_autoregressive"].misconceptions] == [own]


CHANGED = "Your code changes the argument `gamma`: an entry of `gamma` was overwritten"
WIDE = "Your result is {} for float32 arguments."


@pytest.mark.parametrize(
    ("body", "name", "criteria", "does"),
    [
        ("gamma *= 1.5\n    gamma = gamma / 1.5", "changes_gamma", ("layernorm.purity",), f"{CHANGED}."),
        ("x = x.astype(np.float64)", "float64_result", ("layernorm.dtype",), WIDE.format("float64")),
        ("return np.zeros((2, 3, 4, 5), int)", "int64_result", (), WIDE.format("int64")),
        ("gamma *= 1.5\n    raise RuntimeError", "changes_gamma_later", None, f"{CHANGED}, which is visible only after the call."),
        ("x += 1.0\n    x = x - 1.0\n    eps = 1e-6", "changes_x eps_hard_coded", None, ""),  # of value and of form
    ],
)  # fmt: skip
def test_what_changed_and_which_dtype_came_back_is_observed(
    body: str, name: str, criteria: tuple[str, ...] | None, does: str
) -> None:
    source = library.correct("layernorm", "rms_norm").source
    start = source.index("    ")
    diagnoses = explained_source("layernorm", f"{source[:start]}    {body}\n{source[start:]}")
    found = {m.name: m for diagnosis in diagnoses.values() for m in diagnosis.named}
    assert {*name.split()} == found.keys() or (name in found and "raise" in body)
    assert not does or found[name].does == does
    assert criteria is None or found[name].criteria == criteria


# Results do not depend on the machine or on earlier submissions


def test_an_explanation_does_not_depend_on_earlier_submissions() -> None:
    first = explained("layernorm", "layer_norm.no_root")
    explained("layernorm", "layer_norm.no_beta", "layer_norm.eps_squared")
    assert explained("layernorm", "layer_norm.no_root") == first


ODD = """
_right = multi_head_attention
def multi_head_attention(*args, **kwargs):
    result = _right(*args, **kwargs)
    return result + 0.01 * np.cos(np.arange(result.size)).reshape(result.shape)
"""


@pytest.mark.slow
def test_what_is_kept_of_known_versions_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    log = library.find("softmax.log")
    assert log is not None
    call_results = running.call_results("scaled_attention", running.with_source("scaled_attention", log.source, ODD))
    diagnoser = running.diagnoser.__wrapped__()
    diagnoser.explain("scaled_attention", call_results)

    def held(forget: bool = True) -> list[int]:
        if forget:
            diagnoser.forget()
        return [known_responses.held for known_responses in diagnoser._kept.values()]

    kept = held(forget=False)
    assert held() == kept
    monkeypatch.setattr(diagnosis, "MOST_HELD", sum(kept) - 1)
    assert held() == kept[1:]
    assert library.made.cache_info().maxsize and library.compiled.cache_info().maxsize


def test_a_process_that_ended_is_no_known_mistake() -> None:
    call_results = running.call_results("layernorm", running.with_source("layernorm"))
    ended = Response(ended=Ended("deadline"))
    of_rms_norm = [r for r in call_results if r.target.function == "rms_norm"]
    gone = [replace(r, response=ended, failure=Failure("ended")) for r in of_rms_norm]
    assert running.diagnoser().explain("layernorm", gone)["rms_norm"].named == ()


# The special cases of the search


def test_no_argument_is_said_to_change_where_none_was_seen_to() -> None:
    """The gradients are those of a function that multiplies grad_out by gamma in place."""
    text = library.correct("layernorm", "layer_norm_backward").source
    text = text.replace("grad_out * gamma", "grad_out").replace(
        "leading", "grad_out = grad_out * gamma\n    leading", 1
    )
    assert named(explained_visible("layernorm", running.with_source("layernorm", text))) == set()


def test_what_is_written_into_arguments_counts_beside_other_mistakes() -> None:
    seen = ("batch_norm.changes_running_mean", "batch_norm.changes_running_var")
    found = explained("batchnorm_comparison", "batch_norm.population_running_var", *seen)
    assert named(found) == {"batch_norm.population_running_var", *seen} and found["batch_norm"].complete


@pytest.mark.slow
def test_beside_a_helper_that_nothing_explains_nothing_is_explained() -> None:
    both = ("softmax.float32_inside", "scaled_dot_product_attention.divided_by_d_k")
    wrong = """
_known = scaled_dot_product_attention


def scaled_dot_product_attention(*args):
    output, weights = _known(*args)
    return output + 0.1 * (output.ndim == 2), weights
"""
    versions_of = [library.made("scaled_attention", m.function, (m,)) for m in map(library.find, both) if m is not None]
    found = explained_source("scaled_attention", "".join(v.source for v in versions_of if v is not None) + wrong)
    assert found["multi_head_attention"].misconceptions == () and not found["multi_head_attention"].complete


@pytest.fixture
def twice(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Let a known mistake stand in the library a second time, under another name, belonging to another criterion."""

    def again(id: str, criterion: str) -> None:
        known = library.find(id)
        assert known is not None
        own = library.of_function(known.module, known.function)
        others = [replace(m, name="again", criteria=(criterion,)) for m in own if m.id == id]
        monkeypatch.setattr(search, "of_function", lambda module, function: [*own, *others])

    return again


def test_of_mistakes_that_reply_alike_the_cheapest_is_charged_and_none_named(twice: Callable[[str, str], None]) -> None:
    points = {c.id: c.points for c in rubric.current().of("layernorm") if c.looks_at == "values"}
    known = library.find("layer_norm.no_root")
    assert known is not None
    cheaper = min(points, key=lambda name: points[name])
    assert points[cheaper] < points[known.criteria[0]]
    twice(known.id, cheaper)
    found = explained("layernorm", known.id)["layer_norm"]
    assert [misconception.id for misconception in found.misconceptions] == ["layer_norm.again"] and found.named == ()


def test_of_mistakes_of_form_that_reply_alike_none_is_chosen(twice: Callable[[str, str], None]) -> None:
    name = "apply_mask.changes_scores"
    alone = explained("causal_mask", name)["apply_mask"]
    assert alone.right_in_value and [misconception.id for misconception in alone.misconceptions] == [name]
    assert alone.chosen is not None
    assert "causal_mask.apply" in alone.chosen.criteria  # nothing of which is wrong in value
    twice(name, "causal_mask.purity")
    assert explained("causal_mask", name)["apply_mask"].misconceptions == ()


def test_ways_that_a_helper_does_not_tell_apart_are_told_apart_above_it() -> None:
    helped = "softmax.equal_weights_for_an_empty_slice"
    own = library.of_function("scaled_attention", "softmax")
    second_way = next(
        misconception.source for misconception in own if misconception.id == helped and misconception.way == 1
    )
    above = explained_source("scaled_attention", second_way)["scaled_dot_product_attention"]
    assert above.misconceptions == () and [m.id for m in above.helpers] == [helped]
