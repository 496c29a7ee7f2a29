"""The master notebook by sections, so that those of some modules can be taken out and the rest still works.

A section begins at a heading `## `, or at the `# BEGIN QUESTION` right before it, and is about the modules whose questions
stand in it. What stands before the first section stays in any case, and so does a section without a question. Within a
section a part begins at a heading `### `; one that needs what is left out goes, wherever it stands.
"""

import ast
import contextlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from autograder.faults import ArgumentsError

Cell = dict[str, Any]
BEGIN = "# BEGIN QUESTION"


@dataclass
class Part:
    """Cells that stay or go together."""

    cells: list[Cell] = field(default_factory=list)

    @property
    def questions(self) -> set[str]:
        return {_question(cell) for cell in self.cells} - {""}

    @property
    def used(self) -> set[str]:
        """Every name that the code reads, and every module that it imports."""
        found = set()
        for node in self._nodes():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found.add(node.id)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                found.update(_imported(node))
        return found

    @property
    def defined(self) -> set[str]:
        """Every name that the code gives a meaning."""
        found = set()
        for node in self._nodes():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                found.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)
        return found

    def _nodes(self) -> Iterator[ast.AST]:
        for cell in self.cells:
            lines = [line for line in source(cell).split("\n") if not line.lstrip().startswith(("%", "!"))]
            with contextlib.suppress(SyntaxError):  # a cell that is not Python reads no names
                yield from ast.walk(ast.parse("\n".join(lines))) if cell["cell_type"] == "code" else ()


def without(cells: list[Cell], left_out: Collection[str]) -> list[Cell]:
    """The cells of a notebook without the sections, and the parts of other sections, that need what is left out.

    Raises ArgumentsError for a section with questions of modules that stay and of modules that go.
    """
    introduction, *rest = split(cells, "## ")
    gone = [section for section in rest if _goes(section, left_out)]
    parts = [part for section in rest if section not in gone for part in split(section.cells, "### ")]
    while needy := [part for part in parts if _needs(part, [introduction, *parts], gone, left_out)]:
        gone += needy
        parts = [part for part in parts if part not in needy]
    return [cell for part in (introduction, *parts) for cell in part.cells]


def split(cells: list[Cell], heading: str) -> list[Part]:
    """The cells in groups, each but the first from a heading, or the question that begins with one, to the next."""
    parts = [Part()]
    for number, cell in enumerate(cells):
        begins = [cell, *cells[number + 1 : number + 2]] if _question(cell) else [cell]
        before = cells[number - 1] if number else None
        if _is_heading(begins[-1], heading) and not (before and _question(before)):
            parts.append(Part())
        parts[-1].cells.append(cell)
    return parts


def source(cell: Cell) -> str:
    """The text of a cell."""
    return "".join(cell["source"])


def _question(cell: Cell) -> str:
    """The name of the question that begins with this cell, "" if none does."""
    if cell["cell_type"] != "raw" or not source(cell).startswith(BEGIN):
        return ""
    return str((yaml.safe_load(source(cell).removeprefix(BEGIN)) or {}).get("name", ""))


def _is_heading(cell: Cell, heading: str) -> bool:
    return cell["cell_type"] == "markdown" and source(cell).startswith(heading)


def _goes(section: Part, left_out: Collection[str]) -> bool:
    goes = section.questions & set(left_out)
    if goes and goes != section.questions:
        title = next(source(cell).splitlines()[0] for cell in section.cells if _is_heading(cell, "## "))
        names = ", ".join(sorted(section.questions))
        raise ArgumentsError(
            f"the notebook's section {title!r} has the questions {names}; give each a heading ## of its own"
        )
    return bool(goes)


def _needs(part: Part, parts: list[Part], gone: list[Part], left_out: Collection[str]) -> bool:
    """Whether a part reads a module that is left out, or a name that only cells which are gone have defined."""
    if part.questions:
        return False
    here = {name for one in parts for name in one.defined}
    lost = {name for one in gone for name in one.defined} - here
    return bool(part.used & (lost | set(left_out)))


def _imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    return [(node.module or "").partition(".")[0]]
