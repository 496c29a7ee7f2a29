"""What ends a command is a short line: where, why, and what to do."""

import errno
import os
import shutil
from pathlib import Path

import pytest

from autograder.exceptions import of_system


def refused(number: int, *place: str) -> str:
    return str(of_system(OSError(number, os.strerror(number), *place), "results"))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_line_says_where_why_and_what_to_do(number: int) -> None:
    assert refused(number, "a.csv").startswith(f"a.csv: {os.strerror(number)}; ")
    assert "TMPDIR" in refused(number, "a.csv")


def test_place_is_said_where_the_error_does_not_know_it_and_of_a_copy_where_it_goes() -> None:
    assert refused(errno.EIO) == f"results: {os.strerror(errno.EIO)}"
    assert str(of_system(OSError(), "results")) == "results: OSError"
    copied = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/from", None, "/to")
    assert str(of_system(copied)).startswith("/to: ")


def test_copy_of_a_whole_tree_that_fails_is_one_short_line(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for number in range(2000):
        (tmp_path / "a" / f"{number}").symlink_to("nowhere")
    with pytest.raises(shutil.Error) as caught:
        shutil.copytree(tmp_path / "a", tmp_path / "b")
    assert len(str(caught.value)) > 100_000
    line = str(of_system(caught.value, tmp_path))
    assert len(line) < 500 and "\n" not in line and os.strerror(errno.ENOENT) in line
