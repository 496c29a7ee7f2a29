"""Grades every misconception, code that computes nothing, and correct solutions, and reports problems.

What must be true:
- a single misconception loses the criteria that it belongs to, and the worked examples that show it, nothing else;
- it is named as itself, or described by a sentence common to all indistinguishable ones; never named as another one;
- the integration is lost by a module that computes nothing or cannot be imported, not by one that earns something;
- code that computes nothing loses every criterion that grades its function;
- so does a function that is missing, unimplemented or returns None, in each of these ways; it loses no other criterion,
  and no other function is called missing or unimplemented;
- a correct alternative loses nothing;
- some misconception loses every criterion;
- the tolerances separate right from wrong: a correct alternative stays below a tenth of the tolerance in every check. A
  misconception may be small in some checks (an eps hardly matters with a large variance), but exceeds the tolerance tenfold in
  a check of a criterion that it belongs to.
Pairs of misconceptions are in pairs.py.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from autograder.audit.cases import (
    Case,
    GradedCall,
    InProcess,
    Row,
    cases,
    each,
    row_of,
    shared,
    submission,
)
from autograder.grading.grader import Grader
from autograder.grading.scoring import CriterionScore
from autograder.homework import kit, library
from autograder.homework import reference as references
from autograder.homework import rubric as rubrics
from autograder.homework.rubric import INTEGRATION
from autograder.submissions.submission import Submission


def run(chosen: Sequence[Case] | None = None, jobs: int | None = None) -> Iterator[Row]:
    """Grade the cases in order, in `jobs` processes: alternatives in the sandbox, the kit's own code by direct calls."""
    every = cases() if chosen is None else chosen
    inside = [case for case in every if case.kind == "alternative"]
    yield from each(_direct, [case for case in every if case.kind != "alternative"], jobs)
    yield from in_sandbox(inside, jobs)


def in_sandbox(chosen: Sequence[Case], jobs: int | None = None) -> Iterator[Row]:
    """Grade whole submissions like a student's."""
    if chosen:
        yield from each(_sandboxed, chosen, jobs, sandbox=True)


def side_by_side(chosen: Sequence[Case], jobs: int | None = None) -> Iterator[Row]:
    """Grade wrong modules like a student's, one of each module per submission; the integration is left out.

    Modules are graded independently, so the other wrong modules must not matter.
    """
    modules = [[case for case in chosen if case.module == name] for name in rubrics.current().modules]
    groups = [tuple(filter(None, group)) for group in zip_longest(*modules)]
    for rows in each(_side_by_side, groups, jobs, sandbox=True):
        yield from rows


def _side_by_side(grader: Grader, cases: tuple[Case, ...]) -> list[Row]:
    files = {f"{case.module}.py": submission(case).files[f"{case.module}.py"] for case in cases}
    result = grader.grade(Submission("wrong modules", references.files() | files), [case.module for case in cases])
    modules = {module.module: module for module in result.modules}
    return [row_of(case, replace(result, modules=(modules[case.module],)), deviations=False) for case in cases]


def _direct(grader: InProcess, case: Case) -> Row:
    return row_of(case, grader.grade(submission(case), case.module, case.function, whole=True))


def _sandboxed(grader: Grader, case: Case) -> Row:
    return row_of(case, grader.grade(submission(case)))


# Problems


def problems(rows: Iterable[Row], only: Collection[str] = (), complete: bool = True) -> list[str]:
    """Every problem, a sentence each; `complete`: all cases of the modules were tried."""
    rows = list(rows)
    sentences = [problem for row in rows for problem in of_case(row)] + list(_unlike_holes(rows))
    return sentences + list(_missing(rows, only)) if complete else sentences


def of_case(row: Row) -> Iterator[str]:
    """The problems in the grading of one case."""
    if row.case.kind == "alternative":
        yield from (f"the correct alternative {row.case.name} loses {name}" for name in row.lost)
    elif row.case.kind == "hole":
        yield from _of_hole(row)
    elif row.case.kind == "nothing":
        yield from _of_nothing(row)
    else:
        if not row.lost:
            yield f"{row.case.name} keeps full marks"
        for name in sorted(row.case.criteria - row.lost.keys()) if row.lost else ():
            yield f"{row.case.name} keeps {name}, the criterion it should cost"
        for name, graded in row.lost.items():
            if name not in row.case.criteria and not may_lose(row.case, graded):
                yield f"{row.case.name} loses {name} as well ({graded.why})"
        yield from _names(row)


