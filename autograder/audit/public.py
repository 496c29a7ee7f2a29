"""Reports which misconceptions the public checks and the docstring examples detect.

A detected misconception is *named* if both of its sentences are printed, *half* named if only one is, because another
misconception with the same results shares it, and *misnamed* if a sentence of another misconception is printed.
"""

import doctest
import importlib
import os
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from io import StringIO
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType

import numpy as np

from autograder.gradebook.pool import processes
from autograder.homework import library
from autograder.homework import reference as references
from autograder.homework.homework import Homework
from autograder.homework.library import Misconception
from autograder.release import home_table


@dataclass(frozen=True)
class Seen:
    """A misconception, the public checks that it fails, whether it fails a docstring example, and the printed sentences."""

    misconception: Misconception
    checks: tuple[str, ...]
    example: bool
    sentences: tuple[str, ...] = ()

    @property
    def answer(self) -> str:
        """How the public checks describe it: "-" not at all, "half", "named" or "misnamed"."""
        own, ignored = self.misconception, self.misconception.ignores
        texts = (library.IGNORES.format(ignored, ""), library.USE.format(ignored)) if ignored else (own.does, own.right)
        sentences = set(self.sentences)  # a sentence may end with the actual or the expected number
        is_own = all(any(text.startswith(start.removesuffix(".")) for start in texts) for text in sentences)
        return ("-", "half", "named")[len(sentences)] if is_own else "misnamed"


def run(homework: Homework, only: Iterable[str] = (), jobs: int | None = None) -> Iterator[Seen]:
    """Check every misconception of the given modules, or of all, in `jobs` processes, one module at a time."""
    names = [name for name in only or homework.rubric.modules if homework.of_module(name)]
    # Fresh interpreters: the hidden suites have the same module names as the public checks.
    with processes(jobs or os.cpu_count() or 1, mp_context=get_context("spawn")) as pool:
        for rows in pool.map(partial(_of_module, homework.place), names):
            yield from rows


def _of_module(folder: Path | None, module: str) -> list[Seen]:
    """Runs in a separate process, because the checks import the student's modules by name."""
    homework = Homework(folder)
    modules = references.importable(homework.solutions, homework.rubric.modules)
    checks = home_table.importable_checks(homework.solutions)
    with modules, checks, np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        table = {module: home_table.table_of(homework, module)}
        vars(importlib.import_module("known_mistakes"))["_table"] = lambda: table
        return [_seen(homework, misconception) for misconception in homework.of_module(module)]


def _seen(homework: Homework, misconception: Misconception) -> Seen:
    """Run the public checks like pytest: advice on a function is printed with its first failing check."""
    advice, calls, errors = map(importlib.import_module, ("student_advice", "student_calls", "student_errors"))
    sys.modules[misconception.module] = _made(homework, misconception)
    for cached in (importlib.import_module("student_modules").load, advice._failing, advice.explained):
        cached.cache_clear()
    calls.SEEN.clear()
    calls.MODIFIED.clear()
    failing = {}
    for name, check in vars(importlib.import_module(f"test_{misconception.module}")).items():
        if name.startswith("test_"):
            try:
                check(calls.Caller(misconception.module))
            except errors.CheckFailed as error:
                failing[name] = error
    ready = [error for error in failing.values() if not isinstance(error, errors.NotReady)]
    sentences = [text for title, text in advice.Advice(ready, hint=0).said if title in ("probably", "right")]
    return Seen(misconception, tuple(failing), _example_fails(homework, misconception), tuple(sentences))


def _made(homework: Homework, misconception: Misconception) -> ModuleType:
    """The reference module with the misconception, as a student would write it."""
    made = ModuleType(misconception.module)
    made.__file__ = str(homework.solutions / f"{misconception.module}.py")
    source = Path(made.__file__).read_text(encoding="utf-8") + "\n\n" + misconception.source
    exec(compile(source, made.__file__, "exec"), vars(made))  # noqa: S102 - the kit's own text
    return made


def _example_fails(homework: Homework, misconception: Misconception) -> bool:
    """Whether the docstring examples fail in `python -m doctest`."""
    text = homework.functions[misconception.function].__doc__ or ""
    names = dict(vars(_made(homework, misconception)))
    parsed = doctest.DocTestParser().get_doctest(text, names, misconception.function, None, 0)
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    with redirect_stdout(StringIO()):
        return runner.run(parsed).failed > 0


def lines(rows: Iterable[Seen]) -> Iterator[str]:
    """A line for each misconception, then the totals of each module."""
    groups: dict[str, list[Seen]] = {}
    for row in rows:
        groups.setdefault(row.misconception.module, []).append(row)
    yield "check: a public check fails; example: a docstring example fails; each way to make the mistake has its own line"
    yield "named: the message has both sentences of the misconception; half: one of them; misnamed: those of another"
    for module, own in groups.items():
        yield f"\n{module}"
        for row in own:
            marks = f"{'check' if row.checks else '-':<7}{row.answer:<10}{'example' if row.example else '-':<9}"
            yield f"  {marks}{row.misconception.id}" + (f"  ({', '.join(row.checks)})" if row.checks else "")
    yield ""
    groups["all"] = [row for own in groups.values() for row in own]
    for module, own in groups.items():
        checks, examples = sum(bool(row.checks) for row in own), sum(row.example for row in own)
        count = Counter(row.answer for row in own if row.checks)
        yield (
            f"{module}: of {len(own)} mistakes the public checks detect {checks}, of which {count['named']} are named, "
            f"{count['half']} half, {count['misnamed']} misnamed; the docstring examples detect {examples}"
        )
