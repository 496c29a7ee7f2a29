"""Guesses of a class are counted; of a file that a student has written nothing is shown but texts of the notebook."""

import ast
import json
from typing import Any

import pytest

from autograder.gradebook import class_statistics
from autograder.gradebook.class_statistics import Guess
from autograder.homework import kit
from autograder.submissions.submission import Submission

QUESTION = "What is the shape of the array that the first block passes to the second?"
RIGHT, WRONG = "(t, d), the same as its input", "(t, h), the hidden size"


def of(document: Any) -> list[Guess]:
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    return class_statistics.guesses(Submission("s", {"guesses.json": data}))


LONG = b"[" + b"[]," * 5_000_000 + b"[]]"  # as long as an upload may be, and not read


def entry(guess: Any, right: Any = False) -> dict[str, Any]:
    return {"guess": guess, "right": right}


def test_a_guess_is_read() -> None:
    assert of({QUESTION: entry(RIGHT, True)}) == [Guess(QUESTION, RIGHT, True)]
    assert class_statistics.guesses(Submission("s", {})) == []


@pytest.mark.parametrize("document", [
    b"",
    b"\xff",
    b"[1]",
    b"null",
    b"[" * 100_000,
    b"[" + b"[]," * 5_000_000 + b"[]]",
    {QUESTION: None},
    {QUESTION: "x"},
    {QUESTION: {"right": True}},
])  # fmt: skip
def test_a_file_that_is_no_guesses_has_none(document: Any) -> None:
    assert of(document) == []


def test_nothing_is_shown_that_does_not_stand_in_the_notebook() -> None:
    mine = {QUESTION: entry("<b>Ada is stupid</b>", True), "Ada is stupid?": entry(RIGHT), "": entry([RIGHT])}
    assert of(mine) == []


def test_class_is_counted_the_most_frequent_answer_first() -> None:
    wrong, right = of({QUESTION: entry(WRONG)}), of({QUESTION: entry(RIGHT, True)})
    (question,) = class_statistics.questions([wrong, right, wrong, []])
    assert question["answers"] == [(WRONG, 2, False), (RIGHT, 1, True)] and question["count"] == 3


def test_every_question_of_the_notebook_can_be_counted() -> None:
    """All that the notebook may write into guesses.json stands in it as text."""
    cells = json.loads((kit.solutions() / kit.notebook()).read_bytes())["cells"]
    asking = ["".join(cell["source"]) for cell in cells if "predict(\n" in "".join(cell["source"])]
    calls = [node for source in asking for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    questions = [call for call in calls if getattr(call.func, "id", "") == "predict"]
    assert len(questions) > 20
    for call in questions:
        text, choices, right, _ = map(ast.literal_eval, call.args)
        assert of({text: entry(right, True)}) == [Guess(text, right, True)]
        assert all(of({text: entry(choice)}) for choice in choices)
