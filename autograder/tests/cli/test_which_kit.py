"""Which kit grades is said where it is not the one of the folder."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli.main import main, other_kit
from autograder.homework import kit


def clone(folder: Path) -> Path:
    for name in ("solutions", "autograder"):
        (folder / name).mkdir(parents=True)
    for name in ("rubric.yaml", "pyproject.toml"):
        (folder / name).write_text("")
    return folder


def test_other_clone_is_named_with_what_to_do(tmp_path: Path) -> None:
    inside = clone(tmp_path / "second") / "solutions"
    line = other_kit(inside)
    assert str(kit.rubric_file()) in line
    assert f"pip install -e {tmp_path / 'second'}" in line


def test_nothing_is_said_in_the_own_clone_or_elsewhere(tmp_path: Path) -> None:
    assert other_kit(kit.home()) == ""
    assert other_kit(kit.solutions()) == ""
    assert other_kit(tmp_path) == ""


def test_commands_that_grade_say_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(clone(tmp_path / "second"))
    said = CliRunner().invoke(main, ["grade", "nowhere", "-o", "out"]).stderr
    assert said.startswith("note: this uses ")
    assert "note:" not in CliRunner().invoke(main, ["compare", "nowhere", "nowhere"]).stderr
