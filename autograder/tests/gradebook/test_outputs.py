"""The output of a run: tables that are safe to open and to import, and pages that escape everything a student chose."""

import csv
import html
import io
import json
import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from autograder.exceptions import CommandError
from autograder.feedback.results import RULE, Grade, Mark, TopNote
from autograder.gradebook import outputs
from autograder.gradebook.batch import Run
from autograder.gradebook.inputs import Inputs, Line, Person
from autograder.gradebook.rows import StudentRow, finished
from autograder.submissions.submission import Student, Upload
from autograder.submissions.tree import of_folder
from autograder.tests.files import HOMEWORK, Files, put
from autograder.tests.making import grade_of_passed as grade
from autograder.tests.making import grade_of_points, rubric_with

RUBRIC = HOMEWORK.rubric
FIRST, SECOND, *_ = RUBRIC.criteria.values()
ADA, BELA = Student("Ada Abel", "1", "ada@example.org"), Student("Bela Brandt", "2", "bela@example.org")


def entry(key: str, *students: Student, at: str = "", remark: str = "") -> Upload:
    return Upload(key, None, students, created_at=at, remark=remark)


def table(*entries: Upload) -> list[dict[str, str]]:
    grades = {one.key: grade(one.key, True, False) for one in entries}
    text = outputs.table(finished(entries, grades, {}, HOMEWORK.rubric), HOMEWORK.rubric)
    return list(csv.DictReader(io.StringIO(text)))


def test_table_has_a_row_per_student_and_columns_for_canvas_gradescope_and_criteria() -> None:
    """Sources: GradebookImporter#header? for Canvas, the columns of its own tables for Gradescope."""
    lines = table(entry("s1", ADA, BELA), entry("s2", Student("Chidi")))
    assert list(lines[0]) == [
        "Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Name", "SID", "Email", "Total Score", "Max Points", "Status",
        "Submission ID", "Submission Time", "Late", "Other Submissions", "Remark", "m.c0", "m.c1",
    ]  # fmt: skip
    assert [line["Student"] for line in lines] == ["Ada Abel", "Bela Brandt", "Chidi"]
    scores = [(line["m.c0"], line["m.c1"], line["Total Score"], line["Max Points"]) for line in lines]
    assert scores == [("2", "0", "2", "4")] * 3


CLONE: Files = {
    ".git/config": '[remote "origin"]\n\turl = git@github.com:cs1/fall-hw3-ada.git\n',
    ".git/logs/HEAD": f"{'0' * 40} {'a1' * 20} Kim Teacher <kim@example.org> 1795824000 +0100\tclone: from github.com\n",
    ".classroom50.yaml": 'classroom: "fall"\nassignment: "hw3"\nowner:\n  username: "ada"\n',
}


def a_clone(folder: Path, files: Files = CLONE, **changes: Any) -> StudentRow:
    """A row of Ada's clone with a visible and a hidden criterion."""
    marks = Mark("m.a", "m.a: about", 2.0, 2.0), Mark("m.b", "m.b: about", 0.0, 3.0, visibility="after_published")
    student = Student("fall-hw3-ada", login="ada")
    upload = Upload("fall-hw3-ada", of_folder(put(folder, files)), (student,))
    return replace(StudentRow(student, upload, Grade("fall-hw3-ada", 2.0, marks, ())), **changes)


def test_result_for_classroom_50_has_what_its_runner_checks_and_nothing_hidden(tmp_path: Path) -> None:
    """Source: validate_result in foundation50/classroom50, runner.py."""
    document = json.loads(outputs.classroom50_result(a_clone(tmp_path)))
    repository, tag = "https://github.com/cs1/fall-hw3-ada", "submit/2026-11-28T00-00-00Z-a1a1a1a"
    assert document == {
        "schema": "classroom50/result/v1", "classroom": "fall", "assignment": "hw3", "assignment_type": "individual",
        "owner": "ada", "submission": tag, "commit": f"{repository}/commit/{'a1' * 20}",
        "release": f"{repository}/releases/tag/{tag.replace('/', '%2F')}", "review": f"{repository}/commit/{'a1' * 20}",
        "datetime": "2026-11-28T00:00:00Z", "score": 2, "max-score": 2,
        "tests": [{"test-name": "m.a: about", "passed": True, "score": 2, "max-score": 2}],
    }  # fmt: skip
    numbers = [document["score"], document["max-score"], *(test["score"] for test in document["tests"])]
    assert all(type(number) is int for number in numbers)


