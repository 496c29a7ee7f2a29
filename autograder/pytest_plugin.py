"""The hidden suites under pytest: the marker, the fixtures, and `--submission` to run them by hand.

Fails of a test are the student's when it raises Mismatch or AssertionError; anything else is a fault of the suite.
A suite is refused (pytest.UsageError) when a test names no criterion of the rubric, or a criterion has no test.
"""

import contextlib
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest

from autograder import reference as references
from autograder import rubric as rubrics
from autograder.rubric import INTEGRATION, Rubric
from autograder.sandbox.process import Sandbox
from autograder.submission import read
from autograder.suite import Check, Log, Reference, rng_for
from autograder.trial import Trial


class Subject(Protocol):
    """What a test is run on."""

    module: str
    log: Log

    def check(self) -> Check: ...

    def student_object(self) -> Check: ...


class Bench:
    """Where the fixtures find the trial of a module: put there by the grader, or made for `--submission`."""

    def __init__(self) -> None:
        self.trials: dict[str, Subject] = {}
        self.cleanup = contextlib.ExitStack()


FIXTURES = {"check", "student", "reference", "rng"}
BENCH = pytest.StashKey[Bench]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "criterion(id): the criterion of rubric.yaml that the test belongs to")
    config.stash[BENCH] = Bench()


def criterion_of(item: pytest.Item) -> str:
    marker = item.get_closest_marker("criterion")
    return str(marker.args[0]) if marker is not None and marker.args else ""


def misplaced(items: list[pytest.Item], rubric: Rubric) -> str:
    """What is wrong with the criterion of the first test that names none of the rubric's; "" if all do."""
    for item in items:
        name = criterion_of(item)
        if name not in rubric.criteria:
            what = (
                f"names the criterion {name!r}, which rubric.yaml does not have" if name else "has no @criterion(...)"
            )
            return f"{item.nodeid} {what}"
    return ""


@pytest.fixture
def trial(request: pytest.FixtureRequest) -> Subject:
    bench = request.config.stash[BENCH]
    module = criterion_of(request.node).partition(".")[0]
    if module not in bench.trials:
        trouble = misplaced([request.node], rubrics.current())
        if trouble:
            raise pytest.UsageError(trouble)
        path = request.config.getoption("--submission")
        if path is None:
            pytest.exit("say which submission to grade: pytest autograder/suites --submission FOLDER", returncode=2)
        bench.trials[module] = by_hand(path, module, bench.cleanup)
    return bench.trials[module]


def provide(name: str, trial: Subject, test: str) -> Any:
    """The value of one of the four fixtures for a test."""
    if name == "check":
        return trial.check()
    if name == "student":
        return trial.student_object()
    return rng_for(test) if name == "rng" else reference_for(trial.module)


@cache
def reference_for(module: str) -> Reference:
    functions, modules = references.functions(), rubrics.current().modules
    if module == INTEGRATION:
        return Reference({name: Reference({f: functions[f] for f in modules[name].functions}) for name in modules})
    return Reference({name: functions[name] for name in modules[module].functions})


@pytest.fixture
def check(trial: Subject) -> Check:
    check: Check = provide("check", trial, "")
    return check


@pytest.fixture
def student(trial: Subject) -> Check:
    student: Check = provide("student", trial, "")
    return student


@pytest.fixture
def reference(trial: Subject) -> Reference:
    return reference_for(trial.module)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    return rng_for(request.node.name)


# by hand: pytest autograder/suites --submission FOLDER


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--submission", type=Path, help="the submission (folder, zip or file) that the hidden suites are run on"
    )


def by_hand(path: Path, module: str, cleanup: contextlib.ExitStack) -> Trial:
    """The module of the submission at `path` on trial, in a sandbox that lasts as long as pytest does."""
    limits = rubrics.current().limits
    submission = read(path, limits)
    sandbox = cleanup.enter_context(Sandbox(limits))
    sandbox.place(submission.files)
    trial = Trial(sandbox, rubrics.current(), module, submission)
    cleanup.callback(trial.close)
    return trial


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[BENCH].cleanup.close()
