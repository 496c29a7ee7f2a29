"""Whatever is killed, full, broken or interrupted while a class is graded, no grade is lost or made up."""

import contextlib
import csv
import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import psutil
import pytest
from click.testing import CliRunner, Result

from autograder.cli import grade
from autograder.cli.main import main
from autograder.exceptions import SandboxError
from autograder.feedback import results
from autograder.gradebook import batch, pool, sample
from autograder.gradebook.batch import Batch, Display, Run
from autograder.gradebook.pool import Pool
from autograder.gradebook.store import Store
from autograder.homework import rubric
from autograder.homework import rubric as rubrics
from autograder.submissions import submission
from autograder.submissions.exports import listing
from autograder.submissions.submission import Submission
from autograder.tests.files import put
from autograder.tests.making import grade_of_points

ROOT = Path(batch.__file__).parents[2]
NAMES = [f"{name}.py" for name in rubrics.current().modules]
COPY = NAMES[0].replace(".py", " (1).py")
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and process groups are POSIX")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of twelve, of which each has handed in one module."""
    folder = tmp_path_factory.mktemp("class")
    name, right, empty = NAMES[0], sample.references()[NAMES[0]], sample.stubs()[NAMES[0]]
    for i in range(12):
        sample.write(folder / f"s{i:02d}", {name: f"{empty if i % 4 == 3 else right}\n# {i}\n"})
    return folder


def threads(jobs: int = 1) -> Pool:
    """In place of processes where these are not what is tried: a thread, and the warm grader of this process."""
    return Pool(lambda _: ThreadPoolExecutor(1), 1)


@pytest.fixture
def in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command grades in this process."""
    monkeypatch.setattr(pool, "local", threads)


@pytest.fixture(scope="module", autouse=True)
def cold() -> Iterator[None]:
    """The warm grader of this process ends with the tests of this file."""
    yield
    pool.cool()


def run(
    folder: Path, out: Path, workers: Pool | None = None, display: Display | None = None, fresh: bool = False
) -> Run:
    """Grade without the command, in a thread unless there are workers."""
    entries = listing([folder]).entries
    return Batch(Store(out), workers or threads(), rubrics.current().limits, display or Display(), fresh).run(entries)


def start(*arguments: str | Path) -> "subprocess.Popen[str]":
    """The real command, in a process group of its own; it hears Ctrl-C also where these tests run in the background of a shell."""
    options: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    if os.name == "posix":
        options["preexec_fn"] = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    command = [sys.executable, "-c", "from autograder.cli.main import main; main()", "grade", *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, start_new_session=True, **options)


def call(*arguments: str | Path) -> Result:
    """The command in this process."""
    return CliRunner().invoke(main, ["grade", *map(str, arguments)])


def documents(out: Path) -> dict[str, bytes]:
    """The results, each of which must be whole."""
    found = {path.stem: path.read_bytes() for path in (out / "results").glob("*.json")}
    for content in found.values():
        assert json.loads(content)["tests"]
    return found


def rows(out: Path) -> dict[str, dict[str, str]]:
    with (out / "grades.csv").open(encoding="utf-8", newline="") as file:
        return {row["Submission ID"]: row for row in csv.DictReader(file)}


def wait_for(condition: Callable[[], Any], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


@pytest.fixture(scope="module")
def graded(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small class graded in this process, undisturbed."""
    out = tmp_path_factory.mktemp("graded")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pool, "local", threads)
        assert call(small, "-o", out).exit_code == 0
    return out


# What comes out


def test_class_is_graded_with_scores_in_every_form(graded: Path, small: Path) -> None:
    assert set(documents(graded)) == {path.name for path in small.iterdir()} == set(rows(graded))
    for key, row in rows(graded).items():
        document = json.loads((graded / "results" / f"{key}.json").read_text())
        assert float(row["Total Score"]) == document["score"] == sum(test["score"] for test in document["tests"])
    assert (graded / "report.html").read_text().count('<tr id="s') == 12


@pytest.mark.slow
def test_same_bytes_whatever_the_number_of_processes(graded: Path, small: Path, tmp_path: Path) -> None:
    assert call(small, "-o", tmp_path, "--jobs", "2").exit_code == 0
    assert documents(tmp_path) == documents(graded)
    assert (tmp_path / "grades.csv").read_bytes() == (graded / "grades.csv").read_bytes()


@pytest.mark.usefixtures("in_a_thread")
def test_printed_is_a_table_and_where_to_look(graded: Path, small: Path) -> None:
    done = call(small, "-o", graded)
    assert "s03" in done.stdout
    assert "report.html" in done.stdout
    assert "a folder of 12 submissions" in done.stderr
    assert call(small, "-o", graded, "--quiet").output == ""


