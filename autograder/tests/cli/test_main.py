"""The commands say which kit they use and end with one line and a status; `audit` compares its rows."""

import errno
import os
from concurrent.futures import BrokenExecutor
from dataclasses import replace
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from autograder.audit import audit, cases
from autograder.audit.cases import Case, GradedCall, Row
from autograder.cli import doctor
from autograder.cli.main import Commands, main
from autograder.exceptions import ArgumentsError, CommandError, SandboxError
from autograder.gradebook import pool
from autograder.homework import kit, rubric
from autograder.homework.rubric import RubricError
from autograder.release import packing
from autograder.sandbox import layers
from autograder.sandbox.layers import kernel
from autograder.sandbox.messages import Response
from autograder.tests.files import put
from autograder.tests.making import graded, made


def test_audit_of_one_module_says_how_many_alternatives_contain_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "run", lambda *_: [])
    monkeypatch.setattr(pool, "check", lambda: None)
    first, questions = next(iter(rubric.current().modules)), list(rubric.current().modules)[-1]
    number = len(cases.alternatives())
    said = CliRunner().invoke(main, ["audit", "--only", f"{first},{questions}"]).stdout
    assert f"\n{number} of {number} alternatives contain {first}.py\n" in said
    assert f"\n0 of {number} alternatives contain {questions}.py: nothing shows that" in said


def test_commands_that_grade_report_a_clone_of_another_kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = dict.fromkeys(("solutions/", "autograder/", "rubric.yaml", "pyproject.toml"), "")
    assert packing.other_clone(kit.solutions()) is packing.other_clone(tmp_path) is None
    monkeypatch.chdir(put(tmp_path / "second", files) / "solutions")
    said = CliRunner().invoke(main, ["grade", "nowhere", "-o", "out"]).stderr
    assert said.startswith(f"note: this uses {kit.rubric_file()}, not")
    assert f"pip install -e {tmp_path / 'second'}\n" in said
    assert "note:" not in CliRunner().invoke(main, ["compare", "nowhere", "nowhere"]).stderr


def ended(error: BaseException) -> Result:
    @click.group(cls=Commands)
    def group() -> None: ...

    @group.command()
    def fails() -> None:
        raise error

    return CliRunner().invoke(group, ["fails"])


@pytest.mark.parametrize(("error", "status", "said"), [
    (ArgumentsError("why"), 2, "why"),
    (RubricError("why"), 1, "why"),
    (CommandError("why"), 1, "why"),
    (SandboxError("why"), 1, "why"),
    (CommandError(f"why: {os.strerror(errno.ENOSPC)}"), 1, "use another folder: TMPDIR="),
    (OSError(errno.ENOSPC, "why", "a.csv"), 1, "a.csv: why. No file is half written."),
    (OSError("why"), 1, "why"),
    (OSError(errno.EROFS, "Read-only file system"), 1, "/dev/shm, which must be writable"),
    (BrokenExecutor(), 1, "--jobs 1"),
    (KeyboardInterrupt(), 130, "interrupted"),
])  # fmt: skip
def test_known_errors_are_one_line_and_a_status(error: BaseException, status: int, said: str) -> None:
    done = ended(error)
    assert (done.exit_code, done.stderr.count("\n")) == (status, 1)
    assert done.stderr.startswith("autograder: ") and said in done.stderr


def test_long_and_dangerous_texts_are_cut_and_cleaned() -> None:
    said = ended(CommandError("\x1b[31m" + "x" * 650_000)).stderr
    assert len(said) < 500 and "\x1b" not in said
    lines = ended(RubricError("\n".join(f"rubric.yaml:{number}: wrong" for number in range(180)))).stderr.splitlines()
    assert (len(lines), lines[0], lines[-1]) == (101, "autograder: rubric.yaml:0: wrong", "... and 80 more lines")


def test_closed_pipe_is_not_an_error_and_a_bug_in_the_kit_keeps_its_traceback() -> None:
    done = ended(BrokenPipeError())
    assert (done.exit_code, done.stderr) == (0, "")
    assert isinstance(ended(ZeroDivisionError()).exception, ZeroDivisionError)


WRONG = next(case for case in cases.singles("layernorm") if case.name == "layer_norm.sample_variance")
BEFORE = made(WRONG, graded("layernorm.statistics", "mistake", "sample_variance"))
AFTER = made(WRONG, graded("layernorm.statistics", "unexplained"))


