"""A Result as Gradescope's results.json."""

import json
from dataclasses import replace
from typing import Any

import pytest

from autograder import __version__
from autograder.feedback.results import RULE, RULE_OF_CRITERIA, Grade, Mark, TopNote, rule
from autograder.grading.grader import ModuleResult
from autograder.grading.scoring import CriterionScore
from autograder.grading.student_tests import FunctionTests
from autograder.sandbox.protocol import Error, Response
from autograder.shared.compare import Failure
from autograder.tests.files import HOMEWORK
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
    ({"tests": FunctionTests()}, WRONG, None, "tests"),
    ({"call_result": raised("layer_norm", "AttributeError", hint="missing")}, WRONG, None, "unwritten"),
])  # fmt: skip
def test_cause_of_a_lost_criterion(
    score: dict[str, Any], file: bytes | None, broken: Response | None, cause: str
) -> None:
    graded = CriterionScore(criterion("layernorm.statistics"), **{"why": "unexplained"} | score)
    files = {"layernorm.py": file} if file else {}
    (mark,) = Grade.of(result(ModuleResult("layernorm", (graded,), broken), files=files)).marks
    assert (mark.cause, mark.lost) == (cause, bool(cause))


BLANK, MISNAMED = TopNote("blank", "decoder.py", ""), TopNote("misnamed", "decode.py", "")
ARCHIVE, FOLDER = TopNote("archive", "a.rar", "A rar."), TopNote("folder", "x", "A folder.")
NOTES = [TopNote("absent", "a.py", ""), TopNote("absent", "b.py", ""), BLANK, MISNAMED, TopNote("accepted", "c.py", "")]


@pytest.mark.parametrize(("submitted", "notes", "empty", "remark"), [
    (("decoder",), [FOLDER], "", "A folder."), ((), [MISNAMED], "", "not graded because of the file name: decode.py"),
    ((), [FOLDER, BLANK, ARCHIVE], "A rar.", "A folder. A rar. nothing in decoder.py: blank"),
    ((), [BLANK, FOLDER], "None of its files can be used. A folder.", "A folder. nothing in decoder.py: blank"),
    ((), [BLANK, TopNote("import", "x.py", "No.")], "Its homework files are blank.", "No. nothing in decoder.py: blank"),
    ((), [], "It contains no homework files.", ""),
    (("a",), NOTES, "", "no file a.py, b.py in the upload nothing in decoder.py: blank "
     "not graded because of the file name: decode.py graded despite the file name: c.py"),
    (("a",), [TopNote("x", "", "word " * 200)], "", " ".join(["word"] * 99) + " ..."),
])  # fmt: skip
def test_notes_are_summarized_for_tables(submitted: Any, notes: list[TopNote], empty: str, remark: str) -> None:
    grade = Grade("key", 0, (), (), notes=tuple(notes), submitted=submitted)
    assert (grade.empty, grade.remark) == (empty, remark)
    paths = {kind: tuple(note.path for note in notes if note.kind == kind) for kind in ("misnamed", "accepted")}
    assert (grade.misnamed, grade.accepted) == (paths["misnamed"], paths["accepted"])


def test_note_has_a_plain_text_and_a_text_in_markdown() -> None:
    for made, text, markdown in (
        (TopNote.of("import", "a.py", "`a.py` failed: ", "<b>`x`", ".", module="a"), "a.py failed: <b>`x`.",
         "`a.py` failed: &lt;b&gt;\\`x\\`."),
        (TopNote.of("answer", "a.py", "No `q1`.", module="a"), "a.py: No q1.", "**a.py**: No `q1`."),
        (TopNote.of("archive", "a.rar", "No rar."), "No rar.", "No rar."),
    ):  # fmt: skip
        assert (made.text, made.markdown) == (text, markdown)


LATER = Mark("layernorm.rms", "", 1, 3, ("softmax.x",), "after_published")
MARKS = (Mark("layernorm.example", "", 1, 1), Mark("layernorm.affine", "", 0, 2, ("layer_norm.a", "rms_norm.b")), LATER)


@pytest.mark.parametrize(("marks", "total"), [
    (MARKS[:1], "1 of 1 point."), (MARKS[1:2], "0 of 2 points: mistakes in `layer_norm` and `rms_norm`."),
    (MARKS, "1 of 3 points visible now: mistakes in `layer_norm` and `rms_norm`.** Not shown yet: 3 points."),
    ((*MARKS[1:2], Mark("decoder.embed", "", 0.5, 1)), "0.5 of 3 points; points lost in `layernorm.py` and `decoder.py`."),
    ((Mark("integration.norms", "", 0, 1),), "0 of 1 point."),
])  # fmt: skip
def test_total_and_causes_come_first(marks: tuple[Mark, ...], total: str) -> None:
    grade = Grade("key", 0, marks, (), notes=(TopNote("x", "", "", "A *note*."),), rule="The rule.")
    end = "" if "**" in total else "**"
    assert grade.output == f"**{total}{end}\n\n- A *note*.\n\nThe rule.\n"
    assert grade.missed == [mark for mark in marks if mark.score != mark.max_score]
    assert grade.max_score == sum(mark.max_score for mark in marks) and grade.points == {
        m.criterion: m.score for m in marks
    }
    if marks == MARKS:
        assert grade.subtotals == {"layernorm": (2, 6)}


def test_document_without_criteria_is_invalid() -> None:
    with pytest.raises(ValueError, match="without criteria"):
        Grade.from_gradescope("key", {"score": 0, "tests": [], "extra_data": {"layers": []}}, 0.0)


@pytest.mark.parametrize("cause", ["misconception", "line", "varies", "other", "unwritten", ""])
@pytest.mark.parametrize(("charge", "text"), [("mistakes", RULE), ("criteria", RULE_OF_CRITERIA)])
def test_rule_is_stated_if_a_mistake_in_code_costs_points(cause: Any, charge: Any, text: str) -> None:
    rubric = HOMEWORK.rubric.model_copy(update={"charge": charge})
    assert rule(rubric, [Mark("a.b", "", 0, 1, cause=cause)]) == (text if cause not in ("unwritten", "") else "")
    assert rule(rubric, [Mark("a.b", "", 1, 1, cause=cause)]) == ""
