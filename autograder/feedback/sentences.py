"""What is wrong with one call, in words that the student's code cannot choose.

Of hidden calls is said: the kind of failure, what the docstring says instead, the built-in name of an error and its line. What
came back is said of public examples only.
"""

import inspect
import re
from typing import Any

import numpy as np

from autograder.grading.record import Record, Target
from autograder.homework import reference, rubric
from autograder.sandbox.messages import Change, Ended, Error
from autograder.values.compare import compare
from autograder.values.kinds import describe

ENDED = {
    "deadline": "The call took too long and was stopped{where}: look for a loop that never ends.",
    "crash": "Python itself stopped during the call (os._exit, a crash in C code, or far too deep recursion).",
    "disk": "The call wrote more to its temporary folder than is allowed.",
    "memory": "The call needed more memory than is allowed: look for an array that is far larger than the result.",
    "spent": "It was not called any more, since other calls had used up what a submission has. Mend first what takes too long, or "
    "what stops Python.",
    "protocol": "What came back is more than any result here needs, or no result at all.",
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
FORMS = {
    "type": "It returned the wrong type",
    "length": "It returned the wrong number of results",
    "shape": "It returned an array of the wrong shape",
    "dtype": "It returned the wrong dtype",
}
ERRORS = {
    "MemoryError": "It needs more memory than is allowed: look for an array that is far larger than the result.",
    "RecursionError": "It calls itself without an end.",
    "PermissionError": "Homework code may not start processes, open sockets, or touch files outside its temporary folder.",
    "BlockingIOError": "Homework code may not start processes, and only a few threads.",
}
CHANGES = {
    "entry written": "an entry of {place} was written",
    "key added": "a key was added to {place}",
    "key removed": "{place} was removed",
    "length": "the length of {place} changed",
    "replaced": "{place} was replaced",
    "dtype or shape": "the shape or the dtype of {place} changed",
}
KEEP_DTYPE = "floating results keep the dtype of the arguments."
RETURNS = re.compile(r"^\s*Returns:\s*(.+?)(?:[.;](?=\s)|\.?\s*\Z|\n\s*\n|\n\s*[A-Z]\w*:)", re.DOTALL | re.MULTILINE)


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
        return f"{FORMS[record.fault.kind]}; {_demanded(record, record.fault.kind)}"
    if record.fault.kind in ("changed", "changed_later") and record.reply.changed:
        return _changed(record)
    return FAULTS[record.fault.kind]


def form_of_example(record: Record) -> str:
    """What is wrong in the form of a public example's result, with what came back; "" where its form is right."""
    kind = record.fault.kind if record.fault is not None else ""
    if kind not in FORMS:
        return ""
    part, expected, actual = _place_of_difference(record)
    hint = " Does every way through the function end with a return?" if actual is None else ""
    if kind == "type":
        came = _kind(actual) if isinstance(expected, tuple) else describe_type(expected, actual)
    elif kind == "length":
        came = str(len(actual))
    else:
        came = f"{actual.shape}" if kind == "shape" else f"{actual.dtype}"
    demanded = f"expected there is {_due(expected)}." if part and kind != "dtype" else _demanded(record, kind, expected)
    return f"{FORMS[kind]}{part}: {came}; {demanded}{hint}"


def describe_type(expected: Any, actual: Any) -> str:
    """What came back in place of an array or a number: only what tells it from what was expected."""
    both = isinstance(expected, np.ndarray) and isinstance(actual, np.ndarray)
    return f"an array of {actual.dtype}" if both else _kind(actual)


def ended(end: Ended, files: tuple[str, ...] = ()) -> str:
    """How a call ended the student's process; `files` are those whose lines may be said."""
    loop = where(end.file, end.line, files).replace(" in line", " in the loop of line")
    return ENDED.get(end.why, ENDED["crash"]).format(where=loop)


def unwritten(record: Record | None) -> bool:
    """Whether a call found a function that is still the stub."""
    return record is not None and record.reply.error is not None and record.reply.error.kind == "NotImplementedError"


def where(file: str, line: int, files: tuple[str, ...]) -> str:
    """ " in line 3 of `file.py`", if the file is one of these and the line is known."""
    return f" in line {line} of `{file}`" if file in files and line else ""


def _raised(error: Error, record: Record, files: tuple[str, ...]) -> str:
    function, module = record.target.function, record.target.module
    if error.hint == "missing":
        return f"There is no function `{function}` in `{module}.py`: check its name."
    if error.hint == "signature":
        signature = inspect.signature(reference.functions()[function])
        names = ", ".join(signature.parameters)
        return f"It cannot be called as `{function}({names})`: check the names and the number of its arguments."
    if error.kind == "NotImplementedError":
        return "It is not written yet."
    raised = f"It raised {error.kind}{where(error.file, error.line, files)}"
    if record.step.rules.error:
        return f"{raised}, where the docstring asks for a {record.step.rules.error}."
    return f"{raised}. {ERRORS.get(error.kind, '')}".strip()


# What the docstring says


def returns(target: Target) -> str:
    """What the docstring of a function says of its result, as half a sentence; "" where it says nothing."""
    text = inspect.getdoc(reference.functions()[target.function]) or ""
    found = RETURNS.search(text)
    said = " ".join(found[1].split()) if found else ""
    return f"an array {said}" if said.startswith("(") else said


def _demanded(record: Record, kind: str, expected: Any = None) -> str:
    if kind == "dtype":
        return KEEP_DTYPE if expected is None else f"the docstring says {expected.dtype} here, since {KEEP_DTYPE}"
    said = returns(record.target)
    if kind == "shape" and expected is not None:
        return (
            f"expected is {expected.shape}."
            if not said
            else f"expected is {expected.shape}, and the docstring says {said}."
        )
    return f"the docstring says {said or _kind(record.step.expected)}."


def _due(part: Any) -> str:
    """What a part of a result is to be."""
    return f"an array of shape {part.shape}" if isinstance(part, np.ndarray) else _kind(part)


def _kind(value: Any) -> str:
    """What kind of thing a value is; a list and a tuple look the same over the wire, but few return a tuple of numbers."""
    if isinstance(value, list | tuple):
        either = any(isinstance(part, np.ndarray) for part in value)
        return f"a list or a tuple of {len(value)}" if either else f"a list of length {len(value)}"
    return "an array" if isinstance(value, np.ndarray) else describe(value)


def _place_of_difference(record: Record) -> tuple[str, Any, Any]:
    """The part of the result that is refused (" in part [1]", "" for the whole), what was expected there, and what came back."""
    expected, actual, rules = record.step.expected, record.reply.value, record.step.rules
    same_form = isinstance(expected, tuple) and isinstance(actual, tuple | list) and len(actual) == len(expected)
    for number, (one, other) in enumerate(zip(expected, actual, strict=True) if same_form else ()):
        if compare(one, other, record.step.allowed, rules.dtype).difference is not None:
            return f" in part [{number}]", one, other
    return "", expected, actual


# What has changed


def _changed(record: Record) -> str:
    names = list(inspect.signature(reference.functions()[record.target.function]).parameters)
    step = record.step
    if step.kind == "call":
        names = [*names[: len(step.args)], *step.kwargs]  # arguments by keyword are counted after the others
    first = {change.argument: change for change in reversed(record.reply.changed)}
    said = [_change(names, first[number]) for number in sorted(first)]
    # A call that raised an error may have changed them before.
    seen = "After the call its arguments were changed" if record.step.kind == "changes" else "It changed its arguments"
    return f"{seen}: {', '.join(said)}. A function must leave its arguments as they were; work on copies."


def _change(names: list[str], change: Change) -> str:
    # Positions and paths are those of arguments that the grader has made: nothing in them is the student's choice.
    name = names[change.argument] if change.argument < len(names) else f"argument {change.argument}"
    place = f"`{name}{''.join(f'[{key!r}]' for key in change.path)}`"
    return CHANGES.get(change.how, CHANGES["replaced"]).format(place=place)


def contract_files() -> tuple[str, ...]:
    """The files that a student of this homework writes."""
    return tuple(f"{module}.py" for module in rubric.current().modules)
