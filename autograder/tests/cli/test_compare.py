"""`autograder compare` prints what differs, and refuses what is no run."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli.main import main
from autograder.gradebook.store import Outcome
from autograder.submissions.uploads import Student
from autograder.tests.making import document, run


def test_compare_command_prints_both_tables(tmp_path: Path) -> None:
    old = run(tmp_path / "old", ada=document(a=(1, 1), b=(0, 1)), bela=document(a=(1, 1), b=(1, 1)))
    new = run(tmp_path / "new", ada=document(a=(0, 1), b=(1, 1)), bela=document(a=(0, 1), b=(1, 1)))
    done = CliRunner().invoke(main, ["compare", str(old), str(new)])
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert done.exit_code == 0
    assert lines[0] == "Students in both runs: 2; 2 differ, 1 in their total."
    assert "a 0 2 1" in lines
    assert "bela =bela 2 1 -1 a -1" in lines
    assert not any(line.startswith("ada ") for line in lines)  # in the page and the csv, since the total is the same
    assert lines[-1] == "Full comparison: " + str(new / "compare.html") + " and compare.csv"


def test_no_name_steers_the_terminal(tmp_path: Path) -> None:
    absent = Outcome("", Student("\x1b]0;owned\x07\u202eevil", email="eve@x"), 0.0, ())
    ada = Outcome("ada", Student("Ada", email="ada@x"), 1.0, ())
    run(tmp_path / "old", [ada, absent], ada=document(a=(1, 1)))
    run(tmp_path / "new", [ada], ada=document(a=(1, 1)))
    done = CliRunner().invoke(main, ["compare", str(tmp_path / "old"), str(tmp_path / "new")])
    assert "evil" in done.stdout and all(line.isprintable() for line in done.stdout.splitlines())


def test_totals_that_differ_for_another_reason_are_printed(tmp_path: Path) -> None:
    ada = Student("Ada", email="ada@x")
    for place, total, reasons in (("old", 1.0, ()), ("new", 0.5, ("1 d late, 0.5 points deducted",))):
        run(tmp_path / place, [Outcome("s1", ada, total, reasons)], s1=document(a=(1, 1)))
    done = CliRunner().invoke(main, ["compare", str(tmp_path / "old"), str(tmp_path / "new")])
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[0] == "Students in both runs: 1; 1 differ, 1 in their total."
    assert "s1 Ada 1 0.5 -0.5 -0.5 (was: nothing; now: 1 d late, 0.5 points deducted)" in lines


@pytest.mark.parametrize("command", ["compare", "similar"])
def test_what_is_no_run_is_refused_with_one_line(tmp_path: Path, command: str) -> None:
    real = run(tmp_path / "real", ada=document(a=(1, 1)))
    (tmp_path / "other").mkdir()
    shutil.copy(real / "results" / "ada.json", tmp_path / "other")
    places = [str(real), str(tmp_path / "other")] if command == "compare" else [str(tmp_path / "other")]
    done = CliRunner().invoke(main, [command, *places])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "other: not a run: it has no run.json; give the OUT of `autograder grade" in done.stderr
