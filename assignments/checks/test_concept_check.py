"""Public checks of concept_check.py: whether every question has an answer, not whether it is correct."""

from typing import Any

from student_calls import Caller

QUESTIONS = ["q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8"]
LETTERS = ("a", "b", "c", "d")


def failure(answers: Any) -> str:
    """Missing and invalid answers."""
    if not isinstance(answers, dict):
        return f"it is a {type(answers).__name__}, not a dict"
    missing = [question for question in QUESTIONS if question not in answers]
    lines = [f"there is no answer to {', '.join(missing)}"] if missing else []
    for key, answer in answers.items():
        if key not in QUESTIONS:
            lines.append(f"there is no question {key!r}")
        elif not isinstance(answer, str) or answer.strip().lower() not in LETTERS:
            lines.append(f"the answer to {key} is {answer!r}, not one of the letters a, b, c, d")
    return "\n".join(lines)


def test_every_question_has_one_letter(call: Caller) -> None:
    call.answers().fulfils('a dict such as {"q1": "a", "q2": ...}: a letter for each of q1 to q8', failure)
