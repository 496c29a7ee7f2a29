"""The output files of a class: grades.csv, canvas.csv and others, the report, and pages for students.

grades.csv has one row per student and one column per criterion. Its first columns are those of Canvas's importer
(instructure/canvas-lms, lib/gradebook_importer.rb: Student, ID, SIS User ID, SIS Login ID, Section), followed by those of
Gradescope's grade tables. Canvas would create an assignment for every further column, so canvas.csv has only the total.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import inf
from pathlib import Path
from textwrap import indent
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup

from autograder.exceptions import CommandError
from autograder.feedback.results import write_atomically
from autograder.feedback.summary import reason
from autograder.feedback.text import number
from autograder.gradebook import report, store
from autograder.gradebook.inputs import TOTAL, Balance, Comment
from autograder.gradebook.report import Run
from autograder.gradebook.rows import StudentRow, remaining
from autograder.homework import rubric
from autograder.homework.rubric import Criterion, Rubric
from autograder.submissions.text import cell, markdown

ADJUSTMENTS, LATE_DAYS = "gradescope.csv", "late-days.csv"
FEEDBACK = "feedback"  # the folder of the pages for students
CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
MOODLE = ("Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Last modified (grade)")
GRADESCOPE = ("Name", "SID", "Email", "Total Score", "Max Points", "Status", "Submission ID", "Submission Time")
OWN = ("Late", "Other Submissions", "Remark")
FINAL = ("Raw Score", "Late Deduction")  # only if there is a due date or an override
DUE = "Due"  # the last column, if any student has an own date


def write(
    out: Path,
    run: Run,
    title: str,
    anonymous: bool = False,
    feedback: bool = False,
    balances: Sequence[Balance] = (),
) -> None:
    """Write tables and report; the anonymous report and the pages for students if requested.

    `title` is the assignment in Canvas, see `assignment`; `balances` are late days before this homework. Raises CommandError.
    """
    pages: dict[str, Callable[[], str]] = {
        "grades.csv": lambda: table(run.rows),
        "canvas.csv": lambda: canvas_table(run.rows, title),
        **({"moodle.csv": lambda: moodle_table(run.rows)} if any(row.student.moodle for row in run.rows) else {}),
        **({ADJUSTMENTS: lambda: gradescope_table(run.rows)} if any(map(_on_gradescope, run.rows)) else {}),
        **({LATE_DAYS: lambda: late_days_table(run.rows, balances)} if balances else {}),
        **({"mail.csv": lambda: mail_table(run.rows)} if feedback else {}),
        "report.html": lambda: report.html(run, pages=page_names(run.rows) if feedback else ()),
    }
    if anonymous:
        pages["report-anonymous.html"] = lambda: report.html(run, anonymous=True)
    for name, make in pages.items():
        _write(out / name, make())
    if feedback:
        documents = store.documents(out, {row.entry.key for row in run.rows if row.grade})
        for name, text, page in student_pages(run.rows, documents, rubric.current()):
            _write(out / FEEDBACK / f"{name}.md", text)
            _write(out / FEEDBACK / f"{name}.html", page)


def _write(path: Path, text: str) -> None:
    try:
        write_atomically(path, text.encode("utf-8", "replace").decode())
    except OSError as error:
        raise CommandError(f"{path} cannot be written ({error.strerror or error}); the results are safe") from error


# Tables


def table(rows: Sequence[StudentRow]) -> str:
    """grades.csv; a grader error has no score."""
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
        raw, less = number(row.grade.score) if row.grade else "", 0 if row.grade else ""
        due = [row.due.isoformat(timespec="seconds") if row.due else ""] if own_dates else []
        student, entry = row.student, row.entry
        scores = ["" if row.score is None else number(row.score), number(row.grade.max_score) if row.grade else ""]
        uploads = "; ".join(upload.key for upload in row.others)
        lines.append(
            [
                *_canvas(row),
                *[student.name, student.sid, student.email, *scores, row.status, entry.key, _submitted(row)],
                *((raw, number(row.deduction) if row.late else less) if final else ()),
                *[row.lateness or ("late" if row.entry.late else ""), uploads, row.remark],
                *marks,
                *due,
            ]
        )
    return csv_text(lines)


def _submitted(row: StudentRow) -> str:
    """The time of a submission, in the time zone of its due date."""
    due = row.due or rubric.current().due
    if due is None or not row.entry.created_at:
        return row.entry.created_at
    return datetime.fromisoformat(row.entry.created_at).astimezone(due.tzinfo).isoformat(timespec="seconds")


def canvas_table(rows: Sequence[StudentRow], title: str) -> str:
    """canvas.csv: the total as one assignment, EX for excused students; rows without a score are left out, so they overwrite
    nothing.

    `title` is the heading of the assignment; Canvas takes a heading that ends in `(id)` for the assignment with that id.
    """
    lines: list[list[object]] = [[*CANVAS, title]]
    scores = [(row, "EX" if row.excused else row.score) for row in rows]
    lines += [[*_canvas(row), number(s) if isinstance(s, float | int) else s] for row, s in scores if s is not None]
    return csv_text(lines)


def moodle_table(rows: Sequence[StudentRow]) -> str:
    """moodle.csv: a grading worksheet with the columns of Moodle's importer, and names for people.

    Source: moodle/moodle, mod/assign/feedback/offline/importlib.php. Rows without a score are left out.
    """
    lines: list[list[object]] = [list(MOODLE)]
    for row in rows:
        if row.student.moodle and row.score is not None:
            who, most = row.student, number(row.grade.max_score) if row.grade else ""
            lines.append([f"Participant {who.moodle}", who.name, who.email, row.status, number(row.score), most, ""])
    return csv_text(lines)


def gradescope_table(rows: Sequence[StudentRow]) -> str:
    """gradescope.csv: for each submission with overrides, the points to add to those of the autograder."""
    lines: list[list[object]] = [
        ["Submission ID", "Name", "Email", "Autograder Score", "Adjustment", "Score", "Reason"]
    ]
    for row in filter(_on_gradescope, rows):
        before, by_hand = row.automatic or 0.0, replace(row, deduction=0.0).score  # Gradescope has its own late policy
        points = ["", ""] if by_hand is None else [number(by_hand - before), number(by_hand)]
        key = row.entry.key.removeprefix("submission_")
        lines.append([key, row.student.name, row.student.email, number(before), *points, "; ".join(row.overrides)])
    return csv_text(lines)


def _on_gradescope(row: StudentRow) -> bool:
    """Whether a submission of an export of Gradescope has overrides."""
    return bool(row.overrides) and re.fullmatch(r"submission_\d+", row.entry.key) is not None


def late_days_table(rows: Sequence[StudentRow], balances: Sequence[Balance]) -> str:
    """late-days.csv: the late days that each student has left, as input for the next homework."""
    return csv_text([("student", "days", "used"), *remaining(rows, balances)])


def mail_table(rows: Sequence[StudentRow]) -> str:
    """mail.csv: the page of each student, for a mail merge; without those who have no page or no address."""
    lines: list[list[object]] = [["Email", "Name", "Score", "Max Points", "Status", "Feedback"]]
    for row, page in zip(rows, page_names(rows), strict=True):
        if page and row.student.email and row.grade:
            score = "" if row.score is None else number(row.score)
            who = [row.student.email, row.student.name]
            lines.append([*who, score, number(row.grade.max_score), row.status, f"{FEEDBACK}/{page}.html"])
    return csv_text(lines)


def assignment(wanted: str, title: str) -> str:
    """The heading of an existing assignment, given by its id, its title, or both as Canvas writes them."""
    return f"{title} ({wanted})" if wanted.isdigit() else wanted or title


def _canvas(row: StudentRow) -> list[object]:
    student = row.student
    return [student.name, student.canvas, student.sid, student.email, row.section]


def csv_text(lines: Iterable[Iterable[object]]) -> str:
    """A table that is safe to open in a spreadsheet."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([[cell(value) for value in line] for line in lines])
    return stream.getvalue()


