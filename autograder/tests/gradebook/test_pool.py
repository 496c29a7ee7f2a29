"""Workers are numbered; a stopped one is replaced by another."""

import os
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest

from autograder.gradebook import batch, pool
from autograder.gradebook.pool import Pool
from autograder.sandbox.budget import Limits


def test_stopped_worker_is_replaced_and_all_end_together() -> None:
    made: dict[int, list[ThreadPoolExecutor]] = {0: [], 1: []}
    closed: list[bool] = []

    def make(number: int) -> ThreadPoolExecutor:
        made[number].append(ThreadPoolExecutor(1))
        return made[number][-1]

    workers = Pool(make, 2, lambda: closed.append(True))
    assert [workers.submit(number, len, "abc").result() for number in (0, 1)] == [3, 3]
    workers.stop(1)
    assert workers.submit(1, len, "ab").result() == 2
    workers.end()
    assert (len(made[0]), len(made[1]), closed) == (1, 2, [True])
    with pytest.raises(CancelledError):
        workers.submit(0, len, "")
    for executor in (*made[0], *made[1]):
        with pytest.raises(RuntimeError):
            executor.submit(len, "")


def test_patience_is_longer_than_any_submission_may_take() -> None:
    limits = Limits(submission_seconds=60, wall_factor=4)
    assert batch.patience(limits) > limits.submission_seconds * limits.wall_factor


def test_there_is_a_core() -> None:
    assert 1 <= pool.cores() <= (os.cpu_count() or 1)
