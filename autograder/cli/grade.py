"""`autograder grade`, and the commands that read its output folder: `explain`, `compare`, `similar` and `learn`.

Imports are inside functions: NumPy, pytest and the templates take longer to load than most commands run.
"""

import signal
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.exceptions import ArgumentsError
from autograder.homework.homework import Homework
from autograder.submissions.text import counted, few, printable

if TYPE_CHECKING:  # not imported at startup: NumPy and the sandbox take a second
    from autograder.gradebook.batch import Run

SMALL = 40  # limit on printed scores, and on printed errors
Folder = click.Path(path_type=Path)
SHOWN = 30  # limit on printed lines; the page and the CSV file have all
FILE_WIDTH = 200  # columns if the output is not a terminal


def print_table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    """Print a table without spaces at the ends of lines; control characters in cells are removed."""
    table = Table(box=None, pad_edge=False)
    for name in head:
        table.add_column(name, no_wrap=name != head[-1])  # only the last column is split if the terminal is narrow
    for line in lines:
        table.add_row(*(Text(printable(cell)) for cell in line))
    console = Console(width=None if sys.stdout.isatty() else FILE_WIDTH)
    with console.capture() as printed:
        console.print(table)
    click.echo("\n".join(map(str.rstrip, printed.get().splitlines())))


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=Folder)
@click.option("-o", "--out", required=True, type=Folder, help="folder for results, grades.csv and report.html")
@click.option("--jobs", type=click.IntRange(min=1), help="submissions to grade in parallel [default: number of cores]")
@click.option("--fresh", is_flag=True, help="grade everything again, including unchanged submissions")
@click.option(
    "--accept-names",
    is_flag=True,
    help="grade misnamed files, e.g. `my_module (1).py`, `MyModule.py`, `my_module.py.txt` as my_module.py",
)
@click.option(
    "--one-submission", is_flag=True, help="each PATH is the work of one student, even if it looks like that of several"
)
@click.option("--cluster", metavar="ADDRESS", help="grade on the workers of the Dask scheduler at ADDRESS")
@click.option(
    "--roster", type=Folder, help="CSV file of all students: names, sections, due dates; lists missing submissions"
)
@click.option(
    "--overrides",
    type=Folder,
    multiple=True,
    help="CSV file of manual overrides: student, criterion, points, reason; repeatable",
)
@click.option(
    "--comments", type=Folder, multiple=True, help="CSV file of grader comments: student, about, comment; repeatable"
)
@click.option("--late-days", type=Folder, help="CSV file of late days left: student, days; writes OUT/late-days.csv")
@click.option("--assignment", default="", metavar="TITLE|ID", help="Canvas assignment for canvas.csv")
@click.option("--feedback", is_flag=True, help="write a feedback page for each student: OUT/feedback/*.html")
@click.option("--anonymous", is_flag=True, help="also write a report without names, to show to the class")
@click.option("--classroom50", is_flag=True, help="write a result for each clone: OUT/classroom50/*/result.json")
@click.option("--quiet", is_flag=True, help="print only notes and errors")
@click.pass_obj
def grade(
    homework: Homework,
    paths: tuple[Path, ...],
    out: Path,
    jobs: int | None,
    fresh: bool,
    accept_names: bool,
    one_submission: bool,
    cluster: str | None,
    roster: Path | None,
    overrides: tuple[Path, ...],
    comments: tuple[Path, ...],
    late_days: Path | None,
    assignment: str,
    feedback: bool,
    anonymous: bool,
    classroom50: bool,
    quiet: bool,
) -> None:
    """Grade submissions in any supported format.

    For instructors who grade a class on their own machine.

    PATH is a folder or zip of one submission or of many, a Gradescope export, a download from Canvas, Moodle, Brightspace,
    Blackboard, Autolab or Google Classroom, or .py files. A PATH that looks like the work of several students in an unknown
    form is rejected. To continue an interrupted run, run the same command again.
    """
    from autograder.gradebook import batch, inputs, outputs, pool, rows, store
    from autograder.gradebook import similar as similarity
    from autograder.sandbox import layers
    from autograder.submissions.exports import listing

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # treat `kill` and a shutdown like Ctrl-C
    current = homework.rubric
    if late_days and late_days.resolve() == (out / outputs.LATE_DAYS).resolve():
        raise ArgumentsError(f"{late_days}: this run writes that file; give the late days left before this homework")
    tables, unusable = inputs.read(current, roster, overrides, comments, late_days)
    submissions = listing(paths, current, out, one_submission)
    unusable += rows.problems(submissions.entries, current, tables)
    inputs.refuse(unusable)  # before an hour of grading, not after it
    results = store.Store(out)
    workers = pool.cluster(cluster, homework) if cluster else pool.local(jobs or pool.cores())
    if not quiet:
        for form in submissions.forms:
            click.echo(printable(form), err=True)
    store.write_run(out, paths, submissions.entries, one_submission=one_submission)
    try:
        stream = None if quiet else sys.stderr
        run = batch.grade_class(submissions.entries, homework, results, workers, stream, fresh, accept_names)
    except KeyboardInterrupt:
        advice = "Run the same command again to continue."
        raise KeyboardInterrupt(f"interrupted; finished results are in {out}. {advice}") from None
    run.rows = rows.finished(submissions.entries, run.grades, run.errors, current, tables)
    run.problems = [
        *submissions.problems,
        *(f"{criterion.id} {criterion.counted}" for criterion in current.criteria.values() if criterion.counts),
        *rows.upload_notes(run.rows, accept_names),
        *rows.notes(run.rows, current, tables.roster),
        *similarity.notices(out),
    ]
    if earlier := sorted(results.keys() - {entry.key for entry in submissions.entries}):
        also = f"{results.results} also has {len(earlier)} results from other runs, which are not in grades.csv"
        run.problems.append(f"{also}: {few(earlier, 5)}")
    if missing := [layer for layer in layers.NAMES if layer not in run.layers]:
        advice = "`autograder doctor` shows why; autograder/docs/container/Dockerfile provides all layers"
        run.problems.append(f"the sandbox lacks {', '.join(missing)}; {advice}")
    clones = [row for row in run.rows if classroom50 and not row.absent]
    if absent := [row.who for row in clones if not outputs.classroom50_result(row)]:
        why = "no grade, no clone of a repository, or no .classroom50.yaml with a classroom and an assignment"
        run.problems.append(f"no result.json for {', '.join(absent)}: {why}")
    store.write_run(out, paths, submissions.entries, [row.outcome for row in run.rows], one_submission)
    title = outputs.assignment(assignment, current.title)
    outputs.write(homework, out, run, title, anonymous, feedback, tables.late_days, classroom50)
    if not quiet:
        _print_scores(run, out)
    for problem in run.problems:
        click.echo(f"note: {printable(problem)}", err=True)
    reasons = [*dict.fromkeys(run.errors.values())]
    for why in reasons[:SMALL]:
        click.echo(f"ERROR {few([key for key in run.errors if run.errors[key] == why], 1)}: {printable(why)}", err=True)
    if len(reasons) > SMALL:
        click.echo(f"ERROR and {len(reasons) - SMALL} other reasons; the report lists them", err=True)
    if run.stopped:
        click.echo(f"autograder: stopped: {run.stopped}. Fix the cause and run the same command again.", err=True)
    sys.exit(1 if run.errors or run.stopped else 0)