def test_no_time_and_no_name_in_a_result(graded: Path) -> None:
    document = json.loads(documents(graded)["s00"])
    extra = "submission kit layers notes submitted unexplained guesses"
    assert set(document["extra_data"]) == set(extra.split())
    assert b"s00" not in documents(graded)["s00"]


# What need not be graded again


@pytest.fixture
def out(graded: Path, tmp_path: Path) -> Path:
    """A folder with the results of an earlier run."""
    shutil.copytree(graded / "results", tmp_path / "out" / "results")
    return tmp_path / "out"


def test_changed_submission_alone_is_graded_again(small: Path, tmp_path: Path, out: Path) -> None:
    put(shutil.copytree(small, tmp_path / "class"), {f"s00/{NAMES[0]}": "x = 1"})
    outcome = run(tmp_path / "class", out)
    assert outcome.kept == 11
    assert outcome.grades["s00"].score == 0


def test_outdated_and_damaged_results_are_graded_again(graded: Path, small: Path, out: Path) -> None:
    others = {"kit": "0", "layers": ["fork"], "submission": "0"}
    damaged = ["", "{", "[]", '{"score": 100, "tests": []}', "null"]
    paths = sorted((out / "results").iterdir())
    for path, (key, value) in zip(paths, others.items(), strict=False):
        document = json.loads(path.read_text())
        document["extra_data"][key] = value
        path.write_text(results.dump(document))
    for path, content in zip(paths[len(others) :], damaged, strict=False):
        path.write_text(content)
    assert run(small, out).kept == len(paths) - len(others) - len(damaged)
    assert documents(out) == documents(graded)


def test_fresh_grades_everything_again(graded: Path, small: Path, out: Path) -> None:
    assert run(small, out, fresh=True).kept == 0
    assert documents(out) == documents(graded)


# Killed


