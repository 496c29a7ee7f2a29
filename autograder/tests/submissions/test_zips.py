"""Zips are bounded before they are read, and any damage is one of two errors."""

import io
import random
import struct
import zipfile
from functools import partial

import pytest

from autograder.submissions.tree import UTF8, Source, UnusableError, members
from autograder.tests.files import zipped

deflated = partial(zipped, method=zipfile.ZIP_DEFLATED)


def found(data: bytes, most: int = 100) -> list[tuple[str, Source]]:
    return members(io.BytesIO(data), most)


def refused(data: bytes, most: int = 100) -> str:
    with pytest.raises(UnusableError) as caught:
        found(data, most)
    return caught.value.kind


def test_members_have_names_with_slashes_sizes_and_content() -> None:
    (path, source), *others = found(deflated({"a.py": b"x = 1", "b/": b"", "c\\d.py": b"y"}))
    assert (path, source.size, source.problem, source.read(100)) == ("a.py", 5, "", b"x = 1")
    assert [path for path, _ in others] == ["b/", "c/d.py"]


@pytest.mark.parametrize("name", ["Zoë/a.py", "李/a.py", "plain/a.py"])
def test_name_is_the_same_with_and_without_the_flag_for_utf8(name: str) -> None:
    data = deflated({name: b""})
    without = bytearray(data)
    for signature, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        at = data.index(signature) + offset
        flags = struct.unpack("<H", data[at : at + 2])[0] & ~UTF8
        without[at : at + 2] = struct.pack("<H", flags)
    assert [path for path, _ in found(bytes(without))] == [path for path, _ in found(data)] == [name]


def test_name_that_is_no_utf8_is_read_as_zip_programs_do() -> None:
    data = deflated({"Zo?.py": b""}).replace(b"Zo?.py", b"Zo\x89.py")
    assert found(data)[0][0] == "Zoë.py"


@pytest.mark.parametrize(
    "data",
    [b"", b"no zip", b"PK\5\6", deflated({"a": b"x" * 99})[:-30]],
    ids=["empty", "text", "start of an end", "cut"],
)
def test_what_is_no_zip_is_said_so(data: bytes) -> None:
    assert refused(data) == "no_zip"


def test_too_many_members_are_refused() -> None:
    data = deflated({f"{i}": b"" for i in range(11)})
    assert len(found(data, 11)) == 11
    assert refused(data, 10) == "zip_many"


def test_list_of_members_that_claims_to_be_large_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytearray(deflated({f"{i}": b"" for i in range(3)}))
    at = data.rindex(b"PK\5\6") + 12
    data[at : at + 4] = struct.pack("<L", 100 * 2**20)
    monkeypatch.setattr(zipfile, "ZipFile", None)
    assert refused(bytes(data)) == "zip_many"


def test_members_that_share_their_bytes_are_refused() -> None:
    """A small zip of a thousand names for one large file would be large a thousand times."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.py", b"#" * 1000)
        twin = zipfile.ZipInfo("b.py")
        for name in ("header_offset", "compress_size", "file_size", "CRC"):
            setattr(twin, name, getattr(archive.filelist[0], name))
        archive.filelist.append(twin)
        archive.NameToInfo["b.py"] = twin
    assert refused(stream.getvalue()) == "zip_overlaps"


def test_bomb_is_decompressed_no_further_than_asked() -> None:
    ((_, bomb),) = found(deflated({"a.py": bytes(50 * 2**20)}))
    assert bomb.size == 50 * 2**20
    assert bomb.read(10) == bytes(10)


def test_member_larger_than_it_says_is_damaged() -> None:
    data = deflated({"a.py": bytes(range(256)) * 40})
    for signature, offset in ((b"PK\3\4", 22), (b"PK\1\2", 24)):
        at = data.index(signature) + offset
        data = data[:at] + struct.pack("<L", 5) + data[at + 4 :]
    ((_, small),) = found(data)
    with pytest.raises(UnusableError):
        small.read(small.size)


@pytest.mark.parametrize(
    ("mode", "problem"), [(0o120777, "link"), (0o010644, "link"), (0o100644, ""), (0, ""), (0o060644, "link")]
)
def test_links_and_devices_are_told(mode: int, problem: str) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        info = zipfile.ZipInfo("a.py")
        info.external_attr = mode << 16
        archive.writestr(info, "/etc/passwd")
    assert found(stream.getvalue())[0][1].problem == problem


def test_unusual_compression_is_told() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("a.py", "x")
    assert found(stream.getvalue())[0][1].problem == "compression"


@pytest.mark.parametrize("seed", range(100))
def test_damage_of_any_kind_is_one_of_the_two_errors(seed: int) -> None:
    chance = random.Random(seed)
    data = bytearray(deflated({"a/b.py": b"x = 1\n" * 50, "c.py": b"y" * 10}))
    for _ in range(chance.randint(1, 8)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    try:
        for _, source in found(bytes(data)):
            assert len(source.read(1000)) <= 1000
    except (UnusableError, OSError):
        pass  # OSError: the list of members points before the beginning; the reader takes it for no zip
