"""A csv that an instructor gives: read with its line numbers, refused with the place."""

import csv
from collections.abc import Iterator
from pathlib import Path

from autograder.faults import ArgumentsError

LARGEST = 2**24  # bytes of a table that is read


def lines(path: Path, needed: tuple[str, ...]) -> Iterator[tuple[str, dict[str, str]]]:
    """Each line with its place ("file.csv:7"), cells by header in lower case, blank lines left out.

    Raises ArgumentsError for a file that cannot be read or lacks a column of `needed`.
    """
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST).decode("utf-8-sig")
        rows = list(csv.reader(text.splitlines(keepends=True)))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ArgumentsError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    absent = [name for name in needed if name not in header]
    if absent:
        raise ArgumentsError(f"{path}:1: there is no column {absent[0]!r}; needed are {', '.join(needed)}")
    for number, row in enumerate(rows[1:], 2):
        if any(cell.strip() for cell in row):
            yield f"{path}:{number}", {name: cell.strip() for name, cell in zip(header, row, strict=False)}