def family(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


@POSIX
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_run_killed_at_any_moment_goes_on_where_it_was(graded: Path, small: Path, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    there = 0
    while there < 8:
        process = start(small, "-o", tmp_path, "--jobs", "2")
        wanted = there + chance.randint(1, 4)
        wait_for(partial(enough, tmp_path, wanted))
        time.sleep(chance.random() * 0.2)
        children = family(process)
        process.kill()
        process.communicate()
        there = len(documents(tmp_path))
        wait_for(partial(gone, children), 20)
    outcome = run(small, tmp_path)
    assert outcome.kept >= there
    assert not outcome.errors
    assert documents(tmp_path) == documents(graded)


def enough(out: Path, number: int) -> bool:
    return len(list(out.glob("results/*.json"))) >= number


def gone(processes: list[psutil.Process]) -> bool:
    for process in processes:
        with contextlib.suppress(psutil.Error):
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                return False
    return True


@POSIX
@pytest.mark.slow
@pytest.mark.parametrize("group", [True, False], ids=["group", "parent alone"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm_end_cleanly(small: Path, tmp_path: Path, number: signal.Signals, group: bool) -> None:
    process = start(small, "-o", tmp_path, "--jobs", "2")
    wait_for(partial(enough, tmp_path, 1))
    children = family(process)
    os.killpg(process.pid, number) if group else process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert said.splitlines()[-1].startswith("autograder: interrupted; finished results are in ")
    assert "Traceback" not in said and "resource_tracker" not in said
    wait_for(partial(gone, children), 20)
    assert documents(tmp_path)
    assert run(small, tmp_path).kept >= 1


@POSIX
@pytest.mark.slow
def test_ctrl_c_while_the_workers_start_is_as_clean(small: Path, tmp_path: Path) -> None:
    process = start(small, "-o", tmp_path, "--jobs", "2")
    wait_for(lambda: family(process))
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert (process.returncode, "Traceback" in said) == (130, False)


class Killer(Display):
    """Kills one worker process after each of the first results."""

    def __init__(self, times: int):
        super().__init__()
        self.left = times

    def show(self, run: Run) -> None:
        workers = [p for p in psutil.Process().children() if "spawn_main" in " ".join(p.cmdline())]
        if self.left and workers:
            self.left -= 1
            random.Random(self.left).choice(workers).kill()


@POSIX
@pytest.mark.slow
def test_worker_that_is_killed_costs_nothing(graded: Path, small: Path, tmp_path: Path) -> None:
    outcome = run(small, tmp_path, pool.local(2), Killer(2))
    assert not outcome.errors
    assert documents(tmp_path) == documents(graded)


# Submissions that a worker cannot survive or finish, and other faults


def grade_or_not(submission: Submission, kit: str) -> dict[str, Any]:
    """In place of a worker's function: what is done goes by the name."""
    match submission.name:
        case "s02" | "s05":
            os._exit(9)
        case "s07":
            raise SandboxError("the machine is\nto blame")
    return one_point(submission, kit)


def grade_or_hang(submission: Submission, kit: str) -> dict[str, Any]:
    """In place of a worker's function: one that never comes back."""
    if submission.name == "s01":
        time.sleep(600)
    return one_point(submission, kit)


def one_point(submission: Submission, kit: str) -> dict[str, Any]:
    test = {"name": "c: x", "score": 1, "max_score": 1, "extra_data": {"criterion": "c", "misconceptions": []}}
    return {"score": 1, "tests": [test], "extra_data": {"layers": []}}


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that do not grade but behave as `grade_or_not` says."""
    monkeypatch.setattr(pool, "grade", grade_or_not)
    monkeypatch.setattr(pool, "prepare", tuple)


@pytest.mark.usefixtures("pretended")
@pytest.mark.slow
def test_only_what_crashes_a_worker_again_and_again_is_a_fault(small: Path, tmp_path: Path) -> None:
    outcome = run(small, tmp_path, pool.local(2))
    assert set(outcome.errors) == {"s02", "s05", "s07"}
    assert "repeatedly" in outcome.errors["s02"]
    assert outcome.errors["s07"] == "SandboxError: the machine is to blame"
    assert set(documents(tmp_path)) == set(outcome.grades) == {f"s{i:02d}" for i in range(12)} - set(outcome.errors)


@pytest.mark.usefixtures("pretended")
@pytest.mark.slow
def test_worker_that_is_stuck_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "class", {f"s0{number}/{NAMES[0]}": "" for number in range(3)})
    monkeypatch.setattr(pool, "grade", grade_or_hang)
    monkeypatch.setattr(batch, "patience", lambda limits: 20.0)
    monkeypatch.setattr(batch, "TRIES", 1)
    outcome = run(tmp_path / "class", tmp_path / "out", pool.local(2))
    assert (set(outcome.grades), set(outcome.errors)) == ({"s00", "s02"}, {"s01"})


@pytest.mark.usefixtures("in_a_thread")
def test_fault_is_listed_and_is_no_0(graded: Path, small: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    normal = submission.load

    def load(entry: Any, *others: Any) -> Submission:
        if entry.key == "s01":
            raise OSError(errno.EIO, "Input/output error", "s01")
        return normal(entry, *others)

    monkeypatch.setattr(batch, "load", load)
    done = call(small, "-o", out, "--jobs", "1")
    assert done.exit_code == 1
    assert "ERROR s01" in done.stderr
    assert "Input/output error" in done.stderr
    assert rows(out)["s01"]["Total Score"] == ""
    assert "Input/output error" in rows(out)["s01"]["Remark"]
    assert "Input/output error" in (out / "report.html").read_text()
    assert set(documents(out)) == set(documents(graded)) - {"s01"}
    assert (out / "earlier" / "s01.json").exists()
    monkeypatch.setattr(batch, "load", normal)
    assert call(small, "-o", out, "--jobs", "1").exit_code == 0
    assert documents(out) == documents(graded)


def test_submission_that_is_gone_when_its_turn_comes_is_a_fault(tmp_path: Path) -> None:
    found = listing([put(tmp_path / "class", {f"{who}/{NAMES[0]}": "" for who in ("ada", "bela")})])
    shutil.rmtree(tmp_path / "class" / "ada")
    outcome = Batch(Store(tmp_path), threads(), rubrics.current().limits, Display()).run(found.entries)
    assert set(outcome.errors) == {"ada"}
    assert outcome.grades["bela"].score == 0


@pytest.mark.usefixtures("pretended")
def test_full_disk_keeps_what_is_there(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    normal, one_at_a_time = results.write_atomically, threading.Lock()

    def write(path: Path, text: str) -> None:
        with one_at_a_time:
            if any(path.parent.glob("*.json")):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            normal(path, text)

    monkeypatch.setattr(pool, "grade", one_point)
    monkeypatch.setattr(results, "write_atomically", write)
    outcome = run(small, tmp_path)
    assert len(documents(tmp_path)) == len(outcome.grades) == 1
    assert "No space left" in outcome.stopped
    assert len(outcome.errors) == 11


@pytest.mark.usefixtures("pretended")
@pytest.mark.slow
def test_workers_that_only_die_stop_the_run(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "CRASHES", 3)
    monkeypatch.setattr(pool, "grade", die)
    outcome = run(small, tmp_path, pool.local(2))
    assert "keep crashing" in outcome.stopped
    assert not outcome.grades
    assert len(outcome.errors) == 12


def die(submission: Submission, kit: str) -> dict[str, Any]:
    os._exit(1)


# Arguments


@pytest.mark.parametrize(("arguments", "said"), [
    (["nowhere", "-o", "out"], "nowhere"),
    (["notes.txt", "-o", "out"], "notes.txt"),
    (["class", "-o", "notes.txt"], "notes.txt"),
    (["class", "-o", "out", "--jobs", "0"], "jobs"),
    (["class", "-o", "out", "--cluster", "nowhere:1"], "scheduler"),
    (["class"], "out"),
    (["-o", "out"], "PATH"),
])  # fmt: skip
def test_bad_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str) -> None:
    monkeypatch.chdir(put(tmp_path, {"notes.txt": "", f"class/ada/{NAMES[0]}": ""}))
    monkeypatch.setattr(pool, "CONNECT", "1s")
    done = call(*arguments)
    assert done.exit_code == 2
    assert said in done.stderr


@pytest.mark.usefixtures("in_a_thread")
def test_uploads_without_a_usable_file_are_graded_0(tmp_path: Path) -> None:
    put(tmp_path / "class", {f"ada/{NAMES[0]}": "", "bela/": "", "chidi/up.zip": b"", f"dana/{NAMES[0]}": ""})
    done = call(tmp_path / "class", "-o", tmp_path / "out", "--jobs", "1")
    assert done.exit_code == 0
    assert [rows(tmp_path / "out")[name]["Total Score"] for name in ("bela", "chidi")] == ["0", "0"]
    assert "note: chidi: The upload is not a zip file that can be opened." in done.stderr


def test_layers_that_are_missing_are_said_once_with_what_to_do(small: Path, tmp_path: Path) -> None:
    run = Run("kit", ("fork", "session"))
    (line,) = grade._problems(listing([small]), run, Store(tmp_path), [], accept_names=False)
    assert "lacks" in line
    assert "autograder doctor" in line
    assert "container" in line


@pytest.mark.usefixtures("in_a_thread")
def test_results_of_other_runs_are_left_alone_and_mentioned(small: Path, out: Path) -> None:
    done = call(small / "s01", "-o", out)
    assert done.exit_code == 0
    assert "11 results from other runs" in done.stderr
    assert set(rows(out)) == {"s01"}
    assert len(documents(out)) == 12


@POSIX
@pytest.mark.usefixtures("in_a_thread")
def test_names_of_any_bytes_reach_every_output(tmp_path: Path) -> None:
    place = tmp_path / os.fsdecode(b"\xff\x1b[31m")
    put(place, {NAMES[0]: ""})
    done = call(place, "-o", tmp_path / "out", "--jobs", "1")
    assert done.exit_code == 0
    assert "\x1b" not in done.output
    assert len(rows(tmp_path / "out")) == 1


@pytest.fixture(scope="module")
def misnamed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Right uploads as a browser renames files, in capitals, as Windows hides ends of names, beside a stub; and others."""
    folder, files = tmp_path_factory.mktemp("misnamed"), sample.references()
    sample.write(folder / "ada", {name.replace(".py", " (1).py"): text for name, text in files.items()})
    sample.write(folder / "bela", {name.title().replace("_", ""): text for name, text in files.items()})
    sample.write(folder / "chidi", {f"{name}.txt": text for name, text in files.items()})
    twice = {NAMES[0].replace(".py", f" ({n}).py"): files[NAMES[0]] + f"# {n}" for n in (1, 2)}
    sample.write(folder / "dana", {name: text for name, text in files.items() if name != NAMES[0]} | twice)
    cell = {"cell_type": "code", "source": ["import numpy as np\n", "def layer_norm(x):\n", "    raise SystemExit\n"]}
    sample.write(folder / "emil", {"hw.ipynb": json.dumps({"cells": [cell]})})
    (folder / "fatima").mkdir()
    sample.write(folder / "gina", files | {NAMES[0]: sample.stubs()[NAMES[0]], COPY: files[NAMES[0]]})
    sample.write(folder / "hana", dict.fromkeys(NAMES, "\n"))
    return folder


@pytest.mark.slow
@pytest.mark.usefixtures("in_a_thread")
def test_names_that_are_nearly_right_are_graded_if_asked_for_and_listed_if_not(misnamed: Path, tmp_path: Path) -> None:
    """Uploads with nothing to grade are noted as well, and are not in the median."""
    refused, accepted = tmp_path / "refused", tmp_path / "accepted"
    done = call(misnamed, "-o", refused)
    for text in (f"ada: {COPY}", "bela: ", "chidi: ", f"dana: {COPY}", f"gina: {COPY}\n"):
        assert f"note: not graded because of the file name: {text}" in done.stderr
    assert "note: use --accept-names to grade misnamed files" in done.stderr
    assert [rows(refused)[name]["Total Score"] for name in ("ada", "bela", "chidi")] == ["0"] * 3
    done = call(misnamed, "-o", accepted, "--accept-names")
    assert [rows(accepted)[name]["Total Score"] for name in ("ada", "bela", "chidi", "gina")] == ["100"] * 4
    copies = ", ".join(name.replace(".py", " (1).py") for name in NAMES)
    assert rows(accepted)["ada"]["Remark"] == f"graded despite the file name: {copies}"
    assert rows(refused)["ada"]["Remark"] == f"not graded because of the file name: {copies}"
    assert b"was graded as" in documents(accepted)["ada"]
    for name in ("ada", "bela", "chidi", "gina"):
        assert f"note: graded despite the file name: {name}: " in done.stderr
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("note: not graded"))
    assert f"dana: {COPY}" in line  # two different files could be meant
    assert f"{NAMES[0]} contains no finished function; {COPY} was graded" in rows(accepted)["gina"]["Remark"]
    assert "note: emil: There is no .py file in the upload, only hw.ipynb. Notebooks are not graded" in done.stderr
    assert "note: fatima: It contains no homework files." in done.stderr
    assert rows(accepted)["fatima"]["Remark"] == f"no file {', '.join(NAMES)} in the upload"
    assert "note: hana: Its homework files are blank." in done.stderr
    assert rows(accepted)["hana"]["Remark"] == f"nothing in {', '.join(NAMES)}: blank"
    page = (accepted / "report.html").read_text()
    assert "<dt>Median</dt><dd>100 " in page and "<dt>Empty uploads</dt><dd>3<" in page
    assert "8 graded, median 100 of 100; see " in done.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("in_a_thread")
def test_notes_on_names_say_for_whom(misnamed: Path, tmp_path: Path) -> None:
    roster = "name,sid,email\nGina García,ada,\nBela Brandt,7,bela\nEmil Eriksen,emil,\n"
    (tmp_path / "roster.csv").write_text(roster, encoding="utf-8")
    done = call(misnamed, "-o", tmp_path / "out", "--accept-names", "--roster", tmp_path / "roster.csv")
    assert "note: graded despite the file name: Gina García (ada): " in done.stderr
    assert "note: graded despite the file name: Bela Brandt (bela): " in done.stderr
    assert "note: Emil Eriksen (emil): There is no .py file in the upload" in done.stderr
    row = rows(tmp_path / "out")["ada"]
    assert row["Name"] == "Gina García" and COPY in row["Remark"]


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("errors", [1, 2])
@pytest.mark.parametrize(("stream", "count"), [(Terminal, "{done}/6"), (StringIO, "{done} of 6")])
def test_counts_are_shown(stream: type[StringIO], count: str, errors: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "INTERVAL", 0.0)
    shown = Display(out := stream())
    shown.start(6)
    grades = {key: grade_of_points(key, 10) for key in ("a", "b")}
    shown.show(Run("kit", (), grades, dict.fromkeys(map(str, range(errors)), "why"), kept=1))
    shown.close()
    said = "1 grader error" if errors == 1 else "2 grader errors"
    for part in (count.format(done=2 + errors), "1 unchanged", said):
        assert part in out.getvalue()


def test_quiet_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    shown = Display()
    shown.start(1)
    shown.show(Run("kit", ()))
    shown.close()
    assert capsys.readouterr() == ("", "")


def test_class_has_right_wrong_misnamed_broken_and_empty_work(tmp_path: Path) -> None:
    sample.make(tmp_path)
    made, modules = sample.students(), [f"{name}.py" for name in rubric.current().modules]
    assert [entry.key for entry in listing([tmp_path]).entries] == sorted(made)
    assert made["ada"] == sample.references()
    assert made["nobody-yet"] == sample.stubs()
    assert set(made["emil"]) != set(modules)
    assert "unfinished(:" in "".join(made["fatima"].values())


def test_wrong_version_is_the_last_of_its_name() -> None:
    (misconception, *_) = sample.mistakes(0)
    right = sample.references()
    changed = {name: text for name, text in sample.wrong(right, misconception).items() if text != right[name]}
    assert list(changed) == [f"{rubric.current().module_of(misconception.function)}.py"]
    assert next(iter(changed.values())).endswith(misconception.source)
