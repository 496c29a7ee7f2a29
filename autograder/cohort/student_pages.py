"""A page for each student: `feedback/<submission>.md`, and the same as .html, complete in itself and fit to be printed.

All that it says about the work is the text of results/<submission>.json, as Gradescope would show it after publishing.
"""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import indent
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup

from autograder.cohort import report
from autograder.cohort.rows import StudentRow
from autograder.feedback.results import number
from autograder.homework.rubric import INTEGRATION, Criterion, Rubric
from autograder.intake.text import markdown

# Nothing in a page may become a link, a picture or HTML: parts of it were chosen by a student.
_READER = MarkdownIt("commonmark", {"html": False}).disable(["link", "image", "autolink", "html_inline", "html_block"])


def pages(rows: Sequence[StudentRow], documents: Mapping[str, Any], rubric: Rubric) -> Iterator[tuple[str, str, str]]:
    """For each row with a result: a name for its files, the page in Markdown and in HTML."""
    for row, name in zip(rows, names(rows), strict=True):
        document = documents.get(row.entry.key)
        if not name or document is None:
            continue
        text = "\n\n".join(filter(None, _blocks(row, document, rubric))) + "\n"
        yield name, text, _html(row, text, rubric)


def names(rows: Sequence[StudentRow]) -> list[str]:
    """The name of each row's page, "" for one without a result."""
    found: list[str] = []
    shared: dict[str, int] = {}
    for row in rows:
        # Members of a group may differ in what was set by hand, so each has a page.
        shared[row.entry.key] = nth = shared.get(row.entry.key, 0) + (row.grade is not None)
        found.append("" if row.grade is None else row.entry.key if nth == 1 else f"{row.entry.key}-{nth}")
    return found


def _html(row: StudentRow, text: str, rubric: Rubric) -> str:
    body = Markup(_READER.render(text))
    return report.rendered("student.html", title=rubric.title, name=row.student.name, body=body) + "\n"


def _blocks(row: StudentRow, document: Mapping[str, Any], rubric: Rubric) -> Iterator[str]:
    yield f"# {markdown(rubric.title)}"
    if row.student.name:
        yield f"For {markdown(row.student.name)}"
    yield from _score(row)
    tests = [test for test in document["tests"] if test.get("visibility") != "hidden"]
    lost = [test for test in tests if _is_lost(test, row)]
    yield from _overview(lost, rubric, row)
    yield str(document.get("output", "")).strip()
    for module in rubric.groups:
        mine = [test for test in lost if _criterion(test, rubric).module == module]
        if mine:
            yield from _module(module, mine, rubric, row)
    yield from _rest([test for test in tests if test not in lost], rubric, row)


def _score(row: StudentRow) -> Iterator[str]:
    assert row.grade is not None
    if row.score is None:
        yield "**Excused: no points count.**"
    else:
        yield f"**{number(row.score)} of {number(row.grade.max_score)} points**"
    if row.late and row.late.deduction:
        raw, less = number(row.grade.score), number(row.late.deduction)
        yield f"The work earned {raw} points; {less} were taken off, because it was {row.late}."
    for override in row.overrides:
        yield f"Set by hand: {markdown(override)}"


def _criterion(test: Mapping[str, Any], rubric: Rubric) -> Criterion:
    return rubric.criteria[test["extra_data"]["criterion"]]


def _is_lost(test: Mapping[str, Any], row: StudentRow) -> bool:
    assert row.grade is not None
    points = row.grade.points.get(test["extra_data"]["criterion"])
    return points is not None and points < test["max_score"]


def _overview(lost: Sequence[Mapping[str, Any]], rubric: Rubric, row: StudentRow) -> Iterator[str]:
    """What was lost, a line each."""
    if lost:
        yield "What was lost, with the reasons below:"
        yield "\n".join(f"- {markdown(_criterion(test, rubric).about)}: {_points(test, row)}" for test in lost)


def _rest(tests: Sequence[Mapping[str, Any]], rubric: Rubric, row: StudentRow) -> Iterator[str]:
    """The others, on a line each but for those with something to be said."""
    if tests:
        yield "## Everything else"
        for test in tests:
            yield f"- {markdown(_criterion(test, rubric).about)}: {_points(test, row)}"
            yield indent(str(test.get("output", "")).strip(), "  ")


def _module(module: str, tests: Sequence[Mapping[str, Any]], rubric: Rubric, row: StudentRow) -> Iterator[str]:
    title = "The whole model" if module == INTEGRATION else rubric.modules[module].title
    yield f"## {markdown(title)}"
    for test in tests:
        yield f"### {markdown(_criterion(test, rubric).about)}: {_points(test, row)}"
        yield str(test.get("output", "")).strip()


def _points(test: Mapping[str, Any], row: StudentRow) -> str:
    """The points as they count for this student, after what was dropped, given or set by hand."""
    assert row.grade is not None
    criterion = test["extra_data"]["criterion"]
    if criterion not in row.grade.points:
        return "dropped"
    return f"{number(row.grade.points[criterion])} of {number(test['max_score'])}"
