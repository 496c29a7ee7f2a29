"""Tables on standard output."""

import sys
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.intake.text import printable

FILE_WIDTH = 200  # columns where the output goes to a file, whose lines no terminal breaks


def print_table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    """Cells may hold anything; what a terminal could take for a command is left out."""
    table = Table(*head, box=None, pad_edge=False)
    for line in lines:
        table.add_row(*(Text(printable(cell)) for cell in line))
    Console(width=None if sys.stdout.isatty() else FILE_WIDTH).print(table)
