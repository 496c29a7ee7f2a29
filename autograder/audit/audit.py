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
from itertools import combinations, groupby
from math import inf
from typing import Literal, NamedTuple

from autograder.audit.cases import (
    Case,
    GradedCall,
    InProcess,
    Row,
    alternatives,
    each,
    lacking_functions,
    row_of,
    submission,
)
from autograder.grading.call_results import alike_in_form
from autograder.grading.grader import Grader
from autograder.grading.scoring import CriterionScore
from autograder.homework.homework import Homework
from autograder.homework.library import Misconception
from autograder.homework.rubric import INTEGRATION
from autograder.submissions.submission import read


def run(homework: Homework, chosen: Sequence[Case], jobs: int | None = None) -> Iterator[Row]:
    """Grade cases in `jobs` processes: the kit's own code by direct calls, then alternatives in the sandbox."""
    yield from each(homework, graded, [case for case in chosen if case.kind != "alternative"], jobs)
    yield from each(homework, graded, [case for case in chosen if case.kind == "alternative"], jobs, sandbox=True)


def graded(grader: Grader | InProcess, case: Case) -> Row:
    """Grade the module of a case and the integration, or everything if the case has no single module."""
    modules = (case.module, INTEGRATION) if case.module else ()
    return row_of(case, grader.grade(submission(grader.plan.homework, case), modules))


# Problems


def problems(homework: Homework, rows: Iterable[Row], only: Collection[str] = (), complete: bool = True) -> list[str]:
    """Return all problems, one sentence each. `complete`: also report missing misconceptions and alternatives."""
    rows = list(rows)
    sentences = [problem for row in rows for problem in of_case(homework, row)] + list(_unlike_holes(rows))
    return sentences + list(_missing(homework, rows, only)) if complete else sentences


ALTHOUGH = {"hole": "although the function is missing", "nothing": "although it computes nothing"}


def of_case(homework: Homework, row: Row) -> Iterator[str]:
    """Yield the problems in the grading of one case."""
    case, name = row.case, row.case.name
    if case.kind == "alternative":
        name = f"the correct alternative {name}"
    elif not row.lost:
        yield f"{name} keeps full marks"
        return
    due = case.criteria
    if case.kind in ("hole", "nothing"):
        # A criterion on side effects requires half of its functions, so a single missing function need not cost it.
        alone = case.function
        criteria = homework.rubric.of(case.module)
        due = frozenset(c.id for c in criteria if not alone or (alone in c.grades and c.looks_at != "form"))
    for criterion in sorted(due - row.lost.keys()):
        yield f"{name} keeps {criterion}, {ALTHOUGH.get(case.kind, 'the criterion it should cost')}"
    for criterion, graded in row.lost.items():
        if not may_lose(case, graded):
            also = "" if case.kind == "alternative" else " as well"
            failure = row.failures.get(criterion, "")
            yield f"{name} loses {criterion}{also}{': ' * bool(failure)}{failure}"
    if case.kind == "mistake":  # a pair may give the results of a third misconception
        yield from _names(row)
    for criterion, function in row.absent.items() if case.kind == "hole" else ():
        if function not in ("", case.function):
            yield f"{name}: {criterion} reports {function} as missing or not written"
    for criterion, causes in row.causes.items() if case.kind == "nothing" else ():
        for module in causes:
            if module != case.module:
                yield f"{name}: {criterion} reports that {module}.py earns nothing"


def may_lose(case: Case, graded: CriterionScore) -> bool:
    """Return whether a case may lose a criterion. A misconception may also lose one that counts all results."""
    criterion, is_hidden = graded.criterion, graded.why == "too_few"
    if case.kind == "nothing":
        return True
    if case.kind == "hole":
        return case.function in criterion.grades and (criterion.looks_at != "form" or is_hidden)
    counts_all = criterion.module == case.module and (criterion.looks_at == "examples" or is_hidden)
    return counts_all or criterion.id in case.criteria


def _unlike_holes(rows: Iterable[Row]) -> Iterator[str]:
    """Yield functions whose unimplemented versions lose different criteria."""
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
    misnamed = sorted(name for name in row.named - case.ids if name.partition(".")[2] not in same)
    yield from (f"{case.name} is named {name}" for name in misnamed)
    if case.ids & row.named:
        return
    rivals = ", ".join(sorted(row.undecided - case.ids))
    if not case.ids & row.undecided:
        yield f"{case.name} is not named" + (f", but may be one of {rivals}" if rivals else "")
    elif not any(len({m.right for m in graded.undecided}) == 1 for graded in row.graded.values()):
        yield f"{case.name} cannot be distinguished from {rivals}, and shares no sentence with them"


