"""What is each step for? A step that is given up is one less in every submission; one that is needed must not be.

A call stands or falls together with what looks at it: its repeat, what its arguments and its result hold later, the calls that
are given these objects. Such a group of steps is needed if without it something is seen less often than asked for:
- a known mistake, in each hidden criterion that it belongs to, or in any if it shows in none of them: in two groups, if there are;
- what tells two known mistakes of a function apart, or one from the correct function: in one group, or public example;
- a machine-made mistake, a class of inputs, a program that keeps something between calls, or one that refuses everything: in one.
The worked examples stand in the docstrings and are not asked what they are for, nor are the few steps of the integration.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import click

from autograder.audit import blind_spots, mutants
from autograder.grading import plan as scripts
from autograder.grading.call_results import Step, grouped
from autograder.grading.comparison import judged
from autograder.grading.direct import Direct
from autograder.grading.grader import diagnoser_of
from autograder.grading.responses import Played, alike_in_form
from autograder.homework import factors, library, reference
from autograder.homework import rubric as rubrics
from autograder.homework.library import Mistake

TWICE = 2


@dataclass(frozen=True)
class Need:
    """Something that steps show, in words; the numbers of the steps that show it; in how many groups it is asked for."""

    what: str
    shown: frozenset[int]
    times: int = 1


@dataclass(frozen=True, eq=False)
class CallGroup:
    """A call with what looks at it. `cost`: seconds that the reference takes for it."""

    steps: tuple[Step, ...]
    cost: float

    @property
    def name(self) -> str:
        first = self.steps[0]
        functions = ", ".join(dict.fromkeys(step.target.function for step in self.steps))
        return f"{first.test}, step {first.number} ({functions})"


def run(module: str, needs: Sequence[Need]) -> dict[CallGroup, list[str]]:
    """For each group of hidden steps of a module, the dearest first, what would be lost without it.

    Of groups for which that is nothing those before are taken as left out, so that all of them can be left out together.
    """
    hidden = groups(scripts.current().hidden.get(module, ()))
    owner = {step.number: group for group in hidden for step in group.steps}
    # By what each need is shown: groups, and the single steps that stay whatever happens.
    shown: dict[Need, set[CallGroup | int]] = {n: {owner.get(number, number) for number in n.shown} for n in needs}
    lost = {}
    for group in hidden:
        own = [need for need, places in shown.items() if group in places]
        lost[group] = [need.what for need in own if len(shown[need]) <= need.times]
        if not lost[group]:
            for need in own:
                shown[need].discard(group)
    return lost


def groups(steps: Sequence[Step]) -> list[CallGroup]:
    """Steps with those that speak of them or are given their objects, the dearest first."""
    together = grouped(steps, lambda step: step.needs | ({step.rules.repeats} if step.rules.repeats else set()))
    return sorted((CallGroup(tuple(own), _cost(own)) for own in together), key=lambda group: -group.cost)


def _cost(steps: Iterable[Step]) -> float:
    direct, start = Direct(reference.functions()), time.thread_time()
    for step in steps:
        direct.play(step)
    return time.thread_time() - start


def needs(module: str, graded: Iterable[mutants.Graded]) -> Iterator[Need]:
    """Everything that the steps of a module are to show."""
    diagnoser, script = diagnoser_of(scripts.current()), scripts.current()
    counted = {step.number for step in (*script.visible.get(module, ()), *script.hidden.get(module, ()))}
    for function in rubrics.current().modules[module].functions:
        of_this = library.of_function(module, function)
        if of_this:
            played = diagnoser.played(module, function)
            for mistake in of_this:
                yield from _shown(played, mistake, counted)
            yield from _apart(played, of_this)
    for criterion in rubrics.current().of(module):
        for function in criterion.grades:
            yield from _refusing(module, function, criterion.id)
    for mutant, wrong in graded:
        if mutant.name not in mutants.equivalent():
            yield Need(f"the mutant {mutant.name}", wrong)
    if factors.of_module(module):
        seen = blind_spots.meeting(module, blind_spots.steps(module))
        seen |= blind_spots.showing(module, blind_spots.steps(module))
        for spot, numbers in seen.items():
            if numbers:  # what no step shows is a blind spot, or on record as one
                yield Need(": ".join(spot), frozenset(numbers))


def _shown(played: Played, mistake: Mistake, counted: set[int]) -> Iterator[Need]:
    steps = played.steps.values()
    records = judged(steps, [played.reply(mistake.alone, step.number) for step in steps])
    wrong = {r.step.number: r.step.criterion for r in records if r.fault is not None and r.step.number in counted}
    for criterion in mistake.criteria:
        own = frozenset(number for number, shown in wrong.items() if shown == criterion)
        yield Need(f"{mistake.id} in {criterion}", own or frozenset(wrong), TWICE)


def _refusing(module: str, function: str, criterion: str) -> Iterator[Need]:
    """A function that raises ValueError whatever it is given must not earn a criterion."""

    def refusing(*args: Any, **kwargs: Any) -> Any:
        raise ValueError

    wrong = blind_spots.wrongly(blind_spots.steps(module), function, refusing)
    if numbers := frozenset(step.number for step in wrong if step.criterion == criterion):
        yield Need(f"{function} that rejects everything in {criterion}", numbers)


def _apart(played: Played, library: Sequence[Mistake]) -> Iterator[Need]:
    """The steps that tell two versions of a function apart; none for versions that do the same."""
    correct = played.version(())
    assert correct is not None
    versions = {"right": correct, **{f"{m.id} ({m.way + 1})": m.alone for m in library}}
    for first, second in combinations(versions, 2):
        pair = versions[first], versions[second]
        numbers = frozenset(
            number
            for number, step in played.steps.items()
            if played.differ(*pair, (number,)) or not alike_in_form(step, *(played.reply(v, number) for v in pair))
        )
        if numbers:
            yield Need(f"{first} distinguished from {second}", numbers)


def report(only: Sequence[str] = (), jobs: int | None = None) -> int:
    """Print for each group of steps what would be lost without it; the exit status is 1 if no step shows something."""
    chosen = [name for name in only or rubrics.current().modules if library.of_module(name)]
    every = list(mutants.run(jobs, [mutant for name in chosen for mutant in mutants.mutants(name)]))
    spare, problems = 0, []
    for module in chosen:
        wanted = list(needs(module, [(mutant, wrong) for mutant, wrong in every if mutant.module == module]))
        problems += [f"PROBLEM no test call covers {need.what}" for need in wanted if not need.shown]
        for group, lost in run(module, wanted).items():
            spare += not lost
            more = f" and {len(lost) - 1} more" if lost[1:] else ""
            click.echo(f"{group.name}: {lost[0] if lost else 'nothing'}{more}")
    for problem in problems:
        click.echo(problem)
    click.echo(f"{spare} groups of test calls could be removed together, {len(problems)} problems.")
    return 1 if problems else 0
