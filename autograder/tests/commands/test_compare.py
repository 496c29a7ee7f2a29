"""`autograder compare` prints what differs, and refuses what is no run."""

from pathlib import Path

from click.testing import CliRunner

from autograder.commands.main import main
from autograder.tests.cohort.making import document, run


def test_compare_command_prints_both_tables(tmp_path: Path) -> None:
    old = run(tmp_path / "old", ada=document(a=(1, 1), b=(0, 1)), bela=document(a=(1, 1), b=(1, 1)))
    new = run(tmp_path / "new", ada=document(a=(0, 1), b=(1, 1)), bela=document(a=(0, 1), b=(1, 1)))
    done = CliRunner().invoke(main, ["compare", str(old), str(new)])
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert done.exit_code == 0
    assert lines[0] == "2 submissions are in both runs; 2 differ, 1 in their total."
    assert "a 0 2 1" in lines
    assert "bela =bela 2 1 -1 a -1" in lines
    assert "ada =ada 1 1 0 a -1, b +1" in lines


def test_compare_command_refuses_a_folder_without_results(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["compare", str(tmp_path), str(tmp_path)])
    assert (done.exit_code, "no results" in done.stderr) == (2, True)
