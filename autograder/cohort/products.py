"""Everything that is made of a class's results: grades.csv and canvas.csv, the report, pages for students.

grades.csv has one row a student, one column a criterion. Its first columns are those that Canvas's importer wants
(instructure/canvas-lms, lib/gradebook_importer.rb: Student, ID, SIS User ID, SIS Login ID, Section), the next those of
Gradescope's own grade tables. Canvas would make an assignment of every further column, so canvas.csv holds the total alone.
"""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from autograder.cohort import report, store, student_pages
from autograder.cohort.report import Run
from autograder.cohort.rows import StudentRow
from autograder.faults import CommandError
from autograder.feedback.results import number, write_atomically
from autograder.homework import rubric
from autograder.intake.text import cell

FEEDBACK = "feedback"  # the folder of the pages for students
CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
MOODLE = ("Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Last modified (grade)")
GRADESCOPE = ("Name", "SID", "Email", "Total Score", "Max Points", "Status", "Submission ID", "Submission Time")
OWN = ("Late", "Other Submissions", "Remark")
FINAL = ("Raw Score", "Late Deduction")  # only where there is a due date, or something was set by hand
DUE = "Due"  # the last column, where a student has a date of their own


def write(out: Path, run: Run, title: str, anonymous: bool = False, feedback: bool = False) -> None:
    """Write tables and report; the report without names and the pages for students if asked for.

    `title` is the assignment in Canvas, see `assignment`. Raises CommandError.
    """
    pages: dict[str, Callable[[], str]] = {
        "grades.csv": lambda: table(run.rows),
        "canvas.csv": lambda: canvas_table(run.rows, title),
        **({"moodle.csv": lambda: moodle_table(run.rows)} if any(row.student.moodle for row in run.rows) else {}),
        "report.html": lambda: report.html(run, pages=student_pages.names(run.rows) if feedback else ()),
    }
    if anonymous:
        pages["report-anonymous.html"] = lambda: report.html(run, anonymous=True)
    for name, make in pages.items():
        _write(out / name, make())
    if feedback:
        documents = store.documents(out, {row.entry.key for row in run.rows if row.grade})
        for name, text, page in student_pages.pages(run.rows, documents, rubric.current()):
            _write(out / FEEDBACK / f"{name}.md", text)
            _write(out / FEEDBACK / f"{name}.html", page)


def _write(path: Path, text: str) -> None:
    try:
        write_atomically(path, text.encode("utf-8", "replace").decode())
    except OSError as error:
        raise CommandError(f"{path} cannot be written ({error.strerror or error}); the results are safe") from error


# Tables


def table(rows: Sequence[StudentRow]) -> str:
    """grades.csv; a fault has no score, and says so."""
    graded = dict.fromkeys(mark.criterion for row in rows if row.grade for mark in row.grade.marks)
    criteria = list(graded or rubric.current().criteria)
    own_dates = any(row.due for row in rows)
    final = rubric.current().due is not None or own_dates or any(row.overrides for row in rows)
    lines: list[list[object]] = [
        [*CANVAS, *GRADESCOPE, *(FINAL if final else ()), *OWN, *criteria, *([DUE] if own_dates else ())]
    ]
    for row in rows:
        points = row.grade.points if row.grade else {}
        marks = [number(points[name]) if name in points else "" for name in criteria]
        due = [row.due.isoformat() if row.due else ""] if own_dates else []
        lines.append([*_canvas(row), *_gradescope(row), *(_final(row) if final else ()), *_own(row), *marks, *due])
    return csv_text(lines)


def canvas_table(rows: Sequence[StudentRow], title: str) -> str:
    """canvas.csv: the total as one assignment, EX for who is excused; other rows without a score are left out, so that they
    overwrite nothing.

    `title` is the heading of the assignment; Canvas takes one that ends in `(id)` for the assignment of that id.
    """
    lines: list[list[object]] = [[*CANVAS, title]]
    scores = [(row, "EX" if row.excused else row.score) for row in rows]
    lines += [[*_canvas(row), number(s) if isinstance(s, float | int) else s] for row, s in scores if s is not None]
    return csv_text(lines)


def moodle_table(rows: Sequence[StudentRow]) -> str:
    """moodle.csv: a grading worksheet with the columns that Moodle's importer wants, and names for people.

    Source: moodle/moodle, mod/assign/feedback/offline/importlib.php. Rows without a score are left out.
    """
    lines: list[list[object]] = [list(MOODLE)]
    for row in rows:
        if row.student.moodle and row.score is not None:
            one, most = row.student, number(row.grade.max_score) if row.grade else ""
            lines.append([f"Participant {one.moodle}", one.name, one.email, row.status, number(row.score), most, ""])
    return csv_text(lines)


def assignment(wanted: str, title: str) -> str:
    """The heading for an assignment that exists, given by its id, its title, or both as Canvas writes them."""
    return f"{title} ({wanted})" if wanted.isdigit() else wanted or title


def _canvas(row: StudentRow) -> list[object]:
    student = row.student
    return [student.name, student.canvas, student.sid, student.email, row.section]


def _gradescope(row: StudentRow) -> list[object]:
    student, entry = row.student, row.entry
    scores = ["" if row.score is None else number(row.score), number(row.grade.max_score) if row.grade else ""]
    return [student.name, student.sid, student.email, *scores, row.status, entry.key, entry.created_at]


def _final(row: StudentRow) -> list[object]:
    raw = number(row.grade.score) if row.grade else ""
    return [raw, number(row.late.deduction) if row.late else 0 if row.grade else ""]


def _own(row: StudentRow) -> list[object]:
    others = "; ".join(other.key for other in row.others)
    return [str(row.late) if row.late else "late" if row.entry.late else "", others, row.remark]


def csv_text(lines: Iterable[Iterable[object]]) -> str:
    """A table that is safe to open."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([[cell(value) for value in line] for line in lines])
    return stream.getvalue()
