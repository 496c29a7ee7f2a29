"""Grades every misconception, code that computes nothing, and correct solutions, and reports problems.

Requirements:

- A single misconception loses its criteria and the worked examples that reveal it, and nothing else.
- It is named correctly, or described by a sentence common to all indistinguishable misconceptions.
- A module that computes nothing or cannot be imported loses the integration. One that earns points does not.
- Code that computes nothing loses every criterion that grades its function.
- A function that is missing, unimplemented or returns None loses the same criteria and no others. No other function is
  reported as missing or unimplemented.
- A correct alternative loses nothing.
- Each criterion is lost by some misconception.
- In every check, a correct alternative deviates by less than a tenth of the tolerance. In some check of its criteria, a
  misconception deviates by more than ten times the tolerance.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import inf
from typing import Literal

from autograder.audit.cases import (
    Case,
    GradedCall,
    InProcess,
    Row,
    alternatives,
    each,
    lacking_functions,
    row_of,
    shared,
    submission,
)
from autograder.grading.grader import Grader
from autograder.grading.known_responses import KnownResponses, alike_in_form
from autograder.grading.scoring import CriterionScore
from autograder.homework.homework import Homework
from autograder.homework.library import Misconception
from autograder.homework.rubric import INTEGRATION
from autograder.submissions.submission import read


def run(homework: Homework, chosen: Sequence[Case], jobs: int | None = None) -> Iterator[Row]:
    """Grade cases in `jobs` processes: the kit's own code by direct calls, then alternatives in the sandbox."""
    yield from each(homework, graded, [case for case in chosen if case.kind != "alternative"], jobs)
    yield from each(homework, whole, [case for case in chosen if case.kind == "alternative"], jobs, sandbox=True)


def graded(grader: Grader | InProcess, case: Case) -> Row:
    """Grade the module of the case, and the integration."""
    return row_of(case, grader.grade(submission(grader.plan.homework, case), (case.module, INTEGRATION)))


def whole(grader: Grader, case: Case) -> Row:
    """Grade a complete submission in the sandbox."""
    return row_of(case, grader.grade(submission(grader.plan.homework, case)))


# Problems


def problems(homework: Homework, rows: Iterable[Row], only: Collection[str] = (), complete: bool = True) -> list[str]:
    """All problems, one sentence each. `complete`: also report missing misconceptions and alternatives."""
    rows = list(rows)
    sentences = [problem for row in rows for problem in of_case(homework, row)] + list(_unlike_holes(rows))
    return sentences + list(_missing(homework, rows, only)) if complete else sentences


COST = "the criterion it should cost"
ALTHOUGH = {"hole": "although the function is missing", "nothing": "although it computes nothing"}


def of_case(homework: Homework, row: Row) -> Iterator[str]:
    """The problems in the grading of one case."""
    case, name = row.case, row.case.name
    if case.kind == "alternative":
        name = f"the correct alternative {name}"
    elif not row.lost:
        yield f"{name} keeps full marks"
        return
    yield from (
        f"{name} keeps {criterion}, {ALTHOUGH.get(case.kind, COST)}"
        for criterion in sorted(_due(homework, case) - row.lost.keys())
    )
    absent = {
        criterion: function for criterion, function in row.absent.items() if case.kind == "alternative" and function
    }
    yield from (f"{name} has no {function}; add the function to it" for function in sorted(set(absent.values())))
    for criterion, graded in row.lost.items():
        if criterion not in absent and not may_lose(case, graded):
            yield f"{name} loses {criterion} as well ({graded.why})"
    if case.kind == "mistake":  # a pair may give the results of a third misconception
        yield from _names(row)
    for criterion, function in row.absent.items() if case.kind == "hole" else ():
        if function not in ("", case.function):
            yield f"{name}: {criterion} reports {function} as missing or not written"
    for criterion, causes in row.causes.items() if case.kind == "nothing" else ():
        others = [module for module in causes if module != case.module]
        yield from (f"{name}: {criterion} reports that {module}.py earns nothing" for module in others)


def _due(homework: Homework, case: Case) -> frozenset[str]:
    """The criteria that a case must lose.

    A criterion on side effects ("form") requires half of its functions, so a single missing function need not cost it.
    """
    if case.kind not in ("hole", "nothing"):
        return case.criteria
    criteria, function = homework.rubric.of(case.module), case.function
    return frozenset(c.id for c in criteria if not function or (function in c.grades and c.looks_at != "form"))


