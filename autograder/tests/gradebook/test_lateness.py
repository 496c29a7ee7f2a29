"""What lateness costs: the grace, started days, percent or points, and a floor."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from autograder.exceptions import ArgumentsError
from autograder.gradebook import inputs, outputs
from autograder.gradebook.rows import finished, lateness, notes, remaining
from autograder.homework.rubric import LatePolicy, Rubric
from autograder.submissions.uploads import Student, Upload
from autograder.tests.making import grade_of_points, rubric_with

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
    with pytest.raises(ArgumentsError, match=r"days.csv:3: the same student as in .*days.csv:2"):
        finished(entries, {}, {}, late_rubric(), inputs.Inputs(late_days=left))
