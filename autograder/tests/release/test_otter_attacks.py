"""Uploads that attack Otter before it calls the kit have no effect, even with the zip of plain `otter assign`."""

import os
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from otter.run import main as otter_run

from autograder.grading.grader import open_grader
from autograder.release import build
from autograder.submissions.submission import read
from autograder.tests.attacks.otter import OTTER
from autograder.tests.files import HOMEWORK, Built, unzipped
from autograder.tests.running import Box

Attacked = Callable[[Path, str], float]
HONEST = "causal_mask"
POINTS = HOMEWORK.rubric.modules[HONEST].points
THIEVES = [name for name in OTTER if name.startswith("wheel_")]
SOME = [pytest.param(name, marks=() if name == "overwritten_through_a_link" else pytest.mark.slow) for name in OTTER]


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "machine" / "victim.txt"
    path.parent.mkdir()
    path.write_text("whole")
    return path


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A path in a folder that student code may read, if this user can write there."""
    packages = Path(np.__file__).parent
    path = (packages if os.access(packages, os.W_OK) else tmp_path) / f"hostile-{os.getpid()}"
    yield path
    shutil.rmtree(path, ignore_errors=True)
    path.unlink(missing_ok=True)


def untouched(victim: Path, place: Path) -> bool:
    there = list(place.iterdir()) if place.is_dir() else [place] if place.exists() else []
    return victim.read_text() == "whole" and list(victim.parent.iterdir()) == [victim] and not there


@pytest.fixture
def attacked(references: dict[str, bytes], victim: Path, place: Path) -> Attacked:
    """Add an attack to a folder, plus an honest module unless the modules are hostile; returns the deserved points."""

    def add(folder: Path, name: str) -> float:
        if name not in THIEVES:
            (folder / f"{HONEST}.py").write_bytes(references[f"{HONEST}.py"])
        OTTER[name](folder, victim, place)
        return 0 if name in THIEVES else POINTS

    return add


@pytest.mark.slow
def test_zip_of_otter_assign_alone_has_the_same_contents(built: Built) -> None:
    with build.assigned(HOMEWORK, check=False) as result:
        packed = unzipped(next((result / "autograder").glob("*.zip")))
    assert packed.pop("environment.yml")  # for conda, which setup.sh does not use
    assert packed == unzipped(built.zip)


@pytest.mark.slow
@pytest.mark.parametrize("name", THIEVES)
def test_stolen_wheel_would_earn_points(
    name: str, built: Built, attacked: Attacked, place: Path, tmp_path: Path
) -> None:
    """The next tests show that it cannot be stolen."""
    if place.is_relative_to(tmp_path):
        pytest.skip("only who may write into NumPy's folder could carry it to where student code may read")
    (tmp_path / "upload").mkdir()
    attacked(tmp_path / "upload", name)
    wheel = next(data for name, data in unzipped(built.zip).items() if name.endswith(".whl"))
    (place / "kit.whl" if place.is_dir() else place).write_bytes(wheel)
    with open_grader(HOMEWORK) as opened:  # a new grader, since it copies NumPy if student code cannot reach it
        earned = opened.grade(read(tmp_path / "upload", opened.rubric)).points
    assert earned == HOMEWORK.rubric.modules["layernorm"].points


@pytest.mark.slow
@pytest.mark.parametrize("name", OTTER)
def test_attack_through_the_zip_of_otter_assign(
    name: str, built: Built, attacked: Attacked, victim: Path, place: Path, tmp_path: Path
) -> None:
    tried = Box(tmp_path / "autograder", built, {})
    deserved = attacked(tried.submission, name)
    done = tried.run()
    assert done.returncode == 0, done.stderr
    assert tried.document()["score"] == deserved
    assert untouched(victim, place)


@pytest.mark.usefixtures("box")  # restores PATH, which Otter changes
@pytest.mark.parametrize("name", SOME[:-1])
def test_attack_through_otter_run(
    name: str, built: Built, attacked: Attacked, victim: Path, place: Path, tmp_path: Path
) -> None:
    """Otter unpacks the zip itself, so links become files. It rejects files that have the names of its folders."""
    (tmp_path / "upload").mkdir()
    deserved = attacked(tmp_path / "upload", name)
    with zipfile.ZipFile(tmp_path / "upload.zip", "w") as archive:
        for path in (tmp_path / "upload").iterdir():
            entry = zipfile.ZipInfo(path.name)
            entry.external_attr = path.lstat().st_mode << 16
            archive.writestr(entry, os.readlink(path) if path.is_symlink() else path.read_bytes())
    if name == "emptied_through_a_link":
        with pytest.raises(NotADirectoryError, match="tests"):
            otter_run(str(tmp_path / "upload.zip"), autograder=str(built.zip), output_dir=str(tmp_path), no_logo=True)
    else:
        found = otter_run(str(tmp_path / "upload.zip"), autograder=str(built.zip), output_dir="", no_logo=True)
        assert found.to_gradescope_dict(None)["score"] == deserved
    assert untouched(victim, place)
