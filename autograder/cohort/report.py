"""report.html: a class on one page, which needs no network and holds everything in itself.

Whatever a student could have chosen (names, addresses, file names) is escaped by the template. The page's
policy allows no script but its own and no connection at all. The anonymous form holds no name, no key and no
remark, and no table of students: it can be shown to the class.
"""

import base64
import hashlib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import jinja2
import numpy as np
from markupsafe import Markup

from autograder.cohort import class_picture, item_analysis
from autograder.cohort.item_analysis import Item, ModuleScores
from autograder.cohort.rows import StudentRow
from autograder.cohort.store import Grade
from autograder.feedback.results import number
from autograder.homework import inlined as known_mistakes
from autograder.homework import kit, rubric
from autograder.homework.rubric import INTEGRATION
from autograder.sandbox import layers

TEMPLATES = kit.PACKAGE / "cohort" / "templates"
BINS = 20
HARDEST = 3  # criteria that are named beside the picture


@dataclass(frozen=True)
class Run:
    """What a report is about. `problems` are to be looked at; of `graded` submissions `kept` were not new."""

    rows: Sequence[StudentRow]
    faults: Mapping[str, str]
    problems: Sequence[str]
    graded: int
    kept: int
    kit: str


@dataclass(frozen=True)
class MistakeRow:
    """A misconception that occurred, and the numbers of the rows where it did."""

    id: str
    sentence: str
    read: str
    rows: tuple[int, ...]


@dataclass(frozen=True)
class ModulePart:
    """A module in the section on criteria."""

    title: str
    scores: ModuleScores
    items: Sequence[Item]


@dataclass(frozen=True)
class HistogramBar:
    """One bar of the histogram, in the units of its picture."""

    x: float
    height: float
    count: int
    label: str


def html(run: Run, anonymous: bool = False) -> str:
    """The page."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(number=number, when=_when, percent=lambda share: f"{100 * share:.0f}%")
    script = (TEMPLATES / "report.js").read_text(encoding="utf-8")
    policy = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    style = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    page = environment.get_template("report.html")
    return page.render(script=Markup(script), style=Markup(style), policy=policy, **_content(run, anonymous))


def _content(run: Run, anonymous: bool) -> dict[str, Any]:
    grades = submissions_that_count(run.rows)
    names = {} if anonymous else {grade.key: ", ".join(_names(run.rows, grade.key)) or grade.key for grade in grades}
    return {
        "anonymous": anonymous,
        "picture": class_picture.picture(grades, names, lambda name: _described(name)[0]),
        "titles": _titles(),
        "title": rubric.current().title,
        "run": run,
        "grades": grades,
        "overview": item_analysis.overview(grades),
        "most": max((grade.max_score for grade in grades), default=0),
        "bars": _bars(grades),
        "modules": _modules(grades),
        "hardest": sorted(item_analysis.items(grades), key=lambda item: item.rate)[:HARDEST],
        "sections": any(row.section for row in run.rows),
        "mistakes": mistakes(run.rows),
        "subtotals": [_subtotals(row.grade) for row in run.rows],
        "lost": [_lost(row.grade) for row in run.rows],
        "remarks": [row.remark for row in run.rows],
        "who": {key: ", ".join(_names(run.rows, key)) for key in run.faults},
        "layers": _layers(grades),
        "times": sorted(grade.graded_at for grade in grades),
        "versions": f"Python {platform.python_version()}, NumPy {np.__version__}",
    }


def submissions_that_count(rows: Sequence[StudentRow]) -> list[Grade]:
    """The submissions that count for somebody, each once."""
    return list({row.grade.key: row.grade for row in rows if row.grade}.values())


def _bars(grades: Sequence[Grade]) -> list[HistogramBar]:
    counts = item_analysis.histogram(grades, BINS)
    most = max(grades[0].max_score if grades else 0, 1)
    tallest = max(*counts, 1)
    edges = [f"{number(most * i / BINS)}" for i in range(BINS + 1)]
    return [
        HistogramBar(i / BINS, count / tallest, count, f"{edges[i]} to {edges[i + 1]}")
        for i, count in enumerate(counts)
    ]


def _modules(grades: Sequence[Grade]) -> list[ModulePart]:
    items = item_analysis.items(grades)
    titles = _titles()
    return [
        ModulePart(
            titles.get(scores.module, scores.module),
            scores,
            [item for item in items if item.criterion.partition(".")[0] == scores.module],
        )
        for scores in item_analysis.by_module(grades)
    ]


def _titles() -> dict[str, str]:
    """What modules are called, by name."""
    return {name: module.title for name, module in rubric.current().modules.items()} | {INTEGRATION: "The whole model"}


def mistakes(rows: Sequence[StudentRow]) -> list[MistakeRow]:
    """The misconceptions that occurred, the most frequent first."""
    found: dict[str, list[int]] = {}
    for index, row in enumerate(rows):
        names = {name for mark in row.grade.marks for name in mark.misconceptions} if row.grade else set()
        for name in sorted(names):
            found.setdefault(name, []).append(index)
    ranked = sorted(found.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return [MistakeRow(name, *_described(name), tuple(indices)) for name, indices in ranked]


def _described(name: str) -> tuple[str, str]:
    """The sentence and the reading of a misconception, without Markdown; empty for one that is not known today."""
    known = known_mistakes.find(name)
    return (known.sentence.replace("`", ""), known.read.replace("`", "")) if known is not None else ("", "")


def _subtotals(grade: Grade | None) -> dict[str, tuple[float, float]]:
    """Points and maximum of each module."""
    found: dict[str, tuple[float, float]] = {}
    for mark in grade.marks if grade else ():
        module = mark.criterion.partition(".")[0]
        score, most = found.get(module, (0.0, 0.0))
        found[module] = (score + mark.score, most + mark.max_score)
    return found


def _lost(grade: Grade | None) -> list[tuple[str, str]]:
    """The criteria that were missed, with the name of the mistake where there is one."""
    missed = [mark for mark in grade.marks if mark.score < mark.max_score] if grade else []
    return [(mark.criterion, ", ".join(mark.misconceptions)) for mark in missed]


def _names(rows: Sequence[StudentRow], key: str) -> list[str]:
    """Whose submission it is."""
    return [row.student.name for row in rows if row.entry.key == key and row.student.name]


def _layers(grades: Sequence[Grade]) -> list[tuple[tuple[str, ...], tuple[str, ...], int]]:
    """Each set of layers in use, what it lacks, and how many submissions were graded under it."""
    counts: dict[tuple[str, ...], int] = {}
    for grade in grades:
        counts[grade.layers] = counts.get(grade.layers, 0) + 1
    known = tuple(layers.available())
    return [(used, tuple(name for name in known if name not in used), count) for used, count in counts.items()]


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
