"""Folders and zips as data: what is compared, what is written, and errors that are one line."""

import errno
import os
from pathlib import Path

import pytest

from autograder.exceptions import CommandError
from autograder.release import packing


def test_refresh_touches_only_what_differs(tmp_path: Path) -> None:
    for name in ("same.py", "stale.py", "__pycache__/a.pyc"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"1")
    os.utime(tmp_path / "same.py", (1, 1))
    packing.refresh({"same.py": b"1", "checks/new.py": b"2"}, tmp_path)
    assert packing.contents(tmp_path) == {"checks/new.py": b"2", "same.py": b"1"}
    assert (tmp_path / "same.py").stat().st_mtime == 1
    assert (tmp_path / "__pycache__" / "a.pyc").exists()


def test_differences_are_named(tmp_path: Path) -> None:
    for name in ("right/same.py", "found/same.py", "right/new.py", "found/old.py", "right/other.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"1")
    (tmp_path / "found" / "other.py").write_bytes(b"2")
    assert packing.differences(tmp_path / "right", tmp_path / "found") == [
        "new.py is missing",
        "old.py does not belong there",
        "other.py is out of date",
    ]
    assert packing.differences(tmp_path / "right", tmp_path / "right") == []


def test_zip_has_the_same_bytes_whatever_the_order_and_the_time(tmp_path: Path) -> None:
    given = {"setup.sh": b"1", "a/b.py": b"2"}
    first = packing.pack(given, tmp_path / "a.zip").read_bytes()
    assert packing.pack(dict(reversed(given.items())), tmp_path / "b.zip").read_bytes() == first
    assert packing.unzipped(tmp_path / "a.zip") == given


def test_full_disk_ends_a_copy_at_the_first_file_with_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def fail(_: str, target: str) -> None:
        tried.append(target)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), target)

    for number in range(300):
        (tmp_path / "a" / "b").mkdir(parents=True, exist_ok=True)
        (tmp_path / "a" / "b" / f"{number}.py").touch()
    monkeypatch.setattr("shutil.copy", fail)
    with pytest.raises(CommandError) as caught:
        packing.copy_parts(tmp_path, tmp_path / "copy", ("a",), ())
    assert len(tried) == 1
    assert str(caught.value).startswith(f"{tried[0]}: {os.strerror(errno.ENOSPC)}; free some space")


def test_copy_has_the_parts_and_not_what_is_ignored(tmp_path: Path) -> None:
    for name in ("one.toml", "a/kept.py", "a/.hidden", "a/tests/x.py", "b/other.py"):
        (tmp_path / "from" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "from" / name).touch()
    (tmp_path / "to").mkdir()
    packing.copy_parts(tmp_path / "from", tmp_path / "to", ("one.toml", "a"), (".*", "tests"))
    assert sorted(path.name for path in (tmp_path / "to").rglob("*") if path.is_file()) == ["kept.py", "one.toml"]