def _of_hole(row: Row) -> Iterator[str]:
    for criterion in rubrics.current().of(row.case.module):
        graded, lost = row.case.function in criterion.grades, row.lost.get(criterion.id)
        if graded and criterion.looks_at != "form" and lost is None:
            yield f"{row.case.name} keeps {criterion.id}, although the function is missing"
        if lost is not None and not graded:
            yield f"{row.case.name} loses {criterion.id}, which does not test it"
        if lost is not None and criterion.looks_at == "form" and lost.why != "too little":
            yield f"{row.case.name} loses {criterion.id} as well ({lost.why})"
    yield from (f"{row.case.name} loses {name}" for name in row.lost if name.partition(".")[0] != row.case.module)
    for name, function in row.absent.items():
        if function not in ("", row.case.function):
            yield f"{row.case.name}: {name} reports {function} as missing or not written"


def _unlike_holes(rows: Iterable[Row]) -> Iterator[str]:
    """Functions whose cost depends on the way in which they are missing."""
    lost: dict[str, set[frozenset[str]]] = {}
    for row in rows:
        if row.case.kind == "hole":
            lost.setdefault(row.case.function, set()).add(frozenset(row.lost))
    yield from (
        f"{name}: unimplemented versions cost {len(costs)} different sets of criteria"
        for name, costs in lost.items()
        if len(costs) > 1
    )


def _of_nothing(row: Row) -> Iterator[str]:
    """A criterion of form requires half of its functions: it is earned if only one of them computes nothing."""
    for criterion in rubrics.current().of(row.case.module):
        function = row.case.function
        graded = (function in criterion.grades and criterion.looks_at != "form") if function else True
        if graded and criterion.id not in row.lost:
            yield f"{row.case.name} keeps {criterion.id}, although it computes nothing"
    for name, causes in row.causes.items():
        others = [module for module in causes if module != row.case.module]
        yield from (f"{row.case.name}: {name} reports that {module}.py earns nothing" for module in others)


def may_lose(case: Case, graded: CriterionScore) -> bool:
    """Whether misconceptions may lose a criterion that they do not belong to: one that counts all results."""
    criterion = graded.criterion
    return criterion.module == case.module and (criterion.looks_at == "examples" or hides(graded))


def hides(graded: CriterionScore) -> bool:
    """Whether a criterion of form is lost because too little is right."""
    return not graded.passed and graded.why == "too little"


def _names(row: Row) -> Iterator[str]:
    if row.case.kind == "pair":
        return  # two misconceptions may give the results of a third, see pairs.py
    # The same mistake in another function of the module is not another one.
    same = row.case.ids | {misconception.name for misconception in row.case.misconceptions}
    others = sorted(name for name in row.named if name not in row.case.ids and name.partition(".")[2] not in same)
    yield from (f"{row.case.name} is named {name}" for name in others)
    if not row.lost or row.case.ids & row.named:
        return
    rivals = ", ".join(sorted(row.undecided - row.case.ids))
    if not row.case.ids & row.undecided:
        yield f"{row.case.name} is not named" + (f", but may be one of {rivals}" if rivals else "")
    elif not shared(row.graded.values()):
        yield f"{row.case.name} cannot be distinguished from {rivals}, and shares no sentence with them"


def _missing(rows: list[Row], only: Collection[str]) -> Iterator[str]:
    """Criteria that no misconception loses, and modules without misconceptions or alternatives."""
    rubric = rubrics.current()
    if not any(row.case.kind == "alternative" for row in rows) and any(row.case.module for row in rows):
        yield f"there are no correct alternatives in {kit.alternatives()}, so nothing shows that correct code keeps its points"
    lost = {name for row in rows if row.case.kind in ("mistake", "nothing") for name in row.lost}
    for module in only or rubric.modules:
        if rubric.explains(module) and not library.of_module(module):
            yield f"{module}: there are no misconceptions in {kit.misconceptions() / module}"
    for name, criterion in rubric.criteria.items():
        wanted = (criterion.module == INTEGRATION and not only) or criterion.module in (only or rubric.modules)
        if wanted and name not in lost and (criterion.module == INTEGRATION or library.of_module(criterion.module)):
            yield f"{name}: no misconception costs it"


# Tolerances


def margins(rows: Iterable[Row]) -> dict[GradedCall, tuple[float, float]]:
    """For each check, in order: the largest deviation of the alternatives, and the smallest of the misconceptions.

    A misconception counts in its own criteria; if its result equals the reference up to a tenth of the tolerance, it is right.
    Rounding errors have any size, so they do not count.
    """
    right: dict[GradedCall, float] = {}
    wrong: dict[GradedCall, float] = {}
    for row in rows:
        inexact = any(misconception.inexact for misconception in row.case.misconceptions)
        for check, value in row.deviations.items():
            if row.case.kind == "alternative":
                right[check] = max(right.get(check, 0.0), value)
            elif value > check.allowed / 10 and check.criterion in row.case.criteria and not inexact:
                wrong[check] = min(wrong.get(check, float("inf")), value)
    return {c: (right.get(c, 0.0), wrong.get(c, float("inf"))) for c in sorted(right.keys() | wrong.keys())}


