"""The floor: the same suites with the student's functions called directly, no process, no wire, no pytest."""

from typing import Any

from autograder.grading.direct import observe
from autograder.grading.planning import Planner
from autograder.grading.pytest_plugin import provide
from autograder.grading.runner import Suites
from autograder.grading.suite import Target
from autograder.homework import reference
from autograder.homework.rubric import Rubric
from autograder.sandbox.messages import Reply


class Direct(Planner):
    """A Caller that calls the references, as if they were the student's."""

    def call(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any], checks: list[str]) -> Reply:
        return observe(reference.functions()[target.function], args, kwargs, checks)

    def again(self, target: Target) -> Reply:
        return Reply()


def run_once(rubric: Rubric, suites: Suites) -> None:
    """All tests of all criteria, once."""
    for module in rubric.groups:
        caller: Any = Direct(rubric, module)
        for criterion in rubric.of(module):
            for item in suites.items[criterion.id]:
                given = item.callspec.params if hasattr(item, "callspec") else {}
                names = item._fixtureinfo.argnames
                item.obj(**{n: given[n] if n in given else provide(n, caller, item.name) for n in names})
