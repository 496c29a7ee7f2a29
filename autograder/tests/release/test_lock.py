"""Which packages the image for grading gets: what the kit needs, all that this needs, at the versions that are here."""

import importlib.metadata
from types import SimpleNamespace

import pytest

from autograder.release import prerequisites

PACKAGES = {
    "kit": ("1", ["a", "b[x]>=2", 'dev-only; extra == "dev"']),
    "a": ("1.5", ["b", 'windows-only; sys_platform == "win32"', 'linux-only; sys_platform == "linux"']),
    "b": ("2.0", ["a", 'for-x; extra == "x"', 'for-y; extra == "y"', 'old-python; python_version < "3"']),
    "for-x": ("3", []),
    "linux-only": ("4", []),
    "windows-only": ("5", []),
    "for-y": ("6", []),
    "dev-only": ("7", []),
    "old-python": ("8", []),
}


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> None:
    def distribution(name: str) -> SimpleNamespace:
        if name not in PACKAGES:
            raise importlib.metadata.PackageNotFoundError(name)
        version, requires = PACKAGES[name]
        return SimpleNamespace(version=version, requires=requires)

    monkeypatch.setattr("importlib.metadata.distribution", distribution)
    monkeypatch.setattr("importlib.metadata.version", lambda name: distribution(name).version)


@pytest.mark.usefixtures("packages")
def test_all_that_is_needed_on_linux_and_nothing_else() -> None:
    assert prerequisites.pinned(PACKAGES["kit"][1]) == ["a==1.5", "b==2.0", "for-x==3", "linux-only==4"]


@pytest.mark.usefixtures("packages")
def test_extra_that_is_asked_for_later_counts_too() -> None:
    assert "for-x==3" in prerequisites.pinned(["b", "b[x]"])


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize(
    ("name", "pins"),
    [
        ("B", ["a==1.5", "b==2.0", "linux-only==4"]),
        ("LINUX_only", ["linux-only==4"]),
        ("linux.only", ["linux-only==4"]),
    ],
)
def test_names_are_spelt_in_one_way(name: str, pins: list[str]) -> None:
    assert prerequisites.pinned([name]) == pins


@pytest.mark.usefixtures("packages")
def test_what_is_not_here_is_left_to_pip() -> None:
    assert prerequisites.pinned(["a", "nowhere>=1"]) == ["a==1.5", "b==2.0", "linux-only==4"]


@pytest.mark.usefixtures("packages")
def test_other_versions_here_are_named() -> None:
    found = prerequisites.otherwise_here(["a==1.5", "b==2.1", "nowhere==1", "tool>=3"])
    assert found == ["b 2.0 (zip: 2.1)", "nowhere not installed (zip: 1)"]


def test_real_lock_holds_here(monkeypatch: pytest.MonkeyPatch) -> None:
    pins = prerequisites.pinned(["otter-grader[grading]", "numpy"])
    assert prerequisites.otherwise_here(pins) == []
    assert len({pin.partition("==")[0] for pin in pins}) == len(pins) > 30
