"""Error messages and exit codes of all commands, and the options of `audit` and `doctor`."""

import contextlib
import errno
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from autograder.audit import audit, cases, public
from autograder.audit.audit import PairVerdict
from autograder.audit.cases import Case, GradedCall, Row
from autograder.audit.public import Detection
from autograder.cli import doctor
from autograder.cli import grade as commands
from autograder.cli.main import Commands, main
from autograder.exceptions import ArgumentsError, CommandError, SandboxError
from autograder.gradebook import sample
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
    for number, more in ((100, []), (180, ["... and 80 more lines"])):
        lines = [f"rubric.yaml:{at}: wrong" for at in range(number)]
        said = run_failing_command(CommandError("\n".join(lines))).stderr
        assert said.splitlines() == [f"autograder: {lines[0]}", *lines[1:100], *more]


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


MODULES = f"known modules: {', '.join(HOMEWORK.rubric.modules)}"


@pytest.mark.parametrize(("words", "said"), [
    ("audit public --only layer_norm", f"Error: Invalid value: there is no module 'layer_norm'; {MODULES}"),
    ("audit tolerances --only layernorm,layer_norm", f"Error: Invalid value: there is no module 'layer_norm'; {MODULES}"),
    ("audit --only layer_norm,no", f"Error: Invalid value: there is no module, function or misconception 'no'; {MODULES}"),
    ("audit mutants --only layernorm", "Error: `audit mutants` covers all modules and cannot be combined with --only"),
    ("audit mutants --rows rows.json", "Error: `audit mutants` writes no rows: leave out --rows and --against"),
    ("audit public --against rows.json", "Error: `audit public` writes no rows: leave out --rows and --against"),
    ("learn", "Error: give the OUT folder of a run, or --accept FILE"),
    ("learn out --accept draft.txt", "Error: give the OUT folder of a run, or --accept FILE"),
    ("new", "autograder: give the name of a module, or --homework DIR for a new homework"),
    ("new fit --title Fitting", "autograder: --title is for a new homework: give --homework as well"),
    ("grade . -o a/../out --late-days out/late-days.csv", "autograder: out/late-days.csv: this run writes that file; give the "
     "late days left before this homework"),
])  # fmt: skip
def test_arguments_that_do_not_fit_are_one_line(words: str, said: str) -> None:
    done = CliRunner().invoke(main, words.split())
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (2, said)


FIRST, SECOND = HOMEWORK.of_module("layernorm")[:2]
DETECTION = Detection(FIRST, ("test_one",), "named")
PAIRS = [PairVerdict(made(WRONG), what, what.upper()) for what in ("both", "masked", "wrong")]
DEVIATIONS = {
    GradedCall("layernorm", "test_a", 3, "float64", 1e-6, "layernorm.statistics"): 2e-6,
    GradedCall("layernorm", "test_b", 1, "float32", 1e-4): 2e-3,
}


def returning(value: Any) -> Callable[..., Any]:
    return lambda *_, **__: value


COMMANDS: list[tuple[str, dict[str, Any], int, str]] = [
    ("audit mutants --jobs 2", {"audit.mutants.report": lambda _, jobs: jobs}, 2, ""),
    ("audit public --only layernorm --jobs 2", {"audit.public.run": lambda _, only, jobs: [DETECTION] * (only == ["layernorm"])},
     0, "\n".join([*public.lines([DETECTION]), ""])),
    ("audit pairs", {"audit.cases.pairs": returning([WRONG] * 3), "audit.cases.each": returning(iter(PAIRS))}, 1,
     "\n".join([*audit.pair_lines(PAIRS), f"PROBLEM {PAIRS[2]}", "1 problem.", ""])),
    ("audit pairs", {"audit.cases.pairs": returning([WRONG]), "audit.cases.each": returning(iter(PAIRS[:1]))}, 0,
     "\n".join([*audit.pair_lines(PAIRS[:1]), "No problems.", ""])),
    ("build", {"release.build.build": lambda *values: [values[1], *map(str, values[3:])]}, 0, "dist\nTrue\nFalse\nNone\n"),
    ("build -o out --pyodide files", {"release.build.build": lambda *values: values[4:], "release.site.notebook.is_installed":
     lambda: True}, 0, "True\nfiles\n"),
    ("new fit", {"release.drafts.add": lambda _, name: [Path("a.py"), name]}, 0, (
        "a.py\nfit\n\nReplace the text of the draft; `autograder build` names the lines that are left.\n"
        "Then: autograder build; autograder grade solutions -o dist/graded; autograder audit --only fit\n")),
    *((f"new {name} --homework folder", {"release.drafts.new_homework": lambda *values: values}, 0, (
        f"{(Path('folder'), name or 'centred_rows', '')}\n\n"
        "It is complete: run these commands there, then replace its module with your own.\n"
        "autograder build; autograder grade solutions -o dist/graded; autograder audit\n")) for name in ("", "fit")),
    ("rehearse a.zip ada", {"release.rehearsal.rehearse": lambda *values: values, "release.rehearsal.report": lambda done:
     map(str, done)}, 0, "Running the zip's setup.sh, which installs Python and packages ...\na.zip\nada\nFalse\n"),
    ("learn --accept a.txt", {"audit.learning.accept": lambda _, file: file}, 0,
     "a.txt updated. Next: autograder build, then autograder audit\n"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "patches", "status", "printed"), COMMANDS)
