"""Public checks of concept_check.py: only whether every question has an answer, not whether it is right."""

from student_calls import Caller

QUESTIONS = ["q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8"]


def test_every_question_has_an_answer(call: Caller) -> None:
    call.answers().fulfils(
        "a dict with the keys q1 to q8",
        lambda answers: isinstance(answers, dict) and sorted(answers) == QUESTIONS,
        hint='Return {"q1": "a", "q2": ...}, one entry for each question at the top of the file.',
    )


def test_every_answer_is_a_letter(call: Caller) -> None:
    call.answers().fulfils(
        "one of the letters a, b, c, d for each question",
        lambda answers: all(answers[question].lower() in ("a", "b", "c", "d") for question in QUESTIONS),
        hint='One letter in quotation marks for each question, such as "b".',
    )
