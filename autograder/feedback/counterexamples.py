"""A counterexample as a student sees it: a call that can be pasted into Python, what came back, what was expected."""

import ast
import inspect
import sys
import textwrap
from typing import Any

import numpy as np

from autograder.feedback import observations
from autograder.feedback.sentences import sentence
from autograder.grading.compare import describe
from autograder.grading.record import Record
from autograder.homework import reference
from autograder.sandbox.wire import Opaque


def counterexample(record: Record, named: bool = False) -> str:
    """A call that can be pasted into Python, what came back, what was expected, and what the two have in common."""
    function = reference.functions()[record.target.function]
    lines = ["import numpy as np", f"from {record.target.module} import {record.target.function}", ""]
    names = list(inspect.signature(function).parameters)
    arguments = []
    for name, value in zip(names, record.step.args, strict=False):
        if callable(value):
            lines.append(
                f"{name} = {_lambda(value)}" if value.__name__ == "<lambda>" else inspect.getsource(value).strip()
            )
        elif isinstance(value, np.ndarray | dict | list):
            lines.append(f"{name} = {literal(value)}")
        named_def = callable(value) and value.__name__ != "<lambda>"
        shown_name = name if callable(value) or isinstance(value, np.ndarray | dict | list) else literal(value)
        arguments.append(value.__name__ if named_def else shown_name)
    arguments += [f"{name}={literal(value)}" for name, value in record.step.kwargs.items()]
    lines.append(f"{record.target.function}({', '.join(arguments)})")
    expected = _expected(record)
    lines += [f"# expected: {_commented(expected)}", f"# yours:    {_commented(_came_back(record))}"]
    block = "```python\n" + "\n".join(lines).replace("```", "'''") + "\n```"
    said = " ".join(filter(None, (_form(record), "" if named or record.step.rules.error else _observation(record))))
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
        reference.functions()[record.target.function](*record.step.args, **record.step.kwargs), record.reply.value
    )


def _expected(record: Record) -> str:
    if record.step.rules.error:
        return f"{record.step.rules.error}, because the contract refuses these arguments"
    return display(reference.functions()[record.target.function](*record.step.args, **record.step.kwargs))


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
    if isinstance(value, Opaque):
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
