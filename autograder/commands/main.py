"""The commands: arguments and printed lines. How they end, and with which status, stands in ending.py."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table

from autograder import __version__
from autograder.commands import compare, doctor, grade, rehearse, similar, which_kit
from autograder.commands.ending import FAULT, Commands

if TYPE_CHECKING:  # the audit brings all of grading with it, which no other command needs to start
    from autograder.proof.audit import Margin, Row

GRADING = {"audit", "demo", "grade", "rehearse"}  # commands whose result depends on which kit is installed


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="autograder")
@click.pass_context
def main(context: click.Context) -> None:
    """Grade homework: a Transformer decoder in NumPy."""
    if context.invoked_subcommand in GRADING and (line := which_kit.notice(Path.cwd())):
        click.echo(line, err=True)


@main.command()
@click.option("--jobs", type=click.IntRange(1), help="processes at a time; as many as there are cores unless given")
@click.option("--only", default="", help="modules, separated by commas: their mistakes, and all alternatives")
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="write the matrix as a page")
@click.option(
    "--tolerances", is_flag=True, help="for each check, how far right and wrong solutions are from the expected value"
)
@click.option("--mutants", is_flag=True, help="grade machine-made mistakes in the references instead")
@click.option("--messages", type=click.IntRange(1), help="print so many messages to students, chosen at random")
def audit(
    jobs: int | None, only: str, html: Path | None, tolerances: bool, mutants: bool, messages: int | None
) -> None:
    """Try every known mistake and every correct alternative on every criterion."""
    from autograder.cohort import worker
    from autograder.proof import audit as audits

    chosen = _modules(only)
    worker.check()
    if mutants:
        from autograder.proof import mutation

        sys.exit(mutation.report(jobs))
    if messages:
        audits.print_messages(messages)
        return
    cases = audits.cases(chosen)
    rows = list(_progress(audits.run(jobs, cases), len(cases)))
    _matrix(rows)
    if html:
        audits.write_html(rows, html)
    found = audits.problems(rows, chosen)
    narrow = [margin for margin in audits.margins(rows) if not margin.good]
    if tolerances:
        _tolerances(audits.margins(rows))
    for problem in [*found, *(f"{m.check.module}, {m.check.test}: the margin is below ten" for m in narrow)]:
        click.echo(f"PROBLEM {problem}")
    sys.exit(FAULT if found or narrow else 0)


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _modules(names: str) -> list[str]:
    """Modules of the rubric, from a list with commas."""
    from autograder.homework.rubric import current

    found = _listed(names)
    for name in found:
        if name not in current().modules:
            raise click.BadParameter(f"there is no module {name!r}; known: {', '.join(current().modules)}")
    return found


def _progress(rows: Any, total: int) -> Any:
    from rich.progress import track

    console = Console(stderr=True)
    yield from track(rows, "auditing", total, console=console, disable=not console.is_terminal)


def _matrix(rows: "list[Row]") -> None:
    from autograder.homework.rubric import current

    for module in current().modules:
        ids = [c.id for c in current().of(module)]
        chosen = [row for row in rows if row.case.module == module]
        if not chosen:
            continue
        click.echo(f"\n{module}: " + ", ".join(f"{n} {name.partition('.')[2]}" for n, name in enumerate(ids, 1)))
        for row in chosen:
            marks = "".join(_mark(row, name) for name in ids)
            click.echo(f"  {marks}  {row.case.name}")
    click.echo("\ncorrect alternatives")
    for row in (row for row in rows if not row.case.function):
        click.echo(f"  {row.case.name}: " + (", ".join(row.lost) or "nothing lost"))
    written = [row for row in rows if row.case.function and not row.case.trivial]
    named = [row for row in written if row.named]
    click.echo(f"\n{len(named)} of {len(written)} misconceptions are named as themselves.")
    for row in written:
        if not row.named:
            click.echo(
                f"  not named: {row.case.name} (agrees with another one in every call, or fails before any value)"
            )


def _mark(row: "Row", criterion: str) -> str:
    """ "#" for a criterion that is lost under its own name, "x" for one that is lost without, "." for one that is kept."""
    return "." if criterion not in row.lost else "#" if row.lost[criterion] == row.case.name else "x"


def _tolerances(margins: "list[Margin]") -> None:
    table = Table("check", "dtype", "right, at most", "tolerance", "wrong, at least", box=None)
    for margin in margins:
        check, wrong = margin.check, "none is wrong" if margin.wrong == float("inf") else f"{margin.wrong:.1e}"
        name = f"{check.module} {check.test} #{check.number}"
        table.add_row(name, check.dtype, f"{margin.right:.1e}", f"{check.allowed:.0e}", wrong)
    Console(width=160).print(table)


@main.command()
@click.option("-o", "--out", type=click.Path(file_okay=False, path_type=Path), default=Path("dist"), show_default=True)
@click.option("--only", default="", help="a smaller homework: modules, separated by commas")
def build(out: Path, only: str) -> None:
    """Run `otter assign`, refresh assignments/, write OUT/autograder.zip and OUT/student.zip."""
    from autograder.release import build as building

    for path in building.build(out, only=_listed(only)):
        click.echo(path)


@main.command()
@click.option("-o", "--out", type=click.Path(file_okay=False, path_type=Path), default=Path("dist"), show_default=True)
def demo(out: Path) -> None:
    """Build the homework, grade a small sample class, write the report."""
    from autograder.cohort import sample
    from autograder.release import build as building

    click.echo("Building with otter assign ...")
    building.build(out)
    sample.make(out / "sample")
    click.echo("Grading a sample class ...")
    status: int | str | None = 0
    try:
        grade.grade.main([str(out / "sample"), "-o", str(out / "graded"), "--fresh"], standalone_mode=False)
    except SystemExit as ended:
        status = ended.code
    for name, what in PRODUCTS.items():
        click.echo(f"  {out / name!s:<28} {what}")
    sys.exit(status)


PRODUCTS = {
    "student.zip": "give this to students",
    "autograder.zip": "upload this to Gradescope",
    "graded/report.html": "open this in a browser",
    "graded/grades.csv": "points by criterion",
    "graded/results": "what each student is told",
}

for command in (grade.grade, compare.compare, similar.similar, rehearse.rehearse, doctor.doctor):
    main.add_command(command)


if __name__ == "__main__":
    main()
