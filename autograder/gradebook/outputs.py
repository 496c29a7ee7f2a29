"""The output files of a class: grades.csv, canvas.csv and others, the report, and pages for students.

grades.csv has one row per student and one column per criterion. Its first columns are those of Canvas's importer
(instructure/canvas-lms, lib/gradebook_importer.rb: Student, ID, SIS User ID, SIS Login ID, Section), followed by those of
Gradescope's grade tables. Canvas would create an assignment for every further column, so canvas.csv has only the total.
"""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from markdown_it import MarkdownIt
from markupsafe import Markup

from autograder.exceptions import CommandError
from autograder.feedback.results import Mark, module_of, reason, rule
from autograder.files import write_atomically
from autograder.gradebook import report
from autograder.gradebook.batch import Run
from autograder.gradebook.inputs import Line
from autograder.gradebook.rows import StudentRow, remaining
from autograder.homework.homework import Homework
from autograder.homework.rubric import Rubric
from autograder.submissions import platforms
from autograder.submissions.submission import Student, Upload
from autograder.submissions.text import cell, counted, markdown, number

LATE_DAYS = "late-days.csv"
FEEDBACK = "feedback"  # the folder of the pages for students
CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
# No links, images or HTML, since students choose parts of the text.
_READER = MarkdownIt("commonmark", {"html": False}).disable(["link", "image", "autolink", "html_inline", "html_block"])


def write(
    homework: Homework,
    out: Path,
    run: Run,
    title: str,
    anonymous: bool = False,
    feedback: bool = False,
    balances: Sequence[Line] = (),
    classroom50: bool = False,
) -> None:
    """Write the tables and the report, and on request the anonymous report, students' pages and results for Classroom 50.

    `title` is the assignment in Canvas, see `assignment`; `balances` are late days before this homework. Raises
    CommandError.
    """
    rows = run.rows
    pages = page_names(rows) if feedback else []
    files = {
        "grades.csv": table(rows, homework.rubric),
        "canvas.csv": canvas_table(rows, title),
        "moodle.csv": moodle_table(rows) if any(row.student.moodle for row in rows) else "",
        "gradescope.csv": gradescope_table(rows),
        LATE_DAYS: csv_text([("student", "days", "used"), *remaining(rows, balances)]) if balances else "",
        "mail.csv": mail_table(rows, pages) if feedback else "",
        "report.html": report.html(homework, run, pages=pages),
        "report-anonymous.html": report.html(homework, run, anonymous=True) if anonymous else "",
    }
    for row, name in zip(rows, pages, strict=bool(pages)):
        if name:
            files[f"{FEEDBACK}/{name}.html"] = student_page(row, homework.rubric)
    for row in rows if classroom50 else ():
        files[f"classroom50/{row.entry.key}/result.json"] = classroom50_result(row)
    for name, text in files.items():
        try:
            if text:
                write_atomically(out / name, text.encode("utf-8", "replace").decode())
        except OSError as error:
            advice = "the results are safe: fix the cause and run the same command again"
            raise CommandError(f"{out / name} cannot be written ({error.strerror or error}); {advice}") from error


# Classroom 50 (foundation50/classroom50): the result of a clone, in the form that its runner and its collector check.


def classroom50_result(row: StudentRow) -> str:
    """Return the criteria that the student may see now; "" without a grade, a clone or its metadata."""
    clone = platforms.clone(row.entry.upload) if row.entry.upload and row.student.login else {}
    if not {"time", "classroom", "assignment"} <= clone.keys() or not row.grade or row.excused or row.withheld:
        return ""
    repository = "https://{host}/{owner}/{repository}".format(**clone)
    submission = f"submit/{clone['time'].replace(':', '-')}-{clone['commit'][:7]}"
    marks = [mark for mark in row.grade.marks if mark.visibility == "visible"]
    tests = [
        {"test-name": m.name, "passed": not m.lost, "score": number(m.score), "max-score": number(m.max_score)}
        for m in marks
    ]
    document = {
        "schema": "classroom50/result/v1",
        "classroom": clone["classroom"],
        "assignment": clone["assignment"],
        "assignment_type": "individual",
        "owner": row.student.login,
        "submission": submission,
        "commit": f"{repository}/commit/{clone['commit']}",
        "release": f"{repository}/releases/tag/{quote(submission, safe='')}",
        "review": f"{repository}/commit/{clone['commit']}",
        "datetime": clone["time"],
        "score": number(sum(mark.score for mark in marks)),
        "max-score": number(sum(mark.max_score for mark in marks)),
        "tests": tests,
    }
    return json.dumps(document, indent=2) + "\n"


