"""`autograder grade`, run again with nothing changed, starts no worker."""

from pathlib import Path
from typing import NoReturn

import pytest
from click.testing import CliRunner

from autograder.cli.main import main
from autograder.gradebook.pool import Pool
from autograder.homework import reference


def test_the_same_run_again_starts_no_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "class" / "ada"
    folder.mkdir(parents=True)
    (folder / "layernorm.py").write_bytes(reference.files()["layernorm.py"])
    command = ["grade", str(tmp_path / "class"), "-o", str(tmp_path / "out"), "--jobs", "1"]
    first = CliRunner().invoke(main, command)
    assert first.exit_code == 0 and "Starting the workers" in first.output
    result = (tmp_path / "out" / "results" / "ada.json").read_bytes()

    def refused(*_: object) -> NoReturn:
        raise AssertionError("work was given to a worker")

    monkeypatch.setattr(Pool, "submit", refused)
    again = CliRunner().invoke(main, command)
    assert again.exit_code == 0 and "Starting the workers" not in again.output
    assert "1 graded (1 unchanged since an earlier run)" in again.output
    assert (tmp_path / "out" / "results" / "ada.json").read_bytes() == result
