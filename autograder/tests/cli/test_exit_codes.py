"""Every end of a command is a line that a person can use, and a status."""

import errno

import click
import pytest
from click.testing import CliRunner

from autograder.cli.exit_codes import FAILED, INTERRUPTED, USAGE, Commands
from autograder.exceptions import ArgumentsError, CommandError, SandboxError
from autograder.homework.rubric import RubricError


def ended(error: BaseException) -> tuple[int, str]:
    @click.group(cls=Commands)
    def group() -> None: ...

    @group.command()
    def fails() -> None:
        raise error

    done = CliRunner().invoke(group, ["fails"])
    return done.exit_code, done.stderr


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ArgumentsError("why"), USAGE),
        (RubricError("why"), FAILED),
        (CommandError("why"), FAILED),
        (SandboxError("why"), FAILED),
        (OSError(errno.ENOSPC, "why: no space"), FAILED),
        (OSError("why"), FAILED),
        (KeyboardInterrupt(), INTERRUPTED),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_known_ends_are_one_line_and_a_status(error: BaseException, status: int) -> None:
    code, said = ended(error)
    assert (code, said.count("\n")) == (status, 1)
    assert said.startswith("autograder: ")
    assert "why" in said or isinstance(error, KeyboardInterrupt)


def test_a_closed_place_for_locks_is_named_though_the_error_names_none() -> None:
    code, said = ended(OSError(errno.EROFS, "Read-only file system"))
    assert (code, said.count("\n")) == (FAILED, 1)
    assert "/dev/shm, which must be writable" in said


def test_very_long_and_dangerous_texts_are_cut_and_cleaned() -> None:
    _, said = ended(CommandError("\x1b[31m" + "x" * 650_000))
    assert len(said) < 500
    assert "\x1b" not in said


def test_rubric_that_is_wrong_everywhere_is_a_hundred_lines() -> None:
    _, said = ended(RubricError("\n".join(f"rubric.yaml:{number}: wrong" for number in range(180))))
    assert said.splitlines()[0] == "autograder: rubric.yaml:0: wrong"
    assert said.splitlines()[-1] == "... and 80 more lines"
    assert len(said.splitlines()) == 101


def test_nobody_reading_on_is_no_fault() -> None:
    assert ended(BrokenPipeError()) == (0, "")


def test_mistake_in_the_kit_keeps_its_traceback() -> None:
    @click.group(cls=Commands)
    def group() -> None: ...

    @group.command()
    def fails() -> None:
        raise ZeroDivisionError

    assert isinstance(CliRunner().invoke(group, ["fails"]).exception, ZeroDivisionError)
