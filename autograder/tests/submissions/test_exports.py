"""File names decide the kind of an upload, nothing is skipped without a note, and keys are safe file names."""

import json
import random
import re
import zipfile
from pathlib import Path

import pytest

from autograder.exceptions import ArgumentsError, CommandError
from autograder.sandbox.process import Limits
from autograder.submissions.exports import RESERVED, keyed, listing
from autograder.submissions.submission import Upload, load
from autograder.submissions.tree import of_folder
from autograder.tests.files import HOMEWORK, put, put_special, zipped
from autograder.tests.making import FIRST, MODULES, SECOND, WORK, Files, as_nobody, contents, keys, limited


def test_files_passed_together_form_one_submission(tmp_path: Path) -> None:
    first, second = (put(tmp_path / "ada", {FIRST: "a", SECOND: "b"}) / name for name in (FIRST, SECOND))
    assert contents(listing([first, second], HOMEWORK.rubric)) == {"ada": {FIRST: b"a", SECOND: b"b"}}
    assert contents(listing([first, first.parent / "." / FIRST], HOMEWORK.rubric)) == {MODULES[0]: {FIRST: b"a"}}


@pytest.mark.parametrize(("files", "why"), [
    *(({"ada.zip": data}, "ada.zip: .*download it again") for data in (b"no zip", b"")),
    ({"ada.zip": b"PK\5\6" + bytes(18)}, "ada.zip: .*empty"),
    ({"bela/": ""}, "bela: .*it is empty"),
    ({"notes.txt": "text"}, "notes.txt: neither a folder nor a .zip nor a .py file"),
    ({"work.ipynb": "{}"}, "work.ipynb: neither a folder"),
    ({"nowhere": None}, "nowhere: No such file"),
    ({f"ada/{FIRST}": "", f"bela/{FIRST}": ""}, "give their folders"),
])  # fmt: skip
def test_path_without_a_submission_is_rejected_with_advice(
    tmp_path: Path, files: dict[str, str | bytes | None], why: str
) -> None:
    put(tmp_path, {name: content for name, content in files.items() if content is not None})
    with pytest.raises(ArgumentsError, match=why):
        listing([tmp_path / name for name in files], HOMEWORK.rubric)


def test_damaged_file_in_a_single_students_zip_gets_a_note(tmp_path: Path) -> None:
    (tmp_path / "ada.zip").write_bytes(zipped({FIRST: "marked", SECOND: "2"}).replace(b"marked", b"harmed", 1))
    submission = load(listing([tmp_path / "ada.zip"], HOMEWORK.rubric).entries[0], HOMEWORK.rubric)
    assert submission.files == {SECOND: b"2"} and [note.kind for note in submission.notes] == ["damaged"]


def test_students_with_equal_names_in_two_sections_stay_separate(tmp_path: Path) -> None:
    put(tmp_path, {f"one/ada/{FIRST}": "1", f"one/bela/{FIRST}": "", f"two/Ada/{FIRST}": "2", f"two/bela/{FIRST}": ""})
    found = listing([tmp_path / "one", tmp_path / "two"], HOMEWORK.rubric)
    assert [entry.section for entry in found.entries] == ["one", "one", "two", "two"]
    assert len({key.lower() for key in keys(found)}) == 4
    adas = [files[FIRST] for key, files in contents(found).items() if key.lower().startswith("ada")]
    assert sorted(adas) == [b"1", b"2"]


def test_skipped_items_of_a_class_are_reported(tmp_path: Path) -> None:
    """A zip that is a link is reported as a problem; its student does not get a 0."""
    put(tmp_path / "class", {f"ada/{FIRST}": "", f"bela/{FIRST}": "", f".chidi/{FIRST}": ""})
    put_special(tmp_path / "class" / "dana", "link", tmp_path / "class" / "ada")
    put_special(tmp_path / "class" / "emil.zip", "device", tmp_path)
    found = listing([tmp_path / "class"], HOMEWORK.rubric)
    assert [(entry.key, entry.problem) for entry in found.entries] == [
        ("ada", ""), ("bela", ""), ("emil", "emil.zip is a link or a device, which is never followed"),
    ]  # fmt: skip
    for problem in (".chidi (its name starts with a dot)", "dana (a link or a device, which is never followed)"):
        assert any(said.endswith(f"not graded: {problem}") for said in found.problems)


