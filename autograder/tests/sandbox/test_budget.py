"""What a submission may cost: clocks, memory of the container."""

import os
from pathlib import Path

import psutil
import pytest
from pydantic import ValidationError

from autograder.sandbox import budget
from autograder.sandbox.budget import Budget, CallSpent, Clock, Limits, container_memory

LIMITS = Limits(call_seconds=1, submission_seconds=10, wall_factor=2)


@pytest.mark.parametrize(
    "wrong", [{"call_seconds": 0}, {"wall_factor": 0.5}, {"memory_mb": 64}, {"unknown": 1}, {"disk_mb": "x"}]
)
def test_impossible_limits_are_refused_and_limits_do_not_change(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Limits(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ValidationError):
        LIMITS.call_seconds = 3


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


class Time:
    """Clocks that stand where a test puts them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.wall, self.processor, self.graders = 100.0, 0.0, 30.0
        monkeypatch.setattr("autograder.sandbox.budget.time.monotonic", lambda: self.wall)
        monkeypatch.setattr("autograder.sandbox.budget.time.thread_time", lambda: self.graders)
        monkeypatch.setattr(budget, "_processor_seconds", lambda pid: self.processor)

    def passes(self, wall: float, processor: float, graders: float = 0) -> None:
        self.wall, self.processor = self.wall + wall, self.processor + processor
        self.graders += graders


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    return Time(monkeypatch)


@pytest.fixture
def account(time: Time) -> Budget:
    return Budget(LIMITS, running=1)


def clock(account: Budget) -> Clock:
    return Clock(account, lambda: None, 1, 10)


def test_what_the_grader_does_because_of_a_submission_is_time_of_the_submission(time: Time, account: Budget) -> None:
    account.own_seconds += LIMITS.submission_seconds
    assert account.processor_seconds == LIMITS.submission_seconds
    time.passes(0.1, 0.1)
    with pytest.raises(TimeoutError, match="processor time of the submission"):
        account.check()


@pytest.mark.parametrize(
    ("first", "processor_seconds", "more"),
    [
        ((1.0, 1.0), 1.0, (0.25, 0.25)),  # computing ends a call
        ((1.0, 0.4, 0.5), 0.9, (0.25, 0, 0.25)),  # so does what the grader spends on listening
        ((2.0, 0), 0, (0.25, 0)),  # waiting ends it later
    ],
)
def test_what_ends_a_call(
    time: Time, account: Budget, first: tuple[float, ...], processor_seconds: float, more: tuple[float, ...]
) -> None:
    running = clock(account)
    time.passes(*first)
    running.check()
    assert account.processor_seconds == pytest.approx(processor_seconds)
    time.passes(*more)
    with pytest.raises(TimeoutError, match="call"):
        running.check()


def test_each_call_has_its_own_time(time: Time, account: Budget) -> None:
    running = clock(account)
    for _ in range(9):
        time.passes(0.9, 0.9)
        running.check()
        running.next()
    time.passes(5, 0.9)
    running.next()
    time.passes(1.9, 0.05)
    running.check()  # waiting for its turn is not processor time of a call


def test_callbacks_add_to_the_time_of_their_call_alone(time: Time, account: Budget) -> None:
    running = clock(account)
    running.callbacks = 500
    for _ in range(5):
        time.passes(0.28, 0.28)
        running.check()
    time.passes(0.28, 0.28)
    with pytest.raises(TimeoutError, match="call"):
        running.check()
    running.next()
    time.passes(0.9, 0.9)
    running.check()
    time.passes(0.28, 0.28)
    with pytest.raises(TimeoutError, match="call"):
        running.check()


def test_of_a_share_of_the_time_it_is_said_whether_it_was_processor_time(time: Time, account: Budget) -> None:
    running = Clock(account, lambda: None, budget.ENDLESS_SHARE, 10)
    time.passes(0.3, 0.3)
    with pytest.raises(CallSpent):
        running.check()
    running.next()
    time.passes(0.3, 0)
    with pytest.raises(TimeoutError) as waited:
        running.check()
    assert not isinstance(waited.value, CallSpent)


@pytest.mark.parametrize(("wall", "processor"), [(0.5, 0.5), (0.9, 0)], ids=["processor", "wall"])
def test_calls_together_may_have_a_share_of_the_submission(
    wall: float, processor: float, time: Time, account: Budget
) -> None:
    account.ended_seconds = 5  # of other processes, before
    running = Clock(account, lambda: None, 1, 0.3)
    with pytest.raises(TimeoutError, match="several calls") as over:
        many(time, running, wall, processor)
    assert not isinstance(over.value, CallSpent)
    assert account.processor_seconds - 5 < 3.6 and account.wall_seconds < 6.6


def many(time: Time, running: Clock, wall: float, processor: float) -> None:
    for _ in range(300):
        time.passes(wall, processor)
        running.check()
        running.next()


def test_many_short_calls_are_counted_together(time: Time, account: Budget) -> None:
    with pytest.raises(TimeoutError, match="processor time of the submission"):
        many(time, clock(account), 0.05, 0.05)  # none of them is long enough to be looked at alone
    assert account.processor_seconds == pytest.approx(10, abs=0.3)


def test_a_submission_cannot_sleep_for_long(time: Time, account: Budget) -> None:
    with pytest.raises(TimeoutError, match="time of the submission"):
        many(time, clock(account), 0.15, 0)
    assert account.wall_seconds == pytest.approx(20, abs=0.3)


def test_all_processes_count() -> None:
    account = Budget(LIMITS)
    account.running = 2**22 + 1
    account.end(2.0)
    assert account.processor_seconds == 2
    account.running = os.getpid()
    account.end()
    assert account.processor_seconds > 2
    account.end(5.0)  # none is alive
    assert account.processor_seconds < 2 + 5 + budget._processor_seconds(os.getpid())
    assert budget._processor_seconds(2**22 + 1) == 0


def test_the_disk_is_looked_at_with_the_clock(time: Time, account: Budget) -> None:
    looks: list[int] = []
    running = Clock(account, lambda: looks.append(1), 1, 10)
    running.check()
    time.passes(0.3, 0)
    running.check()
    assert looks == [1]


def test_a_module_has_its_share_of_the_time_and_what_waits_uses_it_too(time: Time, account: Budget) -> None:
    assert account.left("m") == account.left("") / 2 == LIMITS.submission_seconds / 2
    running = Clock(account, lambda: None, 1, account.left("m"))
    time.passes(1, 3)
    assert running.seconds() == 3
    time.passes(9, 0)
    assert running.seconds() == 10 / LIMITS.wall_factor
    account.module_seconds["m"] += running.seconds()
    assert account.left("m") == 0 and account.left("other") == LIMITS.submission_seconds / 2
    assert account.left(budget.PREVIEW) == budget.PREVIEW_SHARE * LIMITS.submission_seconds
