"""A page for each student: `feedback/<submission>.md`, and the same as .html, complete in itself and fit to be printed.

All that it says about the work is the text of results/<submission>.json, as Gradescope would show it after publishing. First
comes a sentence, then what was lost, each under the id of its criterion, to which every mention of it leads; the rest is folded.
"""

import re
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
REST = "## Everything else"


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
    shown, _, rest = text.partition(f"\n{REST}\n")
    shown, rest = _linked(_READER.render(shown), rubric), _linked(_READER.render(rest), rubric)
    given = {"title": rubric.title, "name": row.student.name, "body": Markup(shown), "rest": Markup(rest)}
    return report.rendered("student.html", **given) + "\n"


def _linked(markup: str, rubric: Rubric) -> str:
    """The headings and lines of criteria as targets, and every other mention of an id as a link to its own."""
    ids = "|".join(map(re.escape, rubric.criteria))
    markup = re.sub(rf"<(h3|li)>(\s*(?:<p>)?)<code>({ids})</code>: ", r'<\1 id="\3">\2<b>\3</b>: ', markup)
    return re.sub(rf"<code>({ids})</code>", r'<a href="#\1"><code>\1</code></a>', markup)


def _blocks(row: StudentRow, document: Mapping[str, Any], rubric: Rubric) -> Iterator[str]:
    yield f"# {markdown(rubric.title)}"
    if row.student.name:
        yield f"For {markdown(row.student.name)}"
    tests = [test for test in document["tests"] if test.get("visibility") != "hidden"]
    lost = [test for test in tests if _is_lost(test, row)]
    yield from _score(row, _reason(lost, rubric))
    yield from _overview(lost, rubric, row)
    yield str(document.get("output", "")).strip()
    for module in rubric.groups:
        mine = [test for test in lost if _criterion(test, rubric).module == module]
        if mine:
            yield from _module(module, mine, rubric, row)
    yield from _rest([test for test in tests if test not in lost], rubric, row)


def _score(row: StudentRow, reason: str) -> Iterator[str]:
    assert row.grade is not None
    if row.score is None:
        yield "**Excused: no points count.**"
    else:
        yield f"**{number(row.score)} of {number(row.grade.max_score)} points{reason}.**"
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


def _reason(lost: Sequence[Mapping[str, Any]], rubric: Rubric) -> str:
    """What it was lost to, as the end of a sentence: mistakes where all have a name, else the files; "" if nothing was."""
    named = [test["extra_data"].get("misconceptions", []) for test in lost]
    mistakes = {mistake for own in named for mistake in own}
    if lost and all(named) and mistakes:
        functions = _listed([f"`{mistake.partition('.')[0]}`" for mistake in sorted(mistakes)])
        return f": {'one mistake' if len(mistakes) == 1 else f'{len(mistakes)} mistakes'}, in {functions}"
    files = [
        f"`{_criterion(test, rubric).module}.py`" for test in lost if _criterion(test, rubric).module != INTEGRATION
    ]
    return f": points were lost in {_listed(files)}" if files else ""


def _listed(names: Sequence[str]) -> str:
    each = list(dict.fromkeys(names))
    return " and ".join(filter(None, (", ".join(each[:-1]), each[-1])))


def _overview(lost: Sequence[Mapping[str, Any]], rubric: Rubric, row: StudentRow) -> Iterator[str]:
    """What was lost, a line each."""
    if lost:
        yield "What was lost, with the reasons below:"
        yield "\n".join(f"- LOST {_line(test, rubric, row)}" for test in lost)


def _rest(tests: Sequence[Mapping[str, Any]], rubric: Rubric, row: StudentRow) -> Iterator[str]:
    """The others, on a line each but for those with something to be said."""
    if tests:
        yield REST
        for test in tests:
            yield f"- {_line(test, rubric, row)}"
            yield indent(str(test.get("output", "")).strip(), "  ")


def _module(module: str, tests: Sequence[Mapping[str, Any]], rubric: Rubric, row: StudentRow) -> Iterator[str]:
    title = "The whole model" if module == INTEGRATION else rubric.modules[module].title
    yield f"## {markdown(title)}"
    for test in tests:
        yield f"### {_line(test, rubric, row)}"
        yield str(test.get("output", "")).strip()


def _line(test: Mapping[str, Any], rubric: Rubric, row: StudentRow) -> str:
    """A criterion by its id, what it is about, and its points."""
    criterion = _criterion(test, rubric)
    return f"`{criterion.id}`: {markdown(criterion.about)}: {_points(test, row)}"


def _points(test: Mapping[str, Any], row: StudentRow) -> str:
    """The points as they count for this student, after what was dropped, given or set by hand."""
    assert row.grade is not None
    criterion = test["extra_data"]["criterion"]
    if criterion not in row.grade.points:
        return "dropped"
    return f"{number(row.grade.points[criterion])} of {number(test['max_score'])}"
