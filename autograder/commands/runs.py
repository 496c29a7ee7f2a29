"""What is done with the folders of runs: `autograder compare`, `similar` and `learn`; and tables on standard output.

What they need is imported inside, for the start-up time of all other commands.
"""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.intake.text import printable

if TYPE_CHECKING:
    from autograder.cohort.compare_results import CriterionChange, ScoreChange

Folder = click.Path(path_type=Path)
SHOWN = 30  # lines that are printed; page and csv have all
FILE_WIDTH = 200  # columns where the output goes to a file, whose lines no terminal breaks


def print_table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    """Cells may hold anything; what a terminal could take for a command is left out."""
    table = Table(*head, box=None, pad_edge=False)
    for line in lines:
        table.add_row(*(Text(printable(cell)) for cell in line))
    Console(width=None if sys.stdout.isatty() else FILE_WIDTH).print(table)


@click.command()
@click.argument("old", type=Folder)
@click.argument("new", type=Folder)
def compare(old: Path, new: Path) -> None:
    """Who gains or loses what, by criterion, between two runs of `grade`."""
    from autograder.cohort import compare_results

    comparison = compare_results.compare_runs(old, new)
    totals = [change for change in comparison.changes if change.old != change.new]
    click.echo(
        f"{comparison.compared} students are in both runs; {len(comparison.changes)} differ, {len(totals)} in their total."
    )
    if comparison.criteria:
        click.echo("\nCriteria")
        print_table(("Criterion", "gain", "lose", "points"), map(_criterion_line, comparison.criteria))
    if totals:
        click.echo("\nStudents whose total differs")
        print_table(("Submission", "Student", "old", "new", "change", "by"), map(_student_line, totals[:SHOWN]))
    for keys, where in ((comparison.only_old, "first"), (comparison.only_new, "second")):
        if keys:
            more = f" and {len(keys) - SHOWN} more" if len(keys) > SHOWN else ""
            click.echo(f"\nOnly in the {where}: {', '.join(keys[:SHOWN])}{more}")
    click.echo(f"\nAll of it: {compare_results.write(comparison, old, new)}, and compare.csv beside it")


def _criterion_line(change: "CriterionChange") -> tuple[str, ...]:
    before, after = ("none" if points is None else f"{points:g}" for points in change.points)
    return change.name, str(change.gain), str(change.lose), f"{before} -> {after}" if change.rubric_changed else after


def _student_line(change: "ScoreChange") -> tuple[str, ...]:
    scores = ("no score" if total is None else f"{total:g}" for total in (change.old, change.new))
    return change.key, change.who, *scores, f"{change.difference:+g}" if change.difference else "0", change.where


@click.command()
@click.argument("out", type=Folder)
@click.option(
    "--least", type=click.IntRange(1, 100), default=60, show_default=True, help="percent of the shorter one's own code"
)
def similar(out: Path, least: int) -> None:
    """Which submissions of the run in OUT likely share code; OUT/similar.html shows it side by side."""
    from autograder.cohort import similar as similarity
    from autograder.cohort import store

    pairs, works = similarity.found(out, least / 100)
    names = store.names(out)
    similarity.write(out, pairs, works, names)
    lines = [
        (f"{pair.share:.0%}", names.get(pair.one) or pair.one, names.get(pair.other) or pair.other) for pair in pairs
    ]
    if lines:
        print_table(("Shared", "One", "Other"), lines[:SHOWN])
    number = "1 pair" if len(pairs) == 1 else f"{len(pairs)} pairs"
    click.echo(f"{number} among {len(works)} submissions likely share code; see {out / 'similar.html'}")


@click.command()
@click.argument("out", type=Folder, required=False)
@click.option(
    "--least", type=click.IntRange(1), default=2, show_default=True, help="submissions that a draft is made for"
)
@click.option(
    "--accept", type=Folder, help="put a draft that you have read and filled in into the catalogue of mistakes"
)
def learn(out: Path | None, least: int, accept: Path | None) -> None:
    """Write drafts of known mistakes, of what several submissions of the run in OUT have in common, to OUT/drafts."""
    if (out is None) == (accept is None):
        raise click.UsageError("give the OUT of a run, or --accept FILE")
    if accept is not None:
        from autograder.proof import learning

        click.echo(f"{learning.accept(accept)} has it now. What is next: autograder build, then autograder audit")
    if out is not None:
        from autograder.cohort import lessons, store
        from autograder.feedback.results import write_atomically
        from autograder.grading.grader import open_grader
        from autograder.proof import learning

        people = [student for who in store.students(out).values() for student in who]
        every = lessons.groups({key: grade.unexplained for key, grade in store.read_all(out).items()}, people)
        lines = []
        with open_grader() as grader:
            for draft in learning.drafts(grader, [group for group in every if len(group.keys) >= least]):
                function = draft.group.shortest.function
                where = "none: no function of theirs is wrong in this way alone"
                if draft.text:
                    where = str(out / "drafts" / f"{function}.{draft.name}.txt")
                    write_atomically(Path(where), draft.text)
                lines.append((str(len(draft.group.keys)), function, where))
        if lines:
            print_table(("Submissions", "Function", "Draft"), lines)
        said = "No known mistake explains" if lines else "Known mistakes explain all but single functions:"
        click.echo(f"{said} {len(lines)} ways to be wrong that {least} submissions or more have in common.")
