"""Uploads and exports of any content: within bounds, or one of the errors that say whose fault it is, and nothing else."""

import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.exceptions import ArgumentsError, CommandError
from autograder.sandbox.budget import Limits
from autograder.submissions.exports import listing
from autograder.submissions.submission import load, read
from autograder.submissions.tree import UnusableError, of_zip
from autograder.tests.fuzzing import for_a_while
from autograder.tests.making import FIRST, SECOND

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Duplicate name")]
SMALL = Limits(upload_mb=1, upload_files=10)
MANY = settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
PART = st.one_of(
    st.sampled_from(
        [FIRST, SECOND, "hw.zip", "submission_1", "submission_metadata.yml", "..", "", ".", "__MACOSX", "a.PY"]
    ),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12),
)
NAME = st.lists(PART, min_size=1, max_size=4).map("/".join)
CONTENT = st.one_of(st.binary(max_size=60), st.just(b"submission_1:\n  :submitters:\n  - :name: Ada\n"))
FILES = st.lists(st.tuples(NAME, CONTENT), max_size=12)
Members = list[tuple[str, bytes]]
Edits = list[tuple[int, int]]
EDITS = st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 255)), max_size=8)


def packed(files: Members, edits: Edits = []) -> bytes:  # noqa: B006
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(zipfile.ZipInfo(name or "x"), content)
    data = bytearray(stream.getvalue())
    for position, value in edits:
        data[position % len(data)] = value
    return bytes(data)


@for_a_while
@given(st.binary(max_size=400) | st.builds(packed, FILES, EDITS))
@MANY
def test_zip(data: bytes) -> None:
    try:
        for source in of_zip(Path("x.zip"), data, 20).sources.values():
            assert len(source.read(50)) <= 50
    except (UnusableError, OSError):
        return


@for_a_while
@given(FILES, EDITS)
@MANY
def test_upload_is_read_within_bounds(tmp_path: Path, files: Members, edits: Edits) -> None:
    (tmp_path / "up.zip").write_bytes(packed(files, edits))
    for place in (tmp_path, tmp_path / "up.zip"):
        found = read(place, SMALL)
        assert len(found.files) <= SMALL.upload_files
        assert sum(map(len, found.files.values())) <= SMALL.upload_mb * 2**20
        assert all(name and not name.startswith("/") and ".." not in name.split("/") for name in found.files)
        assert all(str(note).isprintable() for note in found.refused)


@for_a_while
@given(FILES, EDITS)
@MANY
def test_export_is_listed_or_refused(tmp_path: Path, files: Members, edits: Edits) -> None:
    (tmp_path / "export.zip").write_bytes(packed(files, edits))
    try:
        found = listing([tmp_path / "export.zip"])
    except ArgumentsError:
        return
    assert len({entry.key.lower() for entry in found.entries}) == len(found.entries)
    for entry in found.entries:
        try:
            assert len(load(entry, SMALL).files) <= SMALL.upload_files
        except CommandError:
            continue


def test_what_is_tried_reaches_every_kind_of_end() -> None:
    """Else the three above prove nothing."""
    assert of_zip(Path("x.zip"), packed([(FIRST, b"1")]), 20).files[FIRST].read(5) == b"1"
    with pytest.raises(UnusableError):
        of_zip(Path("x.zip"), b"", 20)
    assert of_zip(Path("x.zip"), packed([("../a", b"")]), 20).files["../a"].problem == "outside"
