"""All modules together: the one that fails alone is the cause, and an error has its file and its line."""

from typing import Any

import numpy as np
import pytest

from autograder.feedback.messages import causes, message
from autograder.grading.call_results import CallResult
from autograder.grading.grader import ModuleResult, Result
from autograder.grading.scoring import CriterionScore
from autograder.sandbox.messages import Error, Response
from autograder.tests.making import a_test_call, criterion, hidden, raised, result
from autograder.tests.running import known_responses
from autograder.values.compare import Failure

X = np.array([[1.0, 2.0, 6.0]])
WRONG = hidden(
    known_responses(a_test_call("transformer_stack", X, [], 1), lambda x, blocks, n_heads: x + 1), "integration.decoder"
)
WHOLE = CriterionScore(criterion("integration.decoder"), "unexplained", call_result=WRONG)


def of(module: str, lost: str = "", kind: str = "value", visibility: Any = "after_published") -> ModuleResult:
    """A module with one criterion, lost with a fault of this kind or earned."""
    name = {"layernorm": "layernorm.rms", "decoder": "decoder.embed", "scaled_attention": "scaled_attention.mask"}[
        module
    ]
    call_result = CallResult(WRONG.test_call, Response(), Failure(kind)) if lost else None
    return ModuleResult(
        module,
        (CriterionScore(criterion(name, visibility), "unexplained" if lost else "right", call_result=call_result),),
    )


def told(*modules: ModuleResult, graded: CriterionScore = WHOLE) -> tuple[str, Result]:
    found = result(*modules, ModuleResult("integration", (graded,)))
    return message(graded, found), found


def test_a_module_that_earns_nothing_is_to_be_fixed_first() -> None:
    text, found = told(of("layernorm", "yes"), of("scaled_attention"), of("decoder", "yes"))
    assert causes(WHOLE, found) == ("layernorm",), "a stack is not built on the decoder"
    assert "With all your own modules together, `transformer_block.transformer_stack` returned" in text
    assert "`layernorm.py` earns no points when graded alone. Fix it first." in text


def test_what_goes_wrong_between_modules_is_looked_for_between_them() -> None:
    text, _ = told(of("layernorm"), of("scaled_attention"))
    assert "what they import" in text


def test_beside_correct_modules_it_is_said_which() -> None:
    beside = CriterionScore(criterion("integration.decoder"), blamed=("layernorm",))
    text, _ = told(of("layernorm", "yes"), graded=beside)
    assert text.startswith(
        "Awarded: with correct versions of `layernorm.py` in place of yours, your modules work together."
    )
    lost = CriterionScore(criterion("integration.decoder"), "unexplained", call_result=WRONG, blamed=("layernorm",))
    assert told(of("layernorm", "yes"), graded=lost)[0].startswith(
        "With your own modules together, with correct versions of"
    )


def test_what_is_shown_later_is_not_told() -> None:
    early = CriterionScore(
        criterion("integration.decoder", "after_due_date"), "unexplained", call_result=WRONG, blamed=("layernorm",)
    )
    text, found = told(of("layernorm", "yes"), graded=early)
    assert causes(early, found) == ()
    assert "layernorm" not in text


def not_imported(error: Error) -> CriterionScore:
    call_result = CallResult(WRONG.test_call, Response(error=error), Failure("raised"))
    return CriterionScore(criterion("integration.decoder"), "not imported", call_result=call_result)


def test_a_module_that_cannot_be_imported_is_named() -> None:
    error = Error(("SyntaxError",), "", "", 0, "")
    alone = ModuleResult("layernorm", (), Response(error=error))
    assert "`layernorm.py` could not be used" in told(alone, graded=not_imported(error))[0]


@pytest.mark.parametrize(
    ("file", "shown"), [("transformer_block.py", True), ("layernorm.py", True), ("smuggle.py", False)]
)
def test_an_error_has_its_file_and_line(file: str, shown: bool) -> None:
    call_result = raised("transformer_stack", "IndexError", "secret", file, 41, criterion="integration.decoder")
    text, _ = told(graded=CriterionScore(criterion("integration.decoder"), "unexplained", call_result=call_result))
    assert ("on line 41 of" in text) is shown
    assert "secret" not in text
    text, _ = told(graded=not_imported(Error(("ImportError",), "secret", file, 41, "")))
    assert ("on line 41 of" in text) is shown
    assert "secret" not in text
