"""Compares two runs: which students gain or lose points, by criterion or for another reason, such as lateness or
overrides.

Use it before shipping a changed rubric or suite.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.feedback.results import Grade
from autograder.files import write_atomically
from autograder.gradebook import outputs, report
from autograder.gradebook.inputs import TOTAL
from autograder.gradebook.store import Outcome, read_run
from autograder.submissions.submission import Student
from autograder.submissions.text import number

MANY = 6  # with more changed criteria, only modules are listed; the CSV file has all


@dataclass(frozen=True)
class ScoreChange:
    """The change of a student's score: the difference in each criterion; `reason` explains the rest.

    `key` is the submission that counts in the second run. `old` and `new` are None without a score.
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
        points = defaultdict[str, float](float)
        for name, difference in self.criteria.items():
            points[name if len(self.criteria) <= MANY else name.partition(".")[0]] += difference
        parts = [f"{name} {difference:+g}" for name, difference in points.items()]
        parts += [f"{self.rest:+g} ({self.reason})" if self.rest else self.reason] if self.reason else []
        return ", ".join(parts)


@dataclass(frozen=True)
class RunChanges:
    """The differences between two runs, largest losses first, and the submissions that only one of them has.

    `criteria` has, for each changed criterion, its name, the numbers of students who gain and lose, and its points
    before and after (None: absent). `manual` has the student, the criterion, the points that a person set for it, and its
    points before and after, if these differ.
    """

    compared: int
    changes: Sequence[ScoreChange]
    criteria: Sequence[tuple[str, int, int, tuple[float | None, float | None]]]
    manual: Sequence[tuple[str, str, float, float, float]]
    only_old: Sequence[str]
    only_new: Sequence[str]

    @property
    def totals(self) -> list[ScoreChange]:
        """The changes of a total."""
        return [change for change in self.changes if change.old != change.new]


def compare_runs(old: Path, new: Path) -> RunChanges:
    """Compare the students of two runs. Raises ArgumentsError if a folder is not a run."""
    first, second = read_run(old), read_run(new)
    before, after = first.grades(), second.grades()
    then, now = first.outcomes, second.outcomes
    if not (then and now):  # a run was interrupted
        names = {**first.names, **second.names}
        then, now = (
            tuple(Outcome(key, Student(names.get(key, "")), grade.score) for key, grade in grades.items())
            for grades in (before, after)
        )
    earlier = {identity: outcome for outcome in then for identity in _identities(outcome, then)}
    matches = ((next((earlier[i] for i in _identities(two, now) if i in earlier), None), two) for two in now)
    pairs = [(one, two) for one, two in matches if one is not None]
    every = [_change(one, two, before.get(one.submission), after.get(two.submission)) for one, two in pairs]
    changes = [change for change in every if change.criteria or change.old != change.new]
    changes.sort(key=lambda change: (change.difference, change.key, change.who))
    points_before, points_after = (
        {mark.criterion: mark.max_score for grade in grades.values() for mark in grade.marks}
        for grades in (before, after)
    )
    criteria = []
    for name in {**points_before, **points_after}:
        differences = [change.criteria.get(name, 0.0) for change in changes]
        gain, lose = (sum(sign * difference > 0 for difference in differences) for sign in (1, -1))
        both = points_before.get(name), points_after.get(name)
        if gain or lose or both[0] != both[1]:
            criteria.append((name, gain, lose, both))
    most_before, most_after = ({**points, TOTAL: sum(points.values())} for points in (points_before, points_after))
    manual = [
        (outcome.student.name or outcome.submission, name, points, most_before[name], most_after[name])
        for outcome in now
        for name, points in outcome.manual
        if name in most_before and name in most_after and most_before[name] != most_after[name]
    ]
    only_old, only_new = (
        [outcome.submission or outcome.student.name for outcome in outcomes if outcome not in paired]
        for outcomes, paired in ((then, {one for one, _ in pairs}), (now, {two for _, two in pairs}))
    )
    return RunChanges(len(pairs), changes, criteria, manual, only_old, only_new)


def _identities(outcome: Outcome, among: Sequence[Outcome]) -> list[tuple[str, ...]]:
    """Return the keys by which a student is found in the other run: addresses and ids, else the submission."""
    key, shared = outcome.submission, sum(candidate.submission == outcome.submission for candidate in among) > 1
    by_submission = [("submission", key, outcome.student.name) if shared else ("submission", key)] if key else []
    return [*outcome.student.identities, *by_submission]


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


def write(comparison: RunChanges, title: str, old: Path, new: Path) -> Path:
    """Write compare.csv and compare.html to the folder of the newer run; return the page's path. Raises OSError."""
    folder, names = read_run(new).folder, [name for name, *_ in comparison.criteria]
    has_reasons = any(change.reason for change in comparison.changes)
    lines: list[list[object]] = [["Submission", "Student", "Old", "New", "Change", *names]]
    lines[0] += ["Other", "Reason"] * has_reasons
    for change in comparison.changes:
        totals = ["" if total is None else number(total) for total in (change.old, change.new, change.difference)]
        by_criterion = [number(change.criteria.get(name, 0)) for name in names]
        reason = [number(change.rest), change.reason] if has_reasons else []
        lines.append([change.key, change.who, *totals, *by_criterion, *reason])
    write_atomically(folder / "compare.csv", outputs.csv_text(lines))
    page = report.rendered("compare.html", title=title, found=comparison, old=str(old), new=str(new))
    write_atomically(folder / "compare.html", page + "\n")
    return folder / "compare.html"
