"""What a message about the integration may say about each module."""

from autograder.feedback.visibility import may_name
from autograder.grading import plan as plans
from autograder.grading.grader import ModuleResult, Result
from autograder.grading.scoring import CriterionScore
from autograder.homework import rubric
from autograder.homework.rubric import INTEGRATION


def causes(graded: CriterionScore, result: Result) -> tuple[str, ...]:
    """The modules that earn nothing alone, of those that a failing call of the integration may use, in the order of the rubric."""
    if graded.criterion.module != INTEGRATION or graded.call_result is None:
        return ()
    module = graded.call_result.target.module
    needed = {module} | rubric.current().below(module)
    return tuple(m.module for m in result.modules if m.module in needed and _earns_nothing(m, graded))


def _earns_nothing(module: ModuleResult, graded: CriterionScore) -> bool:
    """Whether a module earns nothing, as far as this message may say so."""
    nothing = (not entry.passed and may_name(graded.criterion, entry.criterion) for entry in module.graded)
    return module.broken is not None or all(nothing)


def may_be_named(name: str, graded: CriterionScore, result: Result) -> bool:
    """Whether this message may say that a module is wrong."""
    failures = (failure for m in result.modules if m.module == name for failure in m.graded if not failure.passed)
    return any(may_name(graded.criterion, failure.criterion) for failure in failures)


def not_importable(graded: CriterionScore, result: Result) -> list[str]:
    """The modules that cannot even be imported alone, of those that a criterion needs."""
    called = {test_call.target.module for test_call in plans.current().together(graded.criterion.id)}
    needed = called.union(*map(rubric.current().below, called))
    return [m.module for m in result.modules if m.broken is not None and m.module in needed]
