"""Messages: what is shown can be pasted into Python, and contains no more than it should."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autograder.feedback import messages as feedback
from autograder.feedback import observations
from autograder.grading.grader import Grader
from autograder.grading.recorder import Fault, Record, Target
from autograder.homework import catalogue, reference
from autograder.homework import rubric as rubrics
from autograder.homework.rubric import Feedback
from autograder.intake.submission import Submission
from autograder.sandbox.messages import Error, Reply

EXAMPLES = [
    pytest.param(module, function, number, id=f"{function}-{number}")
    for module, entry in rubrics.current().modules.items()
    for function in entry.functions
    for number in range(len(catalogue.examples(module, function)))
]


@pytest.mark.parametrize(("module", "function", "number"), EXAMPLES)
def test_counterexample_can_be_pasted_into_python(
    module: str, function: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    args, kwargs = catalogue.examples(module, function)[number]
    try:
        expects, right = "value", reference.functions()[function](*args, **kwargs)
    except ValueError:
        expects, right = "ValueError", None
    record = Record(Target(module, function), args, kwargs, Reply(value=None), Fault("value"), expects=expects)
    found = re.search("```python\n(.*)\n```", feedback.counterexample(record), re.DOTALL)
    assert found is not None
    *setup, call = [line for line in found[1].splitlines() if not line.startswith("#")]
    monkeypatch.setitem(__import__("sys").modules, module, reference.modules()[module])
    names: dict[str, Any] = {}
    exec("\n".join(setup), names)
    if right is None:
        with pytest.raises(ValueError):
            eval(call, names)
    else:
        np.testing.assert_equal(eval(call, names), right)


def test_every_function_has_public_examples() -> None:
    modules = rubrics.current().modules
    assert not [
        f for m in modules if m != "concept_check" for f in modules[m].functions if not catalogue.examples(m, f)
    ]


@pytest.mark.parametrize(
    ("actual", "said"),
    [
        (np.array([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]), "right up to a transpose"),
        (np.arange(1.0, 7.0), "only the shape"),
        (np.array([[2.0, 4.0, 6.0], [8.0, 10.0, 12.0]]), "same factor, 2"),
        (np.array([[1.5, 2.5, 3.5], [4.5, 5.5, 6.5]]), "same amount, 0.5"),
        (np.array([[1.0, 2.0, 3.0], [9.0, 5.0, 1.0]]), "except for the rows 1"),
        (np.array([[1.0, 7.0, 3.0], [4.0, 8.0, 6.0]]), "except for the columns [1]"),
        (np.array([[np.nan, 2.0, 3.0], [4.0, 5.0, 6.0]]), "nan or infinite"),
        (np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), ""),
    ],
)
def test_what_is_known_is_said(actual: "np.ndarray[Any, Any]", said: str) -> None:
    text = observations.observe(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), actual)
    assert said in text
    assert bool(said) == bool(text)


def test_nothing_of_a_students_text_is_markup() -> None:
    text = feedback.plain("<script>*x*</script>\n`a` [b](c) | #" + "y" * 500)
    assert not re.search(r"<|>|(?<!\\)[*|#\[\]]|`|\n", text)
    assert len(text) <= 200


def test_line_of_another_file_is_not_told() -> None:
    error = Error(("KeyError",), "secret", "helper_for_smuggling.py", 1234, "")
    record = Record(Target("layernorm", "layer_norm"), (), {}, Reply(error=error), Fault("raised", "KeyError"))
    assert "1234" not in feedback.sentence(record)
    assert "secret" not in feedback.sentence(record)


@pytest.mark.parametrize(
    ("policy", "named", "example"), [("full", True, True), ("diagnosis", True, False), ("score", False, False)]
)
def test_policy_decides_what_is_told(
    grader: Grader, references: dict[str, bytes], policy: Feedback, named: bool, example: bool
) -> None:
    wrong = next(m for m in catalogue.of_function("layernorm", "rms_norm"))
    files = references | {"layernorm.py": references["layernorm.py"] + wrong.source.encode()}
    result = grader.grade(Submission("wrong", files), ("layernorm",))
    graded = next(g for g in result.graded if not g.passed)
    told = feedback.message(replace(graded, criterion=replace(graded.criterion, feedback=policy)), result)
    assert (wrong.sentence in told) is named
    assert ("**For example:**" in told) is example
