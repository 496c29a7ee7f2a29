"""The answering process as a process: confined, counted, started again, and no channel between submissions."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
import pytest

from autograder.faults import SandboxFault
from autograder.sandbox.conversation import Answers
from autograder.sandbox.messages import Reply, prepared
from autograder.sandbox.sandbox import Sandbox
from autograder.tests.running import HOLDING, LIMITS, STAND_INS, TIGHT, as_root, forked, linux, opened

SOURCE = "import neighbour\ndef f(name, *args): return getattr(neighbour, name)(*args)\n"
ONE = np.ones(1)


def attempt(x: np.ndarray, what: str) -> np.ndarray:
    """1 where the answering process may do something."""
    import socket

    actions: dict[str, Callable[[], object]] = {
        "read": lambda: os.open(__file__, os.O_RDONLY),
        "write": lambda: os.open("/tmp/hostile-answer", os.O_CREAT),
        "connect": socket.socket,
        "fork": lambda: os.fork() or os._exit(0),
        "memory": lambda: np.ones(2**26),
    }
    try:
        actions[what]()
    except (OSError, MemoryError):
        return np.zeros(1)
    return np.ones(1)


def who(x: np.ndarray) -> np.ndarray:
    return np.array([os.getpid(), os.getuid() if hasattr(os, "getuid") else 0])


def hold(x: np.ndarray) -> np.ndarray:
    return np.ones(8_000_000)[:1]


counted: list[int] = []


def count(x: np.ndarray) -> np.ndarray:
    """How often this has been asked for in this process."""
    counted.append(1)
    return np.array([len(counted)])


def own_answers() -> Answers:
    return {f"neighbour.{f.__name__}": f for f in (attempt, who, hold, count)}


def no_answers() -> Answers:
    raise OSError


def answers_at_length() -> Answers:
    end = time.process_time() + 2 * TIGHT.call_seconds
    while time.process_time() < end:
        pass
    return own_answers()


PARAMETERS = {"neighbour": {"attempt": [["x"], ["what"]], "who": [["x"]], "hold": [["x"]], "count": [["x"]]}}


def asked(sandbox: Sandbox, name: str, *args: object) -> Reply:
    sandbox.place({"m.py": SOURCE.encode()})
    process = sandbox.start()
    assert process.load("m", ["m"], PARAMETERS) == Reply()
    return process.play([prepared("m", "m", "f", [name, ONE, *args])])[0]


@linux
def test_it_is_confined() -> None:
    with Sandbox(LIMITS, own_answers) as sandbox:
        tried = {what: asked(sandbox, "attempt", what).value for what in ("read", "write", "connect", "fork", "memory")}
    locked = {"read": "landlock", "write": "landlock", "connect": "seccomp", "fork": "seccomp", "memory": "limits"}
    assert {what for what, value in tried.items() if value.tolist() != [0]} <= {
        w for w in locked if locked[w] not in HOLDING
    }
    assert not os.path.exists("/tmp/hostile-answer")


@forked
def test_the_grader_forks_only_once() -> None:
    with Sandbox(LIMITS, own_answers) as sandbox:
        parents = [psutil.Process(int(asked(sandbox, "who").value[0])).ppid() for _ in range(2)]
        assert parents == [sandbox.answerer.server] * 2
        assert psutil.Process(sandbox.answerer.server).ppid() == os.getpid()
    assert not psutil.pid_exists(parents[0])


@as_root
def test_it_is_another_user_than_the_grader_and_the_students() -> None:
    with Sandbox(LIMITS, own_answers) as sandbox:
        pid, uid = asked(sandbox, "who").value
        assert pid == sandbox.answerer.pid
        assert uid not in (0, *(Path(f"/proc/{p.pid}").stat().st_uid for p in sandbox.processes.values()))


@forked
def test_no_submission_finds_what_another_has_left_in_it() -> None:
    with Sandbox(LIMITS, own_answers) as sandbox:
        assert sandbox.answerer.connection is None
        counted = [asked(sandbox, "count").value.tolist() for _ in range(2)]
        process = next(iter(sandbox.processes.values()))
        counted.append(process.play([prepared("m", "m", "f", ["count", ONE * 2])])[0].value.tolist())
        pid = sandbox.answerer.pid
    assert counted == [[1], [1], [2]]
    assert not psutil.pid_exists(pid)


def test_one_that_cannot_be_started_is_not_the_students_fault() -> None:
    with Sandbox(LIMITS, no_answers) as sandbox, pytest.raises(SandboxFault, match="answers questions"):
        asked(sandbox, "count")


@pytest.mark.slow
@forked
def test_where_fork_is_unsafe_no_call_pays_for_the_start() -> None:
    with Sandbox(TIGHT, answers_at_length, without=("fork",)) as sandbox:
        assert asked(sandbox, "count").value.tolist() == [1]
        assert asked(sandbox, "count").value.tolist() == [2]  # the same process, since each start takes so long
        process = next(iter(sandbox.processes.values()))
        sandbox.answerer.kill()  # as after a process that says what is no message
        assert process.play([prepared("m", "m", "f", ["count", ONE * 2])])[0].value.tolist() == [1]
        assert sandbox.processor_seconds > 0


def test_its_time_counts_for_the_submission_that_asks() -> None:
    with Sandbox(LIMITS, own_answers) as sandbox:
        sandbox.place({"m.py": SOURCE.encode()})
        process = sandbox.start()
        process.load("m", ["m"], PARAMETERS)
        process.play([prepared("m", "m", "f", ["who", ONE])])
        before = sandbox.processor_seconds - sum(psutil.Process(process.pid).cpu_times()[:2])
        process.play([prepared("m", "m", "f", ["hold", ONE * n]) for n in range(40)])
        after = sandbox.processor_seconds - sum(psutil.Process(process.pid).cpu_times()[:2])
        assert after > before
        sandbox.place({"m.py": b""})
        assert sandbox.processor_seconds < 0.01


@forked
@pytest.mark.parametrize("without", [("fork",), ("fork", "landlock", "seccomp", "no_new_privileges", "user", "mounts")])
def test_it_is_started_anew_where_fork_is_unsafe(without: tuple[str, ...]) -> None:
    with opened(SOURCE, without=without) as (_, process):
        assert process.load("m", ["m"], STAND_INS) == Reply()
        assert process.play([prepared("m", "m", "f", ["plus", ONE])])[0].value.tolist() == [2]
