"""The digests that show whether a stored result is still valid, the warm grader, and workers here and on a cluster."""

import contextlib
import errno
import importlib
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, CancelledError, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from autograder.exceptions import ArgumentsError, CommandError, SandboxError
from autograder.gradebook import pool
from autograder.grading.grader import Result
from autograder.grading.scoring import CriterionScore
from autograder.homework.homework import PACKAGE, Homework
from autograder.submissions.submission import Note, Submission
from autograder.tests.files import HOMEWORK, put
from autograder.tests.making import module_of, result

MODULES = list(HOMEWORK.rubric.modules)


def test_submission_digest_covers_files_and_notes_but_not_the_name() -> None:
    one = pool.submission_digest(Submission("ada", {"a.py": b"1", "b.py": b""}))
    assert one == pool.submission_digest(Submission("bela", {"b.py": b"", "a.py": b"1"}))
    files = [{"a.py": b"2", "b.py": b""}, {"a.py": b"1"}, {"a.py": b"1b.py", "": b""}]
    others = [Submission("ada", own) for own in files]
    others += [Submission("ada", {"a.py": b"1", "b.py": b""}, (Note(kind, "c.py"),)) for kind in ("damaged", "link")]
    assert len({one, *map(pool.submission_digest, others)}) == 6


def test_kit_digest_covers_every_file_that_affects_grading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skipped = shutil.ignore_patterns("__pycache__", "tests", "docs")
    package = shutil.copytree(PACKAGE, tmp_path / "autograder", ignore=skipped)
    shutil.copytree(HOMEWORK.solutions, tmp_path / "solutions", ignore=skipped)
    shutil.copy(HOMEWORK.rubric_file, tmp_path)
    digest = pool.kit_digest.__wrapped__
    before = digest(None)
    monkeypatch.setattr(pool, "PACKAGE", package)
    monkeypatch.setattr("autograder.homework.homework.PACKAGE", package)
    assert digest(None) == before, "the same kit in another place"
    changed = [
        "sandbox/wire.py", "shared/compare.py", "submissions/text.py", "feedback/messages.py", "grading/scoring.py",
        f"homework/suites/test_{MODULES[0]}.py", f"../solutions/{MODULES[0]}.py",
    ]  # fmt: skip
    for name in ("gradebook/report.py", "cli/grade.py", "release/build.py", "audit/audit.py", *changed):
        path = package / name
        path.write_text(path.read_text() + "\n")
        after = digest(None)
        assert (after != before) == (name in changed), name
        before = after


def test_worker_with_another_kit_raises_an_error() -> None:
    with pytest.raises(CommandError, match="a different version"):
        pool.grade(Submission("x", {}), "another digest", None)


@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOENT, errno.EACCES])
def test_missing_place_for_locks_is_reported(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(pool, "ProcessPoolExecutor", fail)
    with pytest.raises(CommandError, match=rf"/dev/shm must exist and be writable \({os.strerror(number)}\)"):
        pool.local(1).submit(0, pool.prepare)


@pytest.mark.parametrize(("errors", "attempts"), [
    ([], 1), ([SandboxError("x")], 2), ([SandboxError("x")] * 2, 2), ([ValueError("x")], 1),
])  # fmt: skip
def test_submission_is_graded_once_more_in_a_new_sandbox(
    monkeypatch: pytest.MonkeyPatch, errors: list[Exception], attempts: int
) -> None:
    opened, submission = list[Path](), Submission("x", {})

    class Opened(contextlib.nullcontext[None]):
        def __init__(self, homework: Homework):
            opened.append(homework.folder)

        def __enter__(self) -> Any:
            return self

        def grade(self, graded: Submission) -> Result:
            assert graded is submission
            if errors:
                raise errors.pop()
            return result(module_of([CriterionScore(next(iter(HOMEWORK.rubric.criteria.values())))]))

    pool.cool()
    monkeypatch.setattr(pool, "open_grader", Opened)
    with pytest.raises(type(errors[0])) if len(errors) == attempts else contextlib.nullcontext():
        assert pool.grade(submission, pool.kit_digest(None), None).key == "test"
    assert opened == [HOMEWORK.folder] * attempts
    pool.cool()


def about_this_process() -> tuple[int, bool, set[int], set[int]]:
    handlers = [signal.getsignal(number) for number in pool.ENDING]
    is_deaf = not {signal.SIG_DFL, signal.default_int_handler} & {*handlers}
    return os.getpid(), is_deaf, signal.pthread_sigmask(signal.SIG_BLOCK, []), os.sched_getaffinity(0)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="Linux only")
