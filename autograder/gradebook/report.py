"""Writes report.html, a self-contained page about a class that needs no network.

The template escapes everything a student could have chosen (names, addresses, file names). The page's content security
policy allows only its own script and no connections. The anonymous version has no names, keys, remarks or table of
students, so it can be shown to the class.
"""

import base64
import hashlib
import platform
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from math import ceil, sqrt
from statistics import fmean, median, pstdev
from typing import Any

import jinja2
import numpy as np
from markupsafe import Markup

from autograder.feedback.results import Cause, Grade, module_of
from autograder.gradebook import class_statistics
from autograder.gradebook.batch import Run
from autograder.gradebook.rows import StudentRow, names_by_key
from autograder.grading.call_results import built_in
from autograder.homework.homework import PACKAGE, Homework
from autograder.homework.rubric import CHARGES
from autograder.sandbox import layers
from autograder.submissions.text import number

TEMPLATES = PACKAGE / "gradebook" / "templates"
BINS, TICKS = 25, 12  # maximum number of bars, and of axis steps, of the histogram
FEW = 5  # minimum number of passing, and of failing, submissions for a verdict on the discrimination
EARNED = "."  # in the picture
# The states of a lost criterion in the picture, by cause: a character, a class in report.html, and words.
STATES: dict[Cause, tuple[str, str, str]] = {
    "misconception": ("n", "named", "misconception identified"),
    "line": ("l", "line", "line or error found"),
    "varies": ("v", "line", "results vary"),
    "other": ("x", "lost", "cause not identified"),
    "unwritten": ("u", "unwritten", "not written"),
    "missing": ("m", "missing", "not submitted"),
    "import": ("o", "unusable", "could not be run"),
    "answer": ("a", "answer", "wrong answer"),
    "tests": ("t", "answer", "tests miss mistakes"),
    "manual": ("h", "manual", "set manually"),
}
NAMES = 40  # columns of a picture with names


def html(homework: Homework, run: Run, anonymous: bool = False, pages: Sequence[str] = ()) -> str:
    """Return the page. `pages` are the names of the students' pages by row, for links."""
    script = (TEMPLATES / "report.js").read_text(encoding="utf-8")
    grades = submissions_that_count(run.rows)
    people = [row.student for row in run.rows]
    groups = class_statistics.groups({grade.key: grade.unexplained for grade in grades}, people)
    places = {row.entry.key: at for at, row in reversed(list(enumerate(run.rows)))}
    names = names_by_key(run.rows)
    named = ({}, {}) if anonymous else ({key: name or key for key, name in names.items()}, places)
    scores, most = final_scores(run.rows), max((grade.max_score for grade in grades), default=0.0)
    used = Counter(grade.layers for grade in grades)
    has_totals = bool(grades) and all(grade.totals for grade in grades)  # results of earlier versions have none
    return rendered(
        "report.html",
        script=Markup(script),
        policy=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        pages=pages or [""] * len(run.rows),
        anonymous=anonymous,
        sentence=partial(sentence, homework),
        picture=picture(grades, named[0], partial(sentence, homework), named[1]),
        titles=homework.rubric.titles,
        title=homework.rubric.title,
        run=run,
        grades=grades,
        uploads=len({row.grade.key for row in run.rows if row.grade}),
        overview=overview(scores, most),
        totals={charge: fmean(grade.totals[charge] for grade in grades) for charge in CHARGES} if has_totals else {},
        histogram=histogram(scores, most),
        about={name: criterion.about for name, criterion in homework.rubric.criteria.items()},
        examples=[c.id for c in homework.rubric.criteria.values() if c.looks_at == "examples"],
        modules=by_module(grades),
        items=item_analysis(grades),
        mistakes=mistakes(homework, run.rows),
        alike=[(list(group), class_statistics.shortest(group)) for group in groups if len(group) > 1],
        alone=sum(len(group) == 1 for group in groups),
        places=places,
        questions=class_statistics.questions(homework, (grade.guesses for grade in grades)),
        names=names,
        layers=[(names, [name for name in layers.available() if name not in names], n) for names, n in used.items()],
        versions=f"Python {platform.python_version()}, NumPy {np.__version__}",
    )


