"""Only regular files are opened, and nothing is waited for."""

import os
from pathlib import Path

import pytest

from autograder.submissions import tree
from autograder.submissions.tree import UnusableError

POSIX = pytest.mark.skipif(os.name != "posix", reason="links, pipes and devices are POSIX")


def test_regular_file_is_read_up_to_the_bound(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert tree.content(tmp_path / "a", 3) == b"123"


@POSIX
@pytest.mark.parametrize("kind", ["link", "device", "pipe", "folder"])
def test_all_else_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    (tmp_path / "secret").write_bytes(b"of a neighbour")
    place = tmp_path / "up.zip"
    match kind:
        case "link":
            place.symlink_to(tmp_path / "secret")
        case "device":
            place.symlink_to("/dev/zero")
        case "pipe":
            os.mkfifo(place)
        case "folder":
            place.mkdir()
    with pytest.raises(UnusableError):
        tree.opened(place)


@POSIX
def test_link_that_takes_the_name_after_the_first_look_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_bytes(b"")
    (tmp_path / "a").symlink_to(tmp_path / "secret")
    monkeypatch.setattr(Path, "lstat", Path.stat)
    with pytest.raises(UnusableError):
        tree.opened(tmp_path / "a")


@POSIX
def test_pipe_that_takes_the_name_after_the_first_look_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "a")
    regular_file = Path(__file__).stat()
    monkeypatch.setattr(Path, "lstat", lambda _: regular_file)
    with pytest.raises(UnusableError):
        tree.opened(tmp_path / "a")
