"""Unexplained functions are grouped by their results. Guesses are counted, and only text from the notebook is shown."""

import ast
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autograder.audit.learning import replies_alike
from autograder.feedback.results import Unexplained
from autograder.gradebook import class_statistics
from autograder.gradebook.class_statistics import standalone
from autograder.grading.call_results import CallResult
from autograder.grading.grader import Grader
from autograder.grading.scoring import CriterionScore
from autograder.sandbox.protocol import Error, Response
from autograder.shared.compare import Failure
from autograder.submissions.submission import Student, Submission
from autograder.tests.files import HOMEWORK
from autograder.tests.making import a_test_call, module_of, raised, result

MEDIAN = '''
def rms_norm(x, gamma, eps=1e-6):
    """By Ada Lovelace."""
    # Ada: the median is more robust
    return (gamma * x / np.sqrt(np.median(x**2, axis=-1, keepdims=True) + eps)).astype(x.dtype)
'''
OTHERWISE = """
from statistics import median

def middle(row: list) -> float:
    print("Grace was here")
    return median(float(one) ** 2 for one in row)  # of Grace

def rms_norm(x: np.ndarray, gamma, eps=1e-6):
    if gamma is None:
        raise ValueError("Grace says no")
    roots = np.array([(middle(row) + eps) ** 0.5 for row in x.reshape(-1, x.shape[-1])])
    return (gamma * x / roots.reshape(*x.shape[:-1], 1)).astype(x.dtype)
"""
POWER = """
def rms_norm(x, gamma, eps=1e-6):
    return (gamma * x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) ** 1.1 + eps)).astype(x.dtype)
"""
KNOWN = """
def rms_norm(x, gamma, eps=1e-6):
    return (gamma * x / (np.mean(x**2, axis=-1, keepdims=True) + eps)).astype(x.dtype)
"""


@pytest.mark.slow
def test_functions_with_equal_responses_form_one_group(grader: Grader, references: dict[str, bytes]) -> None:
    """A group has its shortest source first, a public example, and no student's name."""

    def found_in(text: str) -> list[Unexplained]:
        files = references | {"layernorm.py": references["layernorm.py"] + text.encode()}
        return list(class_statistics.unexplained(grader.grade(Submission("s", files), ["layernorm"])))

    texts = {"ada": MEDIAN, "grace": OTHERWISE, "hedy": MEDIAN, "dana": POWER, "emil": KNOWN, "fay": ""}
    found = {name: found_in(text) for name, text in texts.items()}
    first, second = class_statistics.groups(found)
    assert [*first] == ["ada", "hedy", "grace"] and [*second] == ["dana"]
    shortest = class_statistics.shortest(first)
    assert shortest.function == "rms_norm" and shortest.criteria[0] == "layernorm.rms"
    assert found["emil"] == found["fay"] == [], "a known mistake, and a right function"
    example = found["ada"][0].example
    assert "rms_norm(x, gamma)" in example and "# expected:" in example and "# theirs:" in example
    for one in (*found["ada"], *found["grace"]):
        assert "Ada" not in str(one) and "Grace" not in str(one)


X, ONES = np.array([[3.0, 4.0]]), np.ones(2)


def wrong_call(criterion: str, number: int, response: Response) -> CallResult:
    return CallResult(
        a_test_call("rms_norm", X * number, ONES, criterion=criterion, number=number), response, Failure("value")
    )


