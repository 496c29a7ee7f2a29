"""`autograder compare`: two runs of `grade` side by side."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from autograder.commands.tables import print_table

if TYPE_CHECKING:  # not imported when the command line starts
    from autograder.cohort.compare_results import Comparison, CriterionChange, ScoreChange

Folder = click.Path(path_type=Path)


@click.command()
@click.argument("old", type=Folder)
@click.argument("new", type=Folder)
def compare(old: Path, new: Path) -> None:
    """Who gains or loses what, by criterion, between two runs of `grade`."""
    # Imported here for the start-up time of all other commands.
    from autograder.cohort import compare_results

    _show(compare_results.compare_runs(old, new))


def _show(found: "Comparison") -> None:
    totals = sum(change.difference != 0 for change in found.changes)
    click.echo(f"{found.compared} submissions are in both runs; {len(found.changes)} differ, {totals} in their total.")
    if found.criteria:
        click.echo("\nCriteria")
        print_table(("Criterion", "gain", "lose", "points"), map(_criterion_line, found.criteria))
    if found.changes:
        click.echo("\nStudents")
        print_table(("Submission", "Student", "old", "new", "change", "in"), map(_student_line, found.changes))
    for keys, where in ((found.only_old, "first"), (found.only_new, "second")):
        if keys:
            click.echo(f"\nOnly in the {where}: {', '.join(keys)}")


def _criterion_line(one: "CriterionChange") -> tuple[str, ...]:
    before, after = ("none" if points is None else f"{points:g}" for points in one.points)
    return one.name, str(one.gain), str(one.lose), f"{before} -> {after}" if one.rubric_changed else after


def _student_line(change: "ScoreChange") -> tuple[str, ...]:
    where = ", ".join(f"{name} {difference:+g}" for name, difference in change.criteria.items())
    scores = (f"{change.old:g}", f"{change.new:g}", f"{change.difference:+g}" if change.difference else "0")
    return change.key, change.who, *scores, where
