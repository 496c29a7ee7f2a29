"""What students are told, to be read aloud: messages to mistakes chosen at random."""

import random
from collections.abc import Iterator, Sequence

from autograder.feedback.messages import message
from autograder.grading.grader import open_grader
from autograder.homework import rubric as rubrics
from autograder.proof.cases import singles, submission


def some(count: int, only: Sequence[str] = (), seed: int | None = None) -> Iterator[str]:
    """Grade mistakes chosen at random and give the first message of each."""
    every = [case for name in rubrics.current().modules if not only or name in only for case in singles(name)]
    with open_grader() as grader:
        for case in random.Random(seed).sample(every, min(count, len(every))):
            result = grader.grade(submission(case), (case.module,))
            lost = [graded for graded in result.graded if not graded.passed]
            yield f"--- {case.name}: {', '.join(graded.criterion.id for graded in lost) or 'nothing is lost'}\n"
            yield from (message(graded, result) for graded in lost[:1])
