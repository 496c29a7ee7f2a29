"""The picture of a class: a column for each submission, best first, a line for each criterion, a cell for what was lost.

Cells of one kind are drawn as one path, so that a class of 300 with 60 criteria is some kilobytes, not a tag for each
cell. What a cell stands for travels as data, for the line that is shown when one points at it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.cohort.store import Grade


@dataclass(frozen=True)
class Picture:
    """In units of one cell. `groups` are the modules with the number of their criteria, from the top."""

    width: int
    height: int
    lost: str
    named: str
    groups: tuple[tuple[str, int], ...]
    data: Mapping[str, Any]


def picture(grades: Sequence[Grade], names: Mapping[str, str], sentence: Callable[[str], str]) -> Picture | None:
    """`names` are whose the submissions are, by key; those that are not in it stay unnamed. None for an empty class."""
    criteria = list(dict.fromkeys(mark.criterion for grade in grades for mark in grade.marks))
    columns = sorted(grades, key=lambda grade: (-grade.score, [grade.points.get(one, 0.0) for one in criteria]))
    if not columns or not criteria:
        return None
    marks = [{mark.criterion: mark for mark in grade.marks} for grade in columns]
    states, cells, mistakes = [], [], dict[str, int]()
    for criterion in criteria:
        line, found = "", {}
        for x, mine in enumerate(marks):
            mark = mine.get(criterion)
            missed = mark is not None and mark.score < mark.max_score
            line += "." if not missed else "#" if mark and mark.misconceptions else "x"
            if missed and mark and mark.misconceptions:
                found[x] = [mistakes.setdefault(one, len(mistakes)) for one in mark.misconceptions]
        states.append(line)
        cells.append(found)
    data = {
        "names": [names.get(grade.key, "") for grade in columns],
        "scores": [round(grade.score, 2) for grade in columns],
        "criteria": criteria,
        "lines": states,
        "cells": cells,
        "mistakes": [sentence(one) or one for one in mistakes],
    }
    return Picture(len(columns), len(criteria), _path(states, "x"), _path(states, "#"), _groups(criteria), data)


def _path(lines: Sequence[str], state: str) -> str:
    """Rectangles over the runs of one state in each line."""
    return "".join(f"M{x} {y}h{width}v1h-{width}z" for y, line in enumerate(lines) for x, width in _runs(line, state))


def _runs(line: str, state: str) -> Iterator[tuple[int, int]]:
    start = 0
    while (start := line.find(state, start)) >= 0:
        width = len(line[start:]) - len(line[start:].lstrip(state))
        yield start, width
        start += width


def _groups(criteria: Sequence[str]) -> tuple[tuple[str, int], ...]:
    counts: dict[str, int] = {}
    for criterion in criteria:
        module = criterion.partition(".")[0]
        counts[module] = counts.get(module, 0) + 1
    return tuple(counts.items())