# A page for each student: `feedback/<submission>.md`, and the same as .html, complete in itself and fit to be printed.
#
# Its text about the work is that of results/<submission>.json, as Gradescope would show it after publishing. First comes a summary,
# then the lost criteria, each under its id, to which every mention links; the rest is folded.

# Nothing in a page may become a link, a picture or HTML, since a student chose parts of it.
_READER = MarkdownIt("commonmark", {"html": False}).disable(["link", "image", "autolink", "html_inline", "html_block"])
REST = "## Everything else"


def student_pages(
    rows: Sequence[StudentRow], documents: Mapping[str, Any], rubric: Rubric
) -> Iterator[tuple[str, str, str]]:
    """For each row with a result: the name of its files, the page in Markdown and in HTML."""
    for row, name in zip(rows, page_names(rows), strict=True):
        document = documents.get(row.entry.key)
        if not name or document is None:
            continue
        text = "\n\n".join(filter(None, _blocks(row, document, rubric))) + "\n"
        shown, _, rest = text.partition(f"\n{REST}\n")
        shown, rest = _linked(_READER.render(shown), rubric), _linked(_READER.render(rest), rubric)
        given = {"title": rubric.title, "name": row.student.name, "body": Markup(shown), "rest": Markup(rest)}
        yield name, text, (report.rendered("student.html", **given) + "\n")


def page_names(rows: Sequence[StudentRow]) -> list[str]:
    """The name of each row's page, "" for one without a result."""
    names: list[str] = []
    shared: dict[str, int] = {}
    for row in rows:
        # Members of a group may have different overrides, so each has a page.
        shared[row.entry.key] = nth = shared.get(row.entry.key, 0) + (row.grade is not None)
        names.append("" if row.grade is None else row.entry.key if nth == 1 else f"{row.entry.key}-{nth}")
    return names