# Tables


def csv_text(lines: Iterable[Iterable[object]]) -> str:
    """Return a table that is safe to open in a spreadsheet."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([[cell(value) for value in line] for line in lines])
    return stream.getvalue()


def _points(score: float | None) -> object:
    return "" if score is None else number(score)


def table(rows: Sequence[StudentRow], rubric: Rubric) -> str:
    """grades.csv. A row with a grader error has no score."""
    criteria = next((row.grade.points for row in rows if row.grade), dict.fromkeys(rubric.criteria))
    own_dates = any(row.due for row in rows)
    final = rubric.due is not None or own_dates or any(row.overrides for row in rows)

    def line(row: StudentRow) -> dict[str, object]:
        grade, points = row.grade, row.grade.points if row.grade else {}
        return {
            **_canvas(row),
            "Name": row.student.name,
            "SID": row.student.sid,
            "Email": row.student.email,
            "Total Score": _points(row.score),
            "Max Points": _points(row.max_score),
            "Status": row.status,
            "Submission ID": row.entry.key,
            "Submission Time": _submitted(row, rubric),
            **({"Raw Score": _points(grade.score if grade else None)} if final else {}),
            **({"Late Deduction": _points(row.deduction if grade else None)} if final else {}),
            "Late": row.lateness or ("late" if row.entry.late else ""),
            "Other Submissions": "; ".join(upload.key for upload in row.other_uploads),
            "Remark": row.remark,
            **{criterion: _points(points.get(criterion)) for criterion in criteria},
            **({"Due": row.due.isoformat(timespec="seconds") if row.due else ""} if own_dates else {}),
        }

    head = line(StudentRow(Student(), Upload(""), None))
    return csv_text([head, *(line(row).values() for row in rows)])


def _canvas(row: StudentRow) -> dict[str, object]:
    student = row.student
    return dict(zip(CANVAS, (student.name, student.canvas, student.sid, student.email, row.section), strict=True))


def _submitted(row: StudentRow, rubric: Rubric) -> str:
    """Return the time of a submission, in the time zone of its due date."""
    due = row.due or rubric.due
    if due is None or not row.entry.created_at:
        return row.entry.created_at
    return datetime.fromisoformat(row.entry.created_at).astimezone(due.tzinfo).isoformat(timespec="seconds")


def canvas_table(rows: Sequence[StudentRow], title: str) -> str:
    """canvas.csv: the total as one assignment, EX for excused students.

    Rows without a score are left out, so that they overwrite nothing. `title` is the assignment's column header; Canvas
    matches a header that ends in `(id)` to the assignment with that id.
    """
    scores = [(row, "EX" if row.excused else _points(row.score)) for row in rows]
    return csv_text([(*CANVAS, title), *((*_canvas(row).values(), score) for row, score in scores if score != "")])


def moodle_table(rows: Sequence[StudentRow]) -> str:
    """moodle.csv: a grading worksheet with the columns of Moodle's importer, plus names.

    Source: moodle/moodle, mod/assign/feedback/offline/importlib.php. Rows without a score are left out.
    """
    head = ("Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Last modified (grade)")
    lines: list[tuple[object, ...]] = [head]
    for row in rows:
        if row.student.moodle and row.score is not None:
            who = (f"Participant {row.student.moodle}", row.student.name, row.student.email)
            lines.append((*who, row.status, number(row.score), _points(row.max_score), ""))
    return csv_text(lines)


def gradescope_table(rows: Sequence[StudentRow]) -> str:
    """gradescope.csv: for each submission with overrides, the points to add to the autograder's; "" without overrides."""
    lines = []
    for row in rows:
        key = re.fullmatch(r"submission_(\d+)", row.entry.key)
        if row.overrides and key:
            before, after = row.automatic or 0.0, replace(row, deduction=0.0).score  # it deducts for lateness itself
            points = (before, None if after is None else after - before, after)
            reasons = "; ".join(map(str, row.overrides))
            lines.append((key[1], row.student.name, row.student.email, *map(_points, points), reasons))
    head = ("Submission ID", "Name", "Email", "Autograder Score", "Adjustment", "Score", "Reason")
    return csv_text([head, *lines]) if lines else ""


