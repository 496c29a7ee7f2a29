"""Tables, as HTML in a notebook and as text everywhere else."""

import html
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tour import reference_values
from tour.controls import CANNOT, Lazy, attempt, missing

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Table:
    """Rows of text below column headings; a row with a single entry is a remark on the row above it."""

    def __init__(self, rows: Sequence[tuple[str, ...]], heads: tuple[str, ...] = ()):
        self.rows, self.heads = list(rows), heads

    def __str__(self) -> str:
        entries = [self.heads, *self.rows] if self.heads else self.rows
        n = max(len(row) for row in entries)
        widths = [max(len(row[i]) for row in entries if len(row) == n) for i in range(n)]
        lines = []
        for row in entries:
            padded = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False))
            lines.append(padded.rstrip() if len(row) == n else f"    {row[0]}")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        n = max(len(row) for row in [self.heads, *self.rows])
        lines = ["<table>"]
        if any(self.heads):
            lines.append("<thead><tr>" + "".join(_cell(head, "th") for head in self.heads) + "</tr></thead>")
        lines.append("<tbody>")
        for row in self.rows:
            cells = "".join(map(_cell, row)) if len(row) == n else _cell(row[0], span=n)
            lines.append(f"<tr>{cells}</tr>")
        return "".join([*lines, "</tbody></table>"])


def _cell(text: str, tag: str = "td", span: int = 1) -> str:
    escaped = html.escape(text.strip())
    if span > 1:
        return f'<{tag} colspan="{span}" style="text-align:left;padding-left:3em"><em>{escaped}</em></{tag}>'
    marked = f"<b>{escaped}</b>" if text == "DIFFERS" else escaped
    return f'<{tag} style="text-align:left;vertical-align:top;max-width:34em;white-space:normal">{marked}</{tag}>'


def table(rows: Sequence[tuple[str, ...]], heads: tuple[str, ...] = ()) -> Table:
    """Rows of text in columns; a row with a single entry is a remark on the row above it."""
    return Table(rows, heads)


def compare(rows: Sequence[tuple[Any, ...]]) -> Table | str:
    """Printed numbers next to correct ones. A row: a name, the numbers as printed in a lecture, how to compute them, remarks.

    If one of your functions that take part is wrong, there is no verdict on the lecture.
    """
    results = [_by(experiment) for _, _, experiment, *_ in rows]
    lines: list[tuple[str, ...]] = []
    for (what, printed, _, *remarks), (result, by, wrong) in zip(rows, results, strict=True):
        verdict = "" if isinstance(result, str) else wrong or _verdict(printed.split(), np.ravel(result))
        lines.append((what, printed, _text(result), by, verdict))
        lines.extend((text,) for text in remarks if not wrong)
    heads = ("", "printed in the notes", "computed here", "by", "")
    return _nothing([result for result, *_ in results]) or Table(lines, heads)


def measure(experiments: Mapping[str, Callable[[], Any]]) -> Table | str:
    """Claims next to the results of your functions."""
    results = [_by(experiment) for experiment in experiments.values()]
    lines = [(claim, _text(result), by, wrong) for claim, (result, by, wrong) in zip(experiments, results, strict=True)]
    heads = ("", "measured", "by", "")
    if not any(wrong for *_, wrong in results):
        lines, heads = [line[:3] for line in lines], heads[:3]
    return _nothing([result for result, *_ in results]) or Table(lines, heads)


def _by(experiment: Callable[[], Any]) -> tuple[Any, str, str]:
    """Return a result, which of your functions it used, and which of those are wrong."""
    before = len(Lazy.called)
    result = attempt(experiment)
    functions = list(dict.fromkeys(Lazy.called[before:]))
    wrong = [] if isinstance(result, str) and missing(result) else reference_values.disagreeing(functions)
    return (
        result,
        f"your {_names(functions)}" if functions else "NumPy",
        f"your {_names(wrong)} is not right yet" if wrong else "",
    )


def _names(functions: Sequence[tuple[str, str]]) -> str:
    return ", ".join(name for _, name in functions)


def _nothing(results: Sequence[Any]) -> str:
    """Return the reason for the first missing result, if none of your functions gave one."""
    return results[0] if all(map(missing, results)) else ""


def _text(result: Any) -> str:
    return result.removeprefix(CANNOT) if isinstance(result, str) else numbers(result)


def _verdict(printed: list[str], yours: np.ndarray) -> str:
    units = [10.0 ** -len(number.partition(".")[2]) for number in printed]
    gaps = [abs(float(p) - y) / unit for p, y, unit in zip(printed, yours, units, strict=True)]
    return "same" if max(gaps) <= 0.501 else "rounding" if max(gaps) <= 1.501 else "DIFFERS"


def numbers(values: Any, digits: int = 4) -> str:
    """Return numbers on one line, as 2·10⁻¹⁶ if rounding would make them look like 0."""
    return " ".join(_number(value, digits) for value in np.ravel(values))


def short(value: float, digits: int = 3) -> str:
    """Return a number with few digits, in pictures and tables: 0.01, 4096, 10⁻⁸ or 2.5·10⁻⁸."""
    factor, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:g}" if abs(value) >= 1000 else f"{float(f'{value:.{digits}g}'):g}"
    power = "10" + str(int(exponent)).translate(RAISED)
    return power if float(factor) == 1 else f"{float(factor):g}·{power}"


def _number(value: float, digits: int) -> str:
    if value != 0 and abs(value) < 0.5 * 10**-digits:
        return short(value, 1)
    return f"{round(float(value), digits) + 0.0:.{digits}f}"