def _linked(markup: str, rubric: Rubric) -> str:
    """The headings and lines of criteria as link targets, and every other mention of an id as a link."""
    ids = "|".join(map(re.escape, rubric.criteria))
    markup = re.sub(rf"<(h3|li)>(\s*(?:<p>)?)<code>({ids})</code>: ", r'<\1 id="\3">\2<b>\3</b>: ', markup)
    return re.sub(rf"<code>({ids})</code>", r'<a href="#\1"><code>\1</code></a>', markup)


def _blocks(row: StudentRow, document: Mapping[str, Any], rubric: Rubric) -> Iterator[str]:
    yield f"# {markdown(rubric.title)}"
    if row.student.name:
        yield f"For {markdown(row.student.name)}"
    tests = [test for test in document["tests"] if test.get("visibility") != "hidden"]
    if row.withheld:
        yield "**Your grade for this homework is withheld.** Ask your instructor."
        return
    assert row.grade is not None
    points = row.grade.points  # not those of a dropped criterion
    lost = [test for test in tests if points.get(test["extra_data"]["criterion"], inf) < test["max_score"]]
    if row.score is None:
        yield "**Excused: no score.**"
    else:
        cause = reason((_criterion(test, rubric).module, test["extra_data"].get("misconceptions", [])) for test in lost)
        yield f"**{number(row.score)} of {number(row.grade.max_score)} points{cause}.**"
    if row.deduction:
        raw, less = number(row.grade.score), number(row.deduction)
        yield f"The submission earned {raw} points; {less} were deducted because it was {row.late}."
    if row.days_used and row.balance:
        yield f"The submission was {row.lateness}, {row.balance.days - row.days_used} left."
    for override in row.overrides:
        yield f"Manual override: {markdown(override)}"
    if row.comments:
        yield "Comments from your grader:"
        yield "\n".join(f"- {_comment(comment)}" for comment in row.comments)
    sections = {module: list(_lost_parts(module, tests, lost, rubric, row)) for module in rubric.groups}
    if lost:
        yield "Lost points, explained below:"
        yield "\n".join(f"- {part.points} points: {part.what}" for parts in sections.values() for part in parts)
    yield str(document.get("output", "")).partition("\n\n")[2].strip()  # without its own sentence on the points
    for module, parts in sections.items():
        if parts:
            yield f"## {markdown(rubric.titles[module])}"
            for part in parts:
                yield f"### {part.what}: {part.points}"
                yield part.output
    yield from _rest([test for test in tests if test not in lost], rubric, row)


def _comment(comment: Comment) -> str:
    about = "" if comment.about == TOTAL else f"`{comment.about}`: "
    return about + markdown(comment.text) + (f" ({markdown(comment.author)})" if comment.author else "")


@dataclass(frozen=True)
class _Part:
    """A lost criterion of a page, or a file that lost all its criteria for one reason."""

    what: str
    points: str
    output: str


def _lost_parts(
    module: str, tests: Sequence[Mapping[str, Any]], lost: Sequence[Mapping[str, Any]], rubric: Rubric, row: StudentRow
) -> Iterator[_Part]:
    """The lost criteria of a module; one part if all have the same message, because the file is unusable."""
    assert row.grade is not None
    points = row.grade.points
    own = [
        test for test in tests if _criterion(test, rubric).module == module and _criterion(test, rubric).id in points
    ]
    outputs = {str(test.get("output", "")).strip() for test in own}
    if (
        module in rubric.modules
        and len(own) > 1
        and len(outputs) == 1
        and outputs != {""}
        and all(test in lost for test in own)
    ):
        earned = sum(points[_criterion(test, rubric).id] for test in own)
        most = sum(test["max_score"] for test in own)
        yield _Part(f"`{module}.py`, all {len(own)} criteria", f"{number(earned)} of {number(most)}", *outputs)
        return
    for test in own:
        if test in lost:
            yield _Part(*_described(test, rubric, row), str(test.get("output", "")).strip())


def _criterion(test: Mapping[str, Any], rubric: Rubric) -> Criterion:
    return rubric.criteria[test["extra_data"]["criterion"]]


def _rest(tests: Sequence[Mapping[str, Any]], rubric: Rubric, row: StudentRow) -> Iterator[str]:
    """The other criteria, on a line each unless they have a message."""
    if tests:
        yield REST
        for test in tests:
            yield "- " + ": ".join(_described(test, rubric, row))
            yield indent(str(test.get("output", "")).strip(), "  ")


def _described(test: Mapping[str, Any], rubric: Rubric, row: StudentRow) -> tuple[str, str]:
    """A criterion with its id, its title and its points, including drops and overrides."""
    assert row.grade is not None
    criterion, points = _criterion(test, rubric), row.grade.points
    earned = f"{number(points[criterion.id])} of {number(test['max_score'])}" if criterion.id in points else "dropped"
    return f"`{criterion.id}`: {markdown(criterion.about)}", earned
