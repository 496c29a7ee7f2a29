"""run.json: names are kept as data, whatever they are."""

import os
from pathlib import Path

import pytest

from autograder.exceptions import ArgumentsError
from autograder.gradebook import store
from autograder.submissions.uploads import Student, Upload
from autograder.tests.making import AWKWARD


def test_names_and_paths_come_back_as_they_were(tmp_path: Path) -> None:
    entries = [Upload(f"s{number}", None, (Student(name, email="a@b"),)) for number, name in enumerate(AWKWARD)]
    given = tmp_path / os.fsdecode(b"\xff")
    store.write_run(tmp_path, [given], entries)
    assert store.students(tmp_path) == {entry.key: entry.students for entry in entries}
    assert store.run_paths(tmp_path) == [given]


@pytest.mark.parametrize("content", [None, "", "[]", "{}", '{"students": {"a": [{"nonsense": 1}]}}'])
def test_without_a_usable_file_nobody_is_known(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    assert store.students(tmp_path) == {}
    with pytest.raises(ArgumentsError):
        store.run_paths(tmp_path)


def test_names_are_those_of_the_roster_where_the_outcome_has_them(tmp_path: Path) -> None:
    entries = [Upload(key, None, (Student(key),)) for key in ("7", "8")]
    outcomes = [store.Outcome("7", Student(name, sid="7"), 1.0) for name in ("Ada", "Bela")]
    store.write_run(tmp_path, [tmp_path], entries, outcomes)
    assert store.names(tmp_path) == {"7": "Ada, Bela", "8": "8"}
    assert store.outcomes(tmp_path) == outcomes
