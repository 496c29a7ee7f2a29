"""The reference solutions agree with PyTorch, whose answers golden/make_golden.py has written down."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.homework import kit, reference

HERE = Path(__file__).parents[1] / "golden"
NAMES = json.loads((HERE / "names.json").read_text(encoding="utf-8"))
GOLDEN = json.loads((HERE / "golden.json").read_text(encoding="utf-8"))


def arrays(value: Any) -> Any:
    """Nested lists of numbers to arrays; the list of blocks stays a list, and a scalar a scalar."""
    if isinstance(value, dict):
        return {key: arrays(item) for key, item in value.items()}
    if isinstance(value, list):
        return [arrays(item) for item in value] if isinstance(value[0], dict) else np.array(value)
    return value


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: f"{case['function']}-{case['name']}")
def test_agrees_with_pytorch(case: dict[str, Any]) -> None:
    result = getattr(reference, case["function"])(**arrays(case["args"]))
    parts = result if isinstance(result, tuple) else (result,)
    assert len(parts) == len(case["expected"])
    for actual, expected in zip(parts, map(arrays, case["expected"]), strict=True):
        assert np.shape(actual) == np.shape(expected)
        np.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-10)


@pytest.fixture(scope="module")
def names() -> Any:
    """The students' module names, which loads the model."""
    return kit.module(kit.solutions() / "tour" / "names.py")


@pytest.mark.parametrize("case", NAMES["cases"], ids=lambda case: f"{case['norm']}-{case['name']}")
def test_the_model_of_names_says_what_it_says_in_pytorch(case: dict[str, Any], names: Any) -> None:
    tokens, params = names.tokens(case["name"]), names.model(case["norm"])
    if case["norm"] == "pre":
        logits = reference.decoder_logits(tokens, params, names.HEADS)
        assert reference.sequence_log_prob(tokens, params, names.HEADS) == pytest.approx(case["log_prob"], abs=1e-10)
    else:
        t, d = len(tokens), params["embedding"].shape[1]
        x = reference.embed(tokens, params["embedding"]) + reference.positional_encoding(t, d)
        x = reference.transformer_stack(x, params["blocks"], names.HEADS, norm="post", mask=reference.causal_mask(t))
        logits = x @ params["w_out"] + params["b_out"]
    np.testing.assert_allclose(logits, case["logits"], rtol=1e-10, atol=1e-10)
