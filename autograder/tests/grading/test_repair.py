"""The limits of single-edit repair. The mistakes it locates are in test_graded_modules.py."""

from collections.abc import Callable

import pytest

from autograder.audit import cases
from autograder.grading.grader import Grader, Result
from autograder.sandbox import process
from autograder.submissions.submission import Submission
from autograder.tests.files import HOMEWORK

Alter = Callable[[str, str], dict[str, str]]
SQUEEZED = """
def layer_norm(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    return np.squeeze(gamma * centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps) + beta)
"""


def graded(grader: Grader, files: dict[str, str], *modules: str) -> Result:
    return grader.grade(Submission("repaired", {name: text.encode() for name, text in files.items()}), modules)


def lost(result: Result) -> set[str]:
    return {g.criterion.id.partition(".")[2] for g in result.graded if not g.passed}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("style", "module", "right", "wrong", "costs", "names"),
    [
        # multi_head_attention has 3,758 edits; the one in the private function is not among the 1,500 smallest.
        ("loops", "scaled_attention", "math.exp(value - top)", "math.exp(value - value)", "softmax", set()),
        # One edit fixes every function that uses the line, so it counts as one mistake, here a known one.
        ("classes", "layernorm", "keepdims=True) + self.eps", ") + self.eps", "statistics", {"no_keepdims"}),
    ],
)
def test_one_edit_fixes_several_functions(
    grader: Grader, style: str, module: str, right: str, wrong: str, costs: str, names: set[str]
) -> None:
    [case] = [case for case in cases.alternatives(HOMEWORK) if case.name == style]
    files = {name: text.decode() for name, text in cases.submission(HOMEWORK, case).files.items()}
    assert right in files[f"{module}.py"]
    files[f"{module}.py"] = files[f"{module}.py"].replace(right, wrong)
    result = graded(grader, files, module)
    assert lost(result) == {"example", costs}
    named = [misconception for one in result.graded for misconception in one.misconceptions if misconception.right]
    assert {misconception.name for misconception in named} == names
    assert not [misconception for misconception in named if misconception.inexact]


@pytest.mark.slow
def test_grader_does_not_fail_if_few_responses_can_be_kept(
    grader: Grader, alter: Alter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "MAX_STORED_BYTES", 8_000)
    assert "statistics" in lost(graded(grader, alter("layernorm", SQUEEZED), "layernorm"))


@pytest.mark.slow
def test_search_in_one_module_takes_no_edits_from_another(grader: Grader) -> None:
    [case] = [case for case in cases.alternatives(HOMEWORK) if case.name == "loops"]
    files = {name: text.decode() for name, text in cases.submission(HOMEWORK, case).files.items()}
    files["scaled_attention.py"] = files["scaled_attention.py"].replace(
        "math.exp(value - top)", "math.exp(value - value)"
    )
    alone = lost(graded(grader, files, "scaled_attention"))
    for function in HOMEWORK.rubric.modules["layernorm"].functions:
        files["layernorm.py"] += f"\n_right_{function} = {function}\n\n\ndef {function}(*args, **kwargs):\n"
        files["layernorm.py"] += f"    found = _right_{function}(*args, **kwargs)\n"
        files["layernorm.py"] += (
            "    if isinstance(found, tuple):\n        return tuple(1.01 * part + 0.01 for part in found)\n"
        )
        files["layernorm.py"] += "    return 1.01 * found + 0.01\n"
    result = graded(grader, files, "layernorm", "scaled_attention")
    assert {
        g.criterion.id.partition(".")[2] for g in result.graded if not g.passed and g.criterion.module != "layernorm"
    } == alone
