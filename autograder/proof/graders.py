"""Warm graders in processes of their own, for work that is the same for many submissions: in the sandbox, or by direct calls."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import Any, TypeVar

from autograder.grading import script as scripts
from autograder.grading.grader import Grader, open_grader
from autograder.proof.in_process import InProcess

Item = TypeVar("Item")
Found = TypeVar("Found")
_warm: dict[type, Any] = {}
_open = ExitStack()


def each(work: Callable[[Grader, Item], Found], items: Iterable[Item], jobs: int | None = None) -> Iterator[Found]:
    """`work` on every item, in their order, in `jobs` processes; it must be a function of a module, to be found there."""
    with ProcessPoolExecutor(jobs or os.cpu_count() or 1, initializer=_in_sandbox) as pool:
        yield from pool.map(partial(_do, Grader, work), items, chunksize=4)


def each_directly(
    work: Callable[[InProcess, Item], Found], items: Iterable[Item], jobs: int | None = None
) -> Iterator[Found]:
    """The same for the kit's own code, without a sandbox."""
    with ProcessPoolExecutor(jobs or os.cpu_count() or 1, initializer=_directly) as pool:
        yield from pool.map(partial(_do, InProcess, work), items, chunksize=8)


def _in_sandbox() -> None:
    _warm[Grader] = _open.enter_context(open_grader())


def _directly() -> None:
    _warm[InProcess] = InProcess(scripts.current())


def _do(kind: type, work: Callable[[Any, Item], Found], item: Item) -> Found:
    return work(_warm[kind], item)
