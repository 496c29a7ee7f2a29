"""Modules with known mistakes in them, played in this process on the script of the homework and judged as a submission is."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np

from autograder.grading import script
from autograder.grading.diagnosis import Diagnoser
from autograder.grading.direct import play
from autograder.grading.judge import judged
from autograder.grading.record import Record, Step
from autograder.homework import mistakes, reference, rubric


def steps(module: str) -> tuple[Step, ...]:
    """All steps of a module, in the order in which a process plays them."""
    current = script.current()
    return (*current.shown(module), *current.hidden.get(module, ()))


@cache
def diagnoser() -> Diagnoser:
    return Diagnoser(rubric.current(), {module: steps(module) for module in rubric.current().modules})


def with_source(module: str, *sources: str) -> dict[str, Callable[..., Any]]:
    """The functions of the reference module after these texts were appended to its file."""
    names = dict(vars(reference.modules()[module]))
    for function in rubric.current().modules[module].functions:
        exec(mistakes.correct(module, function).source, names)
    for source in sources:
        exec(source, names)
    return {function: names[function] for function in rubric.current().modules[module].functions}


def with_mistakes(module: str, *ids: str) -> dict[str, Callable[..., Any]]:
    """The functions of a module with known mistakes in them; those of one function stand in it together."""
    chosen: dict[str, list[mistakes.Mistake]] = {}
    for name in ids:
        found = mistakes.find(name)
        assert found is not None, name
        chosen.setdefault(found.function, []).append(found)
    made = [mistakes.made(module, function, tuple(own)) for function, own in chosen.items()]
    return with_source(module, *(version.source for version in made if version is not None))


def records(module: str, functions: Mapping[str, Callable[..., Any]], of: Iterable[Step] = ()) -> list[Record]:
    """What a submission of these functions makes of the steps."""
    chosen = tuple(of) or steps(module)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return judged(chosen, play(functions, chosen))
