"""Messages about the integration: which call fails, and which modules to fix first."""

from autograder.feedback.sentences import about_call, sentence, where
from autograder.feedback.text import listed
from autograder.feedback.visibility import may_name
from autograder.grading import plan as scripts
from autograder.grading.grader import ModuleResult, Result
from autograder.grading.scoring import CriterionScore
from autograder.homework import rubric
from autograder.homework.rubric import INTEGRATION

BETWEEN = (
    "The other modules used in this call work when graded alone. Check how your modules work together: what they "
    "pass to one another, what they import, and what your extra files do."
)


def causes(graded: CriterionScore, result: Result) -> tuple[str, ...]:
    """The modules that earn nothing alone, of those that a failing call of the integration may use, in the order of the rubric."""
    if graded.criterion.module != INTEGRATION or graded.call_result is None:
        return ()
    module = graded.call_result.target.module
    needed = {module} | rubric.current().below(module)
    return tuple(m.module for m in result.modules if m.module in needed and _earns_nothing(m, graded))


def told(graded: CriterionScore, result: Result) -> str:
    """The message of a criterion of the integration that is lost, or earned with reference modules."""
    names = [f"`{name}.py`" for name in graded.blamed if _may_be_named(name, graded, result)]
    beside = f"with correct versions of {listed(names)} in place of yours"
    if not names:
        beside = "with correct modules in place of the wrong ones"
    if graded.passed:
        charged = "Mistakes in those modules are counted under their own criteria."
        return f"Awarded: {beside}, your modules work together. {charged}\n"
    call_result = graded.call_result
    if call_result is None or call_result.failure is None:
        return "The results of several calls do not agree with each other as the docstrings require.\n"
    together = f"With your own modules together, {beside}," if graded.blamed else "With all your own modules together,"
    if graded.why == "not imported":
        return _not_together(graded, result)
    said = sentence(call_result, files=rubric.current().files)
    wrong = [f"`{name}.py`" for name in causes(graded, result)]
    earns, them = ("earns", "it") if len(wrong) == 1 else ("earn", "these")
    advice = f"{listed(wrong)} {earns} no points when graded alone. Fix {them} first." if wrong else BETWEEN
    called = about_call(f"`{call_result.target.module}.{call_result.target.function}`", said)
    return f"{together} {called}\n\n{advice}\n"


def _earns_nothing(module: ModuleResult, graded: CriterionScore) -> bool:
    """Whether a module earns nothing, as far as this message may say so."""
    nothing = (not entry.passed and may_name(graded.criterion, entry.criterion) for entry in module.graded)
    return module.broken is not None or all(nothing)


def _may_be_named(name: str, graded: CriterionScore, result: Result) -> bool:
    """Whether this message may say that a module is wrong."""
    failures = (failure for m in result.modules if m.module == name for failure in m.graded if not failure.passed)
    return any(may_name(graded.criterion, failure.criterion) for failure in failures)


def _not_together(graded: CriterionScore, result: Result) -> str:
    """Why the modules cannot be imported together: only the name and line of the error, since this import comes late."""
    called = {test_call.target.module for test_call in scripts.current().together(graded.criterion.id)}
    needed = called.union(*map(rubric.current().below, called))
    alone = [f"`{m.module}.py`" for m in result.modules if m.broken is not None and m.module in needed]
    if alone:
        return f"{listed(alone)} could not be used; see the message at the top.\n"
    error = graded.call_result.response.error if graded.call_result is not None else None
    raised = f": {error.kind}{where(error.file, error.line, rubric.current().files)}" if error is not None else ""
    return (
        f"The modules could not be imported together{raised}. Each can be imported alone, so check the names they import from "
        "one another.\n"
    )
