"""Which two known mistakes of one function are tried together: pairs that could reply as the submission did, the likeliest first.

All that is known of the submission's records is held in bits, one for each record, so that thousands of pairs can be weighed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from autograder.homework.mistakes import Mistake

MOST_PAIRS = 650  # that are tried for one function
UNLIKELY = 0.6  # of the records, so many may speak against a pair that is tried


@dataclass(frozen=True)
class Single:
    """One mistake alone, a bit for each record: where it shows, and where it replies as the submission did."""

    mistake: Mistake
    shows: int
    fits: int


@dataclass(frozen=True)
class Evidence:
    """What is known of the records, in bits.

    `right`: where the correct function replies as the submission did. `groups`: a pair is to reproduce one of these. `criteria`:
    the records of each criterion with a wrong one. `fresh`: the call that is played first, if something is seen to be kept
    between calls, else 0.
    """

    right: int
    groups: Sequence[int]
    criteria: Sequence[int]
    fresh: int


def likely(singles: Sequence[Single], evidence: Evidence) -> Iterator[tuple[Mistake, Mistake]]:
    """The pairs that could reproduce one of the groups of records, the likeliest first.

    Where only one of two mistakes shows alone, the pair mostly replies as that one does, so it should fit there. Mostly: where
    everything is masked, a forgotten projection shows only beside a forgotten mask. So a mistake that alone reproduces a whole
    criterion is tried beside every other, and one that keeps something between calls beside those that write into what it keeps
    and, if something is seen to be kept, beside all that the first call does not speak against.
    """
    found: list[tuple[bool, float, int, tuple[Mistake, Mistake]]] = []
    whole = {s.mistake for s in singles if any(not mask & ~s.fits for mask in evidence.criteria)}
    for one, other in combinations(singles, 2):
        pair = one.mistake, other.mistake
        if one.mistake.name == other.mistake.name:
            continue
        both, neither = one.shows & other.shows, ~(one.shows | other.shows)
        lone = (one.shows & ~other.shows & one.fits) | (other.shows & ~one.shows & other.fits)
        fits = both | lone | (neither & evidence.right)
        kept = bool(fits & evidence.fresh) or one.mistake.criteria == other.mistake.criteria
        first = (kept and any(mistake.memory for mistake in pair)) or not whole.isdisjoint(pair)
        unlikely = min((_share(mask & ~fits, mask) for mask in evidence.groups), default=1.0)
        if first or unlikely <= UNLIKELY or any(mistake.inexact for mistake in pair):
            found.append((not first, unlikely, len(found), pair))
    return (pair for _, _, _, pair in sorted(found))


def _share(part: int, whole: int) -> float:
    return part.bit_count() / whole.bit_count()