def too_close(spread: Mapping[GradedCall, tuple[float, float]]) -> list[GradedCall]:
    """The checks in which correct solutions deviate by more than a tenth of the tolerance."""
    return [check for check, (right, _) in spread.items() if right * 10 > check.allowed]


def unclear(rows: Iterable[Row]) -> list[str]:
    """The misconceptions whose values are close to the tolerance in every check."""
    names = []
    for row in rows:
        criteria, inexact = row.case.criteria, any(misconception.inexact for misconception in row.case.misconceptions)
        deviations = [(value, check.allowed) for check, value in row.deviations.items() if check.criterion in criteria]
        wrong = [(value, allowed) for value, allowed in deviations if value > allowed / 10]
        if row.case.kind == "mistake" and not inexact and wrong and all(v < 10 * allowed for v, allowed in wrong):
            names.append(row.case.name)
    return names


# Tables for the console

KEPT = "-"
MEANS = {
    "N": "lost, and the message names this misconception",
    "S": "lost, and the message has the sentence it shares with equivalent misconceptions",
    "H": "lost: too little is correct",
    "E": "lost: a worked example or the integration fails",
    "x": "lost without a name",
    "+": "earned despite wrong values, which come from this mistake and cost another criterion",
    KEPT: "earned; all values are correct",
}
HEADS = {"mistake": "misconceptions", "nothing": "code that computes nothing"}


def _short(criterion: str) -> str:
    module, _, name = criterion.partition(".")
    return f"{name}, all modules together" if module == INTEGRATION else name


def mark(row: Row, criterion: str) -> str:
    """The letter for the outcome of a criterion; see MEANS."""
    graded = row.graded.get(criterion)
    if graded is None:
        return KEPT
    if graded.passed:
        return "+"
    if criterion not in row.case.criteria and hides(graded):
        return "H"
    whole = rubrics.current().criteria[criterion]
    if criterion not in row.case.criteria and (whole.looks_at == "examples" or whole.module == INTEGRATION):
        return "E"
    if set(row.case.misconceptions) & set(graded.misconceptions):
        return "N"
    return "S" if set(row.case.misconceptions) & set(graded.undecided) and shared([graded]) else "x"


def unnamed(rows: Iterable[Row]) -> Iterator[tuple[Row, str]]:
    """The misconceptions that are never named, with the indistinguishable ones."""
    for row in rows:
        if row.case.kind == "mistake" and not row.case.ids & row.named:
            yield row, ", ".join(sorted(row.undecided - row.case.ids)) or "nothing explains it"


def table_lines(rows: Sequence[Row]) -> Iterator[str]:
    """The lines for the console."""
    yield "Each column is a criterion, numbered as in the list above the table; each letter is its outcome:"
    yield from (f"  {letter}  {what}" for letter, what in MEANS.items())
    for module in rubrics.current().modules:
        for kind, head in HEADS.items():
            own = [row for row in rows if (row.case.module, row.case.kind) == (module, kind)]
            if own:
                criteria = [c.id for name in (module, INTEGRATION) for c in rubrics.current().of(name)]
                yield f"\n{module}: {head}"
                yield "  " + ", ".join(f"{number} {_short(name)}" for number, name in enumerate(criteria, 1))
                yield "  " + "".join(f"{number:<3}" for number in range(1, len(criteria) + 1))
                yield from ("  " + "".join(f"{mark(row, c):<3}" for c in criteria) + row.case.name for row in own)
    right = [row for row in rows if row.case.kind == "alternative"]
    yield from _listed("correct alternatives", ((row, ", ".join(row.lost) or "nothing lost") for row in right))
    written = [row for row in rows if row.case.kind == "mistake"]
    yield from _listed("misconceptions that are not named, and those they cannot be distinguished from", unnamed(rows))
    named = sum(bool(row.case.ids & row.named) for row in written)
    yield f"\n{named} of {len(written)} misconceptions are named correctly."


def _listed(head: str, said: Iterable[tuple[Row, str]]) -> Iterator[str]:
    lines = [f"  {row.case.name}: {text}" for row, text in said]
    yield from (f"\n{head}", *lines) if lines else ()