def test_worker_is_one_process_on_one_core_that_leaves_signals_to_its_parent() -> None:
    workers = pool.local(2)
    pool.mask("SIG_BLOCK")
    try:
        futures = [workers.submit(number, about_this_process) for number in (0, 0, 1)]
        first, again, other = (future.result() for future in futures)
    finally:
        pool.mask("SIG_UNBLOCK")
        workers.end()
    assert first == again and first[0] != other[0]
    for _, is_deaf, masked, cores in (first, other):
        assert is_deaf and not masked & pool.ENDING and len(cores) == 1
    assert (first[3] != other[3]) == (pool.cores() > 1)
    with pytest.raises(CancelledError):
        workers.submit(0, about_this_process)


def test_stuck_worker_is_replaced() -> None:
    workers = pool.local(1)
    stuck = workers.submit(0, time.sleep, 600)
    while not stuck.running():
        time.sleep(0.01)
    workers.stop(0)
    with pytest.raises(BrokenExecutor):
        stuck.result(10)
    assert workers.submit(0, os.getppid).result(60) == os.getpid()
    workers.end()
    workers.stop(0)  # there is none


def test_worker_ends_with_its_parent(tmp_path: Path) -> None:
    text = "import os\nfrom autograder.gradebook import pool\nif __name__ == '__main__':\n"
    text += "    print(pool.local(1).submit(0, os.getpid).result(), flush=True)\n    os._exit(0)\n"
    put(tmp_path, {"parent.py": text})
    done = subprocess.run([sys.executable, tmp_path / "parent.py"], stdout=subprocess.PIPE, text=True, check=True)
    with contextlib.suppress(psutil.NoSuchProcess):
        assert psutil.Process(int(done.stdout)).wait(20) is None


# Dask


class Client:
    """Takes the place of Dask's client: `answers` are those of the workers, by the function that runs there."""

    def __init__(self, answers: dict[object, dict[str, object]]):
        self.answers, self.is_closed, self.executor = answers, False, ThreadPoolExecutor(1)

    def nthreads(self) -> dict[str, object]:
        return self.answers[pool.kit_digest]

    def run(self, function: object, *_: object, on_error: str) -> dict[str, object]:
        return self.answers[function]

    def get_executor(self) -> ThreadPoolExecutor:
        return self.executor

    def close(self) -> None:
        self.is_closed = True


WORKERS = ["w1", "w2", "w3", "w4"]


@pytest.mark.parametrize(("imported", "digests", "said"), [
    (None, [], "needs Dask: pip install -e '.[cluster]'"),
    (OSError("refused"), [], "no Dask scheduler found (refused); give its address, for example tcp://host:8786"),
    ([], [], "the scheduler has no workers; start some with `dask worker here`"),
    ([pool, ImportError()], [True] * 2, "worker w2 cannot import the kit; install the same version there"),
    ([pool] * 4, [False] * 4, "worker w1, w2, w3 and 1 more has a different kit (rubric, solutions, package, NumPy or Python) from "
     "this command; install the same version everywhere and restart the workers"),
    ([pool] * 3, [True] * 3, ""),
])  # fmt: skip
def test_cluster_grades_only_if_every_worker_has_this_kit(
    monkeypatch: pytest.MonkeyPatch, imported: Any, digests: list[bool], said: str
) -> None:
    kits = [pool.kit_digest(None) if is_this else "another" for is_this in digests]
    modules = imported if isinstance(imported, list) else []
    client = Client(
        {
            pool.kit_digest: dict(zip(WORKERS, kits, strict=False)),
            importlib.import_module: dict(zip(WORKERS, modules, strict=False)),
        }
    )

    def connect(*values: object, **more: object) -> Client:
        assert (values, more) == (("here",), {"timeout": "15s", "set_as_default": False})
        if isinstance(imported, Exception):
            raise imported
        return client

    monkeypatch.setitem(sys.modules, "distributed", None if imported is None else SimpleNamespace(Client=connect))
    if said:
        with pytest.raises(ArgumentsError, match=f"^{re.escape(f'--cluster here: {said}')}$"):
            pool.cluster("here", HOMEWORK)
        assert client.is_closed == isinstance(imported, list)
    else:
        workers = pool.cluster("here", HOMEWORK)
        assert (workers.width, workers.is_local, client.is_closed) == (6, False, False) and workers.make(
            0
        ) is client.executor
        workers.end()
        assert client.is_closed
    assert logging.root.manager.disable == logging.NOTSET
