"""What the grading made of one case of the audit, as data that can travel between processes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from autograder.feedback import whole
from autograder.feedback.sentences import lacking
from autograder.grading.charge import Why
from autograder.grading.grader import Graded, Result
from autograder.grading.record import Record
from autograder.homework.mistakes import Mistake
from autograder.homework.rubric import INTEGRATION
from autograder.proof.cases import Case
from autograder.values.compare import TOLERANCE, tolerance


@dataclass(frozen=True)
class Verdict:
    """One criterion of one case, where it was lost, or earned though values are wrong.

    `named` are the ids of mistakes that the student is told. `undecided` are those of which none can be told, since they do the
    same; `shared` is what can be said of them all. `unseen` could not be seen beside the mistakes. `blamed` are the modules
    that a message about the integration calls the cause. `absent` is the function that is said to be missing or not written.
    """

    passed: bool
    why: Why
    named: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    shared: str = ""
    unseen: tuple[str, ...] = ()
    charged: tuple[str, ...] = ()
    blamed: tuple[str, ...] = ()
    absent: str = ""


@dataclass(frozen=True, order=True)
class Check:
    """One call of one test, and the deviation that it allows."""

    module: str
    test: str
    number: int
    dtype: str
    allowed: float
    criterion: str = ""


@dataclass(frozen=True)
class Deviation:
    """How far one submission was from the expected value in a check."""

    check: Check
    value: float


@dataclass(frozen=True)
class Row:
    """What the grading made of a case: a verdict for each criterion that is not simply right, and the deviations."""

    case: Case
    verdicts: dict[str, Verdict]
    deviations: tuple[Deviation, ...] = ()

    @property
    def lost(self) -> dict[str, Verdict]:
        return {name: verdict for name, verdict in self.verdicts.items() if not verdict.passed}

    @property
    def named(self) -> frozenset[str]:
        """The mistakes that the student is told."""
        return frozenset(name for verdict in self.verdicts.values() for name in verdict.named)

    @property
    def undecided(self) -> frozenset[str]:
        return frozenset(name for verdict in self.verdicts.values() for name in verdict.undecided)

    @property
    def shared(self) -> str:
        """The sentence that the student is told of mistakes that cannot be told apart."""
        return next((verdict.shared for verdict in self.verdicts.values() if verdict.shared), "")


def row(case: Case, result: Result, margins: bool = True) -> Row:
    """The row of a graded case; without deviations unless `margins`."""
    told = (g for g in result.graded if not g.passed or g.mistakes or g.undecided or g.blamed)
    verdicts = {g.criterion.id: _verdict(g, result) for g in told}
    return Row(case, verdicts, tuple(_deviations(result)) if margins else ())


def _verdict(graded: Graded, result: Result) -> Verdict:
    blamed = whole.causes(graded, result) if graded.criterion.module == INTEGRATION and not graded.passed else ()
    named, undecided = (tuple(m.id for m in found) for found in (graded.mistakes, graded.undecided))
    unseen = tuple(m.id for m in graded.unseen)
    shared = _shared(graded.undecided)
    absent = _absent(graded.record) if graded.record is not None and not blamed else ""
    return Verdict(graded.passed, graded.why, named, undecided, shared, unseen, graded.charged, blamed, absent)


def _absent(record: Record) -> str:
    missing = record.unwritten or (record.reply.error is not None and record.reply.error.hint == "missing")
    return record.target.function if missing else lacking(record)


def _shared(mistakes: Iterable[Mistake]) -> str:
    right = {mistake.right for mistake in mistakes}
    return right.pop() if len(right) == 1 else ""


def _deviations(result: Result) -> Iterator[Deviation]:
    for module in result.modules:
        for record in module.records:
            step, kind = record.step, record.fault.kind if record.fault is not None else "value"
            compared = step.kind == "call" and step.test and not step.rules.error and not step.rules.question
            if compared and kind == "value" and record.reply.error is None and record.reply.ended is None:
                wide = tolerance((step.args, step.kwargs)) == TOLERANCE["float32"]
                dtype = "float32" if wide else "float64"
                yield Deviation(
                    Check(module.module, step.test, step.number, dtype, step.allowed, step.criterion), record.deviation
                )
