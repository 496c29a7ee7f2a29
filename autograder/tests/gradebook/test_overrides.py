"""Changes to a score after grading: lateness, late days and manual overrides, whose files are checked line by line."""

import csv
import re
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli.main import main
from autograder.exceptions import ArgumentsError
from autograder.gradebook import inputs, outputs, report
from autograder.gradebook.inputs import Inputs, Person
from autograder.gradebook.rows import StudentRow, finished, lateness, notes, problems, remaining
from autograder.homework.rubric import LatePolicy, Rubric
from autograder.submissions.submission import Student, Upload
from autograder.submissions.tree import of_sources
from autograder.tests.files import HOMEWORK, put
from autograder.tests.making import grade_of_points, rubric_with

RUBRIC = HOMEWORK.rubric
FIRST = next(iter(RUBRIC.criteria.values()))
LATE = rubric_with(due="2026-11-20T23:59+01:00", late={"percent_a_day": 10})
HEAD = "student,criterion,points,reason\n"
ADA, BELA, TWIN = Student("Ada", "1", "ada@x"), Student("Bela", "2"), Student("Bela", "3")
ENTRIES = [
    Upload(f"s{who.sid}", of_sources(f"{who.name} Weiß_7 (export)" * (who is ADA), Path(), list), (who,))
    for who in (ADA, BELA, TWIN)
]
GRADES = {entry.key: grade_of_points(entry.key, RUBRIC.points, 1) for entry in ENTRIES}
ROSTER = [Person(who) for who in (ADA, BELA, TWIN, Student("Chidi", "4"))]


def finished_rows(given: Inputs) -> list[StudentRow]:
    """The rows of Ada, two students named Bela, and Chidi, who has no submission."""
    given = replace(given, roster=ROSTER)
    inputs.refuse(problems(ENTRIES, RUBRIC, given))
    return finished(ENTRIES, GRADES, {}, RUBRIC, given)


def read(tmp_path: Path, *overrides: str, comments: str = "", days: str = "", rubric: Rubric = RUBRIC) -> Inputs:
    """The content of o0.csv, o1.csv, ..., c.csv and days.csv; raises ArgumentsError if a line is invalid on its own."""
    names = {f"o{at}.csv": text for at, text in enumerate(overrides)} | {"c.csv": comments, "days.csv": days}
    put(tmp_path, {name: text for name, text in names.items() if text})
    files = sorted(tmp_path.glob("o*.csv")), [*tmp_path.glob("c.csv")], next(tmp_path.glob("days.csv"), None)
    found, problems = inputs.read(rubric, None, *files)
    inputs.refuse(problems)
    return found


def rows_with_overrides(tmp_path: Path, text: str) -> list[StudentRow]:
    return finished_rows(read(tmp_path, HEAD + text))


@pytest.mark.parametrize("student", ["ADA@x", "1", "s1", "Ada", "Ada Weiß_7 (export)"])
def test_setting_a_criterion_changes_the_total(tmp_path: Path, student: str) -> None:
    ada, bela, *_ = rows_with_overrides(tmp_path, f'{student},{FIRST.id},{FIRST.points},"was right, by hand"\n')
    assert (ada.score, bela.score) == (RUBRIC.points, RUBRIC.points - FIRST.points)
    assert ada.remark == f"{FIRST.id} set to {FIRST.points:g}: was right, by hand"
    assert bela.overrides == ()


def test_setting_the_total_takes_precedence(tmp_path: Path) -> None:
    lines = f"Ada,{FIRST.id},0,seen\nAda,total,50,plagiarism\n2,total,EX,ill\nChidi,total,70,ill\n"
    ada, bela, _, chidi = rows_with_overrides(tmp_path, lines)
    assert (ada.score, len(ada.overrides), chidi.score) == (50, 2, 70)
    assert (bela.score, bela.status, bela.remark) == (None, "Excused", "excused: ill")


