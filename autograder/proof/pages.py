"""The audit's tables for a person: on the console, and as a page."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.homework import rubric as rubrics
from autograder.homework.rubric import INTEGRATION
from autograder.proof.audit import hides
from autograder.proof.rows import Row, Verdict

KEPT = "-"
MEANS = {
    "N": "lost, and the student is told this mistake by name",
    "S": "lost, and the student is told the sentence that it shares with mistakes which do the same",
    "H": "lost, since beside this mistake it cannot be seen whether the criterion is met (or nothing runs, or too little is right)",
    "E": "lost: a worked example shows it, or all modules together",
    "x": "lost without a name",
    "+": "earned in spite of wrong values, which come from this mistake and are charged elsewhere",
    KEPT: "earned; no value is wrong",
}
HEADS = {"mistake": "known mistake", "nothing": "code that computes nothing"}


@dataclass(frozen=True)
class Block:
    """The rows of one module: its criteria by short name, and a mark for each row and criterion."""

    module: str
    kind: str
    criteria: tuple[str, ...]
    rows: tuple[tuple[Row, tuple[str, ...]], ...]


def blocks(rows: Iterable[Row]) -> list[Block]:
    """A table for each module and kind of case, in the order of the rubric."""
    every, rubric = list(rows), rubrics.current()
    found = []
    for module in rubric.modules:
        criteria = [c.id for c in (*rubric.of(module), *rubric.of(INTEGRATION))]
        for kind, head in HEADS.items():
            own = [row for row in every if (row.case.module, row.case.kind) == (module, kind)]
            marked = tuple((row, tuple(mark(row, name) for name in criteria)) for row in own)
            if own:
                found.append(Block(module, head, tuple(map(_short, criteria)), marked))
    return found


def _short(criterion: str) -> str:
    module, _, name = criterion.partition(".")
    return f"{name}, all modules together" if module == INTEGRATION else name


def mark(row: Row, criterion: str) -> str:
    """The letter for what a case made of a criterion; see MEANS."""
    verdict = row.verdicts.get(criterion)
    if verdict is None:
        return KEPT
    if verdict.passed:
        return "+"
    if criterion not in row.case.criteria and hides(verdict):
        return "H"
    if criterion not in row.case.criteria and _by_result(criterion):
        return "E"
    return _of_name(row, verdict)


def _by_result(criterion: str) -> bool:
    found = rubrics.current().criteria[criterion]
    return found.looks_at == "examples" or found.module == INTEGRATION


def _of_name(row: Row, verdict: Verdict) -> str:
    if row.case.ids & set(verdict.named):
        return "N"
    return "S" if row.case.ids & set(verdict.undecided) and verdict.shared else "x"


def hidden(row: Row) -> list[str]:
    """What the mistake of a row hides, criterion by criterion."""
    found = {name: v for name, v in row.lost.items() if name not in row.case.criteria and hides(v)}
    return [f"{name} ({', '.join(v.unseen) or 'nothing runs, or nothing would show'})" for name, v in found.items()]


def unnamed(rows: Iterable[Row]) -> Iterator[tuple[Row, str]]:
    """The mistakes that have no name of their own, with the ones that they cannot be told from."""
    for row in rows:
        if row.case.kind == "mistake" and not row.case.ids & row.named:
            yield row, ", ".join(sorted(row.undecided - row.case.ids)) or "nothing explains it"


def text(rows: Sequence[Row]) -> Iterator[str]:
    """The lines for the console."""
    yield "Each column is a criterion, by its number in the list above the table; each letter says what came of it:"
    yield from (f"  {letter}  {what}" for letter, what in MEANS.items())
    for block in blocks(rows):
        yield f"\n{block.module}: {block.kind}"
        yield "  " + ", ".join(f"{number} {name}" for number, name in enumerate(block.criteria, 1))
        yield "  " + "".join(f"{number:<3}" for number in range(1, len(block.criteria) + 1))
        yield from ("  " + "".join(f"{letter:<3}" for letter in marks) + row.case.name for row, marks in block.rows)
    yield "\ncorrect alternatives"
    for row in (row for row in rows if row.case.kind == "alternative"):
        yield f"  {row.case.name}: " + (", ".join(row.lost) or "nothing lost")
    yield from _summary(rows)


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    yield "\nwhat mistakes hide, so that it is lost with them"
    yield from (
        f"  {row.case.name}: {'; '.join(found)}"
        for row in rows
        if row.case.kind == "mistake" and (found := hidden(row))
    )
    yield "\nmistakes without a name of their own, and those that they cannot be told from"
    yield from (f"  {row.case.name}: {others}" for row, others in unnamed(rows))
    written = [row for row in rows if row.case.kind == "mistake"]
    named = sum(bool(row.case.ids & row.named) for row in written)
    yield f"\n{named} of {len(written)} known mistakes are named as themselves."


def write(rows: Sequence[Row], problems: Sequence[str], path: Path) -> None:
    """Write the tables as a page that needs no other file."""
    from jinja2 import Environment, PackageLoader

    page = Environment(loader=PackageLoader("autograder", "proof/templates"), autoescape=True).get_template(
        "audit.html"
    )
    alternatives = [row for row in rows if row.case.kind == "alternative"]
    filled = page.render(
        means=MEANS,
        blocks=blocks(rows),
        alternatives=alternatives,
        problems=problems,
        hidden=hidden,
        unnamed=list(unnamed(rows)),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(filled, encoding="utf-8")
