"""The audit's tables for a person, on the console."""

from collections.abc import Iterable, Iterator, Sequence

from autograder.homework import rubric as rubrics
from autograder.homework.rubric import INTEGRATION
from autograder.proof.audit import hides
from autograder.proof.rows import Row, shared

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


def _short(criterion: str) -> str:
    module, _, name = criterion.partition(".")
    return f"{name}, all modules together" if module == INTEGRATION else name


def mark(row: Row, criterion: str) -> str:
    """The letter for what a case made of a criterion; see MEANS."""
    graded = row.graded.get(criterion)
    if graded is None:
        return KEPT
    if graded.passed:
        return "+"
    if criterion not in row.case.criteria and hides(graded):
        return "H"
    if criterion not in row.case.criteria and _by_result(criterion):
        return "E"
    if set(row.case.mistakes) & set(graded.mistakes):
        return "N"
    return "S" if set(row.case.mistakes) & set(graded.undecided) and shared([graded]) else "x"


def _by_result(criterion: str) -> bool:
    found = rubrics.current().criteria[criterion]
    return found.looks_at == "examples" or found.module == INTEGRATION


def hidden(row: Row) -> list[str]:
    """What the mistake of a row hides, criterion by criterion."""
    found = {name: g for name, g in row.lost.items() if name not in row.case.criteria and hides(g)}
    return [
        f"{name} ({', '.join(m.id for m in g.unseen) or 'nothing runs, or nothing would show'})"
        for name, g in found.items()
    ]


def unnamed(rows: Iterable[Row]) -> Iterator[tuple[Row, str]]:
    """The mistakes that have no name of their own, with the ones that they cannot be told from."""
    for row in rows:
        if row.case.kind == "mistake" and not row.case.ids & row.named:
            yield row, ", ".join(sorted(row.undecided - row.case.ids)) or "nothing explains it"


def text(rows: Sequence[Row]) -> Iterator[str]:
    """The lines for the console."""
    yield "Each column is a criterion, by its number in the list above the table; each letter says what came of it:"
    yield from (f"  {letter}  {what}" for letter, what in MEANS.items())
    for module in rubrics.current().modules:
        for kind, head in HEADS.items():
            own = [row for row in rows if (row.case.module, row.case.kind) == (module, kind)]
            yield from _table(module, head, own) if own else ()
    yield "\ncorrect alternatives"
    for row in (row for row in rows if row.case.kind == "alternative"):
        yield f"  {row.case.name}: " + (", ".join(row.lost) or "nothing lost")
    yield from _summary(rows)


def _table(module: str, head: str, rows: Iterable[Row]) -> Iterator[str]:
    criteria = [c.id for name in (module, INTEGRATION) for c in rubrics.current().of(name)]
    yield f"\n{module}: {head}"
    yield "  " + ", ".join(f"{number} {_short(name)}" for number, name in enumerate(criteria, 1))
    yield "  " + "".join(f"{number:<3}" for number in range(1, len(criteria) + 1))
    yield from ("  " + "".join(f"{mark(row, name):<3}" for name in criteria) + row.case.name for row in rows)


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
