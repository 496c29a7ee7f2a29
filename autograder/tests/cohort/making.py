"""Grades, rubrics and folders of runs for the tests."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from autograder.cohort.store import Document, Grade, Mark, Outcome, write_run
from autograder.feedback.results import dump
from autograder.homework import kit
from autograder.homework import rubric as rubrics
from autograder.homework.rubric import Rubric
from autograder.intake.entries import Entry, Student


def document(**scores: tuple[float, float]) -> Document:
    tests = [
        {
            "name": f"{name}: x",
            "score": score,
            "max_score": most,
            "extra_data": {"criterion": name, "misconceptions": []},
        }
        for name, (score, most) in scores.items()
    ]
    return {"score": sum(score for score, _ in scores.values()), "tests": tests, "extra_data": {"layers": []}}


def run(folder: Path, outcomes: Sequence[Outcome] = (), **documents: Document) -> Path:
    (folder / "results").mkdir(parents=True)
    for key, one in documents.items():
        (folder / "results" / f"{key}.json").write_text(dump(one))
    write_run(folder, [folder], [Entry(key, None, (Student(f"={key}"),)) for key in documents], outcomes)
    return folder


def grade_of_points(key: str, most: float, lost: int = 0) -> Grade:
    """A grade by the kit's own rubric that misses the first `lost` criteria, or one of a single criterion of `most` points."""
    criteria = list(rubrics.current().criteria.values())
    if most == rubrics.current().points:
        marks = tuple(
            Mark(one.id, f"{one.id}: {one.about}", 0 if at < lost else one.points, one.points)
            for at, one in enumerate(criteria)
        )
    else:
        marks = (Mark("m.c", "m.c: about", 0 if lost else most, most),)
    return Grade(key, sum(mark.score for mark in marks), marks, ("fork",), 0.0)


def rubric_with(criteria: Mapping[str, Mapping[str, str]] | None = None, **top: object) -> Rubric:
    """The kit's own rubric with further keys at the top and in some criteria."""
    data = yaml.safe_load(kit.rubric_file().read_text(encoding="utf-8")) | top
    for criterion, keys in (criteria or {}).items():
        module, _, name = criterion.partition(".")
        data["modules"][module]["criteria"][name].update(keys)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rubric.yaml")
        path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
        return rubrics.load(path)
