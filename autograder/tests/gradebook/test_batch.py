"""Grading a class: no kill, interruption, full disk or broken file loses a grade or makes one up."""

import contextlib
import errno
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import psutil
import pytest
from click.testing import CliRunner, Result

from autograder.cli.main import main
from autograder.exceptions import CommandError, SandboxError
from autograder.feedback.results import Grade, Mark
from autograder.files import write_atomically
from autograder.gradebook import batch, pool, sample, store
from autograder.gradebook.batch import Run, grade_class
from autograder.gradebook.pool import Pool
from autograder.gradebook.store import Store
from autograder.sandbox import layers
from autograder.submissions import submission
from autograder.submissions.exports import listing
from autograder.submissions.submission import Submission
from autograder.tests.files import HOMEWORK, put, table_of, wait_for

ROOT = Path(batch.__file__).parents[2]
NAMES = [f"{name}.py" for name in HOMEWORK.rubric.modules]
COPY = NAMES[0].replace(".py", " (1).py")
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and process groups are POSIX")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of twelve students, each with one submitted module."""
    folder = tmp_path_factory.mktemp("class")
    name, right, empty = NAMES[0], sample.references(HOMEWORK)[NAMES[0]], sample.stubs(HOMEWORK)[NAMES[0]]
    for i in range(12):
        sample.write(folder / f"s{i:02d}", {name: f"{empty if i % 4 == 3 else right}\n# {i}\n"})
    return folder


def threads(jobs: int = 1) -> Pool:
    """A thread and the warm grader of this process, for tests that are not about worker processes."""
    return Pool(lambda _: ThreadPoolExecutor(1), 1, is_local=True)


@pytest.fixture
def in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the command grade in this process."""
    monkeypatch.setattr(pool, "local", threads)


@pytest.fixture(scope="module", autouse=True)
def close_warm_grader() -> Iterator[None]:
    """Closes the warm grader of this process after the tests of this file."""
    yield
    pool.cool()


def run(folder: Path, out: Path, workers: Pool | None = None, stream: Any = None, fresh: bool = False) -> Run:
    """Grade without the command, in a thread unless `workers` is given."""
    entries = listing([folder], HOMEWORK.rubric).entries
    return grade_class(entries, HOMEWORK, Store(out), workers or threads(), stream, fresh)


def start(*arguments: str | Path) -> "subprocess.Popen[str]":
    """Start the command in its own process group. It receives SIGINT even if the tests run in the background."""
    command = [sys.executable, "-m", "autograder", "grade", *map(str, arguments)]
    restore_sigint = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True, start_new_session=True, preexec_fn=restore_sigint
    )


def call(*arguments: str | Path) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, ["grade", *map(str, arguments)])


def documents(out: Path) -> dict[str, bytes]:
    """The content of each result file, after a check that it is complete."""
    found = {path.stem: path.read_bytes() for path in (out / "results").glob("*.json")}
    for content in found.values():
        assert json.loads(content)["tests"]
    return found


def rows(out: Path) -> dict[str, dict[str, str]]:
    return table_of(out / "grades.csv", "Submission ID")


@pytest.fixture(scope="module")
def graded(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder of the small class, graded in this process without interruption."""
    out = tmp_path_factory.mktemp("graded")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pool, "local", threads)
        assert call(small, "-o", out).exit_code == 0
    return out


# Output


@pytest.mark.usefixtures("in_a_thread")
def test_output_has_a_table_and_the_path_of_the_report(graded: Path, small: Path) -> None:
    done = call(small, "-o", graded)
    assert "s03" in done.stdout
    assert "report.html" in done.stdout
    assert "12 graded (12 unchanged since an earlier run)" in done.stdout
    assert (graded / "report.html").read_text().count('<tr id="s') == 12
    assert "a folder of 12 submissions" in done.stderr and "Starting the workers" not in done.stderr
    quiet = call(small, "-o", graded, "--quiet")
    assert quiet.stdout == "" and re.fullmatch(r"(note: the sandbox lacks .*\n)?", quiet.stderr)


# Reuse of earlier results