@pytest.mark.parametrize(("files", "expected"), [
    ({FIRST: "", "submission_metadata.yml": ""}, "one submission"),
    ({"submission_metadata.yml": "", f"submission_1/{FIRST}": ""}, "a Gradescope export of 1 submission"),
    ({"submission_metadata.yml": "", f"elsewhere/{FIRST}": ""}, "a folder of 1 submission"),
    ({FIRST: "", f"old/{SECOND}": "", "old.zip": b"", "assignments/readme.txt": ""}, "one submission"),
    ({f"assignments/{FIRST}": "", "checks/test_a.py": "", "notes/thoughts.txt": ""}, "one submission"),
    ({f"ada/{FIRST}": ""}, "a folder of 1 submission"),
    ({f"ada_1_2_{FIRST}": ""}, "a Canvas download of 1 submission"),
    ({FIRST: "", f"ada_1_2_{FIRST}": "", f"bo_3_4_{SECOND}": ""}, "a Canvas download of 2 submissions"),
    ({f"ada_1_2_{FIRST}": "", f"ada/{FIRST}": "", f"bela/{FIRST}": ""}, "a folder of 2 submissions"),
    ({"ada/sent/hw.zip": "", "bela/sent/hw.zip": "", "chidi/readme.md": ""}, "a folder of 3 submissions"),
    ({"ada/LayerNorm (1).py": "", "bela/final.py": ""}, "a folder of 2 submissions"),
    ({f"solutions/{FIRST}": "", f"ada/{SECOND}": ""}, "one submission"),
    ({"notes.txt": ""}, "one submission"),
])  # fmt: skip
def test_kind_of_upload_is_detected_in_a_fixed_order(tmp_path: Path, files: Files, expected: str) -> None:
    assert listing([put(tmp_path, files)], HOMEWORK.rubric).forms == (f"{tmp_path}: {expected}",)


# In each form, the start of the names of a student's files, and of another student's.
FORMS = {
    "folders": ("ada/", "evil/"),
    "wrapped": ("all/class/ada/", "all/class/evil/"),
    "Gradescope": ("assignment_1_export/submission_1/", "assignment_1_export/submission_2/"),
    "Moodle": ("Ada_7_assignsubmission_file/", "Evil_8_assignsubmission_file/"),
    "flat Moodle": ("Ada_7_assignsubmission_file_", "Evil_8_assignsubmission_file_"),
    "Brightspace": ("1-2 - Ada - Oct 1, 2025 1022 AM/", "3-4 - Evil - Oct 1, 2025 1022 AM/"),
    "Canvas": ("ada_7_1_", "evil_8_2_"),
    "folder in Canvas": ("ada_7_1_", "evil_8_2_hw/"),
}
BOMB = zipped({"large.py": bytes(60 * 2**20)}, zipfile.ZIP_DEFLATED)


