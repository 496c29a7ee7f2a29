"""Compares two runs: who gains or loses points, by criterion or for another reason, such as lateness or overrides.

Use it before shipping a changed rubric or suite.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.feedback.results import write_atomically
from autograder.feedback.text import number
from autograder.gradebook import outputs, report, store
from autograder.gradebook.store import Grade, Outcome
from autograder.homework import rubric
from autograder.submissions.uploads import Student

MANY = 6  # with more changed criteria, only their modules are named; the csv has all


@dataclass(frozen=True)
class ScoreChange:
    """A student with another score: the difference of each criterion; `reason` explains the rest.

    `key` is the submission that counts in the second run. A total of None is no score.
    """

    key: str
    who: str
    old: float | None
    new: float | None
    criteria: Mapping[str, float]
    reason: str = ""

    @property
    def difference(self) -> float:
        return (self.new or 0.0) - (self.old or 0.0)

    @property
    def rest(self) -> float:
        """The part of the difference that the criteria do not explain."""
        return round(self.difference - sum(self.criteria.values()), 6)

    @property
    def where(self) -> str:
        """The parts of the difference, as text; for many criteria only their modules."""
        points: dict[str, float] = {}
        for name, difference in self.criteria.items():
            part = name if len(self.criteria) <= MANY else name.partition(".")[0]
            points[part] = points.get(part, 0.0) + difference
        parts = [f"{part} {difference:+g}" for part, difference in points.items()]
        parts += [f"{self.rest:+g} ({self.reason})" if self.rest else self.reason] if self.reason else []
        return ", ".join(parts)


@dataclass(frozen=True)
class RunChanges:
    """The differences between two runs, largest losses first, and the submissions that only one of them has.

    For each of the changed `criteria`: its name, how many gain and lose, and its points before and after (None: absent).
    """

    compared: int
    changes: tuple[ScoreChange, ...]
    criteria: tuple[tuple[str, int, int, tuple[float | None, float | None]], ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]


def compare_runs(old: Path, new: Path) -> RunChanges:
    """Raises ArgumentsError if a folder is not a run."""
    before, after = store.read_all(old), store.read_all(new)
    then, now = store.outcomes(store.run_folder(old)), store.outcomes(store.run_folder(new))
    if not (then and now):
        names = {**store.names(store.run_folder(old)), **store.names(store.run_folder(new))}
        then, now = (
            [Outcome(key, Student(names.get(key, "")), grade.score) for key, grade in grades.items()]
            for grades in (before, after)
        )
    pairs = _pairs(then, now)
    paired_then, paired_now = ({pair[side] for pair in pairs} for side in (0, 1))
    every = [_change(one, two, before.get(one.submission), after.get(two.submission)) for one, two in pairs]
    changed = [change for change in every if change.criteria or change.old != change.new]
    return RunChanges(
        len(pairs),
        tuple(sorted(changed, key=lambda change: (change.difference, change.key, change.who))),
        tuple(_criteria(before, after, changed)),
        tuple(_label(outcome) for outcome in then if outcome not in paired_then),
        tuple(_label(outcome) for outcome in now if outcome not in paired_now),
    )


def _pairs(then: Sequence[Outcome], now: Sequence[Outcome]) -> list[tuple[Outcome, Outcome]]:
    """The outcomes of each student in both runs, matched by address or id, else by submission."""
    by_identity = {identity: outcome for outcome in then for identity in _identities(outcome, then)}
    pairs = ((next((by_identity[i] for i in _identities(two, now) if i in by_identity), None), two) for two in now)
    return [(first, second) for first, second in pairs if first is not None]


def _identities(outcome: Outcome, among: Sequence[Outcome]) -> list[tuple[str, ...]]:
    key, shared = outcome.submission, sum(candidate.submission == outcome.submission for candidate in among) > 1
    by_submission = [("submission", key, outcome.student.name) if shared else ("submission", key)] if key else []
    return [*outcome.student.identities, *by_submission]


def _label(outcome: Outcome) -> str:
    return outcome.submission or outcome.student.name


def write(comparison: RunChanges, old: Path, new: Path) -> Path:
    """Write compare.csv and compare.html to the folder of the newer run; returns the page's path. Raises OSError."""
    folder = store.run_folder(new)
    changed = [name for name, *_ in comparison.criteria]
    others = any(change.reason for change in comparison.changes)
    lines = [
        [change.key, change.who, *("" if total is None else number(total) for total in (change.old, change.new))]
        + [number(change.difference), *(number(change.criteria.get(name, 0)) for name in changed)]
        + ([number(change.rest), change.reason] if others else [])
        for change in comparison.changes
    ]
    head = ["Submission", "Student", "Old", "New", "Change", *changed, *(("Other", "Reason") if others else ())]
    write_atomically(folder / "compare.csv", outputs.csv_text([head, *lines]))
    page = report.rendered("compare.html", title=rubric.current().title, found=comparison, old=str(old), new=str(new))
    write_atomically(folder / "compare.html", page + "\n")
    return folder / "compare.html"


def _change(then: Outcome, now: Outcome, old: Grade | None, new: Grade | None) -> ScoreChange:
    before, after = old.points if old else {}, new.points if new else {}
    criteria = {name: after.get(name, 0.0) - before.get(name, 0.0) for name in {**before, **after}}
    who = now.student.name or then.student.name
    change = ScoreChange(now.submission, who, then.total, now.total, {name: d for name, d in criteria.items() if d})
    reasons = []
    if then.submission != now.submission:
        reasons.append(f"{now.submission or 'none'} counts, not {then.submission or 'none'}")
    if change.rest or (then.total is None) != (now.total is None):
        was, is_now = "; ".join(then.reasons), "; ".join(now.reasons)
        reasons.append(was if was == is_now else f"was: {was or 'nothing'}; now: {is_now or 'nothing'}")
    return replace(change, reason="; ".join(filter(None, reasons)))


def _criteria(
    before: Mapping[str, Grade], after: Mapping[str, Grade], changes: list[ScoreChange]
) -> Iterator[tuple[str, int, int, tuple[float | None, float | None]]]:
    """Every criterion in which anybody gains or loses, or whose points differ."""
    old, new = _points(before), _points(after)
    for name in {**old, **new}:
        differences = [change.criteria.get(name, 0.0) for change in changes]
        gain, lose = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
        if gain or lose or old.get(name) != new.get(name):
            yield name, gain, lose, (old.get(name), new.get(name))


def _points(grades: Mapping[str, Grade]) -> dict[str, float]:
    return {mark.criterion: mark.max_score for grade in grades.values() for mark in grade.marks}
