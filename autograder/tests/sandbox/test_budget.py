"""What a submission may cost: clocks, memory of the container."""

import os
from pathlib import Path

import psutil
import pytest

from autograder.sandbox import budget
from autograder.sandbox.budget import Budget, CallSpent, Clock, Limits, container_memory

LIMITS = Limits(call_seconds=1, submission_seconds=10, wall_factor=2)


@pytest.mark.parametrize(
    ("text", "megabytes"), [("max", None), ("805306368", 768), ("9223372036854771712", None), ("", None)]
)
def test_memory_follows_the_container(
    text: str, megabytes: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "memory.max").write_text(text)
    monkeypatch.setattr(budget, "CONTAINER_MEMORY", (str(tmp_path / "memory.max"), "/nowhere"))
    whole = psutil.virtual_memory().total // 2**20
    assert container_memory() == min(whole, megabytes or whole)


class Clocks:
    """Clocks that show what a test sets, and the budget of a submission by them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.wall, self.processor, self.graders = 100.0, 0.0, 30.0
        monkeypatch.setattr("autograder.sandbox.budget.time.monotonic", lambda: self.wall)
        monkeypatch.setattr("autograder.sandbox.budget.time.thread_time", lambda: self.graders)
        monkeypatch.setattr(budget, "_processor_seconds", lambda pid: self.processor)
        self.budget = Budget(LIMITS, running=1)
        self.looks = 0

    def opened(self, share: float = 1, together: float = 10) -> Clock:
        return Clock(self.budget, self._look, share, together)

    def _look(self) -> None:
        self.looks += 1

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
        (1, (1.0, 1.0), (0.25, 0.25), CallSpent),  # computing ends a call
        (1, (1.0, 0.4, 0.5), (0.25, 0, 0.25), CallSpent),  # so does what the grader spends on listening
        (1, (2.0, 0), (0.25, 0), TimeoutError),  # waiting ends it later
        (budget.ENDLESS_SHARE, (0.1, 0.1), (0.2, 0.2), CallSpent),
        (budget.ENDLESS_SHARE, (0.1, 0), (0.2, 0), TimeoutError),
    ],
)
def test_what_ends_a_call(share: float, first: Step, more: Step, kind: type[Exception], clocks: Clocks) -> None:
    clock = clocks.opened(share)
    clocks.passes(*first)
    clock.check()
    clocks.passes(*more)
    with pytest.raises(TimeoutError, match="of a call") as ended:
        clock.check()
    assert type(ended.value) is kind
    assert clocks.looks == 2 - (share < 1)  # at the disk, as often as at the clocks


def test_each_call_has_its_own_time(clocks: Clocks) -> None:
    clock = clocks.opened()
    for _ in range(9):
        clocks.passes(0.9, 0.9)
        clock.check()
        clock.next()
    clocks.passes(5, 0.9)
    clock.next()
    clocks.passes(1.9, 0.05)
    clock.check()  # waiting for its turn is not processor time of a call


def test_callbacks_add_to_the_time_of_their_call_alone(clocks: Clocks) -> None:
    clock = clocks.opened()
    for callbacks, checks in ((500, 5), (0, 3)):
        clock.callbacks = callbacks
        for _ in range(checks):
            clocks.passes(0.28, 0.28)
            clock.check()
        clocks.passes(0.28, 0.28)
        with pytest.raises(CallSpent):
            clock.check()
        clock.next()


@pytest.mark.parametrize(
    ("together", "step", "message", "most"),
    [
        (0.3, (0.5, 0.5), "several calls", (3.6, 6.6)),
        (0.3, (0.9, 0), "several calls", (3.6, 6.6)),
        (10, (0.05, 0.05), "processor time of the submission", (10.3, 10.3)),  # too short to be looked at alone
        (10, (0.15, 0), "^time of the submission", (0, 20.3)),
    ],
)
def test_what_ends_many_calls(together: float, step: Step, message: str, most: Step, clocks: Clocks) -> None:
    clock = clocks.opened(together=together)

    def repeat() -> None:
        for _ in range(300):
            clocks.passes(*step)
            clock.check()
            clock.next()

    with pytest.raises(TimeoutError, match=message) as ended:
        repeat()
    assert not isinstance(ended.value, CallSpent)
    assert clocks.budget.processor_seconds <= most[0] and clocks.budget.wall_seconds <= most[1]


def test_all_processes_count() -> None:
    account = Budget(LIMITS, running=os.getpid())
    account.end(2.0)
    account.running = os.getpid()
    account.end()
    assert account.processor_seconds > 2
    account.end(5.0)  # none is alive
    assert account.processor_seconds < 2 + 5 + budget._processor_seconds(os.getpid())
    assert budget._processor_seconds(2**22 + 1) == 0


def test_a_module_has_its_share_of_the_time_and_what_waits_uses_it_too(clocks: Clocks) -> None:
    account = clocks.budget
    assert account.left("m") == account.left("") / 2 == LIMITS.submission_seconds / 2
    assert account.left(budget.PREVIEW) == budget.PREVIEW_SHARE * LIMITS.submission_seconds
    clock = clocks.opened()
    clocks.passes(1, 3)
    assert clock.seconds() == 3
    clocks.passes(9, 0)
    assert clock.seconds() == 10 / LIMITS.wall_factor
