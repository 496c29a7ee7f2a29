"""A counterexample can be pasted into Python, and shows the expected and the actual result."""

import sys
from typing import Any

import numpy as np
import pytest

from autograder.feedback.counterexamples import lines
from autograder.feedback.sentences import form_of_example
from autograder.grading.call_results import CallResult, Rules
from autograder.tests.files import HOMEWORK
from autograder.tests.making import a_test_call, raised, stopped
from autograder.tests.running import known_responses

EXAMPLES = [
    pytest.param(function, number, id=f"{function}-{number}")
    for module, entry in HOMEWORK.rubric.modules.items()
    for function in entry.functions
    for number in range(len(HOMEWORK.library[module][function].examples))
]


@pytest.mark.parametrize(("function", "number"), EXAMPLES)
def test_counterexample_can_be_pasted_into_python(function: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    args, kwargs = HOMEWORK.library[HOMEWORK.rubric.module_of(function)][function].examples[number]
    call_result = known_responses(a_test_call(function, *args, **kwargs), lambda *args, **kwargs: None)
    *setup, call = [line for line in lines(call_result, HOMEWORK.rubric).splitlines() if not line.startswith("#")]
    module = call_result.target.module
    monkeypatch.setitem(sys.modules, module, HOMEWORK.modules[module])
    names: dict[str, Any] = {}
    exec("\n".join(setup), names)
    if call_result.test_call.rules.error:
        with pytest.raises(ValueError):
            eval(call, names)
    else:
        np.testing.assert_equal(eval(call, names), call_result.test_call.expected)


SOFTMAX = HOMEWORK.functions["softmax"]
OPEN_ERROR = raised("softmax", "OSError", "no '/tmp/autograder-x1/w.npy'", "scaled_attention.py", 12)
FLOAT32 = a_test_call("softmax", np.array([0.0, 1.0], np.float32), rules=Rules(dtype=True))


@pytest.mark.parametrize(
    ("call_result", "shown"),
    [
        (
            known_responses(a_test_call("softmax", np.array([0.0, 0.0])), lambda x: 2 * SOFTMAX(x)),
            ["# expected: [0.5, 0.5]\n# yours:    [1., 1.]"],
        ),
        (
            known_responses(a_test_call("softmax", np.array([0.0, 1.0])), lambda x: None),
            ["# yours:    None", "It returned None; the docstring says", "Does every path through the function return a value?"],
        ),
        (OPEN_ERROR, ["# yours:    OSError: no 'w.npy'  (line 12 of scaled_attention.py)"]),  # without the folder
        (stopped("softmax", "deadline"), ["took too long"]),
        (
            known_responses(a_test_call("split_heads", np.zeros((2, 3)), 2), lambda x, n_heads: x),
            ["# expected: ValueError, because the docstring does not allow these arguments"],
        ),
        (  # without the digits that differ only by rounding
            known_responses(FLOAT32, lambda x: SOFTMAX(x.astype(float))),
            ["# expected: [0.26894, 0.73106]  (float32)\n# yours:    [0.26894, 0.73106]\n"],
        ),
    ],
    ids=["values", "None", "error", "loop", "refused arguments", "dtype"],
)  # fmt: skip
def test_actual_result_is_shown_below_the_expected_one(call_result: CallResult, shown: list[str]) -> None:
    text = f"{lines(call_result, HOMEWORK.rubric)}\n{form_of_example(call_result)}"
    assert [part for part in shown if part not in text[text.index("# expected") :]] == [] and "contract" not in text
