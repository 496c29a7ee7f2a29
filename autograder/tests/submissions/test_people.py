"""Nobody vanishes: in every form of download, each person has a row or is named in a note or in the error."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.exceptions import ArgumentsError
from autograder.gradebook.rows import students
from autograder.submissions import platforms
from autograder.submissions.exports import listing
from autograder.submissions.submission import Student, load
from autograder.submissions.tree import of_folder
from autograder.tests.files import HOMEWORK, put, zipped
from autograder.tests.making import FIRST, MODULES, SECOND, Files

SEED = 20261128  # of the mixtures
STUB = "".join(f"def {function}():\n    pass\n" for function in HOMEWORK.rubric.modules[MODULES[0]].functions)
DONE = STUB.replace("pass", "return 1")
Form = Callable[[str, int], Files]
NO_BREAK = "\u202f"  # newer libraries write it between a time and PM

# The files of a person in each form; the name is one word, and occurs in the names of the files.
FORMS: dict[str, Form] = {
    "folders": lambda name, n: {f"{name}/{FIRST}": name},
    "zips": lambda name, n: {f"{name}.zip": zipped({f"hw/{FIRST}": name})},
    "zips in zips": lambda name, n: {f"{name}.zip": zipped({"hw.zip": zipped({FIRST: name}), "__MACOSX/._hw.zip": ""})},
    "Moodle": lambda name, n: {f"{name} Weiß_{n}_assignsubmission_file/{FIRST}": name},
    "flat Moodle": lambda name, n: {f"{name} Weiß_{n}_assignsubmission_file_{FIRST}": name},
    "Brightspace": lambda name, n: {f"{n}-{n} - {name} - Nov 18, 2026 905{NO_BREAK}PM/{FIRST}": name},
    "flat Brightspace": lambda name, n: {f"{n}-{n} - {name} - Nov 18, 2026 905 PM - {FIRST}": name},
    "French Brightspace": lambda name, n: {f"{n}-{n} - {name} - 18 nov. 2026 2105/{FIRST}": name},
    "Blackboard": lambda name, n: {
        f"Homework_3_{name}_attempt_2026-11-17-10-22-33.txt": f"Name: {name}",
        f"Homework_3_{name}_attempt_2026-11-17-10-22-33_{FIRST}": name,
    },
    "Autolab": lambda name, n: {f"{name}@example.edu_1_{FIRST}": name},
    "Canvas": lambda name, n: {f"{name}_{n}_{n}_{FIRST}": name},
    "Canvas quiz": lambda name, n: {f"abel_{name}{n}_question_55_{n}_{FIRST}": name},
    "Google Classroom": lambda name, n: {f"{name} Abel - {FIRST}": name},
    "Schoology": lambda name, n: {f"Abel, {name}/Revision 1 - On Time/{FIRST}": name},
    "Teams": lambda name, n: {f"{name} Abel/Homework 3/Version 1/{FIRST}": name},
    "Submitty": lambda name, n: {f"{name}/1/{FIRST}": name, f"{name}/user_assignment_settings.json": "{}"},
    "prefixes": lambda name, n: {f"{name}_{FIRST}": name},
    "suffixes": lambda name, n: {f"{MODULES[0]}_{name}.py": name},
    "suffixes of one module each": lambda name, n: {f"{MODULES[n % len(MODULES)]}-{name}.py": name},
    "other names": lambda name, n: {f"{name}.py": f"# {name}\n{STUB}"},
    "notebooks": lambda name, n: {f"{name}.ipynb": "{}"},
    "sections": lambda name, n: {f"section{n % 2}/{name}/{FIRST}": name},
}
READ = [form for form in FORMS if form not in (
    "prefixes", "suffixes", "suffixes of one module each", "other names", "notebooks", "sections")]  # fmt: skip
NAMES = ["ada", "bela", "chidi", "dora", "emil", "fay"]


def people(form: str, *names: str) -> Files:
    return {file: text for name in names for file, text in FORMS[form](name, 101 + NAMES.index(name)).items()}


def accounted(path: Path) -> str:
    """The names of all rows, and every note; or the error."""
    try:
        found = listing([path], HOMEWORK.rubric)
    except ArgumentsError as error:
        return str(error)
    rows = students(found.entries, [], HOMEWORK.rubric)
    return "\n".join([*(row.student.name for row in rows), *found.problems])


@pytest.mark.parametrize("place", ["class", "class.zip"])
@pytest.mark.parametrize("form", READ)
def test_each_form_has_a_row_for_each_person(tmp_path: Path, form: str, place: str) -> None:
    names = NAMES[:4]
    found = listing([put(tmp_path / place, people(form, *names))], HOMEWORK.rubric)
    rows = students(found.entries, [], HOMEWORK.rubric)
    assert len(rows) == len(names) and not [problem for problem in found.problems if "time of" not in problem]
    for name, row in zip(sorted(names), sorted(rows, key=lambda row: row.student.name), strict=True):
        assert name in row.student.name and load(row.entry, HOMEWORK.rubric).files[FIRST] == name.encode()


@pytest.mark.parametrize("place", ["class", "class.zip"])
@pytest.mark.parametrize("form", [form for form in FORMS if form not in READ])
def test_form_that_is_not_known_is_rejected_with_everyone_named(tmp_path: Path, form: str, place: str) -> None:
    put(tmp_path / place, people(form, *NAMES))
    with pytest.raises(ArgumentsError, match="looks like the work of several students") as error:
        listing([tmp_path / place], HOMEWORK.rubric)
    seen = NAMES if form != "sections" else ["section0", "section1"]
    assert all(name in str(error.value) for name in seen) and "--one-submission" in str(error.value)
    (entry,) = listing([tmp_path / place], HOMEWORK.rubric, one_submission=True).entries
    assert entry.key == "class"


@pytest.mark.parametrize("seed", range(SEED, SEED + 20))
def test_mixture_of_two_forms_loses_nobody(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    one, other = chance.sample([form for form in FORMS if form != "sections"], 2)
    names = chance.sample(NAMES, chance.randint(4, 6))
    at = chance.randint(2, len(names) - 2)  # the one file of a single student may also be somebody else's
    put(tmp_path / "class", people(one, *names[:at]) | people(other, *names[at:]))
    text = accounted(tmp_path / "class")
    assert [name for name in names if name not in text] == [], (one, other, text)


PREFIXES = zipped(people("prefixes", *NAMES[:2]))


@pytest.mark.parametrize(("is_rejected", "files"), [
    (True, {FIRST: "", f"ada/{FIRST}": ""}),  # perhaps the solutions, beside one student's folder
    (True, {FIRST: "", "ada.zip": zipped({f"hw/{FIRST}": ""})}),
    (True, {f"{MODULES[0]}.py": "", f"{MODULES[0]} (1).py": STUB}),
    (True, {"submissions.zip": zipped({f"ada_{FIRST}": "", f"bela_{FIRST}": ""})}),
    (True, {f"ada_{FIRST}": "", f"bela_{SECOND}": ""}),
    (True, {f"ann/{FIRST}": "", "bob/essay.pdf": ""}),
    (True, {f"solutions/{FIRST}": "", "ann.zip": zipped({FIRST: ""}), "bob.zip": zipped({FIRST: ""})}),
    (True, {"class/ann/x.txt": "", "class/bob/y.txt": ""}),
    (True, {f"{day}.zip": zipped(people("Canvas", *names)) for day, names in (("a", NAMES[:2]), ("b", NAMES[2:]))}),
    (False, {FIRST: "", SECOND: "", "train.py": "x = 1", f"{MODULES[0]}_helpers.py": "def helper():\n    pass\n"}),
    (False, {f"hw3_{FIRST}": "", f"hw3_{SECOND}": ""}),
    (False, {f"{MODULES[0]} (1).py": "", f"{MODULES[1]} (2).py": "", f"Copy of {MODULES[2]}.py": ""}),
    (False, {FIRST: "", f"{MODULES[1]}_final.py": ""}),
    (False, {FIRST: "", f"{MODULES[0]}_notes.txt": "", "checks/test_x.py": "", "weights.zip": zipped({"x.npy": ""})}),
    (False, {f"src/{FIRST}": "", "README.md": ""}),
    (False, {"final.py": "x = 1\n"}),
    (True, {"a.zip": zipped({"b.zip": zipped({"c.zip": PREFIXES})})}),
    (False, {"a.zip": zipped({"b.zip": zipped({"c.zip": zipped({"d.zip": PREFIXES})})})}),  # too deep to be read
])  # fmt: skip
def test_path_that_may_be_several_students_is_rejected(tmp_path: Path, is_rejected: bool, files: Files) -> None:
    place = put(tmp_path / "class", files)
    if is_rejected:
        with pytest.raises(ArgumentsError, match="several students"):
            listing([place], HOMEWORK.rubric)
    else:
        assert len(listing([place], HOMEWORK.rubric).entries) == 1


@pytest.mark.parametrize(("place", "files", "work"), [
    # Folders of one student's parts are not versions.
    ("class", {f"ada/1/{FIRST}": "1", f"ada/2/{SECOND}": "2", f"bela/{FIRST}": "1"}, {"ada": {FIRST, SECOND}, "bela": {FIRST}}),
    # Folders named after numbers are students.
    ("class", {f"{number}/{FIRST}": "1" for number in (1, 2, 17)}, {"1": {FIRST}, "17": {FIRST}, "2": {FIRST}}),
    # Blackboard separates title and id by the character that an id may contain.
    ("class", {f"Homework 3_{who}_attempt_2026-11-18-10-22-33_{FIRST}": "1" for who in ("ada_x", "bela_x")},
     {"Homework 3_ada_x": {FIRST}, "Homework 3_bela_x": {FIRST}}),
    # A backslash in a name becomes a folder, so one folder may come twice.
    ("class.zip", {f"ada_1_7_hw\\{FIRST}": "1", f"ada_1_8_hw\\{SECOND}": "2", f"bela_2_9_{FIRST}": "1"},
     {"ada": {FIRST, SECOND}, "bela": {FIRST}}),
])  # fmt: skip
def test_names_that_can_be_misread_are_read_as_students(
    tmp_path: Path, place: str, files: Files, work: dict[str, set[str]]
) -> None:
    rows = students(listing([put(tmp_path / place, files)], HOMEWORK.rubric).entries, [], HOMEWORK.rubric)
    read = {row.student.name: set(load(row.entry, HOMEWORK.rubric).files) for row in rows}
    assert read.keys() == work.keys() and all(read[name] >= files for name, files in work.items())


def test_section_within_a_class_is_noted(tmp_path: Path) -> None:
    """One student's upload cannot stop the grading of a class, so this is no reason to reject it."""
    found = listing(
        [put(tmp_path / "class", people("folders", "ada", "bela") | people("sections", "chidi", "emil"))],
        HOMEWORK.rubric,
    )
    assert any("section1 looks like the work of several students, chidi, emil" in note for note in found.problems)


