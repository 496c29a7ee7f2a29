"""Two runs side by side: who gains or loses what, by criterion.

To be run before a changed rubric or suite is shipped.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.cohort import products, report, store
from autograder.cohort.store import Grade
from autograder.feedback.results import write_atomically
from autograder.feedback.text import number
from autograder.homework import rubric


@dataclass(frozen=True)
class ScoreChange:
    """A submission that scores otherwise: by how much in each criterion that differs."""

    key: str
    who: str
    old: float
    new: float
    criteria: Mapping[str, float]

    @property
    def difference(self) -> float:
        return self.new - self.old


@dataclass(frozen=True)
class CriterionChange:
    """A criterion that differs: how many gain and lose, and its points then and now (None: not there)."""

    name: str
    gain: int
    lose: int
    points: tuple[float | None, float | None]

    @property
    def rubric_changed(self) -> bool:
        return self.points[0] != self.points[1]


@dataclass(frozen=True)
class RunChanges:
    """The differences between two runs, those with the greatest loss first, and the submissions that only one of them has."""

    compared: int
    changes: tuple[ScoreChange, ...]
    criteria: tuple[CriterionChange, ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]


def compare_runs(old: Path, new: Path) -> RunChanges:
    """Raises ArgumentsError for a folder that is no run's."""
    before, after = store.read_all(old), store.read_all(new)
    names = {**_names(old), **_names(new)}
    both = [key for key in before if key in after]
    changes = [_change(before[key], after[key], names.get(key, "")) for key in both]
    changed = [change for change in changes if change.criteria or change.difference]
    return RunChanges(
        len(both),
        tuple(sorted(changed, key=lambda change: (change.difference, change.key))),
        tuple(_criteria(before, after, changes)),
        tuple(key for key in before if key not in after),
        tuple(key for key in after if key not in before),
    )


def write(comparison: RunChanges, old: Path, new: Path) -> Path:
    """compare.csv and compare.html in the folder of the newer run; the page's path. Raises OSError."""
    folder = store.run_folder(new)
    changed = [criterion.name for criterion in comparison.criteria]
    lines = [
        [change.key, change.who, *map(number, (change.old, change.new, change.difference))]
        + [number(change.criteria.get(name, 0)) for name in changed]
        for change in comparison.changes
    ]
    head = ["Submission", "Student", "Old", "New", "Change", *changed]
    write_atomically(folder / "compare.csv", products.csv_text([head, *lines]))
    page = report.rendered("compare.html", title=rubric.current().title, found=comparison, old=str(old), new=str(new))
    write_atomically(folder / "compare.html", page + "\n")
    return folder / "compare.html"


def _change(old: Grade, new: Grade, who: str) -> ScoreChange:
    before, after = old.points, new.points
    criteria = {name: after.get(name, 0.0) - before.get(name, 0.0) for name in {**before, **after}}
    return ScoreChange(old.key, who, old.score, new.score, {name: d for name, d in criteria.items() if d})


def _criteria(
    before: Mapping[str, Grade], after: Mapping[str, Grade], changes: list[ScoreChange]
) -> list[CriterionChange]:
    """Every criterion in which somebody gains or loses, or whose points differ."""
    old, new = _points(before), _points(after)
    changed = []
    for name in {**old, **new}:
        differences = [change.criteria.get(name, 0.0) for change in changes]
        gain, lose = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
        criterion = CriterionChange(name, gain, lose, (old.get(name), new.get(name)))
        if gain or lose or criterion.rubric_changed:
            changed.append(criterion)
    return changed


def _points(grades: Mapping[str, Grade]) -> dict[str, float]:
    return {mark.criterion: mark.max_score for grade in grades.values() for mark in grade.marks}


def _names(folder: Path) -> dict[str, str]:
    """Who handed in what."""
    students = store.students(store.run_folder(folder))
    return {key: ", ".join(filter(None, (student.name for student in who))) for key, who in students.items()}
