"""Folders and zips are listed alike, within bounds, never through a link; any damage is one of a few errors."""

import io
import os
import struct
import subprocess
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from autograder.submissions import tree
from autograder.submissions.tree import DEPTH, Source, Tree, UnusableError, content, of_file, of_folder, of_zip
from autograder.tests.files import put, put_special, zipped
from autograder.tests.making import Files, as_nobody

FILES: Files = {"a.py": "1", "sub/b.py": "22", "sub/deep/c.py": "333", "__MACOSX/a.py": "", "sub/._b.py": ""}
POSIX = pytest.mark.skipif(os.name != "posix", reason="links, pipes and devices are POSIX")
deflated = partial(zipped, method=zipfile.ZIP_DEFLATED)


def members(data: bytes, most: int = 100) -> list[tuple[str, Source]]:
    return list(of_zip(Path("up.zip"), data, most).walk())


def rejected(data: bytes, most: int = 100) -> str:
    with pytest.raises(UnusableError) as caught:
        members(data, most)
    return caught.value.kind


@pytest.mark.parametrize("place", ["up", "up.zip"])
def test_same_names_on_disk_and_in_a_zip(tmp_path: Path, place: str) -> None:
    path = put(tmp_path / place, FILES)
    up = tree.of_zip(path) if path.suffix else of_folder(path)
    assert (up.name, set(up.files), set(up.folders)) == ("up", {"a.py"}, {"sub", "__MACOSX"})
    assert [(name, source.size) for name, source in up.walk()] == [("a.py", 1), ("sub/b.py", 2), ("sub/deep/c.py", 3)]
    assert dict(up.walk())["sub/b.py"].read(10) == b"22"


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A folder that is removed by a program, since it may be deeper than Python's own functions can go."""
    yield tmp_path
    subprocess.run(["rm", "-rf", str(tmp_path)], check=True)


def nested(folder: Path, name: str, depth: int) -> Tree:
    descriptor = os.open(put(folder, {"b.py": ""}), os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=descriptor)
        inner = os.open(name, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(descriptor)
    return of_folder(folder)


def test_deep_folders_are_not_entered(deep: Path) -> None:
    packed = of_zip(Path("up.zip"), zipped({"d/" * 1100 + "a.py": "", "b.py": ""}), 10)
    for up in (packed, nested(deep / "up", "d", 1100)):
        assert [source.problem for _, source in up.walk()] == ["", "deep"] and next(up.walk())[0] == "b.py"


def test_path_too_long_for_the_system_ends_the_walk_without_an_error(deep: Path) -> None:
    assert next(nested(deep, "d" * 250, DEPTH + 2).walk())[0] == "b.py"


def test_links_are_named_and_never_followed(tmp_path: Path) -> None:
    put(tmp_path, {"neighbour/a.py": "secret", "up/b.py": ""})
    (tmp_path / "up" / "a.py").symlink_to(tmp_path / "neighbour" / "a.py")
    (tmp_path / "up" / "all").symlink_to(tmp_path / "neighbour")
    os.mkfifo(tmp_path / "up" / "pipe.py")
    found = dict(of_folder(tmp_path / "up").walk())
    assert {name: source.problem for name, source in found.items()} == {
        "a.py": "link", "all": "link", "pipe.py": "link", "b.py": "",
    }  # fmt: skip
    assert found["a.py"].read(100) == b""


@POSIX
@pytest.mark.parametrize("kind", ["link", "device", "pipe", "folder"])
def test_only_regular_files_are_opened_even_if_they_were_replaced_after_listing(tmp_path: Path, kind: str) -> None:
    (tmp_path / "secret").write_bytes(b"of another student")
    put_special(tmp_path / "up.zip", kind, tmp_path / "secret")
    with pytest.raises(UnusableError):
        content(tmp_path / "up.zip", 9)


def test_link_that_the_user_names_is_followed(tmp_path: Path) -> None:
    put(tmp_path, {"a.py": "12345"})
    (tmp_path / "latest.py").symlink_to(tmp_path / "a.py")
    assert of_file(tmp_path / "latest.py").files["latest.py"].read(3) == b"123"


def test_listing_says_when_it_is_not_complete(tmp_path: Path) -> None:
    put(tmp_path, {f"{number}/x.txt": "" for number in range(9)})
    assert [source.problem for _, source in of_folder(tmp_path, most=5).walk()] == ["many"]
    assert len(list(of_folder(tmp_path, most=18).walk())) == 9


def test_folder_that_cannot_be_listed_is_in_the_listing_with_the_reason() -> None:
    with as_nobody() as folder:
        put(folder, {"up/a.py": "", "up/closed/b.py": ""})
        (folder / "up" / "closed").chmod(0)
        found = dict(of_folder(folder / "up").walk())
        (folder / "up" / "closed").chmod(0o700)
    assert {name: source.problem for name, source in found.items()} == {"a.py": "", "closed": "closed"}
    assert isinstance(found["closed"].error, PermissionError)


def test_members_have_names_with_slashes_sizes_and_content() -> None:
    (path, source), (second, _) = members(deflated({"a.py": b"x = 1", "b/": b"", "c\\d.py": b"y"}))
    assert (path, source.size, source.problem, source.read(100)) == ("a.py", 5, "", b"x = 1")
    assert second == "c/d.py"


@pytest.mark.parametrize("name", ["Zoë/a.py", "李/a.py", "plain/a.py"])
def test_name_is_the_same_with_and_without_the_flag_for_utf8(name: str) -> None:
    data = deflated({name: b""})
    without = bytearray(data)
    for signature, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        without[data.index(signature) + offset + 1] &= ~8
    assert [path for path, _ in members(bytes(without))] == [path for path, _ in members(data)] == [name]


def test_name_that_is_not_utf8_is_read_as_zip_programs_do() -> None:
    assert members(deflated({"Zo?.py": b""}).replace(b"Zo?.py", b"Zo\x89.py"))[0][0] == "Zoë.py"


@pytest.mark.parametrize(
    ("name", "problem"),
    [("../a.py", "outside"), ("/etc/a.py", "outside"), ("x\\..\\..\\a.py", "outside"), ("./a.py", ""), ("x//a.py", "")],
)
def test_paths_that_lead_out_of_a_zip_are_marked(name: str, problem: str) -> None:
    assert [source.problem for _, source in members(zipped({name: "1"}))] == [problem]


def test_file_and_folder_of_one_name_are_both_there() -> None:
    assert [name for name, _ in members(zipped({"a": "1", "a/b.py": "2"}))] == ["a", "a/b.py"]


def test_the_last_of_two_members_of_one_name_counts() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.py", "old")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a.py", "new")
    assert members(stream.getvalue())[0][1].read(9) == b"new"