def mail_table(rows: Sequence[StudentRow], pages: Sequence[str]) -> str:
    """mail.csv: the page of each student, for a mail merge; students without a page or an address are left out."""
    lines: list[tuple[object, ...]] = [("Email", "Name", "Score", "Max Points", "Status", "Feedback")]
    for row, page in zip(rows, pages, strict=True):
        if page and row.student.email:
            points = _points(row.score), _points(row.max_score)
            lines.append((row.student.email, row.student.name, *points, row.status, f"{FEEDBACK}/{page}.html"))
    return csv_text(lines)


def assignment(chosen: str, title: str) -> str:
    """Return the Canvas header of an existing assignment, given by its id, its title, or both as Canvas writes them."""
    return f"{title} ({chosen})" if chosen.isdigit() else chosen or title


# A page for each student: `feedback/<submission>.html`, self-contained and printable.
#
# The feedback is that of results/<submission>.json, as Gradescope shows it after publishing. A file that could not be used has one
# note, which comes first. The other lost criteria follow by module, and the rest is collapsed.


def page_names(rows: Sequence[StudentRow]) -> list[str]:
    """Return the name of each row's page, "" for one without a result."""
    names = []
    pages = Counter[str]()  # members of a group may have different overrides, so each has a page
    for row in rows:
        key = row.entry.key
        pages[key] += row.grade is not None
        names.append("" if row.grade is None else key if pages[key] == 1 else f"{key}-{pages[key]}")
    return names


def student_page(row: StudentRow, rubric: Rubric) -> str:
    """Return the page as HTML. Criteria are link targets, and every other mention of their ids is a link."""
    grade, dropped = row.grade, row.grade.dropped if row.grade else ()
    marks = {
        mark.criterion: mark for mark in (*(grade.marks if grade else ()), *dropped) if mark.visibility != "hidden"
    }
    visible = [marks[name] for name in rubric.criteria if name in marks]
    counting = [mark for mark in visible if mark not in dropped]
    modules = [mark for mark in counting if module_of(mark.criterion) in rubric.modules]
    folded = [mark for mark in modules if mark.lost and mark.cause in ("missing", "import")]
    lost = [mark for mark in counting if mark.lost and mark not in folded]
    by_message: dict[str, dict[str, list[Mark]]] = {}  # by module; each message is shown once
    for mark in lost:
        by_message.setdefault(module_of(mark.criterion), {}).setdefault(mark.output, []).append(mark)
    ids = "|".join(re.escape(mark.criterion) for mark in visible if mark not in folded)

    def md(text: str) -> Markup:
        return Markup(re.sub(rf"<code>({ids})</code>", r'<a href="#\1"><code>\1</code></a>', _READER.render(text)))

    return report.rendered(
        "student.html",
        md=md,
        title=rubric.title,
        markdown=markdown,
        counted=counted,
        row=row,
        most=row.max_score or 0.0,
        cause=reason(counting),
        notes=list(_notes(row, folded)),
        titles=rubric.titles,
        subtotals=grade.subtotals if grade is not None else {},
        about={name: criterion.about for name, criterion in rubric.criteria.items()},
        lost=by_message,
        rule=rule(rubric, counting),
        earned=[mark for mark in visible if mark not in lost and mark not in folded],
        dropped=dropped,
    )


def _notes(row: StudentRow, folded: Sequence[Mark]) -> Iterator[str]:
    """Yield the notes on the upload, in Markdown, each with the points that are lost with its file."""
    files: dict[str, float] = {}
    for mark in folded:
        file = f"{module_of(mark.criterion)}.py"
        files[file] = files.get(file, 0.0) + mark.max_score - mark.score
    notes = (
        [(n.markdown, files.pop(f"{n.module}.py" if n.module else n.path, 0)) for n in row.grade.notes]
        if row.grade
        else []
    )
    for text, cost in [*notes, *((f"`{file}` could not be used.", cost) for file, cost in files.items())]:
        yield text + (f" **This costs {counted(number(cost), 'point')}.**" if cost else "")
