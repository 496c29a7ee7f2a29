"""A file is written completely or not at all, and its text cannot steer a terminal."""

import errno
import os
import re
from pathlib import Path

import pytest

from autograder.files import write_atomically


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a\x1b[31m\n\tb\u202ec\x9b\u2066é", "a?[31m\n\tb?c??é"),
        ("a\u200b\u2060\ufeff\xad\u2028\U000e0041b", "a??????b"),
    ],
)
def test_text_keeps_lines_but_no_control_or_bidi_characters(tmp_path: Path, text: str, written: str) -> None:
    write_atomically(tmp_path / "page.html", text)
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == written


def test_a_file_is_written_completely_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "new" / "archive.zip"
    write_atomically(path, b"\xff\0old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=f"{os.strerror(errno.ENOSPC)}: '{re.escape(str(path))}'"):
        write_atomically(path, b"new")
    assert list(path.parent.iterdir()) == [path]
    assert path.read_bytes() == b"\xff\0old"
