"""Results and run files are read back as they were written; grades come from data, not from message texts."""

import errno
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.exceptions import ArgumentsError
from autograder.feedback.results import Grade, Mark, TopNote, Unexplained
from autograder.gradebook.store import Outcome, Store, read_run, write_run
from autograder.submissions.submission import Student, Upload
from autograder.tests.making import AWKWARD, document


def test_result_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    """The file is ASCII, since control characters can steer a terminal."""
    grade = Grade(
        "ada",
        2.5,
        (Mark("a.b", "a.b: about", 2.5, 3, ("f.a",), "hidden", "x\x1b[31m\u202eb.py"), Mark("a.c", "a.c: about", 1, 1)),
        ("fork",),
        notes=(TopNote.of("import", "a.py", "`a.py` could not be imported: ", "x_y", ".", "a"),),
        submitted=("a",),
        unexplained=(Unexplained("f", "0f", ["a.b"], "def f(): pass\n", "f(1)"),),
        guesses=({"question": "q", "answer": "a", "right": True},),
    )
    stamp = {"submission": "1", "kit": "2", "layers": ["fork"]}
    written = Store(tmp_path).write(grade, stamp)
    assert Store(tmp_path).path("ada").read_text().isascii()
    found = Store(tmp_path).valid("ada", stamp)
    assert found is not None and replace(found, graded_at=0.0) == replace(written, graded_at=0.0) == grade
    assert Store(tmp_path).valid("ada", stamp | {"kit": "3"}) is None


def test_run_is_read_back_as_it_was_written_from_its_folder_or_that_of_its_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names come from the outcomes if there are any, else from the export. A path may have bytes that are not UTF-8."""
    entries = [Upload(f"s{number}", None, (Student(name, email="a@b"),)) for number, name in enumerate(AWKWARD)]
    outcomes = tuple(
        Outcome("s0", Student(name, sid="7"), 1.0, ("late",), (("total", 1.0),)) for name in ("Ada", "Bela")
    )
    Store(tmp_path).path("s0").write_text(json.dumps(document(a=(1, 1))))
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path, [tmp_path / os.fsdecode(b"\xff")], entries, outcomes, one_submission=True)
    for folder in (tmp_path, tmp_path / "results", Path("results")):
        found = read_run(folder)
        assert (found.students, found.outcomes) == ({entry.key: entry.students for entry in entries}, outcomes)
        assert (found.paths, found.one_submission) == ((tmp_path / os.fsdecode(b"\xff"),), True)
        assert (found.names["s0"], found.names["s1"]) == ("Ada, Bela", AWKWARD[1]) and found.grades().keys() == {"s0"}


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"students": {"a": [{"nonsense": 1}]}}'])
def test_foreign_run_file_is_rejected(tmp_path: Path, content: str) -> None:
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(ArgumentsError, match="not written by this kit"):
        read_run(tmp_path)


def test_folder_without_a_run_or_a_result_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        ArgumentsError, match=f"^{tmp_path}: not a run: it has no run.json; give the OUT of `autograder grade"
    ):
        read_run(tmp_path)
    write_run(tmp_path, [], [])
    with pytest.raises(ArgumentsError, match=f"^{tmp_path}: there are no results in it$"):
        read_run(tmp_path).grades()
    Store(tmp_path).set_aside("nobody")
    assert not (tmp_path / "earlier").exists()


def test_folder_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path, **_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(Path, "mkdir", fail)
    said = f"-o {tmp_path}.*: {os.strerror(errno.EROFS)}; use a folder that you may write to$"
    with pytest.raises(ArgumentsError, match=said):
        Store(tmp_path)


def grade_with_notes(submitted: list[str], *notes: tuple[str, str, str]) -> Grade:
    """The grade of an upload with these modules and notes (kind, path and text)."""
    made = document(**{"a.b": (0, 1)})
    made["tests"][0]["extra_data"]["misconceptions"] = ["f.a", "f.b"]
    told = [{"kind": kind, "path": path, "text": text} for kind, path, text in notes]
    made["extra_data"] |= {"submitted": submitted, "notes": told}
    return Grade.from_gradescope("ada", made, 0.0)


def test_remark_and_misconceptions_are_read_from_data() -> None:
    found = grade_with_notes([], ("absent", "a.py", "There is no file a.py."))
    assert found.remark == "no file a.py in the upload"
    assert found.marks[0].misconceptions == ("f.a", "f.b")
    long = grade_with_notes(["a"], ("large", "x", "word " * 200)).remark
    assert len(long) <= 500 and long.endswith("word ...")


@pytest.mark.parametrize(("submitted", "notes", "empty"), [
    ([], [("encrypted", "hw/a.py", "It is encrypted.")], "None of its files can be used. It is encrypted."),
    ([], [("archive", "hw.rar", "No zip."), ("absent", "a.py", "There is no file a.py.")], "No zip."),
    ([], [("blank", "a.py", "Blank.")], "Its homework files are blank."),
    ([], [("misnamed", "old/a.py", "Move it.")], ""),
    ([], [("absent", "a.py", "There is no file a.py.")], "It contains no homework files."),
    ([], [], "It contains no homework files."),
    (["a"], [("import", "a.py", "Line 1.")], ""),
    (["a"], [("encrypted", "old/a.py", "It is encrypted.")], ""),
])  # fmt: skip
def test_reason_why_an_upload_is_empty(submitted: list[str], notes: list[tuple[str, str, str]], empty: str) -> None:
    assert grade_with_notes(submitted, *notes).empty == empty
