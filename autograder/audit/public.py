"""Reports which misconceptions the public checks detect.

A detected misconception is *named* if both of its sentences are printed, *half* named if only one is, because another
misconception with the same results shares it, and *misnamed* if a sentence of another misconception is printed.
"""

import importlib
import os
import sys
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np

from autograder.exceptions import CommandError
from autograder.gradebook.pool import processes
from autograder.homework import reference as references
from autograder.homework.homework import Homework
from autograder.homework.library import Misconception
from autograder.release import home_table


class Detection(NamedTuple):
    """A misconception, the public checks that it fails, and how they describe it."""

    misconception: Misconception
    checks: tuple[str, ...]
    answer: str


def answer(printed: Collection[str], sentences: Collection[str]) -> str:
    """Return how the public checks describe a misconception: "-" not at all, "half", "named" or "misnamed".

    `sentences` are those of the misconception. With an argument that it ignores, they name the number that is used.
    """
    return ("-", "half", "named")[len(printed)] if {*printed} <= {*sentences} else "misnamed"


def run(homework: Homework, only: Iterable[str] = (), jobs: int | None = None) -> Iterator[Detection]:
    """Check every misconception of the given modules, or of all, in `jobs` processes, one module at a time."""
    names = [name for name in only or homework.rubric.modules if homework.of_module(name)]
    # Fresh interpreters: the hidden suites have the same module names as the public checks.
    with processes(jobs or os.cpu_count() or 1, mp_context=get_context("spawn")) as pool:
        for detections in pool.map(partial(_of_module, homework.own_folder), names):
            yield from detections


def _of_module(folder: Path | None, module: str) -> list[Detection]:
    """Check a module in a separate process, because the checks import the student's modules by name."""
    homework = Homework(folder)
    modules = references.importable(homework.solutions, homework.rubric.modules)
    checks = home_table.importable_checks(homework.solutions)
    with modules, checks, np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        try:
            table = {module: home_table.table_of(homework, module)}
            vars(importlib.import_module("known_mistakes"))["_table"] = lambda: table
        except ImportError as error:
            raise CommandError(
                f"{homework.solutions / 'checks'}: run autograder build, which updates them: {error}"
            ) from error
        return [_detection(homework, misconception) for misconception in homework.of_module(module)]


def _detection(homework: Homework, misconception: Misconception) -> Detection:
    """Run the public checks like pytest: advice on a function is printed with its first failing check."""
    advice, calls, errors = map(importlib.import_module, ("student_advice", "student_calls", "student_errors"))
    student = ModuleType(misconception.module)  # the reference with the misconception, as a student would write it
    student.__file__ = str(homework.solutions / f"{misconception.module}.py")
    source = homework.files[f"{misconception.module}.py"].decode() + "\n\n" + misconception.source
    exec(compile(source, student.__file__, "exec"), vars(student))  # noqa: S102 - the kit's own text
    sys.modules[misconception.module] = student
    for cached in (importlib.import_module("student_modules").load, advice._failing, advice.explained, advice.needs):
        cached.cache_clear()
    calls.SEEN.clear()
    calls.MODIFIED.clear()
    calls.RETURNED.clear()
    failing = {}
    for name, check in vars(importlib.import_module(f"test_{misconception.module}")).items():
        if name.startswith("test_"):
            try:
                check(calls.Caller(misconception.module))
            except errors.CheckFailed as error:
                failing[name] = error
    ready = [error for error in failing.values() if not isinstance(error, errors.NotReady)]
    printed = {
        text
        for function in advice.Advice(ready, hint=0).causes
        for title, text in advice.explained(function)
        if title in ("probably", "right")
    }
    sentences = [*home_table.sentences(homework, misconception)]
    return Detection(misconception, tuple(failing), answer(printed, sentences))


def lines(detections: Iterable[Detection]) -> Iterator[str]:
    """Yield a line for each misconception, then the totals of each module."""
    groups: dict[str, list[Detection]] = {}
    for detection in detections:
        groups.setdefault(detection.misconception.module, []).append(detection)
    yield "check: a public check fails; each way to make the mistake has its own line"
    yield "named: the message has both sentences of the misconception; half: one of them; misnamed: those of another"
    for module, group in groups.items():
        yield f"\n{module}"
        for one in group:
            checks = f"  ({', '.join(one.checks)})" if one.checks else ""
            yield f"  {'check' if one.checks else '-':<7}{one.answer:<10}{one.misconception.id}{checks}"
    yield ""
    groups["all"] = [one for group in groups.values() for one in group]
    for module, group in groups.items():
        count = Counter(one.answer for one in group if one.checks)
        yield (
            f"{module}: of {len(group)} mistakes the public checks detect {count.total()}, of which {count['named']} are "
            f"named, {count['half']} half, {count['misnamed']} misnamed"
        )