def test_files_of_two_graders_are_merged_with_author_and_date(tmp_path: Path) -> None:
    kim = f"{HEAD[:-1]},author,date\n1,total,50,seen,Kim,2026-11-27\n"
    lou = f"{HEAD[:-1]},author,date\nada@x,total,50,seen,Lou,2026-11-28\n2,total,7.5,oral,Lou,2026-11-28\n"
    ada, bela, *_ = finished_rows(read(tmp_path, kim, lou.replace(",", ";").replace("7.5", "7,5")))
    assert (ada.score, ada.remark) == (50, "total set to 50: seen (Kim, 2026-11-27)")
    assert (bela.score, bela.remark) == (7.5, "total set to 7.5: oral (Lou, 2026-11-28)")
    for wrong, said in ((",,2026", "'author' is empty"), (",Kim,27.", "write it as 2026-11-27")):
        with pytest.raises(ArgumentsError, match=said):
            read(tmp_path, kim.replace(",Kim,2026", wrong))


def test_line_that_names_a_group_says_who_is_in_it() -> None:
    group = [Upload("s7", None, (ADA, BELA))]
    given = Inputs(overrides=[inputs.Line("s7", "total", 5.0, "agreed", "o.csv:2")])
    (problem,) = problems(group, RUBRIC, given)
    assert problem == "o.csv:2: s7 is a group of 2: Ada, Bela; give one line for each, with an email address or ID"


def test_all_invalid_lines_are_reported_before_grading(tmp_path: Path) -> None:
    """Lines that are invalid on their own, match no student or contradict each other are reported together."""
    bad = f"ada,total,many,x\nnobody,total,5,x\n7,{FIRST.id},1,x\nada,total,5,x\nada,total,6,x\nada,total,5,\n"
    put(tmp_path, {"class/ada/layernorm.py": "", "o.csv": HEAD + bad, "roster.csv": "name,sid\nChidi,7\n"})
    words = f"grade {tmp_path}/class -o {tmp_path}/out --overrides {tmp_path}/o.csv --roster {tmp_path}/roster.csv"
    done = CliRunner().invoke(main, words.split())
    assert done.exit_code == 2
    assert sorted(re.findall(r"o\.csv:(\d+): ", done.stderr)) == ["2", "3", "4", "6", "7"]
    assert not (tmp_path / "out").exists()


def test_withheld_grade_is_not_in_tables_but_stays_in_the_results(tmp_path: Path) -> None:
    ada, bela, *_ = rows_with_overrides(tmp_path, "1,total,withheld,under review\n")
    assert (ada.score, ada.status, ada.remark) == (None, "Withheld", "withheld: under review")
    assert ada.grade is not None and ada.grade.score == RUBRIC.points - FIRST.points
    assert report.submissions_that_count([ada, bela]) == [bela.grade]
    assert "Ada" not in outputs.canvas_table([ada, bela], "hw")
    assert "is withheld.</strong> Ask your instructor." in outputs.student_page(ada, RUBRIC)
    assert notes([ada], RUBRIC, []) == ["grade withheld: Ada; the computed score stays in the results folder"]


def test_gradescope_adjustments_are_the_manual_overrides(tmp_path: Path) -> None:
    made = rows_with_overrides(
        tmp_path, f"1,{FIRST.id},{FIRST.points},was right\n2,total,7,oral exam\n3,total,EX,ill\n"
    )
    made = [replace(row, entry=replace(row.entry, key=f"submission_{at}")) for at, row in enumerate(made[:3])]
    table = list(csv.DictReader(outputs.gradescope_table(made).splitlines()))
    earned = RUBRIC.points - FIRST.points
    columns = ("Submission ID", "Adjustment", "Score", "Reason")
    assert [tuple(line[name] for name in columns) for line in table] == [
        ("0", f"{FIRST.points:g}", f"{RUBRIC.points:g}", f"{FIRST.id} set to {FIRST.points:g}: was right"),
        ("1", f"{7 - earned:g}", "7", "total set to 7: oral exam"),
        ("2", "", "", "excused: ill"),
    ]


COMMENTS = "student,about,comment,author\n"


