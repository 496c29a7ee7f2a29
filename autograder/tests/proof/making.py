"""Rows of the audit, made by hand."""

from autograder.grading.charge import Graded, Why
from autograder.homework import mistakes
from autograder.homework.mistakes import Mistake
from autograder.homework.rubric import current
from autograder.proof.cases import Case, Row


def known(name: str) -> Mistake:
    """A mistake of layer_norm."""
    return next(m for m in mistakes.of_function("layernorm", "layer_norm") if m.name == name)


def graded(
    criterion: str, why: Why, *names: str, undecided: tuple[str, ...] = (), unseen: tuple[str, ...] = ()
) -> Graded:
    """A criterion that is lost, or earned by `why`, with these mistakes of layer_norm."""
    named, alike, hidden = (tuple(map(known, group)) for group in (names, undecided, unseen))
    return Graded(current().criteria[criterion], why, mistakes=named, undecided=alike, unseen=hidden)


def made(case: Case, *criteria: Graded) -> Row:
    return Row(case, {one.criterion.id: one for one in criteria})
