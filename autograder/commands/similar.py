"""`autograder similar`: which submissions of a run likely share code."""

from pathlib import Path

import click

from autograder.commands.tables import print_table

SHOWN = 30  # pairs that are printed; the page has all


@click.command()
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--least", type=click.IntRange(1, 100), default=60, show_default=True, help="percent of the shorter one's own code"
)
def similar(out: Path, least: int) -> None:
    """Which submissions of the run in OUT likely share code; OUT/similar.html shows it side by side."""
    # Imported here for the start-up time of all other commands.
    from autograder.cohort import run_file
    from autograder.cohort import similar as similarity
    from autograder.feedback.results import write_atomically

    pairs, works = similarity.found(out, least / 100)
    names = {key: ", ".join(one.name for one in who if one.name) for key, who in run_file.students(out).items()}
    similarity.write(out, pairs)
    write_atomically(out / "similar.html", similarity.page(pairs, works, names))
    lines = [
        (f"{pair.share:.0%}", names.get(pair.one) or pair.one, names.get(pair.other) or pair.other) for pair in pairs
    ]
    if lines:
        print_table(("Shared", "One", "Other"), lines[:SHOWN])
    number = "1 pair" if len(pairs) == 1 else f"{len(pairs)} pairs"
    click.echo(f"{number} among {len(works)} submissions likely share code; see {out / 'similar.html'}")