@pytest.mark.parametrize(
    "data",
    [b"", b"no zip", b"PK\5\6", deflated({"a": b"x" * 99})[:-30]],
    ids=["empty", "text", "start of an end", "cut"],
)
def test_invalid_zip_is_rejected(data: bytes) -> None:
    assert rejected(data) == "no_zip"


def test_zip_of_too_many_members_is_not_even_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    data = deflated({f"{i}": b"" for i in range(11)})
    assert len(members(data, 11)) == 11
    monkeypatch.setattr(zipfile, "ZipFile", None)
    assert rejected(data, 10) == "zip_many"


def test_bomb_is_decompressed_no_further_than_asked() -> None:
    ((_, bomb),) = members(deflated({"a.py": bytes(50 * 2**20)}))
    assert bomb.size == 50 * 2**20
    assert bomb.read(10) == bytes(10)


def test_member_larger_than_it_says_is_damaged() -> None:
    data = deflated({"a.py": bytes(range(256)) * 40})
    for signature, offset in ((b"PK\3\4", 22), (b"PK\1\2", 24)):
        at = data.index(signature) + offset
        data = data[:at] + struct.pack("<L", 5) + data[at + 4 :]
    ((_, small),) = members(data)
    with pytest.raises(UnusableError):
        small.read(small.size)


@pytest.mark.parametrize(("mode", "method", "problem"), [
    (0o120777, zipfile.ZIP_STORED, "link"),
    (0o010644, zipfile.ZIP_STORED, "link"),
    (0o060644, zipfile.ZIP_STORED, "link"),
    (0o100644, zipfile.ZIP_STORED, ""),
    (0, zipfile.ZIP_DEFLATED, ""),
    (0, zipfile.ZIP_BZIP2, "compression"),
])  # fmt: skip
def test_links_devices_and_unusual_compression_are_marked(mode: int, method: int, problem: str) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        info = zipfile.ZipInfo("a.py")
        info.external_attr = mode << 16
        archive.writestr(info, "/etc/passwd", method)
    assert members(stream.getvalue())[0][1].problem == problem
