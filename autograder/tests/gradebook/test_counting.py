"""Criteria that are dropped leave the tables, and the reason is said for those that are given to all as well."""

from autograder.gradebook.report import submissions_that_count
from autograder.gradebook.rows import finished
from autograder.gradebook.store import grade_of
from autograder.homework import rubric as rubrics
from autograder.submissions.uploads import Student, Upload
from autograder.tests.making import document, grade_of_points, rubric_with

FIRST, SECOND, *_ = rubrics.current().criteria.values()


def test_dropped_criterion_is_in_no_table() -> None:
    dropped, full = {"counts": "dropped", "why": "a typo"}, {"counts": "full", "why": "old"}
    rubric = rubric_with({FIRST.id: dropped, SECOND.id: full})
    grade = grade_of_points("s1", rubrics.current().points)
    (found,) = finished([Upload("s1", None, (Student("Ada"),))], {"s1": grade}, {}, rubric)
    assert found.grade is not None
    assert found.grade.max_score == rubrics.current().points - FIRST.points == rubric.most
    assert FIRST.id not in found.grade.points and SECOND.id in found.grade.points
    counted = [one.counted for one in rubric.criteria.values() if one.counts]
    assert counted == ["does not count: a typo", "is given to all: old"]


def test_points_given_to_everybody_do_not_make_an_empty_upload_count() -> None:
    ada = Student("Ada", email="ada@x.org")
    full, later = (Upload(f"s{n}", None, (ada,), created_at=f"2026-11-20T1{n}:00:00Z") for n in (0, 1))
    documents = {f"s{n}": document(**{FIRST.id: (1 - n, 1), SECOND.id: (1, 1)}) for n in (0, 1)}
    for key, submitted in (("s0", ["layernorm"]), ("s1", [])):
        documents[key]["extra_data"]["submitted"] = submitted
    grades = {key: grade_of(key, made, 0.0) for key, made in documents.items()}
    rubric = rubric_with({SECOND.id: {"counts": "full", "why": "old"}})
    (row,) = finished([full, later], grades, {}, rubric)
    assert (row.entry.key, row.score) == ("s0", 2)
    (alone,) = finished([later], grades, {}, rubric)
    assert submissions_that_count([alone]) == []
