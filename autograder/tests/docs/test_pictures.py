"""The pictures of README.md are what the kit gives today."""

import pytest

from autograder.docs import pictures
from autograder.grading.grader import Grader
from autograder.homework import kit

STALE = "run: python -m autograder.docs.pictures"


def test_the_students_picture_is_what_a_student_gets(grader: Grader) -> None:
    assert pictures.STUDENT.read_text(encoding="utf-8") == pictures.student(grader), STALE


@pytest.mark.slow
def test_the_instructors_picture_is_what_an_instructor_gets(grader: Grader) -> None:
    assert pictures.INSTRUCTOR.read_text(encoding="utf-8") == pictures.instructor(grader), STALE


def test_the_readme_shows_both() -> None:
    text = (kit.home() / "README.md").read_text(encoding="utf-8")
    for path in (pictures.STUDENT, pictures.INSTRUCTOR):
        assert f"]({path.relative_to(kit.home()).as_posix()})" in text
