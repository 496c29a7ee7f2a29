"""What is wrong with one call, in words that the student's code cannot choose.

Of hidden calls is said: the kind of failure, what the docstring says instead, the built-in name of an error and its line. What
came back is said of public examples only.
"""

import inspect

from autograder.grading.record import Record, Target
from autograder.homework import reference, rubric
from autograder.intake.submission import Submission
from autograder.sandbox.messages import Ended, Error
from autograder.values.changes import WORK_ON_COPIES, in_words
from autograder.values.differences import FORMS, KEEP_DTYPE, form, kind_of, what_returns
from autograder.values.errors import advice, missing, no_such_call
from autograder.values.source import definitions, is_stub, twice

# Of "call" and "import".
ENDED = {
    "deadline": "The {what} took too long and was stopped{where}.",
    "crash": "Python itself stopped during the {what} (os._exit, a crash in C code, or far too deep recursion).",
    "disk": "The {what} wrote more to its temporary folder than is allowed.",
    "memory": "The {what} needed more memory than is allowed: look for an array that is far larger than the result.",
    "spent": "The {what} was not made any more, since others had used up what a submission has. Mend first what takes too long, or "
    "what stops Python.",
    "protocol": "What came back from the {what} is more than any result here needs, or no result at all.",
}
FAULTS = {
    "value": "The values that it returned are not the expected ones.",
    "no_error": "It returned something where the docstring asks for a ValueError.",
    "changed": "It changed one of its arguments. A function must leave its arguments as they were; work on a copy.",
    "changed_later": "After the call one of its arguments was found changed.",
    "unsteady": "The same call gave another result the second time: something is remembered between calls.",
    "overwritten": "A result that it had returned was changed by a later call, or by a change of its argument: return a new array.",
    "shared": "The result shares its memory with an argument; the docstring asks for a new array.",
}


def sentence(record: Record, place: bool = True, files: tuple[str, ...] = ()) -> str:
    """What is wrong with one call, hidden or not, as a sentence that begins with "It" or "The".

    `place`: whether the line of an error is said. It is said of the module's own file, and of `files`.
    """
    assert record.fault is not None
    own = (f"{record.target.module}.py", *files) if place else ()
    if record.reply.ended is not None:
        return ended(record.reply.ended, own)
    if record.reply.error is not None and record.fault.kind == "raised":
        return _raised(record.reply.error, record, own)
    if record.fault.kind in FORMS:
        said = returns(record.target) or kind_of(record.step.expected)
        return f"{FORMS[record.fault.kind]}; {KEEP_DTYPE if record.fault.kind == 'dtype' else 'the docstring says ' + said}."
    if record.fault.kind in ("changed", "changed_later") and record.reply.changed:
        return _changed(record)
    return FAULTS[record.fault.kind]


def form_of_example(record: Record) -> str:
    """What is wrong in the form of a public example's result, with what came back; "" where its form is right."""
    step = record.step
    if record.fault is None or record.fault.kind not in FORMS:
        return ""
    returned = returns(record.target)
    return form(step.expected, step.counted(record.reply.value), step.allowed, step.rules.dtype, returned, step.parts)


def ended(end: Ended, files: tuple[str, ...] = (), what: str = "call") -> str:
    """How a call, or an import, ended the student's process; `files` are those whose lines may be said."""
    loop = where(end.file, end.line, files, "in the loop of line")
    loop += ": look for a loop that never ends" * bool(end.line)
    return ENDED.get(end.why, ENDED["crash"]).format(what=what, where=loop)


def unwritten(record: Record | None, submission: Submission) -> str:
    """A sentence about a function that computes nothing, as its text says, or that is defined twice, the last time so; "" for
    others."""
    if record is None:
        return ""
    function, text = record.target.function, submission.text(f"{record.target.module}.py")
    found = definitions(text).get(function, [])
    if not found or not is_stub(found[-1]):
        return ""
    return f"`{function}` is not written yet. {twice(function, found)}".strip()


def lacking(record: Record) -> str:
    """The contract function of the same module that a call needs, and that is not written or not there; "" if none."""
    error = record.reply.error
    if error is None or error.kind not in ("NotImplementedError", "NameError"):
        return ""
    name = next(iter(error.passed), "")
    others = set(rubric.current().modules[record.target.module].functions) - {record.target.function}
    return name if name in others else ""


def needed(record: Record) -> str:
    """What a call lacks, as "`softmax`, which is not written yet"; "" if nothing."""
    name, error = lacking(record), record.reply.error
    if not name or error is None:
        return ""
    why = f"`{record.target.module}.py` does not have" if error.kind == "NameError" else "is not written yet"
    return f"`{name}`, which {why}"


def where(file: str, line: int, files: tuple[str, ...], place: str = "in line") -> str:
    """ " in line 3 of `file.py`", if the file is one of these and the line is known."""
    return f" {place} {line} of `{file}`" if file in files and line else ""


def _raised(error: Error, record: Record, files: tuple[str, ...]) -> str:
    function, module = record.target.function, record.target.module
    if error.hint == "missing":
        return missing(function, module)
    if error.hint == "signature":
        return no_such_call(function, ", ".join(inspect.signature(reference.functions()[function]).parameters))
    if record.unwritten:
        return f"It still raises NotImplementedError{where(error.file, error.line, files)}."
    if needed(record):
        return f"It needs {needed(record)}."
    raised = f"It raised {error.kind}{where(error.file, error.line, files)}"
    if record.step.rules.error:
        return f"{raised}, where the docstring asks for a {record.step.rules.error}."
    return f"{raised}. {advice(error.kind, error.text)}".strip()


# What the docstring says


def returns(target: Target) -> str:
    """What the docstring of a function says of its result, as half a sentence; "" where it says nothing."""
    return what_returns(inspect.getdoc(reference.functions()[target.function]) or "")


# What has changed


def _changed(record: Record) -> str:
    names = list(inspect.signature(reference.functions()[record.target.function]).parameters)
    step = record.step
    if step.kind == "call":
        names = [*names[: len(step.args)], *step.kwargs]  # arguments by keyword are counted after the others
    # Positions and paths are those of arguments that the grader has made: nothing in them is the student's choice.
    said = in_words(names, record.reply.changed)
    # A call that raised an error may have changed them before.
    seen = "After the call its arguments were changed" if record.step.kind == "changes" else "It changed its arguments"
    return f"{seen}: {said}. {WORK_ON_COPIES}"


def contract_files() -> tuple[str, ...]:
    """The files that a student of this homework writes."""
    return tuple(f"{module}.py" for module in rubric.current().modules)