def _print_scores(run: "Run", out: Path) -> None:
    """Print the scores if the class is small, the number of graded submissions, and the median as in the report."""
    from autograder.gradebook import report

    if len(run.rows) <= SMALL:
        lines = []
        for row in run.rows:
            score = row.status.lower() if row.score is None else f"{row.score:g}"
            score += f" of {row.grade.max_score:g}" if row.grade else ""
            lines.append((row.student.name, row.entry.key, score))
        print_table(("Student", "Submission", "Score"), lines)
    earlier = f" ({run.unchanged} unchanged since an earlier run)" if run.unchanged else ""
    most = max((grade.max_score for grade in report.submissions_that_count(run.rows)), default=0.0)
    overview = report.overview(report.final_scores(run.rows), most)
    median = f", median {round(overview['median'], 1):g} of {overview['most']:g}" if overview else ""
    click.echo(f"{len(run.grades)} graded{earlier}{median}; see {out / 'report.html'}")


# Commands on the folders of runs


@click.command()
@click.argument("result", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("criterion")
@click.pass_obj
def explain(homework: Homework, result: Path, criterion: str) -> None:
    """Show why a criterion was lost or earned: test calls, results, diagnosis and rule.

    For instructors who answer a question about a lost point.

    RESULT is a file OUT/results/<submission>.json of a run of `grade`, CRITERION an id such as my_module.example. The submission
    is graded again, so its files must still be where they were. The output has hidden calls: do not pass it on to students.
    """
    from autograder.cli.explain import explanation

    for line in explanation(homework, result, criterion):
        click.echo("\n".join(map(printable, line.split("\n"))))


@click.command()
@click.argument("old", type=Folder)
@click.argument("new", type=Folder)
@click.pass_obj
def compare(homework: Homework, old: Path, new: Path) -> None:
    """Show how grades differ between two runs of `grade`, by criterion and student.

    For instructors who grade a class again after a change.
    """
    from autograder.gradebook import compare_results

    comparison = compare_results.compare_runs(old, new)
    differ = f"{len(comparison.changes)} differ, {len(comparison.totals)} in their total"
    click.echo(f"Students in both runs: {comparison.compared}; {differ}.")
    if comparison.criteria:
        click.echo("\nCriteria")
        lines: list[tuple[str, ...]] = []
        for name, gain, lose, points in comparison.criteria:
            before, after = ("none" if number is None else f"{number:g}" for number in points)
            lines.append((name, str(gain), str(lose), f"{before} -> {after}" if points[0] != points[1] else after))
        print_table(("Criterion", "gain", "lose", "points"), lines)
    if comparison.totals:
        click.echo("\nStudents whose total differs")
        lines = []
        for change in comparison.totals[:SHOWN]:
            scores = ("no score" if total is None else f"{total:g}" for total in (change.old, change.new))
            by = f"{change.difference:+g}" if change.difference else "0"
            lines.append((change.key, change.who, *scores, by, change.where))
        print_table(("Submission", "Student", "old", "new", "change", "by"), lines)
        if rest := comparison.totals[SHOWN:]:
            click.echo(f"and {len(rest)} more")
    if comparison.manual:
        click.echo("\nPoints set manually, although the criterion is worth more or less now")
        lines = [(who, name, *(f"{points:g}" for points in numbers)) for who, name, *numbers in comparison.manual]
        print_table(("Student", "Criterion", "set to", "old points", "new points"), lines)
    for keys, where in ((comparison.only_old, "first"), (comparison.only_new, "second")):
        if keys:
            click.echo(f"\nOnly in the {where}: {printable(few(keys, SHOWN))}")
    click.echo(
        f"\nFull comparison: {compare_results.write(comparison, homework.rubric.title, old, new)} and compare.csv"
    )


@click.command()
@click.argument("out", type=Folder)
@click.option(
    "--least",
    type=click.IntRange(1, 100),
    default=60,
    show_default=True,
    help="minimum shared percentage of the shorter submission's own code",
)
@click.pass_obj
def similar(homework: Homework, out: Path, least: int) -> None:
    """Find submissions in OUT that likely share code; write a side-by-side view to OUT/similar.html.

    For instructors who suspect copying.
    """
    from autograder.gradebook import similar as similarity
    from autograder.gradebook import store

    pairs, works = similarity.compared(homework, out, least / 100)
    names = store.read_run(out).names
    similarity.write(out, homework.rubric.title, pairs, works, names)
    lines = [(f"{p.share:.0%}", names.get(p.one) or p.one, names.get(p.other) or p.other) for p in pairs]
    if lines:
        print_table(("Shared", "One", "Other"), lines[:SHOWN])
    click.echo(
        f"{counted(len(pairs), 'pair')} among {len(works)} submissions likely share code; see {out / 'similar.html'}"
    )


@click.command()
@click.argument("out", type=Folder, required=False)
@click.option(
    "--least", type=click.IntRange(1), default=2, show_default=True, help="minimum number of submissions for a draft"
)
@click.option("--accept", type=Folder, help="add a draft that you have completed to the misconception library")
@click.pass_obj
def learn(homework: Homework, out: Path | None, least: int, accept: Path | None) -> None:
    """Draft misconceptions from wrong results that several submissions in OUT share; write them to OUT/drafts.

    For authors who extend the misconception library after a class.
    """
    if (out is None) == (accept is None):
        raise click.UsageError("give the OUT folder of a run, or --accept FILE")
    from autograder.audit import learning
    from autograder.files import write_atomically
    from autograder.gradebook import class_statistics, store
    from autograder.grading.grader import open_grader

    if accept is not None:
        click.echo(f"{learning.accept(homework, accept)} updated. Next: autograder build, then autograder audit")
        return
    assert out is not None
    run = store.read_run(out)
    people = [student for who in run.students.values() for student in who]
    every = class_statistics.groups({key: grade.unexplained for key, grade in run.grades().items()}, people)
    lines = []
    with open_grader(homework) as grader:
        for group in (group for group in every if len(group) >= least):
            name, text = learning.draft(grader, group)
            function = class_statistics.shortest(group).function
            where = "none: no function fails only because of this mistake"
            if text:
                where = str(out / "drafts" / f"{function}.{name}.txt")
                write_atomically(Path(where), text)
            lines.append((str(len(group)), function, where))
    if lines:
        print_table(("Submissions", "Function", "Draft"), lines)
    click.echo(f"Unexplained wrong results that {least} or more submissions share: {len(lines)}.")
