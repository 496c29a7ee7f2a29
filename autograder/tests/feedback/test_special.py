"""Words about hidden calls that fail."""

from typing import Any

import numpy as np
import pytest

from autograder.feedback.special import special
from autograder.homework import reference
from autograder.tests.making import step
from autograder.tests.running import played

F = reference.functions()
X = np.array([[1.0, 2.0, 6.0], [0.0, 4.0, 5.0]])
CALL = "Unlike every passing call of `layer_norm`, this call has "
GAMMA, BETA = np.array([1.0, 2.0, 0.5]), np.zeros(3)


def norm(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
    return F["layer_norm"](x, gamma, beta, eps)


@pytest.mark.parametrize(
    ("wrong", "args", "said"),
    [
        (
            lambda x, g, b, eps: norm(x, g, b, eps or 1e-5),
            (X * 1e-3, GAMMA, BETA, 0.0),
            CALL + "`eps` = 0.",
        ),
        (
            lambda x, g, b: norm(x, g, b)[0],
            (X[:1], GAMMA, BETA),
            CALL + "an axis of length one. The result has an axis too few.",
        ),
        (lambda x, g, b: norm(x, g, b)[None], (X + 1, GAMMA, BETA), "The result has an axis too many."),
        (lambda x, g, b: norm(x, g, b)[:1], (X + 1, GAMMA, BETA), "The result has an axis of another length."),
        (lambda x, g, b: norm(x, g, b) / 0, (X + 1, GAMMA, BETA + 9), "The result has inf."),
        (
            lambda x, g, b: norm(x, g, b) * np.nan,
            (np.ones((2, 3)), GAMMA, BETA),
            CALL + "a constant row. The result has nan.",
        ),
        (lambda x, g, b: norm(x, g, b) + 1, (X + 1, GAMMA, BETA), ""),
    ],
)
def test_words(wrong: Any, args: Any, said: str) -> None:
    right = played(step("layer_norm", X, GAMMA, BETA), norm)
    with np.errstate(all="ignore"):
        record = played(step("layer_norm", *args), wrong)
    assert record.fault is not None and right.fault is None
    assert special(record, (right, record)) == said


def test_what_a_right_call_has_too_is_not_special() -> None:
    wrong, right = played(step("softmax", X[:1]), lambda x: 2 * x), played(step("softmax", X[1:]), F["softmax"])
    assert special(wrong, (wrong, right)) == ""
