"""grades.csv: one row a student, safe to open, fit to import, and without criteria that are dropped."""

import csv
import io
from dataclasses import replace
from datetime import datetime

import pytest

from autograder.gradebook import outputs
from autograder.gradebook.report import submissions_that_count
from autograder.gradebook.rows import finished
from autograder.gradebook.store import grade_of
from autograder.homework import rubric as rubrics
from autograder.submissions.uploads import Student, Upload
from autograder.tests.making import document, grade_of_points, rubric_with
from autograder.tests.making import grade_of_passed as grade

ADA, BELA = Student("Ada Abel", "1", "ada@example.org"), Student("Bela Brandt", "2", "bela@example.org")


def entry(key: str, *students: Student, at: str = "", remark: str = "") -> Upload:
    return Upload(key, None, students, created_at=at, remark=remark)


def table(*entries: Upload, errors: dict[str, str] | None = None) -> list[dict[str, str]]:
    grades = {one.key: grade(one.key, True, False) for one in entries if one.key not in (errors or {})}
    text = outputs.table(finished(entries, grades, errors or {}, rubrics.current()))
    return list(csv.DictReader(io.StringIO(text)))


def test_one_row_a_student_and_one_column_a_criterion() -> None:
    lines = table(entry("s1", ADA, BELA), entry("s2", Student("Chidi")))
    assert [line["Student"] for line in lines] == ["Ada Abel", "Bela Brandt", "Chidi"]
    scores = [(line["m.c0"], line["m.c1"], line["Total Score"], line["Max Points"]) for line in lines]
    assert scores == [("2", "0", "2", "4")] * 3


def test_headers_are_what_canvas_and_gradescope_know() -> None:
    """Canvas: GradebookImporter#header?; Gradescope: the columns of its own tables."""
    header = outputs.table([]).splitlines()[0].split(",")
    assert "Student" in header[0] and "ID" in header[1]
    assert (header[2], header[3], header[4]) == ("SIS User ID", "SIS Login ID", "Section")
    assert {"Name", "SID", "Email", "Total Score", "Max Points", "Status", "Submission ID"} <= set(header)


def test_canvas_table_has_the_total_alone_and_no_faults() -> None:
    entries = [entry("s1", ADA), entry("s2", BELA)]
    found = finished(entries, {"s1": grade("s1", True)}, {"s2": "disk"}, rubrics.current())
    lines = list(csv.reader(io.StringIO(outputs.canvas_table(found, "Homework"))))
    assert lines == [[*outputs.CANVAS, "Homework"], ["Ada Abel", "", "1", "ada@example.org", "", "2"]]


def test_newest_submission_of_a_student_counts_and_others_are_listed() -> None:
    old = entry("s1", ADA, BELA, at="2025-09-01")
    lines = table(entry("s9", ADA, at="2025-09-02"), old, entry("s3", BELA, at="2025-08-01"))
    found = {line["Student"]: (line["Submission ID"], line["Other Submissions"]) for line in lines}
    assert found == {"Ada Abel": ("s9", "s1"), "Bela Brandt": ("s1", "s3")}


def test_without_times_the_higher_number_is_newer() -> None:
    (line,) = table(entry("submission_10", ADA), entry("submission_9", ADA))
    assert line["Submission ID"] == "submission_10"


@pytest.mark.parametrize(("one", "two", "same"), [
    (Student("A", "1", "a@x"), Student("B", "2", "A@X"), True),
    (Student("A", "1", "a@x"), Student("A", "1", "b@x"), False),
    (Student("A", "1", "a@x"), Student("A", "1"), True),
    (Student("A", "1"), Student("A", "1"), True),
    (Student("A"), Student("A"), False),
    (Student("A", canvas="5"), Student("A", canvas="5"), True),
])  # fmt: skip
def test_who_is_the_same_person(one: Student, two: Student, same: bool) -> None:
    assert len(table(entry("s1", one), entry("s2", two))) == (1 if same else 2)


def test_fault_has_a_remark_and_no_score_even_if_an_older_submission_has_one() -> None:
    (line,) = table(entry("s1", ADA, at="1"), entry("s2", ADA, at="2"), errors={"s2": "the disk"})
    first = next(iter(rubrics.current().criteria))
    assert (line["Total Score"], line[first], line["Status"]) == ("", "", "Grader error")
    assert "the disk" in line["Remark"]
    assert line["Other Submissions"] == "s1"


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "  =1", "＝1", '=HYPERLINK("x")', "\n=1"])
def test_no_cell_is_a_formula(name: str) -> None:
    (line,) = table(entry("s1", Student(name, name, name), remark=name))
    for cell in line.values():
        assert not cell.lstrip().startswith(("=", "+", "-", "@", "＝")) or cell.lstrip("-").isdigit()
        assert not cell.startswith(("\t", "\r", "\n"))


