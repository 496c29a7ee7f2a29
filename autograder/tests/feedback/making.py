"""Records and results made by hand, as grading would make them."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autograder.grading.charge import Graded
from autograder.grading.grader import ModuleResult, Result
from autograder.grading.judge import judged
from autograder.grading.record import Record, Rules, Step, Target
from autograder.homework import reference
from autograder.homework import rubric as rubrics
from autograder.homework.mistakes import Mistake
from autograder.homework.rubric import Criterion, Visibility
from autograder.intake.submission import Submission
from autograder.sandbox.messages import Call, Ended, Error, Reply
from autograder.values.compare import Fault, tolerance

PLAIN = Rules()
NO_CALL = Call("call", "", b"")


def step(function: str, *args: Any, rules: Rules = PLAIN, number: int = 1, criterion: str = "", **kwargs: Any) -> Step:
    """A call of a reference function with its expected value; a public example unless a criterion is named."""
    module = rubrics.current().module_of(function)
    try:
        with np.errstate(all="ignore"):
            expected = reference.functions()[function](*args, **kwargs)
    except ValueError:
        expected, rules = None, replace(rules, error="ValueError")
    allowed = tolerance((args, kwargs))
    target, parts = Target(module, function), reference.parts(reference.functions()[function])
    return Step(number, target, args, kwargs, expected, allowed, NO_CALL, rules, criterion=criterion, parts=parts)


def played(of: Step, wrong: Callable[..., Any]) -> Record:
    """What came of a step when the student's function is `wrong`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = wrong(*of.args, **of.kwargs)
    except Exception as error:
        kinds = tuple(cls.__name__ for cls in type(error).__mro__[:-1])
        return judged([of], [Reply(error=Error(kinds, str(error), f"{of.target.module}.py", 7, ""))])[0]
    return judged([of], [Reply(value=list(value) if isinstance(value, tuple) else value)])[0]


def raised(
    function: str, kind: str, text: str = "", file: str = "", line: int = 0, hint: str = "", **more: Any
) -> Record:
    """A call with no arguments that matter, which raised an error."""
    module = rubrics.current().module_of(function)
    of = Step(1, Target(module, function), (), {}, None, 0.0, NO_CALL, **more)
    error = Error((kind,), text, file, line, hint, (of.target.function,))
    return Record(of, Reply(error=error), Fault("raised", kind))


def stopped(function: str, why: str) -> Record:
    module = rubrics.current().module_of(function)
    return Record(
        Step(1, Target(module, function), (), {}, None, 0.0, NO_CALL), Reply(ended=Ended(why)), Fault("ended", why)
    )


def hidden(record: Record, criterion: str) -> Record:
    """The same call as one of a hidden criterion."""
    return replace(record, step=replace(record.step, criterion=criterion))


def criterion(id: str, visibility: Visibility = "after_published", **changes: Any) -> Criterion:
    return rubrics.current().criteria[id].model_copy(update={"visibility": visibility, **changes})


def mistake(function: str, name: str, *criteria: str, does: str, right: str, known: bool = True) -> Mistake:
    """A mistake; one that is not known was observed."""
    module = rubrics.current().module_of(function)
    edits = (("a", "b"),) if known else ()
    return Mistake(module, function, name, criteria, does, right, f"the formula of {function}", edits=edits)


def module_of(graded: Sequence[Graded], records: Sequence[Record] = (), broken: Reply | None = None) -> ModuleResult:
    return ModuleResult(graded[0].criterion.module, tuple(graded), broken, tuple(records))


def result(*modules: ModuleResult, files: dict[str, bytes] | None = None) -> Result:
    """A result; every module has a file unless they are given."""
    names = rubrics.current().modules
    return Result(Submission("test", {f"{m}.py": b"" for m in names} if files is None else files), modules, ("fork",))
