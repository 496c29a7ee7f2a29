"""The reference solutions agree with the PyTorch results that golden/make_golden.py recorded."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.tests.files import HOMEWORK

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text(encoding="utf-8"))


def arrays(value: Any) -> Any:
    """Nested lists of numbers as arrays. A list of blocks stays a list, and a scalar stays a scalar."""
    if isinstance(value, dict):
        return {key: arrays(item) for key, item in value.items()}
    if isinstance(value, list):
        return [arrays(item) for item in value] if isinstance(value[0], dict) else np.array(value)
    return value


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: f"{case['function']}-{case['name']}")
def test_agrees_with_pytorch(case: dict[str, Any]) -> None:
    result = HOMEWORK.functions[case["function"]](**arrays(case["args"]))
    parts = result if isinstance(result, tuple) else (result,)
    assert len(parts) == len(case["expected"])
    for actual, expected in zip(parts, map(arrays, case["expected"]), strict=True):
        assert np.shape(actual) == np.shape(expected)
        np.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-10)