def test_unexplained_function_has_its_criteria_source_and_example() -> None:
    """Criteria on values come first, then those with more failing calls."""
    error = Error(("ValueError",), "Ada says no", "layernorm.py", 3, "", ("rms_norm",))
    lost = ["layernorm.example", *["layernorm.rms"], *["layernorm.rms_epsilon"] * 2, "layernorm.affine"]
    calls = [wrong_call(name, at, Response(value=at * X)) for at, name in enumerate(lost, 1)]
    passed = replace(calls[0], failure=None)
    scores = [
        CriterionScore(HOMEWORK.rubric.criteria[name], "unexplained", example=example)
        for name, example in zip(
            lost[:-1], [None, raised("layer_norm", "KeyError"), wrong_call("", 9, Response(error=error))], strict=False
        )
    ]
    module = replace(module_of(scores), unexplained={"rms_norm": (*calls, passed)})
    (found,) = class_statistics.unexplained(result(module, files={"layernorm.py": MEDIAN.encode()}))
    example = (
        "x = np.array([[27.0, 36.0]])\ngamma = np.ones(2)\nrms_norm(x, gamma)\n# expected: [[0.848528, 1.131371]]\n"
    )
    assert found == Unexplained(
        "rms_norm", class_statistics.digest_of(calls), ["layernorm.rms_epsilon", "layernorm.rms", "layernorm.example"],
        standalone(MEDIAN.encode(), "rms_norm", HOMEWORK.rubric), f"{example}# theirs:   ValueError  (line 3 of layernorm.py)",
    )  # fmt: skip


def test_variables_named_after_students_are_renamed() -> None:
    text = """def rms_norm(x, gamma, eps=1e-06):

    def GraceMean(hopper_x):
        return np.mean(hopper_x ** 2, axis=-1, keepdims=True)
    ada_1815 = GraceMean(hopper_x=x)
    max = np.max(ada_1815)
    variance = max + eps
    return gamma * x / np.sqrt(variance)
"""
    one = Unexplained("rms_norm", "0", (), text, "")
    people = [
        Student("Ada Lovelace", "1815"),
        Student("Grace", email="hopper@x.org"),
        Student("Ian Max", email="eps@variance.edu"),
    ]
    made = class_statistics.shortest(class_statistics.groups({"a": [one]}, people)[0]).source
    for name in ("Grace", "hopper", "ada", "1815"):
        assert name not in made
    assert {*re.findall(r"name_\d+", made)} == {"name_1", "name_2", "name_3", "name_4"}
    assert "np.max(" in made and "variance = " in made and "gamma, eps=1e-06" in made
    before, after, names = {"np": np}, {"np": np}, np.array([3.0, 4.0])
    exec(text, before)
    exec(made, after)
    assert np.array_equal(before["rms_norm"](names, 1.0), after["rms_norm"](names, 1.0))  # type: ignore[operator]
    assert class_statistics.shortest(class_statistics.groups({"a": [one]})[0]).source == text


def test_standalone_source_includes_everything_the_function_uses() -> None:
    text = "from math import tau, pi\nA = B = 2\nC = A + 1\n\ndef one(x):\n    return two(x)\n\ndef two(x):\n    return x * C\n"
    text += "\nUNUSED = 5\n\n@print\ndef rms_norm(x, gamma, eps=1e-6):\n"
    text += "    for _ in ():\n        print('Ada')\n    assert x, 'Ada'\n"
    text += "    return one(x) * layer_norm(x, gamma, gamma) + tau\n"
    made = standalone(text.encode(), "rms_norm", HOMEWORK.rubric)
    names: dict[str, Any] = {"layer_norm": lambda x, gamma, beta: 10 * x}
    exec(made, names)
    assert names["rms_norm"](1.0, None) == pytest.approx(30 + 2 * np.pi)
    assert made.startswith("def rms_norm(x, gamma, eps=1e-06):\n") and "UNUSED" not in made and "Ada" not in made


def test_stored_source_that_is_not_python_is_ignored(grader: Grader) -> None:
    broken = Unexplained("rms_norm", "0", (), "def rms_norm(max):\n    try:\n        pass\n", "")
    group = class_statistics.groups({"a": [broken], "b": [broken]}, [Student("Ian Max")])[0]
    assert [one.source for one in group.values()] == ["", ""]
    assert not replies_alike(grader, broken)


@pytest.mark.parametrize("text", [
    "",
    "def rms_norm(:",
    "rms_norm = lambda x, gamma: x",
    "\0",
    "def rms_norm(x):\n    return " + "-" * 7000 + "x",
    "def rms_norm(x):\n    return " + "(" * 300 + "x" + ")" * 300,
    "def rms_norm(x):\n    return [" + "1," * 4000 + "]",
], ids=["empty", "no Python", "a lambda", "a zero", "deep", "deeper", "long"])  # fmt: skip
def test_function_without_a_readable_definition_has_no_source(text: str) -> None:
    assert standalone(text.encode(), "rms_norm", HOMEWORK.rubric) == ""


