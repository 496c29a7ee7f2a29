"""Criteria that are dropped or given to all: totals follow, and the reason is said."""

from autograder.cohort import counting
from autograder.cohort.rows import StudentRow
from autograder.homework import rubric as rubrics
from autograder.intake.entries import Entry, Student
from autograder.tests.cohort.making import grade_of_points, rubric_with

FIRST, SECOND, *_ = rubrics.current().criteria.values()


def counted(how: str, lost: int) -> StudentRow:
    rubric = rubric_with({FIRST.id: {"counts": how, "why": "a typo in the sheet"}})
    row = StudentRow(Student("Ada"), Entry("s1"), grade_of_points("s1", rubrics.current().points, lost))
    (found,) = counting.applied([row], rubric)
    assert counting.notices(rubric) == [f"{FIRST.id} {counting.SAID[how]}: a typo in the sheet"]
    return found


def test_dropped_criterion_counts_for_nobody() -> None:
    for lost in (0, 1):
        found = counted("dropped", lost)
        assert found.grade is not None
        assert found.grade.max_score == rubrics.current().points - FIRST.points
        assert found.score == found.grade.max_score
        assert FIRST.id not in found.grade.points


def test_given_criterion_is_earned_by_all() -> None:
    for lost in (0, 1, 2):
        found = counted("full", lost)
        assert found.grade is not None
        assert found.grade.points[FIRST.id] == FIRST.points
        assert found.score == rubrics.current().points - (SECOND.points if lost == 2 else 0)


def test_rubric_without_such_criteria_changes_nothing() -> None:
    row = StudentRow(Student("Ada"), Entry("s1"), grade_of_points("s1", 5))
    assert counting.applied([row], rubric_with()) == [row]
    assert counting.notices(rubric_with()) == []
