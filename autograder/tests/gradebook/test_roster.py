"""A roster in the form of Gradescope or Canvas gives names and sections, and says who is missing."""

from dataclasses import replace
from pathlib import Path

import pytest

from autograder.exceptions import ArgumentsError
from autograder.gradebook import inputs, outputs, report
from autograder.gradebook import rows as class_rows
from autograder.gradebook.rows import StudentRow, finished, notes, with_roster
from autograder.homework.rubric import Rubric
from autograder.submissions.uploads import Student, Upload
from autograder.tests.making import grade_of_points, rubric_with

RUBRIC = rubric_with()

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
ROWS = [
    StudentRow(Student("ada a.", email="ADA@x.org"), Upload("s1"), grade_of_points("s1", 5)),
    StudentRow(Student("Zoe", "9"), Upload("s9"), grade_of_points("s9", 5)),
]


def applied(tmp_path: Path, text: str) -> list[StudentRow]:
    (tmp_path / "roster.csv").write_text("\ufeff" + text, encoding="utf-8")
    return with_roster(ROWS, inputs.roster(tmp_path / "roster.csv", RUBRIC), RUBRIC)


@pytest.mark.parametrize(
    ("text", "ada", "bela"),
    [
        (GRADESCOPE, Student("Ada Abel", "1", "ADA@x.org"), Student("Bela Brandt", "2", "bela@x.org")),
        (CANVAS, Student("Abel, Ada", "1", "ADA@x.org", "901"), Student("Brandt, Bela", "2", "bela@x.org", "902")),
    ],
    ids=["gradescope", "canvas"],
)
def test_names_and_sections_come_from_the_roster(tmp_path: Path, text: str, ada: Student, bela: Student) -> None:
    one, stranger, missing = applied(tmp_path, text)
    assert (one.student, one.section, one.status) == (ada, "A", "Graded")
    assert stranger == ROWS[1]
    assert (missing.student, missing.section, missing.status, missing.score) == (bela, "B", "Missing", None)


def test_who_has_handed_in_nothing_stands_in_the_table_but_not_in_that_for_canvas(tmp_path: Path) -> None:
    rows = applied(tmp_path, GRADESCOPE)
    assert "Bela Brandt,2,bela@x.org,,,Missing" in outputs.table(rows)
    assert "Bela" not in outputs.canvas_table(rows, "HW")


def test_canvas_student_is_found_by_the_id_of_canvas(tmp_path: Path) -> None:
    (tmp_path / "roster.csv").write_text(CANVAS)
    row = StudentRow(Student("abelada", canvas="901"), Upload("abelada_901"), grade_of_points("x", 5))
    assert with_roster([row], inputs.roster(tmp_path / "roster.csv", RUBRIC), RUBRIC)[0].student.sid == "1"


@pytest.mark.parametrize("text", ["", "Name\nAda\n", "a,b\n1,2\n"])
def test_roster_by_which_nobody_is_known_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(
        ArgumentsError, match=r"no student has an email address or ID; .* email(.|\n)*Ada Abel,3000001,ada@example.org"
    ):
        applied(tmp_path, text)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_roster_is_read_as_excel_writes_it(tmp_path: Path, encoding: str, separator: str) -> None:
    text = "Name,Email\nZoë Weiß,zoe@x.org\n".replace(",", separator)
    (tmp_path / "roster.csv").write_bytes(text.encode(encoding))
    (person,) = inputs.roster(tmp_path / "roster.csv", RUBRIC)
    assert person.student == Student("Zoë Weiß", "", "zoe@x.org")


@pytest.mark.parametrize("data", [b"PK\3\4\0\0", b"name\0", None], ids=["a workbook", "zeros", "not there"])
def test_file_that_is_no_table_is_refused_with_an_example_of_one(tmp_path: Path, data: bytes | None) -> None:
    if data is not None:
        (tmp_path / "roster.csv").write_bytes(data)
    with pytest.raises(
        ArgumentsError, match=r"roster.csv: (is not a CSV file|cannot be read)(.|\n)*name,sid,email,section\n"
    ):
        inputs.roster(tmp_path / "roster.csv", RUBRIC)


# Several lines of one student