@pytest.mark.parametrize("place", ["class", "class.zip"])
@pytest.mark.parametrize("form", FORMS)
def test_upload_with_many_names_and_bombs_costs_only_itself(tmp_path: Path, form: str, place: str) -> None:
    ada, evil = FORMS[form]
    files: dict[str, str | bytes] = {f"{ada}{FIRST}": "a", f"{evil}{'d/' * 30}x.py": ""}
    files |= {f"{evil}{number:03d}.txt": "" for number in range(150)} | {f"{evil}{n}.zip": BOMB for n in range(3)}
    if form == "Gradescope":
        files |= {"assignment_1_export/submission_metadata.yml": ""}
    if place == "class.zip":
        files |= {f"{evil}bomb.py": bytes(60 * 2**20)}
        (tmp_path / place).write_bytes(zipped(files, zipfile.ZIP_DEFLATED))
    else:
        put(tmp_path / place, files)
    read = [
        load(entry, limited(Limits(upload_mb=1, upload_files=5)))
        for entry in listing([tmp_path / place], HOMEWORK.rubric).entries
    ]
    (honest,) = [submission for submission in read if submission.files == {FIRST: b"a"}]
    (other,) = [submission for submission in read if submission is not honest]
    assert honest.notes == () and "many" in [note.kind for note in other.refused]


ZIP = zipped(WORK)
ANN = {f"ann/{FIRST}": ""}
GRADESCOPE: Files = {"submission_metadata.yml": "", f"submission_1/{FIRST}": ""}
MOODLE: Files = {f"{who}_assignsubmission_file/{FIRST}": "" for who in ("Ann Lee_7", "Carl Orr_8", "Dora Lu_9")}
CANVAS: Files = {f"annlee_7_9001_{FIRST}": "", f"orrcarl_8_9002_{FIRST}": ""}


@pytest.mark.parametrize(("files", "rows", "noted"), [
    *(({"ann.zip": ZIP, "carl.zip": ZIP, f"bob{end}": b"?"}, "ann bob carl", "") for end in (".tar.gz", ".rar",
     ".7z")),
    ({"ann.zip": ZIP, "bob.TGZ": b"?", "carl.tar.xz": b"?"}, "ann bob carl", ""),
    (ANN | {"bob/hw.tar.gz": b"?"}, "ann bob", ""),
    (ANN | {"bob/hw.ipynb": "{}"}, "ann bob", ""),
    (ANN | {"bob.tar.gz": b"?"}, "ann bob", ""),
    (ANN | {f"carl/{FIRST}": "", "bob/essay.pdf": "", "dora/": ""}, "ann bob carl dora", ""),
    ({"ann.zip": ZIP, "carl.zip": ZIP, "bob.ipynb": "", "bob.pdf": "", "bob.py": "", "bob": ""}, "ann carl",
     "bob.ipynb bob.pdf bob.py bob"),
    ({"ann.zip": ZIP, f"carl/{FIRST}": "", "tests/hw.zip": ZIP, "venv/x.py": ""}, "ann carl", "tests venv"),
    (ANN | {f"carl/{FIRST}": "", f"solutions/{FIRST}": "", "checks/x.py": ""}, "ann carl", "solutions checks"),
    ({f"class/{name}": "" for name in (*ANN, f"carl/{FIRST}")} | {"bob.rar": b"?", "a.csv": ""}, "ann carl",
     "bob.rar a.csv"),
    (GRADESCOPE | {"bob.zip": ZIP, "bob.txt": ""}, "submission_1", "bob.zip bob.txt"),
    (MOODLE | {"bob.rar": b"?", "bob/hw.pdf": ""}, "Ann_Lee_7 Carl_Orr_8 Dora_Lu_9", "bob.rar bob"),
    (CANVAS | {"bob.rar": b"?", "bob/hw.pdf": "", "bob.csv": ""}, "annlee_7 orrcarl_8", "bob.rar bob bob.csv"),
    (CANVAS | {"boblow_9_9003_hw.rar": b"?"}, "annlee_7 boblow_9 orrcarl_8", ""),
])  # fmt: skip
def test_every_item_in_a_class_becomes_a_row_or_is_noted(tmp_path: Path, files: Files, rows: str, noted: str) -> None:
    litter: Files = {"__MACOSX/ann/._x.py": "", ".DS_Store": "", "._bob.zip": "", "Thumbs.db": "", "desktop.ini": ""}
    for place in ("class", "class.zip"):
        if place == "class.zip" and (len(rows.split()) == 1 or "bob/hw.ipynb" in files):
            continue  # a zip with the work of one student is that student's submission
        found = listing(
            [put(tmp_path / place, files | (litter if "submission_1/" not in str(files) else {}))], HOMEWORK.rubric
        )
        assert sorted(re.sub("-[0-9a-f]{8}$", "", key) for key in keys(found)) == rows.split()
        notes = [note.partition("not graded: ")[2].split(" (")[0] for note in found.problems if "not graded" in note]
        assert {name for names in notes for name in names.split(", ")} == set(noted.split())


