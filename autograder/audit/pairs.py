"""Two misconceptions in one function: both must cost points, or the reason must be known.

A pair "costs both" if it loses the criteria of both misconceptions. Otherwise its responses are compared with those of every other
known version: a pair with the responses of one of its misconceptions alone is "hidden" by it, and one with the responses of another
misconception, or of another pair, is "like" that one. Any other pair is "wrong", and a problem.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

from autograder.audit.audit import may_lose
from autograder.audit.cases import Case, InProcess, Row, each, row_of, submission
from autograder.grading.known_responses import KnownResponses, alike_in_form
from autograder.homework import library
from autograder.homework import rubric as rubrics
from autograder.homework.library import Version, made

What = Literal["both", "hidden", "like", "wrong"]


@dataclass(frozen=True)
class PairVerdict:
    """The result for one pair. `of`: the misconceptions that hide it, or that it is like.

    `missing` and `more`: criteria that it keeps and should lose, and those that it loses and should keep.
    """

    row: Row
    what: What
    of: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    more: tuple[str, ...] = ()

    @property
    def case(self) -> Case:
        return self.row.case

    def __str__(self) -> str:
        said = {
            "both": "costs both",
            "hidden": f"gives the results of {' + '.join(self.of)} alone",
            "like": f"gives the results of {' + '.join(self.of)}",
            "wrong": f"keeps {', '.join(self.missing)}" if self.missing else f"loses {', '.join(self.more)} as well",
        }
        return f"{self.case.name}: {said[self.what]}"


def run(chosen: Sequence[Case], jobs: int | None = None) -> Iterator[PairVerdict]:
    """Grade pairs of misconceptions by direct calls, in order, in `jobs` processes."""
    yield from each(_try, chosen, jobs)


def _try(grader: InProcess, case: Case) -> PairVerdict:
    result = grader.grade(submission(case), case.module, case.function)
    return compared(grader, row_of(case, result, deviations=False))


def compared(grader: InProcess, graded: Row) -> PairVerdict:
    """The result for a pair. It may lose more than the criteria of its misconceptions only if they hide something."""
    case = graded.case
    missing = tuple(sorted(case.criteria - graded.lost.keys()))
    extra = {name: entry for name, entry in graded.lost.items() if name not in case.criteria}
    more = tuple(name for name, entry in extra.items() if not may_lose(case, entry))
    if not missing and not more:
        return PairVerdict(graded, "both")
    known_responses = grader.diagnoser.known_responses(case.module, case.function)
    what, of = _like(known_responses, case, graded)
    if what == "wrong" and not more and (hiding := _hides_form(known_responses, case, missing)):
        what, of = "hidden", hiding
    return PairVerdict(graded, what, of, missing, more)


def _like(known_responses: KnownResponses, case: Case, graded: Row) -> tuple[What, tuple[str, ...]]:
    """The known version with the same responses as the pair."""
    pair = made(case.module, case.function, case.misconceptions)
    assert pair is not None
    right = known_responses.version(())
    if right is not None and _replies_as(known_responses, pair, right):
        return "like", ("the correct function",)  # two misconceptions may cancel out
    known = library.of_function(case.module, case.function)
    for misconception in (*case.misconceptions, *(m for m in known if m not in case.misconceptions)):
        if _replies_as(known_responses, pair, misconception.alone):
            return ("hidden" if misconception.id in case.ids else "like"), (misconception.id,)
    named = graded.named | graded.undecided
    for first, second in product([m for m in known if m.id in named], repeat=2):
        version = made(case.module, case.function, (first, second)) if first.id < second.id else None
        if version is not None and {first.id, second.id} != case.ids and _replies_as(known_responses, pair, version):
            return "like", (first.id, second.id)
    return "wrong", ()


def _hides_form(known_responses: KnownResponses, case: Case, missing: Sequence[str]) -> tuple[str, ...]:
    """The misconception of the pair that hides the other one in its criteria of form."""
    pair, criteria = made(case.module, case.function, case.misconceptions), rubrics.current().criteria
    if pair is None or any(criteria[name].looks_at != "form" for name in missing):
        return ()
    test_calls = [number for number, test_call in known_responses.test_calls.items() if test_call.criterion in missing]
    return next(((m.id,) for m in case.misconceptions if _replies_as(known_responses, pair, m.alone, test_calls)), ())


def _replies_as(
    known_responses: KnownResponses, first: Version, second: Version, numbers: Iterable[int] | None = None
) -> bool:
    """Whether two versions give the same responses to every call, or to these, in value and form."""
    for number in known_responses.test_calls if numbers is None else numbers:
        test_call = known_responses.test_calls[number]
        if known_responses.differ(first, second, number):
            return False
        if not alike_in_form(
            test_call, known_responses.response(first, number), known_responses.response(second, number)
        ):
            return False
    return True


def lines(verdicts: Iterable[PairVerdict]) -> Iterator[str]:
    """The results of the pairs of each function, and all that do not cost both, by what hides them."""
    groups: dict[str, list[PairVerdict]] = {}
    for verdict in verdicts:
        groups.setdefault(verdict.case.function, []).append(verdict)
    for function, own in groups.items():
        count = Counter(verdict.what for verdict in own)
        named = sum(verdict.what == "both" and verdict.case.ids <= verdict.row.named for verdict in own)
        yield (
            f"{function}: {len(own)} pairs; {count['both']} cost both, {named} of them with both names; "
            f"{count['hidden']} are masked by one of the two, {count['like']} are equivalent to another known version, "
            f"{count['wrong']} are wrong"
        )
        yield from (f"  {verdict}" for verdict in own if verdict.what in ("hidden", "like"))


def problems(verdicts: Iterable[PairVerdict]) -> list[str]:
    """The pairs that cost less than both, or more, without a reason."""
    return [str(verdict) for verdict in verdicts if verdict.what == "wrong"]