def audited(monkeypatch: pytest.MonkeyPatch, row: Row, *arguments: str) -> tuple[int, str]:
    """The audit's status and output if this is its only row."""
    monkeypatch.setattr(cases, "cases", lambda only: [WRONG])
    monkeypatch.setattr(audit, "run", lambda chosen, jobs: iter([row]))
    done = CliRunner().invoke(main, ["audit", "--only", "layernorm", *arguments])
    return done.exit_code, done.output


def test_rows_that_differ_from_those_of_a_file_are_printed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = str(tmp_path / "rows.json")
    audited(monkeypatch, BEFORE, "--rows", file)
    assert audited(monkeypatch, BEFORE, "--against", file) == (0, "No rows differ.\n")
    status, said = audited(monkeypatch, AFTER, "--against", file)
    assert status == 1
    assert said.startswith("mistake: layer_norm.sample_variance\n  layernorm.statistics: {")
    assert said.endswith("1 of 1 rows differ.\n")
    (tmp_path / "no rows").write_text("rows", encoding="utf-8")
    status, said = audited(monkeypatch, BEFORE, "--against", str(tmp_path / "no rows"))
    assert status == 2 and "is not a file written by --rows" in said


def test_one_misconception_can_be_audited_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "run", lambda chosen, jobs: (made(case, *BEFORE.graded.values()) for case in chosen))
    done = CliRunner().invoke(main, ["audit", "--only", "layer_norm.sample_variance"])
    assert "1 of 1 misconceptions are named correctly." in done.output and "alternatives" not in done.output


def test_tolerances_are_those_of_the_chosen_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    def call(module: str) -> GradedCall:
        return GradedCall(module, f"test_{module}", 1, "float64", 1e-8)

    row = replace(made(Case("alternative", "loops")), deviations={call("layernorm"): 1e-12, call("decoder"): 1e-12})
    monkeypatch.setattr(cases, "cases", lambda only: [row.case])
    monkeypatch.setattr(audit, "run", lambda chosen, jobs: iter([row]))
    said = CliRunner().invoke(main, ["audit", "--only", "layernorm", "--tolerances"]).output
    assert "test_layernorm #1" in said and "test_decoder" not in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--only", "layer_norm", "--public"), "there is no module 'layer_norm'"),
        (("--only", "layer_norm", "--tolerances"), "there is no module 'layer_norm'; known modules: layernorm"),
        (("--only", "layernorm", "--mutants"), "cannot be combined with --only"),
    ],
)
def test_unusable_selections_are_reported(arguments: tuple[str, ...], said: str) -> None:
    done = CliRunner().invoke(main, ["audit", *arguments])
    assert done.exit_code == 2 and said in done.output


@pytest.mark.slow
def test_every_layer_holds_or_is_missing_with_advice() -> None:
    found = doctor.diagnose()
    assert list(found) == list(layers.NAMES)
    for layer, (state, why) in found.items():
        assert state == ("works" if layer in layers.holding() else "missing"), layer
        assert len(why) > 20


@pytest.mark.skipif(not kernel.LINUX, reason="needs Linux")
@pytest.mark.parametrize(
    ("layer", "possible"),
    [("landlock", "read the kit"), ("landlock", "wrote outside its folder"), ("seccomp", "opened a socket"),
     ("seccomp", "started a process"), ("limits", "opened 10,000 files")],
)  # fmt: skip
def test_without_the_layer_its_probe_succeeds(layer: str, possible: str) -> None:
    if layer not in layers.holding():
        pytest.skip(f"no {layer} here")
    reply, _ = doctor.attempt(layer, ())
    assert possible in reply.value


def test_a_layer_that_does_not_work_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "attempt", lambda *_: (Response(value=["opened a socket"]), 0.0))
    found = [doctor.diagnose()[layer] for layer in layers.holding()]
    assert all(state == "fails" and "opened a socket" in why for state, why in found)


def test_the_command_succeeds_and_reports_missing_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    reason = dict.fromkeys(layers.NAMES, "") | {"landlock": "the kernel has no Landlock"}
    monkeypatch.setattr(layers, "available", lambda: reason)
    monkeypatch.setattr(doctor, "attempt", lambda *_: (Response(value=[]), 0.003))
    done = CliRunner().invoke(doctor.doctor)
    assert done.exit_code == 0
    assert "landlock           missing  the kernel has no Landlock" in done.output
    assert "in 3 ms" in done.output
    assert "- only the interpreter, NumPy and the submission can be read" in done.output
