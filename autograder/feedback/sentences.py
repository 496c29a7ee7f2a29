"""What is wrong with one call, in words that the student's code cannot choose."""

import inspect

from autograder.grading.record import Record
from autograder.homework import reference
from autograder.sandbox.messages import Error

ENDED = {
    "deadline": "The call took too long and was stopped: look for a loop that never ends.",
    "crash": "Python itself stopped during the call (os._exit, a crash in C code, or far too deep recursion).",
    "disk": "The call wrote more to its temporary folder than is allowed.",
    "protocol": "The process that ran the module answered in a way that no function can. Homework code must not touch the "
    "grader's connection.",
}
FAULTS = {
    "type": "It returned another kind of thing than the docstring says.",
    "length": "It returned another number of things than the docstring says.",
    "shape": "It returned an array of another shape than the docstring says.",
    "dtype": "It returned another dtype than expected: floating results keep the dtype of floating arguments, and integers "
    "count as float64.",
    "value": "The values that it returned are not the expected ones.",
    "no_error": "It returned something where the docstring asks for a ValueError.",
    "changed": "It changed one of its arguments. A function must leave its arguments as they were; work on a copy.",
    "changed_later": "It changed one of its arguments after it had returned.",
    "unsteady": "The same call gave another result the second time: something is remembered between calls.",
    "shared": "The result shares its memory with an argument; the docstring asks for a new array.",
}
ERRORS = {
    "NotImplementedError": "It is not written yet.",
    "MemoryError": "It needs more memory than is allowed: look for an array that is far larger than the result.",
    "RecursionError": "It calls itself without an end.",
    "PermissionError": "Homework code may not start processes, open sockets, or touch files outside its temporary folder.",
    "BlockingIOError": "Homework code may not start processes, and only a few threads.",
}


def sentence(record: Record) -> str:
    """What is wrong with one call, in words that the student's code cannot choose."""
    assert record.fault is not None
    if record.reply.ended is not None:
        return ENDED.get(record.reply.ended.why, ENDED["crash"])
    if record.reply.error is not None:
        return _raised(record.reply.error, record)
    return FAULTS[record.fault.kind]


def _raised(error: Error, record: Record) -> str:
    function, module = record.target.function, record.target.module
    if error.hint == "missing":
        return f"There is no function `{function}` in `{module}.py`: check its name."
    if error.hint == "signature":
        signature = inspect.signature(reference.functions()[function])
        names = ", ".join(signature.parameters)
        return f"It cannot be called as `{function}({names})`: check the names and the number of its arguments."
    if record.step.rules.error:
        return f"It raised {error.kind}{_where(error, module)}, where the docstring asks for a ValueError."
    advice = ERRORS.get(error.kind, "")
    return f"It raised {error.kind}{_where(error, module)}. {advice}".strip()


def _where(error: Error, module: str) -> str:
    own = error.file == f"{module}.py"
    return f" in line {error.line} of `{module}.py`" if own and error.line else ""