def test_lines_of_one_student_are_one_person_with_all_their_sections(tmp_path: Path) -> None:
    lines = "Ada,1,ADA@x,Mon,,\nBela,2,,Mon,,\n,1,,Tue,48,yes\nAda,,ada@x,Mon,,\n"
    (tmp_path / "r.csv").write_text(f"name,sid,email,section,extension_hours,excused\n{lines}")
    ada, bela = inputs.roster(tmp_path / "r.csv", rubric_with(due="2026-11-20T23:59+01:00"))
    assert (ada.student, ada.section, ada.excused) == (Student("Ada", "1", "ADA@x"), "Mon, Tue", True)
    assert (ada.extension.days, bela.student.name) == (2, "Bela")


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ("Adam,1,,,", "name is Adam here and Ada there"),
        ("Ada,1,other@x,,", "email is other@x here and ada@x there"),
        ("Ada,2,ada@x,,", "sid is 2 here and 1 there"),
        ("Ada,1,,2026-11-25T10:00+01:00,", "due is 2026-11-25T10:00+01:00 here and 2026-11-24T10:00+01:00 there"),
        ("Ada,1,,,no", "excused is no here and yes there"),
    ],
)
def test_lines_of_one_student_that_contradict_one_another_are_both_named(
    tmp_path: Path, second: str, said: str
) -> None:
    first = "Ada,1,ada@x,2026-11-24T10:00+01:00,yes"
    (tmp_path / "r.csv").write_text(f"name,sid,email,due,excused\n{first}\nBela,3,,,\n{second}\n")
    with pytest.raises(ArgumentsError) as caught:
        inputs.roster(tmp_path / "r.csv", RUBRIC)
    assert "r.csv:4: the same student as in " in str(caught.value) and f"r.csv:2, but {said}" in str(caught.value)


# Uploads of people whose address and id are not known


@pytest.mark.parametrize("name", ["Ada Abel", "abel, ada", "Ada_Abel", "3000001", "ADA@x.org", "3000001_Ada Abel"])
def test_plain_folder_is_matched_by_a_name_sid_or_address_that_one_student_has(tmp_path: Path, name: str) -> None:
    (tmp_path / "r.csv").write_text(
        "name,sid,email,section\nAda Abel,3000001,ada@x.org,A\nBela,2,b@x.org,B\nBela,3,,B\n"
    )
    people = inputs.roster(tmp_path / "r.csv", RUBRIC)
    entries = [Upload("s1", None, (Student(name),)), Upload("s2", None, (Student("Bela"),))]
    ada, bela, *missing = finished(entries, {}, {}, RUBRIC, inputs.Inputs(people))
    assert (ada.student, ada.section) == (Student("Ada Abel", "3000001", "ada@x.org"), "A")
    assert bela.student == Student("Bela")  # which of the two, nobody can say
    assert [row.status for row in missing] == ["Missing", "Missing"]


def test_uploads_under_a_name_and_an_id_are_uploads_of_one_student(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("name,sid\nAda Abel,1\n")
    people = inputs.roster(tmp_path / "r.csv", RUBRIC)
    entries = [Upload("s1", None, (Student("Ada Abel", moodle="7"),)), Upload("s2", None, (Student("1"),))]
    (row,) = finished(entries, {}, {}, RUBRIC, inputs.Inputs(people))
    assert (row.student, row.entry.key, [one.key for one in row.others]) == (Student("Ada Abel", "1"), "s2", ["s1"])


def test_name_is_not_believed_of_two_people_nor_where_the_roster_has_ids_of_that_kind(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("name,email\nAda,a@x\n")
    people = inputs.roster(tmp_path / "r.csv", RUBRIC)
    for who in ((Student("Ada", moodle="7"), Student("Ada", moodle="8")), (Student("Ada", email="other@x"),)):
        entries = [Upload(f"s{at}", None, (one,)) for at, one in enumerate(who)]
        assert [row.status for row in finished(entries, {}, {}, RUBRIC, inputs.Inputs(people))][-1] == "Missing"


def test_roster_of_another_class_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("name,email\nBela,b@x\n")
    people = inputs.roster(tmp_path / "r.csv", RUBRIC)
    (said,) = class_rows.problems([Upload("s1", None, (Student("Ada", email="a@x"),))], RUBRIC, inputs.Inputs(people))
    assert said.startswith("the roster does not match the submissions: no submitter is in it")
    assert "Bela (b@x), ...; the submissions are from Ada (a@x)" in said
    assert class_rows.problems([Upload("s1", None, (Student("B", email="B@x"),))], RUBRIC, inputs.Inputs(people)) == []


# One student is not the class

DUE = rubric_with(due="2026-11-20T23:59+01:00", late={"percent_a_day": 10})


def of(tmp_path: Path, cells: str, at: str, rubric: Rubric = DUE) -> StudentRow:
    """Ada's row, whose upload of 100 points is from `at`; `cells` are hers under due, extension_hours and excused."""
    (tmp_path / "roster.csv").write_text(f"email,due,extension_hours,excused\nada@x.org,{cells}\n")
    entry = Upload("s1", None, (Student("Ada", email="ada@x.org"),), created_at=at)
    people = inputs.roster(tmp_path / "roster.csv", rubric)
    return finished([entry], {"s1": grade_of_points("s1", 10)}, {}, rubric, inputs.Inputs(people))[0]


@pytest.mark.parametrize(
    ("cells", "score"),
    [
        (",,", 9),
        (",24,", 10),
        (',"0,5",', 9),
        ("2026-11-21T23:59+01:00,,", 10),
        ("2026-11-21T23:59,,", 10),
        ("2026-11-21,,", 10),
        ("2026-11-20,,", 9),
        ("2026-11-19T23:59+01:00,,", 8),
    ],
)
def test_one_students_due_date_is_their_own(tmp_path: Path, cells: str, score: float) -> None:
    row = of(tmp_path, cells, "2026-11-21T10:00:00Z")
    assert row.score == pytest.approx(score)
    assert ("Due" in outputs.table([row]).splitlines()[0].split(",")) == (cells != ",,")


@pytest.mark.parametrize("cell", ["x", "yes", "1", "EX"])
def test_excused_student_has_no_score_and_ex_in_canvas(tmp_path: Path, cell: str) -> None:
    row = of(tmp_path, f",,{cell}", "2026-11-21T10:00:00Z")
    assert (row.score, row.status, row.remark) == (None, "Excused", "excused by the roster")
    assert outputs.canvas_table([row], "HW").splitlines()[1].endswith(",EX")
    assert report.submissions_that_count([row]) == []


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ("20.11.2026,,", "roster.csv:2: due is '20.11.2026'; write it as 2026-11-27T23:59"),
        (",two,", "roster.csv:2: extension_hours is 'two', which is not a number of hours"),
        (",-3,", "roster.csv:2: extension_hours is '-3'"),
        ("2026-11-21T23:59+01:00,3,", "roster.csv:2: give either due or extension_hours"),
        (",,maybe", "roster.csv:2: excused is 'maybe'; write yes or no"),
    ],
)
def test_date_that_cannot_be_used_is_refused(tmp_path: Path, cells: str, said: str) -> None:
    with pytest.raises(ArgumentsError) as caught:
        of(tmp_path, cells, "")
    assert said in str(caught.value)


