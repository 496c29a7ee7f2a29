"""`autograder audit`: run the checks of `autograder.audit` and print the problems."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import track

from autograder.cli.grade import print_table
from autograder.homework.homework import Homework
from autograder.submissions.text import counted

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("check", type=click.Choice(["cases", "tolerances", "pairs", "public", "mutants"]), default="cases")
@click.option("--jobs", type=click.IntRange(1), help="number of worker processes (default: one per core)")
@click.option(
    "--only",
    default="",
    help="comma-separated modules (their misconceptions and all alternatives), functions or misconception ids",
)
@click.option("--rows", type=FILE, help="write the outcome of each case as JSON, for --against")
@click.option("--against", type=FILE, help="print only the outcomes that differ from a file written by --rows")
@click.pass_obj
def audit(homework: Homework, check: str, jobs: int | None, only: str, rows: Path | None, against: Path | None) -> None:
    """Check the grading: every misconception, trivial code and every correct alternative, against every criterion.

    For authors of rubrics, hidden tests and misconceptions.

    CHECK is one of:

    \b
    cases       all of these (the default)
    tolerances  also show how far correct and wrong solutions are from each expected value
    pairs       every pair of misconceptions of a function (half an hour)
    public      which misconceptions the public checks detect and name
    mutants     generated mutants of the reference solutions

    To measure the effect of a grading rule, write the rows, disable the rule and compare:

        autograder audit --rows before.json; (edit); autograder audit --against before.json
    """
    from autograder.audit import audit as audits
    from autograder.audit import cases
    from autograder.audit import mutants as machine
    from autograder.audit import public as home
    from autograder.grading.plan import record
    from autograder.release import build as building

    if only and check == "mutants":
        raise click.UsageError("`audit mutants` covers all modules and cannot be combined with --only")
    if (rows or against) and check in ("mutants", "public"):
        raise click.UsageError(f"`audit {check}` writes no rows: leave out --rows and --against")
    chosen = _named(homework, only, only_modules=check in ("public", "tolerances"))
    try:
        before = json.loads(against.read_text(encoding="utf-8")) if against else None
    except (OSError, ValueError) as error:
        raise click.BadParameter(f"{against} is not a file written by --rows: {error}") from error
    if check == "mutants":
        sys.exit(machine.report(homework, jobs))
    if check == "public":
        _print(home.lines(home.run(homework, chosen, jobs)))
        return
    if check == "pairs":
        combined = list(cases.pairs(homework, chosen))
        verdicts = list(_progress(cases.each(homework, audits.graded_pair, combined, jobs), len(combined)))
        _write_or_compare([verdict.row for verdict in verdicts], rows, before)
        _print(audits.pair_lines(verdicts))
        problems = audits.pair_problems(verdicts)
    else:
        every = cases.cases(homework, chosen)
        outcomes = list(_progress(audits.run(homework, every, jobs), len(every)))
        _write_or_compare(outcomes, rows, before)
        whole = [name for name in chosen if name in homework.rubric.modules]
        _print([*audits.table_lines(homework, outcomes), *(audits.containing(homework, name) for name in whole)])
        problems = [*building.wrong_docstrings(homework), *building.wrong_versions(record(homework))]
        problems += audits.problems(homework, outcomes, whole, complete=len(whole) == len(chosen))
        has_right = any(case.kind == "alternative" for case in every)
        spread = audits.margins(outcomes) if has_right else {}  # margins need correct solutions
        if check == "tolerances":
            _print_spread({call: both for call, both in spread.items() if not only or call.module in chosen})
        problems += [f"{c.module}, {c.test}: correct solutions exhaust the tolerance" for c in audits.too_close(spread)]
        problems += [f"{name}: no result deviates by ten times the tolerance" for name in audits.unclear(outcomes)]
    _print(f"PROBLEM {problem}" for problem in problems)
    click.echo(f"{counted(len(problems), 'problem')}." if problems else "No problems.")
    sys.exit(1 if problems else 0)


def _named(homework: Homework, names: str, only_modules: bool) -> list[str]:
    """Parse `--only`: comma-separated modules and, unless `only_modules`, functions and misconception ids."""
    modules, kind = homework.rubric.modules, "module" if only_modules else "module, function or misconception"
    functions = {function for entry in modules.values() for function in entry.functions}
    chosen = [name.strip() for name in names.split(",") if name.strip()]
    for name in chosen:
        if name not in modules and (only_modules or not (name in functions or homework.misconception(name))):
            raise click.BadParameter(f"there is no {kind} {name!r}; known modules: {', '.join(modules)}")
    return chosen


def _write_or_compare(rows: Sequence[Any], file: Path | None, before: dict[str, Any] | None) -> None:
    """Write the rows to `file`, or print those that differ from `before` and exit like diff."""
    from autograder.audit.cases import differing

    if file is not None:
        file.write_text(json.dumps({row.name: row.plain for row in rows}, indent=1), encoding="utf-8")
    if before is not None:
        lines = list(differing(rows, before))
        _print([*lines, f"{len(lines)} of {len(rows)} rows differ." if lines else "No rows differ."])
        sys.exit(1 if lines else 0)


def _print_spread(spread: Mapping[Any, tuple[float, float]]) -> None:
    lines = []
    for check, (correct, least_wrong) in spread.items():
        least = "none is wrong" if least_wrong == float("inf") else f"{least_wrong:.1e}"
        name = f"{check.module} {check.test} #{check.number}"
        lines.append((name, check.dtype, f"{correct:.1e}", f"{check.allowed:.0e}", least))
    print_table(("check", "dtype", "correct, at most", "tolerance", "wrong, at least"), lines)


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)


def _progress(items: Iterable[Any], total: int) -> Iterable[Any]:
    console = Console(stderr=True)
    return track(items, "auditing", total, console=console) if console.is_terminal else items
