"""Folders of runs for the tests."""

from pathlib import Path

from autograder.cohort import run_file
from autograder.cohort.store import Document
from autograder.feedback.results import dump
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


def run(folder: Path, **documents: Document) -> Path:
    (folder / "results").mkdir(parents=True)
    for key, one in documents.items():
        (folder / "results" / f"{key}.json").write_text(dump(one))
    run_file.write(folder, [folder], [Entry(key, None, (Student(f"={key}"),)) for key in documents])
    return folder
