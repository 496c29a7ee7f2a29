"""An unlisted mistake is one mistake if a single edit of the text makes every call right."""

from collections.abc import Callable
from typing import Any

import pytest

from autograder.audit import cases
from autograder.feedback.messages import message
from autograder.grading.grader import Grader, Result, open_grader
from autograder.grading.repair import Repairs
from autograder.grading.scoring import CriterionScore
from autograder.homework import rubric as rubrics
from autograder.sandbox import process
from autograder.sandbox.budget import Limits
from autograder.submissions.submission import Submission

Alter = Callable[[str, str], dict[str, str]]

SQUEEZED = """
def layer_norm(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    var = (centred**2).mean(axis=-1, keepdims=True)
    return np.squeeze(gamma * centred / np.sqrt(var + eps) + beta)
"""


def graded(grader: Grader, files: dict[str, str], module: str = "layernorm") -> Result:
    encoded = {name: text.encode() for name, text in files.items()}
    return grader.grade(Submission("repaired", encoded), (module,))


def lost(result: Result) -> set[str]:
    return {g.criterion.id.partition(".")[2] for g in result.graded if not g.passed}


def named(result: Result) -> set[str]:
    return {misconception.name for g in result.graded for misconception in g.misconceptions if misconception.right}


def sentences(result: Result) -> set[str]:
    return {misconception.does for g in result.graded for misconception in g.misconceptions if not misconception.right}


def of(result: Result, criterion: str) -> CriterionScore:
    return next(g for g in result.graded if g.criterion.id.partition(".")[2] == criterion)


def said(files: dict[str, str], text: str, *functions: str, module: str = "layernorm") -> set[str]:
    """What is said of functions that an edit on the first line with this text repairs."""
    line = next(n for n, line in enumerate(files[f"{module}.py"].splitlines(), 1) if text in line)
    return {f"A single edit on line {line} makes every call of `{function}` pass." for function in functions}


def restyled(style: str, module: str, right: str, wrong: str) -> dict[str, str]:
    """A submission in a style of audit/alternatives with one change in a module."""
    [case] = [case for case in cases.alternatives() if case.name == style]
    files = {name: text.decode() for name, text in cases.submission(case).files.items()}
    assert right in files[f"{module}.py"]
    return files | {f"{module}.py": files[f"{module}.py"].replace(right, wrong)}


@pytest.mark.slow
def test_one_edit_is_one_mistake_and_its_line_is_told(grader: Grader, alter: Alter) -> None:
    files = alter("layernorm", SQUEEZED)
    result = graded(grader, files)
    assert lost(result) == {"statistics"}
    assert sentences(result) == said(files, "np.squeeze", "layer_norm")
    assert of(result, "statistics").why == "mistake" and of(result, "affine").why == "elsewhere"


@pytest.mark.slow
def test_without_edits_every_wrong_criterion_is_lost(alter: Alter) -> None:
    with open_grader(limits=Limits(repairs=0)) as grader:
        result = graded(grader, alter("layernorm", SQUEEZED))
    assert lost(result) > {"statistics"}
    assert not sentences(result)


@pytest.mark.slow
def test_one_private_function_that_makes_two_functions_wrong_is_one_mistake(grader: Grader, alter: Alter) -> None:
    source = """
def _scaled(x, gamma):
    return np.round(gamma * x, 1)


def layer_norm(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    return _scaled(centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps), gamma) + beta


def rms_norm(x, gamma, eps=1e-6):
    return _scaled(x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps), gamma)
"""
    files = alter("layernorm", source)
    result = graded(grader, files)
    assert lost(result) - {"example"} == {"statistics"}
    assert sentences(result) <= said(files, "np.round", "layer_norm", "rms_norm")


@pytest.mark.slow
def test_other_edits_on_one_line_are_other_mistakes(grader: Grader, alter: Alter) -> None:
    source = (
        "_ln, _rms = layer_norm, rms_norm\n"
        "layer_norm = lambda x, gamma, beta, eps=1e-5: 3.5 * _ln(x, gamma, beta, eps)<end>"
        "rms_norm = lambda x, gamma, eps=1e-6: 7.25 * _rms(x, gamma, eps)\n"
    )
    lines, line = (graded(grader, alter("layernorm", source.replace("<end>", end))) for end in "\n;")
    assert lost(lines) == lost(line) >= {"statistics", "rms"}


