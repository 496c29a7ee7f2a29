"""Error messages and exit codes of all commands, and the options of `audit` and `doctor`."""

import contextlib
import errno
from concurrent.futures import BrokenExecutor
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from autograder.audit import audit, cases
from autograder.audit.cases import Row
from autograder.cli import doctor
from autograder.cli.main import Commands, main
from autograder.exceptions import ArgumentsError, CommandError, SandboxError
from autograder.release import packing
from autograder.sandbox import layers
from autograder.sandbox.protocol import Ended, Error, Response
from autograder.tests.files import HOMEWORK, put
from autograder.tests.making import graded, made


def test_grading_commands_note_that_the_current_folder_is_another_clone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = dict.fromkeys(("solutions/", "autograder/", "rubric.yaml", "pyproject.toml"), "")
    assert packing.other_clone(HOMEWORK, HOMEWORK.solutions) is packing.other_clone(HOMEWORK, tmp_path) is None
    monkeypatch.chdir(put(tmp_path / "second", files) / "solutions")
    said = CliRunner().invoke(main, ["grade", "nowhere", "-o", "out"]).stderr
    assert said.startswith(f"note: this uses {HOMEWORK.rubric_file}, not")
    assert f"pip install -e {tmp_path / 'second'}\n" in said
    assert "note:" not in CliRunner().invoke(main, ["compare", "nowhere", "nowhere"]).stderr


def run_failing_command(error: BaseException) -> Result:
    @click.group(cls=Commands)
    def group() -> None: ...

    @group.command()
    def fails() -> None:
        raise error

    return CliRunner().invoke(group, ["fails"])


@pytest.mark.parametrize(("error", "status", "said"), [
    (ArgumentsError("why"), 2, "why"),
    (CommandError("why"), 1, "why"),
    (SandboxError("why"), 1, "why"),
    (OSError(errno.EIO, "why", "a.csv"), 1, "a.csv: why. No file is half written."),
    (OSError("why"), 1, "why"),
    (BrokenExecutor(), 1, "--jobs 1"),
    (KeyboardInterrupt(), 130, "interrupted"),
])  # fmt: skip
def test_known_errors_print_one_line_and_set_the_exit_code(error: BaseException, status: int, said: str) -> None:
    done = run_failing_command(error)
    assert (done.exit_code, done.stderr.count("\n")) == (status, 1)
    assert done.stderr.startswith("autograder: ") and said in done.stderr


def test_error_text_is_truncated_and_cleaned_of_control_characters() -> None:
    said = run_failing_command(CommandError("\x1b[31m" + "x" * 650_000)).stderr
    assert len(said) < 500 and "\x1b" not in said
    lines = run_failing_command(
        CommandError("\n".join(f"rubric.yaml:{number}: wrong" for number in range(180)))
    ).stderr.splitlines()
    assert (len(lines), lines[0], lines[-1]) == (101, "autograder: rubric.yaml:0: wrong", "... and 80 more lines")


def test_closed_pipe_is_ignored_and_a_bug_keeps_its_traceback() -> None:
    done = run_failing_command(BrokenPipeError())
    assert (done.exit_code, done.stderr) == (0, "")
    assert isinstance(run_failing_command(ZeroDivisionError()).exception, ZeroDivisionError)


WRONG = next(case for case in cases.singles(HOMEWORK, "layernorm") if case.name == "layer_norm.sample_variance")
BEFORE = made(WRONG, graded("layernorm.statistics", "mistake", "sample_variance"))
AFTER = made(WRONG, graded("layernorm.statistics", "unexplained"))


def run_audit(monkeypatch: pytest.MonkeyPatch, row: Row, *arguments: str) -> tuple[int, str]:
    """The exit code and output of an audit with this row only."""
    monkeypatch.setattr(cases, "cases", lambda *_: [WRONG])
    monkeypatch.setattr(audit, "run", lambda *_: iter([row]))
    done = CliRunner().invoke(main, ["audit", "--only", "layernorm", *arguments])
    return done.exit_code, done.output


def test_audit_against_a_file_prints_the_rows_that_differ(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = str(tmp_path / "rows.json")
    run_audit(monkeypatch, BEFORE, "--rows", file)
    assert run_audit(monkeypatch, BEFORE, "--against", file) == (0, "No rows differ.\n")
    status, said = run_audit(monkeypatch, AFTER, "--against", file)
    assert status == 1
    assert said.startswith("mistake: layer_norm.sample_variance\n  layernorm.statistics: {")
    assert said.endswith("1 of 1 rows differ.\n")
    (tmp_path / "no rows").write_text("rows", encoding="utf-8")
    status, said = run_audit(monkeypatch, BEFORE, "--against", str(tmp_path / "no rows"))
    assert status == 2 and "is not a file written by --rows" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("public", "--only", "layer_norm"), "there is no module 'layer_norm'"),
        (("tolerances", "--only", "layer_norm"), "there is no module 'layer_norm'; known modules: layernorm"),
        (("mutants", "--only", "layernorm"), "cannot be combined with --only"),
        (("mutants", "--rows", "rows.json"), "writes no rows"),
    ],
)
def test_invalid_selections_are_reported(arguments: tuple[str, ...], said: str) -> None:
    done = CliRunner().invoke(main, ["audit", *arguments])
    assert done.exit_code == 2 and said in done.output


@pytest.mark.slow
def test_doctor_reports_every_layer_as_working_or_missing() -> None:
    found = doctor.diagnose()
    assert list(found) == list(layers.NAMES)
    for layer, (state, why) in found.items():
        assert state == ("works" if layer in layers.holding() else "missing"), layer
        assert len(why) > 20
    for layer, action in (
        ("landlock", "read the kit"),
        ("seccomp", "opened a socket"),
        ("limits", "has endless processor time"),
    ):
        if layer in layers.holding():
            assert action in doctor.attempt(layer, ())[0].value, "without the layer, the action is possible"


@pytest.mark.parametrize(("response", "said"), [
    (Response(value=["opened a socket", "read /proc"]), "process opened a socket, read /proc: please"),
    (Response(error=Error(("TypeError",), "too many", "", 0, "")), "process raised TypeError: too many: please"),
    (Response(ended=Ended("crash")), "process ended too early (crash): please"),
])  # fmt: skip
def test_doctor_reports_a_layer_that_does_not_work(
    monkeypatch: pytest.MonkeyPatch, response: Response, said: str
) -> None:
    monkeypatch.setattr(doctor, "attempt", lambda *_: (response, 0.0))
    found = [doctor.diagnose()[layer] for layer in layers.holding()]
    assert all(state == "fails" and said in why for state, why in found)


def test_doctor_succeeds_and_reports_missing_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    reason = dict.fromkeys(layers.NAMES, "") | {"landlock": "the kernel has no Landlock"}
    monkeypatch.setattr(layers, "available", lambda: reason)
    monkeypatch.setattr(doctor, "attempt", lambda *_: (Response(value=[]), 0.003))
    monkeypatch.setattr(doctor, "open_grader", lambda *_: contextlib.nullcontext())
    done = CliRunner().invoke(doctor.doctor)
    assert done.exit_code == 0 and "Grading works" in done.output
    assert "landlock           missing  the kernel has no Landlock" in done.output
    assert "in 3 ms" in done.output
    assert "- only the interpreter, NumPy and the submission can be read" in done.output