def _missing(homework: Homework, rows: list[Row], only: Collection[str]) -> Iterator[str]:
    """Yield criteria that no misconception loses, and modules without misconceptions or alternatives."""
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
    """Return how many alternatives contain a module, and which of its functions none has: the reference takes their place."""
    files = [read(homework.alternatives / case.name, homework.rubric).files for case in alternatives(homework)]
    lacking = [set(lacking_functions(homework, f).get(module, ())) for f in files if f"{module}.py" in f]
    everywhere = sorted(set.intersection(*lacking)) if lacking else []
    more = f"; none has {', '.join(everywhere)}, where the reference is used" if everywhere else ""
    more = more if lacking else ": nothing shows that correct code keeps its points there"
    return f"{len(lacking)} of {len(files)} alternatives contain {module}.py{more}"


# Tolerances


def margins(rows: Iterable[Row]) -> dict[GradedCall, tuple[float, float]]:
    """Return the largest deviation of the alternatives and the smallest of the misconceptions, for each check in order."""
    spread: dict[GradedCall, tuple[float, float]] = {}
    for row in rows:
        is_correct = row.case.kind == "alternative"
        for check, value in (row.deviations if is_correct else _errors(row)).items():
            largest, smallest = spread.get(check, (0.0, inf))
            spread[check] = (max(largest, value), smallest) if is_correct else (largest, min(smallest, value))
    return dict(sorted(spread.items()))


def _errors(row: Row) -> dict[GradedCall, float]:
    """Return a misconception's deviations above a tenth of the tolerance, in its criteria; none if it is `inexact`."""
    if any(misconception.inexact for misconception in row.case.misconceptions):
        return {}
    criteria, deviations = row.case.criteria, row.deviations.items()
    return {check: value for check, value in deviations if check.criterion in criteria and value > check.allowed / 10}


def too_close(spread: Mapping[GradedCall, tuple[float, float]]) -> list[GradedCall]:
    """Return the checks in which correct solutions deviate by more than a tenth of the tolerance."""
    return [check for check, (largest, _) in spread.items() if largest * 10 > check.allowed]


def unclear(rows: Iterable[Row]) -> list[str]:
    """Return the misconceptions whose values are close to the tolerance in every check."""
    errors = {row.case.name: _errors(row) for row in rows if row.case.kind == "mistake"}
    return [name for name, of_case in errors.items() if of_case and all(v < 10 * c.allowed for c, v in of_case.items())]


# The table of all cases

TITLES = {"mistake": "misconceptions", "nothing": "code that computes nothing", "alternative": "correct alternatives"}


def table_lines(homework: Homework, rows: Sequence[Row]) -> Iterator[str]:
    """Yield a line for each case except unimplemented functions, and a summary."""
    for module in (*homework.rubric.modules, ""):
        for kind, title in TITLES.items():
            if group := [row for row in rows if (row.case.module, row.case.kind) == (module, kind)]:
                yield "\n" + ": ".join(filter(None, (module, title)))
                yield from (f"  {row.case.name}: {_outcome(row)}" for row in group)
    misconceptions = [row for row in rows if row.case.kind == "mistake"]
    named = sum(bool(row.case.ids & row.named) for row in misconceptions)
    yield f"\n{named} of {len(misconceptions)} misconceptions are named correctly."


def _outcome(row: Row) -> str:
    """Return whether a misconception is named, and the criteria that a case loses."""
    if row.case.kind != "mistake":
        return ", ".join(row.lost) or "nothing lost"
    rivals = ", ".join(sorted(row.undecided - row.case.ids))
    name = "named" if row.case.ids & row.named else f"not named, may be {rivals}" if rivals else "not named"
    return f"{name}; loses {', '.join(row.lost) or 'nothing'}"


# Pairs of misconceptions in one function. The verdict of a pair is one of:
#
# - "both": it loses the criteria of both misconceptions.
# - "masked": it gives the responses of one of its misconceptions alone.
# - "equivalent": it gives the responses of another misconception or of another pair.
# - "wrong": none of these, and it keeps a criterion that it should lose. This is a problem.
# - "unexplained": none of these, and it costs more, since the search tries a bounded number of combinations. Few pairs may.

