"""The processes that grade can be made anew, and each keeps to a core of its own."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from autograder.gradebook import pool
from autograder.gradebook.pool import Pool
from autograder.sandbox.budget import Limits


def test_pool_is_made_anew_and_closed() -> None:
    made: list[ThreadPoolExecutor] = []

    def make() -> ThreadPoolExecutor:
        made.append(ThreadPoolExecutor(1))
        return made[-1]

    workers = Pool(make, 1)
    assert workers.submit(len, "abc").result() == 3
    workers.renew()
    assert workers.submit(len, "ab").result() == 2
    workers.end()
    assert len(made) == 2
    for executor in made:
        with pytest.raises(RuntimeError):
            executor.submit(len, "")


def test_patience_is_longer_than_any_submission_may_take() -> None:
    limits = Limits(submission_seconds=60, wall_factor=4)
    assert pool.patience(limits) > limits.submission_seconds * limits.wall_factor


def test_there_is_a_core() -> None:
    assert 1 <= pool.cores() <= (os.cpu_count() or 1)