def test_single_files_of_several_students_are_rejected(tmp_path: Path) -> None:
    put(tmp_path, people("prefixes", "ada", "bela"))
    with pytest.raises(ArgumentsError, match=f"ada_{FIRST}, bela_{FIRST}"):
        listing(sorted(tmp_path.glob("*.py")), HOMEWORK.rubric)


VERSIONS: dict[str, Files] = {
    "Blackboard": {f"Homework 3_ada_attempt_2026-11-{day}-10-22-33_{FIRST}": f"of {day}" for day in (17, 18)},
    "Autolab": {f"ada@example.edu_{version}_{FIRST}": f"of {version}" for version in (2, 10, 9)},
    "Brightspace": {f"1-{n} - ada - Nov {day}, 2026 110{NO_BREAK}PM - {FIRST}": "" for n, day in ((8, 9), (7, 10))},
    "Schoology": {
        f"Abel, ada - s48/Revision 10 - Late/{FIRST}": "late", f"Abel, ada - s48/Revision 9 - On Time/{SECOND}": "on time",
    },
    "Teams": {f"ada Abel/Homework 3/Version {version}/{FIRST}": "" for version in (9, 10)},
    "Submitty": {f"ada/{version}/{FIRST}": "" for version in (2, 1, 10)},
}  # fmt: skip
NEWEST = {
    "Blackboard": "ada_2026-11-18-10-22-33", "Autolab": "ada_example.edu_10", "Brightspace": "ada_1_7",
    "Schoology": "Abel_ada_-_s48_10", "Teams": "ada_Abel_10", "Submitty": "ada_10",
}  # fmt: skip


