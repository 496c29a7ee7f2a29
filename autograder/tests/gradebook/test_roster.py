"""A roster from Gradescope or Canvas provides names and sections, and shows who has no submission."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from autograder.exceptions import ArgumentsError
from autograder.gradebook import inputs, outputs, report
from autograder.gradebook import rows as class_rows
from autograder.gradebook.inputs import Inputs, Person
from autograder.gradebook.rows import StudentRow, finished, notes
from autograder.homework.rubric import Rubric
from autograder.submissions.submission import Student, Upload
from autograder.tests.files import HOMEWORK
from autograder.tests.making import grade_of_points, rubric_with

RUBRIC = rubric_with()
DUE = rubric_with(due="2026-11-20T23:59+01:00", late={"percent_a_day": 10})

GRADESCOPE = """\
First Name,Last Name,SID,Email,Role,Section
Ada,Abel,1,ada@x.org,Student,A
Bela,Brandt,2,bela@x.org,Student,B
Tess,Teacher,,tess@x.org,Instructor,
"""
CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Homework 1 (77)
    Points Possible,,,,,100
"Abel, Ada",901,1,ada@x.org,A,
"Brandt, Bela",902,2,bela@x.org,B,
"""
ADA, ZOE = Student("ada a.", email="ADA@x.org"), Student("Zoe", "9")


