"""What changes a score after grading: lateness, late days, and points set by hand, which are checked line by line."""

import csv
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli.main import main
from autograder.exceptions import ArgumentsError
from autograder.gradebook import inputs, outputs, report
from autograder.gradebook import rows as class_rows
from autograder.gradebook.inputs import Inputs, Person
from autograder.gradebook.rows import StudentRow, finished, lateness, notes, remaining
from autograder.homework import rubric as rubrics
from autograder.homework.rubric import LatePolicy, Rubric
from autograder.submissions.exports import listing
from autograder.submissions.submission import Student, Upload
from autograder.submissions.tree import Tree
from autograder.tests.files import put
from autograder.tests.making import grade_of_points, rubric_with

RUBRIC = rubrics.current()
FIRST = next(iter(RUBRIC.criteria.values()))
HEAD = "student,criterion,points,reason\n"
ADA, BELA, TWIN = Student("Ada", "1", "ada@x"), Student("Bela", "2"), Student("Bela", "3")


ENTRIES = [
    Upload(f"s{who.sid}", Tree(f"{who.name} Weiß_7 (export)" * (who is ADA), Path(), {}), (who,))
    for who in (ADA, BELA, TWIN)
]
GRADES = {entry.key: grade_of_points(entry.key, RUBRIC.points, 1) for entry in ENTRIES}
ROSTER = [Person(who) for who in (ADA, BELA, TWIN, Student("Chidi", "4"))]


def finish(given: Inputs) -> list[StudentRow]:
    """The rows of Ada, two Belas and Chidi, who has handed in nothing."""
    given = replace(given, roster=ROSTER)
    inputs.refuse(class_rows.problems(ENTRIES, RUBRIC, given))
    return finished(ENTRIES, GRADES, {}, RUBRIC, given)


def applied(tmp_path: Path, text: str) -> list[StudentRow]:
    (tmp_path / "o.csv").write_text(HEAD + text, encoding="utf-8")
    return finish(used(tmp_path / "o.csv"))


def used(*paths: Path) -> Inputs:
    """The lines of files that are all right in themselves."""
    found, problems = inputs.read(RUBRIC, override_files=paths)
    inputs.refuse(problems)
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
    assert class_rows.problems(entries, RUBRIC, used(tmp_path / "o.csv")) == []


def test_total_is_set_whatever_else_there_is(tmp_path: Path) -> None:
    ada, *_, chidi = applied(tmp_path, f"Ada,{FIRST.id},0,seen\nAda,total,50,plagiarism\nChidi,total,70,ill\n")
    assert (ada.score, chidi.score) == (50, 70)
    assert len(ada.overrides) == 2


@pytest.mark.parametrize(("text", "said"), [
    ("Nobody,total,5,x\n", "o.csv:2: no student is named Nobody"),
    ("Bela,total,5,x\n", "o.csv:2: 2 students are named Bela"),
    ("Ada,nosuch.thing,5,x\n", "o.csv:2: there is no criterion 'nosuch.thing'"),
    ("Ada,total,many,x\n", "o.csv:2: 'many' is neither a number"),
    ("Ada,total,-1,x\n", "o.csv:2: -1 points, but total allows 0"),
    ("Ada,total,1000,x\n", "o.csv:2: 1000 points"),
    ("Ada,total,nan,x\n", "o.csv:2: nan points"),
    ("Ada,total,5,\n", "o.csv:2: the column 'reason' is empty"),
    ("Ada,total,5,x\n\n1,total,6,y\n", "o.csv:4: 1: total set to 6: y; but "),
    (f"Ada,{FIRST.id},EX,x\n", "o.csv:2: EX concerns the whole homework"),
    (f"Chidi,{FIRST.id},1,x\n", "o.csv:2: Chidi has no grade"),
])  # fmt: skip
def test_line_that_cannot_be_used_is_refused_with_its_number(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ArgumentsError, match=r"o\.csv") as caught:
        applied(tmp_path, text)
    assert said in str(caught.value)


