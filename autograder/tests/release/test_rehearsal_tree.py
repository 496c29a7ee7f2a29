"""The tree that Gradescope makes: uploads of every form, and zips that are no autograder."""

import errno
import os
import zipfile
from pathlib import Path
from unittest.mock import Mock

import pytest

from autograder.exceptions import ArgumentsError
from autograder.release import rehearsal
from autograder.tests.files import put, zipped

SCRIPT = b'run_autograder("/autograder")'
AUTOGRADER = {"run_autograder": b"", "setup.sh": b"", "run_otter.py": SCRIPT, "environment.yml": b""}


@pytest.fixture
def autograder(tmp_path: Path) -> Path:
    return put(tmp_path / "autograder.zip", AUTOGRADER)


def arrived(place: Path) -> list[str]:
    below = place / "submission"
    return sorted(path.relative_to(below).as_posix() for path in below.rglob("*") if path.is_file())


def test_zip_is_unpacked_and_grades_in_the_tree(autograder: Path, tmp_path: Path) -> None:
    rehearsal.lay_out(tmp_path / "it", autograder, put(tmp_path / "upload", {"a.py": b"", "b/c.txt": b""}))
    assert (tmp_path / "it" / "source" / "run_otter.py").read_text() == f"run_autograder({str(tmp_path / 'it')!r})"
    assert arrived(tmp_path / "it") == ["a.py", "b/c.txt"]
    assert (tmp_path / "it" / "results").is_dir() and (tmp_path / "it" / "submission_metadata.json").is_file()


def test_one_file(autograder: Path, tmp_path: Path) -> None:
    rehearsal.lay_out(tmp_path / "it", autograder, put(tmp_path, {"layernorm.py": b""}) / "layernorm.py")
    assert arrived(tmp_path / "it") == ["layernorm.py"]


def test_zip_of_a_student(autograder: Path, tmp_path: Path) -> None:
    rehearsal.lay_out(tmp_path / "it", autograder, put(tmp_path / "mine.ZIP", {"a/layernorm.py": b""}))
    assert arrived(tmp_path / "it") == ["a/layernorm.py"]


def test_what_is_neither_file_nor_folder_stays_out(autograder: Path, tmp_path: Path) -> None:
    upload = put(tmp_path / "upload", {"a.py": b"", "b/c.py": b""})
    for path in (upload / "up.zip", upload / "b" / "down.py"):
        path.symlink_to("/dev/zero")
    (upload / "folder").symlink_to(upload)
    os.mkfifo(upload / "pipe.py")
    rehearsal.lay_out(tmp_path / "it", autograder, upload)
    found = (tmp_path / "it" / "submission").rglob("*")
    assert {path.relative_to(tmp_path / "it" / "submission").as_posix() for path in found} == {"a.py", "b", "b/c.py"}


def test_upload_that_cannot_be_copied_is_refused(
    autograder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand folders in one another, for instance."""
    monkeypatch.setattr("shutil.copytree", Mock(side_effect=RecursionError))
    with pytest.raises(ArgumentsError, match="it cannot be copied"):
        rehearsal.lay_out(tmp_path / "it", autograder, tmp_path)


@pytest.mark.parametrize("damage", ["no zip", "encrypted", "compressed data", "bomb"])
def test_zip_that_cannot_be_unpacked_arrives_as_it_is(
    autograder: Path, tmp_path: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path / "upload.zip", {"layernorm.py": b"x = 1\n"})
    if damage == "no zip":
        path.write_bytes(b"PK\3\4")
    elif damage == "encrypted":
        path.write_bytes(path.read_bytes().replace(b"\x14\0\0\0\0\0", b"\x14\0\1\0\0\0"))
    elif damage == "compressed data":
        name, _, rest = zipped({"layernorm.py": b"x = 1\n"}, zipfile.ZIP_DEFLATED).partition(b"layernorm.py")
        path.write_bytes(name + b"layernorm.py" + b"\xff" + rest[1:])
    else:
        monkeypatch.setattr(rehearsal, "UPLOAD_FILES", 0)
    rehearsal.lay_out(tmp_path / "it", autograder, path)
    assert arrived(tmp_path / "it") == ["upload.zip"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nothing.zip", "there is no such file; use the autograder.zip that `autograder build` writes"),
        ("layernorm.py", "this is not a zip"),
        ("student.zip", "not a zip for Gradescope: it has no run_autograder"),
        ("elsewhere.zip", "its run_otter.py does not grade in /autograder"),
        ("damaged.zip", "this zip is damaged"),
    ],
)
def test_zip_that_is_no_autograder(tmp_path: Path, name: str, said: str) -> None:
    upload = put(tmp_path, {"layernorm.py": b""}) / "layernorm.py"
    put(tmp_path / "student.zip", {"transformer/layernorm.py": b""})
    put(tmp_path / "elsewhere.zip", AUTOGRADER | {"run_otter.py": b"run_autograder('/elsewhere')"})
    whole = put(tmp_path / "damaged.zip", AUTOGRADER).read_bytes()
    (tmp_path / "damaged.zip").write_bytes(whole.replace(SCRIPT, SCRIPT[::-1]))
    with pytest.raises(ArgumentsError) as caught:
        rehearsal.lay_out(tmp_path / "it", tmp_path / name, upload)
    assert str(caught.value).startswith(f"{tmp_path / name}: {said}")


def test_no_such_upload(autograder: Path, tmp_path: Path) -> None:
    with pytest.raises(ArgumentsError, match=r"nobody: there is no such file or folder$"):
        rehearsal.lay_out(tmp_path / "it", autograder, tmp_path / "nobody")


@pytest.mark.parametrize("many", [False, True], ids=["one file", "a folder"])
def test_full_disk_is_not_the_uploads_fault(
    autograder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: bool
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "layernorm.py")

    upload = put(tmp_path / "upload", {"layernorm.py": b"", "decoder.py": b""})
    monkeypatch.setattr("shutil.copyfile", fail)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        rehearsal.lay_out(tmp_path / "it", autograder, upload if many else upload / "layernorm.py")
