"""The command line."""

from collections.abc import Callable
from functools import update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from autograder.homework.homework import Homework


def with_homework(command: Callable[..., Any]) -> Callable[..., Any]:
    """Call a command with the homework that the user chose, or that of the current folder, as its first argument."""

    @click.pass_obj
    def run(chosen: Path | None, *args: Any, **kwargs: Any) -> Any:
        return command(homework_in(chosen), *args, **kwargs)

    return update_wrapper(run, command)


def homework_in(chosen: Path | None) -> "Homework":
    """Return the homework in a chosen folder, else that of the current folder, else the packaged one."""
    from autograder.homework.homework import Homework  # NumPy and pydantic take longer to load than most commands run

    # Not in a folder above the current one, which may be a download with another rubric.yaml.
    return Homework.chosen(chosen) if chosen else Homework.at(Path())
