"""What an instructor adds to the grades of a class, each only if asked for, and in which order it is reckoned.

First what counts at all (the rubric's `counts`), then who is who (the roster), then what lateness costs (the rubric's
`due` and `late`), and last what was set by hand, so that nothing is taken off from points that a person has decided.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.cohort import counting, lateness, overrides, roster
from autograder.cohort.overrides import Override
from autograder.cohort.roster import Person
from autograder.cohort.rows import StudentRow
from autograder.homework.rubric import Rubric


@dataclass(frozen=True)
class Term:
    """The files that an instructor has given."""

    rubric: Rubric
    roster: tuple[Person, ...] = ()
    overrides: tuple[Override, ...] = ()

    def check(self, rows: Sequence[StudentRow]) -> None:
        """Raises ArgumentsError for an override that fits nobody; `rows` need no grades yet."""
        overrides.check(roster.applied(rows, self.roster) if self.roster else rows, self.overrides)

    def applied(self, rows: Sequence[StudentRow]) -> list[StudentRow]:
        """Raises ArgumentsError for an override that fits nobody."""
        counted = counting.applied(rows, self.rubric)
        named = roster.applied(counted, self.roster) if self.roster else counted
        return overrides.applied(lateness.applied(named, self.rubric), self.overrides)


def read(rubric: Rubric, roster_file: Path | None = None, overrides_file: Path | None = None) -> Term:
    """Raises ArgumentsError for a file that cannot be used."""
    people = roster.read(roster_file) if roster_file else []
    by_hand = overrides.read(overrides_file, rubric) if overrides_file else []
    return Term(rubric, tuple(people), tuple(by_hand))
