"""The map of the source notes: seeds.yaml lists where the homework grades or shows each of their topics.

`python -m autograder.docs.seeds` writes the pages in docs/reference/source-notes/ from it. Every place is looked up: a
criterion in rubric.yaml, a public check, words in a section of the notebook, a docstring, or a question of the concept check.
"""

import ast
import functools
import itertools
import json
from collections.abc import Mapping
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field

from autograder.homework.homework import Homework

HOMEWORK = Homework()

FOLDER = Path(__file__).parent / "reference" / "source-notes"
DATA, ERRATA = FOLDER / "seeds.yaml", FOLDER / "errata.yaml"
NOTEBOOK = "transformer.ipynb"
QUESTIONS = "concept_check"

INDEX = "index.md"
HEAD = """# Source notes: where each topic is covered

The homework is made from five lecture notes, S0 to S4. Every system, formula, example, demonstration and claim in them has a
row on one of these pages, {rows} in all. {graded} are graded by a criterion of `rubric.yaml` or tried by a public check. The
others are in the notebook or a docstring. {corrected} rows are wrong in the notes, and the homework teaches the corrected
version. Others are qualified (true under a condition) or open (no program here can decide them).

| page | rows |
|---|---|
{pages}
| [Errata](errata.md) | {errata} |

`python -m autograder.docs.seeds` writes these pages from `seeds.yaml` and `errata.yaml`. A test fails if a place no longer exists
or a page is out of date.
"""


class Place(BaseModel):
    """One of five kinds; for the notebook, words that occur in the section."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    criterion: str = ""
    check: str = ""
    notebook: str = ""
    says: str = ""
    docstring: str = ""
    question: str = ""

    def __str__(self) -> str:
        if self.notebook:
            return f"notebook: {self.notebook}"
        kind, value = next((kind, value) for kind, value in self if value)
        return f"{kind} `{value}`"


class Row(BaseModel):
    """A topic, its places, and the errata that correct or qualify it."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    what: str = Field(alias="is", min_length=1)
    at: tuple[Place, ...] = Field(min_length=1)
    errata: tuple[str, ...] = ()

    @property
    def graded(self) -> bool:
        return any(place.criterion or place.check or place.question for place in self.at)


def rows(path: Path = DATA) -> dict[str, Row]:
    """The rows by id, in the order of the file.

    Raises pydantic.ValidationError, or ValueError for a duplicate id.
    """
    text = path.read_text(encoding="utf-8")
    found = {str(row_id): Row.model_validate(row) for row_id, row in yaml.safe_load(text).items()}
    if len(found) != sum(line[:1] not in ("", " ", "#") for line in text.splitlines()):
        raise ValueError(f"{path}: an id appears twice")
    return found


def errata(path: Path = ERRATA) -> dict[str, dict[str, str]]:
    """The errata by id: a verdict (corrected, qualified or open) and one line."""
    found: dict[str, dict[str, str]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def pages(found: Mapping[str, Row], wrong: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The pages in Markdown by file name: an overview, a page for each note, and the errata."""
    graded = sum(row.graded for row in found.values())
    corrected = sum(any("corrected" in wrong[erratum] for erratum in row.errata) for row in found.values())
    notes = {note: list(ids) for note, ids in itertools.groupby(found, lambda row_id: row_id.partition("-")[0])}
    overview = HEAD.format(
        rows=len(found),
        graded=graded,
        corrected=corrected,
        errata=len(wrong),
        pages="\n".join(f"| [{note}]({note.lower()}.md) | {len(ids)} |" for note, ids in notes.items()),
    )
    written = {INDEX: overview}
    for note, ids in notes.items():
        lines = [f"# Source note {note}", "", "| row | what it is | where | errata |", "|---|---|---|---|"]
        for row_id in ids:
            row = found[row_id]
            where = "; ".join(dict.fromkeys(map(str, row.at)))
            marks = ", ".join(f"{verdict} {erratum}" for erratum in row.errata for verdict in wrong[erratum])
            lines.append(f"| {row_id} | {_cell(row.what)} | {_cell(where)} | {marks} |")
        written[f"{note.lower()}.md"] = "\n".join(lines) + "\n"
    lines = ["# Errata of the source notes", "", "| erratum | verdict | text |", "|---|---|---|"]
    entries = [(erratum, *entry) for erratum, verdicts in wrong.items() for entry in verdicts.items()]
    lines += [f"| {erratum} | {verdict} | {_cell(text)} |" for erratum, verdict, text in entries]
    return written | {"errata.md": "\n".join(lines) + "\n"}


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def missing(found: Mapping[str, Row], solutions: Path | None = None) -> list[str]:
    """Every place that does not exist, one line each."""
    library = Library(solutions or HOMEWORK.solutions)
    return [
        f"{row_id}: {problem}"
        for row_id, row in found.items()
        for place in row.at
        for problem in library.problems(place)
    ]


class Library:
    """All places that can be referenced."""

    def __init__(self, solutions: Path):
        self.solutions = solutions
        self.criteria = {criterion.id for group in HOMEWORK.rubric.groups for criterion in HOMEWORK.rubric.of(group)}
        self.sections = _sections(solutions / NOTEBOOK)

    def problems(self, place: Place) -> list[str]:
        """Why a place cannot be found; empty if it can."""
        if sum(map(bool, (place.criterion, place.check, place.notebook, place.docstring, place.question))) != 1:
            return [f"a place must be one thing: {place!r}"]
        if place.notebook:
            return self._in_notebook(place.notebook, place.says)
        if place.criterion:
            return [] if place.criterion in self.criteria else [f"rubric.yaml has no criterion {place.criterion}"]
        if place.check:
            file, _, test = place.check.partition("::")
            there = test in _docstrings(self.solutions / "checks" / file)
            return [] if there else [f"there is no public check {place.check}"]
        if place.docstring:
            module, _, function = place.docstring.partition(".")
            there = bool(_docstrings(self.solutions / f"{module}.py").get(function))
            return [] if there else [f"there is no docstring of {place.docstring}"]
        questions = _docstrings(self.solutions / f"{QUESTIONS}.py").get("", "")
        there = f"\n{place.question}. " in questions and f"{QUESTIONS}.{place.question}" in self.criteria
        return [] if there else [f"there is no question {place.question}"]

    def _in_notebook(self, heading: str, words: str) -> list[str]:
        if heading not in self.sections:
            return [f"the notebook has no section {heading!r}"]
        if not words or words not in self.sections[heading]:
            return [f"the section {heading!r} does not say {words!r}"]
        return []


def _sections(notebook: Path) -> dict[str, str]:
    """The text of each section of a notebook, in one line, by its heading up to a colon; strings in code as if in one line."""
    sections: dict[str, str] = {}
    heading = ""
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown" and text.startswith("#"):
            heading = text.partition("\n")[0].lstrip("# ").partition(":")[0]
        sections[heading] = " ".join(f"{sections.get(heading, '')} {text}".split()).replace('" "', "")
    return sections


@functools.cache
def _docstrings(path: Path) -> dict[str, str]:
    """The docstring of a file, under "", and of its functions, by name; empty ones also."""
    if not path.is_file():
        return {}
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {"": ast.get_docstring(tree) or ""} | {node.name: ast.get_docstring(node) or "" for node in functions}


def main() -> None:
    """Write the pages, or print the places that do not exist and exit with 1."""
    found = rows()
    problems = missing(found)
    if problems:
        raise SystemExit("\n".join(problems))
    for name, text in pages(found, errata()).items():
        (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
