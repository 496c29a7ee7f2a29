"""Canvas's downloads: names are taken apart, the newest version of a file counts."""

from pathlib import Path

import pytest

from autograder.submissions import platforms
from autograder.submissions.exports import listing
from autograder.submissions.tree import Source
from autograder.tests.files import put, zipped
from autograder.tests.making import FIRST, MODULES, SECOND, Files, contents

DOWNLOAD: Files = {
    f"abelada_101_9001_{FIRST}": "old",
    f"abelada_101_9003_{MODULES[0]}-2.py": "newest",
    f"abelada_101_9002_{MODULES[0]}-1.py": "newer",
    f"abelada_101_9004_{SECOND}": "second",
    f"brandtbela_LATE_102_9005_{FIRST}": "late",
    "costachidi_103_9006_hw-3.zip": zipped({f"hw/{FIRST}": "zipped", SECOND: "of the zip"}),
    f"costachidi_103_9007_{SECOND}": "loose",
    "farahdana_104_text.html": "<p>sorry</p>",
    f"anon_a1B2c_9008_{FIRST}": "anonymous",
    "notes.py": "whose?",
}


@pytest.mark.parametrize("place", ["submissions", "submissions.zip"])
def test_canvas_download(tmp_path: Path, place: str) -> None:
    found = listing([put(tmp_path / place, DOWNLOAD)])
    entries = {entry.students[0].name: entry for entry in found.entries}
    files = contents(found)
    assert {name: entry.students[0].canvas for name, entry in entries.items()} == {
        "abelada": "101", "brandtbela": "102", "costachidi": "103", "farahdana": "104", "anon_a1B2c": "",
    }  # fmt: skip
    assert files["abelada_101"] == {FIRST: b"newest", SECOND: b"second"}
    assert files["costachidi_103"][SECOND] == b"loose"
    assert files["farahdana_104"] == {}
    assert [name for name, entry in entries.items() if entry.late] == ["brandtbela"]
    assert any("notes.py" in problem for problem in found.problems)


def test_files_named_by_canvas_may_be_given_one_by_one(tmp_path: Path) -> None:
    put(tmp_path, DOWNLOAD)
    found = listing(sorted(tmp_path.glob("*_*_*.py")))
    assert contents(found)["abelada_101"][FIRST] == b"newest"
    assert len(found.entries) == 3 + 1


@pytest.mark.parametrize(
    ("name", "student", "file"),
    [
        (f"o_neilpat_7_8_{FIRST}", "o_neilpat_7", FIRST),
        ("müllerzoë_7_8_my_1_2_helper.py", None, "my_1_2_helper.py"),
        ("LATE_anon_Zz9_8_a-b-3.py", "anon_Zz9", "a-b.py"),
        ("x_7_8_data-1.csv", "x_7", "data-1.csv"),
    ],
)
def test_canvas_name_is_taken_apart(name: str, student: str | None, file: str) -> None:
    (entry,) = platforms.canvas_uploads({name: Source(0)}, Path())
    assert student is None or entry.key == student
    assert entry.upload is not None
    assert list(entry.upload.files) == [file]


def test_no_name_of_one_student_costs_the_class_anything(tmp_path: Path) -> None:
    """Digits without end, a backslash (which makes a folder), names that differ in case only; and a folder of the instructor."""
    names = (f"x-{'9' * 5000}.py", "a\\b.py", "\\c.py", FIRST, FIRST.title(), f"{'9' * 5000}_x.py")
    files: Files = {f"coxcy_103_{9000 + number}_{name}": name for number, name in enumerate(names)}
    files |= {f"abelada_101_9_{FIRST}": "ada", f"notes/{FIRST}": "", "notes/more.py": ""}
    found = listing([put(tmp_path / "submissions.zip", files)])
    every = contents(found)
    assert every["abelada_101"] == {FIRST: b"ada"} and len(every) == 2
    assert {FIRST, FIRST.title(), "a/b.py", "c.py"} <= {*every["coxcy_103"]} and every["coxcy_103"][
        FIRST
    ] == FIRST.encode()
    (note,) = found.problems
    assert note.endswith("submissions.zip: not graded: notes (not named as Canvas names files)")


def test_a_zip_of_a_canvas_download_may_have_been_unpacked(tmp_path: Path) -> None:
    put(tmp_path, DOWNLOAD | {f"gausscarl_105_9009_hw/hw/{FIRST}": "unpacked"})
    assert contents(listing([tmp_path]))["gausscarl_105"] == {FIRST: b"unpacked"}
