"""Three ways to run a submission: in this process (trusted code), in a sandbox, and with Otter."""

import atexit
import json
import marshal
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.grading.call_results import CallResult, TestCall, compared
from autograder.grading.diagnosis import Diagnoser
from autograder.grading.plan import Plan, record
from autograder.grading.runner.processes import Direct
from autograder.homework import library
from autograder.release import gradescope, rehearsal
from autograder.sandbox import layers
from autograder.sandbox.layers import kernel
from autograder.sandbox.process import Limits, StudentProcess
from autograder.sandbox.protocol import Call, Reference, Response
from autograder.sandbox.sandbox import Sandbox
from autograder.tests.files import HOMEWORK, Built, put

# In this process: misconceptions run on the test plan of the homework, and compared as a submission is


def recorded_calls(module: str) -> tuple[TestCall, ...]:
    """All test calls of a module, in the order in which a process runs them."""
    return (*the_plan().public[module], *the_plan().hidden.get(module, ()))


@cache
def the_plan() -> Plan:
    """The test plan of the homework."""
    return record(HOMEWORK)


@cache
def diagnoser() -> Diagnoser:
    return Diagnoser(the_plan())


def with_source(module: str, *sources: str) -> dict[str, Callable[..., Any]]:
    """The functions of the reference module with these sources appended to its file."""
    names = dict(vars(HOMEWORK.modules[module]))
    for function in HOMEWORK.rubric.modules[module].functions:
        exec(HOMEWORK.correct(module, function).source, names)
    for source in sources:
        exec(source, names)
    return {function: names[function] for function in HOMEWORK.rubric.modules[module].functions}


def with_mistakes(module: str, *ids: str) -> dict[str, Callable[..., Any]]:
    """The functions of a module with these misconceptions; those of one function are combined."""
    chosen: dict[str, list[library.Misconception]] = {}
    for name in ids:
        found = HOMEWORK.misconception(name)
        assert found is not None, name
        chosen.setdefault(found.function, []).append(found)
    made = [HOMEWORK.version(module, function, tuple(own)) for function, own in chosen.items()]
    return with_source(module, *(version.source for version in made if version is not None))


def call_results(
    module: str, functions: Mapping[str, Callable[..., Any]], of: Iterable[TestCall] = ()
) -> list[CallResult]:
    """The results of test calls, by default all of the module, for a submission with these functions."""
    chosen = tuple(of) or recorded_calls(module)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compared(chosen, Direct(functions).run(test_call.call for test_call in chosen))


def in_processes(module: str, made: Callable[[], Mapping[str, Callable[..., Any]]]) -> list[CallResult]:
    """The results of all test calls of a module, with new functions for each process."""
    found: dict[TestCall, CallResult] = {}
    for own in (the_plan().public[module], the_plan().second[module]):
        for call_result in call_results(module, made(), own):
            found.setdefault(call_result.test_call, call_result)
    return list(found.values())


def known_responses(of: TestCall, wrong: Callable[..., Any]) -> CallResult:
    """The result of a test call if the student's function is `wrong`."""
    return call_results(of.target.module, {of.target.function: wrong}, [of])[0]


# In a sandbox: one small module, m.py, and a dependency that it can import

LIMITS = Limits(call_seconds=3)
TIGHT = Limits(call_seconds=0.4, wall_factor=3, disk_mb=4)
HOLDING = layers.holding()
linux = pytest.mark.skipif(not kernel.LINUX, reason="needs Linux")
sealed = pytest.mark.skipif("seccomp" not in HOLDING, reason="needs seccomp")
as_root = pytest.mark.skipif("user" not in HOLDING, reason="only root gives students a user of their own")
forked = pytest.mark.skipif("fork" not in HOLDING, reason="needs fork")


NEIGHBOUR = """
import numpy as np

HIDDEN = "a name of the reference's own"

def plus(x, y=1.0):
    if y < 0:
        raise ValueError("below zero")
    return x + y

def applied(f, x):
    return f(x)
"""
DEPENDENCY = Reference("neighbour", marshal.dumps(compile(NEIGHBOUR, "neighbour.py", "exec")), ("plus", "applied"))


@cache
def shared(limits: Limits, without: tuple[str, ...]) -> Sandbox:
    """A sandbox that many tests share, because opening one takes longer than most tests."""
    sandbox = Sandbox(limits, without)
    atexit.register(sandbox.close)
    return sandbox


@contextmanager
def opened(
    source: str, limits: Limits = LIMITS, without: tuple[str, ...] = (), files: Mapping[str, bytes] | None = None
) -> Iterator[tuple[Sandbox, StudentProcess]]:
    """A sandbox with a student process. m.py is in place but not loaded."""
    sandbox = shared(limits, without)
    sandbox.write({"m.py": source.encode(), **(files or {})})
    with sandbox.start() as process:
        yield sandbox, process
    sandbox.write({})


def loaded(source: str, limits: Limits = LIMITS, without: tuple[str, ...] = ()) -> Response:
    """The response to importing m.py in a sandbox."""
    with opened(source, limits, without) as (_, process):
        return process.load(["m"], [DEPENDENCY])


def said(response: Response) -> str:
    """The text of the error that a module raised."""
    assert response.error is not None, response
    return response.error.text


def responses(
    source: str,
    *calls: tuple[Any, ...],
    limits: Limits = LIMITS,
    without: tuple[str, ...] = (),
    files: Mapping[str, bytes] | None = None,
) -> list[Response]:
    """The responses to calls in one process, each given as a function name and its arguments."""
    with opened(source, limits, without, files) as (_, process):
        response = process.load(["m"], [DEPENDENCY])
        assert response == Response(), response
        return process.run([Call("m", function, args) for function, *args in calls])


def replied(source: str, *args: Any, limits: Limits = LIMITS) -> Response:
    """The response to f(*args)."""
    return responses(source, ("f", *args), limits=limits)[0]


# With the zip: the homework, built once, in folders like those on Gradescope


class Box:
    """A folder like /autograder on Gradescope, with one upload in it."""

    def __init__(self, place: Path, built: Built, upload: Mapping[str, bytes]):
        self.place = place
        self.submission, self.results = place / "submission", place / "results" / "results.json"
        rehearsal.lay_out(place, built.zip, put(place.with_name(f"{place.name}-upload"), upload))

    def document(self) -> Any:
        return json.loads(self.results.read_text())

    def run(self) -> "subprocess.CompletedProcess[str]":
        """Run the zip's run_otter.py, with the kit from the zip's wheel."""
        with tempfile.TemporaryDirectory() as root:
            Path(root).chmod(0o711)  # the user of student code must be able to enter
            command, variables, _ = rehearsal.installed(self.place, Path(root))
            return subprocess.run(command, cwd="/", env=variables, capture_output=True, text=True)

    def run_here(self) -> None:
        """Grade in this process, with the kit under test."""
        gradescope.main(self.place)