@pytest.mark.parametrize(("file", "text", "said"), [
    ("o0", "Nobody,total,5,x", ":2: no student is named Nobody"),
    ("o0", "Bela,total,5,x", ":2: 2 students are named Bela"),
    ("o0", "Ada,nosuch.thing,5,x", ":2: there is no criterion 'nosuch.thing'"),
    ("o0", "Ada,total,many,x", ":2: 'many' is neither a number"),
    ("o0", "Ada,total,-1,x", ":2: -1 points, but total allows 0"),
    ("o0", "Ada,total,1000,x", ":2: 1000 points"),
    ("o0", "Ada,total,nan,x", ":2: nan points"),
    ("o0", "Ada,total,5,", ":2: the column 'reason' is empty"),
    ("o0", "Ada,total,5,x\n\n1,total,6,y", ":4: 1: total set to 6: y; but "),
    ("o0", f"Ada,{FIRST.id},EX,x", ":2: EX concerns the whole homework"),
    ("o0", f"Chidi,{FIRST.id},1,x", ":2: Chidi has no grade"),
    ("c", "1,layernorm.exampel,x,", ":2: about is 'layernorm.exampel'; give a criterion's id, a line such as"),
    ("c", "1,layernorm.py:0,x,", ":2: about is 'layernorm.py:0'"),
    ("c", "1,total,,", ":2: the column 'comment' is empty"),
    ("c", "nobody@x,total,x,", ":2: no student is named nobody@x"),
    ("c", "Chidi,total,x,", ":2: Chidi has handed in nothing to comment on"),
    ("days", "ada@x,-1", ":2: days is '-1', which is not a number of days such as 3"),
    ("days", "ada@x,", ":2: the column 'days' is empty"),
])  # fmt: skip
def test_invalid_line_is_rejected_with_its_file_and_number(tmp_path: Path, file: str, text: str, said: str) -> None:
    head = {"o0": HEAD, "c": COMMENTS, "days": "student,days\n"}[file] + text + "\n"
    with pytest.raises(ArgumentsError, match=re.escape(f"{file}.csv{said}")):
        finished_rows(
            read(
                tmp_path,
                *[head] * (file == "o0"),
                comments=head * (file == "c"),
                days=head * (file == "days"),
                rubric=LATE,
            )
        )


def test_comments_appear_on_the_page_and_change_no_points(tmp_path: Path) -> None:
    text = f"{COMMENTS}1,{FIRST.id},see [me],Kim\nada@x,layernorm.py:12,use keepdims,\n1,total,well done,\n"
    (ada, *_), (before, *_) = finished_rows(read(tmp_path, comments=text)), finished_rows(Inputs())
    assert ada.score == before.score
    page = outputs.student_page(ada, RUBRIC)
    for line in (
        f"<code>{FIRST.id}</code></a>: see [me] (Kim)</p>",
        "<code>layernorm.py:12</code>: use keepdims</p>",
        "<p>well done</p>",
    ):
        assert line in page


DUE = datetime.fromisoformat("2026-11-20T23:59:00+01:00")


@pytest.mark.parametrize(("late_by", "free", "rule", "expected"), [
    (timedelta(minutes=-5), 0, {"percent_a_day": 10}, (0, 0)),
    (timedelta(0), 0, {"percent_a_day": 10}, (0, 0)),
    (timedelta(minutes=1), 0, {"percent_a_day": 10}, (8, 0)),
    (timedelta(minutes=15), 0, {"percent_a_day": 10, "grace_minutes": 15}, (0, 0)),
    (timedelta(minutes=16), 0, {"percent_a_day": 10, "grace_minutes": 15}, (8, 0)),
    (timedelta(days=1), 0, {"percent_a_day": 10}, (8, 0)),
    (timedelta(days=1, seconds=1), 0, {"percent_a_day": 10}, (16, 0)),
    (timedelta(days=2), 0, {"points_a_day": 5}, (10, 0)),
    (timedelta(days=30), 0, {"points_a_day": 5}, (80, 0)),
    (timedelta(days=30), 0, {"percent_a_day": 10, "floor_percent": 50}, (40, 0)),
    (timedelta(days=3), 0, {}, (0, 0)),
    (timedelta(days=1), 3, {"percent_a_day": 10}, (0, 1)),
    (timedelta(days=3), 2, {"percent_a_day": 10}, (8, 2)),
    (timedelta(days=2), 2, {}, (0, 0)),  # there is no deduction to avoid
    (timedelta(days=9), 2, {"percent_a_day": 10, "floor_percent": 50}, (40, 0)),  # at the floor either way
])  # fmt: skip
def test_deduction_and_late_days_used(
    late_by: timedelta, free: int, rule: dict[str, float], expected: tuple[float, int]
) -> None:
    created_at = (DUE + late_by).isoformat()
    assert lateness(created_at, 80, DUE, LatePolicy(**rule), free)[1:] == pytest.approx(expected)


