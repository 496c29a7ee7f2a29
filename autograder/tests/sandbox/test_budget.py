"""The time limits of a submission and its calls, and the memory of the container."""

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from autograder.exceptions import CallTimeout
from autograder.sandbox import process
from autograder.sandbox.process import ENDLESS_SHARE, PREVIEW, Budget, Limits, container_memory, waits
from autograder.tests.running import linux

LIMITS = Limits(call_seconds=1, submission_seconds=10, wall_factor=2)


@pytest.mark.parametrize(
    ("text", "megabytes"), [("max", None), ("805306368", 768), ("9223372036854771712", None), ("", None)]
)
def test_memory_is_limited_by_the_container(
    text: str, megabytes: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "memory.max").write_text(text)
    monkeypatch.setattr(process, "CONTAINER_MEMORY", (str(tmp_path / "memory.max"), "/nowhere"))
    whole = psutil.virtual_memory().total // 2**20
    assert container_memory() == min(whole, megabytes or whole)


class Clocks:
    """Clocks that a test sets, and the budget of a submission that uses them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.wall, self.processor, self.graders, self.waiting = 100.0, 0.0, 30.0, ""
        monkeypatch.setattr("autograder.sandbox.process.time.monotonic", lambda: self.wall)
        monkeypatch.setattr("autograder.sandbox.process.time.thread_time", lambda: self.graders)
        monkeypatch.setattr(process, "_processor_seconds", lambda pid: self.processor)
        self.budget = Budget(LIMITS)
        self.budget.running = 1

    def begin(self, account: str = "", share: float = 1) -> Budget:
        self.budget.begin(account, share, lambda is_silent: self.waiting if is_silent else "")
        return self.budget

    def pass_time(self, wall: float, processor: float = 0, graders: float = 0) -> None:
        self.wall, self.processor, self.graders = self.wall + wall, self.processor + processor, self.graders + graders

    def wait(self, name: str) -> float:
        """Let a call wait until it is ended; returns the seconds."""
        began, self.waiting = self.wall, name
        with contextlib.suppress(CallTimeout):
            self.begin()
            for _ in range(99):
                self.pass_time(0.25)
                self.budget.check(True)
                self.budget.next()
        self.budget.idle[name] = "", 0
        return self.wall - began


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    return Clocks(monkeypatch)


@pytest.mark.parametrize(
    ("account", "share", "step", "calls", "seconds", "message"),
    [  # each call takes some steps of wall-clock, processor and grader's time; all end after some seconds of wall-clock time
        ("", 1, (0.25, 0.25), 1, 1.25, "processor time of a call"),
        ("", 1, (0.5, 0.25, 0.25), 1, 1.5, "processor time of a call"),  # the grader's own time for it counts
        ("", 1, (0.25, 0), 1, 2.25, "wall time of a call"),  # waiting ends it later
        ("", ENDLESS_SHARE, (0.2, 0.2), 1, 0.2, "processor time of a call"),
        ("", ENDLESS_SHARE, (0.21, 0), 1, 0.21, "wall time of a call"),
        ("", 1, (0.5, 0.5), 99, 10.5, "several calls"),  # each is short enough
        ("", 1, (0.05, 0.05), 999, 10.1, "several calls"),  # and too short to be checked individually
        ("", 1, (0.5, 0), 99, 20.5, "several calls"),
        ("m", 1, (0.5, 0.5), 99, 5.5, "several calls"),  # a module has half of the time
        (PREVIEW, 1, (0.5, 0.5), 99, 2.5, "several calls"),
    ],
)  # fmt: skip
def test_calls_end_when_their_time_is_up(
    account: str, share: float, step: tuple[float, ...], calls: int, seconds: float, message: str, clocks: Clocks
) -> None:
    budget, began = clocks.begin(account, share), clocks.wall

    def make() -> None:
        for _ in range(calls):
            for _ in range(99 if calls == 1 else 1):
                clocks.pass_time(*step)
                budget.check()
            budget.next()

    with pytest.raises(TimeoutError, match=message):
        make()
    assert clocks.wall - began == pytest.approx(seconds, abs=0.11)
    budget.finish()
    assert (budget.remaining(account) <= 0) == (calls > 1) and (budget.remaining("") <= 0) == (
        calls > 1 and not account
    )


def test_calls_that_wait_are_ended_soon_and_further_ones_sooner(clocks: Clocks) -> None:
    assert [clocks.wait(name) for name in ("f", "g", "f")] == [2.25, 0.5, 0.25]
    assert [clocks.wait(f"f{number}") for number in range(15)] == [0.5] * 14 + [0.25]
    assert sum(clocks.budget.waited.values()) == 10.25 and clocks.budget.remaining("m") == 0
    clocks.budget.waited["f"] -= 0.25
    assert clocks.budget.remaining("m") > 0


def test_time_before_a_message_or_while_the_grader_is_stopped_is_no_waiting(clocks: Clocks) -> None:
    budget, clocks.waiting = clocks.begin(), "f"
    clocks.pass_time(0.3)
    budget.check()
    clocks.pass_time(0.1)
    assert budget.check(True) == pytest.approx(0.1)
    budget.next()
    clocks.pass_time(9)
    budget.next()
    budget.check(True)
    assert budget.waited == pytest.approx({"f": 0.4})


def test_processor_time_of_all_processes_counts(clocks: Clocks) -> None:
    budget = clocks.budget
    clocks.pass_time(1, processor=2)
    budget.end()
    assert (budget.processor_seconds, budget.running) == (2, 0)
    budget.running = 7
    clocks.pass_time(1, processor=1)
    assert budget.processor_seconds == 2 + 3
    budget.end(0.5)
    budget.end(9)
    budget.own_seconds += 1
    budget.module_seconds["m"] = 4.5
    assert budget.processor_seconds == 3.5
    assert [budget.remaining(account) for account in ("", "m", PREVIEW)] == [5.5, 0.5, 2]


@linux
def test_clocks_and_states_of_a_process() -> None:
    code = "print(flush=True); import time; time.sleep(99)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as sleeper:
        assert sleeper.stdout is not None and sleeper.stdout.readline() and not waits(os.getpid())
        end = time.monotonic() + 9
        while not waits(sleeper.pid) and time.monotonic() < end:
            time.sleep(0.01)
        seconds = process._processor_seconds(sleeper.pid)
        assert waits(sleeper.pid) and 0 < seconds < 9 and round(seconds, 2) != seconds  # not in ticks of the kernel
        sleeper.kill()
    assert not waits(sleeper.pid) and process._processor_seconds(sleeper.pid) == 0