@pytest.mark.parametrize(("without", "changes"), [
    (".git/config", {}), (".git/logs/HEAD", {}), (".classroom50.yaml", {}), ("", {"grade": None}),
    ("", {"withheld": True}), ("", {"excused": True}), ("", {"student": Student("fall-hw3-ada")}),
])  # fmt: skip
def test_no_result_for_classroom_50_without_its_parts(tmp_path: Path, without: str, changes: dict[str, Any]) -> None:
    files = {name: text for name, text in CLONE.items() if name != without}
    assert outputs.classroom50_result(a_clone(tmp_path / "class", files, **changes)) == ""


def test_files_of_a_run(tmp_path: Path) -> None:
    """Pages, late days and other tables only if somebody asks for them. The error of a full disk names the file."""
    ada, bela = replace(ADA, moodle="70"), replace(BELA, sid="9", email="")
    entries = [entry("s1", ada, BELA), entry("s2", bela), entry("s3", Student("Dana", "4", "d@x"))]
    group, alone = grade_of_points("s1", RUBRIC.points, 1), replace(grade_of_points("s2", RUBRIC.points), submitted=())
    left = [Line("ada@example.org", "total", 2, "")]
    rows = finished(entries, {"s1": group, "s2": alone}, {"s3": "disk"}, RUBRIC, Inputs(late_days=left))
    run = Run("kit", (), rows=rows)
    plain, full = tmp_path / "plain", tmp_path / "full"
    outputs.write(HOMEWORK, plain, run, "Title")
    tables = {"grades.csv", "canvas.csv", "moodle.csv", "report.html"}
    assert {path.name for path in plain.iterdir()} == tables
    outputs.write(HOMEWORK, full, run, "Title (5)", anonymous=True, feedback=True, balances=left, classroom50=True)
    pages = {"feedback/s1.html", "feedback/s1-2.html", "feedback/s2.html"}
    assert {path.relative_to(full).as_posix() for path in full.rglob("*.*")} == (
        tables | pages | {"report-anonymous.html", "mail.csv", "late-days.csv"}
    )
    assert (full / "mail.csv").read_text() == (
        "Email,Name,Score,Max Points,Status,Feedback\n"
        "ada@example.org,Ada Abel,99,100,Graded,feedback/s1.html\nbela@example.org,Bela Brandt,99,100,Graded,feedback/s1-2.html\n"
    )
    assert (full / "late-days.csv").read_text() == "student,days,used\nada@example.org,2,0\n"
    assert (full / "canvas.csv").read_text().splitlines()[0].endswith("Section,Title (5)")
    assert (
        "Bela Brandt" in (full / "feedback/s1-2.html").read_text()
        and "Ada" not in (full / "report-anonymous.html").read_text()
    )
    clone = replace(run, rows=[a_clone(tmp_path / "clone")])
    outputs.write(HOMEWORK, tmp_path / "c50", clone, "Title", classroom50=True)
    assert json.loads((tmp_path / "c50/classroom50/fall-hw3-ada/result.json").read_text())["owner"] == "ada"
    put(tmp_path / "closed", {"grades.csv/": ""})
    with pytest.raises(CommandError) as caught:
        outputs.write(HOMEWORK, tmp_path / "closed", run, "Title")
    assert str(caught.value) == (
        f"{tmp_path}/closed/grades.csv cannot be written (Is a directory); the results are safe: fix the cause and run the same "
        "command again"
    )


def test_canvas_table_has_only_totals_and_no_grader_errors() -> None:
    entries = [entry("s1", ADA), entry("s2", BELA)]
    found = finished(entries, {"s1": grade("s1", True)}, {"s2": "disk"}, HOMEWORK.rubric)
    lines = list(csv.reader(io.StringIO(outputs.canvas_table(found, "Homework"))))
    assert lines == [[*outputs.CANVAS, "Homework"], ["Ada Abel", "", "1", "ada@example.org", "", "2"]]


def test_moodle_table_is_a_grading_worksheet_of_those_with_a_score() -> None:
    chidi = entry("s1", Student("Ñandú; Chidi", email="c@x", moodle="70")), entry("s2", Student("Dana", moodle="71"))
    found = finished(chidi, {"s1": grade("s1", True)}, {"s2": "disk"}, HOMEWORK.rubric)
    assert outputs.moodle_table(found).splitlines() == [
        "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Last modified (grade)",
        "Participant 70,Ñandú; Chidi,c@x,Graded,2,2,",
    ]


@pytest.mark.parametrize(("one", "two", "same"), [
    (Student("A", "1", "a@x"), Student("B", "2", "A@X"), True),
    (Student("A", "1", "a@x"), Student("A", "1", "b@x"), False),
    (Student("A", "1"), Student("A", "1"), True),
    (Student("A"), Student("A"), False),
    (Student("A", canvas="5"), Student("A", canvas="5"), True),
])  # fmt: skip
def test_uploads_are_matched_by_email_or_id(one: Student, two: Student, same: bool) -> None:
    assert len(table(entry("s1", one), entry("s2", two))) == (1 if same else 2)


