"""Modules beside those that they depend on: references while they are graded, the submission's own where values are shown."""

from collections.abc import Callable
from typing import Any

import pytest

Grade = Callable[..., dict[str, Any]]
Alter = Callable[[str, str], dict[str, str]]


WRONG_NORM = "def layer_norm(x, gamma, beta, eps=1e-5):\n    return gamma * x + beta"
WRONG_BLOCK = "def pre_norm_block(x, params, n_heads, mask=None):\n    return 2 * x + feed_forward(x, params['ffn'])"
MODULES = ("layernorm", "transformer_block")


def entry(document: dict[str, Any], criterion: str) -> dict[str, Any]:
    return next(test for test in document["tests"] if test["extra_data"]["criterion"] == criterion)


@pytest.mark.slow
def test_a_wrong_dependency_costs_a_visible_criterion_nothing(grade: Grade, alter: Alter) -> None:
    document = grade(alter("layernorm", WRONG_NORM), MODULES)
    assert entry(document, "layernorm.example")["status"] == "failed"
    assert {t["status"] for t in document["tests"] if t["name"].startswith("transformer_block")} <= {"passed"}
    assert entry(document, "transformer_block.example")["status"] == "passed"


@pytest.mark.slow
def test_an_example_beside_a_wrong_dependency_says_which_module_to_fix_first(grade: Grade, alter: Alter) -> None:
    document = grade(alter("layernorm", WRONG_NORM) | alter("transformer_block", WRONG_BLOCK), MODULES)
    example = entry(document, "transformer_block.example")
    assert example["status"] == "failed"
    assert (
        "`transformer_block.py` uses `layernorm.py`, which is wrong or missing: fix `layernorm.py` first."
        in example["output"]
    )
    missing = grade({"layernorm.py": None} | alter("transformer_block", WRONG_BLOCK), ("transformer_block",))
    assert "fix `layernorm.py` first" in entry(missing, "transformer_block.example")["output"]
    alone = grade(alter("transformer_block", WRONG_BLOCK), ("transformer_block",))
    assert "first." not in entry(alone, "transformer_block.example")["output"]


@pytest.mark.slow
def test_a_visible_criterion_that_passes_with_the_submissions_own_modules_passes(grade: Grade, alter: Alter) -> None:
    doubled = "_right = layer_norm\n\n\ndef layer_norm(*args, **named):\n    return 2 * _right(*args, **named)"
    halving = (
        "import layernorm as own\n\n\ndef layer_norm(*args, **named):\n    return own.layer_norm(*args, **named) / 2"
    )
    document = grade(alter("layernorm", doubled) | alter("transformer_block", halving), MODULES)
    assert entry(document, "transformer_block.example")["status"] == "passed"
    assert entry(document, "transformer_block.pre_norm")["status"] == "failed"


TELLING = """
import layernorm


def pre_norm_block(x, params, n_heads, mask=None):
    code = layernorm.layer_norm.__code__
    raise ValueError("TOLD" if code.co_filename != layernorm.__file__ else "own")
"""


@pytest.mark.parametrize("norm", ["", WRONG_NORM])
def test_what_is_shown_at_once_was_said_without_a_reference_in_the_process(
    grade: Grade, alter: Alter, norm: str
) -> None:
    document = grade(alter("layernorm", norm) | alter("transformer_block", TELLING), MODULES)
    example = entry(document, "transformer_block.example")
    assert example["status"] == "failed" and "TOLD" not in example["output"] + document["output"]


@pytest.mark.slow
def test_an_import_that_fails_beside_references_tells_nothing_of_them_at_once(grade: Grade, alter: Alter) -> None:
    telling = "import layernorm\nassert layernorm.layer_norm.__code__.co_filename == layernorm.__file__, 'TOLD'"
    document = grade(alter("transformer_block", telling), ("transformer_block",))
    assert [t["name"] for t in document["tests"] if t["score"]] == [
        entry(document, "transformer_block.example")["name"]
    ]
    assert "TOLD" not in document["output"] + "".join(test["output"] for test in document["tests"])