def may_lose(case: Case, graded: CriterionScore) -> bool:
    """Whether a case may lose a criterion. A misconception may also lose one that counts all results."""
    criterion = graded.criterion
    if case.kind == "nothing":
        return True
    if case.kind == "hole":
        return case.function in criterion.grades and (criterion.looks_at != "form" or hides(graded))
    counts_all = criterion.looks_at == "examples" or hides(graded)
    return criterion.id in case.criteria or (criterion.module == case.module and counts_all)


def hides(graded: CriterionScore) -> bool:
    """Whether a criterion on side effects is lost because too few results are correct."""
    return not graded.passed and graded.why == "too_few"


def _unlike_holes(rows: Iterable[Row]) -> Iterator[str]:
    """Functions whose unimplemented versions lose different criteria."""
    lost: dict[str, set[frozenset[str]]] = {}
    for row in rows:
        if row.case.kind == "hole":
            lost.setdefault(row.case.function, set()).add(frozenset(row.lost))
    for name, costs in lost.items():
        if len(costs) > 1:
            yield f"{name}: unimplemented versions cost {len(costs)} different sets of criteria"


def _names(row: Row) -> Iterator[str]:
    case = row.case
    # The same misconception in another function of the module is not a wrong name.
    same = {misconception.name for misconception in case.misconceptions}
    others = sorted(name for name in row.named - case.ids if name.partition(".")[2] not in same)
    yield from (f"{case.name} is named {name}" for name in others)
    if case.ids & row.named:
        return
    rivals = ", ".join(sorted(row.undecided - case.ids))
    if not case.ids & row.undecided:
        yield f"{case.name} is not named" + (f", but may be one of {rivals}" if rivals else "")
    elif not shared(row.graded.values()):
        yield f"{case.name} cannot be distinguished from {rivals}, and shares no sentence with them"


def _missing(homework: Homework, rows: list[Row], only: Collection[str]) -> Iterator[str]:
    """Criteria that no misconception loses, and modules without misconceptions or alternatives."""
    rubric, kinds = homework.rubric, {row.case.kind for row in rows}
    if kinds and "alternative" not in kinds:
        yield f"there are no correct alternatives in {homework.alternatives}, so nothing shows that correct code keeps its points"
    lost = {name for row in rows if row.case.kind in ("mistake", "nothing") for name in row.lost}
    for module in only or rubric.modules:
        if rubric.explains(module) and not homework.of_module(module):
            yield f"{module}: there are no misconceptions in {homework.misconceptions / module}"
    tested = [module for module in only or rubric.modules if homework.of_module(module)]
    for name, criterion in rubric.criteria.items():
        if criterion.module in (*tested, *(() if only else (INTEGRATION,))) and name not in lost:
            yield f"{name}: no misconception costs it"


def containing(homework: Homework, module: str) -> str:
    """A sentence on how many alternatives contain a module, and which functions none has; the reference's are in their place."""
    every = alternatives(homework)
    files = [read(homework.alternatives / case.name, homework.rubric).files for case in every]
    having = [own for own in files if f"{module}.py" in own]
    number, lacking = len(having), [set(lacking_functions(homework, own).get(module, ())) for own in having]
    everywhere = sorted(set.intersection(*lacking)) if lacking else []
    proved = "" if number else ": nothing shows that correct code keeps its points there"
    none = f"; none has {', '.join(everywhere)}, where the reference is used" if everywhere else ""
    return f"{number} of {len(every)} alternatives contain {module}.py{proved}{none}"


# Tolerances


def margins(rows: Iterable[Row]) -> dict[GradedCall, tuple[float, float]]:
    """For each check, in order: the largest deviation of the alternatives, and the smallest of the misconceptions."""
    right: dict[GradedCall, float] = {}
    wrong: dict[GradedCall, float] = {}
    for row in rows:
        if row.case.kind == "alternative":
            right |= {check: max(right.get(check, 0.0), value) for check, value in row.deviations.items()}
        else:
            wrong |= {check: min(wrong.get(check, inf), value) for check, value in _wrong(row).items()}
    return {check: (right.get(check, 0.0), wrong.get(check, inf)) for check in sorted(right.keys() | wrong.keys())}