@pytest.mark.parametrize(("names", "rubric", "said"), [
    (["Ada"], LATE, "1 upload is marked late without a time"),
    (["Ada", "Bela"], LATE, "2 uploads are marked late without a time"),
    (["Ada"], rubric_with(due="2026-11-20T23:59+01:00"), ""),
    ([], LATE, ""),
], ids=["one", "two", "no policy", "none"])  # fmt: skip
def test_uploads_that_are_only_marked_late_are_noted(names: list[str], rubric: Rubric, said: str) -> None:
    entries = [Upload(name, None, (Student(name),), late=True) for name in (*names, "Manual")]
    entries.append(Upload("Timed", None, (Student("Timed"),), late=True, created_at="2026-11-21T22:59:00.000000Z"))
    grades = {entry.key: grade_of_points(entry.key, 10) for entry in entries}
    given = Inputs(overrides=[inputs.Line("Manual", "total", 5.0, "agreed")])
    found = "".join(notes(finished(entries, grades, {}, rubric, given), rubric, []))
    assert found.startswith(said)
    assert found.endswith(f"{', '.join(names)}; set the total with --overrides") if said else not found


def test_late_days_carry_over_to_the_next_homework(tmp_path: Path) -> None:
    text = "student,days\nADA@x,2\nbela@x,1\nElsewhere,3\nchidi@x,5\n"
    left = read(tmp_path, days=text, rubric=LATE).late_days
    entries = [
        Upload(name, None, (Student(name, email=f"{name.lower()}@x"),), created_at="2026-11-22T12:00:00Z")
        for name in ("Ada", "Bela", "Chidi")
    ]
    grades = {entry.key: grade_of_points(entry.key, 10) for entry in entries}
    given = inputs.Inputs([], [inputs.Line("chidi@x", "total", 4.0, "agreed")], [], left)
    for _ in range(2):  # a second run uses no more late days
        found = finished(entries, grades, {}, LATE, given)
        assert [row.score for row in found] == [10, 9, 4]
        assert remaining(found, left) == [("ADA@x", 0, 2), ("bela@x", 0, 1), ("Elsewhere", 3, 0), ("chidi@x", 5, 0)]
    text = outputs.csv_text([("student", "days", "used"), *remaining(found, left)])
    again = read(tmp_path, days=text, rubric=LATE).late_days
    assert [(one.student, one.points) for one in again][:2] == [("ADA@x", 0), ("bela@x", 0)]
    late = "1 d 13 h 1 min late"
    assert f"{late}, 2 late days used" in outputs.table(found, HOMEWORK.rubric)
    assert found[-1].lateness == late  # a page does not mention unused late days
    assert [row.outcome.reasons for row in found[1:]] == [(f"{late}, 1 point deducted",), ("total set to 4: agreed",)]


def test_late_days_need_a_late_policy_and_unique_students(tmp_path: Path) -> None:
    left = read(tmp_path, days="student,days\nada@x,2\nAda,1\n", rubric=LATE).late_days
    with pytest.raises(ArgumentsError, match="add `late:`"):
        read(tmp_path, days="student,days\nada@x,2\n")
    with pytest.raises(ArgumentsError, match="there is no column 'days'"):
        read(tmp_path, days="student\nada@x\n", rubric=LATE)
    entries = [Upload("a", None, (Student("Ada", email="ada@x"),))]
    (said,) = problems(entries, LATE, inputs.Inputs(late_days=left))
    assert "days.csv:3: the same student as in " in said and "days.csv:2; give each student once" in said