@pytest.mark.parametrize("form", VERSIONS)
def test_newest_version_of_a_persons_work_counts(tmp_path: Path, form: str) -> None:
    found = listing([put(tmp_path / "class", VERSIONS[form] | people(form, "bela"))], HOMEWORK.rubric)
    rows = students(found.entries, [], HOMEWORK.rubric)
    assert len(rows) == 2
    (ada,) = [row for row in rows if "ada" in row.student.name]
    assert ada.entry.key.startswith(NEWEST[form]) and len(ada.other_uploads) == len(VERSIONS[form]) - 1
    assert ada.entry.late == (form == "Schoology")
    if form == "Schoology":
        assert ada.student.login == "s48"


# Clones

REMOTES = {
    "owners": ("git@github.com:ada/hw3.git", "https://github.com/bela/hw3", ("ada", "bela")),
    "one owner": ("https://github.com/cs1/hw-3-ada.git", "ssh://git@git.example.edu/cs1/hw-3-adam.git/", ("ada", "adam")),
    "one repository": ("https://github.com/cs1/hw3", "https://github.com/cs1/hw3", ("", "")),
    "no remote": ("", "https://github.com/bela/hw3", ("", "")),
    "not a URL": ("hw3", "https://github.com/bela/hw3", ("", "")),
}  # fmt: skip