def _wrong(row: Row) -> dict[GradedCall, float]:
    """Deviations of a misconception above a tenth of the tolerance, in its criteria; none if it is `inexact`."""
    if any(misconception.inexact for misconception in row.case.misconceptions):
        return {}
    own = {check: value for check, value in row.deviations.items() if check.criterion in row.case.criteria}
    return {check: value for check, value in own.items() if value > check.allowed / 10}


def too_close(spread: Mapping[GradedCall, tuple[float, float]]) -> list[GradedCall]:
    """The checks in which correct solutions deviate by more than a tenth of the tolerance."""
    return [check for check, (right, _) in spread.items() if right * 10 > check.allowed]


def unclear(rows: Iterable[Row]) -> list[str]:
    """The misconceptions whose values are close to the tolerance in every check."""
    wrong = {row.case.name: _wrong(row) for row in rows if row.case.kind == "mistake"}
    return [name for name, own in wrong.items() if own and all(v < 10 * check.allowed for check, v in own.items())]


# Tables for the console

MEANS = {
    "N": "lost, and the message names this misconception",
    "S": "lost, and the message has the sentence it shares with equivalent misconceptions",
    "H": "lost: too little is correct",
    "E": "lost: a worked example or the integration fails",
    "x": "lost without a name",
    "+": "earned despite wrong values, which come from this mistake and cost another criterion",
    "-": "earned; all values are correct",
}
HEADS = {"mistake": "misconceptions", "nothing": "code that computes nothing"}


def mark(row: Row, criterion: str) -> str:
    """The letter for the outcome of a criterion; see MEANS."""
    graded = row.graded.get(criterion)
    if graded is None or graded.passed:
        return "-" if graded is None else "+"
    if criterion not in row.case.criteria:
        if hides(graded):
            return "H"
        if graded.criterion.looks_at == "examples" or graded.criterion.module == INTEGRATION:
            return "E"
    if set(row.case.misconceptions) & set(graded.misconceptions):
        return "N"
    return "S" if set(row.case.misconceptions) & set(graded.undecided) and shared([graded]) else "x"


def table_lines(homework: Homework, rows: Sequence[Row]) -> Iterator[str]:
    """The outcome tables, line by line."""
    yield "Each column is a criterion, numbered as in the list above the table; each letter is its outcome:"
    yield from (f"  {letter}  {what}" for letter, what in MEANS.items())
    rubric = homework.rubric
    for module in rubric.modules:
        criteria = [*rubric.of(module), *rubric.of(INTEGRATION)]
        names = [c.id.partition(".")[2] + ", all modules together" * (c.module == INTEGRATION) for c in criteria]
        for kind, head in HEADS.items():
            own = [row for row in rows if (row.case.module, row.case.kind) == (module, kind)]
            if own:
                yield f"\n{module}: {head}"
                yield "  " + ", ".join(f"{number} {name}" for number, name in enumerate(names, 1))
                yield "  " + "".join(f"{number:<3}" for number in range(1, len(criteria) + 1))
                yield from ("  " + "".join(f"{mark(row, c.id):<3}" for c in criteria) + row.case.name for row in own)
    written = [row for row in rows if row.case.kind == "mistake"]
    unnamed = [row for row in written if not row.case.ids & row.named]
    right = [
        f"  {row.case.name}: {', '.join(row.lost) or 'nothing lost'}" for row in rows if row.case.kind == "alternative"
    ]
    if right:
        yield from ("\ncorrect alternatives", *right)
    if unnamed:
        yield "\nmisconceptions that are not named, and those they cannot be distinguished from"
    for row in unnamed:
        yield f"  {row.case.name}: {', '.join(sorted(row.undecided - row.case.ids)) or 'nothing explains it'}"
    yield f"\n{len(written) - len(unnamed)} of {len(written)} misconceptions are named correctly."


# Pairs of misconceptions in one function. The verdict of a pair is one of:
#
# - "both": it loses the criteria of both misconceptions.
# - "hidden": it gives the responses of one of its misconceptions alone.
# - "like": it gives the responses of another misconception or of another pair.
# - "wrong": none of these, and it keeps a criterion that it should lose. This is a problem.
# - "unexplained": none of these, and it costs more, since the search tries a bounded number of combinations. Few pairs may.

What = Literal["both", "hidden", "like", "wrong", "unexplained"]
MOST_UNEXPLAINED = 0.01  # share of all pairs


@dataclass(frozen=True)
class PairVerdict:
    """The result for one pair, and the same in words."""

    row: Row
    what: What
    words: str

    def __str__(self) -> str:
        return f"{self.row.case.name}: {self.words}"