@pytest.mark.parametrize("cells", [",3,", "2026-11-21T23:59,,"])
def test_extension_of_a_homework_without_a_due_date_is_refused(tmp_path: Path, cells: str) -> None:
    with pytest.raises(ArgumentsError, match=r"roster.csv:2: .*2026-11-27T23:59\+01:00"):
        of(tmp_path, cells, "", RUBRIC)


def test_who_has_handed_in_nothing_gets_0_where_the_rubric_says_so(tmp_path: Path) -> None:
    zero = rubric_with(missing="zero")
    (tmp_path / "roster.csv").write_text("email,excused\nada@x.org,\nbela@x.org,x\n")
    people = inputs.roster(tmp_path / "roster.csv", zero)
    found = finished([], {}, {}, zero, inputs.Inputs(people))
    assert [(row.status, row.score) for row in found] == [("Missing", 0), ("Excused", None)]
    assert notes(found, zero, people) == ["1 in the roster without a submission: 0 points (missing: zero)"]
    assert notes(finished([], {}, {}, RUBRIC, inputs.Inputs(people)), RUBRIC, people) == [
        "1 in the roster without a submission: no score (missing: empty)"
    ]


def test_who_is_not_in_the_roster_is_named(tmp_path: Path) -> None:
    (tmp_path / "roster.csv").write_text(GRADESCOPE)
    people = inputs.roster(tmp_path / "roster.csv", RUBRIC)
    assert notes(with_roster(ROWS, people, RUBRIC), RUBRIC, people)[0] == "not in the roster: Zoe"


def test_a_name_that_several_in_the_roster_have_is_said_to_be_that() -> None:
    people = [inputs.Person(Student("Zoe", email=f"{letter}@x.org"), "") for letter in "de"]
    said = notes(with_roster(ROWS, people, RUBRIC), RUBRIC, people)
    assert "several students in the roster have the name Zoe; name the upload after an email address or ID" in said
    assert not any("not in the roster" in note and "Zoe" in note for note in said)


def test_who_is_not_in_the_roster_by_address_is_not_taken_for_a_namesake() -> None:
    people = [
        inputs.Person(Student(name, email=f"{number}@example.org"), "")
        for number, name in enumerate(("Zoe", "Zoe", "", ""))
    ]
    strangers = [replace(ROWS[0], student=student) for student in (Student("Zoe", email="zoe@example.org"), Student())]
    said = notes(strangers, RUBRIC, people)
    assert not any("several students in the roster" in note for note in said)
    assert any(note.startswith("not in the roster: Zoe, ") for note in said)


