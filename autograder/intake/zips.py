"""Zips, opened with care: nothing is unpacked to disk, and nothing is decompressed before it has been bounded.

Before Python's zipfile reads the list of members, the size of that list is looked at; before a member is read, that
no two share bytes, so that a small zip cannot be a large one many times over.
"""

import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import BinaryIO

ENTRY_BYTES = 256  # of the list of members, for each that is allowed: 46 and the name, with room for time stamps
TAIL = 65_535 + 22 + 20 + 56  # bytes at the end in which the end records lie, the comment included
UTF8 = 0x800  # flag: the name is UTF-8
ENCRYPTED = 0x1
PLAIN_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class BadZipError(Exception):
    """No zip that can be read; `kind` is "no_zip", "zip_many" or "zip_overlaps"."""

    def __init__(self, kind: str):
        super().__init__(kind)
        self.kind = kind


class DamagedError(Exception):
    """A member of a zip cannot be decompressed to what it should be."""


@dataclass(frozen=True)
class Member:
    """One file or folder in a zip. `problem` says why it is not read: "encrypted", "compression", "link" or ""."""

    name: str
    size: int
    folder: bool
    problem: str
    read: Callable[[int], bytes]


def members(stream: BinaryIO, most: int) -> list[Member]:
    """What a zip lists, with slashes in the names.

    Raises BadZipError for what is no zip, has more than `most` members, or whose members overlap, and OSError where
    `stream` cannot be read.
    """
    if _directory_size(stream) > most * ENTRY_BYTES:
        raise BadZipError("zip_many")
    try:
        archive = zipfile.ZipFile(stream)
        found = archive.infolist()
    except OSError:
        raise
    except Exception:  # made by hand, a zip can raise anything: struct.error, ValueError, RuntimeError ...
        raise BadZipError("no_zip") from None
    if len(found) > most:
        raise BadZipError("zip_many")
    # Each takes at least its local header of 30 bytes and its data.
    spans = sorted((info.header_offset, info.header_offset + 30 + info.compress_size) for info in found)
    if any(end > start for (_, end), (start, _) in pairwise(spans)):
        raise BadZipError("zip_overlaps")
    return [_member(archive, info) for info in found]


def _directory_size(stream: BinaryIO) -> int:
    """The largest size that an end record claims for the list of members.

    Of several records zipfile takes one, and which one is its own affair; none of them may be too large.
    """
    stream.seek(0, 2)
    stream.seek(max(0, stream.tell() - TAIL))
    tail = stream.read(TAIL)
    stream.seek(0)
    sizes = [0]
    for signature, form, offset in ((b"PK\5\6", "<L", 12), (b"PK\6\6", "<Q", 40)):
        at = tail.find(signature)
        while at >= 0:
            field = tail[at + offset : at + offset + struct.calcsize(form)]
            if len(field) == struct.calcsize(form):
                sizes += struct.unpack(form, field)
            at = tail.find(signature, at + 1)
    return max(size for size in sizes if size != 0xFFFFFFFF)  # that one says: see the record of 64 bits


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Member:
    name = _name(info).replace("\\", "/")  # as some Windows programs write it
    return Member(name, info.file_size, name.endswith("/"), _problem(info), partial(_content, archive, info))


def _name(info: zipfile.ZipInfo) -> str:
    """The name by its flag, else as UTF-8, which many programs write without the flag, else as zipfile reads it (cp437)."""
    if info.flag_bits & UTF8 or info.filename != info.orig_filename:
        return info.filename
    try:
        return info.orig_filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _problem(info: zipfile.ZipInfo) -> str:
    kind = (info.external_attr >> 16) & 0o170000
    if kind not in (0, 0o100000, 0o040000):
        return "link"
    if info.flag_bits & ENCRYPTED:
        return "encrypted"
    return "" if info.compress_type in PLAIN_METHODS else "compression"


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    """A member, but no more than `most` bytes of it.

    Raises DamagedError, or OSError where the zip itself cannot be read.
    """
    try:
        with archive.open(info) as stream:
            data = stream.read(most)
    except OSError:
        raise
    except Exception as error:  # zlib.error, BadZipFile, EOFError, RuntimeError: no common class
        raise DamagedError(info.filename) from error
    if len(data) != min(most, info.file_size):
        raise DamagedError(info.filename)
    return data
