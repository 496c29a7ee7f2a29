"""Criteria that are dropped leave the tables, and the reason is said for those that are given to all as well."""

from autograder.cohort.rows import StudentRow, without_dropped
from autograder.homework import rubric as rubrics
from autograder.intake.entries import Entry, Student
from autograder.tests.making import grade_of_points, rubric_with

FIRST, SECOND, *_ = rubrics.current().criteria.values()


def test_dropped_criterion_is_in_no_table() -> None:
    rubric = rubric_with(
        {FIRST.id: {"counts": "dropped", "why": "a typo"}, SECOND.id: {"counts": "full", "why": "old"}}
    )
    row = StudentRow(Student("Ada"), Entry("s1"), grade_of_points("s1", rubrics.current().points))
    (found,) = without_dropped([row], rubric)
    assert found.grade is not None
    assert found.grade.max_score == rubrics.current().points - FIRST.points == rubric.most
    assert FIRST.id not in found.grade.points and SECOND.id in found.grade.points
    assert [one.counted for one in rubric.criteria.values() if one.counts] == [
        "does not count: a typo",
        "is given to all: old",
    ]


def test_rubric_without_such_criteria_changes_nothing() -> None:
    row = StudentRow(Student("Ada"), Entry("s1"), grade_of_points("s1", 5))
    assert without_dropped([row], rubric_with()) == [row]
