"""The commands are all there, and start without what they do not need."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.audit import audit, cases
from autograder.cli.main import main
from autograder.gradebook import pool
from autograder.homework import kit, rubric


def test_every_command_has_its_help() -> None:
    assert {"audit", "build", "compare", "demo", "doctor", "grade", "rehearse"} <= set(main.commands)
    for name, command in main.commands.items():
        done = CliRunner().invoke(main, [name, "--help"])
        assert done.exit_code == 0
        assert command.help


def test_module_that_the_rubric_does_not_have_is_refused_with_those_that_it_has() -> None:
    done = CliRunner().invoke(main, ["audit", "--only", "nosuch"])
    assert done.exit_code == 2
    assert f"'nosuch'; known modules: {next(iter(rubric.current().modules))}" in done.stderr


@pytest.mark.slow
def test_audit_with_a_rubric_that_does_not_fit_the_suites_is_one_line(tmp_path: Path) -> None:
    """In a copy of the kit, since the rubric is read once in each process."""
    skipped = shutil.ignore_patterns("__pycache__", "tests", "docs")
    shutil.copytree(kit.PACKAGE, tmp_path / "autograder", ignore=skipped)
    shutil.copytree(kit.solutions(), tmp_path / "solutions")
    text = kit.rubric_file().read_text(encoding="utf-8")
    first = next(iter(rubric.current().criteria)).partition(".")[2]
    (tmp_path / "rubric.yaml").write_text(text.replace(f"      {first}:", "      untested:", 1), encoding="utf-8")
    command = [sys.executable, "-m", "autograder", "audit"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "untested: no test names this criterion" in done.stderr
    assert done.stderr.startswith("autograder: ")
    assert len(done.stderr.splitlines()) <= 2


def test_audit_of_one_module_says_how_many_alternatives_contain_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "run", lambda *_: [])
    monkeypatch.setattr(pool, "check", lambda: None)
    first, questions = next(iter(rubric.current().modules)), list(rubric.current().modules)[-1]
    number = len(cases.alternatives())
    said = CliRunner().invoke(main, ["audit", "--only", f"{first},{questions}"]).stdout
    assert f"\n{number} of {number} alternatives contain {first}.py\n" in said
    assert f"\n0 of {number} alternatives contain {questions}.py: nothing shows that" in said
