"""Results are written whole or not at all, and read without looking at their prose."""

import errno
import json
import os
import time
from pathlib import Path

import pytest

from autograder.exceptions import ArgumentsError
from autograder.feedback import results
from autograder.gradebook.store import Outcome, Store, grade_of, read_run, write_run
from autograder.submissions.submission import Student, Upload
from autograder.tests.making import AWKWARD, document

STAMP = {"submission": "1", "kit": "2", "layers": ["fork"]}


def graded() -> dict[str, object]:
    return {**document(a=(1, 1)), "extra_data": {"layers": ["fork"]}}


def test_result_is_kept_as_long_as_all_that_it_depends_on_is_the_same(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write("ada", graded(), STAMP)
    assert store.keys() == {"ada"}
    found = store.kept("ada", STAMP)
    assert found is not None and found.score == 1
    for name in STAMP:
        assert store.kept("ada", {**STAMP, name: "other"}) is None


def test_write_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    store.write("ada", graded(), STAMP)
    before = store.path("ada").read_bytes()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="full"):
        store.write("ada", graded(), {**STAMP, "kit": "3"})
    assert [path.name for path in store.results.iterdir()] == ["ada.json"]
    assert store.path("ada").read_bytes() == before


def test_result_of_what_is_a_fault_now_is_set_aside(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.write("ada", graded(), STAMP)
    store.set_aside("ada")
    store.set_aside("nobody")
    assert store.keys() == set()
    assert json.loads((tmp_path / "earlier" / "ada.json").read_bytes())["tests"]


def test_half_written_files_of_old_runs_are_removed_and_those_of_today_are_not(tmp_path: Path) -> None:
    for name, age in ((".old.json.x", 7200), (".new.json.x", 0)):
        Store(tmp_path).results.joinpath(name).write_text("{")
        os.utime(tmp_path / "results" / name, (time.time() - age,) * 2)
    assert Store(tmp_path).keys() == set()
    assert [path.name for path in (tmp_path / "results").iterdir()] == [".new.json.x"]


def test_all_results_are_read_from_the_run_or_its_results(tmp_path: Path) -> None:
    Store(tmp_path).path("ada").write_text(results.dump(graded()))
    write_run(tmp_path, [], [])
    assert read_run(tmp_path).grades().keys() == read_run(tmp_path / "results").grades().keys() == {"ada"}
    with pytest.raises(ArgumentsError, match="not a run"):
        read_run(tmp_path / "nowhere")


def test_names_and_paths_come_back_as_they_were(tmp_path: Path) -> None:
    entries = [Upload(f"s{number}", None, (Student(name, email="a@b"),)) for number, name in enumerate(AWKWARD)]
    given = tmp_path / os.fsdecode(b"\xff")
    write_run(tmp_path, [given], entries)
    found = read_run(tmp_path)
    assert (found.students, found.paths) == ({entry.key: entry.students for entry in entries}, (given,))


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"students": {"a": [{"nonsense": 1}]}}'])
def test_run_file_of_something_else_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(ArgumentsError, match="not written by this kit"):
        read_run(tmp_path)


def test_names_are_those_of_the_roster_where_the_outcome_has_them(tmp_path: Path) -> None:
    entries = [Upload(key, None, (Student(key),)) for key in ("7", "8")]
    outcomes = tuple(Outcome("7", Student(name, sid="7"), 1.0) for name in ("Ada", "Bela"))
    write_run(tmp_path, [tmp_path], entries, outcomes)
    assert read_run(tmp_path).names == {"7": "Ada, Bela", "8": "8"}
    assert read_run(tmp_path).outcomes == outcomes


def test_remark_and_misconceptions_are_read_from_data() -> None:
    named = {"criterion": "a.b", "misconceptions": ["f.a", "f.b"]}
    entry = {"name": "a.b: c", "score": 0, "max_score": 1, "extra_data": named}
    note = {"kind": "absent", "path": "a.py", "text": "There is no file a.py."}
    extra = {"layers": [], "submitted": [], "notes": [note]}
    document = {"score": 0, "output": "- **prose**", "tests": [entry], "extra_data": extra}
    found = grade_of("ada", document, 0.0)
    assert (found.remark, found.empty) == ("no file a.py in the upload", "It contains no homework files.")
    assert found.marks[0].misconceptions == ("f.a", "f.b")


GIVEN = 0.5  # points that everybody gets, by `counts: full`


@pytest.mark.parametrize(("score", "submitted", "notes", "empty"), [
    (0, [], [("encrypted", "hw/a.py", "It is encrypted.")], "None of its files can be used. It is encrypted."),
    (0, [], [("archive", "hw.rar", "No zip."), ("absent", "a.py", "There is no file a.py.")], "No zip."),
    (0, [], [("blank", "a.py", "Blank.")], "Its homework files are blank."),
    (0, [], [("misnamed", "old/a.py", "Move it.")], ""),
    (0, ["a"], [("import", "a.py", "Line 1.")], ""),
    (0, ["a"], [("encrypted", "old/a.py", "It is encrypted.")], ""),
    (1, ["a"], [("encrypted", "old/a.py", "It is encrypted.")], ""),
    (GIVEN, [], [("encrypted", "hw/a.py", "It is encrypted.")], "None of its files can be used. It is encrypted."),
    (GIVEN, [], [("absent", "a.py", "There is no file a.py.")], "It contains no homework files."),
    (GIVEN, [], [], "It contains no homework files."),
    (GIVEN, ["a"], [("import", "a.py", "Line 1.")], ""),
])  # fmt: skip
def test_whether_an_upload_is_empty(
    score: float, submitted: list[str], notes: list[tuple[str, str, str]], empty: str
) -> None:
    made = document(**{"a.b": (score, 1)})
    made["extra_data"] |= {
        "submitted": submitted,
        "notes": [{"kind": kind, "path": path, "text": text} for kind, path, text in notes],
    }
    assert grade_of("ada", made, 0.0).empty == empty


def test_long_remark_is_cut_between_words() -> None:
    made = document(**{"a.b": (0, 1)})
    made["extra_data"]["notes"] = [{"kind": "large", "path": "x", "text": "word " * 200}]
    remark = grade_of("ada", made, 0.0).remark
    assert len(remark) <= 500
    assert remark.endswith("word ...")
