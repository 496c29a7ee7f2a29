"""Folders on disk and in zips are listed alike, up to a depth and a number, and never through a link."""

import io
import os
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.submissions import tree as trees
from autograder.submissions.tree import DEPTH, of_bytes, of_file, of_folder, of_zip
from autograder.tests.files import put
from autograder.tests.making import Files, as_nobody

FILES: Files = {"a.py": "1", "sub/b.py": "22", "sub/deep/c.py": "333", "__MACOSX/a.py": "", "sub/._b.py": ""}


@pytest.mark.parametrize("place", ["up", "up.zip"])
def test_same_names_on_disk_and_in_a_zip(tmp_path: Path, place: str) -> None:
    path = put(tmp_path / place, FILES)
    tree = of_zip(path) if path.suffix else of_folder(path)
    assert tree.name == "up"
    assert [(name, source.size) for name, source in tree.walk()] == [("a.py", 1), ("sub/b.py", 2), ("sub/deep/c.py", 3)]
    assert set(tree.files) == {"a.py"}
    assert set(tree.folders) == {"sub", "__MACOSX"}
    assert dict(tree.walk())["sub/b.py"].read(10) == b"22"


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


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A folder that is removed by a program, since it may be deeper than Python's own functions can go."""
    yield tmp_path
    subprocess.run(["rm", "-rf", str(tmp_path)], check=True)


@pytest.mark.parametrize("zipped", [False, True])
def test_folders_a_thousand_deep_are_not_entered(deep: Path, zipped: bool) -> None:
    tmp_path = deep
    if zipped:
        tree = of_zip(put(tmp_path / "up.zip", {"d/" * 1100 + "a.py": "", "b.py": ""}))
    else:
        (tmp_path / "up").mkdir()
        descriptor = os.open(tmp_path / "up", os.O_RDONLY)
        for _ in range(1100):
            os.mkdir("d", dir_fd=descriptor)
            inner = os.open("d", os.O_RDONLY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        os.close(descriptor)
        tree = of_folder(put(tmp_path / "up", {"b.py": ""}))
    found = list(tree.walk())
    assert found[0][0] == "b.py"
    assert [source.problem for _, source in found] == ["", "deep"]


def test_path_too_long_for_the_system_ends_the_walk_without_an_error(deep: Path) -> None:
    tmp_path = deep
    descriptor = os.open(tmp_path, os.O_RDONLY)
    for _ in range(DEPTH + 2):
        os.mkdir("d" * 250, dir_fd=descriptor)
        inner = os.open("d" * 250, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(descriptor)
    assert next(of_folder(put(tmp_path, {"a.py": ""})).walk())[0] == "a.py"


def test_one_folder_is_listed_up_to_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "LISTED", 5)
    put(tmp_path, {f"{number}.py": "" for number in range(9)})
    found = of_folder(tmp_path)
    assert (len(found.files), found.sources[""].problem) == (5, "many")


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
    with pytest.raises(OSError, match="ermission"):
        found["closed"].read(0)


def test_link_that_the_user_names_is_followed_but_only_itself(tmp_path: Path) -> None:
    put(tmp_path, {"a.py": "1"})
    (tmp_path / "latest.py").symlink_to(tmp_path / "a.py")
    assert of_file(tmp_path / "latest.py").files["latest.py"].read(5) == b"1"


def test_of_two_members_of_one_name_the_last_counts() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.py", "old")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a.py", "new")
    assert of_bytes(stream.getvalue(), Path("up.zip"), 10).files["a.py"].read(9) == b"new"


@pytest.mark.parametrize(
    ("name", "problem"),
    [("../a.py", "outside"), ("/etc/a.py", "outside"), ("x\\..\\..\\a.py", "outside"), ("./a.py", ""), ("x//a.py", "")],
)
def test_paths_that_lead_out_of_a_zip_are_told(tmp_path: Path, name: str, problem: str) -> None:
    ((_, source),) = of_zip(put(tmp_path / "up.zip", {name: "1"})).walk()
    assert source.problem == problem


def test_file_and_folder_of_one_name_are_both_there(tmp_path: Path) -> None:
    tree = of_zip(put(tmp_path / "up.zip", {"a": "1", "a/b.py": "2"}))
    assert [name for name, _ in tree.walk()] == ["a", "a/b.py"]
