"""Arbitrary uploads and exports are read within the limits or fail with an ArgumentsError or a CommandError."""

import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.exceptions import ArgumentsError, CommandError
from autograder.sandbox.process import Limits
from autograder.submissions.exports import listing
from autograder.submissions.submission import load, read
from autograder.tests.files import HOMEWORK
from autograder.tests.making import FIRST, SECOND, limited

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Duplicate name")]
SMALL = Limits(upload_mb=1, upload_files=10)
MANY = settings(max_examples=5000, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
PART = st.one_of(
    st.sampled_from(
        [FIRST, SECOND, "hw.zip", "submission_1", "submission_metadata.yml", "..", "", ".", "__MACOSX", "a.PY"]
    ),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12),
)
NAME = st.lists(PART, min_size=1, max_size=4).map("/".join)
CONTENT = st.one_of(st.binary(max_size=60), st.just(b"submission_1:\n  :submitters:\n  - :name: Ada\n"))
FILES = st.lists(st.tuples(NAME, CONTENT), max_size=12)
EDITS = st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 255)), max_size=8)  # positions and new bytes


def packed(files: list[tuple[str, bytes]], edits: list[tuple[int, int]]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(zipfile.ZipInfo(name or "x"), content)
    data = bytearray(stream.getvalue())
    for position, value in edits:
        data[position % len(data)] = value
    return bytes(data)


ZIP = st.binary(max_size=400) | st.builds(packed, FILES, EDITS)


@given(ZIP)
@MANY
def test_upload_is_read_within_bounds(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "up.zip").write_bytes(data)
    for place in (tmp_path, tmp_path / "up.zip"):
        found = read(place, limited(SMALL))
        assert len(found.files) <= SMALL.upload_files
        assert sum(map(len, found.files.values())) <= SMALL.upload_mb * 2**20
        assert all(name and not name.startswith("/") and ".." not in name.split("/") for name in found.files)
        assert all(str(note).isprintable() for note in found.refused)


@given(ZIP)
@MANY
def test_export_is_listed_or_rejected(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "export.zip").write_bytes(data)
    try:
        found = listing([tmp_path / "export.zip"], HOMEWORK.rubric)
    except ArgumentsError:
        return
    assert len({entry.key.lower() for entry in found.entries}) == len(found.entries)
    for entry in found.entries:
        try:
            assert len(load(entry, limited(SMALL)).files) <= SMALL.upload_files
        except CommandError:
            continue
