"""report.html: a class on one self-contained page that needs no network.

The template escapes everything a student could have chosen (names, addresses, file names). The page's policy allows only its own
script and no connection. The anonymous version has no names, keys, remarks or table of students: it can be shown to the class.
"""

import base64
import hashlib
import platform
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from math import ceil, sqrt
from statistics import fmean, median, pstdev
from typing import Any

import jinja2
import numpy as np
from markupsafe import Markup

from autograder.feedback.text import number
from autograder.gradebook import class_statistics
from autograder.gradebook.rows import StudentRow
from autograder.gradebook.store import Grade
from autograder.homework import kit, rubric
from autograder.homework import library as known_mistakes
from autograder.sandbox import layers

TEMPLATES = kit.PACKAGE / "gradebook" / "templates"
BINS, TICKS = 25, 12  # maximum number of bars, and of axis steps, of the histogram
HARDEST = 3  # criteria named next to the picture


@dataclass(frozen=True)
class Run:
    """The contents of a report. `problems` are for the instructor; `kept` of the `graded` results are from an earlier run."""

    rows: Sequence[StudentRow]
    errors: Mapping[str, str]
    problems: Sequence[str]
    graded: int
    kept: int
    kit: str


def html(run: Run, anonymous: bool = False, pages: Sequence[str] = ()) -> str:
    """The page. `pages` are the names of the students' pages by row, for links."""
    script = (TEMPLATES / "report.js").read_text(encoding="utf-8")
    policy = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    style = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    content = _content(run, anonymous) | {"pages": pages or [""] * len(run.rows)}
    return rendered("report.html", script=Markup(script), style=Markup(style), policy=policy, **content)


def rendered(template: str, **content: object) -> str:
    """A page from one of the templates; everything in `content` is escaped except Markup."""
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
        number=number,
        when=lambda seconds: datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC"),
        percent=lambda share: f"{100 * share:.0f}%",
    )
    return environment


def _content(run: Run, anonymous: bool) -> dict[str, Any]:
    grades = submissions_that_count(run.rows)
    groups = class_statistics.groups(
        {grade.key: grade.unexplained for grade in grades}, [row.student for row in run.rows]
    )
    names = {} if anonymous else {grade.key: ", ".join(_names(run.rows, grade.key)) or grade.key for grade in grades}
    items = item_analysis(grades)
    titles = rubric.current().titles
    return {
        "anonymous": anonymous,
        "picture": picture(grades, names, lambda name: _described(name)[0], {} if anonymous else _places(run.rows)),
        "titles": titles,
        "title": rubric.current().title,
        "run": run,
        "grades": grades,
        "overview": overview(grades),
        "most": max((grade.max_score for grade in grades), default=0),
        "histogram": histogram(grades),
        "modules": [
            {
                "title": titles.get(scores["module"], scores["module"]),
                **scores,
                "criteria": [item for item in items if item.criterion.partition(".")[0] == scores["module"]],
            }
            for scores in by_module(grades)
        ],
        "hardest": sorted(items, key=lambda item: item.rate)[:HARDEST],
        "sections": any(row.section for row in run.rows),
        "mistakes": mistakes(run.rows),
        "alike": [(list(group), class_statistics.shortest(group)) for group in groups if len(group) > 1],
        "alone": sum(len(group) == 1 for group in groups),
        "places": _places(run.rows),
        "questions": class_statistics.questions(grade.guesses for grade in grades),
        "subtotals": [_subtotals(row.grade) for row in run.rows],
        "lost": [_lost(row.grade) for row in run.rows],
        "remarks": [row.remark for row in run.rows],
        "who": {key: ", ".join(_names(run.rows, key)) for key in run.errors},
        "layers": _layers(grades),
        "times": sorted(grade.graded_at for grade in grades),
        "versions": f"Python {platform.python_version()}, NumPy {np.__version__}",
    }


def submissions_that_count(rows: Sequence[StudentRow]) -> list[Grade]:
    """The submissions that count for at least one student, each once; without those with nothing to grade."""
    counting = (row.grade for row in rows if row.grade and not (row.excused or row.withheld or row.grade.empty))
    return list({grade.key: grade for grade in counting}.values())


