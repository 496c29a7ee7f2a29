"""What a path holds is recognised by names alone, nothing is lost, and every key is a safe file name."""

import io
import os
import random
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from autograder.homework import rubric as rubrics
from autograder.intake import canvas
from autograder.intake.entries import RESERVED, Entry, Source, Student, keyed, load, merged, safe_key
from autograder.intake.exports import Listing, UnusableError, listing
from autograder.intake.submission import Submission, UnreadableError

MODULES = list(rubrics.current().modules)
FIRST, SECOND = f"{MODULES[0]}.py", f"{MODULES[1]}.py"
Files = dict[str, str | bytes]
WORK = {FIRST: "x = 1\n"}
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
EXPORT = {
    "submission_metadata.yml": METADATA,
    f"submission_9/{FIRST}": "old",
    f"submission_11/{FIRST}": "new",
    f"submission_12/assignments/{FIRST}": "x",
    f"submission_13/{FIRST}": "whose?",
}


def put(place: Path, files: Mapping[str, str | bytes]) -> Path:
    """Files in a folder, or in a zip if the name of the place ends so."""
    if place.suffix == ".zip":
        with zipfile.ZipFile(place, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return place
    for name, content in files.items():
        target = place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
    return place


def zipped(files: Mapping[str, str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def contents(found: Listing) -> dict[str, dict[str, bytes]]:
    """The files of every submission by key, read as the grader reads them."""
    limits = rubrics.current().limits
    return {entry.key: load(entry, limits).files for entry in found.entries if not entry.problem}


def keys(found: Listing) -> list[str]:
    return [entry.key for entry in found.entries]


# Single submissions


@pytest.mark.parametrize("inner", ["", "assignments/"])
@pytest.mark.parametrize("place", ["ada.zip", "ada"])
def test_single_submission_may_lie_deeper(tmp_path: Path, place: str, inner: str) -> None:
    files = {
        f"{inner}{FIRST}": "x = 1\n",
        f"{inner}{SECOND}": "y = 1\n",
        f"{inner}checks/test_x.py": "",
        "README.md": "",
    }
    found = listing([put(tmp_path / place, files)])
    assert [set(files) for files in contents(found).values()] == [{FIRST, SECOND}]


def test_submission_with_modules_and_folders_of_its_own_is_one(tmp_path: Path) -> None:
    files: Files = {
        FIRST: "",
        f"old/{FIRST}": "",
        f"backup/{FIRST}": "",
        "old.zip": b"",
        "assignments/readme.txt": "",
    }
    assert keys(listing([put(tmp_path / "ada", files)])) == ["ada"]


def test_kit_folder_beside_checks_is_one_submission(tmp_path: Path) -> None:
    files = {f"assignments/{FIRST}": "", "checks/test_a.py": "", "notes/thoughts.txt": ""}
    assert keys(listing([put(tmp_path / "ada", files)])) == ["ada"]


def test_files_given_together_are_one_submission(tmp_path: Path) -> None:
    put(tmp_path / "ada", {FIRST: "a", SECOND: "b"})
    found = listing([tmp_path / "ada" / FIRST, tmp_path / "ada" / SECOND])
    assert contents(found) == {"ada": {FIRST: b"a", SECOND: b"b"}}


def test_one_file_is_a_submission(tmp_path: Path) -> None:
    put(tmp_path, WORK)
    assert contents(listing([tmp_path / FIRST])) == {MODULES[0]: {FIRST: b"x = 1\n"}}


def test_files_of_one_name_are_refused_with_the_way_out(tmp_path: Path) -> None:
    put(tmp_path, {f"ada/{FIRST}": "", f"bela/{FIRST}": ""})
    with pytest.raises(UnusableError, match="give the folders"):
        listing([tmp_path / "ada" / FIRST, tmp_path / "bela" / FIRST])


def test_zip_that_is_none_is_a_submission_that_says_so(tmp_path: Path) -> None:
    put(tmp_path, {"ada.zip": b"no zip", "x": b""})
    found = listing([tmp_path / "ada.zip"])
    assert "not a zip" in load(found.entries[0], rubrics.current().limits).notes[0]


@pytest.mark.parametrize("name", ["nowhere", "notes.txt", "work.ipynb"])
def test_other_paths_are_refused_by_name(tmp_path: Path, name: str) -> None:
    if name != "nowhere":
        put(tmp_path, {name: "text"})
    with pytest.raises(UnusableError, match=name):
        listing([tmp_path / name])


def test_same_path_twice_is_graded_once(tmp_path: Path) -> None:
    put(tmp_path / "ada", WORK)
    assert keys(listing([tmp_path / "ada", tmp_path / "." / "ada"])) == ["ada"]


# A class


@pytest.mark.parametrize("place", ["class", "class.zip"])
def test_folder_of_folders_and_zips_is_a_class(tmp_path: Path, place: str) -> None:
    files: Files = {
        f"ada/{FIRST}": "a",
        f"bela/assignments/{FIRST}": "b",
        "chidi/hw.zip": zipped({f"hw/{FIRST}": "c"}),
        "dana.zip": zipped({FIRST: "d"}),
        "emil/essay.pdf": "not python",
        "__MACOSX/ada/x.py": "",
        "solutions/layernorm.py": "",
        "README.md": "",
    }
    found = contents(listing([put(tmp_path / place, files)]))
    assert {key: dict(files) for key, files in found.items()} == {
        "ada": {FIRST: b"a"},
        "bela": {FIRST: b"b"},
        "chidi": {FIRST: b"c"},
        "dana": {FIRST: b"d"},
        "emil": {},
    }


def test_class_of_which_nobody_has_the_names_right_is_still_a_class(tmp_path: Path) -> None:
    put(tmp_path / "class", {"ada/LayerNorm (1).py": "", "bela/final.py": ""})
    assert keys(listing([tmp_path / "class"])) == ["ada", "bela"]


def test_class_of_one(tmp_path: Path) -> None:
    put(tmp_path / "class", {f"ada/{FIRST}": ""})
    assert keys(listing([tmp_path / "class"])) == ["ada"]


def test_folder_around_a_class_is_seen_through(tmp_path: Path) -> None:
    put(tmp_path / "downloads", {f"class/ada/{FIRST}": "", f"class/bela/{FIRST}": ""})
    assert keys(listing([tmp_path / "downloads"])) == ["ada", "bela"]


def test_loose_file_in_a_class_is_pointed_out(tmp_path: Path) -> None:
    put(tmp_path / "class", {f"ada/{FIRST}": "", f"bela/{FIRST}": "", "rename.py": ""})
    found = listing([tmp_path / "class"])
    assert keys(found) == ["ada", "bela"]
    assert "rename.py" in found.problems[0]


def test_sections_given_together_keep_their_students_apart(tmp_path: Path) -> None:
    put(
        tmp_path,
        {f"one/ada/{FIRST}": "1", f"one/bela/{FIRST}": "", f"two/Ada/{FIRST}": "2", f"two/bela/{FIRST}": ""},
    )
    found = listing([tmp_path / "one", tmp_path / "two"])
    assert len({key.lower() for key in keys(found)}) == 4
    assert sorted(files[FIRST] for key, files in contents(found).items() if key.lower().startswith("ada")) == [
        b"1",
        b"2",
    ]


@pytest.fixture
def nobody() -> Iterator[Path]:
    """A folder of a user who may not read everything, and this process as that user."""
    if os.name == "nt":
        pytest.skip("Windows has other permissions")
    root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as folder:
        if root:
            os.chown(folder, 65534, 65534)
            os.seteuid(65534)
        try:
            yield Path(folder)
        finally:
            if root:
                os.seteuid(0)


def test_folder_that_cannot_be_read_is_that_submissions_fault_alone(nobody: Path) -> None:
    put(nobody, {f"ada/{FIRST}": "", f"bela/{FIRST}": ""})
    (nobody / "ada").chmod(0)
    found = listing([nobody])
    assert keys(found) == ["ada", "bela"]
    with pytest.raises(UnreadableError, match="ada"):
        load(found.entries[0], rubrics.current().limits)
    assert load(found.entries[1], rubrics.current().limits).files


def test_class_that_cannot_be_read_is_refused_with_the_reason(nobody: Path) -> None:
    put(nobody / "class", {f"ada/{FIRST}": ""})
    (nobody / "class").chmod(0)
    with pytest.raises(UnusableError, match="ermission"):
        listing([nobody / "class"])


# Gradescope


@pytest.fixture(params=["folder", "inside", "zip", "zip without a folder"])
def export(tmp_path: Path, request: pytest.FixtureRequest) -> Listing:
    inside = request.param in ("inside", "zip")
    files = {(f"assignment_5_export/{name}" if inside else name): text for name, text in EXPORT.items()}
    return listing([put(tmp_path / ("export.zip" if "zip" in request.param else "export"), files)])


def test_export_loses_nobody(export: Listing) -> None:
    assert keys(export) == [
        "submission_9",
        "submission_11",
        "submission_12",
        "submission_13",
        "submission_99",
    ]
    assert contents(export)["submission_11"] == {FIRST: b"new"}
    assert contents(export)["submission_12"] == {FIRST: b"x"}


def test_export_names_groups_and_missing_parts(export: Listing) -> None:
    entries = {entry.key: entry for entry in export.entries}
    assert entries["submission_11"].students == (
        Student("Ada Abel", "007", "ada@example.org"),
        Student("=cmd()", "", "bela@example.org"),
    )
    assert entries["submission_12"].students == (Student("No"),)
    assert entries["submission_11"].created_at == "2025-09-01T17:00:00.123456Z"
    assert entries["submission_12"].created_at == ""


def test_earlier_submission_of_a_history_belongs_to_the_same_students(export: Listing) -> None:
    entries = {entry.key: entry for entry in export.entries}
    assert entries["submission_9"].students == entries["submission_11"].students
    assert entries["submission_9"].created_at < entries["submission_11"].created_at


def test_export_points_out_what_does_not_fit(export: Listing) -> None:
    entries = {entry.key: entry for entry in export.entries}
    assert "no folder" in entries["submission_99"].problem
    with pytest.raises(UnreadableError, match="no folder"):
        load(entries["submission_99"], rubrics.current().limits)
    assert [problem for problem in export.problems if "submission_13" in problem]
    assert entries["submission_13"].remark


@pytest.mark.parametrize(
    "text", ["a: [", "- just\n- a list", "", "\x00", "submission_1: 5\nsubmission_2:\n  :submitters: no list"]
)
def test_metadata_of_any_form_costs_no_submission(tmp_path: Path, text: str) -> None:
    put(tmp_path, {"submission_metadata.yml": text, f"submission_1/{FIRST}": "", f"submission_2/{FIRST}": ""})
    assert keys(listing([tmp_path])) == ["submission_1", "submission_2"]


def test_metadata_never_makes_objects(tmp_path: Path) -> None:
    text = "submission_1: !!python/object/apply:os.mkdir [made]\n"
    put(tmp_path, {"submission_metadata.yml": text, f"submission_1/{FIRST}": ""})
    listing([tmp_path])
    assert not (tmp_path / "made").exists()
    assert not Path("made").exists()


def test_damaged_file_in_an_export_is_a_fault_of_that_submission(tmp_path: Path) -> None:
    path = put(tmp_path / "export.zip", {**EXPORT, f"submission_11/{FIRST}": "marked content " * 50})
    data = bytearray(path.read_bytes())
    data[data.index(b"marked content")] ^= 1
    path.write_bytes(data)
    entries = {entry.key: entry for entry in listing([path]).entries}
    with pytest.raises(UnreadableError, match="damaged"):
        load(entries["submission_11"], rubrics.current().limits)
    assert load(entries["submission_12"], rubrics.current().limits).files


def test_paths_that_lead_out_of_a_zip_are_not_followed(tmp_path: Path) -> None:
    files = {**EXPORT, "submission_11/../../out.py": "x", "submission_11/a\\..\\..\\out.py": "x"}
    found = listing([put(tmp_path / "export.zip", files)])
    notes = load(next(e for e in found.entries if e.key == "submission_11"), rubrics.current().limits).notes
    assert any("leads out" in note for note in notes)
    assert not list(tmp_path.rglob("out.py"))


def test_too_large_a_file_is_refused_without_being_unpacked(tmp_path: Path) -> None:
    limits = rubrics.current().limits
    files = {**EXPORT, f"submission_11/{FIRST}": "#" * (limits.upload_mb * 2**20 + 5)}
    entry = next(e for e in listing([put(tmp_path / "export.zip", files)]).entries if e.key == "submission_11")
    assert any("too large" in note for note in load(entry, limits).notes)


# Canvas

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
    (entry,), _ = canvas.entries([(name, Source(Path(name), name))])
    assert student is None or entry.key == student
    assert entry.sources[0].name == file


# Keys


@pytest.mark.parametrize("seed", range(40))
def test_keys_are_safe_stable_and_never_collide(seed: int) -> None:
    chance = random.Random(seed)
    letters = chance.choice(["aA", "aAb.-_", "con.AUX1", "a/\\.:\0\n", "éÉe李\u202e🧮", "ﬁnﬁ"])
    names = ["".join(chance.choices(letters, k=chance.choice([0, 1, 2, 5, 90]))) for _ in range(12)]
    entries = [Entry(name, (Source(Path(f"{number}/x")),)) for number, name in enumerate(names)]
    found = [entry.key for entry in keyed(entries)]
    assert found == [entry.key for entry in keyed(entries)]
    assert len({key.lower() for key in found}) == len(names)
    for key in found:
        assert key.isascii() and key.replace("_", "").replace("-", "").replace(".", "").isalnum()
        assert key[0] not in ".-" and key[-1] not in ". " and len(key) < 100
        assert key.lower().split(".")[0] not in RESERVED


@pytest.mark.parametrize("name", ["alice", "submission_123", "Bob-2", "a.b"])
def test_plain_names_stay_as_they_are(name: str) -> None:
    assert safe_key(name) == name


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "con", "NUL.txt", ".hidden", "a/b", "", "李", "a\0b", "-rf", "x" * 300]
)
def test_other_names_get_a_digest(name: str) -> None:
    assert safe_key(name) != name


def test_merging_prefers_loose_files_and_keeps_every_note() -> None:
    one = Submission("a", {"x.py": b"1", "y.py": b"1"}, ("one",))
    two = Submission("a", {"x.py": b"2"}, ("two",))
    found = merged([one, two], "a", ("three",))
    assert found.files == {"x.py": b"2", "y.py": b"1"}
    assert set(found.notes) == {"one", "two", "three"}


# Where the results go


def test_results_beside_the_submissions_are_no_submission(tmp_path: Path) -> None:
    put(tmp_path, {f"ada/{FIRST}": "", f"bela/{FIRST}": "", "out/results/ada.json": "{}", "out/old.zip": b""})
    assert keys(listing([tmp_path], tmp_path / "out")) == ["ada", "bela"]


def test_results_inside_a_submission_are_refused(tmp_path: Path) -> None:
    put(tmp_path, WORK)
    with pytest.raises(UnusableError, match="into the submission"):
        listing([tmp_path], tmp_path / "results" / "out")


def test_name_that_is_not_unicode_reaches_no_output(tmp_path: Path) -> None:
    """On Linux a folder's name may be any bytes."""
    if os.name != "posix":
        pytest.skip("names are Unicode here")
    os.mkdir(os.fsencode(tmp_path) + b"/\xff\xfe")
    put(tmp_path / os.fsdecode(b"\xff\xfe"), WORK)
    (entry,) = listing([tmp_path]).entries
    assert entry.key.isascii()
    assert load(entry, rubrics.current().limits).files == {FIRST: b"x = 1\n"}
