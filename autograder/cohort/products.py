"""Everything that is made of a class's results: tables, the report, pages for students."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autograder.cohort import gradebook, report, store, student_pages
from autograder.cohort.report import Run
from autograder.faults import CommandError
from autograder.feedback.results import write_atomically
from autograder.homework.rubric import Rubric

FEEDBACK = "feedback"  # the folder of the pages for students


@dataclass(frozen=True)
class Wanted:
    """What is made beside the tables and the report, and how."""

    assignment: str = ""
    anonymous: bool = False
    feedback: bool = False


def write(out: Path, run: Run, wanted: Wanted, rubric: Rubric) -> None:
    """Raises CommandError."""
    heading = gradebook.assignment(wanted.assignment, rubric.title)
    pages: dict[str, Callable[[], str]] = {
        "grades.csv": lambda: gradebook.table(run.rows),
        "canvas.csv": lambda: gradebook.canvas_table(run.rows, heading),
        "report.html": lambda: report.html(run),
    }
    if wanted.anonymous:
        pages["report-anonymous.html"] = lambda: report.html(run, anonymous=True)
    for name, make in pages.items():
        _write(out / name, make())
    if wanted.feedback:
        documents = store.documents(out, {row.entry.key for row in run.rows if row.grade})
        for name, text, page in student_pages.pages(run.rows, documents, rubric):
            _write(out / FEEDBACK / f"{name}.md", text)
            _write(out / FEEDBACK / f"{name}.html", page)


def _write(path: Path, text: str) -> None:
    try:
        write_atomically(path, text.encode("utf-8", "replace").decode())
    except OSError as error:
        raise CommandError(f"{path} cannot be written ({error.strerror or error}); the results are safe") from error
