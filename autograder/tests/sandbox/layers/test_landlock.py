"""Landlock's rules: what they open, and that everything else stays closed; tried in children of this process."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.sandbox.layers import kernel, landlock
from autograder.tests.running import locked


def in_child(action: Callable[[], object]) -> bool:
    """Whether an action succeeds in a child."""
    child = os.fork()
    if child == 0:
        try:
            action()
            os._exit(0)
        except OSError:
            os._exit(1)
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.fixture
def places(tmp_path: Path) -> Path:
    for name in ("readable", "writable", "closed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("x")
    return tmp_path


def linked(link: Path, target: Path) -> Path:
    link.symlink_to(target)
    return link


ALLOWED: dict[str, tuple[bool, Callable[[Path], object]]] = {
    "read what is readable": (True, lambda p: (p / "readable" / "file").read_text()),
    "list it": (True, lambda p: os.listdir(p / "readable")),
    "write it": (False, lambda p: (p / "readable" / "file").write_text("y")),
    "read what is closed": (False, lambda p: (p / "closed" / "file").read_text()),
    "write what is closed": (False, lambda p: (p / "closed" / "new").write_text("y")),
    "write what is writable": (True, lambda p: (p / "writable" / "new").write_text("y")),
    "make folders there": (True, lambda p: (p / "writable" / "new").mkdir()),
    "make pipes there": (False, lambda p: os.mkfifo(p / "writable" / "new")),
    "link what is closed there": (False, lambda p: os.link(p / "closed" / "file", p / "writable" / "new")),
    "follow links out": (False, lambda p: linked(p / "writable" / "l", p / "closed" / "file").read_text()),
    "read devices": (True, lambda p: os.open("/dev/urandom", os.O_RDONLY)),
}  # fmt: skip


@locked
@pytest.mark.parametrize("name", ALLOWED)
def test_only_what_the_rules_open_is_open(name: str, places: Path) -> None:
    allowed, action = ALLOWED[name]
    rules = landlock.rules([places / "readable"], places / "writable")

    def confined() -> None:
        kernel.forbid_new_privileges()
        landlock.restrict(rules)
        action(places)

    assert in_child(lambda: action(places))
    for made in ("new", "l"):
        path = places / "writable" / made
        if path.is_symlink() or path.is_file() or path.is_fifo():
            path.unlink()
        elif path.is_dir():
            path.rmdir()
    (places / "closed" / "new").unlink(missing_ok=True)
    assert in_child(confined) is allowed
    os.close(rules)


@locked
def test_under_no_rules_nothing_can_be_opened() -> None:
    rules = landlock.nothing()

    def confined() -> None:
        kernel.forbid_new_privileges()
        landlock.restrict(rules)
        os.open("/dev/null", os.O_RDONLY)

    assert not in_child(confined)
    os.close(rules)


def test_roots_are_opened_up_around_holes(tmp_path: Path) -> None:
    for name in ("a/b/hole", "a/c", "d"):
        (tmp_path / name).mkdir(parents=True)
    found = landlock.without(
        [str(tmp_path / "a"), str(tmp_path / "d"), str(tmp_path / "nothing")], [tmp_path / "a/b/hole"]
    )
    assert set(found) == {tmp_path / "a/c", tmp_path / "d"}
    assert list(landlock.without([str(tmp_path / "a" / "b")], [tmp_path / "a"])) == []
