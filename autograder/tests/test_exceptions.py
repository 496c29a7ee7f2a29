"""An error that ends a command is one short line: where, why, and what to do."""

import errno
import os
import shutil
from pathlib import Path

import pytest

from autograder.exceptions import of_system


def refused(number: int, *place: str, temporary: bool = False) -> str:
    return str(of_system(OSError(number, os.strerror(number), *place), "results", temporary))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_line_has_path_reason_and_advice(number: int) -> None:
    assert refused(number, "a.csv").startswith(f"a.csv: {os.strerror(number)}; ")
    assert "TMPDIR" in refused(number, "a.csv", temporary=True) and "TMPDIR" not in refused(number, "a.csv")


def test_path_is_the_default_if_the_error_has_none_and_the_target_of_a_copy() -> None:
    assert refused(errno.EIO) == f"results: {os.strerror(errno.EIO)}"
    assert refused(errno.EIO, temporary=True) == refused(errno.EIO)
    assert str(of_system(OSError(), "results")) == "results: OSError"
    assert str(of_system(OSError("no room"))) == "no room"
    copied = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/from", None, "/to")
    assert str(of_system(copied)).startswith("/to: ")


def test_failed_copy_of_a_tree_is_one_short_line(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for number in range(2000):
        (tmp_path / "a" / f"{number}").symlink_to("nowhere")
    with pytest.raises(shutil.Error) as caught:
        shutil.copytree(tmp_path / "a", tmp_path / "b")
    assert len(str(caught.value)) > 100_000
    line = str(of_system(caught.value, tmp_path))
    assert len(line) < 500 and "\n" not in line and os.strerror(errno.ENOENT) in line
    assert "TMPDIR" in str(of_system(caught.value, temporary=True))
