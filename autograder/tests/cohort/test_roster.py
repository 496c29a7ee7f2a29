"""A roster in the form of Gradescope or Canvas gives names and sections, and says who is missing."""

from pathlib import Path

import pytest

from autograder.cohort import instructor_files, products
from autograder.cohort.rows import StudentRow, with_roster
from autograder.faults import ArgumentsError
from autograder.intake.entries import Entry, Student
from autograder.tests.cohort.making import grade_of_points

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
    StudentRow(Student("ada a.", email="ADA@x.org"), Entry("s1"), grade_of_points("s1", 5)),
    StudentRow(Student("Zoe", "9"), Entry("s9"), grade_of_points("s9", 5)),
]


def applied(tmp_path: Path, text: str) -> list[StudentRow]:
    (tmp_path / "roster.csv").write_text("\ufeff" + text, encoding="utf-8")
    return with_roster(ROWS, instructor_files.roster(tmp_path / "roster.csv"))


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
    assert "Bela Brandt,2,bela@x.org,,,Missing" in products.table(rows)
    assert "Bela" not in products.canvas_table(rows, "HW")


def test_canvas_student_is_found_by_the_id_of_canvas(tmp_path: Path) -> None:
    (tmp_path / "roster.csv").write_text(CANVAS)
    row = StudentRow(Student("abelada", canvas="901"), Entry("abelada_901"), grade_of_points("x", 5))
    assert with_roster([row], instructor_files.roster(tmp_path / "roster.csv"))[0].student.sid == "1"


@pytest.mark.parametrize("text", ["", "Name\nAda\n", "a,b\n1,2\n"])
def test_roster_by_which_nobody_is_known_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ArgumentsError, match="no column has an address"):
        applied(tmp_path, text)
