"""Messages about all modules together: a module that fails alone is the cause, and an error shows its file and line."""

from typing import Any

import numpy as np
import pytest

from autograder.feedback.messages import ORDER, causes, may_name, message, tells_as_much
from autograder.grading.call_results import CallResult
from autograder.grading.grader import ModuleResult, Result
from autograder.grading.scoring import CriterionScore
from autograder.sandbox.protocol import Error, Response
from autograder.shared.compare import Failure
from autograder.tests.making import a_test_call, criterion, hidden, module_of, raised, result
from autograder.tests.running import known_responses

DECODER = "integration.decoder"
STACK = a_test_call("transformer_stack", np.array([[1.0, 2.0, 6.0]]), [], 1)
WRONG = hidden(known_responses(STACK, lambda x, blocks, n_heads: x + 1), DECODER)
CRITERIA = {"layernorm": "rms", "decoder": "embed", "scaled_attention": "mask"}


def lost(visibility: Any = "after_published", **changes: Any) -> CriterionScore:
    given: dict[str, Any] = {"why": "unexplained", "call_result": WRONG, "blamed": ("layernorm",)} | changes
    return CriterionScore(criterion(DECODER, visibility), **given)


def not_imported(error: Error) -> CriterionScore:
    return lost(why="not_imported", call_result=CallResult(STACK, Response(error=error), Failure("raised")), blamed=())


def modules_with(**modules: bool) -> tuple[ModuleResult, ...]:
    """Modules with one criterion each, which is earned or lost."""
    failed = CallResult(WRONG.test_call, Response(), Failure("value"))
    lost: dict[str, Any] = {"why": "unexplained", "call_result": failed}
    one = {name: criterion(f"{name}.{CRITERIA[name]}") for name in modules}
    return tuple(module_of([CriterionScore(one[name], **({} if modules[name] else lost))]) for name in modules)


def message_and_result(graded: CriterionScore, *modules: ModuleResult) -> tuple[str, Result]:
    found = result(*modules, ModuleResult("integration", (graded,)))
    return message(graded, found), found


def test_module_without_points_should_be_fixed_first() -> None:
    graded = lost(blamed=())
    text, found = message_and_result(graded, *modules_with(layernorm=False, scaled_attention=True, decoder=False))
    assert causes(graded, found) == ("layernorm",), "a stack is not built on the decoder"
    assert "With all your own modules together, `transformer_block.transformer_stack` returned" in text
    assert "`layernorm.py` earns no points when graded alone. Fix it first." in text
    text, _ = message_and_result(graded, *modules_with(layernorm=True, scaled_attention=True))
    assert "what they import" in text  # no module fails alone


def test_message_names_modules_replaced_by_correct_versions() -> None:
    passed = CriterionScore(criterion(DECODER), blamed=("layernorm",))
    text, _ = message_and_result(passed, *modules_with(layernorm=False))
    assert text.startswith("Awarded: your modules work together if `layernorm.py` is replaced by the reference.")
    text, _ = message_and_result(lost(), *modules_with(layernorm=False))
    assert text.startswith("With `layernorm.py` replaced by the reference, `transformer_block.")
    early = lost("after_due_date")  # shown before the modules' own results
    text, found = message_and_result(early, *modules_with(layernorm=False))
    assert causes(early, found) == () and "layernorm" not in text


def test_a_module_that_cannot_be_imported_is_named() -> None:
    error = Error(("SyntaxError",), "", "", 0, "")
    text, _ = message_and_result(not_imported(error), ModuleResult("layernorm", (), Response(error=error)))
    assert "could not be imported together: SyntaxError." in text and "`layernorm.py` earns no points" in text


@pytest.mark.parametrize(
    ("file", "shown"), [("transformer_block.py", True), ("layernorm.py", True), ("smuggle.py", False)]
)
def test_error_shows_its_line_in_a_known_file(file: str, shown: bool) -> None:
    call_result = raised("transformer_stack", "IndexError", "secret", file, 41, criterion=DECODER)
    unimported = not_imported(Error(("ImportError",), "secret", file, 41, ""))
    for graded in (lost(call_result=call_result, blamed=()), unimported):
        text, _ = message_and_result(graded)
        assert ("on line 41 of" in text) is shown and "secret" not in text


def test_message_names_another_criterion_only_if_it_is_shown_no_later() -> None:
    visible, due, published, never = (criterion("layernorm.rms", visibility) for visibility in ORDER)
    assert may_name(due, visible) and not may_name(visible, due)
    assert may_name(never, published) and not may_name(published, never)


def test_message_does_not_refer_to_a_criterion_with_less_feedback() -> None:
    full, short = criterion("layernorm.rms"), criterion("layernorm.affine", feedback="diagnosis")
    assert tells_as_much(short, full) and not tells_as_much(full, short)
