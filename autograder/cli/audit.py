"""`autograder audit`: is the grading right? The checks are in `autograder.audit`; this module prints them."""

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

from autograder.cli.exit_codes import FAILED

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.option("--jobs", type=click.IntRange(1), help="number of worker processes (default: one per core)")
@click.option(
    "--only",
    default="",
    help="comma-separated modules (their misconceptions and all alternatives), functions or misconception ids",
)
@click.option(
    "--tolerances", is_flag=True, help="show how far correct and wrong solutions are from each expected value"
)
@click.option("--pairs", is_flag=True, help="audit every pair of misconceptions of a function instead (half an hour)")
@click.option("--rows", type=FILE, help="write the outcome of each case as JSON, for --against")
@click.option("--against", type=FILE, help="print only the outcomes that differ from a file written by --rows")
@click.option(
    "--public",
    is_flag=True,
    help="report which misconceptions the public checks and docstring examples detect instead",
)
@click.option("--mutants", is_flag=True, help="audit generated mutants of the reference solutions instead")
@click.option("--ablate", is_flag=True, help="report what each rule of the grading contributes instead (an hour)")
@click.option(
    "--modules",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    multiple=True,
    help="with --ablate: also grade MODULE/*.py in this folder",
)
def audit(
    jobs: int | None,
    only: str,
    tolerances: bool,
    pairs: bool,
    rows: Path | None,
    against: Path | None,
    public: bool,
    mutants: bool,
    ablate: bool,
    modules: tuple[Path, ...],
) -> None:
    """Check the grading: every misconception, trivial code and every correct alternative, against every criterion.

    To measure the effect of a grading rule, write the rows, disable the rule and compare:

        autograder audit --rows before.json; (edit); autograder audit --against before.json
    """
    from autograder.audit import ablation
    from autograder.audit import mutants as machine
    from autograder.audit import public as home
    from autograder.gradebook import pool

    if only and mutants:
        raise click.UsageError("--mutants covers all modules and cannot be combined with --only")
    chosen = named(only, only_modules=public)
    before = _read(against) if against is not None else None
    pool.check()
    if mutants:
        sys.exit(machine.report(jobs))
    if ablate:
        graded = ablation.subjects(modules)
        for line in ablation.lines(ablation.run([*ablation.NEUTRAL, *ablation.RULES], graded, jobs), len(graded)):
            click.echo(line)
    elif public:
        for line in home.lines(home.run(chosen, jobs)):
            click.echo(line)
    elif pairs:
        _pairs(chosen, jobs, rows, before)
    else:
        _everything(chosen, jobs, rows, before, tolerances)


def named(names: str, only_modules: bool = False) -> list[str]:
    """Modules, and unless `only_modules` functions and ids of misconceptions, from a list with commas."""
    from autograder.homework.library import find
    from autograder.homework.rubric import current

    modules, what = current().modules, "module" if only_modules else "module, function or mistake"
    functions = {function for entry in modules.values() for function in entry.functions}
    chosen = [name.strip() for name in names.split(",") if name.strip()]
    for name in chosen:
        if name not in modules and (only_modules or not (name in functions or find(name))):
            raise click.BadParameter(f"there is no {what} {name!r}; known modules: {', '.join(modules)}")
    return chosen


def _pairs(only: Sequence[str], jobs: int | None, file: Path | None, before: dict[str, Any] | None) -> None:
    from autograder.audit import cases, pairs

    chosen = list(cases.pairs(only))
    verdicts = list(_progress(pairs.run(chosen, jobs), len(chosen)))
    _rows([verdict.row for verdict in verdicts], file, before)
    for line in pairs.lines(verdicts):
        click.echo(line)
    _end(pairs.problems(verdicts))


def _everything(
    only: Sequence[str], jobs: int | None, file: Path | None, before: dict[str, Any] | None, tolerances: bool
) -> None:
    from autograder.audit import audit as audits
    from autograder.audit import cases
    from autograder.homework.rubric import current

    chosen = cases.cases(only)
    rows = list(_progress(audits.run(chosen, jobs), len(chosen)))
    _rows(rows, file, before)
    for line in audits.table_lines(rows):
        click.echo(line)
    whole = [name for name in only if name in current().modules]
    for module in whole:
        click.echo(cases.containing(module))
    problems = audits.problems(rows, whole, complete=len(whole) == len(only))
    has_right = any(case.kind == "alternative" for case in chosen)
    spread = audits.margins(rows) if has_right else {}  # without right solutions there is no spread
    if tolerances:
        table = Table("check", "dtype", "correct, at most", "tolerance", "wrong, at least", box=None)
        for check, (right, wrong) in spread.items():
            least = "none is wrong" if wrong == float("inf") else f"{wrong:.1e}"
            name = f"{check.module} {check.test} #{check.number}"
            table.add_row(name, check.dtype, f"{right:.1e}", f"{check.allowed:.0e}", least)
        Console(width=160).print(table)
    problems += [f"{c.module}, {c.test}: correct solutions exhaust the tolerance" for c in audits.too_close(spread)]
    problems += [f"{name}: no result deviates by ten times the tolerance" for name in audits.unclear(rows)]
    _end(problems)


def _rows(rows: Sequence[Any], file: Path | None, before: dict[str, Any] | None) -> None:
    """Write the rows; or print those that differ from earlier ones and exit, with status 1 if any does, like diff."""
    from autograder.audit.cases import differing

    if file is not None:
        file.write_text(json.dumps({row.name: row.plain for row in rows}, indent=1), encoding="utf-8")
    if before is not None:
        lines = list(differing(rows, before))
        for line in lines:
            click.echo(line)
        click.echo(f"{len(lines)} of {len(rows)} rows differ." if lines else "No rows differ.")
        sys.exit(FAILED if lines else 0)


def _read(file: Path) -> dict[str, Any]:
    try:
        before: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise click.BadParameter(f"{file} is not a file written by --rows: {error}") from error
    return before


def _end(problems: list[str]) -> None:
    for problem in problems:
        click.echo(f"PROBLEM {problem}")
    click.echo(f"{len(problems)} problems." if problems else "No problems.")
    sys.exit(FAILED if problems else 0)


def _progress(items: Iterable[Any], total: int) -> Iterable[Any]:
    console = Console(stderr=True)
    return track(items, "auditing", total, console=console) if console.is_terminal else items
