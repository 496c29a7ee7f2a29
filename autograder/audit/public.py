"""What students see at home: for each misconception, whether a public check fails, and whether the docstring's example does.

A misconception that a check detects is *named* if both of its own sentences are printed, *half* named if only one is, because
another misconception with the same results shares it, and *misnamed* if a sentence of another misconception is printed.
"""

import doctest
import importlib
import os
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from multiprocessing import get_context
from types import ModuleType
from typing import Any

import numpy as np

from autograder.homework import kit, library
from autograder.homework import reference as references
from autograder.homework import rubric as rubrics
from autograder.homework.library import Misconception
from autograder.release import handout


@dataclass(frozen=True)
class Seen:
    """A misconception, the public checks that fail with it, whether the example of its docstring does, and the printed
    sentences."""

    misconception: Misconception
    checks: tuple[str, ...]
    example: bool
    said: tuple[str, ...] = ()

    @property
    def answer(self) -> str:
        """How the public checks describe it: "-" not at all, "half", "named" or "misnamed"."""
        own = [
            text.removesuffix(handout.ANY).removesuffix(".")
            for text in (self.misconception.does, self.misconception.right)
        ]
        said = set(self.said)  # a sentence may add the wrong or the right number
        is_own = all(any(text.startswith(start) for start in own) for text in said)
        return ("-", "half", "named")[len(said)] if is_own else "misnamed"


def run(only: Iterable[str] = (), jobs: int | None = None) -> Iterator[Seen]:
    """Every misconception of these modules, or of all, in `jobs` processes, one module at a time."""
    names = [name for name in only or rubrics.current().modules if library.of_module(name)]
    # Fresh interpreters: the hidden suites have the same module names as the public checks.
    with ProcessPoolExecutor(jobs or os.cpu_count() or 1, mp_context=get_context("spawn")) as pool:
        for rows in pool.map(_of_module, names):
            yield from rows


def _of_module(module: str) -> list[Seen]:
    """In its own process, because the checks import the student's modules by name."""
    sys.path.insert(0, str(kit.solutions()))
    with handout.importable_checks(kit.solutions()), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in rubrics.current().modules:  # they may be left from the last module
            sys.modules.pop(name, None)
        table = {module: handout.table_of(module, rubrics.current())}
        setattr(importlib.import_module("known_mistakes"), "_table", lambda: table)  # noqa: B010 - mypy knows no such module
        return [_seen(misconception) for misconception in library.of_module(module)]


def _seen(misconception: Misconception) -> Seen:
    """Like pytest and the checks' hooks: advice on a function is printed with its first failing check."""
    sys.modules[misconception.module] = _made(misconception)
    for name in ("student_modules.load", "student_advice._failing", "student_advice.explained"):
        importlib.import_module(name.partition(".")[0]).__dict__[name.partition(".")[2]].cache_clear()
    importlib.import_module("student_calls").SEEN.clear()
    failing = dict(_failing(misconception.module))
    not_ready = importlib.import_module("student_errors").NotReady
    made = [error for error in failing.values() if not isinstance(error, not_ready)]
    advice = importlib.import_module("student_advice").Advice(made, hint=True)
    said = [text for title, text in advice.said if title in ("probably", "right")]
    return Seen(misconception, tuple(failing), _example_fails(misconception), tuple(said))


def _made(misconception: Misconception) -> ModuleType:
    """The reference module with the misconception, as a student would write it."""
    made = ModuleType(misconception.module)
    made.__file__ = str(kit.solutions() / f"{misconception.module}.py")
    right = vars(references.modules()[misconception.module]).items()
    made.__dict__.update({name: value for name, value in right if name[:2] != "__"})
    for function in rubrics.current().modules[misconception.module].functions:
        text = (
            misconception.source
            if function == misconception.function
            else library.correct(misconception.module, function).source
        )
        exec(compile(text, made.__file__, "exec"), made.__dict__)  # noqa: S102 - the kit's own text
    return made


def _failing(module: str) -> Iterator[tuple[str, Any]]:
    """The public checks of the module that fail, with their errors."""
    caller = importlib.import_module("student_calls").Caller
    failed = importlib.import_module("student_errors").CheckFailed
    for name, check in vars(importlib.import_module(f"test_{module}")).items():
        if name.startswith("test_"):
            try:
                check(caller(module))
            except failed as error:
                yield name, error


def _example_fails(misconception: Misconception) -> bool:
    """Whether the worked examples of the docstring fail, as run by `python -m doctest`."""
    right = references.functions()[misconception.function]
    names = dict(vars(_made(misconception)))
    parsed = doctest.DocTestParser().get_doctest(right.__doc__ or "", names, misconception.function, None, 0)
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
            f"{module}: of {len(own)} mistakes the public checks see {checks}, of which {count['named']} are named, "
            f"{count['half']} half, {count['misnamed']} misnamed; the docstrings' examples see {examples}"
        )
