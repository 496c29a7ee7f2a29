"""What a student is told: what was called, what came back, what was expected, what probably went wrong, what to read.

About hidden criteria nothing is said that the student's code could have chosen: only the built-in name of an error, a line
of the student's own file, the name of a known mistake, and the sentences below. Values are shown for public inputs only, and
come from a process that had not been given any hidden input.
"""

import ast
import inspect
import sys
import textwrap
from typing import Any, TypeGuard

import numpy as np

from autograder.feedback import observations
from autograder.grading.compare import describe
from autograder.grading.grader import Graded, ModuleResult, Result
from autograder.grading.suite import Record
from autograder.homework import catalogue, reference, rubric
from autograder.homework.rubric import INTEGRATION
from autograder.intake.submission import Submission
from autograder.intake.text import shown
from autograder.sandbox.messages import Error, Reply
from autograder.sandbox.wire import Oddity

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
    if record.expects != "value":
        return f"It raised {error.kind}{_where(error, module)}, where the docstring asks for a ValueError."
    advice = ERRORS.get(error.kind, "")
    return f"It raised {error.kind}{_where(error, module)}. {advice}".strip()


def _where(error: Error, module: str) -> str:
    own = error.file == f"{module}.py"
    return f" in line {error.line} of `{module}.py`" if own and error.line else ""


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


# Counterexamples


def counterexample(record: Record, named: bool = False) -> str:
    """A call that can be pasted into Python, what came back, what was expected, and what the two have in common."""
    function = reference.functions()[record.target.function]
    lines = ["import numpy as np", f"from {record.target.module} import {record.target.function}", ""]
    names = list(inspect.signature(function).parameters)
    arguments = []
    for name, value in zip(names, record.args, strict=False):
        if callable(value):
            lines.append(
                f"{name} = {_lambda(value)}" if value.__name__ == "<lambda>" else inspect.getsource(value).strip()
            )
        elif isinstance(value, np.ndarray | dict | list):
            lines.append(f"{name} = {literal(value)}")
        named_def = callable(value) and value.__name__ != "<lambda>"
        shown_name = name if callable(value) or isinstance(value, np.ndarray | dict | list) else literal(value)
        arguments.append(value.__name__ if named_def else shown_name)
    arguments += [f"{name}={literal(value)}" for name, value in record.kwargs.items()]
    lines.append(f"{record.target.function}({', '.join(arguments)})")
    expected = _expected(record)
    lines += [f"# expected: {_commented(expected)}", f"# yours:    {_commented(_came_back(record))}"]
    block = "```python\n" + "\n".join(lines).replace("```", "'''") + "\n```"
    said = " ".join(filter(None, (_form(record), "" if named or record.expects != "value" else _observation(record))))
    return f"**For example:**\n\n{block}" + (f"\n\n{said}" if said else "")


def _form(record: Record) -> str:
    """What kind of thing came back, where that is what is wrong."""
    fault = record.fault
    if fault is None or fault.kind not in ("type", "length", "shape", "dtype"):
        return ""
    hint = " Does every way through the function end with a return?" if record.reply.value is None else ""
    return fault.text[0].upper() + fault.text[1:] + "." + hint


def _observation(record: Record) -> str:
    if record.reply.error is not None or record.reply.ended is not None:
        return ""
    return observations.observe(
        reference.functions()[record.target.function](*record.args, **record.kwargs), record.reply.value
    )


def _expected(record: Record) -> str:
    if record.expects != "value":
        return f"{record.expects}, because the contract refuses these arguments"
    return display(reference.functions()[record.target.function](*record.args, **record.kwargs))


def _came_back(record: Record) -> str:
    if record.reply.ended is not None:
        return sentence(record)
    error = record.reply.error
    if error is None:
        text = display(record.reply.value)
        return text if len(text) <= 3000 else text[:3000] + " ..."
    if error.hint in ("missing", "signature") or error.kind == "NotImplementedError":
        return sentence(record)
    text = "".join(c if c.isprintable() else " " for c in error.text)
    return f"{error.kind}{': ' if text else ''}{text}" + (f"  (line {error.line})" if error.line else "")


def _commented(text: str) -> str:
    return "\n#           ".join(line for line in text.split("\n") if line.strip())


def display(value: Any, depth: int = 2) -> str:
    """A value as it is shown: numbers to six digits, with dtype and shape where they are not obvious.

    What is much larger than any result is only described, and so are lists in lists: a student's value may be anything.
    """
    if isinstance(value, np.ndarray) and value.size <= 512:
        text = np.array2string(value, precision=6, suppress_small=True, separator=", ", threshold=64, max_line_width=96)
        plain_float = value.dtype in (np.float64, np.bool_, np.int64)
        return (
            text
            + ("" if value.ndim and plain_float else f"  ({value.dtype})")
            + (f"  (shape {value.shape})" if value.ndim > 2 else "")
        )
    if isinstance(value, tuple | list) and depth:
        inner = ",\n".join(display(part, depth - 1) for part in list(value)[:8])
        return f"({inner})"
    if isinstance(value, Oddity):
        return value.kind
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    if isinstance(value, bool | int | np.integer | np.bool_ | None):
        return str(value)
    return describe(value)


def literal(value: Any) -> str:
    """A value of ours as Python source."""
    if isinstance(value, np.ndarray):
        dtype = "" if value.dtype in (np.float64, np.int64, np.bool_) else f", dtype=np.{value.dtype}"
        return f"np.array({_numbers(value)}{dtype})"
    if isinstance(value, dict):
        return _wrapped("{", [f"{key!r}: {literal(part)}" for key, part in value.items()], "}")
    if isinstance(value, list):
        return _wrapped("[", [literal(part) for part in value], "]")
    return repr(value.item() if isinstance(value, np.generic) else value)


def _wrapped(start: str, parts: list[str], end: str) -> str:
    """Parts on one line where they fit, else a line each."""
    line = start + ", ".join(parts) + end
    if len(line) <= 100 and "\n" not in line:
        return line
    return start + "\n" + textwrap.indent(",\n".join(parts), "    ") + ",\n" + end


def _numbers(value: "np.ndarray[Any, Any]") -> str:
    if value.ndim:
        return "[" + ", ".join(_numbers(part) for part in value) + "]"
    text = str(value.item() if value.dtype != np.float32 else value[()])
    return text.replace("inf", "np.inf").replace("nan", "np.nan")


def _lambda(function: Any) -> str:
    """The source of a lambda of ours."""
    tree = ast.parse(inspect.getsource(sys.modules[function.__module__]))
    line = function.__code__.co_firstlineno
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda) and node.lineno == line]
    return ast.unparse(found[0])
