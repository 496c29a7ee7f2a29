"""A message speaks of another criterion only where that one is shown no later."""

import pytest

from autograder.feedback.messages import may_name, tells_as_much
from autograder.homework.rubric import Visibility
from autograder.tests.making import criterion


@pytest.mark.parametrize(
    ("reader", "other", "allowed"),
    [
        ("visible", "visible", True),
        ("visible", "after_due_date", False),
        ("after_due_date", "visible", True),
        ("after_due_date", "after_published", False),
        ("after_published", "after_due_date", True),
        ("after_published", "hidden", False),
        ("hidden", "after_published", True),
    ],
)
def test_order(reader: Visibility, other: Visibility, allowed: bool) -> None:
    assert may_name(criterion("layernorm.rms", reader), criterion("layernorm.affine", other)) is allowed


def test_a_criterion_that_tells_less_is_no_place_to_refer_to() -> None:
    full, short = criterion("layernorm.rms"), criterion("layernorm.affine", feedback="diagnosis")
    assert tells_as_much(short, full)
    assert not tells_as_much(full, short)
