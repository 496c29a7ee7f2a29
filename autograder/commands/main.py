"""The commands: arguments and printed lines. How they end, and with which status, stands in ending.py."""

import sys
from pathlib import Path

import click

from autograder import __version__
from autograder.commands import audit, compare, doctor, grade, rehearse, similar, which_kit
from autograder.commands.ending import Commands

GRADING = {"audit", "demo", "grade", "rehearse"}  # commands whose result depends on which kit is installed


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="autograder")
@click.pass_context
def main(context: click.Context) -> None:
    """Grade homework: a Transformer decoder in NumPy."""
    if context.invoked_subcommand in GRADING and (line := which_kit.notice(Path.cwd())):
        click.echo(line, err=True)


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


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

for command in (audit.audit, grade.grade, compare.compare, similar.similar, rehearse.rehearse, doctor.doctor):
    main.add_command(command)


if __name__ == "__main__":
    main()
