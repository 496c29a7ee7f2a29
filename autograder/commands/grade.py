"""The commands for a whole class: `grade` and `compare`.

Exit status of `grade`: 0 everything is graded; 1 a fault of the grader, which is listed; 2 unusable
arguments; 130 Ctrl-C.
"""

import logging
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from autograder.cohort.batch import Outcome, Pool
    from autograder.cohort.compare_results import Change, Comparison, Criterion
    from autograder.cohort.gradebook import Row
    from autograder.cohort.store import Store
    from autograder.intake.exports import Listing

FAULT, USAGE, INTERRUPTED = 1, 2, 130
SMALL = 40
CONNECT = "15s"
Folder = click.Path(path_type=Path)


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=Folder)
@click.option("-o", "--out", required=True, type=Folder, help="where results, grades.csv and report.html go")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="submissions at a time; as many as there are cores unless given",
)
@click.option("--fresh", is_flag=True, help="grade everything again, also what has not changed")
@click.option("--cluster", metavar="ADDRESS", help="grade on the workers of the Dask scheduler at ADDRESS")
@click.option("--quiet", is_flag=True, help="say only what went wrong")
def grade(paths: tuple[Path, ...], out: Path, jobs: int | None, fresh: bool, cluster: str | None, quiet: bool) -> None:
    """Grade submissions in whatever form they come.

    PATH is a folder or zip of one submission or of many, a Gradescope export, a Canvas download, or .py
    files. A run that was stopped goes on where it was when the same command is given again.
    """
    try:
        status = _grade(paths, out, jobs, fresh, cluster, quiet)
    except KeyboardInterrupt:
        status = _stop(f"interrupted; what is graded is in {out}. The same command goes on from there.", INTERRUPTED)
    sys.exit(status)


def _grade(paths: tuple[Path, ...], out: Path, jobs: int | None, fresh: bool, cluster: str | None, quiet: bool) -> int:
    from autograder.cohort import batch, progress
    from autograder.homework import rubric
    from autograder.intake.exports import UnusableError, listing

    try:
        limits = rubric.current().limits
        found = listing(paths, out)
        store = _store(out)
        pool = _cluster(cluster) if cluster else batch.local(jobs or batch.cores())
    except UnusableError as error:
        return _stop(str(error), USAGE)
    except rubric.RubricError as error:
        return _stop(str(error), FAULT)
    _say(quiet, found.forms)
    try:
        outcome = batch.run(found.entries, store, pool, limits, progress.display(sys.stderr, quiet), fresh)
    except rubric.RubricError as error:
        return _stop(str(error), FAULT)
    except batch.NoWorkersError as error:
        return _stop(f"no worker could be made ready: {error}", FAULT)
    return _report(found, outcome, store, quiet)


def _stop(why: str, status: int) -> int:
    click.echo(f"autograder: {why}", err=True)
    return status


def _say(quiet: bool, lines: tuple[str, ...]) -> None:
    if not quiet:
        for line in lines:
            click.echo(_printable(line), err=True)


def _store(out: Path) -> "Store":
    from autograder.cohort.store import Store
    from autograder.intake.exports import UnusableError

    try:
        return Store(out)
    except OSError as error:
        raise UnusableError(f"-o {out}: cannot be written ({error.strerror or error})") from error


