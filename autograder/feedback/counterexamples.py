"""A counterexample for a student: a call to paste into Python, with the expected and the actual result."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from autograder.feedback.observations import differs_by, observe
from autograder.feedback.sentences import form_of_example, line, sentence
from autograder.grading.call_results import CallResult
from autograder.grading.probes import ProbeResult
from autograder.submissions.text import cleaned_code
from autograder.values.display import display, function_source, literal, pair

LONGEST = 3000  # characters of a result
OWN_FILES = "with your own files:"


@dataclass(frozen=True)
class Counterexample:
    """A failing public example: the call as code, and sentences on how the values differ."""

    code: str
    sentences: tuple[str, ...]
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
        """`is_named`: a misconception is already named. `examples` are all public ones of the function, `outcomes` its probes."""
        observation = differs_by(call_result) if is_named else observe(call_result, examples, outcomes)
        sentences = tuple(filter(None, (form_of_example(call_result), observation)))
        return cls(_as_code(lines(call_result)), sentences, is_alike)

    @classmethod
    def beside(cls, call_result: CallResult) -> "Counterexample":
        """An example whose result depends on other files of the submission: nothing is said about its value.

        The value is left out if it is the error of another file, or of importing one.
        """
        error = call_result.error
        is_own = error is None or error.file in ("", f"{call_result.target.module}.py")
        is_import = error is not None and "ImportError" in error.kinds
        return cls(_as_code(lines(call_result, OWN_FILES if is_own and not is_import else "")), (), True)


def _as_code(text: str) -> str:
    """Text that a fenced code block can contain."""
    return text.replace("```", "'''")


def lines(call_result: CallResult, yours: str = "yours:") -> str:
    """The call, the expected result and the actual one, as lines of Python; "" for `yours` leaves the actual one out."""
    labels = [label for label in ("expected:", yours) if label]
    width = max(map(len, labels)) + 3
    results = []
    for label, text in zip(labels, _results(call_result), strict=False):
        rows = [row for row in text.split("\n") if row.strip()]
        results.append(f"# {label}".ljust(width) + f"\n#{' ' * (width - 1)}".join(rows))
    return "\n".join([*_call(call_result), *results])


def _call(call_result: CallResult) -> Iterator[str]:
    """The call as lines of Python, its larger arguments by name."""
    test_call = call_result.test_call
    yield from ("import numpy as np", f"from {test_call.target.module} import {test_call.target.function}", "")
    arguments = []
    for name, value in zip(test_call.names, (*test_call.args, *test_call.kwargs.values()), strict=True):
        prefix = f"{name}=" if name in test_call.kwargs else ""
        if callable(value):
            lambda_ = value.__name__ == "<lambda>"
            yield f"{name} = {function_source(value)}" if lambda_ else function_source(value)
            arguments.append(prefix + (name if lambda_ else value.__name__))
        elif isinstance(value, np.ndarray | dict | list):
            yield f"{name} = {literal(value)}"
            arguments.append(prefix + name)
        else:
            arguments.append(prefix + literal(value))
    yield f"{test_call.target.function}({', '.join(arguments)})"


def _results(call_result: CallResult) -> tuple[str, str]:
    """The expected and the actual result, as text."""
    test_call, response = call_result.test_call, call_result.response
    error, value = test_call.rules.error, response.value
    wanted = f"{error}, because the docstring does not allow these arguments" if error else display(test_call.expected)
    if response.ended is not None:
        came_back = line("ended", response.ended)
    elif response.error is not None:
        came_back = _raised(call_result)
    elif error or call_result.kind == "dtype":  # more digits would distract
        came_back = display(value)
    else:
        wanted, came_back = pair(test_call.expected, value)
    return wanted, came_back if len(came_back) <= LONGEST else came_back[:LONGEST] + " ..."


def _raised(call_result: CallResult) -> str:
    error = call_result.error
    assert error is not None
    if error.hint == "missing":
        return sentence(call_result)
    text = cleaned_code(error.text.partition("\n")[0])
    place = f"  (line {error.line} of {cleaned_code(error.file)})" if error.line else ""
    return f"{error.kind}{': ' if text else ''}{text}{place}"