MOST_UNEXPLAINED = 0.01  # share of all pairs


class PairVerdict(NamedTuple):
    """The result for one pair, and the same in words."""

    row: Row
    what: Literal["both", "masked", "equivalent", "wrong", "unexplained"]
    words: str

    def __str__(self) -> str:
        return f"{self.row.case.name}: {self.words}"


def graded_pair(grader: InProcess, case: Case) -> PairVerdict:
    """Grade a pair of misconceptions by direct calls."""
    return pair_verdict(grader, row_of(case, grader.grade(submission(grader.plan.homework, case), (case.module,))))


def pair_verdict(grader: InProcess, row: Row) -> PairVerdict:
    case, criteria = row.case, grader.plan.homework.rubric.criteria
    missing = sorted(case.criteria - row.lost.keys())
    more = [name for name, lost in row.lost.items() if not may_lose(case, lost)]
    if not missing and not more:
        return PairVerdict(row, "both", "costs both")
    library = grader.plan.homework.of_function(case.module, case.function)
    mentioned = [m for m in library if m.id in row.named | row.undecided]
    responses = grader.diagnoser.known_responses(case.module, case.function)
    version = responses.version(case.misconceptions)

    def gives_results_of(misconceptions: tuple[Misconception, ...], numbers: Iterable[int]) -> bool:
        """Return whether the pair gives the same responses as these misconceptions to these calls, in value and form."""
        rival = responses.version(misconceptions)
        return (
            version is not None
            and rival is not None
            and all(
                not responses.differ(version, rival, number)
                and alike_in_form(
                    responses.test_calls[number], responses.response(version, number), responses.response(rival, number)
                )
                for number in numbers
            )
        )

    single = [(m,) for m in sorted(library, key=lambda m: m not in case.misconceptions)]
    pairs = (pair for pair in combinations(mentioned, 2) if case.ids != {m.id for m in pair} != {pair[0].id})
    for misconceptions in ((), *single, *pairs):
        if gives_results_of(misconceptions, responses.test_calls):
            ids = [misconception.id for misconception in misconceptions]
            result = f"gives the results of {' + '.join(ids) or 'the correct function'}"  # two may cancel out
            is_masked = bool(ids) and case.ids.issuperset(ids)
            return (
                PairVerdict(row, "masked", f"{result} alone") if is_masked else PairVerdict(row, "equivalent", result)
            )
    if not more and all(criteria[name].looks_at == "form" for name in missing):
        numbers = [number for number, test_call in responses.test_calls.items() if test_call.criterion in missing]
        for misconception in case.misconceptions:
            if gives_results_of((misconception,), numbers):
                return PairVerdict(row, "masked", f"gives the results of {misconception.id} alone")
    if missing:
        return PairVerdict(row, "wrong", f"keeps {', '.join(missing)}")
    return PairVerdict(row, "unexplained", f"loses {', '.join(more)} as well")


def pair_lines(verdicts: Iterable[PairVerdict]) -> Iterator[str]:
    """Yield counts of the verdicts for each function, and each pair that does not cost both."""
    for function, group in groupby(verdicts, lambda verdict: verdict.row.case.function):
        pairs = list(group)
        count = Counter(verdict.what for verdict in pairs)
        named = sum(verdict.what == "both" and verdict.row.case.ids <= verdict.row.named for verdict in pairs)
        yield (
            f"{function}: {len(pairs)} pairs; {count['both']} cost both, {named} of them with both names; "
            f"{count['masked']} are masked by one of the two, {count['equivalent']} are equivalent to another known version, "
            f"{count['unexplained']} are unexplained and cost more, {count['wrong']} are wrong"
        )
        yield from (f"  {verdict}" for verdict in pairs if verdict.what not in ("both", "wrong"))


def pair_problems(verdicts: Sequence[PairVerdict]) -> list[str]:
    """Return the pairs that cost less than both without a reason, and those that cost more if they are too many."""
    more = [str(verdict) for verdict in verdicts if verdict.what == "unexplained"]
    cheaper = [str(verdict) for verdict in verdicts if verdict.what == "wrong"]
    return [*cheaper, *more] if len(more) > MOST_UNEXPLAINED * len(verdicts) else cheaper
