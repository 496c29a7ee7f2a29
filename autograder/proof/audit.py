"""Is the grading right? Every known mistake against every criterion, every correct alternative against every criterion.

A misconception is submitted as a student would: the whole module, one function wrong. It must lose points, only in criteria that
grade its function, and be named as itself or not at all; trivial code must lose every criterion that grades its function; an
alternative must lose nothing; every criterion must be lost by some misconception.
"""

import random
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.feedback import messages as feedback
from autograder.grading.compare import TOLERANCE, tolerance
from autograder.grading.grader import Grader, Result, open_grader
from autograder.homework import kit, mistakes
from autograder.homework import reference as references
from autograder.homework import rubric as rubrics
from autograder.homework.rubric import INTEGRATION
from autograder.homework.trivial import trivial
from autograder.intake.reading import read
from autograder.intake.submission import Submission
from autograder.proof.graders import each

ALTERNATIVES = kit.PACKAGE / "proof" / "alternatives"


@dataclass(frozen=True)
class Case:
    """One submission of the audit: a wrong version of one function of `module`, or a correct alternative (no function)."""

    name: str
    module: str = ""
    function: str = ""
    trivial: bool = False


@dataclass(frozen=True, order=True)
class Check:
    """One call of one test, and the deviation that it allows."""

    module: str
    test: str
    number: int
    dtype: str
    allowed: float


@dataclass(frozen=True)
class Deviation:
    """How far one submission was from the expected value in a check."""

    check: Check
    value: float


@dataclass(frozen=True)
class Row:
    """What the grading made of a case: the criteria that it lost, the name that it was given in each, its deviations."""

    case: Case
    lost: dict[str, str | None]
    deviations: tuple[Deviation, ...] = ()

    @property
    def named(self) -> bool:
        return self.case.name in self.lost.values()


def cases(only: Collection[str] = ()) -> list[Case]:
    """Every misconception, every trivial version and every alternative; of some modules only, if they are given."""
    found = []
    for module, entry in rubrics.current().modules.items():
        if only and module not in only:
            continue
        found += [Case(m.id, module, m.function) for m in mistakes.of_module(module)]
        for function in entry.functions if mistakes.of_module(module) else ():
            found += [Case(m.id, module, function, True) for m in trivial(module, function)]
    found += [Case(path.name) for path in sorted(ALTERNATIVES.glob("[!_.]*/"))]
    return found


def submission(case: Case) -> Submission:
    """The files of a case: the references, with its own in their place."""
    files = references.files()
    if not case.function:
        return Submission(case.name, files | read(ALTERNATIVES / case.name, rubrics.current().limits).files)
    wrong = _wrong_version(case)
    name = f"{case.module}.py"
    return Submission(case.name, files | {name: files[name] + b"\n\n" + wrong.source.encode()})


def _wrong_version(case: Case) -> mistakes.Mistake:
    pool = trivial(case.module, case.function) if case.trivial else mistakes.of_module(case.module)
    return next(m for m in pool if m.id == case.name)


def run(jobs: int | None = None, chosen: Iterable[Case] | None = None) -> Iterator[Row]:
    """Grade the cases, in their order, in `jobs` processes."""
    yield from each(_grade, list(chosen or cases()), jobs)


def _grade(grader: Grader, case: Case) -> Row:
    result = grader.grade(submission(case), (case.module, INTEGRATION) if case.module else ())
    lost = {g.criterion.id: g.mistakes[0].id if g.mistakes else None for g in result.graded if not g.passed}
    return Row(case, lost, tuple(_deviations(result)))


def _deviations(result: Result) -> Iterator[Deviation]:
    for module in result.modules:
        for record in module.records:
            step, kind = record.step, record.fault.kind if record.fault is not None else "value"
            compared = step.kind == "call" and step.test and not step.rules.error and not step.rules.question
            if compared and kind == "value" and record.reply.error is None and record.reply.ended is None:
                wide = tolerance((step.args, step.kwargs)) == TOLERANCE["float32"]
                dtype = "float32" if wide else "float64"
                yield Deviation(Check(module.module, step.test, step.number, dtype, step.allowed), record.deviation)