@pytest.mark.slow
def test_a_later_function_is_edited_first_where_an_earlier_one_was_repaired(grader: Grader) -> None:
    """Of 3,758 edits of multi_head_attention the one in the private function is not among the 1,500 smallest."""
    files = restyled("loops", "scaled_attention", "math.exp(value - top)", "math.exp(value - value)")
    result = graded(grader, files, "scaled_attention")
    assert lost(result) == {"example", "softmax"}  # the first of the two in the rubric


@pytest.mark.slow
def test_what_other_definitions_are_made_from_is_edited_too(grader: Grader) -> None:
    """The same edit fixes every function that uses the line, so it is one mistake, here a known one."""
    result = graded(
        grader, restyled("classes", "layernorm", "axis=-1, keepdims=True) + self.eps", "axis=-1) + self.eps")
    )
    assert lost(result) == {"example", "statistics"}
    assert named(result) == {"no_keepdims"}  # where an error is raised, digits that are lost cannot be seen
    assert not [m for g in result.graded for m in g.misconceptions if m.inexact]


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [
        SQUEEZED.replace("eps)", "eps) * 1.25").replace("- x.mean", "- 1.5 * x.mean"),
        SQUEEZED.replace("    centred", "    x += 1.0\n    centred"),
    ],
    ids=["two mistakes", "a changed argument"],
)
def test_an_edit_that_does_not_make_all_right_is_no_repair(grader: Grader, alter: Alter, source: str) -> None:
    assert not sentences(graded(grader, alter("layernorm", source)))


@pytest.mark.slow
def test_a_known_mistake_beside_an_edit_is_told_and_not_that_it_is_all(grader: Grader, alter: Alter) -> None:
    source = """
def split_heads(x, n_heads):
    d_head = x.shape[-1] // n_heads
    return x[..., : d_head * n_heads].reshape(*x.shape[:-2], n_heads, x.shape[-2], d_head)
"""
    result = graded(grader, alter("scaled_attention", source), "scaled_attention")
    told = of(result, "split_heads")
    assert [misconception.id for misconception in told.misconceptions] == ["split_heads.reshape_only"]
    assert told.at_least
    assert "**Probably (not every result fits):**" in message(told, result)
    assert not sentences(result)


@pytest.mark.slow
def test_a_known_mistake_that_alone_is_evident_is_told_as_one_of_several(grader: Grader, alter: Alter) -> None:
    """Without the residuals only the squares are wrong, so that a few calls show them; no criterion has such calls alone."""
    source = """
def gradient_flow(jacobians, grad_out, residual=True):
    through, out = grad_out, [np.sum(grad_out**2)]
    for jacobian in jacobians[::-1]:
        through = jacobian.T @ through
        out.insert(0, np.sum((through + grad_out if residual else through) ** 2))
    return np.array(out)
"""
    result = graded(grader, alter("transformer_block", source), "transformer_block")
    told = message(of(result, "gradient_flow"), result)
    assert "**Probably (not every result fits):** Your code returns squared norms." in told
    assert lost(result) == {"example", "gradient_flow"}


@pytest.mark.slow
def test_a_known_mistake_that_explains_a_whole_criterion_is_told_as_one_of_several(
    grader: Grader, alter: Alter
) -> None:
    source = """
def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    s = np.sqrt((centred**2).mean(-1, keepdims=True) + eps)
    n, g = centred / s, grad_out * gamma
    flat = grad_out.reshape(-1, x.shape[-1])
    beta = flat[:-1].sum(0) + flat[0] if len(flat) > 1 else flat[0]
    return (g - n * (g * n).mean(-1, keepdims=True)) / s, (grad_out * n).reshape(-1, x.shape[-1]).sum(0), beta
"""
    result = graded(grader, alter("layernorm", source))
    told = message(of(result, "backward_x"), result)
    assert "**Probably (not every result fits):** Your grad_x lacks the term - mean(g)" in told
    assert "Probably" not in message(of(result, "backward_parameters"), result)


def test_a_known_mistake_that_right_calls_speak_against_is_not_told(grader: Grader, alter: Alter) -> None:
    source = """
def split_heads(x, n_heads):
    t, d = x.shape[-2:]
    if d % n_heads:
        raise ValueError("not divisible")
    return np.swapaxes(x, -1, -2).reshape(x.shape[:-2] + (n_heads, t, d // n_heads))
"""
    assert not named(graded(grader, alter("scaled_attention", source), "scaled_attention"))


