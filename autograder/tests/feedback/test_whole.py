"""All modules together: the one that fails alone is the cause, and an error has its file and its line."""

from typing import Any

import numpy as np
import pytest

from autograder.feedback.messages import message
from autograder.feedback.whole import causes
from autograder.grading.grader import Graded, ModuleResult, Result
from autograder.grading.record import Fault, Record
from autograder.sandbox.messages import Error, Reply
from autograder.tests.feedback.making import criterion, hidden, played, raised, result, step

X = np.array([[1.0, 2.0, 6.0]])
WRONG = hidden(played(step("transformer_stack", X, [], 1), lambda x, blocks, n_heads: x + 1), "integration.decoder")
WHOLE = Graded(criterion("integration.decoder"), False, "unexplained", WRONG)


def of(module: str, lost: str = "", kind: str = "value", visibility: Any = "after_published") -> ModuleResult:
    """A module with one criterion, lost with a fault of this kind or earned."""
    name = {"layernorm": "layernorm.rms", "decoder": "decoder.embed", "scaled_attention": "scaled_attention.mask"}[
        module
    ]
    record = Record(WRONG.step, Reply(), Fault(kind)) if lost else None
    return ModuleResult(module, (Graded(criterion(name, visibility), not lost, "unexplained", record),))


def told(*modules: ModuleResult, graded: Graded = WHOLE, broken: Reply | None = None) -> tuple[str, Result]:
    found = result(*modules, ModuleResult("integration", (graded,), broken))
    return message(graded, found), found


def test_the_module_that_fails_alone_is_the_cause() -> None:
    text, found = told(of("layernorm", "yes"), of("scaled_attention"), of("decoder", "yes"))
    assert causes(WHOLE, found) == ("layernorm",), "a stack is not built on the decoder"
    assert "`transformer_block.transformer_stack` was called" in text
    assert "**Cause:** `layernorm.py` (see `layernorm.rms`) is wrong alone already. Mend it first." in text
    assert "Probably" not in text


def test_a_dtype_is_no_cause() -> None:
    text, found = told(of("layernorm", "yes", "dtype"), of("scaled_attention"))
    assert causes(WHOLE, found) == ()
    assert "what they import" in text


def test_what_is_shown_later_is_not_told() -> None:
    early = Graded(criterion("integration.decoder", "after_due_date"), False, "unexplained", WRONG)
    text, found = told(of("layernorm", "yes"), graded=early)
    assert causes(early, found) == ()
    assert "layernorm" not in text


def test_a_module_that_cannot_be_imported_is_a_cause() -> None:
    broken = Reply(error=Error(("SyntaxError",), "", "", 0, ""))
    alone = ModuleResult("layernorm", (), broken)
    assert "**Cause:** `layernorm.py` could not be imported" in told(alone, broken=broken)[0]


@pytest.mark.parametrize(
    ("file", "shown"), [("transformer_block.py", True), ("layernorm.py", True), ("smuggle.py", False)]
)
def test_an_error_has_its_file_and_line(file: str, shown: bool) -> None:
    record = raised("transformer_stack", "IndexError", "secret", file, 41, criterion="integration.decoder")
    text, _ = told(graded=Graded(criterion("integration.decoder"), False, "unexplained", record))
    assert ("in line 41 of" in text) is shown
    assert "secret" not in text
    importing = Reply(error=Error(("ImportError",), "secret", file, 41, ""))
    text, _ = told(broken=importing)
    assert ("in line 41 of" in text) is shown
    assert "secret" not in text
