"""What the tests share: a warm grader, and submissions made from the references."""

import os
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from filelock import FileLock

# Before NumPy is imported, and for all processes that tests start: the matrices are small, and with as many test processes as
# cores the threads of a product only wait for one another (forty random networks: 25 s instead of 1 s on a busy machine).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Images for containers often turn bytecode off; then each of the hundreds of processes compiles NumPy and pytest again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

from autograder.feedback import results
from autograder.gradebook import pool
from autograder.grading.grader import Grader, open_grader
from autograder.homework import kit
from autograder.homework import rubric as rubrics
from autograder.sandbox.budget import Limits
from autograder.submissions.submission import Submission, read
from autograder.tests.files import Built

if TYPE_CHECKING:  # imports Otter, which takes a second before any test process is started
    from autograder.tests.running import Box

collect_ignore = ["homeworks"]  # their suites run under the kit
QUICK = Limits(call_seconds=0.5, submission_seconds=20)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """One process more than there are cores, since many tests wait for others, unless -n says otherwise.

    A file's tests stay together, but the slow ones, of which a few take half of the time. Not in addopts: `solutions/` lies below
    the same pyproject.toml, and its checks must run without xdist.
    """
    ours = not hasattr(config, "workerinput") and config.option.numprocesses is None
    if ours and not config.option.collectonly:
        config.option.numprocesses = 0 if config.option.usepdb else pool.cores() + 1
        config.option.dist = "worksteal" if config.option.markexpr == "slow" else "loadfile"


@pytest.fixture(scope="session")
def references() -> dict[str, bytes]:
    """The files of a perfect submission."""
    return {f"{name}.py": (kit.solutions() / f"{name}.py").read_bytes() for name in rubrics.current().modules}


@pytest.fixture(scope="session")
def half(references: dict[str, bytes]) -> dict[str, bytes]:
    """A submission that is partly wrong."""
    wrong = references["layernorm.py"] + b"\n\ndef rms_norm(x, gamma, eps=1e-6):\n    return gamma * x\n"
    return {**references, "layernorm.py": wrong, "decoder.py": b"import nothing\n"}


@pytest.fixture(scope="session")
def grader() -> Iterator[Grader]:
    """A grader whose deadlines are short, so that endless loops cost the tests little."""
    with open_grader(limits=QUICK) as opened:
        yield opened


@pytest.fixture(scope="session")
def grade(grader: Grader, references: dict[str, bytes]) -> Callable[..., dict[str, Any]]:
    """Grade the references with some files replaced (None removes one); the document for Gradescope."""

    def run(changes: dict[str, str | None] | None = None, modules: tuple[str, ...] = ()) -> dict[str, Any]:
        files = dict(references)
        for name, text in (changes or {}).items():
            files.pop(name, None)
            if text is not None:
                files[name] = text.encode()
        return results.gradescope(grader.grade(Submission("test", files), modules))

    return run


@pytest.fixture(scope="session")
def alter(references: dict[str, bytes]) -> Callable[[str, str], dict[str, str]]:
    """The reference of a module with a function defined anew at its end."""

    def changed(module: str, definition: str) -> dict[str, str]:
        return {f"{module}.py": references[f"{module}.py"].decode() + "\n\n" + definition + "\n"}

    return changed


# On Otter's road


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Built:
    """Built by the first test process that needs it, for all of them."""
    from autograder.release import build

    base = tmp_path_factory.getbasetemp()
    place = (base if worker_id == "master" else base.parent) / "built"
    made = Built(place / "dist/autograder.zip", place / "dist/student.zip", place / "assignments", place / "installed")
    with FileLock(f"{place}.lock"):
        if not made.installed.is_dir():
            with build.assigned(check=False) as result:
                build.write(result, place / "dist", made.assignments)
            with zipfile.ZipFile(made.zip) as archive:
                wheel = archive.extract(next(name for name in archive.namelist() if name.endswith(".whl")), place)
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(made.installed)
    return made


@pytest.fixture
def box(
    built: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[Mapping[str, bytes]], "Box"]]:
    from otter.run.run_autograder.runners import python_runner

    from autograder.tests.running import Box, without_kernel

    monkeypatch.setattr(python_runner, "grade_notebook", without_kernel)
    monkeypatch.setenv("PATH", os.environ["PATH"])  # Otter changes it
    boxes: list[Path] = []

    def make(upload: Mapping[str, bytes]) -> "Box":
        boxes.append(tmp_path / f"autograder-{len(boxes)}")
        return Box(boxes[-1], built, upload)

    yield make
    for path in boxes:
        shutil.rmtree(path)


@pytest.fixture(scope="session")
def at_home(grader: Grader) -> Callable[[Path], dict[str, Any]]:
    """The same upload graded by the other road, `autograder grade`."""
    return lambda path: results.gradescope(grader.grade(read(path, Limits())))
