"""Two homeworks in one process."""

from collections.abc import Mapping
from pathlib import Path

from autograder.feedback.results import Grade
from autograder.grading.grader import Grader, open_grader
from autograder.homework.homework import Homework
from autograder.release import drafts
from autograder.submissions.submission import Submission

MODULE = "centred_rows"
LONGER = f"""
    from {MODULE} import centred_rows
    check.centred_rows(centred_rows(rng.normal(3, 1, (5, 2))))
"""
ROWS, COLUMNS = (f"def centred_rows(x):\n    return x - x.mean(axis={axis}, keepdims=True)\n" for axis in (-1, 0))


def homework(folder: Path, exchanged: bool) -> Homework:
    """A homework with one module that subtracts the mean of every row or, if the axes are `exchanged`, of every column."""
    drafts.new_homework(folder, MODULE)
    misconceptions = folder / "grading" / "misconceptions" / MODULE / f"{MODULE}.py"
    for path in (folder / "solutions" / f"{MODULE}.py", misconceptions) if exchanged else ():
        parts = path.read_text(encoding="utf-8").split("axis=-1")
        path.write_text("axis=0".join(part.replace("axis=0", "axis=-1") for part in parts), encoding="utf-8")
    suite = folder / "grading" / "suites" / f"test_{MODULE}.py"
    with suite.open("a", encoding="utf-8") as file:
        file.write(LONGER if exchanged else "")
    return Homework(folder)


def outcome(grader: Grader, text: str) -> tuple[float, list[str], set[str]]:
    """The points of a submission with one file, its criteria, and the misconceptions found."""
    grade = Grade.of(grader.grade(Submission("s", {f"{MODULE}.py": text.encode()})))
    names = {name for mark in grade.marks for name in mark.misconceptions}
    return grade.score, [mark.criterion for mark in grade.marks], names


def test_homeworks_with_the_same_names_are_graded_by_turns_in_one_process(
    tmp_path: Path, grader: Grader, references: Mapping[str, bytes]
) -> None:
    by_rows, by_columns = homework(tmp_path / "rows", False), homework(tmp_path / "columns", True)
    criteria = list(by_rows.rubric.criteria)
    right, wrong = (2.0, criteria, set[str]()), (1.0, criteria, {f"{MODULE}.first_axis"})
    with open_grader(by_rows) as rows, open_grader(by_columns) as columns:
        assert len(columns.plan.hidden[MODULE]) == len(rows.plan.hidden[MODULE]) + 1
        for _ in range(2):
            assert outcome(rows, ROWS) == right
            assert outcome(columns, ROWS) == wrong
            ours = grader.grade(Submission("ours", dict(references)), ("layernorm",))
            assert ours.points == grader.rubric.modules["layernorm"].points
            assert outcome(columns, COLUMNS) == right
            assert outcome(rows, COLUMNS) == wrong
