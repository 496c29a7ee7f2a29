"""A Result as Gradescope's results.json."""

import json
from dataclasses import replace
from typing import Any

import pytest

from autograder import __version__
from autograder.feedback.results import Grade
from autograder.grading.grader import ModuleResult
from autograder.grading.scoring import CriterionScore
from autograder.sandbox.protocol import Error, Response
from autograder.shared.compare import Failure
from autograder.tests.making import criterion, misconception, module_of, raised, result

SAMPLE = misconception("layer_norm", "sample_variance", "layernorm.statistics", does="Your code does.", right="Do.")
LOST = CriterionScore(
    criterion("layernorm.statistics"), "mistake", (SAMPLE, SAMPLE), call_result=raised("layer_norm", "KeyError")
)
EARNED = CriterionScore(criterion("layernorm.affine"), "elsewhere", (SAMPLE,), ("layernorm.statistics",))


def test_document_has_an_entry_for_each_criterion_in_order() -> None:
    document = Grade.of(result(module_of([LOST, EARNED]))).to_gradescope()
    entries = [(entry["extra_data"]["criterion"], entry["score"]) for entry in document["tests"]]
    points = EARNED.criterion.points
    assert entries == [("layernorm.statistics", 0), ("layernorm.affine", points)] and document["score"] == points
    assert document["extra_data"]["version"] == __version__
    misconceptions = [entry["extra_data"]["misconceptions"] for entry in document["tests"]]
    assert misconceptions == [["layer_norm.sample_variance"], []]  # only those that cost points
    assert json.loads(json.dumps(document)) == document


@pytest.mark.parametrize(("counts", "score", "most"), [("dropped", 0, 0), ("full", 2, 2)])
@pytest.mark.parametrize("passed", [True, False])
def test_dropped_or_fully_credited_criterion_shows_the_reason(counts: Any, score: int, most: int, passed: bool) -> None:
    special = criterion("layernorm.affine", points=2, counts=counts, why="The sheet was wrong.")
    graded = replace(EARNED if passed else LOST, criterion=special)
    document = Grade.of(result(module_of([graded]))).to_gradescope()
    (entry,) = document["tests"]
    assert (document["score"], entry["score"], entry["max_score"], entry["status"]) == (score, score, most, "passed")
    assert entry["extra_data"]["misconceptions"] == []
    assert entry["output"].startswith("This criterion ") and "The sheet was wrong." in entry["output"].splitlines()[0]
    assert len(entry["output"].splitlines()) > 1, "what else there is to say stays"


STUB = b"def layer_norm(x, gamma, beta, eps=1e-5):\n    raise NotImplementedError\n"
WRONG = b"def layer_norm(x, gamma, beta, eps=1e-5):\n    return x + beta\n"
REPAIR = misconception("layer_norm", "repair", "layernorm.statistics", does="The mistake is on line 2.", right="")
CALL = raised("layer_norm", "KeyError")
BROKEN = Response(error=Error(("SyntaxError",), "x", "layernorm.py", 3, ""))


@pytest.mark.parametrize(("score", "file", "broken", "cause"), [
    ({"why": "right"}, WRONG, None, ""),
    ({"misconceptions": (SAMPLE,), "call_result": CALL}, WRONG, None, "misconception"),
    ({"misconceptions": (REPAIR,)}, WRONG, None, "line"),
    ({"call_result": CALL}, WRONG, None, "line"),
    ({"call_result": replace(CALL, response=Response(value=1.0), failure=Failure("value"))}, WRONG, None, "other"),
    ({"call_result": CALL, "depends": True}, WRONG, None, "varies"),
    ({"call_result": CALL}, STUB, None, "unwritten"),
    ({"why": "too_few"}, STUB, None, "unwritten"),
    ({"why": "too_few"}, WRONG, None, "other"),
    ({}, WRONG, BROKEN, "import"),
    ({}, None, BROKEN, "missing"),
])  # fmt: skip
def test_cause_of_a_lost_criterion(
    score: dict[str, Any], file: bytes | None, broken: Response | None, cause: str
) -> None:
    graded = CriterionScore(criterion("layernorm.statistics"), **{"why": "unexplained"} | score)
    files = {"layernorm.py": file} if file else {}
    (mark,) = Grade.of(result(ModuleResult("layernorm", (graded,), broken), files=files)).marks
    assert (mark.cause, mark.lost) == (cause, bool(cause))


def test_notes_are_stored_as_data() -> None:
    broken = Response(error=Error(("KeyError",), "x", "layernorm.py", 3, ""))
    document = Grade.of(result(ModuleResult("layernorm", (LOST,), broken))).to_gradescope()
    (note,) = document["extra_data"]["notes"]
    assert (note["kind"], note["path"]) == ("import", "layernorm.py")
    assert note["text"] in document["output"].replace("`", "")
    assert "`" not in note["text"] and "**" not in note["text"]
