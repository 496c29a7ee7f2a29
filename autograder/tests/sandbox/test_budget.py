"""The time limits of a submission and its calls, and the memory of the container."""

import contextlib
import os
from pathlib import Path

import psutil
import pytest

from autograder.exceptions import CallTimeout
from autograder.sandbox import process
from autograder.sandbox.process import Budget, Clock, Limits, container_memory

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
        self.wall, self.processor, self.graders = 100.0, 0.0, 30.0
        monkeypatch.setattr("autograder.sandbox.process.time.monotonic", lambda: self.wall)
        monkeypatch.setattr("autograder.sandbox.process.time.thread_time", lambda: self.graders)
        monkeypatch.setattr(process, "_processor_seconds", lambda pid: self.processor)
        self.budget = Budget(LIMITS, running=1)
        self.looks, self.waiting = 0, ""

    def opened(self, share: float = 1, together: float = 10) -> Clock:
        return Clock(self.budget, self._look, share, together)

    def _look(self, is_silent: bool) -> str:
        self.looks += 1
        return self.waiting if is_silent else ""

    def passes(self, wall: float, processor: float, graders: float = 0) -> None:
        self.wall, self.processor = self.wall + wall, self.processor + processor
        self.graders += graders


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    return Clocks(monkeypatch)


Step = tuple[float, ...]


@pytest.mark.parametrize(
    ("share", "first", "more", "kind"),
    [
        (1, (1.0, 1.0), (0.25, 0.25), "processor"),  # computing ends a call
        (1, (1.0, 0.4, 0.5), (0.25, 0, 0.25), "processor"),  # so does the grader's own time for it
        (1, (2.0, 0), (0.25, 0), "wall"),  # waiting ends it later
        (process.ENDLESS_SHARE, (0.1, 0.1), (0.2, 0.2), "processor"),
        (process.ENDLESS_SHARE, (0.1, 0), (0.2, 0), "wall"),
    ],
)
def test_call_ends_when_its_time_is_up(share: float, first: Step, more: Step, kind: str, clocks: Clocks) -> None:
    clock = clocks.opened(share)
    clocks.passes(*first)
    clock.check()
    clocks.passes(*more)
    with pytest.raises(CallTimeout, match=kind):
        clock.check()
    assert clocks.looks == 2 - (share < 1)  # the disk is checked as often as the clocks


def test_each_call_has_its_own_time(clocks: Clocks) -> None:
    clock = clocks.opened()
    for _ in range(9):
        clocks.passes(0.9, 0.9)
        clock.check()
        clock.next()
    clocks.passes(5, 0.9)
    clock.next()
    clocks.passes(1.9, 0.05)
    clock.check()  # time spent waiting is not processor time of a call


@pytest.mark.parametrize(
    ("together", "step", "message", "most"),
    [
        (0.3, (0.5, 0.5), "several calls", (3.6, 6.6)),
        (0.3, (0.9, 0), "several calls", (3.6, 6.6)),
        (10, (0.05, 0.05), "processor time of the submission", (10.3, 10.3)),  # too short to be checked individually
        (10, (0.15, 0), "^time of the submission", (0, 20.3)),
    ],
)
def test_calls_end_when_their_total_time_is_up(
    together: float, step: Step, message: str, most: Step, clocks: Clocks
) -> None:
    clock = clocks.opened(together=together)

    def repeat() -> None:
        for _ in range(300):
            clocks.passes(*step)
            clock.check()
            clock.next()

    with pytest.raises(TimeoutError, match=message) as ended:
        repeat()
    assert not isinstance(ended.value, CallTimeout)
    assert clocks.budget.processor_seconds <= most[0] and clocks.budget.wall_seconds <= most[1]


def waited(clocks: Clocks, name: str) -> float:
    """The seconds after which a call that waits is ended."""
    clock, began = clocks.opened(), clocks.wall
    clocks.waiting = name
    with contextlib.suppress(CallTimeout):
        for _ in range(99):
            clocks.passes(0.21, 0)
            clock.check(True)
            clock.next()
    clocks.budget.idle[name] = "", 0
    return clocks.wall - began


def test_calls_that_wait_are_ended_soon_and_further_ones_sooner(clocks: Clocks) -> None:
    seconds = [waited(clocks, name) for name in ("f", "g", "f")]
    assert seconds[0] == pytest.approx(2.1) and seconds[1:] == pytest.approx([0.42, 0.21])
    assert clocks.budget.remaining("m") > 0
    for number in range(99):
        if clocks.budget.remaining("m") > 0:
            waited(clocks, f"f{number}")
    assert sum(clocks.budget.waited.values()) == pytest.approx(10, abs=0.3)


def test_time_before_a_message_or_while_the_grader_is_stopped_is_no_waiting(clocks: Clocks) -> None:
    clock = clocks.opened()
    clocks.waiting = "f"
    for _ in range(9):
        clocks.passes(0.3, 0)
        clock.check()
        clocks.passes(0.1, 0)
        assert clock.check(True) == pytest.approx(0.1)
        clock.next()
    clocks.passes(9, 0)
    clock.next()
    clock.check(True)
    assert clocks.budget.waited == pytest.approx({"f": 0.4})


def test_processor_time_of_all_processes_counts() -> None:
    account = Budget(LIMITS, running=os.getpid())
    account.end(2.0)
    account.running = os.getpid()
    account.end()
    assert account.processor_seconds > 2
    account.end(5.0)  # no process is running
    assert account.processor_seconds < 2 + 5 + process._processor_seconds(os.getpid())
    assert process._processor_seconds(2**22 + 1) == 0


def test_module_has_a_share_of_the_time_and_waiting_uses_it_too(clocks: Clocks) -> None:
    account = clocks.budget
    assert account.remaining("m") == account.remaining("") / 2 == LIMITS.submission_seconds / 2
    assert account.remaining(process.PREVIEW) == process.PREVIEW_SHARE * LIMITS.submission_seconds
    clock = clocks.opened()
    clocks.passes(1, 3)
    assert clock.seconds() == 3
    clocks.passes(9, 0)
    assert clock.seconds() == 10 / LIMITS.wall_factor
