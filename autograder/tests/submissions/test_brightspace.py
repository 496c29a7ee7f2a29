"""Brightspace's downloads: a folder for each upload, with a name and a time, on disk and in a zip."""

from pathlib import Path

import pytest

from autograder.gradebook.rows import uploaded
from autograder.homework import rubric
from autograder.submissions.exports import listing
from autograder.submissions.uploads import Student
from autograder.tests.files import put
from autograder.tests.making import FIRST, Files, contents, rubric_with

FOLDERS: Files = {
    f"39786-640693 - Ada Weiß - Oct 9, 2026 1022 AM/{FIRST}": "a",
    f"39786-640701 - Ada Weiß - Oct 10, 2026 912 PM/{FIRST}": "a again",
    f"39787-640694 - Bela - von Brandt - Oct 10, 2026 1200 AM/hw/{FIRST}": "b",
    f"39788-640695 - Chidi Costa - 10 oct. 2026 1200/{FIRST}": "named otherwise",
    "index.html": "<html>",
}


@pytest.mark.parametrize("place", ["hw", "hw.zip", "wrapped/hw"])
def test_folder_is_an_upload_of_a_student_with_a_time(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rubric, "current", lambda: rubric_with(due="2026-10-09T23:59+02:00"))
    (tmp_path / "wrapped").mkdir()
    put(tmp_path / place, FOLDERS)
    found = listing([tmp_path / place if "wrapped" not in place else tmp_path / "wrapped"])
    assert found.forms[0].endswith("a Brightspace download of 3 submissions")
    assert [(entry.students, entry.created_at) for entry in found.entries] == [
        ((Student("Ada Weiß", brightspace="39786"),), "2026-10-09T08:22:00.000000Z"),
        ((Student("Ada Weiß", brightspace="39786"),), "2026-10-10T19:12:00.000000Z"),
        ((Student("Bela - von Brandt", brightspace="39787"),), "2026-10-09T22:00:00.000000Z"),
    ]
    assert [contents(found)[entry.key] for entry in found.entries] == [
        {FIRST: b"a"},
        {FIRST: b"a again"},
        {FIRST: b"b"},
    ]
    (note,) = found.problems
    assert "Chidi Costa" in note and "not named as Brightspace names submissions" in note
    ada, _ = uploaded(found.entries)
    assert (ada.entry, ada.others) == (found.entries[1], (found.entries[0],))


def test_class_with_loose_code_is_none(tmp_path: Path) -> None:
    put(tmp_path / "class", FOLDERS | {FIRST: ""})
    assert listing([tmp_path / "class"]).forms[0].endswith("one submission")