def _cluster(address: str) -> "Pool":
    """A Dask scheduler's workers as a pool."""
    from autograder.cohort.batch import Pool
    from autograder.intake.exports import UnusableError

    try:
        import distributed
    except ImportError:
        raise UnusableError("--cluster needs Dask: pip install 'transformer-homework[cluster]'") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client: Any = distributed.Client(address, timeout=CONNECT, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as error:
        raise UnusableError(f"--cluster {address}: there is no Dask scheduler ({error})") from error
    workers = len(client.nthreads())
    if not workers:
        raise UnusableError(
            f"--cluster {address}: the scheduler has no workers; start some with `dask worker {address}`"
        )
    return Pool(client.get_executor, workers, client.close)


# After grading


def _report(found: "Listing", outcome: "Outcome", store: "Store", quiet: bool) -> int:
    """Write what is made of the results, and say where it is."""
    from autograder.cohort import gradebook

    rows = gradebook.rows(found.entries, outcome.grades, outcome.faults)
    problems = [*found.problems, *_left_over(found, store)]
    written = _write(problems, outcome, store, rows)
    if not quiet:
        _table(rows)
        earlier = f" ({outcome.kept} of them by an earlier run)" if outcome.kept else ""
        click.echo(f"{len(outcome.grades)} graded{earlier}; see {store.out / 'report.html'}")
    for problem in problems:
        click.echo(f"note: {_printable(problem)}", err=True)
    for key, why in list(outcome.faults.items())[:SMALL]:
        click.echo(f"FAULT {key}: {_printable(why)}", err=True)
    if len(outcome.faults) > SMALL:
        click.echo(f"FAULT and {len(outcome.faults) - SMALL} more; the report lists them", err=True)
    if outcome.stopped:
        click.echo(f"autograder: stopped: {outcome.stopped}. Mend it and run the same command again.", err=True)
    return FAULT if outcome.faults or outcome.stopped or not written else 0


def _left_over(found: "Listing", store: "Store") -> list[str]:
    """A word on results that earlier runs have left in the same folder."""
    others = sorted(store.keys() - {entry.key for entry in found.entries})
    if not others:
        return []
    named = ", ".join(others[:5]) + (", ..." if len(others) > 5 else "")
    return [f"{store.results} also holds {len(others)} results of other runs, which are not in grades.csv: {named}"]


def _write(problems: list[str], outcome: "Outcome", store: "Store", rows: "list[Row]") -> bool:
    from autograder.cohort import gradebook, report
    from autograder.feedback.results import write_atomically
    from autograder.homework import rubric

    run = report.Run(rows, outcome.faults, problems, len(outcome.grades), outcome.kept, outcome.kit.digest)
    pages: Mapping[str, Callable[[], str]] = {
        "grades.csv": lambda: gradebook.table(rows),
        "canvas.csv": lambda: gradebook.canvas_table(rows, rubric.current().title),
        "report.html": lambda: report.html(run),
    }
    for name, make in pages.items():
        try:
            write_atomically(store.out / name, make().encode("utf-8", "replace").decode())
        except OSError as error:
            _stop(f"{store.out / name} cannot be written ({error.strerror or error}); the results are safe", FAULT)
            return False
    return True


def _table(rows: "list[Row]") -> None:
    """The scores of a small class."""
    if len(rows) > SMALL:
        return
    table = Table("Student", "Submission", box=None, pad_edge=False)
    table.add_column("Score", justify="right")
    for row in rows:
        score = f"{row.grade.score:g} of {row.grade.max_score:g}" if row.grade else "fault"
        table.add_row(Text(_printable(row.student.name)), Text(row.entry.key), Text(score))
    _console().print(table)


def _printable(text: str) -> str:
    """Text as a terminal may get it: one line, no control characters, no change of direction."""
    return "".join(c if c.isprintable() else "?" for c in text)


# Comparing two runs


@click.command()
@click.argument("old", type=Folder)
@click.argument("new", type=Folder)
def compare(old: Path, new: Path) -> None:
    """Who gains or loses what, by criterion, between two runs of `grade`."""
    from autograder.cohort import compare_results

    try:
        found = compare_results.compare(old, new)
    except (OSError, ValueError) as error:
        sys.exit(_stop(str(error), USAGE))
    with suppress(BrokenPipeError):
        _show(found)


def _show(found: "Comparison") -> None:
    totals = sum(change.difference != 0 for change in found.changes)
    click.echo(f"{found.compared} submissions are in both runs; {len(found.changes)} differ, {totals} in their total.")
    if found.criteria:
        lines = [_criterion_line(one) for one in found.criteria]
        _print("Criteria", ("Criterion", "gain", "lose", "points"), lines)
    if found.changes:
        lines = [_change_line(change) for change in found.changes]
        _print("Students", ("Submission", "Student", "old", "new", "change", "in"), lines)
    for keys, where in ((found.only_old, "first"), (found.only_new, "second")):
        if keys:
            click.echo(f"\nOnly in the {where}: {', '.join(keys)}")


def _criterion_line(one: "Criterion") -> tuple[str, ...]:
    before, after = ("none" if points is None else f"{points:g}" for points in one.points)
    return one.name, str(one.gain), str(one.lose), f"{before} -> {after}" if one.rubric_changed else after


def _change_line(change: "Change") -> tuple[str, ...]:
    where = ", ".join(f"{name} {difference:+g}" for name, difference in change.criteria.items())
    scores = (f"{change.old:g}", f"{change.new:g}", f"{change.difference:+g}" if change.difference else "0")
    return (change.key, _printable(change.who), *scores, where)


def _print(title: str, head: tuple[str, ...], lines: list[tuple[str, ...]]) -> None:
    click.echo(f"\n{title}")
    table = Table(*head, box=None, pad_edge=False)
    for line in lines:
        table.add_row(*(Text(cell) for cell in line))
    _console().print(table)


def _console() -> Console:
    """Standard output; in a file no line is broken to the width of some terminal."""
    return Console(width=None if sys.stdout.isatty() else 200)
