"""Shared fixtures: a grader that stays open, submissions made from the references, and the built kit."""

import os
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from filelock import FileLock

# Set before NumPy is imported, and inherited by all processes that tests start. The matrices are small, and with one
# test process per core, the threads of a product only wait for each other (forty random networks: 25 s instead of 1 s).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Container images often disable bytecode files. Then each of hundreds of processes compiles NumPy and pytest again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

from autograder.feedback.results import Grade
from autograder.gradebook import pool
from autograder.grading.grader import Grader, open_grader
from autograder.sandbox.process import Limits
from autograder.submissions.submission import Submission, read
from autograder.tests.files import HOMEWORK, Built
from autograder.tests.making import limited

if TYPE_CHECKING:  # imports Otter, which would delay the start of the test processes by a second
    from autograder.tests.running import Box

collect_ignore = ["homeworks"]  # the kit runs their suites
QUICK = Limits(call_seconds=0.5, submission_seconds=20)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Without -n, run one process more than there are cores, because many tests wait for other processes.

    The tests of a file stay together, except slow ones: a few of them take half of the time. These options are not in
    addopts because `solutions/` is below the same pyproject.toml, and its checks must run without xdist.
    """
    ours = not hasattr(config, "workerinput") and config.option.numprocesses is None
    if ours and not config.option.collectonly:
        config.option.numprocesses = 0 if config.option.usepdb else pool.cores() + 1
        config.option.dist = "worksteal" if config.option.markexpr == "slow" else "loadfile"


@pytest.fixture(scope="session")
def references() -> dict[str, bytes]:
    """The files of a correct submission."""
    return {f"{name}.py": (HOMEWORK.solutions / f"{name}.py").read_bytes() for name in HOMEWORK.rubric.modules}


@pytest.fixture(scope="session")
def half(references: dict[str, bytes]) -> dict[str, bytes]:
    """A submission that is partly wrong."""
    wrong = references["layernorm.py"] + b"\n\ndef rms_norm(x, gamma, eps=1e-6):\n    return gamma * x\n"
    return {**references, "layernorm.py": wrong, "decoder.py": b"import nothing\n"}


@pytest.fixture(scope="session")
def grader() -> Iterator[Grader]:
    """A grader with short deadlines, so that endless loops end soon."""
    with open_grader(HOMEWORK, limits=QUICK) as opened:
        yield opened


@pytest.fixture(scope="session")
def grade(grader: Grader, references: dict[str, bytes]) -> Callable[..., dict[str, Any]]:
    """Grade the references with some files replaced (None removes one); returns the document for Gradescope."""

    def run(changes: dict[str, str | None] | None = None, modules: tuple[str, ...] = ()) -> dict[str, Any]:
        files = dict(references)
        for name, text in (changes or {}).items():
            files.pop(name, None)
            if text is not None:
                files[name] = text.encode()
        return Grade.of(grader.grade(Submission("test", files), modules)).to_gradescope()

    return run


@pytest.fixture(scope="session")
def alter(references: dict[str, bytes]) -> Callable[[str, str], dict[str, str]]:
    """The file of a reference module, with a function redefined at its end."""

    def changed(module: str, definition: str) -> dict[str, str]:
        return {f"{module}.py": references[f"{module}.py"].decode() + "\n\n" + definition + "\n"}

    return changed


# Grading with Otter


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Built:
    """The built kit, which the first test process that needs it builds for all of them."""
    from autograder.release import build

    base = tmp_path_factory.getbasetemp()
    place = (base if worker_id == "master" else base.parent) / "built"
    dist, names = place / "dist", ("assignments", "transformer", "installed")
    made = Built(dist / "autograder.zip", dist / "student.zip", *(place / name for name in names))
    with FileLock(f"{place}.lock"):
        if not made.installed.is_dir():
            with build.assigned(HOMEWORK, check=False) as result:
                build.write(HOMEWORK, result, dist, made.assignments)
            with zipfile.ZipFile(made.student_zip) as archive:
                archive.extractall(place)
            with zipfile.ZipFile(made.zip) as archive:
                wheel = archive.extract(next(name for name in archive.namelist() if name.endswith(".whl")), place)
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(made.installed)
    return made


@pytest.fixture
def box(
    built: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[Mapping[str, bytes]], "Box"]]:
    from autograder.tests.running import Box

    monkeypatch.setenv("PATH", os.environ["PATH"])  # to be restored, because Otter changes it
    boxes: list[Path] = []

    def make(upload: Mapping[str, bytes]) -> "Box":
        boxes.append(tmp_path / f"autograder-{len(boxes)}")
        return Box(boxes[-1], built, upload)

    yield make
    for path in boxes:
        shutil.rmtree(path)


@pytest.fixture(scope="session")
def at_home(grader: Grader) -> Callable[[Path], dict[str, Any]]:
    """Grade the same upload as `autograder grade` does."""
    return lambda path: Grade.of(grader.grade(read(path, limited(Limits())))).to_gradescope()