@pytest.mark.parametrize("name", REMOTES)
def test_account_of_each_clone_is_that_of_its_remote(tmp_path: Path, name: str) -> None:
    *urls, logins = REMOTES[name]
    for folder, url in zip(("hw3-one", "hw3-two"), urls, strict=True):
        config = "[core]\n\tbare = false\n" + f'[remote "origin"]\n\turl = {url}\n\tfetch = +refs\n' * bool(url)
        put(tmp_path / "class" / folder, {FIRST: "", ".git/config": config})
    found = listing([tmp_path / "class"], HOMEWORK.rubric)
    assert [entry.students for entry in found.entries] == [
        (Student(folder, login=login),) for folder, login in zip(("hw3-one", "hw3-two"), logins, strict=True)
    ]


CONFIG = '[core]\n\tbare = false\n[remote "origin"]\n\tfetch = +refs\n\turl = git@github.com:cs1/hw-ada.git\n'
COMMITS = [
    f"{'0' * 40} {one * 40} Kim T <kim@example.org> {at} +0100\tpull: {one}\n"
    for one, at in (("a", 9), ("b", 1795824000))
]


@pytest.mark.parametrize(("files", "more"), [
    ({}, {}),
    ({".git/logs/HEAD": "".join(COMMITS), ".classroom50.yaml": "classroom: 7\nassignment: hw\nowner: x"},
     {"commit": "b" * 40, "time": "2026-11-28T00:00:00Z", "classroom": "7", "assignment": "hw"}),
    ({".git/logs/HEAD": COMMITS[0].replace(" 9 ", " nine "), ".classroom50.yaml": "classroom: ''\nassignment: hw"},
     {"assignment": "hw"}),
    ({".git/logs/HEAD": "", ".classroom50.yaml": "classroom: hw"}, {}),
    ({".git/logs/HEAD": COMMITS[0].replace(" 9 ", f" {10**20} "), ".classroom50.yaml": "["}, {}),
])  # fmt: skip
def test_clone_has_its_repository_and_what_else_is_known(tmp_path: Path, files: Files, more: dict[str, str]) -> None:
    place = {"host": "github.com", "owner": "cs1", "repository": "hw-ada"}
    assert platforms.clone(of_folder(put(tmp_path, {".git/config": CONFIG, **files}))) == place | more


def test_uploaded_git_folder_in_a_class_names_nobody(tmp_path: Path) -> None:
    claim = '[remote "origin"]\n\turl = https://github.com/ada/hw3\n'
    found = listing(
        [put(tmp_path / "class", {f"ada/{FIRST}": "", f"mallory/{FIRST}": "", "mallory/.git/config": claim})],
        HOMEWORK.rubric,
    )
    assert [entry.students for entry in found.entries] == [(Student("ada"),), (Student("mallory"),)]


# What else arrives


@pytest.mark.parametrize("name", [f"{MODULES[0]}{end}" for end in (".pyw", ".py~", "", ".docx")])
def test_misnamed_file_is_named_in_a_note(tmp_path: Path, name: str) -> None:
    (entry,) = listing([put(tmp_path / "ada", {name: STUB})], HOMEWORK.rubric).entries
    submission = load(entry, HOMEWORK.rubric)
    notes = [*submission.notes, submission.missing(MODULES[0], HOMEWORK.rubric)]
    assert any(note is not None and note.path == name for note in notes)
    accepted = load(entry, HOMEWORK.rubric, accept_names=True)
    assert (FIRST in accepted.files) is (not name.endswith("docx"))


@pytest.mark.parametrize(("files", "noted"), [
    ({FIRST: DONE, f"{MODULES[0]} (1).py": DONE.replace("1", "2")}, ["second"]),
    ({FIRST: "from layernorm_all import *\n" + DONE, "layernorm_all.py": DONE.replace("1", "2")}, []),
    ({"ada.py": "x = 1\n", "bela.py": "x = 2\n"}, ["other", "other"]),
])  # fmt: skip
def test_file_that_is_not_graded_is_noted(tmp_path: Path, files: Files, noted: list[str]) -> None:
    (entry,) = listing([put(tmp_path / "ada", files)], HOMEWORK.rubric, one_submission=True).entries
    assert [note.kind for note in load(entry, HOMEWORK.rubric).notes] == noted


@pytest.mark.parametrize("text", [STUB.replace("\n", "\r\n"), "\ufeff" + STUB, STUB.encode("utf-16")])
def test_line_ends_and_encodings_do_not_hide_a_module(tmp_path: Path, text: str | bytes) -> None:
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(ArgumentsError, match="several students"):
        listing([put(tmp_path / "class", {f"ada_{FIRST}": data, f"bela_{FIRST}": data})], HOMEWORK.rubric)
    (entry,) = listing([put(tmp_path / "one", {FIRST: data})], HOMEWORK.rubric).entries
    assert load(entry, HOMEWORK.rubric).files == {FIRST: data}
