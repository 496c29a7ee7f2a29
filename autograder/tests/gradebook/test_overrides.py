"""Points set by hand: checked line by line, applied last, shown."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli.main import main
from autograder.exceptions import ArgumentsError
from autograder.gradebook import rows as class_rows
from autograder.gradebook.rows import StudentRow, with_overrides
from autograder.homework import rubric as rubrics
from autograder.submissions.entries import Entry, Student
from autograder.submissions.exports import listing
from autograder.submissions.tree import Tree
from autograder.tests.files import put
from autograder.tests.making import grade_of_points

RUBRIC = rubrics.current()
FIRST = next(iter(RUBRIC.criteria.values()))
HEAD = "student,criterion,points,reason\n"
ADA, BELA, TWIN = Student("Ada", "1", "ada@x"), Student("Bela", "2"), Student("Bela", "3")


def rows() -> list[StudentRow]:
    made = [
        StudentRow(
            who,
            Entry(f"s{who.sid}", Tree(f"{who.name} Weiß_7 (export)" * (who is ADA), Path(), {})),
            grade_of_points(f"s{who.sid}", RUBRIC.points, 1),
        )
        for who in (ADA, BELA, TWIN)
    ]
    return [*made, StudentRow(Student("Chidi", "4"), Entry(""), None, absent=True)]


def applied(tmp_path: Path, text: str) -> list[StudentRow]:
    (tmp_path / "o.csv").write_text(HEAD + text, encoding="utf-8")
    return with_overrides(rows(), used(tmp_path / "o.csv"))


def used(*paths: Path) -> list[class_rows.Override]:
    """The lines of files that are all right in themselves."""
    found, problems = class_rows.overrides(paths, RUBRIC)
    class_rows.refuse(problems)
    return found


@pytest.mark.parametrize("student", ["ADA@x", "1", "s1", "Ada", "Ada Weiß_7 (export)"])
def test_criterion_is_set_and_the_total_follows(tmp_path: Path, student: str) -> None:
    ada, bela, *_ = applied(tmp_path, f'{student},{FIRST.id},{FIRST.points},"was right, by hand"\n')
    assert (ada.score, bela.score) == (RUBRIC.points, RUBRIC.points - FIRST.points)
    assert ada.remark == f"{FIRST.id} set to {FIRST.points:g}: was right, by hand"
    assert bela.overrides == ()


def test_submission_is_named_as_moodle_names_its_folder(tmp_path: Path) -> None:
    folder = "Zoë Weiß_700112_assignsubmission_file"
    put(tmp_path / "class", {f"{folder}/layernorm.py": "", "Bela_7_assignsubmission_file/layernorm.py": ""})
    (tmp_path / "o.csv").write_text(f"{HEAD}{folder},total,50,seen\n", encoding="utf-8")
    entries = listing([tmp_path / "class"]).entries
    assert class_rows.problems(entries, RUBRIC, [], used(tmp_path / "o.csv")) == []


def test_total_is_set_whatever_else_there_is(tmp_path: Path) -> None:
    ada, *_, chidi = applied(tmp_path, f"Ada,{FIRST.id},0,seen\nAda,total,50,plagiarism\nChidi,total,70,ill\n")
    assert (ada.score, chidi.score) == (50, 70)
    assert len(ada.overrides) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Nobody,total,5,x\n", "o.csv:2: no student is named Nobody"),
        ("Bela,total,5,x\n", "o.csv:2: 2 students are named Bela"),
        ("Ada,nosuch.thing,5,x\n", "o.csv:2: there is no criterion 'nosuch.thing'"),
        ("Ada,total,many,x\n", "o.csv:2: 'many' is not a number"),
        ("Ada,total,-1,x\n", "o.csv:2: -1 points, but total allows 0"),
        ("Ada,total,1000,x\n", "o.csv:2: 1000 points"),
        ("Ada,total,nan,x\n", "o.csv:2: nan points"),
        ("Ada,total,5,\n", "o.csv:2: the column 'reason' is empty"),
        ("Ada,total,5,x\n\n1,total,6,y\n", "o.csv:4: 1: total set to 6: y; but "),
        (f"Ada,{FIRST.id},EX,x\n", "o.csv:2: EX excuses a student from the whole homework"),
        (f"Chidi,{FIRST.id},1,x\n", "o.csv:2: Chidi has no grade"),
    ],
)
def test_line_that_cannot_be_used_is_refused_with_its_number(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ArgumentsError, match=r"o\.csv") as caught:
        applied(tmp_path, text)
    assert said in str(caught.value)


@pytest.mark.parametrize("content", [b"name;points\n", b"\xff\xfe", None])
def test_file_that_cannot_be_used_is_refused(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "o.csv").write_bytes(content)
    with pytest.raises(ArgumentsError, match=r"o\.csv"):
        class_rows.overrides([tmp_path / "o.csv"], RUBRIC)


def test_every_bad_line_is_named(tmp_path: Path) -> None:
    with pytest.raises(ArgumentsError) as caught:
        applied(tmp_path, "Ada,total,many,x\nAda,total,5,x\nBela,total,5,\n")
    assert [line.partition("o.csv:")[2][:2] for line in str(caught.value).splitlines()] == ["2:", "4:"]
    with pytest.raises(ArgumentsError) as caught:
        applied(tmp_path, "Nobody,total,5,x\nAda,total,5,x\nBela,total,5,x\n")
    assert [line.partition("o.csv:")[2][:2] for line in str(caught.value).splitlines()] == ["2:", "4:"]


def test_excused_by_hand_has_no_score(tmp_path: Path) -> None:
    ada, *_ = applied(tmp_path, "Ada,total,EX,ill\n")
    assert (ada.score, ada.status, ada.remark) == (None, "Excused", "excused: ill")


GRADERS = ("student,criterion,points,reason,author,date\n", "student;criterion;points;reason;author;date\n")


def of_two(tmp_path: Path, first: str, second: str) -> list[StudentRow]:
    (tmp_path / "one.csv").write_text(GRADERS[0] + first)
    (tmp_path / "two.csv").write_text(GRADERS[1] + second)
    return with_overrides(rows(), used(tmp_path / "one.csv", tmp_path / "two.csv"))


def test_files_of_two_graders_are_merged_with_who_and_when(tmp_path: Path) -> None:
    ada, bela, *_ = of_two(
        tmp_path,
        "1,total,50,seen,Kim,2026-11-27\n",
        "ada@x;total;50;seen;Lou;2026-11-28\n2;total;7,5;oral;Lou;2026-11-28\n",
    )
    assert (ada.score, ada.overrides) == (50, ("total set to 50: seen (Kim, 2026-11-27)",))
    assert (bela.score, bela.overrides) == (7.5, ("total set to 7.5: oral (Lou, 2026-11-28)",))


def test_graders_who_contradict_one_another_are_named(tmp_path: Path) -> None:
    with pytest.raises(ArgumentsError) as caught:
        of_two(tmp_path, "1,total,50,seen,Kim,2026-11-27\n", "ada@x;total;60;seen;Lou;2026-11-28\n")
    assert "two.csv:2: ada@x: total set to 60: seen (Lou, 2026-11-28); but " in str(caught.value)
    assert "one.csv:2 says: total set to 50: seen (Kim, 2026-11-27)" in str(caught.value)


@pytest.mark.parametrize(
    ("author", "date", "said"), [("", "2026-11-27", "'author' is empty"), ("Kim", "27.11.", "write it as 2026-11-27")]
)
def test_who_and_when_are_given_if_there_is_a_column(tmp_path: Path, author: str, date: str, said: str) -> None:
    with pytest.raises(ArgumentsError, match=said):
        of_two(tmp_path, f"1,total,50,seen,{author},{date}\n", "")


def test_every_bad_line_is_named_before_anything_is_graded(tmp_path: Path) -> None:
    """Those that are wrong in themselves, that fit nobody, and that contradict one another, whatever else is wrong."""
    (tmp_path / "class" / "ada").mkdir(parents=True)
    (tmp_path / "class" / "ada" / "layernorm.py").write_text("")
    bad = f"ada,total,many,x\nnobody,total,5,x\n7,{FIRST.id},1,x\nada,total,5,x\nada,total,6,x\nada,total,5,\n"
    (tmp_path / "o.csv").write_text(HEAD + bad)
    (tmp_path / "roster.csv").write_text("name,sid\nChidi,7\n")
    words = (
        tmp_path / "class",
        "-o",
        tmp_path / "out",
        "--overrides",
        tmp_path / "o.csv",
        "--roster",
        tmp_path / "roster.csv",
    )
    done = CliRunner().invoke(main, ["grade", *map(str, words)])
    assert done.exit_code == 2
    assert sorted(re.findall(r"o\.csv:(\d+): ", done.stderr)) == ["2", "3", "4", "6", "7"]
    assert not (tmp_path / "out").exists()
