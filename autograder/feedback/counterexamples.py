"""A counterexample as a student sees it: a call that can be pasted into Python, what came back, what was expected."""

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autograder.feedback.observations import differs_by, observe
from autograder.feedback.sentences import ended, form_of_example, sentence
from autograder.feedback.text import said_in_code
from autograder.grading.call_results import Record
from autograder.grading.probes import Tried
from autograder.homework import reference
from autograder.values.display import display, function_source, literal, pair

LONGEST = 3000  # characters of a value that came back


def counterexample(
    record: Record,
    named: bool = False,
    examples: Sequence[Record] = (),
    label: str = "For example",
    outcomes: Sequence[Tried] = (),
) -> str:
    """A wrong public example: the call, what came back, what was expected, and how the two differ.

    `named`: a known mistake is named already, so that no more is said than how the values differ. `examples` are all public
    examples of the same function, `outcomes` those of the trials of this one. `label` stands before it.
    """
    block = "```python\n" + lines(record).replace("```", "'''") + "\n```"
    observation = differs_by(record) if named else observe(record, examples, outcomes)
    said = " ".join(filter(None, (form_of_example(record), observation)))
    return f"**{label}:**\n\n{block}" + (f"\n\n{said}" if said else "")


def lines(record: Record) -> str:
    """The call, what was expected and what came back, as lines of Python."""
    expected, came_back = _results(record)
    return "\n".join([*_call(record), f"# expected: {_commented(expected)}", f"# yours:    {_commented(came_back)}"])


def _call(record: Record) -> Iterator[str]:
    """The call as lines of Python, its larger arguments by name."""
    step = record.step
    yield from ("import numpy as np", f"from {step.target.module} import {step.target.function}", "")
    names = list(inspect.signature(reference.functions()[step.target.function]).parameters)
    arguments = []
    for name, value in zip(names, step.args, strict=False):
        if callable(value):
            lambda_ = value.__name__ == "<lambda>"
            yield f"{name} = {function_source(value)}" if lambda_ else function_source(value)
            arguments.append(name if lambda_ else value.__name__)
        elif isinstance(value, np.ndarray | dict | list):
            yield f"{name} = {literal(value)}"
            arguments.append(name)
        else:
            arguments.append(literal(value))
    arguments += [f"{name}={literal(value)}" for name, value in step.kwargs.items()]
    yield f"{step.target.function}({', '.join(arguments)})"


def _results(record: Record) -> tuple[str, str]:
    """What was expected and what came back, as text."""
    expected, error = record.step.expected, record.step.rules.error
    wanted = f"{error}, because the docstring does not allow these arguments" if error else ""
    if record.reply.ended is not None:
        return wanted or display(expected), ended(record.reply.ended, (f"{record.target.module}.py",))
    if record.reply.error is not None:
        return wanted or display(expected), _raised(record)
    if error:
        return wanted, _bounded(display(record.reply.value))
    if record.fault is not None and record.fault.kind == "dtype":  # other digits would draw the eye off
        return display(expected), _bounded(display(record.reply.value, like=expected))
    shown = pair(expected, record.reply.value)
    return shown[0], _bounded(shown[1])


def _raised(record: Record) -> str:
    error = record.reply.error
    assert error is not None
    if error.hint == "missing":
        return sentence(record)
    text = said_in_code(error.text.partition("\n")[0])
    place = f"  (line {error.line} of {said_in_code(error.file)})" if error.line else ""
    return f"{error.kind}{': ' if text else ''}{text}{place}"


def _bounded(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST] + " ..."


def _commented(text: Any) -> str:
    return "\n#           ".join(line for line in text.split("\n") if line.strip())