@pytest.fixture
def out(graded: Path, tmp_path: Path) -> Path:
    """A folder with the results of an earlier run."""
    shutil.copytree(graded / "results", tmp_path / "out" / "results")
    return tmp_path / "out"


def test_outdated_and_damaged_results_are_regraded_and_fresh_regrades_all(graded: Path, small: Path, out: Path) -> None:
    others = {"kit": "0", "layers": ["fork"], "submission": "0"}
    damaged = ["", "{", "[]", '{"score": 100, "tests": []}', "null"]
    paths = sorted((out / "results").iterdir())
    for path, (key, value) in zip(paths, others.items(), strict=False):
        document = json.loads(path.read_text())
        document["extra_data"][key] = value
        path.write_text(json.dumps(document))
    for path, content in zip(paths[len(others) :], damaged, strict=False):
        path.write_text(content)
    for fresh, kept in ((False, len(paths) - len(others) - len(damaged)), (True, 0)):
        assert run(small, out, fresh=fresh).unchanged == kept
        assert documents(out) == documents(graded)


# Interrupted runs


def child_processes(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


@POSIX
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_killed_run_resumes_where_it_stopped(graded: Path, small: Path, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    there = 0
    while there < 8:
        process = start(small, "-o", tmp_path, "--jobs", "2")
        wanted = there + chance.randint(1, 4)
        wait_for(partial(has_results, tmp_path, wanted))
        time.sleep(chance.random() * 0.2)
        children = child_processes(process)
        process.kill()
        process.communicate()
        there = len(documents(tmp_path))
        wait_for(partial(all_ended, children), 20)
    outcome = run(small, tmp_path)
    assert outcome.unchanged >= there
    assert not outcome.errors
    assert documents(tmp_path) == documents(graded)


def has_results(out: Path, number: int) -> bool:
    return len(list(out.glob("results/*.json"))) >= number


def all_ended(processes: list[psutil.Process]) -> bool:
    for process in processes:
        with contextlib.suppress(psutil.Error):
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                return False
    return True


@POSIX
@pytest.mark.slow
@pytest.mark.parametrize("group", [True, False], ids=["group", "parent alone"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("results", [0, 1], ids=["while the workers start", "while they grade"])
def test_sigint_and_sigterm_end_the_run_cleanly(
    small: Path, tmp_path: Path, results: int, number: signal.Signals, group: bool
) -> None:
    process = start(small, "-o", tmp_path, "--jobs", "2")
    wait_for(lambda: child_processes(process) and has_results(tmp_path, results))
    time.sleep(0 if results else 0.3)
    children = child_processes(process)
    os.killpg(process.pid, number) if group else process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert said.splitlines()[-1].startswith("autograder: interrupted; finished results are in ")
    assert "Traceback" not in said and "resource_tracker" not in said
    wait_for(partial(all_ended, children), 20)
    there = len(documents(tmp_path))
    assert run(small, tmp_path).unchanged == there >= results


# Submissions that crash or block a worker, and other grader errors


def grade_or_fail(submission: Submission, kit: str, folder: Path | None) -> Grade:
    """Replaces `pool.grade`: sleeps, crashes, raises an error or returns one point, by the submission's name."""
    match submission.name:
        case "s01":
            time.sleep(600)
        case "s02" | "s05":
            os._exit(9)
        case "s04" if not (mark := Path(os.environ["MARK"])).exists():
            mark.touch()
            os._exit(9)
        case "s07":
            raise SandboxError("the machine is\nto blame")
    return one_point(submission, kit, folder)


def one_point(submission: Submission, kit: str, folder: Path | None) -> Grade:
    return Grade(submission.name, 1, (Mark("c", "c: x", 1, 1),), tuple(layers.holding()))


def prepare_nothing(folder: Path | None) -> tuple[str, ...]:
    return tuple(layers.holding())


@pytest.fixture
def fake_grading(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replaces grading in the workers with `grade_or_fail`."""
    monkeypatch.setattr(pool, "grade", grade_or_fail)
    monkeypatch.setattr(pool, "prepare", prepare_nothing)


@pytest.mark.usefixtures("fake_grading")
@pytest.mark.slow
def test_only_repeated_crashes_and_timeouts_are_grader_errors(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "PATIENCE", 0.0)
    monkeypatch.setattr(batch, "MARGIN", 10.0)
    monkeypatch.setenv("MARK", str(tmp_path / "s04 has crashed a worker once"))
    outcome = run(small, tmp_path, pool.local(2))
    assert set(outcome.errors) == {"s01", "s02", "s05", "s07"}
    assert "repeatedly" in outcome.errors["s01"] == outcome.errors["s02"]
    assert outcome.errors["s07"] == "the machine is to blame"
    assert set(documents(tmp_path)) == set(outcome.grades) == {f"s{i:02d}" for i in range(12)} - set(outcome.errors)


class KilledWorker(Exception):
    """Dask's error of a worker that died."""


@pytest.mark.usefixtures("fake_grading")
def test_grading_is_tried_three_times_if_the_worker_may_be_to_blame(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash, blamed = "grading it crashed the worker process repeatedly", SandboxError("the machine is\nto blame")
    errors: dict[str, list[Exception]] = {
        "s00": [BrokenExecutor()] * 2, "s01": [TimeoutError()] * 3, "s02": [BrokenExecutor()] * 3, "s03": [KilledWorker()] * 2,
        "s04": [KilledWorker()] * 3, "s05": [ZeroDivisionError("no")], "s07": [blamed], "s08": [CommandError("no such kit")],
    }  # fmt: skip

    def grade(submission: Submission, kit: str, folder: Path | None) -> Grade:
        if remaining := errors.get(submission.name):
            raise remaining.pop()
        return one_point(submission, kit, folder)

    monkeypatch.setattr(pool, "grade", grade)
    outcome = run(small, tmp_path)
    assert outcome.errors == dict.fromkeys(("s01", "s02", "s04"), crash) | {
        "s05": "ZeroDivisionError: no", "s07": "the machine is to blame", "s08": "no such kit",
    }  # fmt: skip
    assert set(documents(tmp_path)) == set(outcome.grades) == {f"s{i:02d}" for i in range(12)} - set(outcome.errors)
    assert errors == {key: [] for key in errors} and outcome.stopped == ""
    monkeypatch.setattr(batch, "CRASHES", 3)
    errors = {f"s{i:02d}": [BrokenExecutor()] * 9 for i in range(12)}
    outcome = run(small, tmp_path / "crashes")
    assert (outcome.stopped, len(outcome.errors)) == ("the worker processes keep crashing", 12)
    assert sorted(outcome.errors.values())[:3] == [crash] * 3
    assert {*outcome.errors.values()} == {crash, "the run stopped before this submission"}
    errors = {"s03": [CancelledError()]}
    outcome = run(small, tmp_path / "ended")
    assert outcome.stopped == "the workers can no longer be reached"
    assert {*outcome.errors.values()} == {"the run stopped before this submission"} and "s03" in outcome.errors


@pytest.mark.usefixtures("fake_grading")
def test_workers_elsewhere_are_asked_for_their_layers_even_if_nothing_is_graded(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "grade", lambda *values: replace(one_point(*values), layers=("fork",)))
    monkeypatch.setattr(pool, "prepare", lambda _: ("fork",))
    timeouts = list[float | None]()

    class Done(Future[Any]):
        def result(self, timeout: float | None = None) -> Any:
            timeouts.append(timeout)
            return super().result()

    class Inline(ThreadPoolExecutor):
        def submit(self, function: Callable[..., Any], *args: Any) -> Done:  # type: ignore[override]
            (future := Done()).set_result(function(*args))
            return future

    for unchanged in (0, 12):
        outcome = run(small, tmp_path, Pool(lambda _: Inline(1), 2))
        assert (outcome.layers, outcome.unchanged, len(outcome.grades)) == (("fork",), unchanged, 12)
    limits = HOMEWORK.rubric.limits
    assert timeouts == [None, *[2 * limits.submission_seconds * limits.wall_factor + 60] * 12, None]


@pytest.mark.usefixtures("fake_grading")
def test_worker_that_dies_while_it_starts_is_replaced(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def prepare(folder: Path | None) -> tuple[str, ...]:
        if deaths and deaths.pop():
            raise BrokenExecutor
        return ()

    monkeypatch.setattr(pool, "grade", one_point)
    monkeypatch.setattr(pool, "prepare", prepare)
    deaths = [True] * (batch.TRIES - 1)
    assert len(run(small, tmp_path).grades) == 12
    deaths = [True] * batch.TRIES
    with pytest.raises(BrokenExecutor):
        run(small, tmp_path, fresh=True)


@pytest.mark.usefixtures("in_a_thread")
@pytest.mark.parametrize(("fault", "said"), [
    (SandboxError("the sandbox cannot be set up: why"), "autograder: the sandbox cannot be set up: why"),
    (ZeroDivisionError("why"), "could not start: ZeroDivisionError: why"),
    (BrokenExecutor(), "the worker processes crash immediately"),
    (CancelledError("the scheduler is gone"), "autograder: the grading process could not start: the scheduler is gone"),
])  # fmt: skip
def test_reason_for_not_starting_is_one_line(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception, said: str
) -> None:
    def prepare(folder: Path | None) -> None:
        raise fault

    monkeypatch.setattr(pool, "prepare", prepare)
    done = call(small, "-o", tmp_path, "--quiet")
    assert done.exit_code == 1 and said in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.usefixtures("in_a_thread")
def test_grader_error_is_listed_and_is_not_a_zero(
    graded: Path, small: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    normal, faults = (
        submission.load,
        {"s01": OSError(errno.EIO, "Input/output error", "s01"), "s02": CommandError("closed")},
    )

    def load(entry: Any, *others: Any) -> Submission:
        if entry.key in faults:
            raise faults[entry.key]
        return normal(entry, *others)

    monkeypatch.setattr(batch, "load", load)
    done = call(small, "-o", out, "--jobs", "1")
    assert done.exit_code == 1
    errors = ["ERROR s01: it cannot be read: OSError: [Errno 5] Input/output error: 's01'", "ERROR s02: closed"]
    assert sorted(line for line in done.stderr.splitlines() if line.startswith("ERROR")) == errors
    assert rows(out)["s01"]["Total Score"] == ""
    assert "Input/output error" in rows(out)["s01"]["Remark"]
    assert "Input/output error" in (out / "report.html").read_text()
    assert set(documents(out)) == set(documents(graded)) - faults.keys()
    assert (out / "earlier" / "s01.json").exists()
    monkeypatch.setattr(batch, "load", normal)
    assert call(small, "-o", out, "--jobs", "1").exit_code == 0
    assert documents(out) == documents(graded)


@pytest.mark.usefixtures("fake_grading")
def test_full_disk_keeps_existing_results(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one_at_a_time = threading.Lock()

    def write(path: Path, text: str) -> None:
        with one_at_a_time:
            if any(path.parent.glob("*.json")):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            write_atomically(path, text)

    monkeypatch.setattr(pool, "grade", one_point)
    monkeypatch.setattr(store, "write_atomically", write)
    outcome = run(small, tmp_path)
    assert len(documents(tmp_path)) == len(outcome.grades) == 1
    assert "No space left" in outcome.stopped
    assert len(outcome.errors) == 11


@pytest.mark.usefixtures("in_a_thread")
def test_results_of_other_runs_are_kept_and_reported(small: Path, out: Path) -> None:
    done = call(small / "s01", "-o", out)
    assert done.exit_code == 0
    assert "11 results from other runs" in done.stderr
    assert set(rows(out)) == {"s01"}
    assert len(documents(out)) == 12


@POSIX
@pytest.mark.usefixtures("in_a_thread")
def test_names_with_arbitrary_bytes_are_graded_and_listed(tmp_path: Path) -> None:
    place = tmp_path / os.fsdecode(b"\xff\x1b[31m")
    put(place, {NAMES[0]: ""})
    done = call(place, "-o", tmp_path / "out", "--jobs", "1")
    assert done.exit_code == 0
    assert "\x1b" not in done.output
    assert len(rows(tmp_path / "out")) == 1


@pytest.mark.usefixtures("in_a_thread")
def test_misnamed_files_and_empty_uploads_are_noted(tmp_path: Path) -> None:
    right = sample.references(HOMEWORK)[NAMES[0]]
    work = {f"ada/{COPY}": right, f"bela/{COPY}": right, f"bela/{COPY.replace('1', '2')}": right + "# 2"}
    work |= {f"chidi/{NAMES[0]}": sample.stubs(HOMEWORK)[NAMES[0]], f"chidi/{COPY}": right}
    put(tmp_path / "class", work | {"dana/": "", f"emil/{NAMES[0]}": "\n", "fay/up.zip": b""})
    put(tmp_path / "class", {f"gil/{NAMES[0]}": right, f"gil/old/{NAMES[0]}": right + "# old", "gil/more.rar": b"?"})
    refused, accepted = tmp_path / "refused", tmp_path / "accepted"
    said = call(tmp_path / "class", "-o", refused).stderr
    assert f"note: not graded because of the file name: ada: {COPY}; bela: {COPY}; chidi: {COPY}\n" in said
    assert f"note: not used: gil: old/{NAMES[0]}, more.rar\n" in said
    assert "note: use --accept-names to grade misnamed files" in said
    assert {row["Total Score"] for name, row in rows(refused).items() if name != "gil"} == {"0"}
    (tmp_path / "roster.csv").write_text("name,sid\nGina García,ada\nEmil Eriksen,emil\n", encoding="utf-8")
    done = call(tmp_path / "class", "-o", accepted, "--accept-names", "--roster", tmp_path / "roster.csv")
    assert f"note: graded despite the file name: Gina García (ada): {COPY}; chidi: {COPY}\n" in done.stderr
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("note: not graded"))
    assert f"bela: {COPY}" in line  # ambiguous: there are two different files
    assert "note: dana: It contains no homework files." in done.stderr
    assert "note: Emil Eriksen (emil): Its homework files are blank." in done.stderr
    assert "note: fay: The upload is not a zip file that can be opened." in done.stderr
    found = rows(accepted)
    full = {name for name, row in found.items() if row["Total Score"] == found["ada"]["Total Score"] != "0"}
    assert full == {"ada", "chidi", "gil"}
    assert f"graded despite the file name: {COPY}" in found["ada"]["Remark"]
    assert f"not graded because of the file name: {COPY}" in rows(refused)["ada"]["Remark"]
    page = (accepted / "report.html").read_text()
    assert f"<dt>Median</dt><dd>{found['ada']['Total Score']} " in page and "<dt>Empty uploads</dt><dd>3<" in page


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.usefixtures("fake_grading")
@pytest.mark.parametrize(
    ("stream", "shown"), [(Terminal, "12/12"), (StringIO, "\n12 of 12, 1 unchanged, 1 grader error\n")]
)
def test_progress_is_a_bar_on_a_terminal_and_lines_in_a_log(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: type[StringIO], shown: str
) -> None:
    def grade(submission: Submission, kit: str, folder: Path | None) -> Grade:
        if submission.name == "s07":
            raise SandboxError("why")
        return one_point(submission, kit, folder)

    monkeypatch.setattr(pool, "grade", grade)
    run(small / "s00", tmp_path)
    monkeypatch.setattr(batch, "EACH", 5)
    run(small, tmp_path, stream=(out := stream()))
    for part in (
        shown,
        "1 unchanged",
        "1 grader error",
        "Starting the workers; each records the hidden tests once ...\n",
    ):
        assert part in out.getvalue()
    counts = [line.partition(",")[0] for line in out.getvalue().splitlines() if " of 12" in line]
    assert counts == (["5 of 12", "10 of 12", "12 of 12"] if stream is StringIO else [])


def test_sample_class_has_correct_misnamed_broken_and_empty_submissions(tmp_path: Path) -> None:
    sample.make(HOMEWORK, tmp_path)
    made = sample.students(HOMEWORK)
    assert [entry.key for entry in listing([tmp_path], HOMEWORK.rubric).entries] == sorted(made)
    assert (made["ada"], made["nobody-yet"]) == (sample.references(HOMEWORK), sample.stubs(HOMEWORK))
    assert set(made["emil"]) != set(NAMES) and "unfinished(:" in "".join(made["fatima"].values())
