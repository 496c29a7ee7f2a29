"""Renders the sentences of messages.j2, and finds the facts about calls that they depend on."""

import inspect
import re
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path

import jinja2

from autograder.grading.call_results import CallResult, TestCall
from autograder.homework.library import Misconception
from autograder.homework.rubric import TESTS_FILE, Rubric
from autograder.shared import changes, differences, errors
from autograder.shared.source import definitions, is_stub, repeated_definition
from autograder.submissions.submission import Submission
from autograder.submissions.text import listed


def paragraphs(macro: str, *arguments: object, rubric: Rubric | None = None) -> str:
    """Return a macro of messages.j2 as Markdown paragraphs; one that describes an error needs the rubric."""
    rendered = str(getattr(_template().make_module({"rubric": rubric}), macro)(*arguments))
    return re.sub(r"\n(?: *\n)+", "\n\n", rendered).strip()


def line(macro: str, *arguments: object, rubric: Rubric | None = None) -> str:
    """Return a macro of messages.j2 on one line."""
    return " ".join(paragraphs(macro, *arguments, rubric=rubric).split())


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        line=lambda text: " ".join(text.split()),
        code=lambda names: [f"`{name}`" for name in names],
        files=lambda names: [f"`{name}.py`" for name in names],
        listed=listed,
        alike=alike,
    )
    facts = (lacking, returns, part_of, changed, answer_problem, errors.advice, errors.missing)
    environment.globals |= {function.__name__: function for function in facts}
    environment.globals |= {
        "FORMS": differences.FORMS,
        "KEEP_DTYPE": differences.KEEP_DTYPE,
        "TESTS_FILE": TESTS_FILE,
        "VARIES": differences.VARIES,
        "WORK_ON_COPIES": changes.WORK_ON_COPIES,
    }
    return environment.get_template("messages.j2")


def alike(misconceptions: Iterable[Misconception]) -> list[list[Misconception]]:
    """Group equal misconceptions, which several functions may share."""
    groups: dict[tuple[str, str], list[Misconception]] = {}
    for misconception in misconceptions:
        groups.setdefault(misconception.same, []).append(misconception)
    return list(groups.values())


def unwritten(call_result: CallResult | None, submission: Submission) -> str | None:
    """Return a hint about a function whose source computes nothing ("" for no hint); None if it computes something."""
    if call_result is None or (call_result.error is not None and call_result.error.hint == "signature"):
        return None
    return stubs(submission.text(f"{call_result.target.module}.py")).get(call_result.target.function)


@lru_cache(8)
def stubs(text: bytes) -> dict[str, str]:
    """Return the functions of a file that compute nothing, each with a hint if it is defined twice."""
    return {name: repeated_definition(name, nodes) for name, nodes in definitions(text).items() if is_stub(nodes[-1])}


def lacking(call_result: CallResult | None, rubric: Rubric) -> str:
    """Return the unimplemented or missing contract function of the same module that a call needs; "" if none."""
    error = call_result.error if call_result is not None else None
    if call_result is None or error is None or error.kind not in ("NotImplementedError", "NameError"):
        return ""
    name = next(iter(error.passed), "")
    helpers = set(rubric.modules[call_result.target.module].functions) - {call_result.target.function}
    return name if name in helpers else ""


def returns(test_call: TestCall) -> str:
    """Return the docstring's description of a function's result, as a clause; "" if there is none."""
    return differences.what_returns(inspect.getdoc(test_call.reference) or "")


def part_of(call_result: CallResult) -> str:
    """Return the only wrong part of a tuple; "" if the whole result is wrong."""
    failure, names = call_result.failure, call_result.test_call.parts
    if failure is None or failure.part is None:
        return ""
    return f"`{names[failure.part]}`" if names else f"part [{failure.part}]"


def changed(call_result: CallResult) -> str:
    """Return the arguments that changed, and how. The student's code cannot choose positions and paths."""
    return changes.in_words(call_result.test_call.names, call_result.response.changed)


def form_of_example(call_result: CallResult) -> str:
    """Return a sentence on a wrong type, shape or dtype of a public example's result; "" if it is correct."""
    test_call = call_result.test_call
    if not call_result.failed or call_result.kind not in differences.FORMS:
        return ""
    value, text = test_call.counted(call_result.response.value), returns(test_call)
    return differences.form(test_call.expected, value, test_call.allowed, test_call.rules.dtype, text, test_call.parts)


def answer_problem(call_result: CallResult) -> str:
    """Why a question has no answer: a keyword, or the possible letters. It has no arguments, so no hidden input can leak."""
    question, value = call_result.test_call.rules.question, call_result.response.value
    if not question or not call_result.failed:
        return ""
    if not call_result.returned:
        return "failed"
    if not isinstance(value, dict):
        return "type"
    if question not in value:
        return "missing"
    letter = value[question].strip().lower() if isinstance(value[question], str) else ""
    docstring = call_result.test_call.reference.__globals__["__doc__"] or ""
    letters = sorted(set(re.findall(r"^ *([a-z])\) ", docstring, re.MULTILINE)))  # the labels of the possible answers
    return "" if letter in letters else ", ".join(letters)
