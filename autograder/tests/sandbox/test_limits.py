"""Limits are checked when they are read."""

import pytest
from pydantic import ValidationError

from autograder.sandbox.budget import Limits


@pytest.mark.parametrize(
    "wrong", [{"call_seconds": 0}, {"wall_factor": 0.5}, {"memory_mb": 64}, {"unknown": 1}, {"disk_mb": "x"}]
)
def test_impossible_limits_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Limits(**wrong)  # type: ignore[arg-type]


def test_limits_do_not_change() -> None:
    with pytest.raises(ValidationError):
        Limits().call_seconds = 3
