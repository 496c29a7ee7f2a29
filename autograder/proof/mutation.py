"""Mistakes that nobody listed: every reference function, changed a little by machine, and graded as a student's.

A mutant is killed when a call of any criterion is wrong (the plain rule, whatever the rubric says about charging). One that is
right in all of them must be equivalent, that is, still right by the contract; equivalent_mutants.yaml says why, one line
each, and nothing else may survive.

Why ours on `ast`: cosmic-ray writes each mutant over the module and starts a test command for it; mutmut builds a package in
which all mutants stand side by side, and forks its own pytest. For both, suite and code share a process, and a mutant costs a
start of Python. Here a mutant is a submission like any other, goes through the sandbox of a warm grader, and costs some 20 ms.
Nor do they make the mistakes of array code: another axis, no `keepdims`, `sum` for `mean`, no `.copy()`, another array that
has the same shape.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import click
import yaml

from autograder.grading.grader import Grader
from autograder.grading.judge import judged
from autograder.grading.player import Player
from autograder.homework import kit
from autograder.homework import rubric as rubrics
from autograder.intake.submission import Submission
from autograder.proof.graders import each
from autograder.proof.mutants import Mutant, mutants

RECORD = Path(__file__).with_name("equivalent_mutants.yaml")


@dataclass(frozen=True)
class Graded:
    """A mutant and the first criterion that it lost, None for a survivor."""

    mutant: Mutant
    lost: str | None


def run(jobs: int | None = None, chosen: Iterable[Mutant] | None = None) -> Iterator[Graded]:
    """Grade mutants, in their order, in `jobs` processes; all of them unless some are chosen."""
    every = [m for module in rubrics.current().modules for m in mutants(module)] if chosen is None else list(chosen)
    yield from each(_grade, every, jobs)


def _grade(grader: Grader, mutant: Mutant) -> Graded:
    return Graded(mutant, first_lost(grader, mutant))


def first_lost(grader: Grader, mutant: Mutant) -> str | None:
    """The first criterion with a wrong call: by the plain rule, since what is charged elsewhere was seen all the same."""
    script, module = grader.script, mutant.module
    steps = (*script.visible.get(module, ()), *script.hidden.get(module, ()))
    with Player(grader.sandbox, script, _submission(mutant), grader.known) as player:
        replies = player.shown((module,)) | player.hidden(0)
    records = judged(steps, [replies[step] for step in steps])
    return next((record.step.criterion for record in records if record.fault is not None), None)


def _submission(mutant: Mutant) -> Submission:
    right = (kit.solutions() / f"{mutant.module}.py").read_text(encoding="utf-8")
    return Submission(str(mutant), {f"{mutant.module}.py": f"{right}\n\n{mutant.source}\n".encode()})


# equivalent mutants


@cache
def equivalent() -> dict[tuple[str, str, str], str]:
    """Why each recorded mutant is equivalent, by its key."""
    record = yaml.safe_load(RECORD.read_text(encoding="utf-8")) or {}
    reasons = {}
    for function, entries in record.items():
        for entry in entries:
            changed = entry["after"] if isinstance(entry["after"], list) else [entry["after"]]
            reasons.update({(function, entry["before"], after): entry["why"] for after in changed})
    return reasons


def unexplained(graded: Iterable[Graded]) -> list[Mutant]:
    """The survivors that are not recorded as equivalent."""
    return [one.mutant for one in graded if one.lost is None and one.mutant.key not in equivalent()]


def not_equivalent(graded: Iterable[Graded]) -> list[Mutant]:
    """The mutants that are recorded as equivalent, though a criterion was lost: a record, or a suite, is wrong."""
    return [one.mutant for one in graded if one.lost is not None and one.mutant.key in equivalent()]


def report(jobs: int | None = None) -> int:
    """Grade all mutants and print what survives; the exit status is 1 if something does that should not."""
    graded = list(run(jobs))
    recorded = [one for one in graded if one.mutant.key in equivalent()]
    survivors, mistaken = unexplained(graded), not_equivalent(graded)
    for mutant in survivors:
        click.echo(f"PROBLEM survives: {mutant}")
    for mutant in mistaken:
        click.echo(f"PROBLEM recorded as equivalent, but loses a criterion: {mutant}")
    wrong = len(graded) - len(recorded)
    killed = wrong - len(survivors)
    click.echo(
        f"{len(graded)} mutants, {len(recorded)} of them equivalent; killed {killed} of the other {wrong}, "
        f"{100 * killed / max(wrong, 1):.1f} %."
    )
    return 1 if survivors or mistaken else 0