@pytest.mark.parametrize("content", [b"name;points\n", b"\xff\xfe", None])
def test_file_that_cannot_be_used_is_refused(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "o.csv").write_bytes(content)
    with pytest.raises(ArgumentsError, match=r"o\.csv"):
        used(tmp_path / "o.csv")


def test_excused_by_hand_has_no_score(tmp_path: Path) -> None:
    ada, *_ = applied(tmp_path, "Ada,total,EX,ill\n")
    assert (ada.score, ada.status, ada.remark) == (None, "Excused", "excused: ill")


GRADERS = ("student,criterion,points,reason,author,date\n", "student;criterion;points;reason;author;date\n")


def of_two(tmp_path: Path, first: str, second: str) -> list[StudentRow]:
    (tmp_path / "one.csv").write_text(GRADERS[0] + first)
    (tmp_path / "two.csv").write_text(GRADERS[1] + second)
    return finish(used(tmp_path / "one.csv", tmp_path / "two.csv"))


def test_files_of_two_graders_are_merged_with_who_and_when(tmp_path: Path) -> None:
    second = "ada@x;total;50;seen;Lou;2026-11-28\n2;total;7,5;oral;Lou;2026-11-28\n"
    ada, bela, *_ = of_two(tmp_path, "1,total,50,seen,Kim,2026-11-27\n", second)
    assert (ada.score, ada.remark) == (50, "total set to 50: seen (Kim, 2026-11-27)")
    assert (bela.score, bela.remark) == (7.5, "total set to 7.5: oral (Lou, 2026-11-28)")


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
    bad = f"ada,total,many,x\nnobody,total,5,x\n7,{FIRST.id},1,x\nada,total,5,x\nada,total,6,x\nada,total,5,\n"
    put(tmp_path, {"class/ada/layernorm.py": "", "o.csv": HEAD + bad, "roster.csv": "name,sid\nChidi,7\n"})
    words = f"grade {tmp_path}/class -o {tmp_path}/out --overrides {tmp_path}/o.csv --roster {tmp_path}/roster.csv"
    done = CliRunner().invoke(main, words.split())
    assert done.exit_code == 2
    assert sorted(re.findall(r"o\.csv:(\d+): ", done.stderr)) == ["2", "3", "4", "6", "7"]
    assert not (tmp_path / "out").exists()


def test_withheld_grade_is_in_no_table_and_stays_in_the_results(tmp_path: Path) -> None:
    ada, bela, *_ = applied(tmp_path, "1,total,withheld,under review\n")
    assert (ada.score, ada.status, ada.remark) == (None, "Withheld", "withheld: under review")
    assert ada.grade is not None and ada.grade.score == RUBRIC.points - FIRST.points
    assert report.submissions_that_count([ada, bela]) == [bela.grade]
    assert "Ada" not in outputs.canvas_table([ada, bela], "hw")
    assert notes([ada], RUBRIC, []) == ["grade withheld: Ada; the computed score stays in the results folder"]


def test_adjustments_for_gradescope_are_what_was_set_by_hand(tmp_path: Path) -> None:
    made = applied(tmp_path, f"1,{FIRST.id},{FIRST.points},was right\n2,total,7,oral exam\n3,total,EX,ill\n")
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


def commented(tmp_path: Path, text: str) -> list[StudentRow]:
    (tmp_path / "c.csv").write_text(COMMENTS + text, encoding="utf-8")
    found, problems = inputs.read(RUBRIC, comment_files=[tmp_path / "c.csv"])
    inputs.refuse(problems)
    return finish(found)


def test_comments_change_no_points_and_reach_the_page(tmp_path: Path) -> None:
    text = f"1,{FIRST.id},see [me],Kim\nada@x,layernorm.py:12,use keepdims,\n1,total,well done,\n"
    (ada, *_), (before, *_) = commented(tmp_path, text), finish(Inputs())
    assert ada.score == before.score
    page = outputs.student_page(ada, {"output": "", "tests": []}, RUBRIC)
    for line in (f"- `{FIRST.id}`: see \\[me\\] (Kim)", "- `layernorm.py:12`: use keepdims\n", "- well done\n"):
        assert line in page


