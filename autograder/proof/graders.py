"""Warm graders in processes of their own, for work that is the same for many submissions."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import TypeVar

from autograder.grading.grader import Grader, open_grader

Item = TypeVar("Item")
Found = TypeVar("Found")
_grader: Grader | None = None
_open = ExitStack()


def each(work: Callable[[Grader, Item], Found], items: Iterable[Item], jobs: int | None = None) -> Iterator[Found]:
    """`work` on every item, in their order, in `jobs` processes; it must be a function of a module, to be found there."""
    with ProcessPoolExecutor(jobs or os.cpu_count() or 1, initializer=_warm) as pool:
        yield from pool.map(partial(_do, work), items, chunksize=4)


def _warm() -> None:
    global _grader
    _grader = _open.enter_context(open_grader())


def _do(work: Callable[[Grader, Item], Found], item: Item) -> Found:
    assert _grader is not None, "the pool starts each process with _warm"
    return work(_grader, item)
