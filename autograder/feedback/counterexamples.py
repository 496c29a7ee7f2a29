"""A counterexample as a student sees it: a call to paste into Python, the result and the expected one."""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.feedback.observations import differs_by, observe
from autograder.feedback.sentences import ended, form_of_example, sentence
from autograder.feedback.text import said_in_code
from autograder.grading.call_results import CallResult
from autograder.grading.probes import ProbeResult
from autograder.homework import reference
from autograder.values.display import display, function_source, literal, pair

LONGEST = 3000  # characters of a result


@dataclass(frozen=True)
class Counterexample:
    """A failing public example: the call as code, and sentences on how the values differ."""

    code: str
    said: tuple[str, ...]
    is_alike: bool

    @classmethod
    def of(
        cls,
        call_result: CallResult,
        is_named: bool = False,
        examples: Sequence[CallResult] = (),
        outcomes: Sequence[ProbeResult] = (),
        is_alike: bool = True,
    ) -> "Counterexample":
        """`is_named`: a misconception is named already, so only the difference is described.

        `examples` are all public examples of the same function, `outcomes` the results of the probes. `is_alike`: it fails
        like the call that the message begins with.
        """
        observation = differs_by(call_result) if is_named else observe(call_result, examples, outcomes)
        said = tuple(filter(None, (form_of_example(call_result), observation)))
        return cls(lines(call_result).replace("```", "'''"), said, is_alike)


def lines(call_result: CallResult) -> str:
    """The call, the expected result and the actual one, as lines of Python."""
    expected, came_back = _results(call_result)
    return "\n".join(
        [*_call(call_result), f"# expected: {_commented(expected)}", f"# yours:    {_commented(came_back)}"]
    )


def _call(call_result: CallResult) -> Iterator[str]:
    """The call as lines of Python, its larger arguments by name."""
    test_call = call_result.test_call
    yield from ("import numpy as np", f"from {test_call.target.module} import {test_call.target.function}", "")
    names = list(inspect.signature(reference.functions()[test_call.target.function]).parameters)
    arguments = []
    for name, value in zip(names, test_call.args, strict=False):
        if callable(value):
            lambda_ = value.__name__ == "<lambda>"
            yield f"{name} = {function_source(value)}" if lambda_ else function_source(value)
            arguments.append(name if lambda_ else value.__name__)
        elif isinstance(value, np.ndarray | dict | list):
            yield f"{name} = {literal(value)}"
            arguments.append(name)
        else:
            arguments.append(literal(value))
    arguments += [f"{name}={literal(value)}" for name, value in test_call.kwargs.items()]
    yield f"{test_call.target.function}({', '.join(arguments)})"


def _results(call_result: CallResult) -> tuple[str, str]:
    """The expected and the actual result, as text."""
    expected, error = call_result.test_call.expected, call_result.test_call.rules.error
    wanted = f"{error}, because the docstring does not allow these arguments" if error else ""
    if call_result.response.ended is not None:
        return wanted or display(expected), ended(call_result.response.ended, (f"{call_result.target.module}.py",))
    if call_result.response.error is not None:
        return wanted or display(expected), _raised(call_result)
    if error:
        return wanted, _bounded(display(call_result.response.value))
    if call_result.failed and call_result.kind == "dtype":  # other digits would distract
        return display(expected), _bounded(display(call_result.response.value, like=expected))
    shown = pair(expected, call_result.response.value)
    return shown[0], _bounded(shown[1])


def _raised(call_result: CallResult) -> str:
    error = call_result.response.error
    assert error is not None
    if error.hint == "missing":
        return sentence(call_result)
    text = said_in_code(error.text.partition("\n")[0])
    place = f"  (line {error.line} of {said_in_code(error.file)})" if error.line else ""
    return f"{error.kind}{': ' if text else ''}{text}{place}"


def _bounded(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST] + " ..."


def _commented(text: Any) -> str:
    return "\n#           ".join(line for line in text.split("\n") if line.strip())
