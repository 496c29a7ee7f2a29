"""Moodle's downloads: a student and an id, in folders and flat, on disk and in a zip."""

from pathlib import Path

import pytest

from autograder.submissions.exports import listing
from autograder.submissions.uploads import Student
from autograder.tests.files import put, zipped
from autograder.tests.making import FIRST, MODULES, SECOND, Files, contents

FOLDERS: Files = {
    f"Ada Weiß_700112_assignsubmission_file/{FIRST}": "a",
    f"Ada Weiß_700112_assignsubmission_file/hw/{SECOND}": "not beside the first",
    "Ada Weiß_700112_assignsubmission_onlinetext/onlinetext.html": "<p>see the file</p>",
    f"Bela von_Brandt_700113_assignsubmission_file_/{FIRST}": "b",
    "Chidi_700114_assignsubmission_file/up.zip": zipped({FIRST: "c"}),
    f"Dana_700115_assignsubmission_file/{MODULES[0]} (1).py": "d",
    "notes/x.txt": "",
}
FLAT: Files = {
    f"Ada Weiß_700112_assignsubmission_file_{FIRST}": "a",
    f"Ada Weiß_700112_assignsubmission_file_{SECOND}": "2",
    f"Bela von_Brandt_700113_assignsubmission_file_{FIRST}": "b",
    "notes.py": "",
}


@pytest.mark.parametrize("place", ["moodle", "moodle.zip", "wrapped/moodle"])
def test_folder_is_a_student_and_an_id(tmp_path: Path, place: str) -> None:
    (tmp_path / "wrapped").mkdir()
    put(tmp_path / place, FOLDERS)
    found = listing([tmp_path / place if "wrapped" not in place else tmp_path / "wrapped"])
    assert found.forms[0].endswith("a Moodle download of 4 submissions")
    by_id = {entry.students[0].moodle: entry for entry in found.entries}
    assert {number: entry.students for number, entry in by_id.items()} == {
        "700112": (Student("Ada Weiß", moodle="700112"),),
        "700113": (Student("Bela von_Brandt", moodle="700113"),),
        "700114": (Student("Chidi", moodle="700114"),),
        "700115": (Student("Dana", moodle="700115"),),
    }
    files = {number: contents(found)[entry.key] for number, entry in by_id.items()}
    assert files["700112"][FIRST] == b"a"
    assert files["700113"] == {FIRST: b"b"}
    assert files["700114"] == {FIRST: b"c"}
    assert files["700115"] == {f"{MODULES[0]} (1).py": b"d"}
    assert [problem for problem in found.problems if "notes" in problem]


def test_flat_download_is_put_together_by_id(tmp_path: Path) -> None:
    found = listing([put(tmp_path / "moodle.zip", FLAT)])
    assert {entry.students[0].name: contents(found)[entry.key] for entry in found.entries} == {
        "Ada Weiß": {FIRST: b"a", SECOND: b"2"},
        "Bela von_Brandt": {FIRST: b"b"},
    }
    (note,) = found.problems
    assert note.endswith("moodle.zip: not graded: notes.py (not named as Moodle names submissions)")