def test_command_prints_what_its_function_returns(
    monkeypatch: pytest.MonkeyPatch, words: str, patches: dict[str, Any], status: int, printed: str
) -> None:
    for name, function in patches.items():
        monkeypatch.setattr(f"autograder.{name}", function)
    done = CliRunner().invoke(main, words.split())
    assert (done.exit_code, done.output) == (status, printed)


@pytest.mark.parametrize("status", [0, 1])
def test_demo_builds_grades_the_sample_class_and_lists_the_next_steps(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, status: int
) -> None:
    @click.command()
    @click.argument("paths")
    @click.option("--out")
    @click.option("--fresh")
    @click.option("--jobs", default="1")
    def grade(**values: Any) -> None:
        click.echo(str(values))
        raise SystemExit(status)

    monkeypatch.setattr("autograder.release.build.build", lambda *_, **more: click.echo(str(more)))
    monkeypatch.setattr(commands, "grade", grade)
    done = CliRunner().invoke(main, ["demo", "-o", str(tmp_path)])
    values = {"paths": (tmp_path / "sample",), "out": tmp_path / "graded", "fresh": True, "jobs": "1"}
    assert (done.exit_code, done.stdout) == (
        status,
        f"""\
{{'check': False, 'with_site': True}}
{values}

Next steps
  1. open the class report in a browser: {tmp_path}/graded/report.html
  2. give this to students: {tmp_path}/student.zip
  3. or let them work in a browser: publish this folder, or try it with python -m http.server -d: {tmp_path}/site
  4. upload this to Gradescope: {tmp_path}/autograder.zip
""",
    )
    assert {path.name for path in (tmp_path / "sample").iterdir()} == sample.students(HOMEWORK).keys()


def test_audit_of_tolerances_prints_the_margins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.release.build.wrong_versions", returning(["a wrong version"]))
    monkeypatch.setattr("autograder.release.build.wrong_docstrings", returning(["a wrong docstring"]))
    row = Row(Case("alternative", "loops"), {}, deviations=DEVIATIONS)
    monkeypatch.setattr(cases, "cases", returning([row.case]))
    monkeypatch.setattr(audit, "run", returning([row, replace(BEFORE, deviations=DEVIATIONS)]))
    monkeypatch.setattr(audit, "problems", lambda *_, complete: [f"a problem, complete: {complete}"])
    done = CliRunner().invoke(main, ["audit", "tolerances", "--only", "layernorm"])
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    start = lines.index("check dtype correct, at most tolerance wrong, at least")
    assert done.exit_code == 1 and lines[start + 1 :] == [
        "layernorm test_a #3 float64 2.0e-06 1e-06 2.0e-06",
        "layernorm test_b #1 float32 2.0e-03 1e-04 none is wrong",
        "PROBLEM a wrong docstring", "PROBLEM a wrong version", "PROBLEM a problem, complete: True",
        "PROBLEM layernorm, test_a: correct solutions exhaust the tolerance",
        "PROBLEM layernorm, test_b: correct solutions exhaust the tolerance",
        "PROBLEM layer_norm.sample_variance: no result deviates by ten times the tolerance", "6 problems.",
    ]  # fmt: skip


POSSIBLE: dict[str, set[str]] = {  # what a process can do without a layer, on any machine
    "fork": set(),
    "session": {"stayed in the grader's session"},
    "limits": {"wrote a file of 1 GB", "has endless processor time"},
    "user": {"runs as root", "became root again"},
    "no_new_privileges": {"may gain rights"},
    "landlock": {"read the kit", "read /proc", "wrote outside its folder"},
    "seccomp": {"opened a socket", "started a process", "signalled the fork server"},
    "not_dumpable": set(),  # the kernel may protect memory by itself
}


def test_doctor_reports_every_layer_as_working_or_missing() -> None:
    found = doctor.diagnose()
    assert list(found) == list(layers.NAMES) == [*POSSIBLE]
    for layer, (state, why) in found.items():
        assert state == ("works" if layer in layers.holding() else "missing"), layer
        assert doctor.MEANS[layer] in why or state == "missing" or layer == "fork"
        if layer in layers.holding():
            assert POSSIBLE[layer] <= {*map(str, doctor.attempt(layer, ())[0].value)}, layer


def test_doctor_names_a_sandbox_that_cannot_be_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise SandboxError("no room")

    monkeypatch.setattr(doctor, "attempt", fail)
    assert {doctor.diagnose()[layer] for layer in layers.holding()} == {("fails", "no room")}


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