@pytest.mark.parametrize("out", ["", "out", "results/out", "../class/out"])
def test_results_folder_inside_a_graded_path_is_rejected(tmp_path: Path, out: str) -> None:
    put(tmp_path / "class", {f"ada/{FIRST}": "", f"bela/{FIRST}": ""})
    with pytest.raises(ArgumentsError, match=r"^-o .* is inside .*class, which is graded; use a folder outside it"):
        listing([tmp_path / "class"], HOMEWORK.rubric, tmp_path / "class" / out)
    assert keys(listing([tmp_path / "class"], HOMEWORK.rubric, tmp_path / "out")) == ["ada", "bela"]


HOSTILE = ["../../etc/passwd", "con", "NUL.txt", ".hidden", "a/b", "", "李", "a\0b", "-rf", "x" * 300]


@pytest.mark.parametrize("seed", range(40))
def test_keys_are_safe_stable_and_never_collide(seed: int) -> None:
    chance = random.Random(seed)
    letters = chance.choice(["aA", "aAb.-_", "con.AUX1", "a/\\.:\0\n", "éÉe李\u202e🧮", "ﬁnﬁ"])
    names = ["".join(chance.choices(letters, k=chance.choice([0, 1, 2, 5, 90]))) for _ in range(12)] + HOSTILE
    entries = [Upload(name, of_folder(Path(f"{number}/x"))) for number, name in enumerate(names)]
    found = [entry.key for entry in keyed(entries)]
    assert found == [entry.key for entry in keyed(entries)]
    assert len({key.lower() for key in found}) == len(names)
    for key in found:
        assert key.isascii() and key.replace("_", "").replace("-", "").replace(".", "").isalnum()
        assert key[0] not in ".-" and key[-1] not in ". " and len(key) < 100
        assert key.lower().split(".")[0] not in RESERVED
    plain = ["alice", "submission_123", "Bob-2", "a.b"]
    assert [entry.key for entry in keyed(map(Upload, plain))] == plain


def test_unreadable_folder_affects_only_that_submission() -> None:
    with as_nobody() as folder:
        put(folder, {f"ada/{FIRST}": "1", f"bela/{FIRST}": "1"})
        (folder / "ada").chmod(0)
        found = listing([folder], HOMEWORK.rubric)
        assert keys(found) == ["ada", "bela"]
        with pytest.raises(CommandError, match="ada"):
            load(found.entries[0], HOMEWORK.rubric)
        assert load(found.entries[1], HOMEWORK.rubric).files
        with pytest.raises(ArgumentsError, match="ermission"):
            listing([folder / "ada"], HOMEWORK.rubric)


@pytest.mark.parametrize("place", ["up", "up.zip"])
def test_note_on_a_lone_notebook_lists_its_homework_functions(tmp_path: Path, place: str) -> None:
    own = next(iter(HOMEWORK.rubric.modules.values())).functions
    cells = [{"source": [f"def {name}(x):\n", "    pass"]} for name in ("plotted", *own, "test_it")]
    put(tmp_path / place, {"a.ipynb": json.dumps({"cells": cells}), "b.ipynb": "{}"})
    (entry,) = listing([tmp_path / place], HOMEWORK.rubric, one_submission=True).entries
    (note,) = load(entry, HOMEWORK.rubric).notes
    assert (note.kind, note.path, note.target) == ("notebook", "a.ipynb", ", ".join(own))