def test_formulas_are_escaped_and_other_names_are_unchanged() -> None:
    for name in ("=1+1", "\t=1"):
        (line,) = table(entry("s1", Student(name, name, name), remark=name))
        assert not any(cell.startswith(("=", "\t")) for cell in line.values())
    names = ['O\'Neil, "Pat"', "'quoted'", "李 小龍", "x" * 500, "null"]
    assert [line["Name"] for line in table(*(entry(name, Student(name)) for name in names))] == names


def test_existing_canvas_assignment_is_named_by_id_or_title() -> None:
    named = [outputs.assignment(wanted, "HW") for wanted in ("", "77", "Homework 1", "Homework 1 (77)")]
    assert named == ["HW", "HW (77)", "Homework 1", "Homework 1 (77)"]


@pytest.mark.parametrize(("due", "own", "time", "scores"), [
    ("2026-11-20T23:59+01:00", None, "2026-11-20T23:30:00+01:00", ("2", "0", "2")),
    ("2026-11-20T23:59+01:00", "2026-11-21T20:00:00-05:00", "2026-11-20T17:30:00-05:00", ("2", "0", "2")),
    ("2026-11-19T11:00+01:00", None, "2026-11-20T23:30:00+01:00", ("2", "0.4", "1.6")),
    (None, None, "2026-11-20T22:30:00.000000Z", (None, None, "2")),
])  # fmt: skip
def test_due_date_sets_the_time_zone_and_adds_raw_score_and_deduction(
    due: str | None, own: str | None, time: str, scores: tuple[str | None, ...]
) -> None:
    rubric = rubric_with(due=due, late={"percent_a_day": 10}) if due else rubric_with()
    uploads = [entry("s1", ADA, at="2026-11-20T22:30:00.000000Z")]
    people = [Person(ADA, due=datetime.fromisoformat(own) if own else None)]
    (row,) = finished(uploads, {"s1": grade("s1", True, False)}, {}, rubric, Inputs(people))
    (line,) = csv.DictReader(io.StringIO(outputs.table([row], rubric)))
    assert line["Submission Time"] == time
    assert (line.get("Raw Score"), line.get("Late Deduction"), line["Total Score"]) == scores
    assert line["Late"] == ("1 d 12 h 30 min late" if "1.6" in scores else "")


def test_dropped_criterion_does_not_count() -> None:
    dropped, full = {"counts": "dropped", "why": "a typo"}, {"counts": "full", "why": "old"}
    rubric = rubric_with({FIRST.id: dropped, SECOND.id: full})
    grade = grade_of_points("s1", HOMEWORK.rubric.points)
    (found,) = finished([Upload("s1", None, (Student("Ada"),))], {"s1": grade}, {}, rubric)
    assert found.grade is not None
    assert found.grade.max_score == HOMEWORK.rubric.points - FIRST.points == rubric.most
    assert FIRST.id not in found.grade.points and SECOND.id in found.grade.points
    counted = [one.counted for one in rubric.criteria.values() if one.counts]
    assert counted == ["does not count: a typo", "is given to all: old"]


EARNED = f"{RUBRIC.points - FIRST.points:g} of {RUBRIC.points:g} points"
EVIL = "[x](http://evil) <script>alert(1)</script> \\[y](http://evil)"


ILL = Line("s1", "total", "excused", "ill")


def row(**more: Any) -> StudentRow:
    made = StudentRow(Student("Ada Abel"), Upload("s1"), grade_of_points("s1", RUBRIC.points, 1))
    return replace(made, **more)


def row_with(lost: int = 1, notes: tuple[TopNote, ...] = (), **first: Any) -> StudentRow:
    """A row without the first criteria; the first one has these properties."""
    grade = grade_of_points("s1", RUBRIC.points, lost)
    return row(grade=replace(grade, marks=(replace(grade.marks[0], **first), *grade.marks[1:]), notes=notes))


def page(row: StudentRow) -> str:
    return outputs.student_page(row, RUBRIC)


