"""Downloads from Moodle, Brightspace, Canvas and Gradescope: every submission is found and belongs to its student."""

from pathlib import Path

import pytest

from autograder.exceptions import CommandError
from autograder.gradebook.rows import students
from autograder.submissions.exports import Listing, listing
from autograder.submissions.submission import Student, load
from autograder.tests.files import HOMEWORK, put, zipped
from autograder.tests.making import FIRST, MODULES, SECOND, WORK, Files, contents, keys, rubric_with

# A download: its files, its students, the files, time and lateness of each upload by the start of its key, and what is noted.
DOWNLOADS: dict[str, tuple[Files, list[Student], dict[str, tuple[dict[str, bytes], str, bool]], list[str]]] = {
    "a Moodle download of 4 submissions": (
        {
            f"Ada Weiß_700112_assignsubmission_file/{FIRST}": "a",
            "Ada Weiß_700112_assignsubmission_onlinetext/onlinetext.html": "<p>see the file</p>",
            f"Bela von_Brandt_700113_assignsubmission_file_/{FIRST}": "b",
            "Chidi_700114_assignsubmission_file/up.zip": zipped({FIRST: "c"}),
            f"Dana_700115_assignsubmission_file/{MODULES[0]} (1).py": "d",
            "notes/x.txt": "",
        },
        [Student(name, moodle=f"{700112 + n}") for n, name in enumerate(("Ada Weiß", "Bela von_Brandt", "Chidi", "Dana"))],
        {
            "Ada_Wei": ({FIRST: b"a"}, "", False), "Bela_von_Brandt": ({FIRST: b"b"}, "", False),
            "Chidi": ({FIRST: b"c"}, "", False), "Dana": ({f"{MODULES[0]} (1).py": b"d"}, "", False),
        },
        ["not graded: notes (not part of a Moodle download)"],
    ),
    "a Moodle download of 2 submissions": (
        {
            f"Ada Weiß_700112_assignsubmission_file_{FIRST}": "a",
            f"Ada Weiß_700112_assignsubmission_file_{SECOND}": "2",
            f"Bela von_Brandt_700113_assignsubmission_file_{FIRST}": "b",
            "notes.py": "",
        },
        [Student("Ada Weiß", moodle="700112"), Student("Bela von_Brandt", moodle="700113")],
        {"Ada_Wei": ({FIRST: b"a", SECOND: b"2"}, "", False), "Bela_von_Brandt": ({FIRST: b"b"}, "", False)},
        ["not graded: notes.py (not part of a Moodle download)"],
    ),
    "a Brightspace download of 4 submissions": (
        {
            f"39786-640693 - Ada Weiß - Oct 9, 2026 1022 AM/{FIRST}": "a",
            f"39786-640701 - Ada Weiß - Oct 10, 2026 912 PM/{FIRST}": "a again",
            f"39787-640694 - Bela - von Brandt - Oct 10, 2026 1200 AM/hw/{FIRST}": "b",
            f"39788-640695 - Chidi Costa - 10 oct. 2026 1200/{FIRST}": "named otherwise",
            "index.html": "<html>",
            SECOND: "",
        },
        [
            *[Student("Ada Weiß", brightspace="39786")] * 2, Student("Bela - von Brandt", brightspace="39787"),
            Student("Chidi Costa", brightspace="39788"),
        ],
        {
            "Ada_Wei_39786_640693": ({FIRST: b"a"}, "2026-10-09T08:22:00.000000Z", False),
            "Ada_Wei_39786_640701": ({FIRST: b"a again"}, "2026-10-10T19:12:00.000000Z", False),
            "Bela": ({FIRST: b"b"}, "2026-10-09T22:00:00.000000Z", False),
            "Chidi": ({FIRST: b"named otherwise"}, "", False),
        },
        [
            f"not graded: {SECOND} (not part of a Brightspace download)",
            "the time of submission cannot be read: Chidi Costa_39788_640695",
        ],
    ),
    "a Canvas download of 6 submissions": (
        {
            f"abelada_101_9001_{FIRST}": "old", f"abelada_101_9003_{MODULES[0]}-2.py": "newest",
            f"abelada_101_9002_{MODULES[0]}-1.py": "newer", f"abelada_101_9004_{SECOND}": "second",
            f"brandtbela_LATE_102_9005_{FIRST}": "late",
            "costachidi_103_9006_hw-3.zip": zipped({f"hw/{FIRST}": "zipped", SECOND: "of the zip"}),
            f"costachidi_103_9007_{SECOND}": "loose", "farahdana_104_text.html": "<p>sorry</p>",
            f"anon_a1B2c_9008_{FIRST}": "anonymous", f"gausscarl_105_9009_hw/hw/{FIRST}": "of a zip that was unpacked",
            "notes.py": "whose?",
        },
        [
            *(Student(name, canvas=number) for name, number in (("abelada", "101"), ("brandtbela", "102"), ("costachidi", "103"),
              ("farahdana", "104"), ("gausscarl", "105"))), Student("anon_a1B2c", sid="anon_a1B2c"),
        ],
        {
            "abelada_101": ({FIRST: b"newest", SECOND: b"second"}, "", False), "brandtbela_102": ({FIRST: b"late"}, "", True),
            "costachidi_103": ({FIRST: b"zipped", SECOND: b"loose", f"hw/{FIRST}": b"zipped"}, "", False),
            "farahdana_104": ({}, "", False),
            "anon_a1B2c": ({FIRST: b"anonymous"}, "", False),
            "gausscarl_105": ({FIRST: b"of a zip that was unpacked"}, "", False),
        },
        [
            "not graded: notes.py (not part of a Canvas download)",
            f"not graded, because a newer version of the file counts: abelada_101_9001_{FIRST}, abelada_101_9002_{MODULES[0]}-1.py",
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("place", ["hw", "hw.zip", "wrapped/hw"])
@pytest.mark.parametrize("form", DOWNLOADS)
def test_download_is_read_with_its_students_files_times_and_notes(tmp_path: Path, form: str, place: str) -> None:
    files, students, uploads, noted = DOWNLOADS[form]
    (tmp_path / "wrapped").mkdir()
    put(tmp_path / place, files)
    found = listing([tmp_path / place.removesuffix("/hw")], rubric_with(due="2026-10-09T23:59+02:00"))
    assert found.forms[0].endswith(form)
    assert sorted(map(repr, (entry.students for entry in found.entries))) == sorted(repr((one,)) for one in students)
    read = contents(found)
    for start, expected in uploads.items():
        (entry,) = [entry for entry in found.entries if entry.key.startswith(start)]
        assert (read[entry.key], entry.created_at, entry.late) == expected
    assert {note.partition(": ")[2] for note in found.problems} == {*noted}


def test_newest_of_two_brightspace_uploads_counts_and_times_are_utc_without_a_due_date(tmp_path: Path) -> None:
    files = DOWNLOADS["a Brightspace download of 4 submissions"][0]
    entries = listing([put(tmp_path, files)], HOMEWORK.rubric).entries
    ada, *_ = students(entries, [], HOMEWORK.rubric)
    assert (ada.entry, ada.other_uploads) == (entries[1], (entries[0],)) and entries[
        0
    ].created_at == "2026-10-09T10:22:00.000000Z"


def test_canvas_files_may_be_passed_individually(tmp_path: Path) -> None:
    put(tmp_path, DOWNLOADS["a Canvas download of 6 submissions"][0])
    found = listing(sorted(tmp_path.glob("*_*_*.py")), HOMEWORK.rubric)
    assert contents(found)["abelada_101"][FIRST] == b"newest"
    assert len(found.entries) == 3 + 1


@pytest.mark.parametrize(("name", "student", "file"), [
    (f"o_neilpat_7_8_{FIRST}", "o_neilpat_7", FIRST),
    ("müllerzoë_7_8_my_1_2_helper.py", "mullerzoe_7", "my_1_2_helper.py"),
    ("LATE_anon_Zz9_8_a-b-3.py", "anon_Zz9", "a-b.py"),
    ("x_7_8_data-1.csv", "x_7", "data-1.csv"),
])  # fmt: skip
def test_canvas_file_name_is_parsed(tmp_path: Path, name: str, student: str, file: str) -> None:
    found = contents(
        listing([put(tmp_path / "submissions", {name: "x", f"abelada_101_9_{FIRST}": "x"})], HOMEWORK.rubric)
    )
    assert found.pop("abelada_101") == {FIRST: b"x"}
    ((key, files),) = found.items()
    assert key.startswith(student) and list(files) == [file]


def test_odd_file_names_of_one_student_do_not_affect_the_class(tmp_path: Path) -> None:
    """Very long numbers, a backslash (which makes a folder), names that differ only in case, an instructor's folder."""
    names = (f"x-{'9' * 5000}.py", "a\\b.py", "\\c.py", FIRST, FIRST.title(), f"{'9' * 5000}_x.py")
    files: Files = {f"coxcy_103_{9000 + number}_{name}": name for number, name in enumerate(names)}
    files |= {f"abelada_101_9_{FIRST}": "ada", f"notes/{FIRST}": "", "notes/more.py": ""}
    found = listing([put(tmp_path / "submissions.zip", files)], HOMEWORK.rubric)
    ada, cy = (contents(found)[key] for key in ("abelada_101", "coxcy_103"))
    assert ada == {FIRST: b"ada"} and len(found.entries) == 2
    assert {FIRST, FIRST.title(), "a/b.py", "c.py"} <= {*cy} and cy[FIRST] == FIRST.encode()
    (note,) = found.problems
    assert note.endswith("submissions.zip: not graded: notes (not part of a Canvas download)")


METADATA = """\
submission_11:
  :submitters:
  - :name: Ada Abel
    :sid: 007
    :email: ada@example.org
  - :name: "=cmd()"
    :email: bela@example.org
  :created_at: 2025-09-01 10:00:00.123456789 -07:00
  :score: 3.0
  :status: processed
  :results: {}
  :history:
  - :id: 9
    :created_at: 2025-08-31 10:00:00 Z
submission_12: !ruby/object:Submission
  :submitters:
  - :name: No
  :created_at: nonsense
submission_99:
  :submitters:
  - :name: Gone
    :sid: null
"""
EXPORT: Files = {
    "submission_metadata.yml": METADATA, f"submission_9/{FIRST}": "old", f"submission_11/{FIRST}": "new",
    f"submission_12/assignments/{FIRST}": "x", f"submission_13/{FIRST}": "whose?",
}  # fmt: skip


@pytest.fixture(params=["folder", "inside", "zip", "zip without a folder"])
def export(tmp_path: Path, request: pytest.FixtureRequest) -> Listing:
    inside = request.param in ("inside", "zip")
    files = {(f"assignment_5_export/{name}" if inside else name): text for name, text in EXPORT.items()}
    return listing([put(tmp_path / ("export.zip" if "zip" in request.param else "export"), files)], HOMEWORK.rubric)


def test_gradescope_export_keeps_every_submission_and_names_groups(export: Listing) -> None:
    assert keys(export) == ["submission_9", "submission_11", "submission_12", "submission_13", "submission_99"]
    old, new, twelfth, unnamed, gone = export.entries
    assert contents(export)["submission_11"] == {FIRST: b"new"}
    assert contents(export)["submission_12"] == {FIRST: b"x"}
    assert new.students == (Student("Ada Abel", "007", "ada@example.org"), Student("=cmd()", "", "bela@example.org"))
    assert new.created_at == "2025-09-01T17:00:00.123456Z"
    assert (old.students, old.created_at) == (new.students, "2025-08-31T10:00:00.000000Z")  # from the history
    assert (twelfth.students, twelfth.created_at) == ((Student("No"),), "")
    assert unnamed.remark and [problem for problem in export.problems if "submission_13" in problem]
    with pytest.raises(CommandError, match="no folder"):
        load(gone, HOMEWORK.rubric)


@pytest.mark.parametrize("text", [
    "a: [", "- just\n- a list", "", "\x00", "submission_1: 5\nsubmission_2:\n  :submitters: no list",
    "submission_1: !!python/object/apply:os.mkdir [made]\n",
])  # fmt: skip
def test_malformed_metadata_loses_no_submission(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = {"submission_metadata.yml": text, f"submission_1/{FIRST}": "", f"submission_2/{FIRST}": ""}
    assert keys(listing([put(tmp_path / "export", files)], HOMEWORK.rubric)) == ["submission_1", "submission_2"]
    assert not Path("made").exists()


def test_damaged_file_in_an_export_affects_only_that_submission(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    for damaged in (FIRST, "up.zip"):
        path.write_bytes(zipped({**EXPORT, f"submission_11/{damaged}": "marked"}).replace(b"marked", b"harmed"))
        entries = {entry.key: entry for entry in listing([path], HOMEWORK.rubric).entries}
        with pytest.raises(CommandError, match=f"export.zip: .*{damaged} is damaged; download it again"):
            load(entries["submission_11"], HOMEWORK.rubric)
        assert load(entries["submission_12"], HOMEWORK.rubric).files


SECTION = {f"{name}_assignsubmission_file/{FIRST}": "" for name in ("Dora Dorn_700112", "Emil Erz_700113")}
IN_MALLORY, IN_EXPORT = "uploads/mallory/", "uploads/mallory/assignment_5_export/"
NOT_AN_EXPORT = {"submission_metadata.yml": METADATA, f"assignments/{SECOND}": "", f"submission_11/{FIRST}": ""}


@pytest.mark.parametrize(("paths", "places", "exports"), [
    (["hw1.zip"], {"hw1.zip/hw1/": EXPORT}, 1),
    (["hw1.zip"], {"hw1.zip/other/": EXPORT}, 0),
    (["x"], {"x/assignment_5_export/": EXPORT}, 1),
    (["x"], {"x/hw1/": EXPORT}, 0),
    (["x"], {"x/": NOT_AN_EXPORT}, 0),
    # If a student uploads the yml, it claims that the student's work is somebody else's newest submission.
    (["class"], {"class/ada/": EXPORT}, 0),
    (["uploads/ada", "uploads/mallory"], {"uploads/ada/": WORK, IN_MALLORY: EXPORT}, 0),
    (["uploads/ada", "uploads/mallory"], {"uploads/ada/": WORK, IN_EXPORT: EXPORT}, 0),
    # Exports of sections may have any name, but next to an upload only the one that Gradescope gives them.
    (["one", "two"], {"one/": EXPORT, "two/": EXPORT}, 2),
    (["assignment_5_export", "assignment_6_export.zip", "ada"],
     {"assignment_5_export/": EXPORT, "assignment_6_export.zip/": EXPORT, "ada/": WORK}, 2),
    (["one.zip", "two"], {"one.zip/": EXPORT, "two/": SECTION}, 1),
])  # fmt: skip
def test_metadata_is_trusted_only_where_gradescope_puts_it(
    tmp_path: Path, paths: list[str], places: dict[str, Files], exports: int
) -> None:
    for place, files in places.items():
        path, _, inside = place.partition("/")
        put(tmp_path / path, {f"{inside}{name}": text for name, text in files.items()})
    found = listing([tmp_path / path for path in paths], HOMEWORK.rubric)
    names = [student.name for entry in found.entries for student in entry.students]
    assert names.count("Ada Abel") == 2 * exports and names.count("Gone") == exports
    assert any("was ignored" in problem for problem in found.problems) is (exports == 0)
