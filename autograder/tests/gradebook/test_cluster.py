"""Grading on a local Dask cluster gives the same results as without one, or a one-line error."""

import contextlib
import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from autograder.cli.main import main
from autograder.gradebook import sample
from autograder.homework.homework import PACKAGE
from autograder.tests.files import HOMEWORK, wait_for

MISSING = importlib.util.find_spec("distributed") is None
pytestmark = [pytest.mark.slow, pytest.mark.skipif(MISSING, reason="needs the extra `cluster`")]
NAME = f"{next(iter(HOMEWORK.rubric.modules))}.py"


class Cluster:
    """A scheduler and workers, started with `dask scheduler` and `dask worker`."""

    def __init__(self, folder: Path, stack: contextlib.ExitStack):
        self.stack, self.file = stack, folder / "scheduler.json"
        options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(self.file)]
        self.scheduler = self.start("scheduler", *options)
        wait_for(lambda: self.file.exists() and self.file.read_text())
        self.address = str(json.loads(self.file.read_text())["address"])

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments],
            cwd=self.file.parent,  # `-m` puts the working directory first in sys.path
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.stack.callback(kill_process, process)
        return process

    def start_workers(self, number: int) -> "list[subprocess.Popen[bytes]]":
        """Start workers, and wait for all of them."""
        import distributed

        options = ("worker", self.address, "--no-dashboard", "--no-nanny", "--nthreads", "1")
        started = [self.start(*options) for _ in range(number)]
        with distributed.Client(self.address, set_as_default=False) as client:  # type: ignore[no-untyped-call]
            client.wait_for_workers(number, timeout=60)
        return started


def kill_process(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Cluster]:
    with contextlib.ExitStack() as stack:
        yield Cluster(tmp_path, stack)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("class")
    for number in range(10):
        sample.write(folder / f"s{number}", {NAME: f"{sample.references(HOMEWORK)[NAME]}\n# {number}\n"})
    return folder


@pytest.fixture(scope="module")
def local_results(small: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("alone")
    assert grade(small, out).exit_code == 0
    return results(out)


def grade(place: Path, out: Path, *more: str) -> Result:
    return CliRunner().invoke(main, ["grade", str(place), "-o", str(out), "--quiet", *more])


def start_grading(place: Path, out: Path, address: str) -> "subprocess.Popen[str]":
    """Start the command in its own process, and wait for its first result."""
    command = [sys.executable, "-m", "autograder", "grade", str(place), "-o", str(out), "--cluster", address, "--quiet"]
    process = subprocess.Popen(command, cwd=PACKAGE.parent, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: results(out) or process.poll() is not None)
    return process


def results(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (out / "results").glob("*.json")}


def test_results_are_identical_even_if_a_worker_is_killed(
    dask: Cluster, small: Path, local_results: dict[str, bytes], tmp_path: Path
) -> None:
    victim, _ = dask.start_workers(2)
    running = start_grading(small, tmp_path / "out", dask.address)
    kill_process(victim)
    running.communicate(timeout=120)
    assert running.returncode == 0
    assert results(tmp_path / "out") == local_results


def test_killed_scheduler_stops_the_run(
    dask: Cluster, local_results: dict[str, bytes], small: Path, tmp_path: Path
) -> None:
    dask.start_workers(1)
    running = start_grading(small, tmp_path / "out", dask.address)
    kill_process(dask.scheduler)
    _, said = running.communicate(timeout=120)
    assert running.returncode == 1
    first, *others = [line for line in said.splitlines() if not line.startswith("note: ")]
    assert re.fullmatch(r"ERROR s\d( and \d more)?: the run stopped before this submission", first)
    advice = "Fix the cause and run the same command again."
    assert others == [f"autograder: stopped: the workers can no longer be reached. {advice}"]
    assert results(tmp_path / "out").items() <= local_results.items()