@pytest.mark.slow
def test_a_result_of_other_parts_than_the_references_is_no_error_of_the_grader(grader: Grader, alter: Alter) -> None:
    source = """
_right = layer_norm_backward


def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
    if x.ndim == 1:
        return grad_out * 0.5, grad_out.copy() * 0.25, grad_out * 0.125
    return _right(grad_out, x, gamma, eps)[0]
"""
    assert "backward_parameters" in lost(graded(grader, alter("layernorm", source)))


def test_code_that_computes_nothing_is_never_repaired(grader: Grader, alter: Alter, monkeypatch: Any) -> None:
    searched: list[Any] = []
    monkeypatch.setattr(Repairs, "search", lambda *args: searched.append(args))
    for body in ("return x", "raise ValueError"):
        graded(grader, alter("layernorm", f"def rms_norm(x, gamma, eps=1e-6):\n    {body}"))
    assert not searched


@pytest.mark.slow
def test_the_line_is_shown_where_results_are_booleans(grader: Grader, alter: Alter) -> None:
    source = """
def dependency_matrix(f, x, delta=1e-3):
    t = len(x)
    base, found = np.array(f(x.copy())), np.zeros((t, t), dtype=bool)
    for j in range(t):
        for sign in (1, -1):
            moved = x.copy()
            moved[j] += sign * delta * np.cos(1 + 1.7 * np.arange(x.shape[1]))
            found[:, j] |= ((np.asarray(f(moved)) - base) ** 2).sum(axis=1) > 1e-8
    return found
"""
    files = alter("causal_mask", source)
    expected = said(files, "** 2).sum(axis=1)", "dependency_matrix", module="causal_mask")
    assert sentences(graded(grader, files, "causal_mask")) == expected


HOSTILE = {
    "10 MB": "# " + "x" * 10_000_000,
    "nodes": "TABLE = [" + "0, " * 100_000 + "]",
    "nested": "TABLE = " + "[" * 90 + "]" * 90 + " + " + "-" * 900 + "1 * [0]",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_text_that_is_too_large_is_graded_without(grader: Grader, alter: Alter, kind: str) -> None:
    result = graded(grader, alter("layernorm", f"{SQUEEZED}\n{HOSTILE[kind]}\n"))
    assert "statistics" in lost(result)
    assert not {"rms", "backward_x"} & lost(result)


@pytest.mark.slow
def test_an_endless_edit_does_no_harm(grader: Grader, alter: Alter) -> None:
    source = """
def rms_norm(x, gamma, eps=1e-6):
    total, i = np.zeros(x.shape[:-1]), 0
    while i < x.shape[-1]:
        total = total + x[..., i] ** 2
        i += 1
    return np.squeeze(gamma * x / np.sqrt(total / x.shape[-1] + eps)[..., None]).astype(x.dtype)
"""
    result = graded(grader, alter("layernorm", source))
    assert lost(result) <= {"rms", "epsilon", "example"}
    assert not any(call_result.response.ended for module in result.modules for call_result in module.call_results)


@pytest.mark.slow
def test_where_few_replies_can_be_kept_a_search_may_fail_and_the_grader_does_not(
    grader: Grader, alter: Alter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "MAX_KEPT_BYTES", 8_000)
    assert "statistics" in lost(graded(grader, alter("layernorm", SQUEEZED)))


@pytest.mark.slow
def test_searches_are_bounded(grader: Grader, alter: Alter, monkeypatch: Any) -> None:
    tried, search = list[int](), Repairs.search

    def noted(self: Repairs, *args: Any) -> Any:
        before = self.edits
        found = search(self, *args)
        tried.append(before - self.edits)
        return found

    monkeypatch.setattr(Repairs, "search", noted)
    text = ""
    for function in rubrics.current().modules["scaled_attention"].functions:
        text += f"\n_right_{function} = {function}\n\n\ndef {function}(*args, **kwargs):\n"
        text += f"    found = _right_{function}(*args, **kwargs)\n"
        text += "    return tuple(1.01 * part + 0.01 for part in found) if isinstance(found, tuple) else 1.01 * found + 0.01\n"
    graded(grader, alter("scaled_attention", text), "scaled_attention")
    assert sum(tried) == grader.sandbox.limits.repairs > max(tried) > tried[-1]