def problems(rows: list[Row], only: Collection[str] = ()) -> list[str]:
    """Everything that is not as it should be, a sentence each."""
    found = []
    for row in rows:
        found += list(_case_problems(row))
    for module in only or rubrics.current().modules:
        if rubrics.current().explains(module) and not mistakes.of_module(module):
            found.append(f"{module}: there is no catalogue {kit.mistakes() / module}")
    for name, criterion in rubrics.current().criteria.items():
        if only and criterion.module not in only:
            continue
        written = any(not row.case.trivial and row.case.function and name in row.lost for row in rows)
        if not written and mistakes.of_module(criterion.module):
            found.append(f"{name}: no misconception loses it")
    return found


def _case_problems(row: Row) -> Iterator[str]:
    case, criteria = row.case, rubrics.current().criteria
    if not case.function:
        yield from (f"alternative {case.name} loses {name}" for name in row.lost)
        return
    graded = {name for name, c in criteria.items() if case.function in c.grades}
    inside = {name for name in row.lost if criteria[name].module != INTEGRATION}
    if not inside:
        yield f"{case.name} keeps full marks"
    yield from (f"{case.name} loses {name}, which does not grade it" for name in sorted(inside - graded))
    if case.trivial:
        yield from (f"{case.name} keeps {name}, though it computes nothing" for name in sorted(graded - inside))
    else:
        wrong = {given for name, given in row.lost.items() if given not in (None, case.name) and name in inside}
        yield from (f"{case.name} is named {given}" for given in sorted(filter(None, wrong)))


@dataclass(frozen=True)
class Margin:
    """One check: how far the alternatives are from right at most, and the misconceptions at least."""

    check: Check
    right: float
    wrong: float

    @property
    def good(self) -> bool:
        return self.right * 10 <= self.check.allowed <= self.wrong / 10


def margins(rows: list[Row]) -> list[Margin]:
    """For each check, the spread of what is right and of what is wrong.

    A misconception that gives the same as the reference in a check, up to a tenth of the tolerance, is right there.
    """
    right: dict[Check, float] = {}
    wrong: dict[Check, float] = {}
    for row in rows:
        for d in row.deviations:
            if not row.case.function:
                right[d.check] = max(right.get(d.check, 0.0), d.value)
            elif d.value > d.check.allowed / 10:
                wrong[d.check] = min(wrong.get(d.check, float("inf")), d.value)
    return [Margin(c, right.get(c, 0.0), wrong.get(c, float("inf"))) for c in sorted(right.keys() | wrong.keys())]


def ambiguous(rows: list[Row]) -> list[str]:
    """The misconceptions that were not named, which other ones they could not be told from, or that nothing names them."""
    return [row.case.name for row in rows if row.case.function and not row.case.trivial and not row.named]


def print_messages(count: int, seed: int | None = None) -> None:
    """Grade misconceptions chosen at random and print what their students are told, to be read aloud."""
    chosen = random.Random(seed).sample([case for case in cases() if case.function and not case.trivial], count)
    with open_grader() as grader:
        for case in chosen:
            result = grader.grade(submission(case), (case.module,))
            wrong = [graded for graded in result.graded if not graded.passed]
            print(f"--- {case.name}: {', '.join(graded.criterion.id for graded in wrong)}\n")
            print(feedback.message(wrong[0], result))


def html_page(rows: list[Row]) -> str:
    """The matrix as a self-contained page."""
    from jinja2 import Environment, PackageLoader

    page = Environment(loader=PackageLoader("autograder"), autoescape=True).get_template("audit.html")
    rubric = rubrics.current()
    blocks = []
    for module in rubric.modules:
        ids = [c.id for c in rubric.of(module)]
        blocks.append((module, ids, [row for row in rows if row.case.module == module]))
    alternatives = [row for row in rows if not row.case.function]
    return page.render(
        blocks=blocks, alternatives=alternatives, criteria=list(rubric.criteria), problems=problems(rows)
    )


def write_html(rows: list[Row], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(html_page(rows), encoding="utf-8")
