"""What lateness costs: the grace, started days, percent or points, and a floor."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from autograder.gradebook.rows import StudentRow, lateness, notes, with_lateness
from autograder.homework.rubric import LatePolicy, Rubric
from autograder.submissions.entries import Entry, Student
from autograder.tests.making import grade_of_points, rubric_with

DUE = datetime.fromisoformat("2026-11-20T23:59:00+01:00")


def deduction(late_by: timedelta, raw: float = 80, **rule: float) -> float:
    return lateness((DUE + late_by).isoformat(), raw, DUE, LatePolicy(**rule))[1]


@pytest.mark.parametrize(
    ("late_by", "rule", "expected"),
    [
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
    ],
)
def test_deduction(late_by: timedelta, rule: dict[str, float], expected: float) -> None:
    assert deduction(late_by, **rule) == pytest.approx(expected)


def row(created_at: str) -> StudentRow:
    return StudentRow(Student("Ada"), Entry("s1", None, created_at=created_at), grade_of_points("s1", 10))


def late_rubric() -> Rubric:
    return rubric_with(due="2026-11-20T23:59+01:00", late={"percent_a_day": 10})


def test_final_score_is_raw_without_the_deduction() -> None:
    (found,) = with_lateness([row("2026-11-20T23:00:00.000000Z")], late_rubric())
    assert (found.score, found.late) == (9, "0 h 1 min late")


@pytest.mark.parametrize("created_at", ["", "2026-11-20T22:59:00.000000Z"])
def test_in_time_or_without_a_time_nothing_is_taken(created_at: str) -> None:
    (found,) = with_lateness([row(created_at)], late_rubric())
    assert (found.score, found.late) == (10, "")


def test_without_a_due_date_nobody_is_late() -> None:
    assert with_lateness([row("2099-01-01T00:00:00Z")], rubric_with())[0].late == ""


@pytest.mark.parametrize(
    ("names", "policy", "said"),
    [
        (["Ada"], {"percent_a_day": 10}, "1 upload is marked late by Canvas, which does not say by how much"),
        (["Ada", "Bela"], {"percent_a_day": 10}, "2 uploads are marked late by Canvas"),
        (["Ada"], None, ""),
        ([], {"percent_a_day": 10}, ""),
    ],
)
def test_work_that_canvas_marks_late_without_a_time_is_noted(
    names: list[str], policy: dict[str, float] | None, said: str
) -> None:
    top: dict[str, object] = {"late": policy} if policy else {}
    rubric = rubric_with(None, due="2026-11-20T23:59+01:00", **top)
    late = [StudentRow(Student(name), Entry(name, None, late=True), grade_of_points(name, 10)) for name in names]
    others = [replace(row(""), total=5.0, entry=Entry("s2", None, late=True)), row("2026-11-21T22:59:00.000000Z")]
    found = notes(with_lateness([*late, *others], rubric), rubric, [])
    assert len(found) == bool(said)
    if said:
        assert found[0].startswith(said) and found[0].endswith(f"{', '.join(names)}; set the total with --overrides")
