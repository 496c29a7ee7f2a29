"""Puzzles: decoders with wrong lines, solved by undoing all of them."""

import ast
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli.main import main
from autograder.exceptions import ArgumentsError
from autograder.grading.grader import Grader
from autograder.release import puzzle
from autograder.release.puzzle import Edit, Puzzle, modules_of_model
from autograder.submissions.submission import Submission
from autograder.tests.files import HOMEWORK
from autograder.tests.making import few, homework_with


def points(grader: Grader, files: dict[str, str]) -> float:
    """The points that the files earn in the modules of a puzzle."""
    texts = {name: text.encode() for name, text in files.items()}
    return grader.grade(Submission("puzzle", texts), modules_of_model(HOMEWORK)).points


def solved(made: Puzzle, *edits: Edit) -> dict[str, str]:
    """The files of a puzzle after undoing some of its wrong lines."""
    files = dict(made.files)
    for edit in edits:
        lines = files[edit.file].split("\n")
        assert lines[edit.line - 1] == edit.wrong != edit.right
        lines[edit.line - 1] = edit.right
        files[edit.file] = "\n".join(lines)
    return files


@pytest.mark.parametrize(("level", "seed"), few([(level, seed) for seed in range(10) for level in (1, 2, 3)]))
def test_puzzle_is_solved_by_undoing_its_wrong_lines(grader: Grader, level: int, seed: int) -> None:
    made = puzzle.make(HOMEWORK, level, seed)
    most = sum(grader.rubric.modules[name].points for name in modules_of_model(HOMEWORK))
    assert len(made.edits) == (2 if level == 3 else 1)
    assert points(grader, dict(made.files)) < most
    assert points(grader, solved(made, *made.edits)) == most
    assert level < 3 or all(points(grader, solved(made, edit)) < most for edit in made.edits), "both lines are wrong"


def test_task_describes_the_symptom_but_not_the_solution(tmp_path: Path) -> None:
    made = puzzle.make(HOMEWORK, 1, 0)
    puzzle.write(made, tmp_path / "new")
    task = (tmp_path / "new" / "task.md").read_text()
    assert {path.name for path in (tmp_path / "new").iterdir()} == {*made.files, "task.md"}
    names, loss = made.symptom
    assert " ".join(names[:8]) in task and f"{loss:.2f} nats" in task and "1.95" in task
    (misconception,) = made.misconceptions
    assert f"`{misconception.function}`, in `{misconception.module}.py`" in task
    assert f"{misconception.function}`, in" not in puzzle.task(puzzle.make(HOMEWORK, 2, 0))
    told = (misconception.does, misconception.right, misconception.name, made.edits[0].right.strip())
    assert not any(text in task for text in told)


def test_puzzle_has_no_answers_and_no_solution_markers() -> None:
    made = puzzle.make(HOMEWORK, 2, 0)
    assert set(made.files) == {f"{name}.py" for name in modules_of_model(HOMEWORK)}
    assert not any("SOLUTION" in text for text in made.files.values())
    for file, text in made.files.items():
        assert docstrings(text) == docstrings(HOMEWORK.files[file].decode())


def docstrings(text: str) -> dict[str, str | None]:
    return {node.name: ast.get_docstring(node) for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}


def test_command_writes_only_to_a_new_folder(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["puzzle", "-o", str(tmp_path / "one"), "--level", "1", "--seed", "0"])
    assert done.exit_code == 0, done.output
    edit = puzzle.make(HOMEWORK, 1, 0).edits[0]
    assert f"  {edit.file}, line {edit.line} should be: {edit.right.strip()}\n" in done.output
    again = CliRunner().invoke(main, ["puzzle", "-o", str(tmp_path / "one")])
    assert again.exit_code == 2 and "is not empty; give a new folder with -o" in again.output
    other = CliRunner().invoke(main, ["puzzle", "-o", str(tmp_path / "two"), "--level", "4"])
    assert other.exit_code == 2 and "there is no level 4; choose among 1, 2, 3" in other.output
    assert not (tmp_path / "two").exists()


def test_homework_without_a_decoder_has_no_puzzles() -> None:
    own = HOMEWORK.rubric
    smaller = own.model_copy(update={"modules": {name: m for name, m in own.modules.items() if name != "decoder"}})
    with pytest.raises(ArgumentsError, match=r"but rubric\.yaml has no module decoder"):
        puzzle.make(homework_with(smaller), 1, 99)
