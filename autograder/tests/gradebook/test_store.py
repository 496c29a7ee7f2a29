"""Results are written whole or not at all, and read without looking at their prose."""

import errno
import json
import os
import time
from pathlib import Path

import pytest

from autograder.exceptions import ArgumentsError
from autograder.feedback import results
from autograder.gradebook.store import Store, grade_of, read_all, write_run
from autograder.tests.making import document

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
    assert read_all(tmp_path).keys() == read_all(tmp_path / "results").keys() == {"ada"}
    with pytest.raises(ArgumentsError, match="not a run"):
        read_all(tmp_path / "nowhere")


def test_remark_is_made_of_the_notes_as_data() -> None:
    entry = {"name": "a.b: c", "score": 0, "max_score": 1, "extra_data": {"criterion": "a.b", "misconceptions": []}}
    extra = {
        "layers": [],
        "submitted": [],
        "notes": [{"kind": "absent", "path": "a.py", "text": "There is no file a.py."}],
    }
    document = {"score": 0, "output": "- **prose**", "tests": [entry], "extra_data": extra}
    found = grade_of("ada", document, 0.0)
    assert (found.remark, found.empty) == ("no file a.py in the upload", "It contains no homework files.")


GIVEN = 0.5  # points that everybody gets, by `counts: full`


@pytest.mark.parametrize(
    ("score", "submitted", "notes", "empty"),
    [
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
    ],
)
def test_whether_an_upload_is_empty_depends_on_its_files_and_never_on_the_score(
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


@pytest.mark.parametrize("ids", [(), ("f.a",), ("f.a", "f.b")])
def test_misconceptions_are_read(ids: tuple[str, ...]) -> None:
    extra = {"criterion": "a.b", "misconceptions": list(ids)}
    entry = {"name": "a.b: c", "score": 0, "max_score": 1, "extra_data": extra}
    document = {"score": 0, "tests": [entry], "extra_data": {"layers": []}}
    assert grade_of("ada", document, 0.0).marks[0].misconceptions == ids
