"""The hidden suites, collected once and run again for each submission.

pytest's own collection, fixtures and hooks are used; what is left out is its report of each test, which costs more than the test.
"""

import contextlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from _pytest.config import _prepareconfig
from _pytest.main import Session

from autograder.grading.planning import Planner
from autograder.grading.pytest_plugin import BENCH, FIXTURES, Subject, criterion_of, mismatches, provide
from autograder.grading.suite import Mismatch, Record
from autograder.grading.trial import Planned, Trial
from autograder.homework import kit
from autograder.homework.rubric import Criterion, Rubric, RubricError
from autograder.sandbox.faults import SandboxFault


class SuiteFault(Exception):
    """A test went wrong in a way that no student can cause."""


@dataclass(frozen=True)
class Outcome:
    """What one test came to: passed, or failed with the wrong call (None where only a property failed)."""

    passed: bool
    record: Record | None = None


class Suites:
    """The collected tests by criterion."""

    def __init__(self, rubric: Rubric):
        self.session, errors = _collect()
        self.config = self.session.config
        if errors:
            raise RubricError(f"the hidden suites cannot be used: {errors}")
        trouble = mismatches(self.session.items, rubric)
        if trouble:
            raise RubricError("\n".join(trouble))
        self.items: dict[str, list[pytest.Function]] = {name: [] for name in rubric.criteria}
        for item in self.session.items:
            assert isinstance(item, pytest.Function)
            self.items[criterion_of(item)].append(item)
        self.plans = {
            name: {item.name: self._plan(rubric, item) for item in items} for name, items in self.items.items()
        }

    def _plan(self, rubric: Rubric, item: pytest.Function) -> list[Planned]:
        """The calls that a test makes as long as the student's answers are right."""
        planner = Planner(rubric, criterion_of(item).partition(".")[0])
        with contextlib.suppress(Exception), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # a test that cannot be planned is reported when a submission is graded
            self._run_item(item, planner)
        return planner.plan

    def ask_ahead(self, criteria: Sequence[Criterion], trial: Trial) -> None:
        """Make all the calls of these criteria's tests now; `run` finds the replies."""
        trial.ahead({test: plan for criterion in criteria for test, plan in self.plans[criterion.id].items()})

    def run(self, criterion: str, trial: Trial) -> Outcome:
        """Run the tests of a criterion against a trial, up to the first that fails."""
        for item in self.items[criterion]:
            trial.log.test = item.name
            try:
                self._run_item(item, trial)
            except Mismatch as mismatch:
                return Outcome(False, mismatch.record)
            except AssertionError:
                return Outcome(False)
            except (Exception, pytest.skip.Exception, pytest.fail.Exception) as error:
                if isinstance(error, SandboxFault):
                    raise
                raise SuiteFault(f"{item.nodeid}: {type(error).__name__}: {error}") from error
        return Outcome(True)

    def _run_item(self, item: pytest.Function, trial: Subject) -> None:
        """Call the test; pytest's own set-up, ten times as slow, is used where a test has fixtures of its own."""
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        names = item._fixtureinfo.argnames
        if all(name in parameters or name in FIXTURES for name in names):
            values = {
                name: parameters[name] if name in parameters else provide(name, trial, item.name) for name in names
            }
            item.obj(**values)
            return
        self.config.stash[BENCH].trials[trial.module] = trial
        item._initrequest()
        try:
            item.ihook.pytest_runtest_setup(item=item)
            item.ihook.pytest_runtest_call(item=item)
        finally:
            item.ihook.pytest_runtest_teardown(item=item, nextitem=None)


class _Errors:
    """A pytest plugin that keeps what went wrong while tests were collected."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.texts.append(f"{report.nodeid}: {report.longreprtext.strip().splitlines()[-1]}")


def _collect() -> tuple[Session, str]:
    """A session with the collected suites, and the first error on the way, if any."""
    without = ("terminal", "cacheprovider", "logging")
    options = ["--disable-plugin-autoload", "-s", "--assert=plain", *(f"-pno:{name}" for name in without)]
    errors = _Errors()
    try:
        config = _prepareconfig([*options, "-c", str(kit.suites() / "pytest.ini"), str(kit.suites())], [errors])
        config._do_configure()
        session = Session.from_config(config)
        config.hook.pytest_sessionstart(session=session)
        config.hook.pytest_collection(session=session)
    except (pytest.UsageError, Session.Failed) as error:
        raise RubricError(f"the hidden suites cannot be collected: {error}") from error
    return session, "; ".join(errors.texts[:3])