def digest_of(grader: Grader, change: Callable[[Any], Any]) -> str:
    """The digest of a function that returns `change(expected)`."""
    of_module = grader.plan.hidden["layernorm"]
    test_calls = [test_call for test_call in of_module if test_call.target.function == "rms_norm"][:5]
    return class_statistics.digest_of([CallResult(one, Response(value=change(one.expected))) for one in test_calls])


def test_digest_ignores_rounding_and_dtype_but_not_shape_or_type(grader: Grader) -> None:
    doubled = digest_of(grader, lambda value: 2 * value)
    assert digest_of(grader, lambda value: 2 * value * (1 + 1e-15)) == doubled
    assert digest_of(grader, lambda value: (2 * value).astype(np.longdouble)) == doubled
    assert digest_of(grader, lambda value: (2 * value)[None]) != doubled
    assert digest_of(grader, lambda value: 2.01 * value) != doubled
    assert digest_of(grader, lambda value: list(2 * value)) != doubled
    assert digest_of(grader, lambda value: -np.nan * value) == digest_of(grader, lambda value: np.nan * value)
    assert digest_of(grader, lambda value: None) != digest_of(grader, lambda value: "text")
    for value in (
        n / 2.0**power for power in range(1, 20) for n in (1, 3, 5)
    ):  # the last bit of a fraction does not decide
        assert len({digest_of(grader, lambda _, v=value + e: v) for e in (-1e-15, 0.0, 1e-15)}) == 1, value  # type: ignore[misc]


QUESTION = "What is the shape of the array that the first block passes to the second?"
RIGHT, WRONG = "(t, d), the same as its input", "(t, h), the hidden size"


def guesses_in(document: Any) -> list[dict[str, Any]]:
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    return class_statistics.guesses(HOMEWORK, Submission("s", {"guesses.json": data}))


LONG = b"[" + b"[]," * 5_000_000 + b"[]]"  # an upload may be this large, but is not parsed then


def entry(guess: Any, right: Any = False) -> dict[str, Any]:
    return {"guess": guess, "right": right}


@pytest.mark.parametrize("document", [
    b"", b"\xff", b"[1]", b"null", b"[" * 100_000, LONG, {QUESTION: None}, {QUESTION: "x"}, {QUESTION: {"right": True}},
])  # fmt: skip
def test_invalid_guesses_file_has_no_guesses(document: Any) -> None:
    assert guesses_in(document) == []


def test_answers_are_counted_most_frequent_first_and_only_text_of_the_notebook_is_shown() -> None:
    mine = {QUESTION: entry("<b>Ada is stupid</b>", True), "Ada is stupid?": entry(RIGHT), "": entry([RIGHT])}
    assert guesses_in(mine) == []
    wrong, right = guesses_in({QUESTION: entry(WRONG)}), guesses_in({QUESTION: entry(RIGHT, True)})
    (question,) = class_statistics.questions(HOMEWORK, [wrong, right, wrong, []])
    assert question["answers"] == [(WRONG, 2, False), (RIGHT, 1, True)] and question["count"] == 3


def test_every_question_of_the_notebook_is_counted() -> None:
    """Everything the notebook can write to guesses.json is a literal in its source."""
    cells = json.loads((HOMEWORK.solutions / HOMEWORK.notebook).read_bytes())["cells"]
    asking = ["".join(cell["source"]) for cell in cells if "predict(\n" in "".join(cell["source"])]
    calls = [node for source in asking for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    questions = [call for call in calls if getattr(call.func, "id", "") == "predict"]
    assert len(questions) > 20
    for call in questions:
        text, choices, right, _ = map(ast.literal_eval, call.args)
        assert guesses_in({text: entry(right, True)}) == [{"question": text, "answer": right, "right": True}]
        assert all(guesses_in({text: entry(choice)}) for choice in choices)