@pytest.mark.parametrize(("line", "message"), [
    ("1,layernorm.exampel,x", "c.csv:2: about is 'layernorm.exampel'; give a criterion's id, a line such as"),
    ("1,layernorm.py:0,x", "c.csv:2: about is 'layernorm.py:0'"),
    ("1,total,", "c.csv:2: the column 'comment' is empty"),
    ("nobody@x,total,x", "c.csv:2: no student is named nobody@x"),
    ("Chidi,total,x", "c.csv:2: Chidi has handed in nothing to comment on"),
])  # fmt: skip
def test_comment_that_cannot_be_used_is_refused(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(ArgumentsError, match=re.escape(message)):
        commented(tmp_path, f"{line},\n")


DUE = datetime.fromisoformat("2026-11-20T23:59:00+01:00")


def deduction(late_by: timedelta, raw: float = 80, **rule: float) -> float:
    return lateness((DUE + late_by).isoformat(), raw, DUE, LatePolicy(**rule))[1]


@pytest.mark.parametrize(("late_by", "rule", "expected"), [
    (timedelta(minutes=-5), {"percent_a_day": 10}, 0),
    (timedelta(0), {"percent_a_day": 10}, 0),
    (timedelta(minutes=1), {"percent_a_day": 10}, 8),
    (timedelta(minutes=15), {"percent_a_day": 10, "grace_minutes": 15}, 0),
    (timedelta(minutes=16), {"percent_a_day": 10, "grace_minutes": 15}, 8),
    (timedelta(days=1), {"percent_a_day": 10}, 8),
    (timedelta(days=1, seconds=1), {"percent_a_day": 10}, 16),
    (timedelta(days=2), {"points_a_day": 5}, 10),
    (timedelta(days=30), {"points_a_day": 5}, 80),
    (timedelta(days=30), {"percent_a_day": 10, "floor_percent": 50}, 40),
    (timedelta(days=3), {}, 0),
])  # fmt: skip
def test_deduction(late_by: timedelta, rule: dict[str, float], expected: float) -> None:
    assert deduction(late_by, **rule) == pytest.approx(expected)


def late_rubric() -> Rubric:
    return rubric_with(due="2026-11-20T23:59+01:00", late={"percent_a_day": 10})


@pytest.mark.parametrize(("created_at", "due", "expected"), [
    ("2026-11-20T23:00:00.000000Z", True, (9, "0 h 1 min late")),
    ("2026-11-20T22:59:00.000000Z", True, (10, "")),
    ("", True, (10, "")),
    ("2099-01-01T00:00:00Z", False, (10, "")),
])  # fmt: skip
def test_final_score_is_raw_without_the_deduction(created_at: str, due: bool, expected: tuple[float, str]) -> None:
    entry, rubric = (
        Upload("s1", None, (Student("Ada"),), created_at=created_at),
        late_rubric() if due else rubric_with(),
    )
    (row,) = finished([entry], {"s1": grade_of_points("s1", 10)}, {}, rubric)
    assert (row.score, row.late) == expected


@pytest.mark.parametrize(("names", "policy", "said"), [
    (["Ada"], {"percent_a_day": 10}, "1 upload is marked late by Canvas, which does not say by how much"),
    (["Ada", "Bela"], {"percent_a_day": 10}, "2 uploads are marked late by Canvas"),
    (["Ada"], None, ""),
    ([], {"percent_a_day": 10}, ""),
])  # fmt: skip
def test_work_that_canvas_only_marks_late_is_noted(
    names: list[str], policy: dict[str, float] | None, said: str
) -> None:
    top: dict[str, object] = {"late": policy} if policy else {}
    rubric = rubric_with(None, due="2026-11-20T23:59+01:00", **top)
    timed = "2026-11-21T22:59:00.000000Z"
    entries = [Upload(name, None, (Student(name),), late=True) for name in (*names, "Manual")]
    entries.append(Upload("Timed", None, (Student("Timed"),), late=True, created_at=timed))
    grades = {entry.key: grade_of_points(entry.key, 10) for entry in entries}
    given = inputs.Inputs(overrides=[inputs.Override("Manual", "total", 5.0, "agreed")])
    found = notes(finished(entries, grades, {}, rubric, given), rubric, [])
    assert len(found) == bool(said)
    if said:
        assert found[0].startswith(said) and found[0].endswith(f"{', '.join(names)}; set the total with --overrides")


@pytest.mark.parametrize(
    ("days_late", "free", "rule", "expected"),
    [
        (1, 3, {"percent_a_day": 10}, (0, 1)),
        (3, 2, {"percent_a_day": 10}, (8, 2)),
        (3, 0, {"percent_a_day": 10}, (24, 0)),
        (2, 2, {}, (0, 0)),  # nothing is deducted anyway
        (9, 2, {"percent_a_day": 10, "floor_percent": 50}, (40, 0)),  # nor less for two days fewer
    ],
)
def test_late_days_that_are_used(
    days_late: int, free: int, rule: dict[str, float], expected: tuple[float, int]
) -> None:
    created_at = (DUE + timedelta(days=days_late)).isoformat()
    assert lateness(created_at, 80, DUE, LatePolicy(**rule), free)[1:] == pytest.approx(expected)


def balances(tmp_path: Path, text: str, rubric: Rubric | None = None) -> Sequence[inputs.Balance]:
    (tmp_path / "days.csv").write_text(text, encoding="utf-8")
    found, problems = inputs.read(rubric or late_rubric(), late_days_file=tmp_path / "days.csv")
    inputs.refuse(problems)
    return found.late_days


def test_late_days_are_carried_from_one_homework_to_the_next(tmp_path: Path) -> None:
    left = balances(tmp_path, "student,days\nADA@x,2\nbela@x,1\nElsewhere,3\nchidi@x,5\n")
    entries = [
        Upload(name, None, (Student(name, email=f"{name.lower()}@x"),), created_at="2026-11-22T12:00:00Z")
        for name in ("Ada", "Bela", "Chidi")
    ]
    grades = {entry.key: grade_of_points(entry.key, 10) for entry in entries}
    given = inputs.Inputs([], [inputs.Override("chidi@x", "total", 4.0, "agreed")], [], left)
    for _ in range(2):  # a second run charges nothing again
        found = finished(entries, grades, {}, late_rubric(), given)
        assert [row.score for row in found] == [10, 9, 4]
        assert remaining(found, left) == [("ADA@x", 0, 2), ("bela@x", 0, 1), ("Elsewhere", 3, 0), ("chidi@x", 5, 0)]
    text = outputs.csv_text([("student", "days", "used"), *remaining(found, left)])
    assert [(one.student, one.days) for one in balances(tmp_path, text)][:2] == [("ADA@x", 0), ("bela@x", 0)]
    assert "1 d 13 h 1 min late, 2 late days used" in outputs.table(found)
    assert found[-1].lateness == "1 d 13 h 1 min late"  # nor does a page speak of days that are not used


@pytest.mark.parametrize(("text", "message"), [
    ("student,days\nada@x,-1\n", "days.csv:2: days is '-1', which is not a number of days such as 3"),
    ("student,days\nada@x,\n", "days.csv:2: the column 'days' is empty"),
    ("student\nada@x\n", "days.csv:1: there is no column 'days'"),
])  # fmt: skip
def test_balance_that_cannot_be_used_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ArgumentsError, match=message):
        balances(tmp_path, text)


def test_late_days_need_a_policy_and_each_student_once(tmp_path: Path) -> None:
    left = balances(tmp_path, "student,days\nada@x,2\nAda,1\n")
    with pytest.raises(ArgumentsError, match="add `late:`"):
        balances(tmp_path, "student,days\nada@x,2\n", rubric_with())
    entries = [Upload("a", None, (Student("Ada", email="ada@x"),))]
    (said,) = class_rows.problems(entries, late_rubric(), inputs.Inputs(late_days=left))
    assert re.search(r"days.csv:3: the same student as in .*days.csv:2", said)