def mistakes(rows: Sequence[StudentRow]) -> list[dict[str, Any]]:
    """The misconceptions that occurred, most frequent first."""
    rows_of: dict[str, list[int]] = {}
    for index, row in enumerate(rows):
        names = {name for mark in row.grade.marks for name in mark.misconceptions} if row.grade else set()
        for name in sorted(names):
            rows_of.setdefault(name, []).append(index)
    ranked = sorted(rows_of.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return [
        {
            "id": name,
            "place": _place(name),
            "sentence": _described(name)[0],
            "read": _described(name)[1],
            "rows": indices,
        }
        for name, indices in ranked
    ]


def _described(name: str) -> tuple[str, str]:
    """The sentence and the reading of a misconception, without Markdown; empty for an unknown one."""
    mistake = known_mistakes.find(name)
    return (mistake.sentence.replace("`", ""), mistake.read.replace("`", "")) if mistake is not None else ("", "")


def _place(name: str) -> str:
    """The function and the file of a misconception."""
    mistake = known_mistakes.find(name)
    return f"{name.partition('.')[0]} in {mistake.module}.py" if mistake is not None else name.partition(".")[0]


def _subtotals(grade: Grade | None) -> dict[str, tuple[float, float]]:
    """Points and maximum of each module."""
    subtotals: dict[str, tuple[float, float]] = {}
    for mark in grade.marks if grade else ():
        module = mark.criterion.partition(".")[0]
        score, most = subtotals.get(module, (0.0, 0.0))
        subtotals[module] = (score + mark.score, most + mark.max_score)
    return subtotals


def _lost(grade: Grade | None) -> list[tuple[str, list[tuple[str, str]]]]:
    """The lost criteria, with the ids and sentences of the named misconceptions."""
    missed = [mark for mark in grade.marks if mark.score < mark.max_score] if grade else []
    return [(mark.criterion, [(name, _described(name)[0]) for name in mark.misconceptions]) for mark in missed]


def _places(rows: Sequence[StudentRow]) -> dict[str, int]:
    """The number of the first row of each submission."""
    return {row.entry.key: at for at, row in reversed(list(enumerate(rows)))}


def _names(rows: Sequence[StudentRow], key: str) -> list[str]:
    """The students of a submission."""
    return [row.student.name for row in rows if row.entry.key == key and row.student.name]


def _layers(grades: Sequence[Grade]) -> list[tuple[tuple[str, ...], tuple[str, ...], int]]:
    """Each set of layers in use, what it lacks, and how many submissions were graded with it."""
    counts = Counter(grade.layers for grade in grades)
    possible = tuple(layers.available())
    return [(used, tuple(name for name in possible if name not in used), count) for used, count in counts.items()]


# The picture of a class

EARNED, LOST, NAMED, UNUSABLE = ".", "x", "#", "o"  # states of a criterion; the same as in report.js


def picture(
    grades: Sequence[Grade],
    names: Mapping[str, str],
    sentence: Callable[[str], str],
    places: Mapping[str, int] | None = None,
) -> dict[str, Any] | None:
    """The picture of a class: a column per submission, best first, a row per criterion, a cell for each loss.

    Cells of one kind are one path, in units of a cell, so a class of 300 with 60 criteria takes a few kilobytes. The meaning
    of each cell is data for the tooltip. `names` are the students by key; others are anonymous. `places` are the numbers of
    their rows, for links. None for an empty class.
    """
    criteria = list(dict.fromkeys(mark.criterion for grade in grades for mark in grade.marks))
    columns = sorted(grades, key=lambda grade: (-grade.score, [grade.points.get(name, 0.0) for name in criteria]))
    if not columns or not criteria:
        return None
    marks = [{mark.criterion: mark for mark in grade.marks} for grade in columns]
    states, cells, mistakes = [], [], dict[str, int]()
    for criterion in criteria:
        line, named = "", {}
        for x, (grade, marks_of) in enumerate(zip(columns, marks, strict=True)):
            mark = marks_of.get(criterion)
            if mark is None or mark.score >= mark.max_score:
                line += EARNED
            elif mark.misconceptions:
                line += NAMED
                named[x] = [mistakes.setdefault(mistake, len(mistakes)) for mistake in mark.misconceptions]
            else:
                line += UNUSABLE if criterion.partition(".")[0] in grade.unusable else LOST
        states.append(line)
        cells.append(named)
    data = {
        "names": [names.get(grade.key, "") for grade in columns],
        "rows": [(places or {}).get(grade.key) for grade in columns],
        "scores": [round(grade.score, 2) for grade in columns],
        "criteria": criteria,
        "lines": states,
        "cells": cells,
        "mistakes": [sentence(mistake) or mistake for mistake in mistakes],
    }
    return {
        "width": len(columns),
        "height": len(criteria),
        "lost": _path(states, LOST),
        "named": _path(states, NAMED),
        "unusable": _path(states, UNUSABLE),
        "groups": tuple(Counter(criterion.partition(".")[0] for criterion in criteria).items()),
        "data": data,
    }


def _path(lines: Sequence[str], state: str) -> str:
    """Rectangles for the runs of one state in each row."""
    return "".join(f"M{x} {y}h{width}v1h-{width}z" for y, line in enumerate(lines) for x, width in _runs(line, state))


def _runs(line: str, state: str) -> Iterator[tuple[int, int]]:
    start = 0
    while (start := line.find(state, start)) >= 0:
        width = len(line[start:]) - len(line[start:].lstrip(state))
        yield start, width
        start += width


# Item analysis: the numbers of report.html.

FEW = 5  # passing, and failing, submissions needed for a verdict on the discrimination


@dataclass(frozen=True)
class Item:
    """One criterion over the class. `discrimination` is the point-biserial correlation of passing it with the score of all other
    criteria, over the `cases` that earned anything: students who submit nothing fail everything, and would make every
    criterion look good. None if it is meaningless: fewer than five cases, all pass, all fail, or all others equal. `rarer` is
    the number of cases that pass, or that fail, whichever is smaller.
    """

    criterion: str
    name: str
    points: float
    passed: int
    of: int
    cases: int
    rarer: int
    discrimination: float | None

    @property
    def rate(self) -> float:
        return self.passed / self.of

    @property
    def difficulty(self) -> str:
        """In words, with the usual limits of item analysis."""
        borders = ((0.9, "very easy"), (0.75, "easy"), (0.45, "medium"), (0.25, "hard"))
        return next((word for border, word in borders if self.rate >= border), "very hard")

    @property
    def verdict(self) -> str:
        """The discrimination in words, with Ebel's limits (Essentials of Educational Measurement, 1972).

        Without any relation its standard error is about 1 / sqrt(cases): within two of them it may be chance.
        """
        if self.discrimination is None:
            return ""
        if self.rarer < FEW:
            return "too few to say"
        if abs(self.discrimination) <= 2 / sqrt(self.cases):
            return "may be chance"
        borders = ((0.4, "very good"), (0.3, "good"), (0.2, "fair"), (0.0, "weak"))
        return next((word for border, word in borders if self.discrimination >= border), "negative")


def overview(grades: Sequence[Grade]) -> dict[str, float] | None:
    """The totals of a class; None for an empty one."""
    if not grades:
        return None
    scores = [grade.score for grade in grades]
    return {
        "mean": fmean(scores),
        "median": median(scores),
        "lowest": min(scores),
        "highest": max(scores),
        "full": sum(grade.score >= grade.max_score for grade in grades),
    }


@dataclass(frozen=True)
class Histogram:
    """Bars of equal width in points from 0 to `end`, and the positions of the axis labels."""

    counts: tuple[int, ...]
    width: float
    ticks: tuple[float, ...]

    @property
    def end(self) -> float:
        return self.width * len(self.counts)

    def label(self, bar: int) -> str:
        return f"{number(self.width * bar)} to {number(self.width * (bar + 1))}"


def histogram(grades: Sequence[Grade]) -> Histogram:
    """The number of scores in each bar; full marks belong to the last, and every score counts once."""
    most = max((grade.max_score for grade in grades), default=0) or 1.0
    width, step = _round_step(most, BINS), _round_step(most, TICKS)
    counts = [0] * ceil(most / width - 1e-9)
    for grade in grades:
        counts[min(len(counts) - 1, max(0, int(grade.score / width + 1e-9)))] += 1
    return Histogram(tuple(counts), width, tuple(step * i for i in range(int(most / step + 1e-9) + 1)))


def _round_step(length: float, most: int) -> float:
    """The smallest of ..., 1, 2, 5, 10, 20, ... that covers a length in at most `most` steps."""
    steps = (digit * 10.0**power for power in range(-3, 9) for digit in (1, 2, 5))
    return next(step for step in steps if length / step <= most + 1e-9)


def item_analysis(grades: Sequence[Grade]) -> list[Item]:
    """Every criterion, in the order of the results."""
    criteria: dict[str, tuple[str, float]] = {}
    passed: dict[str, list[bool]] = {}
    pairs: dict[str, list[tuple[bool, float]]] = {}
    for grade in grades:
        for mark in grade.marks:
            criteria[mark.criterion] = (mark.name, mark.max_score)
            right = mark.score >= mark.max_score
            passed.setdefault(mark.criterion, []).append(right)
            if grade.score > 0:
                pairs.setdefault(mark.criterion, []).append((right, grade.score - mark.score))
    items = []
    for criterion, all_ in passed.items():
        cases = pairs.get(criterion, [])
        passing = sum(passes for passes, _ in cases)
        counts = (sum(all_), len(all_), len(cases), min(passing, len(cases) - passing))
        items.append(Item(criterion, *criteria[criterion], *counts, _correlation(cases)))
    return items


def by_module(grades: Sequence[Grade]) -> list[dict[str, Any]]:
    """For each module: name, mean, population standard deviation and maximum of the points."""
    scores, most = dict[str, list[float]](), dict[str, float]()
    for grade in grades:
        for module, (score, of) in _subtotals(grade).items():
            scores.setdefault(module, []).append(score)
            most[module] = of
    return [
        {"module": module, "mean": fmean(points), "deviation": pstdev(points), "most": most[module]}
        for module, points in scores.items()
    ]


def _correlation(pairs: Sequence[tuple[bool, float]]) -> float | None:
    if len(pairs) < FEW:
        return None
    passed, rest = np.array(pairs, dtype=float).T
    if np.ptp(passed) == 0 or np.ptp(rest) == 0:
        return None
    return float(np.corrcoef(passed, rest)[0, 1])