def run_pairs(homework: Homework, chosen: Sequence[Case], jobs: int | None = None) -> Iterator[PairVerdict]:
    """Grade pairs of misconceptions by direct calls, in order, in `jobs` processes."""
    yield from each(homework, graded_pair, chosen, jobs)


def graded_pair(grader: InProcess, case: Case) -> PairVerdict:
    return pair_verdict(grader, row_of(case, grader.grade(submission(grader.plan.homework, case), (case.module,))))


def pair_verdict(grader: InProcess, row: Row) -> PairVerdict:
    homework, case = grader.plan.homework, row.case
    criteria = homework.rubric.criteria
    missing = tuple(sorted(case.criteria - row.lost.keys()))
    more = tuple(name for name, lost in row.lost.items() if not may_lose(case, lost))
    if not missing and not more:
        return PairVerdict(row, "both", "costs both")
    known = grader.diagnoser.known_responses(case.module, case.function)
    for other in _candidates(homework, row):
        if _same(known, case.misconceptions, other, known.test_calls):
            ids = [misconception.id for misconception in other]
            result = f"gives the results of {' + '.join(ids) or 'the correct function'}"  # two may cancel out
            is_hidden = bool(ids) and case.ids.issuperset(ids)
            return PairVerdict(row, "hidden", f"{result} alone") if is_hidden else PairVerdict(row, "like", result)
    if not more and all(criteria[name].looks_at == "form" for name in missing):
        numbers = [number for number, test_call in known.test_calls.items() if test_call.criterion in missing]
        for misconception in case.misconceptions:
            if _same(known, case.misconceptions, (misconception,), numbers):
                return PairVerdict(row, "hidden", f"gives the results of {misconception.id} alone")
    if missing:
        return PairVerdict(row, "wrong", f"keeps {', '.join(missing)}")
    return PairVerdict(row, "unexplained", f"loses {', '.join(more)} as well")


def _candidates(homework: Homework, row: Row) -> Iterator[tuple[Misconception, ...]]:
    """Misconceptions that may give the responses of a pair: none, each single one, and each other pair in the message."""
    case, known = row.case, homework.of_function(row.case.module, row.case.function)
    yield ()
    yield from ((misconception,) for misconception in sorted(known, key=lambda m: m not in case.misconceptions))
    for first, second in permutations([m for m in known if m.id in row.named | row.undecided], 2):
        if first.id < second.id and {first.id, second.id} != case.ids:
            yield first, second


def _same(
    known: KnownResponses,
    misconceptions: tuple[Misconception, ...],
    others: tuple[Misconception, ...],
    numbers: Iterable[int],
) -> bool:
    """Whether two versions of the function give the same responses to these calls, in value and form."""
    first, second = known.version(misconceptions), known.version(others)
    if first is None or second is None:
        return False
    return all(
        not known.differ(first, second, number)
        and alike_in_form(known.test_calls[number], known.response(first, number), known.response(second, number))
        for number in numbers
    )


def pair_lines(verdicts: Iterable[PairVerdict]) -> Iterator[str]:
    """Counts of the verdicts for each function, and each pair that is "hidden" or "like"."""
    groups: dict[str, list[PairVerdict]] = {}
    for verdict in verdicts:
        groups.setdefault(verdict.row.case.function, []).append(verdict)
    for function, own in groups.items():
        count = Counter(verdict.what for verdict in own)
        named = sum(verdict.what == "both" and verdict.row.case.ids <= verdict.row.named for verdict in own)
        yield (
            f"{function}: {len(own)} pairs; {count['both']} cost both, {named} of them with both names; "
            f"{count['hidden']} are masked by one of the two, {count['like']} are equivalent to another known version, "
            f"{count['unexplained']} are unexplained and cost more, {count['wrong']} are wrong"
        )
        yield from (f"  {verdict}" for verdict in own if verdict.what in ("hidden", "like", "unexplained"))


def pair_problems(verdicts: Sequence[PairVerdict]) -> list[str]:
    """The pairs that cost less than both without a reason; those that cost more, if they are too many."""
    more = [str(verdict) for verdict in verdicts if verdict.what == "unexplained"]
    wrong = [str(verdict) for verdict in verdicts if verdict.what == "wrong"]
    return [*wrong, *more] if len(more) > MOST_UNEXPLAINED * len(verdicts) else wrong
