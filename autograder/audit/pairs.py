"""Two misconceptions in one function: both must cost points, or the reason must be known.

A pair "costs both" if it loses the criteria of both misconceptions. Otherwise its responses are compared with those of every other
known version: a pair with the responses of one of its misconceptions alone is "hidden" by it, and one with the responses of another
misconception, or of another pair, is "like" that one. Any other pair is "wrong", and a problem.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Literal

from autograder.audit.audit import may_lose
from autograder.audit.cases import Case, InProcess, Row, each, row_of, submission
from autograder.grading.known_responses import KnownResponses, alike_in_form
from autograder.homework import library
from autograder.homework import rubric as rubrics
from autograder.homework.library import Misconception

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

    def __str__(self) -> str:
        said = {
            "both": "costs both",
            "hidden": f"gives the results of {' + '.join(self.of)} alone",
            "like": f"gives the results of {' + '.join(self.of)}",
            "wrong": f"keeps {', '.join(self.missing)}" if self.missing else f"loses {', '.join(self.more)} as well",
        }
        return f"{self.row.case.name}: {said[self.what]}"


def run(chosen: Sequence[Case], jobs: int | None = None) -> Iterator[PairVerdict]:
    """Grade pairs of misconceptions by direct calls, in order, in `jobs` processes."""
    yield from each(_try, chosen, jobs)


def _try(grader: InProcess, case: Case) -> PairVerdict:
    return compared(grader, row_of(case, grader.grade(submission(case), (case.module,))))


def compared(grader: InProcess, row: Row) -> PairVerdict:
    """The result for a pair. It may lose more than the criteria of its misconceptions only if they hide something."""
    case, criteria = row.case, rubrics.current().criteria
    missing = tuple(sorted(case.criteria - row.lost.keys()))
    more = tuple(name for name, lost in row.lost.items() if not may_lose(case, lost))
    if not missing and not more:
        return PairVerdict(row, "both")
    known = grader.diagnoser.known_responses(case.module, case.function)
    for other in _candidates(row):
        if _same(known, case.misconceptions, other, known.test_calls):
            of = tuple(misconception.id for misconception in other)
            what: What = "hidden" if of and case.ids.issuperset(of) else "like"
            return PairVerdict(row, what, of or ("the correct function",), missing, more)  # two may cancel out
    if not more and all(criteria[name].looks_at == "form" for name in missing):
        numbers = [number for number, test_call in known.test_calls.items() if test_call.criterion in missing]
        for misconception in case.misconceptions:
            if _same(known, case.misconceptions, (misconception,), numbers):
                return PairVerdict(row, "hidden", (misconception.id,), missing, more)
    return PairVerdict(row, "wrong", (), missing, more)


def _candidates(row: Row) -> Iterator[tuple[Misconception, ...]]:
    """The sets of misconceptions that may give the responses of a pair: none, one, or another pair of those in the message."""
    case, known = row.case, library.of_function(row.case.module, row.case.function)
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
        not known.differ(first, second, (number,))
        and alike_in_form(known.test_calls[number], known.response(first, number), known.response(second, number))
        for number in numbers
    )


def lines(verdicts: Iterable[PairVerdict]) -> Iterator[str]:
    """The results of the pairs of each function, and all that do not cost both, by what hides them."""
    groups: dict[str, list[PairVerdict]] = {}
    for verdict in verdicts:
        groups.setdefault(verdict.row.case.function, []).append(verdict)
    for function, own in groups.items():
        count = Counter(verdict.what for verdict in own)
        named = sum(verdict.what == "both" and verdict.row.case.ids <= verdict.row.named for verdict in own)
        yield (
            f"{function}: {len(own)} pairs; {count['both']} cost both, {named} of them with both names; "
            f"{count['hidden']} are masked by one of the two, {count['like']} are equivalent to another known version, "
            f"{count['wrong']} are wrong"
        )
        yield from (f"  {verdict}" for verdict in own if verdict.what in ("hidden", "like"))


def problems(verdicts: Iterable[PairVerdict]) -> list[str]:
    """The pairs that cost less than both, or more, without a reason."""
    return [str(verdict) for verdict in verdicts if verdict.what == "wrong"]
