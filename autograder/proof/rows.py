"""Cases graded in warm processes, in the sandbox or by direct calls; what came of each, as data that can travel."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from autograder.feedback import whole
from autograder.feedback.sentences import lacking
from autograder.grading import script as scripts
from autograder.grading.charge import Graded
from autograder.grading.grader import Result, open_grader
from autograder.grading.record import Record
from autograder.homework.rubric import INTEGRATION
from autograder.proof.cases import Case
from autograder.proof.in_process import InProcess
from autograder.values.compare import TOLERANCE, tolerance

Item = TypeVar("Item")
Found = TypeVar("Found")
_open = ExitStack()
_warm: list[Any] = []  # the one grader of this process


def each(
    work: Callable[[Any, Item], Found], items: Iterable[Item], jobs: int | None = None, sandbox: bool = False
) -> Iterator[Found]:
    """`work` on a warm grader and every item, in their order, in `jobs` processes; it must be a function of a module.

    The grader is an InProcess, for the kit's own code, or with `sandbox` a Grader.
    """
    with ProcessPoolExecutor(jobs or os.cpu_count() or 1, initializer=_warm_up, initargs=(sandbox,)) as pool:
        yield from pool.map(partial(_do, work), items, chunksize=4)


def _warm_up(sandbox: bool) -> None:
    _warm.append(_open.enter_context(open_grader()) if sandbox else InProcess(scripts.current()))


def _do(work: Callable[[Any, Item], Found], item: Item) -> Found:
    return work(_warm[0], item)


# What came of a case


@dataclass(frozen=True, order=True)
class GradedCall:
    """One call of one test whose result is compared, and the deviation that it allows."""

    module: str
    test: str
    number: int
    dtype: str
    allowed: float
    criterion: str = ""


@dataclass(frozen=True)
class Row:
    """What the grading made of a case.

    `graded` are the criteria that are lost, or earned though values are wrong; without their records, which do not travel. By
    criterion, `absent` is the function that is said to be missing or not written, and `causes` are the modules that a
    message about the integration calls the cause. `deviations` say how far results were from the expected ones.
    """

    case: Case
    graded: dict[str, Graded]
    absent: dict[str, str] = field(default_factory=dict)
    causes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    deviations: dict[GradedCall, float] = field(default_factory=dict)

    @property
    def lost(self) -> dict[str, Graded]:
        return {name: graded for name, graded in self.graded.items() if not graded.passed}

    @property
    def named(self) -> frozenset[str]:
        """The mistakes that the student is told."""
        return frozenset(mistake.id for graded in self.graded.values() for mistake in graded.mistakes)

    @property
    def undecided(self) -> frozenset[str]:
        """The mistakes of which none can be told, since they do the same."""
        return frozenset(mistake.id for graded in self.graded.values() for mistake in graded.undecided)

    @property
    def name(self) -> str:
        return f"{self.case.kind}: {self.case.name}"

    @property
    def plain(self) -> dict[str, Any]:
        """The criteria, why each is lost or earned, and the mistakes, as JSON has them."""
        return {
            name: {"earned": graded.passed, "why": graded.why}
            | {what: [m.id for m in getattr(graded, what)] for what in ("mistakes", "undecided", "unseen")}
            for name, graded in self.graded.items()
        }


def row(case: Case, result: Result, deviations: bool = True) -> Row:
    """The row of a graded case; without deviations if they are not wanted."""
    told = {g.criterion.id: g for g in result.graded if not g.passed or g.mistakes or g.undecided or g.blamed}
    causes = {
        name: whole.causes(g, result) for name, g in told.items() if not g.passed and name.startswith(INTEGRATION)
    }
    absent = {name: _absent(g.record) for name, g in told.items() if g.record is not None and not causes.get(name)}
    light = {name: replace(graded, record=None, shown=None) for name, graded in told.items()}
    return Row(case, light, absent, causes, dict(_deviations(result)) if deviations else {})


def _absent(record: Record) -> str:
    missing = record.unwritten or (record.reply.error is not None and record.reply.error.hint == "missing")
    return record.target.function if missing else lacking(record)


def _deviations(result: Result) -> Iterator[tuple[GradedCall, float]]:
    for module in result.modules:
        for record in module.records:
            step, kind = record.step, record.fault.kind if record.fault is not None else "value"
            compared = step.kind == "call" and step.test and not step.rules.error and not step.rules.question
            if compared and kind == "value" and record.reply.error is None and record.reply.ended is None:
                wide = tolerance((step.args, step.kwargs)) == TOLERANCE["float32"]
                dtype = "float32" if wide else "float64"
                place = GradedCall(module.module, step.test, step.number, dtype, step.allowed, step.criterion)
                yield place, record.deviation


def shared(graded: Iterable[Graded]) -> str:
    """The sentence that is told of mistakes which cannot be told apart, "" if there is none."""
    found = ({mistake.right for mistake in one.undecided} for one in graded)
    return next((right.pop() for right in found if len(right) == 1), "")


def differing(rows: Iterable[Row], before: Mapping[str, Any]) -> Iterator[str]:
    """The rows that are not as they were, with the criteria that differ. `before` are plain rows by name."""
    for row in rows:
        old, new = before.get(row.name), row.plain
        if old is None:
            yield f"{row.name}: a new case"
        elif old != new:
            names = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
            changes = (
                f"\n  {n}: {json.dumps(old.get(n, 'right'))} -> {json.dumps(new.get(n, 'right'))}" for n in names
            )
            yield row.name + "".join(changes)
