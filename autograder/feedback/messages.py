"""What a student is told: what was called, what came back, what was expected, what probably went wrong, what to read.

About hidden criteria nothing is said that the student's code could have chosen: only the built-in name of an error, a line
of the student's own file, the name of a known mistake, and the sentences below. Values are shown for public inputs only, and
come from a process that had not been given any hidden input.
"""

from typing import TypeGuard

from autograder.feedback.counterexamples import counterexample
from autograder.feedback.sentences import ENDED, sentence
from autograder.grading.grader import Graded, ModuleResult, Result
from autograder.grading.record import Record
from autograder.homework import catalogue, rubric
from autograder.homework.rubric import INTEGRATION
from autograder.intake.submission import Submission, shown
from autograder.sandbox.messages import Reply


def summary(result: Result) -> str:
    """The message on top: notes on the upload, modules that could not be used, and what the criteria are."""
    lines = [f"- {note}" for note in result.submission.notes]
    lines += [f"- **{m.module}.py**: {_broken(m, result.submission)}" for m in result.modules if _is_broken(m)]
    lines.append("")
    lines.append(
        "Every module is graded alone, next to correct versions of the others: a mistake costs only where it was made."
    )
    return "\n".join(lines).strip() + "\n"


def message(graded: Graded, result: Result) -> str:
    """The message of one criterion, in Markdown."""
    criterion = graded.criterion
    if graded.passed:
        return _excused(graded) if graded.blamed and criterion.feedback != "score" else ""
    if criterion.feedback == "score":
        return "Not right yet. For this criterion only the score is shown."
    module = next(m for m in result.modules if m.module == criterion.module)
    if module.broken is not None:
        return _broken(module, result.submission)
    record = graded.record
    if _unwritten(record):
        return f"`{record.target.function}` is not written yet.\n"
    parts = [_what(graded)]
    if graded.misconception is not None:
        parts.append(f"**Probably:** {graded.misconception.sentence}")
    if criterion.feedback == "full" and graded.shown is not None:
        parts.append(counterexample(graded.shown, named=graded.misconception is not None))
    elif criterion.feedback == "full" and not criterion.visible and _right_in_public(graded):
        parts.append(
            "Your function is right on the small public examples, so think of other shapes, sizes and edge cases."
        )
    if graded.misconception is not None:
        parts.append(f"**Read:** {graded.misconception.read}")
    elif graded.record is not None and graded.record.target.module:
        parts.append(
            f"**Read:** the docstring of `{graded.record.target.function}` in `{graded.record.target.module}.py`"
        )
    return "\n\n".join(parts) + "\n"


def _unwritten(record: Record | None) -> TypeGuard[Record]:
    return record is not None and record.reply.error is not None and record.reply.error.kind == "NotImplementedError"


def _right_in_public(graded: Graded) -> bool:
    """Whether a wrong value was seen, and not only a wrong dtype or a changed argument, in spite of right examples."""
    record = graded.record
    if record is None or record.fault is None or graded.criterion.module == INTEGRATION:
        return False
    about_values = record.fault.kind in ("value", "shape", "type", "length", "raised")
    return about_values and bool(catalogue.examples(record.target.module, record.target.function))


def _excused(graded: Graded) -> str:
    names = " and ".join(f"`{name}`" for name in graded.blamed)
    return (
        f"This works as soon as {names} is right: it was tried with a correct {names} in place of yours and passed, "
        "so nothing is lost here for that mistake.\n"
    )


def _what(graded: Graded) -> str:
    record = graded.record
    if record is None:
        return "The results of several calls do not fit together as the contract says."
    called = f"`{record.target.function}` was called"
    if graded.criterion.module == INTEGRATION:
        called = f"With all your own modules together, `{record.target.module}.{record.target.function}` was called"
    return f"{called}. {sentence(record)}"


# Modules that could not be loaded


def _is_broken(module: ModuleResult) -> bool:
    return module.broken is not None and module.module != INTEGRATION


def _broken(module: ModuleResult, submission: Submission) -> str:
    reply = module.broken
    assert reply is not None
    names = tuple(f"{name}.py" for name in rubric.current().modules)
    if module.module == INTEGRATION:
        return "The modules could not be imported together; see the messages of the modules."
    trouble = submission.trouble(module.module, names)
    if trouble:
        return trouble
    return _not_imported(module.module, reply)


def _not_imported(module: str, reply: Reply) -> str:
    if reply.ended is not None:
        why = (
            ENDED.get(reply.ended.why, ENDED["crash"])
            .replace("The call", "Importing it")
            .replace("the call", "the import")
        )
        return f"`{module}.py` could not be imported. {why}"
    error = reply.error
    assert error is not None
    file = shown(error.file) or f"{module}.py"
    place = f" (line {error.line} of `{file}`)" if error.line else ""
    text = plain(error.text)
    advice = ""
    if error.kind in ("ModuleNotFoundError", "ImportError"):
        advice = " Only NumPy, the standard library and your own files can be imported."
    elif "SyntaxError" in error.kinds:
        advice = " Python cannot read the file; run `python " + module + ".py` at home to see the place."
    return f"`{module}.py` could not be imported: {error.kind}{': ' + text if text else ''}{place}.{advice}"


def plain(text: str) -> str:
    """A student's text on one line, short, without markup."""
    clean = "".join(c if c.isprintable() else " " for c in text.replace("`", "'"))
    for mark in "<>*_[]|#":
        clean = clean.replace(mark, "\\" + mark if mark not in "<>" else {"<": "&lt;", ">": "&gt;"}[mark])
    return clean if len(clean) <= 200 else clean[:197] + "..."
