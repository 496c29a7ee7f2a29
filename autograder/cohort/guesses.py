"""What students guessed before they saw the pictures of the notebook: guesses.json, which travels with an upload and is not graded.

A student can write anything into it. So nothing of it is shown but questions and answers that stand in the notebook as texts.
"""

import ast
import contextlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from autograder.homework import kit
from autograder.intake.submission import Submission
from autograder.release.prerequisites import MASTER

FILE = "guesses.json"


@dataclass(frozen=True)
class Guess:
    """One student's first answer to one question."""

    question: str
    answer: str
    right: bool


@dataclass(frozen=True)
class Question:
    """What a class answered: each answer with its number of students and whether it is right, the most frequent first."""

    text: str
    answers: tuple[tuple[str, int, bool], ...]

    @property
    def count(self) -> int:
        return sum(count for _, count, _ in self.answers)


def of(submission: Submission) -> list[Guess]:
    """The guesses of a submission, in the order of the notebook; none of a file that is not as the notebook writes it."""
    try:
        found = json.loads(submission.text(FILE) or b"{}")
        given = [Guess(question, str(one["guess"]), one["right"] is True) for question, one in found.items()]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return []
    known = _texts()
    return sorted((g for g in given if {g.question, g.answer} <= known.keys()), key=lambda g: known[g.question])


def questions(every: Iterable[Iterable[Guess]]) -> list[Question]:
    """The guesses of a class by question, in the order of the notebook."""
    counts: dict[str, Counter[str]] = {}
    right = set()
    for guess in (guess for mine in every for guess in mine):
        counts.setdefault(guess.question, Counter())[guess.answer] += 1
        right |= {(guess.question, guess.answer)} if guess.right else set()
    known = _texts()
    return [
        Question(text, tuple((answer, count, (text, answer) in right) for answer, count in counts[text].most_common()))
        for text in sorted(counts, key=lambda text: known.get(text, 0))
    ]


@cache
def _texts() -> dict[str, int]:
    """The texts that the code of the notebook holds, with their places in it."""
    found: dict[str, int] = {}
    with contextlib.suppress(OSError):  # a kit without a notebook
        cells = json.loads((kit.solutions() / MASTER).read_bytes())["cells"]
        for cell in cells:
            with contextlib.suppress(SyntaxError):  # a cell for Jupyter alone
                tree = ast.parse("".join(cell["source"]) if cell["cell_type"] == "code" else "")
                texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
                for text in (text for text in texts if isinstance(text, str)):
                    found.setdefault(text, len(found))
    return found
