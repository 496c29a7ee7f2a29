"""Grading of whole submissions. Cases of a single module are in test_graded_modules.py."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.grading import plan as plans
from autograder.grading.grader import Grader
from autograder.homework import rubric as rubrics
from autograder.sandbox import process
from autograder.sandbox.sandbox import Sandbox
from autograder.submissions.submission import Submission
from autograder.tests.files import HOMEWORK
from autograder.tests.making import few, homework_with

Grade = Callable[..., dict[str, Any]]
Alter = Callable[[str, str], dict[str, str]]


def entries(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {test["extra_data"]["criterion"]: test for test in document["tests"]}


def lost(document: dict[str, Any]) -> set[str]:
    return {name for name, test in entries(document).items() if test["score"] < test["max_score"]}


def modules(names: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in names}


def test_references_earn_all_points(grade: Grade) -> None:
    document = grade()
    assert document["score"] == HOMEWORK.rubric.points
    assert lost(document) == set()
    assert set(entries(document)) == set(HOMEWORK.rubric.criteria)


def test_empty_submission_earns_nothing(grade: Grade) -> None:
    document = grade({f"{name}.py": None for name in HOMEWORK.rubric.modules})
    assert document["score"] == 0
    assert "There is no file layernorm.py" in document["output"]


@pytest.mark.parametrize("module", few([name for name in HOMEWORK.rubric.modules if name != "concept_check"], 1))
def test_bad_module_costs_only_itself_and_the_integration(grade: Grade, alter: Alter, module: str) -> None:
    bad = "\n".join(f"def {f}(*args, **kwargs):\n    return None" for f in HOMEWORK.rubric.modules[module].functions)
    assert modules(lost(grade(alter(module, bad)))) == {module, "integration"}


def test_answers_are_never_shown(grade: Grade) -> None:
    text = "def answers():\n    return {f'q{i}': 'A' for i in range(1, 9)}\n"
    document = grade({"concept_check.py": text}, ("concept_check",))
    assert 0 < document["score"] < 4
    shown = {test["output"] for test in document["tests"] if test["score"] == 0}
    assert shown == {"Not correct yet. Only the score is shown for this criterion.\n"}


@pytest.mark.slow
def test_grader_does_not_fail_if_few_responses_can_be_kept(
    grade: Grade, alter: Alter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "MAX_STORED_BYTES", 8_000)
    squeezed = "_right = layer_norm\ndef layer_norm(*args, **named):\n    return np.squeeze(_right(*args, **named))"
    assert "layernorm.statistics" in lost(grade(alter("layernorm", squeezed), ("layernorm",)))


@pytest.mark.slow
def test_integration_runs_before_hidden_calls_if_everything_is_visible_at_once(
    references: dict[str, bytes], alter: Alter, tmp_path: Path
) -> None:
    path = tmp_path / "rubric.yaml"
    text = HOMEWORK.rubric_file.read_text()
    path.write_text(text.replace("visibility: after_published", "visibility: visible", 1))
    plan = plans.record(homework_with(rubrics.load(path)))
    wrong = alter("layernorm", "def rms_norm(x, gamma, eps=1e-6):\n    return gamma * x")
    files = references | {name: text.encode() for name, text in wrong.items()}
    with Sandbox(plan.rubric.limits, (), HOMEWORK.secret) as sandbox:
        result = Grader(plan, sandbox).grade(Submission("all at once", files))
    assert plan.rubric.criteria["integration.norms"].visible and plan.rubric.criteria["layernorm.rms"].visible
    gone = {graded.criterion.id for graded in result.graded if not graded.passed}
    assert (
        {"layernorm.example", "layernorm.rms"}
        <= gone
        <= {"layernorm.example", "layernorm.rms", "layernorm.rms_epsilon"}
    )
    norms = next(graded for graded in result.graded if graded.criterion.id == "integration.norms")
    assert norms.passed and norms.blamed == ("layernorm",)
