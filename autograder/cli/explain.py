"""`autograder explain`: why a student lost or earned a criterion."""

import json
from pathlib import Path

import click

from autograder.exceptions import ArgumentsError
from autograder.submissions.text import printable


@click.command()
@click.argument("result", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("criterion")
def explain(result: Path, criterion: str) -> None:
    """Show why a criterion was lost or earned: test calls, results, diagnosis and rule.

    RESULT is a file OUT/results/<submission>.json of a run of `grade`, CRITERION an id such as my_module.example. The submission
    is graded again, so its files must still be where they were. The output has hidden calls: do not pass it on to students.
    """
    from autograder.feedback import evidence
    from autograder.gradebook import pool, store
    from autograder.grading.grader import open_grader
    from autograder.homework import rubric
    from autograder.submissions.exports import listing
    from autograder.submissions.uploads import load

    current = rubric.current()
    if criterion not in current.criteria:
        near = [name for name in current.criteria if criterion in name] or list(current.criteria)
        raise click.BadParameter(f"there is no criterion {criterion!r}; known: {', '.join(near)}")
    out = result.absolute().parent.parent
    entries = {entry.key: entry for entry in listing(store.read_run(out).paths, out).entries}
    if result.stem not in entries:
        raise ArgumentsError(f"{result.stem}: not among the submissions of this run any more; see {out / store.RUN}")
    try:
        before = json.loads(result.read_bytes())["extra_data"]
    except (ValueError, KeyError, TypeError):
        raise ArgumentsError(f"{result}: not a result of this kit") from None
    versions = [load(entries[result.stem], current.limits, accept) for accept in (False, True)]
    same = [version for version in versions if pool.submission_digest(version) == before.get("submission")]
    if not same:
        click.echo("note: the submission has changed since it was graded", err=True)
    if before.get("kit") != pool.kit_digest():
        click.echo("note: the kit has changed since then; this is the grading of today", err=True)
    with open_grader() as grader:
        graded = grader.grade((same or versions)[0])
    chosen = next(one for one in graded.graded if one.criterion.id == criterion)
    for line in evidence.lines(chosen, graded):
        click.echo("\n".join(printable(part) for part in line.split("\n")))
