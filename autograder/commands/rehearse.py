"""`autograder rehearse ZIP PATH`: grade one upload as Gradescope would, and print who sees what of the result.

Exit status: 0 graded, and results.json is as documented; 1 no result; 2 unusable arguments.
"""

from pathlib import Path

import click

from autograder.faults import CommandError

PLACE = click.Path(path_type=Path)
PROBLEMS = 8  # of a results.json, that are shown


@click.command()
@click.argument("zipped", metavar="ZIP", type=PLACE)
@click.argument("upload", metavar="PATH", type=PLACE)
@click.option("--here", is_flag=True, help="use the Python packages that are installed: quick, and without a network")
@click.option("--brief", is_flag=True, help="of the messages print only the first of each moment")
def rehearse(zipped: Path, upload: Path, here: bool, brief: bool) -> None:
    """Grade PATH with the zip for Gradescope as Gradescope would, and print what student and instructor will see.

    PATH is a folder or zip of what a student uploads, or one file.
    """
    # Only here, to save start-up time: every command imports this module.
    from autograder.release import rehearsal, rehearsal_report

    if not here:
        click.echo(
            "Installing what the zip asks for into a fresh environment; this takes a minute or two ...", err=True
        )
    done = rehearsal.rehearse(zipped, upload, here)
    found = rehearsal_report.problems(done.document)
    if found:
        raise CommandError("\n  ".join(["results.json is not as Gradescope documents it:", *found[:PROBLEMS]]))
    for line in rehearsal_report.lines(done, rehearsal_report.Results.model_validate(done.document), brief):
        click.echo(line)