@pytest.mark.parametrize("name", ['O\'Neil, "Pat"', "'quoted'", "李 小龍", "x" * 500, "null"])
def test_other_names_survive_as_they_are(name: str) -> None:
    (line,) = table(entry("s1", Student(name)))
    assert line["Name"] == name


@pytest.mark.parametrize(
    ("wanted", "heading"),
    [("", "HW"), ("77", "HW (77)"), ("Homework 1", "Homework 1"), ("Homework 1 (77)", "Homework 1 (77)")],
)
def test_canvas_assignment_that_exists_is_named_by_id_or_title(wanted: str, heading: str) -> None:
    assert outputs.assignment(wanted, "HW") == heading


def test_raw_late_and_final_stand_side_by_side_where_there_is_a_due_date(monkeypatch: pytest.MonkeyPatch) -> None:
    rubric = rubric_with(due="2026-11-20T23:59+01:00", late={"percent_a_day": 10})
    monkeypatch.setattr(rubrics, "current", lambda: rubric)
    (line,) = table(entry("s1", ADA, at="2026-11-22T10:00:00Z"))
    assert (line["Raw Score"], line["Late Deduction"], line["Total Score"]) == ("2", "0.4", "1.6")
    assert line["Late"] == "1 d 11 h 1 min late"


@pytest.mark.parametrize(("due", "own", "shown"), [
    ("2026-11-20T23:59+01:00", None, "2026-11-20T23:30:00+01:00"),
    ("2026-11-20T23:59+01:00", "2026-11-21T20:00:00-05:00", "2026-11-20T17:30:00-05:00"),
    (None, None, "2026-11-20T22:30:00.000000Z"),
])  # fmt: skip
def test_time_is_in_the_zone_of_the_due_date(
    monkeypatch: pytest.MonkeyPatch, due: str | None, own: str | None, shown: str
) -> None:
    rubric = rubric_with(due=due) if due else rubric_with()
    monkeypatch.setattr(rubrics, "current", lambda: rubric)
    (row,) = finished([entry("s1", ADA, at="2026-11-20T22:30:00.000000Z")], {}, {}, rubric)
    row = replace(row, due=datetime.fromisoformat(own) if own else None)
    (line,) = csv.DictReader(io.StringIO(outputs.table([row])))
    assert line["Submission Time"] == shown


FIRST, SECOND, *_ = rubrics.current().criteria.values()


def test_dropped_criterion_is_in_no_table() -> None:
    dropped, full = {"counts": "dropped", "why": "a typo"}, {"counts": "full", "why": "old"}
    rubric = rubric_with({FIRST.id: dropped, SECOND.id: full})
    grade = grade_of_points("s1", rubrics.current().points)
    (found,) = finished([Upload("s1", None, (Student("Ada"),))], {"s1": grade}, {}, rubric)
    assert found.grade is not None
    assert found.grade.max_score == rubrics.current().points - FIRST.points == rubric.most
    assert FIRST.id not in found.grade.points and SECOND.id in found.grade.points
    counted = [one.counted for one in rubric.criteria.values() if one.counts]
    assert counted == ["does not count: a typo", "is given to all: old"]


def test_points_given_to_everybody_do_not_make_an_empty_upload_count() -> None:
    ada = Student("Ada", email="ada@x.org")
    full, later = (Upload(f"s{n}", None, (ada,), created_at=f"2026-11-20T1{n}:00:00Z") for n in (0, 1))
    documents = {f"s{n}": document(**{FIRST.id: (1 - n, 1), SECOND.id: (1, 1)}) for n in (0, 1)}
    for key, submitted in (("s0", ["layernorm"]), ("s1", [])):
        documents[key]["extra_data"]["submitted"] = submitted
    grades = {key: grade_of(key, made, 0.0) for key, made in documents.items()}
    rubric = rubric_with({SECOND.id: {"counts": "full", "why": "old"}})
    (row,) = finished([full, later], grades, {}, rubric)
    assert (row.entry.key, row.score) == ("s0", 2)
    (alone,) = finished([later], grades, {}, rubric)
    assert submissions_that_count([alone]) == []
