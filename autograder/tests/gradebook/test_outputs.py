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

from autograder.feedback.results import Grade, Mark, TopNote
from autograder.gradebook import outputs
from autograder.gradebook.inputs import Inputs, Override, Person
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
    assert list(lines[0])[:5] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    assert {"Name", "SID", "Email", "Total Score", "Max Points", "Status", "Submission ID"} <= set(lines[0])
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


def test_canvas_table_has_only_totals_and_no_grader_errors() -> None:
    entries = [entry("s1", ADA), entry("s2", BELA)]
    found = finished(entries, {"s1": grade("s1", True)}, {"s2": "disk"}, HOMEWORK.rubric)
    lines = list(csv.reader(io.StringIO(outputs.canvas_table(found, "Homework"))))
    assert lines == [[*outputs.CANVAS, "Homework"], ["Ada Abel", "", "1", "ada@example.org", "", "2"]]


def test_newest_submission_of_a_student_counts_and_others_are_listed() -> None:
    old = entry("s1", ADA, BELA, at="2025-09-01")
    lines = table(entry("s9", ADA, at="2025-09-02"), old, entry("s3", BELA, at="2025-08-01"))
    found = {line["Student"]: (line["Submission ID"], line["Other Submissions"]) for line in lines}
    assert found == {"Ada Abel": ("s9", "s1"), "Bela Brandt": ("s1", "s3")}


def test_without_times_the_higher_number_is_newer() -> None:
    (line,) = table(replace(entry("submission_10", ADA), version=10), replace(entry("submission_9", ADA), version=9))
    assert line["Submission ID"] == "submission_10"


@pytest.mark.parametrize(("one", "two", "same"), [
    (Student("A", "1", "a@x"), Student("B", "2", "A@X"), True),
    (Student("A", "1", "a@x"), Student("A", "1", "b@x"), False),
    (Student("A", "1", "a@x"), Student("A", "1"), True),
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
    uploads, people = (
        [entry("s1", ADA, at="2026-11-20T22:30:00.000000Z")],
        [Person(ADA, due=datetime.fromisoformat(own) if own else None)],
    )
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


def row(**more: Any) -> StudentRow:
    made = StudentRow(Student("Ada Abel"), Upload("s1"), grade_of_points("s1", RUBRIC.points, 1))
    return replace(made, **more)


def row_with(grade: Grade | None = None, **first: Any) -> StudentRow:
    """A row with a note, and with other properties of the first criterion."""
    grade = grade or grade_of_points("s1", RUBRIC.points, 1)
    marks = (replace(grade.marks[0], **first), *grade.marks[1:])
    return row(grade=replace(grade, marks=marks, notes=(TopNote.of("second", "", "a note on top"),)))


def page(row: StudentRow) -> tuple[str, str]:
    text = outputs.student_page(row, RUBRIC)
    return text, outputs.as_html(text, row, RUBRIC)


def test_page_has_score_notes_and_messages_with_lost_points_first() -> None:
    output = f"**Probably:** it divides by d - 1, see `{SECOND.id}`; `layer_norm` was called.\n\n```python\nf(1)\n```\n"
    text, markup = page(row_with(output=output, misconceptions=("layer_norm.eps_outside",)))
    plain = text.replace("\\", "")
    assert f"**{EARNED}: a mistake in `layer_norm`.**" in text
    listed = f"Lost points, explained below:\n\n- 0 of 1 point: `{FIRST.id}`: {FIRST.about}\n"
    for part in ("For Ada Abel", "- a note on top", output.strip(), listed, f"### `{FIRST.id}`: {FIRST.about}: 0 of "):
        assert part in plain
    assert "Comments" not in text and "deducted" not in text
    assert plain.index("Probably") < plain.index("## Everything else") < plain.index(f"- `{SECOND.id}`")
    shown = html.unescape(re.sub(r"<[^>]+>", "", markup))
    for part in ("a note on top", "Probably: it divides by d - 1", "f(1)", SECOND.about):
        assert part in shown
    assert "default-src 'none'" in markup and "src=" not in markup.replace("-src ", "")
    assert markup.count("<h3") == 1
    assert markup.index("Probably") < markup.index("<details>") < markup.index(f'<li id="{SECOND.id}">')
    for one in (FIRST, SECOND):
        assert markup.count(f'id="{one.id}"') == 1
        assert f'<a href="#{one.id}"><code>{one.id}</code></a>' in markup
    assert "<code>layer_norm</code>" in markup


def test_unusable_file_has_one_line_and_one_message() -> None:
    own = [one for one in RUBRIC.criteria.values() if one.module == FIRST.module]
    said = f"`{FIRST.module}.py` could not be used: see the message at the top.\n"
    grade = grade_of_points("s1", RUBRIC.points, len(own) + 1)
    marks = tuple(replace(mark, output=said * (at < len(own))) for at, mark in enumerate(grade.marks))
    text, markup = page(row(grade=replace(grade, marks=marks)))
    most = sum(criterion.points for criterion in own)
    what = f"`{FIRST.module}.py`, all {len(own)} criteria"
    assert text.count(said.strip()) == 1 and markup.count("<h3") == 2
    assert f"- 0 of {most:g} points: {what}\n- 0 of " in text and f"### {what}: 0 of {most:g}\n" in text
    other = (marks[0], replace(marks[1], output="Another reason."), *marks[2:])
    assert page(row(grade=replace(grade, marks=other)))[0].count(said.strip()) == len(own) - 1


def test_student_input_is_escaped() -> None:
    _, markup = page(replace(row_with(output=EVIL), student=Student(EVIL)))
    assert "<script" not in markup
    assert all(link[1:] in RUBRIC.criteria for link in re.findall(r'href="([^"]*)"', markup))
    assert "evil)" in markup


def test_hidden_criteria_are_left_out() -> None:
    text, _ = page(row_with(visibility="hidden", output="nobody may see this"))
    assert "nobody may see this" not in text


def test_page_shows_lateness_and_manual_overrides() -> None:
    override = Override("s1", "total", 50.0, "seen in the office")
    text, _ = page(row(late="5 h 0 min late", deduction=7.5, overrides=(override,), total=50.0))
    assert "7.5 were deducted because it was 5 h 0 min late" in text
    assert "Manual override: total set to 50: seen in the office" in text
    assert f"**50 of {RUBRIC.points:g} points;" in text


def test_each_member_of_a_group_has_a_page() -> None:
    assert outputs.page_names([row(), row(student=Student("Bela")), row(grade=None)]) == ["s1", "s1-2", ""]