def read(tmp_path: Path, text: str | bytes, rubric: Rubric = RUBRIC) -> list[Person]:
    (tmp_path / "r.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    return inputs.roster(tmp_path / "r.csv", rubric)


def rows_of(people: list[Person], *students: Student, rubric: Rubric = RUBRIC) -> list[StudentRow]:
    """The rows of a class in which `students` have 5 points each."""
    entries = [Upload(f"s{at}", None, (student,)) for at, student in enumerate(students)]
    grades = {entry.key: grade_of_points(entry.key, 5) for entry in entries}
    return finished(entries, grades, {}, rubric, Inputs(people))


@pytest.mark.parametrize(("text", "uploader", "ada", "bela"), [
    (GRADESCOPE, ADA, Student("Ada Abel", "1", "ADA@x.org"), Student("Bela Brandt", "2", "bela@x.org")),
    (
        CANVAS, Student("abelada", canvas="901"),
        Student("Abel, Ada", "1", "ada@x.org", "901"), Student("Brandt, Bela", "2", "bela@x.org", "902"),
    ),
], ids=["gradescope", "canvas"])  # fmt: skip
def test_names_and_sections_come_from_the_roster(
    tmp_path: Path, text: str, uploader: Student, ada: Student, bela: Student
) -> None:
    people = read(tmp_path, text)
    one, stranger, missing = rows = rows_of(people, uploader, ZOE)
    assert (one.student, one.section, one.status) == (ada, "A", "Graded")
    assert (stranger.student, stranger.section) == (ZOE, "")
    assert (missing.student, missing.section, missing.status, missing.score) == (bela, "B", "Missing", None)
    assert f"{bela.sid},bela@x.org,,,Missing" in outputs.table(rows, HOMEWORK.rubric)
    assert "Bela" not in outputs.canvas_table(rows, "HW")
    assert notes(rows, RUBRIC, people)[0] == "not in the roster: Zoe"


NOBODY = r"no student has an email address or ID; .* email"


@pytest.mark.parametrize(("data", "said"), [
    (b"", NOBODY), (b"Name\nAda\n", NOBODY), (b"a,b\n1,2\n", NOBODY),
    (b"PK\3\4\0\0", "is not a CSV file"), (b"\xff\xfe\0", "cannot be read"), (None, "cannot be read"),
])  # fmt: skip
def test_invalid_roster_is_rejected_with_an_example(tmp_path: Path, data: bytes | None, said: str) -> None:
    if data is not None:
        (tmp_path / "r.csv").write_bytes(data)
    with pytest.raises(ArgumentsError, match=rf"r.csv: {said}(.|\n)*name,sid,email,section\n  Ada Abel,3000001"):
        inputs.roster(tmp_path / "r.csv", RUBRIC)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_roster_is_read_with_the_encodings_and_separators_of_excel(
    tmp_path: Path, encoding: str, separator: str
) -> None:
    text = "Name,Email\nZoë Weiß,zoe@x.org\n".replace(",", separator)
    (person,) = read(tmp_path, text.encode(encoding))
    assert person.student == Student("Zoë Weiß", "", "zoe@x.org")


def test_lines_of_one_student_are_merged(tmp_path: Path) -> None:
    lines = "Ada,1,ADA@x,Mon,,\nBela,2,,Mon,,\n,1,,Tue,48,yes\nAda,,ada@x,Mon,,\n"
    ada, bela = read(tmp_path, f"name,sid,email,section,extension_hours,excused\n{lines}", DUE)
    assert (ada.student, ada.section, ada.excused) == (Student("Ada", "1", "ADA@x"), "Mon, Tue", True)
    assert DUE.due and ada.due and ((ada.due - DUE.due).days, bela.student.name) == (2, "Bela")


@pytest.mark.parametrize("name", ["Ada Abel", "abel, ada", "Ada_Abel", "3000001", "ADA@x.org", "3000001_Ada Abel"])
def test_folder_is_matched_by_a_unique_name_id_or_email(tmp_path: Path, name: str) -> None:
    lines = "Ada Abel,3000001,ada@x.org,A\nBela,2,b@x.org,B\nBela,3,,B\n"
    ada, bela, *missing = rows_of(read(tmp_path, f"name,sid,email,section\n{lines}"), Student(name), Student("Bela"))
    assert (ada.student, ada.section) == (Student("Ada Abel", "3000001", "ada@x.org"), "A")
    assert bela.student == Student("Bela")  # ambiguous: two students have this name
    assert [row.status for row in missing] == ["Missing", "Missing"]


def test_uploads_under_name_and_id_belong_to_one_student(tmp_path: Path) -> None:
    (row,) = rows_of(read(tmp_path, "name,sid\nAda Abel,1\n"), Student("Ada Abel", moodle="7"), Student("1"))
    assert (row.student, row.entry.key, [one.key for one in row.other_uploads]) == (
        Student("Ada Abel", "1"),
        "s1",
        ["s0"],
    )


@pytest.mark.parametrize(
    "who", [(Student("Ada", moodle="7"), Student("Ada", moodle="8")), (Student("Ada", email="other@x"),)]
)
def test_name_is_not_matched_if_an_id_or_email_differs(tmp_path: Path, who: tuple[Student, ...]) -> None:
    assert rows_of(read(tmp_path, "name,email\nAda,a@x\n"), *who)[-1].status == "Missing"


def test_roster_of_another_class_is_rejected(tmp_path: Path) -> None:
    people = read(tmp_path, "name,email\nBela,b@x\n")
    (said,) = class_rows.problems([Upload("s1", None, (Student("Ada", email="a@x"),))], RUBRIC, Inputs(people))
    assert said.startswith("the roster does not match the submissions: no submitter is in it")
    assert "Bela (b@x), ...; the submissions are from Ada (a@x)" in said
    assert class_rows.problems([Upload("s1", None, (Student("B", email="B@x"),))], RUBRIC, Inputs(people)) == []


def test_note_names_a_name_that_several_students_share() -> None:
    people = [Person(Student(name, email=f"{at}@x.org")) for at, name in enumerate(("Zoe", "Zoe", "", ""))]
    several = "several students in the roster have the name Zoe; name the upload after an email address or ID"
    assert notes(rows_of(people, ADA, ZOE), RUBRIC, people)[:2] == ["not in the roster: ada a.", several]
    by_address = rows_of(people, Student("Zoe", email="zoe@x.org"), Student())
    assert notes(by_address, RUBRIC, people)[0] == "not in the roster: Zoe, s1"


def row_of_ada(tmp_path: Path, cells: str, at: str, rubric: Rubric = DUE) -> StudentRow:
    """The row of Ada, whose upload of time `at` earns 10 points. `cells` are her due, extension_hours and excused."""
    people = read(tmp_path, f"email,due,extension_hours,excused\nada@x.org,{cells}\n", rubric)
    entry = Upload("s1", None, (Student("Ada", email="ada@x.org"),), created_at=at)
    return finished([entry], {"s1": grade_of_points("s1", 10)}, {}, rubric, Inputs(people))[0]


@pytest.mark.parametrize(("cells", "score"), [
    (",0,", 9),
    (",24,", 10),
    (',"0,5",', 9),
    ("2026-11-21T23:59+01:00,,", 10),
    ("2026-11-21T23:59,,", 10),
    ("2026-11-21,,", 10),
    ("2026-11-20,,", 9),
    ("2026-11-19T23:59+01:00,,", 8),
])  # fmt: skip
def test_individual_due_date_and_extension(tmp_path: Path, cells: str, score: float) -> None:
    row = row_of_ada(tmp_path, cells, "2026-11-21T10:00:00Z")
    assert row.score == pytest.approx(score)
    assert ("Due" in outputs.table([row], HOMEWORK.rubric).splitlines()[0].split(",")) == (cells != ",0,")


@pytest.mark.parametrize("cell", ["x", "EX"])
def test_excused_student_has_no_score_and_ex_in_canvas(tmp_path: Path, cell: str) -> None:
    row = row_of_ada(tmp_path, f",,{cell}", "2026-11-21T10:00:00Z")
    assert (row.score, row.status, row.remark) == (None, "Excused", "excused by the roster")
    assert outputs.canvas_table([row], "HW").splitlines()[1].endswith(",EX")
    assert report.submissions_that_count([row]) == []


FULL = "1,Ada,ada@x,2026-11-24T10:00+01:00,,yes"


@pytest.mark.parametrize(("line", "rubric", "said"), [
    ("2,,,20.11.2026,,", DUE, "due is '20.11.2026'; write it as 2026-11-27T23:59"),
    ("2,,,,two,", DUE, "extension_hours is 'two', which is not a number of hours"),
    ("2,,,,-3,", DUE, "extension_hours is '-3'"),
    ("2,,,2026-11-21T23:59+01:00,3,", DUE, "give either due or extension_hours"),
    ("2,,,,,maybe", DUE, "excused is 'maybe'; write yes or no"),
    ("2,,,,3,", RUBRIC, "extension_hours needs a due date for the class; add due: 2026-11-27T23:59+01:00"),
    ("2,,,2026-11-21T23:59,,", RUBRIC, "without a time zone; write it as 2026-11-27T23:59+01:00"),
    ("1,Adam,,,,", DUE, "r.csv:2, but name is Adam here and Ada there"),
    ("1,Ada,,2026-11-25T10:00+01:00,,", DUE, "but due is 2026-11-25T10:00+01:00 here and 2026-11-24T10:00+01:00 there"),
    ("1,Ada,,,,no", DUE, "but excused is no here and yes there"),
])  # fmt: skip
def test_invalid_or_contradicting_line_is_rejected(tmp_path: Path, line: str, rubric: Rubric, said: str) -> None:
    with pytest.raises(ArgumentsError) as caught:
        read(tmp_path, f"sid,name,email,due,extension_hours,excused\n{FULL}\n{line}\n", rubric)
    assert "r.csv:3: " in str(caught.value) and said in str(caught.value)


@pytest.mark.parametrize(("missing", "score", "said"), [("zero", 0, "0 points"), ("empty", None, "no score")])
def test_rubric_sets_the_score_of_a_missing_submission(
    tmp_path: Path, missing: str, score: float | None, said: str
) -> None:
    rubric = rubric_with(missing=missing)
    people = read(tmp_path, "email,excused\nada@x.org,\nbela@x.org,x\n", rubric)
    found = rows_of(people, rubric=rubric)
    assert [(row.status, row.score) for row in found] == [("Missing", score), ("Excused", None)]
    assert notes(found, rubric, people) == [f"1 in the roster without a submission: {said} (missing: {missing})"]


# Choosing between several uploads

LOST = {"right": 0, "good": 1, "poor": 2, "empty": 9}  # criteria


@pytest.mark.parametrize(("uploads", "later", "states", "counts"), [
    ("last", 0, "right poor good", "c"),
    ("best", 0, "right poor good", "a"),
    ("best", 0, "good poor right", "a"),  # c has more points, but not after the late deduction
    ("last_on_time", 0, "right poor good", "b"),
    ("last_on_time", 24, "right poor good", "c"),
    ("last_on_time", -96, "right right fault", "c"),  # none is on time
    ("best", 0, "poor right fault", "b"),  # a grader error is never the best
    ("last", 0, "good empty empty", "a"),
    ("best", 0, "good empty empty", "a"),
    ("last_on_time", 0, "good empty empty", "a"),
    ("last", 0, "empty empty empty", "c"),
])  # fmt: skip
def test_rubric_decides_which_upload_counts(uploads: str, later: int, states: str, counts: str) -> None:
    """The three uploads are from successive days, the last one late. An empty upload counts only if all are empty."""
    rubric = rubric_with(due="2026-11-20T23:59+01:00", late={"percent_a_day": 10}, uploads=uploads)
    ada, kinds = Student("Ada", email="ada@x.org"), dict(zip("abc", states.split(), strict=True))
    entries = [Upload(key, None, (ada,), created_at=f"2026-11-{19 + at}T10:00:00Z") for at, key in enumerate(kinds)]
    grades = {key: grade_of_points(key, RUBRIC.points, LOST[kind]) for key, kind in kinds.items() if kind != "fault"}
    grades |= {key: replace(grades[key], submitted=()) for key, kind in kinds.items() if kind == "empty"}
    errors = {key: "disk" for key, kind in kinds.items() if kind == "fault"}
    assert rubric.due
    people = [Person(ada, due=rubric.due + timedelta(hours=later))]
    (row,) = finished(entries, grades, errors, rubric, Inputs(people))
    assert (row.entry.key, row.status) == (counts, "Grader error" if kinds[counts] == "fault" else "Graded")
    others = [key + " (nothing to grade in it)" * (kinds[key] == "empty") for key in kinds if key != counts]
    assert notes([row], rubric, people) == [
        f"Ada has 3 uploads; grading {counts} (uploads: {uploads}), ignoring {', '.join(others)}"
    ]
    assert len(report.submissions_that_count([row])) == (kinds[counts] in ("right", "poor", "good"))


@pytest.mark.parametrize(("uploads", "counts"), [("last", "b"), ("last_on_time", "a")])
def test_upload_that_is_only_marked_late_counts_if_the_last_one_does(uploads: str, counts: str) -> None:
    rubric, ada = rubric_with(due="2026-11-20T23:59+01:00", uploads=uploads), Student("Ada", email="ada@x.org")
    entries = [Upload(key, None, (ada,), late=key == "b", version=at) for at, key in enumerate("ab")]
    (row,) = finished(entries, {key: grade_of_points(key, 10) for key in "ab"}, {}, rubric)
    assert row.entry.key == counts
