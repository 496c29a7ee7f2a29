"""Do the hidden tests see every class of inputs? Versions of the references that are wrong on one class only, each tried.

The classes are those of `homework/factors.py`: each value of each factor, each pair of values of two factors that interact, each
way of giving an argument. In its class a probe gives a result with one wrong entry, or no error where there should be one, or it
does not see an argument, or it forgets the dtype. Other probes are right in each single call and wrong in what stays: they
remember results, hand out the same array twice, change arguments. Each must lose a criterion that speaks of its class. What
survives stands in blind_spots.yaml, with the reason.

Probes are the kit's own code and are played in this process, without a sandbox.
"""

import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import click
import numpy as np
import yaml

from autograder.grading import direct
from autograder.grading import script as scripts
from autograder.grading.judge import judged
from autograder.grading.record import Step
from autograder.homework import reference
from autograder.homework import rubric as rubrics
from autograder.proof.probes import Probe, probes

RECORD = Path(__file__).with_name("blind_spots.yaml")
IN_PART = 10  # `part` tries every tenth probe


@dataclass(frozen=True)
class Tried:
    """A probe and the criteria that it lost."""

    probe: Probe
    lost: frozenset[str]

    @property
    def seen(self) -> bool:
        """Whether it lost a criterion that is about its class."""
        return bool(self.lost & self.probe.about)


@cache
def _script() -> scripts.Script:
    return scripts.record(rubrics.current())


def steps(module: str) -> tuple[Step, ...]:
    """The steps that points depend on."""
    return _script().visible.get(module, ()) + _script().hidden.get(module, ())


def tried(probe: Probe) -> Tried:
    """What a probe loses."""
    functions = {**reference.functions(), probe.function: probe.make()}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        steps = _of_function(probe.module, probe.function)
        records = judged(steps, direct.play(functions, steps))
    return Tried(probe, frozenset(record.step.criterion for record in records if record.fault is not None))


@cache
def _of_function(module: str, function: str) -> tuple[Step, ...]:
    """The steps of one function, and those whose objects they are given."""
    known = {step.number: step for step in steps(module)}
    wanted = {step.number for step in known.values() if step.target.function == function}
    needed = {number for step in known.values() if step.number in wanted for number in step.needs}
    return tuple(step for step in known.values() if step.number in wanted | needed)


def run(modules: Iterable[str] = (), jobs: int | None = None, part: bool = False) -> Iterator[Tried]:
    """Try the probes of these modules, or of all, in `jobs` processes; only some of them if `part`."""
    chosen = [(module, part) for module in modules or rubrics.current().modules]
    if jobs == 1:
        yield from chain.from_iterable(map(_of_module, chosen))
        return
    with ProcessPoolExecutor(
        jobs
    ) as pool:  # probes are functions, which do not travel: the other side makes them again
        for (module, _), lost in zip(chosen, pool.map(_lost, chosen), strict=True):
            yield from (Tried(probe, one) for probe, one in zip(_chosen(module, part), lost, strict=True))


def _of_module(work: tuple[str, bool]) -> list[Tried]:
    return list(map(tried, _chosen(*work)))


def _lost(work: tuple[str, bool]) -> list[frozenset[str]]:
    return [one.lost for one in _of_module(work)]


def _chosen(module: str, part: bool) -> list[Probe]:
    return probes(module)[:: IN_PART if part else 1]


# what survives


@cache
def _record() -> dict[str, list[dict[str, Any]]]:
    return yaml.safe_load(RECORD.read_text(encoding="utf-8")) or {}


def reason(probe: Probe) -> str | None:
    """Why a probe may survive, None where nothing is on record."""
    for entry in _record().get(probe.function, []):
        if any(fnmatchcase(probe.name, name) for name in entry["probes"]):
            return str(entry["why"])
    return None


def problems(found: Iterable[Tried]) -> list[str]:
    """The survivors without a reason, and the reasons of probes that do not survive."""
    lines = []
    for one in found:
        if not one.seen and reason(one.probe) is None:
            lost = f", though it loses {', '.join(sorted(one.lost))}" if one.lost else ""
            lines.append(f"keeps all criteria that are about it{lost}: {one.probe}")
        elif one.seen and reason(one.probe) is not None:
            lines.append(f"has a reason to survive, but does not: {one.probe}")
    return lines


def unused(found: Iterable[Tried]) -> list[str]:
    """The entries of blind_spots.yaml that fit none of the probes, when all were tried."""
    names = {(one.probe.function, one.probe.name) for one in found}
    entries = ((function, name) for function, some in _record().items() for entry in some for name in entry["probes"])
    return [
        f"{function}: {name}"
        for function, name in entries
        if not any(function == f and fnmatchcase(n, name) for f, n in names)
    ]


def report(jobs: int | None = None, part: bool = False) -> int:
    """Try the probes and print what survives; the exit status is 1 if something does that has no reason on record."""
    found = list(run(jobs=jobs, part=part))
    wrong = problems(found) + ([] if part else [f"no probe is called so: {name}" for name in unused(found)])
    for line in wrong:
        click.echo(f"PROBLEM {line}")
    survivors = [one.probe for one in found if not one.seen]
    for probe in survivors:
        click.echo(f"survives: {probe} ({reason(probe) or 'no reason on record'})")
    click.echo(f"{len(found)} probes, {len(survivors)} survive, {100 * len(survivors) / max(len(found), 1):.1f} %.")
    return 1 if wrong else 0
