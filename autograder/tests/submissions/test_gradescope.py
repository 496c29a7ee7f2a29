"""Gradescope's exports: whose each submission is, nobody is lost, and the yml is never more than data."""

from pathlib import Path

import pytest

from autograder.exceptions import CommandError
from autograder.submissions.exports import Listing, listing
from autograder.submissions.uploads import Student, load
from autograder.tests.files import put
from autograder.tests.making import FIRST, LIMITS, WORK, contents, keys

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
    "submission_metadata.yml": METADATA, f"submission_9/{FIRST}": "old", f"submission_11/{FIRST}": "new",
    f"submission_12/assignments/{FIRST}": "x", f"submission_13/{FIRST}": "whose?",
}  # fmt: skip


@pytest.fixture(params=["folder", "inside", "zip", "zip without a folder"])
def export(tmp_path: Path, request: pytest.FixtureRequest) -> Listing:
    inside = request.param in ("inside", "zip")
    files = {(f"assignment_5_export/{name}" if inside else name): text for name, text in EXPORT.items()}
    return listing([put(tmp_path / ("export.zip" if "zip" in request.param else "export"), files)])


def test_export_loses_nobody_and_names_groups(export: Listing) -> None:
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
        load(gone, LIMITS)


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
    with pytest.raises(CommandError, match="damaged"):
        load(entries["submission_11"], LIMITS)
    assert load(entries["submission_12"], LIMITS).files


@pytest.mark.parametrize(
    ("place", "believed"),
    [("hw1.zip/hw1/", True), ("hw1.zip/other/", False), ("x/assignment_5_export/", True), ("x/hw1/", False)],
)
def test_yml_in_a_folder_is_believed_by_the_name_of_the_folder(tmp_path: Path, place: str, believed: bool) -> None:
    given, _, inside = place.partition("/")
    found = listing([put(tmp_path / given, {f"{inside}{name}": text for name, text in EXPORT.items()})])
    assert any(student.name == "Ada Abel" for entry in found.entries for student in entry.students) == believed
    assert any("give it as the only PATH" in problem for problem in found.problems) != believed


def test_yml_that_a_student_has_handed_in_is_not_believed(tmp_path: Path) -> None:
    """It would say that the work here is somebody else's newest submission."""
    put(tmp_path, {"class/ada/submission_metadata.yml": METADATA, f"class/ada/submission_11/{FIRST}": ""})
    found = listing([tmp_path / "class"])
    assert [entry.students for entry in found.entries] == [(Student("ada"),)]
    assert "was ignored" in found.problems[0]


@pytest.mark.parametrize("inner", ["", "assignment_5_export/"])
def test_one_of_several_paths_is_no_export_beside_uploads(tmp_path: Path, inner: str) -> None:
    """A student's upload would say that it is somebody else's newest submission."""
    files = {f"uploads/mallory/{inner}{name}": text for name, text in EXPORT.items()}
    put(tmp_path, files | {f"uploads/ada/{FIRST}": ""})
    found = listing([tmp_path / "uploads" / "ada", tmp_path / "uploads" / "mallory"])
    assert all("Abel" not in student.name for entry in found.entries for student in entry.students)


@pytest.mark.parametrize(
    ("names", "other"), [(("one", "two"), ""), (("assignment_5_export", "assignment_6_export.zip"), "ada")]
)
def test_exports_of_sections_may_have_any_name_beside_an_upload_their_own(
    tmp_path: Path, names: tuple[str, ...], other: str
) -> None:
    paths = [put(tmp_path / name, dict(EXPORT)) for name in names]
    found = listing([*paths, put(tmp_path / other, WORK)] if other else paths)
    assert [student.name for entry in found.entries for student in entry.students].count("Ada Abel") == 4
    assert not any("was ignored" in problem for problem in found.problems)


def test_export_beside_the_download_of_another_platform_may_have_any_name(tmp_path: Path) -> None:
    moodle = {f"{name}_assignsubmission_file/{FIRST}": "" for name in ("Dora Dorn_700112", "Emil Erz_700113")}
    found = listing([put(tmp_path / "one.zip", dict(EXPORT)), put(tmp_path / "two", moodle)])
    assert {"Ada Abel", "Dora Dorn"} <= {student.name for entry in found.entries for student in entry.students}
    assert not any("was ignored" in problem for problem in found.problems)


def test_yml_beside_folders_that_gradescope_does_not_name_is_not_believed(tmp_path: Path) -> None:
    put(tmp_path, {"submission_metadata.yml": METADATA, f"assignments/{FIRST}": "", f"submission_11/{FIRST}": ""})
    assert all(entry.students[0].name not in ("Ada Abel", "Gone") for entry in listing([tmp_path]).entries)
