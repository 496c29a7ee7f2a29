"""What a message about all modules together says: which module fails alone already, and where an error was raised."""

from collections.abc import Iterator

from autograder.feedback.sentences import contract_files, sentence, where
from autograder.feedback.showing import may_name
from autograder.grading.grader import Graded, ModuleResult, Result
from autograder.homework import rubric
from autograder.homework.rubric import INTEGRATION


def causes(graded: Graded, result: Result) -> tuple[str, ...]:
    """The modules that fail alone, of those that a wrong call of the integration builds on, in the order of the rubric."""
    record = graded.record
    if graded.criterion.module != INTEGRATION or record is None:
        return ()
    needed = _builds_on(record.target.module)
    return tuple(m.module for m in result.modules if m.module in needed and _fails(m, graded))


def told(graded: Graded, result: Result) -> str:
    """The message of a lost criterion of the integration."""
    whole = next(m for m in result.modules if m.module == INTEGRATION)
    if whole.broken is not None:
        return _not_together(whole, result)
    record = graded.record
    if record is None or record.fault is None:
        return "The results of several calls do not fit together as the docstrings say.\n"
    said = sentence(record, files=contract_files())
    called = f"With all your own modules together, `{record.target.module}.{record.target.function}` was called. {said}"
    return f"{called}\n\n{_cause(graded, result)}\n"


def _cause(graded: Graded, result: Result) -> str:
    named = causes(graded, result)
    if not named:
        return (
            "Every module that this call needs is right when it is graded alone, next to correct versions of the others. So "
            "look at what your modules hand one another: what they import, and what your own further files do."
        )
    places = {name: _first_lost(name, graded, result) for name in named}
    said = [f"`{name}.py`" + (f" (see `{places[name]}`)" if places[name] else "") for name in named]
    are, it = ("is", "it") if len(said) == 1 else ("are", "these")
    return f"**Cause:** {' and '.join(said)} {are} wrong alone already. Mend {it} first."


def _first_lost(module: str, graded: Graded, result: Result) -> str:
    """The criterion to be read about a module that fails alone."""
    lost = _lost(next(m for m in result.modules if m.module == module), graded)
    return next((one.criterion.id for one in lost), "")


def _fails(module: ModuleResult, graded: Graded) -> bool:
    """Whether a module is wrong alone, as far as that may be said here. A dtype or a changed argument alone is no cause."""
    if module.broken is not None:
        return True
    return any(_of_value(one) for one in _lost(module, graded))


def _lost(module: ModuleResult, graded: Graded) -> Iterator[Graded]:
    lost = (one for one in module.graded if not one.passed and may_name(graded.criterion, one.criterion))
    yield from sorted(lost, key=lambda one: not _of_value(one))


def _of_value(graded: Graded) -> bool:
    fault = graded.record.fault if graded.record is not None else None
    return fault is not None and fault.kind not in ("dtype", "changed", "changed_later", "shared", "overwritten")


def _builds_on(module: str) -> set[str]:
    below = rubric.current().modules[module].uses
    return {module}.union(*(_builds_on(name) for name in below))


def _not_together(whole: ModuleResult, result: Result) -> str:
    """Why the modules cannot be imported together. Of that import, which comes late, only name and line of an error are said."""
    reply = whole.broken
    alone = [f"`{m.module}.py`" for m in result.modules if m.broken is not None and m.module != INTEGRATION]
    if alone:
        return f"**Cause:** {' and '.join(alone)} could not be imported; the message on top says why.\n"
    error = reply.error if reply is not None else None
    raised = f": {error.kind}{where(error.file, error.line, contract_files())}" if error is not None else ""
    return (
        f"The modules could not be imported together{raised}. Each can be imported alone, so look at the names that they import "
        "from one another.\n"
    )