# Which of several uploads counts

UPLOADS = {
    "first": ("2026-11-19T10:00:00Z", 0),
    "second": ("2026-11-20T10:00:00Z", 2),
    "late": ("2026-11-21T10:00:00Z", 1),
}


@pytest.mark.parametrize(
    ("uploads", "extension", "counts"),
    [("last", "", "late"), ("best", "", "first"), ("last_on_time", "", "second"), ("last_on_time", "24", "late")],
)
def test_upload_that_counts_is_the_one_that_the_rubric_says(
    tmp_path: Path, uploads: str, extension: str, counts: str
) -> None:
    rubric = rubric_with(due="2026-11-20T23:59+01:00", late={"percent_a_day": 10}, uploads=uploads)
    (tmp_path / "roster.csv").write_text(f"email,extension_hours\nada@x.org,{extension}\n")
    ada = Student("Ada", email="ada@x.org")
    entries = [Upload(key, None, (ada,), created_at=at) for key, (at, _) in UPLOADS.items()]
    grades = {key: grade_of_points(key, RUBRIC.points, lost) for key, (_, lost) in UPLOADS.items()}
    people = inputs.roster(tmp_path / "roster.csv", rubric)
    (row,) = finished(entries, grades, {}, rubric, inputs.Inputs(people))
    assert row.entry.key == counts
    others = ", ".join(key for key in UPLOADS if key != counts)
    assert notes([row], rubric, people) == [
        f"Ada has 3 uploads; grading {counts} (uploads: {uploads}), ignoring {others}"
    ]


@pytest.mark.parametrize("uploads", ["last", "best", "last_on_time"])
def test_upload_with_nothing_to_grade_counts_only_alone(uploads: str) -> None:
    rubric = rubric_with(due="2026-11-20T23:59+01:00", uploads=uploads)
    ada = Student("Ada", email="ada@x.org")
    work, nothing, again = (
        Upload(key, None, (ada,), created_at=f"2026-11-2{at}T10:00:00Z") for at, key in enumerate("abc", 1)
    )
    empty = replace(grade_of_points("b", 10, 1), empty="It contains no homework files.")
    grades = {"a": grade_of_points("a", 10, 1), "b": empty, "c": replace(empty, key="c")}
    (row,) = finished([work, nothing], grades, {}, rubric)
    assert row.entry.key == "a"
    assert notes([row], rubric, []) == [
        f"Ada has 2 uploads; grading a (uploads: {uploads}), ignoring b (nothing to grade in it)"
    ]
    (row,) = finished([nothing, again], grades, {}, rubric)
    assert row.entry.key == "c"
    assert report.submissions_that_count([row]) == []


def test_where_none_is_on_time_the_last_counts_and_a_fault_is_not_the_best() -> None:
    ada = Student("Ada", email="ada@x.org")
    entries = [Upload(key, None, (ada,), created_at=f"2026-11-2{at}T10:00:00Z") for at, key in enumerate("abc", 4)]
    grades = {"a": grade_of_points("a", 10), "b": grade_of_points("b", 10)}
    on_time = rubric_with(due="2026-11-20T23:59+01:00", uploads="last_on_time")
    (row,) = finished(entries, grades, {"c": "disk"}, on_time)
    assert (row.entry.key, row.status) == ("c", "Grader error")
    (row,) = finished(entries, grades, {"c": "disk"}, rubric_with(uploads="best"))
    assert (row.entry.key, row.status) == ("b", "Graded")


WORKSHEET = """\
Identifier,Full name,Email address,Status,Grade,Maximum Grade,Last modified (submission),Last modified (grade)
Participant 700112,Ada Weiß,ada@x.org,Submitted for grading,,100.00,"Friday, 20 November 2026, 10:00 AM",-
Participant 700113,Bela Brandt,bela@x.org,No submission,,100.00,-,-
"""


def test_moodles_grading_worksheet_is_a_roster_and_comes_back_with_the_grades(tmp_path: Path) -> None:
    (tmp_path / "worksheet.csv").write_text(WORKSHEET)
    people = inputs.roster(tmp_path / "worksheet.csv", RUBRIC)
    row = StudentRow(Student("Ada W.", moodle="700112"), Upload("Ada_700112"), grade_of_points("x", 5))
    found = with_roster([row], people, RUBRIC)
    assert [(one.student.name, one.student.email, one.status) for one in found] == [
        ("Ada Weiß", "ada@x.org", "Graded"),
        ("Bela Brandt", "bela@x.org", "Missing"),
    ]
    assert outputs.moodle_table(found).splitlines() == [
        "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Last modified (grade)",
        "Participant 700112,Ada Weiß,ada@x.org,Graded,5,5,",
    ]