def text(page: str) -> str:
    """What a reader sees of a page."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", page.partition("<header>")[2])).split())


def test_page_has_score_notes_and_messages_with_lost_points_first() -> None:
    output = f"**Probably:** it divides by d - 1, see `{SECOND.id}`; `layer_norm` was called.\n\n```python\nf(1)\n```\n"
    note = TopNote.of("second", "", "a note on top")
    first: dict[str, Any] = {"output": output, "misconceptions": ("layer_norm.eps_outside",), "cause": "misconception"}
    markup = page(row_with(notes=(note,), **first))
    shown = text(markup)
    for part in (
        "For Ada Abel",
        f"{EARNED}: a mistake in layer_norm.",
        "a note on top",
        f"{FIRST.id}: {FIRST.about} 0 of ",
    ):
        assert part in shown
    assert "Comments" not in shown and "deducted" not in shown
    places = [
        shown.index(part)
        for part in ("a note on top", "Probably: it divides by d - 1", RULE, "Everything else", SECOND.about)
    ]
    assert places == sorted(places)
    assert "default-src 'none'" in markup and "src=" not in markup.replace("-src ", "")
    assert markup.count("<h3") == 1
    for one in (FIRST, SECOND):
        assert markup.count(f'id="{one.id}"') == 1
    assert f'<a href="#{SECOND.id}"><code>{SECOND.id}</code></a>' in markup
    assert "<code>layer_norm</code>" in markup


@pytest.mark.parametrize(
    ("cause", "is_shown"),
    [
        ("misconception", True),
        ("line", True),
        ("varies", True),
        ("other", True),
        ("unwritten", False),
        ("answer", False),
    ],
)
def test_rule_is_shown_only_if_a_mistake_in_code_cost_points(cause: str, is_shown: bool) -> None:
    assert (RULE in text(page(row_with(cause=cause)))) == is_shown
    assert RULE not in text(page(row(grade=grade_of_points("s1", RUBRIC.points))))


@pytest.mark.parametrize("given", [0, 1])
def test_file_that_cannot_be_used_has_one_message_even_with_a_manual_point(given: int) -> None:
    own = [one for one in RUBRIC.criteria.values() if one.module == FIRST.module]
    file, said = f"{FIRST.module}.py", f"`{FIRST.module}.py` could not be used: see the message at the top.\n"
    note = TopNote.of("import", file, f"`{file}` could not be imported: ", "NameError", ".", module=FIRST.module)
    grade = replace(grade_of_points("s1", RUBRIC.points, len(own)), notes=(note,))
    marks = [replace(mark, output=said, cause="import") for mark in grade.marks[: len(own)]]
    marks[:given] = [replace(mark, score=mark.max_score) for mark in marks[:given]]
    markup = page(row(grade=replace(grade, marks=(*marks, *grade.marks[len(own) :]))))
    cost = sum(criterion.points for criterion in own[given:])
    assert f"{file} could not be imported: NameError. This costs {cost:g} points." in text(markup)
    assert text(markup).count("could not be used") == given and markup.count("<h3") == 0


def test_message_of_several_criteria_is_shown_once() -> None:
    grade = grade_of_points("s1", RUBRIC.points, 3)
    marks = [replace(mark, output="`f` is not written yet.", cause="unwritten") for mark in grade.marks[:3]]
    markup = page(row(grade=replace(grade, marks=(*marks, *grade.marks[3:]))))
    assert markup.count("is not written yet") == 1 and markup.count("<h3") == 3


def test_student_input_is_escaped() -> None:
    markup = page(replace(row_with(output=EVIL), student=Student(EVIL)))
    assert "<script" not in markup
    assert all(link[1:] in {*RUBRIC.criteria, *RUBRIC.modules} for link in re.findall(r'href="([^"]*)"', markup))
    assert "evil)" in markup


def test_hidden_criteria_are_left_out() -> None:
    assert "nobody may see this" not in page(row_with(visibility="hidden", output="nobody may see this"))


def test_page_shows_lateness_and_manual_overrides() -> None:
    late = row(late="5 h 0 min late", deduction=7.5)
    assert "7.5 were deducted because it was 5 h 0 min late" in text(page(late))
    override = Line("s1", "total", 50.0, "seen in the office", author="Kim")
    decided = text(page(replace(late, overrides=(override,), total=50.0, automatic=89.0)))
    assert "Earned 89, set to 50: seen in the office (Kim)" in decided and "deducted" not in decided
    assert f"50 of {RUBRIC.points:g} points;" in decided


@pytest.mark.parametrize(("changes", "said"), [
    ({"withheld": True}, "Your grade for this homework is withheld. Ask your instructor."),
    ({"excused": True}, "You are excused from this homework, so it has no score."),
    ({"excused": True, "overrides": (ILL,)}, "You are excused from this homework, so it has no score: ill."),
])  # fmt: skip
def test_page_without_a_score_is_one_sentence(changes: dict[str, Any], said: str) -> None:
    assert text(page(row(**changes))) == f"Feedback {RUBRIC.title} For Ada Abel {said}"
