"""What the suites will ask: each test is tried on the reference once, and its calls are noted.

A plan only saves messages (see `trial.py`): a call that turns out otherwise is made when the test makes it.
"""

from dataclasses import replace
from typing import Any

from autograder.grading.suite import Check, Log, Rules, Target
from autograder.grading.trial import Planned, memo
from autograder.homework.rubric import INTEGRATION, Rubric
from autograder.sandbox.messages import Error, Reply, prepared


class Planner:
    """A Caller that answers with the reference and notes every call."""

    def __init__(self, rubric: Rubric, module: str):
        self.module, self.log, self.plan = module, Log(), list[Planned]()
        self.functions = {name: tuple(entry.functions) for name, entry in rubric.modules.items()}

    def check(self) -> Check:
        return Check(self, self.functions, "" if self.module == INTEGRATION else self.module, self.log, Rules())

    student_object = check

    def call(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any], checks: list[str]) -> Reply:
        known = memo.key(args, kwargs)
        if known is not None:
            call = prepared(self.module, target.module, target.function, args, kwargs, checks)
            self.plan.append(Planned(target, known, checks, call))
        try:
            return Reply(value=self.expected(target, args, kwargs))
        except Exception as error:
            return Reply(error=Error((type(error).__name__,), "", "", 0, ""))

    def again(self, target: Target) -> Reply:
        self.plan[-1:] = [replace(planned, again=True) for planned in self.plan[-1:]]
        return Reply()

    def expected(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return memo.expected(target.function, args, kwargs)
