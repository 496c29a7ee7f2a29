"""The command line: parses arguments, prints results, and turns exceptions into one line and an exit status.

Exit status 0: success; 1: an error of the grader, the machine or the rubric, never of a student; 2: unusable arguments;
130: Ctrl-C. Any other exception is a bug in the kit and keeps its traceback.

Imports are inside the commands that need them, to keep the others fast.
"""

import sys
from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import Any

import click

from autograder import __version__
from autograder.cli import audit, doctor, grade
from autograder.exceptions import ArgumentsError, CommandError, of_system
from autograder.homework.homework import Homework
from autograder.submissions.text import printable

LINES, WIDTH = 100, 400  # limits of a message: a table may have many errors, an error may quote a whole file
NEXT = (
    ("graded/report.html", "open the class report in a browser"),
    ("student.zip", "give this to students"),
    ("site", "or let them work in a browser: publish this folder, or try it with python -m http.server -d"),
    ("autograder.zip", "upload this to Gradescope"),
)
GRADING = {"audit", "demo", "grade", "learn", "rehearse"}  # commands whose result depends on which kit is installed

OUT = click.option(
    "-o", "--out", type=click.Path(file_okay=False, path_type=Path), default=Path("dist"), show_default=True
)


class Commands(click.Group):
    """The top-level group. It prints an error that a user can fix as one line, without a traceback."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except BrokenPipeError:  # `autograder compare ... | head` closes the pipe early
            context.exit(0)
        except KeyboardInterrupt as error:
            text, status = str(error) or "interrupted", 130
        except CommandError as error:
            text, status = str(error), error.status
        except BrokenExecutor:
            text = "the worker processes crash immediately, perhaps for lack of memory; `--jobs 1` needs the least"
            status = 1
        except OSError as error:
            text, status = f"{of_system(error)}. No file is half written. Run the same command again.", 1
        lines = text.splitlines() or [""]
        more = [f"... and {len(lines) - LINES} more lines"] if len(lines) > LINES else []
        for number, line in enumerate([*lines[:LINES], *more]):
            click.echo(("" if number else "autograder: ") + printable(line, most=WIDTH), err=True)
        raise click.exceptions.Exit(status)


def begin(stage: str) -> None:
    """Print the name of a stage of a build."""
    click.echo(f"{stage} ...", err=True)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="autograder")
@click.option("--homework", type=click.Path(path_type=Path), help="use the homework in this folder")
@click.pass_context
def main(context: click.Context, homework: Path | None) -> None:
    """Build and grade homework in NumPy, by default the homework of the current folder."""
    # Not in a folder above the current one, which may be a download with another rubric.yaml.
    context.obj = Homework(homework) if homework else Homework.at(Path())
    if context.invoked_subcommand in GRADING:
        from autograder.release.packing import other_clone

        if clone := other_clone(context.obj, Path()):
            advice = f"to use the one here: pip install -e {clone}"
            click.echo(f"note: this uses {context.obj.rubric_file}, not the rubric.yaml in {clone}; {advice}", err=True)


@main.command()
@OUT
@click.option("--site", "with_site", is_flag=True, help="also write OUT/site: the homework in a browser")
@click.option("--pyodide", type=click.Path(path_type=Path), help="a folder with Pyodide, which the site then contains")
@click.pass_obj
def build(homework: Homework, out: Path, with_site: bool, pyodide: Path | None) -> None:
    """Run `otter assign`, refresh assignments/, and write OUT/autograder.zip and OUT/student.zip.

    For instructors, after every change to the homework.
    """
    from autograder.release import build as building
    from autograder.release.site import notebook

    for path in building.build(homework, out, begin, True, with_site or pyodide is not None, pyodide):
        click.echo(path)
    if (with_site or pyodide) and not notebook.is_installed():
        click.echo("note: the site has no notebook; with it: pip install 'transformer-homework[site]'", err=True)


@main.command()
@click.argument("name", required=False)
@click.option("--homework", type=click.Path(path_type=Path), help="write a complete small homework to this new folder")
@click.option("--title", default="", help="the title of the new homework, which students read; a terminal asks for it")
@click.pass_obj
def new(chosen: Homework, name: str | None, homework: Path | None, title: str) -> None:
    """Add a module: draft files, an entry in rubric.yaml and notebook cells. With --homework: a homework with one module.

    For authors of a module or of a different homework.
    """
    from autograder.release import drafts

    if homework is not None:
        if not title and sys.stdin.isatty():
            title = click.prompt("Title of the homework, which students read", err=True)
        click.echo(drafts.new_homework(homework, name or drafts.NAME, title))
        click.echo("\nIt is complete: run these commands there, then replace its module with your own.")
        click.echo("autograder build; autograder grade solutions -o dist/graded; autograder audit")
        return
    if title:
        raise ArgumentsError("--title is for a new homework: give --homework as well")
    if name is None:
        raise ArgumentsError("give the name of a module, or --homework DIR for a new homework")
    for path in drafts.add(chosen, name):
        click.echo(path)
    click.echo("\nReplace the text of the draft; `autograder build` names the lines that are left.")
    click.echo(f"Then: autograder build; autograder grade solutions -o dist/graded; autograder audit --only {name}")


@main.command()
@OUT
@click.pass_context
def demo(context: click.Context, out: Path) -> None:
    """Build the homework, grade a small sample class and write the report.

    For instructors who try the kit for the first time.
    """
    from autograder.gradebook import sample
    from autograder.release import build as building

    building.build(context.obj, out, begin, check=False, with_site=True)  # the sample class has the solutions
    sample.make(context.obj, out / "sample")
    status: int | str | None = 0
    try:
        context.invoke(grade.grade, paths=(out / "sample",), out=out / "graded", fresh=True)
    except SystemExit as ended:
        status = ended.code
    click.echo("\nNext steps")
    for number, (name, what) in enumerate(NEXT, 1):
        click.echo(f"  {number}. {what}: {out / name}")
    sys.exit(status)


@main.command()
@click.argument("zipped", metavar="ZIP", type=click.Path(path_type=Path))
@click.argument("upload", metavar="PATH", type=click.Path(path_type=Path))
@click.option("--here", "in_place", is_flag=True, help="use the installed Python packages; needs no network")
def rehearse(zipped: Path, upload: Path, in_place: bool) -> None:
    """Grade PATH with the Gradescope zip as Gradescope would, and print what students and instructors see.

    For instructors, before they upload the zip to Gradescope.

    PATH is a folder or zip of what a student uploads, or one file.
    """
    from autograder.release import rehearsal

    if not in_place:
        click.echo("Running the zip's setup.sh, which installs Python and packages ...", err=True)
    for line in rehearsal.report(rehearsal.rehearse(zipped, upload, in_place)):
        click.echo(line)


for command in (audit.audit, grade.grade, grade.explain, grade.compare, grade.similar, grade.learn, doctor.doctor):
    main.add_command(command)


if __name__ == "__main__":
    main()