def rendered(template: str, **content: object) -> str:
    """Return a page from one of the templates; everything in `content` is escaped except Markup."""
    return _environment().get_template(template).render(**content)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        module=module_of,
        number=number,
        percent=lambda share: f"{100 * share:.0f}%",
        when=lambda seconds: datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
    return environment


def submissions_that_count(rows: Sequence[StudentRow]) -> list[Grade]:
    """Return the submissions that count for at least one student and have something to grade, each once."""
    counting = (row.grade for row in rows if row.grade and not (row.excused or row.withheld or row.grade.empty))
    return list({grade.key: grade for grade in counting}.values())


def final_scores(rows: Sequence[StudentRow]) -> list[float]:
    """Return the scores of the students whose submission counts, after late deductions and overrides."""
    return [row.score for row in rows if row.score is not None and row.grade and not row.grade.empty]


def mistakes(homework: Homework, rows: Sequence[StudentRow]) -> list[dict[str, Any]]:
    """Return the misconceptions that occurred, most frequent first; `rows` are the numbers of the rows."""
    rows_of: dict[str, list[int]] = {}
    for index, row in enumerate(rows):
        for name in {name for mark in row.grade.marks for name in mark.misconceptions} if row.grade else ():
            rows_of.setdefault(name, []).append(index)
    entries = []
    for name, indices in sorted(rows_of.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        mistake, function = homework.misconception(name), name.partition(".")[0]
        where = f"{function} in {mistake.module}.py" if mistake else function
        read = mistake.read.replace("`", "") if mistake else ""
        about = {"id": name, "place": where, "sentence": sentence(homework, name)}
        entries.append(about | {"read": read, "rows": indices})
    return entries


def sentence(homework: Homework, name: str) -> str:
    """Return the sentence of a misconception without Markdown; "" for an unknown one."""
    mistake = homework.misconception(name)
    sentences = mistake.sentence if mistake else " ".join(built_in(name.partition(".")[2])).strip()
    return sentences.replace("`", "")


def picture(
    grades: Sequence[Grade],
    names: Mapping[str, str],
    sentence: Callable[[str], str],
    places: Mapping[str, int] | None = None,
) -> dict[str, Any] | None:
    """Return the picture of a class: a column per submission, best first, a row per criterion, a cell for each loss.

    Cells of one kind form one path, so a class of 300 with 60 criteria takes a few kilobytes. `data` has the meaning of
    each cell, for the tooltip. `names` are the students by key; others are anonymous. `places` are the numbers of their
    rows, for links. None for an empty class.
    """
    if not grades:
        return None
    criteria = [mark.criterion for mark in grades[0].marks]
    columns = sorted(grades, key=lambda grade: (-grade.score, [mark.score for mark in grade.marks]))
    lines, cells, numbers = [], [], dict[str, int]()
    for marks in zip(*(grade.marks for grade in columns), strict=True):
        lines.append("".join(STATES[mark.cause or "manual"][0] if mark.lost else EARNED for mark in marks))
        named = {x: mark.misconceptions for x, mark in enumerate(marks) if mark.lost and mark.misconceptions}
        cells.append({x: [numbers.setdefault(name, len(numbers)) for name in ids] for x, ids in named.items()})
    data = {
        "names": [names.get(grade.key, "") for grade in columns],
        "rows": [(places or {}).get(grade.key) for grade in columns],
        "scores": [round(grade.score, 2) for grade in columns],
        "criteria": criteria,
        "lines": lines,
        "cells": cells,
        "mistakes": [sentence(name) or name for name in numbers],
        "states": {EARNED: "earned"} | {state: f"lost: {words}" for state, _, words in STATES.values()},
    }
    present = [entry for entry in STATES.values() if any(entry[0] in line for line in lines)]
    return {
        "width": len(columns),
        "height": len(criteria),
        "paths": [(style, words, _path(lines, state)) for state, style, words in present],
        "has_names": bool(names) and len(columns) <= NAMES,
        "groups": tuple(Counter(map(module_of, criteria)).items()),
        "data": data,
    }


def _path(lines: Sequence[str], state: str) -> str:
    """Return a rectangle for each run of one state in a row."""
    runs = [(run.start(), y, len(run[0])) for y, line in enumerate(lines) for run in re.finditer(f"[{state}]+", line)]
    return "".join(f"M{x} {y}h{width}v1h-{width}z" for x, y, width in runs)


# The numbers


def overview(scores: Sequence[float], most: float) -> dict[str, float] | None:
    """Return the totals of a class; None for an empty one."""
    if not scores:
        return None
    numbers = {"mean": fmean(scores), "median": median(scores), "lowest": min(scores), "highest": max(scores)}
    return numbers | {"full": sum(score >= most for score in scores), "most": most}


def histogram(scores: Sequence[float], most: float) -> dict[str, Any]:
    """Return the number of scores in each bar, full marks in the last; the width of a bar in points, and the labels of the axis."""
    most = most or 1.0
    width, step = _round_step(most, BINS), _round_step(most, TICKS)
    counts = [0] * ceil(most / width - 1e-9)
    for score in scores:
        counts[min(len(counts) - 1, int(score / width + 1e-9))] += 1
    return {"counts": counts, "width": width, "ticks": [step * n for n in range(int(most / step + 1e-9) + 1)]}


def _round_step(length: float, most: int) -> float:
    """Return the smallest of ..., 1, 2, 5, 10, 20, ... that covers a length in at most `most` steps."""
    steps = (digit * 10.0**power for power in range(-3, 9) for digit in (1, 2, 5))
    return next(step for step in steps if length / step <= most + 1e-9)


def verdict(discrimination: float | None, cases: int, rarer: int) -> str:
    """Return the discrimination in words, with Ebel's thresholds (Essentials of Educational Measurement, 1972).

    `rarer` is the number of cases that pass or that fail, whichever is smaller. If there is no correlation, the
    standard error is about 1 / sqrt(cases). A value within two of them may be chance.
    """
    if discrimination is None:
        return ""
    if rarer < FEW:
        return "too few to say"
    if abs(discrimination) <= 2 / sqrt(cases):
        return "may be chance"
    borders = ((0.4, "very good"), (0.3, "good"), (0.2, "fair"), (0.0, "weak"))
    return next((word for border, word in borders if discrimination >= border), "negative")


def item_analysis(grades: Sequence[Grade]) -> list[dict[str, Any]]:
    """Every criterion, in the order of the results, with the usual names for its difficulty.

    The discrimination is the point-biserial correlation of passing the criterion with the score of all others. It covers
    only the `cases` that earned points: students who submit nothing fail everything and would make every criterion look
    good. It is None if meaningless: fewer than five cases, all pass, all fail, or equal scores in the others.
    """
    borders = ((0.9, "very easy"), (0.75, "easy"), (0.45, "medium"), (0.25, "hard"), (0.0, "very hard"))
    working = np.array([grade.score > 0 for grade in grades])
    items = []
    for marks in zip(*(grade.marks for grade in grades), strict=True):
        passed = np.array([mark.score >= mark.max_score for mark in marks])
        rest_scores = np.array([grade.score - mark.score for grade, mark in zip(grades, marks, strict=True)])
        passing, rest, rate = passed[working], rest_scores[working], float(passed.mean())
        cases, rarer = len(passing), int(min(passing.sum(), (~passing).sum()))
        meaningful = cases >= FEW and rarer and np.ptp(rest)
        correlation = float(np.corrcoef(passing, rest)[0, 1]) if meaningful else None
        items.append({
            "criterion": marks[0].criterion,
            "points": marks[0].max_score,
            "rate": rate,
            "difficulty": next(word for border, word in borders if rate >= border),
            "cases": cases,
            "discrimination": correlation,
            "verdict": verdict(correlation, cases, rarer),
        })  # fmt: skip
    return items


def by_module(grades: Sequence[Grade]) -> list[dict[str, Any]]:
    """For each module: name, mean, population standard deviation and maximum of the points."""
    rows = []
    for module, (_, most) in grades[0].subtotals.items() if grades else ():
        points = [grade.subtotals[module][0] for grade in grades]
        rows.append({"module": module, "mean": fmean(points), "deviation": pstdev(points), "most": most})
    return rows
