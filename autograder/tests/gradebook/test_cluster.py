"""A Dask cluster of worker processes on this machine: the same bytes, or one line that says what is wrong."""

import contextlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner, Result

from autograder.cli.main import main
from autograder.gradebook import pool, sample
from autograder.homework import kit
from autograder.homework import rubric as rubrics

MISSING = importlib.util.find_spec("distributed") is None
pytestmark = [pytest.mark.slow, pytest.mark.skipif(MISSING, reason="needs the extra `cluster`")]
NAME = f"{next(iter(rubrics.current().modules))}.py"


class Cluster:
    """A scheduler and workers as `dask scheduler` and `dask worker` start them."""

    def __init__(self, folder: Path, stack: contextlib.ExitStack):
        self.file, self.stack = folder / "scheduler.json", stack
        options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(self.file)]
        self.scheduler = self.start("scheduler", *options)
        self.wait(lambda: self.file.exists() and self.file.read_text())
        self.address = str(json.loads(self.file.read_text())["address"])

    def start(self, *arguments: str, path: Path | None = None) -> "subprocess.Popen[bytes]":
        environment = {**os.environ, **({"PYTHONPATH": str(path)} if path else {})}
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments],
            env=environment,
            cwd=self.file.parent,  # `-m` puts the folder that it runs in before all others
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.stack.callback(end, process)
        return process

    def worker(self, path: Path | None = None) -> "subprocess.Popen[bytes]":
        return self.start("worker", self.address, "--no-dashboard", "--nthreads", "1", path=path)

    def wait(self, condition: Callable[[], object]) -> None:
        until = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < until, "waited too long"
            time.sleep(0.05)

    def wait_for_workers(self, number: int) -> None:
        import distributed

        with distributed.Client(self.address, set_as_default=False) as client:  # type: ignore[no-untyped-call]
            client.wait_for_workers(number, timeout=60)


def end(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(psutil.Error):
        for child in psutil.Process(process.pid).children(recursive=True):
            child.kill()
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
        sample.write(folder / f"s{number}", {NAME: f"{sample.references()[NAME]}\n# {number}\n"})
    return folder


@pytest.fixture(scope="module")
def alone(small: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("alone")
    assert grade(small, out).exit_code == 0
    return results(out)


def grade(place: Path, out: Path, *more: str) -> Result:
    return CliRunner().invoke(main, ["grade", str(place), "-o", str(out), "--quiet", *more])


def results(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (out / "results").glob("*.json")}


def test_two_workers_give_the_same_bytes(dask: Cluster, small: Path, alone: dict[str, bytes], tmp_path: Path) -> None:
    dask.worker()
    dask.worker()
    dask.wait_for_workers(2)
    done = grade(small, tmp_path / "out", "--cluster", dask.address)
    assert done.exit_code == 0, done.output
    assert results(tmp_path / "out") == alone


def test_a_killed_worker_costs_nothing(dask: Cluster, small: Path, alone: dict[str, bytes], tmp_path: Path) -> None:
    dask.worker()
    victim = dask.worker()
    dask.wait_for_workers(2)
    command = [sys.executable, "-m", "autograder", "grade", str(small), "-o", str(tmp_path / "out"), "--quiet"]
    running = subprocess.Popen([*command, "--cluster", dask.address], cwd=kit.PACKAGE.parent)
    dask.wait(lambda: results(tmp_path / "out") or running.poll() is not None)
    end(victim)
    assert running.wait(120) == 0
    assert results(tmp_path / "out") == alone


def test_worker_with_another_rubric_is_named(dask: Cluster, small: Path, tmp_path: Path) -> None:
    skipped = shutil.ignore_patterns("__pycache__", "tests", "audit", "docs")
    shutil.copytree(kit.PACKAGE, tmp_path / "other" / "autograder", ignore=skipped)
    shutil.copytree(kit.solutions(), tmp_path / "other" / "solutions")
    text = kit.rubric_file().read_text().replace("title: ", "title: Another ", 1)
    (tmp_path / "other" / "rubric.yaml").write_text(text)
    dask.worker()
    dask.worker(tmp_path / "other")
    dask.wait_for_workers(2)
    done = grade(small, tmp_path / "out", "--cluster", dask.address)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "has a different kit" in done.stderr


def test_worker_without_the_kit_is_named(dask: Cluster, small: Path, tmp_path: Path) -> None:
    (tmp_path / "none" / "autograder").mkdir(parents=True)
    (tmp_path / "none" / "autograder" / "__init__.py").write_text("raise ModuleNotFoundError('autograder')\n")
    dask.worker(tmp_path / "none")
    dask.wait_for_workers(1)
    done = grade(small, tmp_path / "out", "--cluster", dask.address)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "cannot import the kit" in done.stderr


def test_scheduler_without_workers_says_how_to_start_some(dask: Cluster, small: Path, tmp_path: Path) -> None:
    done = grade(small, tmp_path / "out", "--cluster", dask.address)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert f"dask worker {dask.address}" in done.stderr


@pytest.mark.parametrize(
    "address", ["nowhere:1", "127.0.0.1:1", "nonsense://x", "http://127.0.0.1:1", "tcp://127.0.0.1:abc", ""]
)
def test_wrong_address_is_one_line(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setattr(pool, "CONNECT", "1s")
    done = grade(small, tmp_path / "out", "--cluster", address or " ")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.output
    assert "Dask scheduler" in done.stderr


def test_a_killed_scheduler_stops_the_run(dask: Cluster, alone: dict[str, bytes], small: Path, tmp_path: Path) -> None:
    dask.worker()
    dask.wait_for_workers(1)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "autograder", "grade", str(small), "-o", str(out), "--cluster", dask.address]
    running = subprocess.Popen([*command, "--quiet"], cwd=kit.PACKAGE.parent, stderr=subprocess.PIPE, text=True)
    dask.wait(lambda: results(out) or running.poll() is not None)
    end(dask.scheduler)
    _, said = running.communicate(timeout=120)
    assert running.returncode == 1
    lines = [line for line in said.splitlines() if not line.startswith("note: ")]
    assert re.fullmatch(r"ERROR s\d( and \d more)?: the run stopped before this submission", lines[0])
    said = "autograder: stopped: the workers can no longer be reached. Fix the cause and run the same command again."
    assert lines[1:] == [said]
    assert results(out).items() <= alone.items()
