"""`autograder audit`: is the grading right? What must hold stands in proof/, what is printed here."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

from autograder.commands.ending import FAULT


@click.command()
@click.option("--jobs", type=click.IntRange(1), help="processes at a time; as many as there are cores unless given")
@click.option("--only", default="", help="modules, separated by commas: their mistakes, and all alternatives")
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="write the tables as a page")
@click.option(
    "--tolerances", is_flag=True, help="show for each check how far right and wrong solutions are from the value"
)
@click.option("--pairs", is_flag=True, help="every two mistakes of one function instead (some minutes)")
@click.option(
    "--public",
    is_flag=True,
    help="which mistakes the public checks see and name, and the docstrings' examples see, instead",
)
@click.option("--mutants", is_flag=True, help="machine-made mistakes in the references instead")
@click.option("--blind-spots", is_flag=True, help="which classes of inputs no graded call is in instead")
@click.option("--part", is_flag=True, help="with --pairs or --blind-spots: a fixed part of them")
@click.option("--messages", type=click.IntRange(1), help="print so many messages to students, chosen at random")
def audit(
    jobs: int | None,
    only: str,
    html: Path | None,
    tolerances: bool,
    pairs: bool,
    public: bool,
    mutants: bool,
    blind_spots: bool,
    part: bool,
    messages: int | None,
) -> None:
    """Prove the grading: every known mistake, code that computes nothing, and every correct alternative on every criterion."""
    from autograder.cohort import worker

    chosen = modules(only)
    worker.check()
    if mutants or blind_spots:
        sys.exit(_machine_made(mutants, jobs, part))
    if messages:
        _messages(messages, chosen)
    elif public:
        _public(chosen, jobs)
    elif pairs:
        _pairs(chosen, jobs, part)
    else:
        _everything(chosen, jobs, html, tolerances)


def modules(names: str) -> list[str]:
    """Modules of the rubric, from a list with commas."""
    from autograder.homework.rubric import current

    found = [name.strip() for name in names.split(",") if name.strip()]
    for name in found:
        if name not in current().modules:
            raise click.BadParameter(f"there is no module {name!r}; known: {', '.join(current().modules)}")
    return found


def _machine_made(mutants: bool, jobs: int | None, part: bool) -> int:
    from autograder.proof import blind_spots, mutation

    return mutation.report(jobs) if mutants else blind_spots.report()


def _messages(count: int, only: Sequence[str]) -> None:
    from autograder.proof import messages

    for line in messages.some(count, only):
        click.echo(line)


def _public(only: Sequence[str], jobs: int | None) -> None:
    from autograder.proof import public

    for line in public.lines(public.run(only, jobs)):
        click.echo(line)


def _pairs(only: Sequence[str], jobs: int | None, part: bool) -> None:
    from autograder.proof import cases, pairs

    chosen = list(cases.pairs(only))
    if part:
        chosen = cases.sample(chosen, pairs.IN_PART)
    tried = list(_progress(pairs.run(chosen, jobs), len(chosen)))
    for line in pairs.lines(tried):
        click.echo(line)
    _end(pairs.problems(tried))


def _everything(only: Sequence[str], jobs: int | None, html: Path | None, tolerances: bool) -> None:
    from autograder.proof import audit as audits
    from autograder.proof import cases, margins, pages

    chosen = cases.cases(only)
    rows = list(_progress(audits.run(chosen, jobs), len(chosen)))
    for line in pages.text(rows):
        click.echo(line)
    found = audits.problems(rows, only)
    spread = margins.margins(rows) if cases.alternatives() else []  # without right solutions there is no spread
    if tolerances:
        _tolerances(spread)
    found += [f"{m.check.module}, {m.check.test}: correct solutions use up the tolerance" for m in spread if not m.good]
    found += [f"{name} is nowhere ten times as far off as is tolerated" for name in margins.unclear(rows)]
    if html:
        pages.write(rows, found, html)
    _end(found)


def _end(problems: list[str]) -> None:
    for problem in problems:
        click.echo(f"PROBLEM {problem}")
    click.echo(f"{len(problems)} problems." if problems else "No problems.")
    sys.exit(FAULT if problems else 0)


def _progress(found: Iterable[Any], total: int) -> Iterable[Any]:
    console = Console(stderr=True)
    return track(found, "auditing", total, console=console, disable=not console.is_terminal)


def _tolerances(margins: Iterable[Any]) -> None:
    table = Table("check", "dtype", "right, at most", "tolerance", "wrong, at least", box=None)
    for margin in margins:
        check, wrong = margin.check, "none is wrong" if margin.wrong == float("inf") else f"{margin.wrong:.1e}"
        name = f"{check.module} {check.test} #{check.number}"
        table.add_row(name, check.dtype, f"{margin.right:.1e}", f"{check.allowed:.0e}", wrong)
    Console(width=160).print(table)
