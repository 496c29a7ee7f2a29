"""The commands."""

import sys
from pathlib import Path

import click

from autograder.grading import open_grader
from autograder import results
from autograder.rubric import RubricError, current
from autograder.submission import read


@click.group()
def main() -> None:
    """Grade homework: a Transformer decoder in NumPy."""


@main.command()
@click.argument("path", type=Path)
def one(path: Path) -> None:
    with open_grader() as grader:
        document = results.gradescope(grader.grade(read(path, current().limits)))
    sys.stdout.write(results.dump(document))


if __name__ == "__main__":
    main()
