"""Sentences about one failing call; for hidden calls, without anything the student's code could have chosen."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autograder.feedback.sentences import form_of_example, line, paragraphs, returns
from autograder.grading.call_results import CallResult, Rules, TestCall
from autograder.homework.library import Misconception
from autograder.sandbox.protocol import Call, Changes, Ended, Response
from autograder.shared.changes import Change
from autograder.shared.compare import Failure
from autograder.tests.files import HOMEWORK
from autograder.tests.making import a_test_call, misconception, raised, stopped
from autograder.tests.running import known_responses

X = np.array([[1.0, 2.0, 4.0]])
SOFTMAX = a_test_call("softmax", X)


@pytest.mark.parametrize("function", HOMEWORK.functions)
def test_every_docstring_describes_the_result(function: str) -> None:
    said = returns(TestCall(1, SOFTMAX.target, SOFTMAX.call, reference=HOMEWORK.functions[function]))
    assert 5 < len(said) < 160
    assert not said.endswith((".", ";", ","))
    assert said.startswith(("a", "the "))


@pytest.mark.parametrize(
    ("value", "kind", "public"),
    [
        (None, "type", "It returned None;"),
        ([[0.1, 0.2, 0.7]], "type", "It returned a list of length 1;"),
        (np.zeros((1, 3), bool), "type", "It returned an array of bool;"),
        (np.zeros(3), "shape", "It returned an array of shape (3,) instead of (1, 3);"),
    ],
)
def test_actual_result_is_described_only_for_public_examples(value: Any, kind: str, public: str) -> None:
    call_result = known_responses(SOFTMAX, lambda x: value)
    assert call_result.failure is not None and call_result.failure.kind == kind
    assert public in form_of_example(call_result)
    hidden = line("failure", call_result, rubric=HOMEWORK.rubric)
    assert hidden.startswith("It returned") and "the docstring says" in hidden
    for chosen in ("None", "list", "bool", "(3,)", "(1, 3)"):
        assert chosen not in hidden


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (Change(0, (), "entry written"), "values in `x` were overwritten"),
        (Change(1, ("w_q",), "entry written"), "values in `params['w_q']` were overwritten"),
        (Change(1, (), "key added"), "a key was added to `params`"),
        (Change(1, ("w_q",), "key removed"), "`params['w_q']` was removed"),
        (Change(3, (), "entry written"), "values in `mask` were overwritten"),
    ],
)
def test_sentence_shows_which_argument_changed_and_how(change: Change, said: str) -> None:
    params = {name: np.eye(2) for name in ("w_q", "w_k", "w_v", "w_o")}
    of = a_test_call("multi_head_attention", np.ones((2, 2)), params, 1, mask=np.ones((2, 2), bool))
    assert said in line(
        "failure",
        CallResult(of, Response(value=of.expected, changed=(change,)), Failure("changed")),
        rubric=HOMEWORK.rubric,
    )
    of = a_test_call("transformer_stack", np.ones((2, 2)), [], 1, mask=np.ones((2, 2), bool))  # without `norm`
    changed = CallResult(of, Response(changed=(Change(3, (), "entry written"),)), Failure("changed"))
    assert "`mask`" in line("failure", changed, rubric=HOMEWORK.rubric)


def test_change_after_the_call_is_described_as_such() -> None:
    of = replace(a_test_call("softmax", X), call=Changes(1, Call("", "")), args=())
    call_result = CallResult(of, Response(changed=(Change(0, (), "entry written"),)), Failure("changed_later"))
    assert "After the call, its arguments were modified: values in `scores`" in line(
        "failure", call_result, rubric=HOMEWORK.rubric
    )


def test_endless_call_shows_the_line_of_its_loop() -> None:
    end = Ended("deadline", "decoder.py", 7)
    assert "stopped in a loop on line 7 of `decoder.py`: look for" in line("ended", end, rubric=HOMEWORK.rubric)
    for unknown in (replace(end, file="smuggle.py"), Ended("deadline")):
        assert "line" not in line("ended", unknown, rubric=HOMEWORK.rubric)


@pytest.mark.parametrize(
    ("call_result", "said"),
    [
        (raised("layer_norm", "KeyError", "secret", "layernorm.py", 12), "It raised KeyError on line 12 of `layernorm.py`."),
        (raised("layer_norm", "KeyError", "secret", "helper_for_smuggling.py", 1234), "It raised KeyError."),
        (
            raised("embed", "IndexError", "", "decoder.py", 3, rules=Rules(error="ValueError")),
            "It raised IndexError on line 3 of `decoder.py`, but the docstring requires a ValueError.",
        ),
    ],
)  # fmt: skip
def test_only_lines_of_known_files_are_shown(call_result: CallResult, said: str) -> None:
    assert line("failure", call_result, rubric=HOMEWORK.rubric) == said


def test_wrong_part_of_a_tuple_is_described_for_examples() -> None:
    of = a_test_call("norm_moments", X, "layer")
    for value, said in (
        ((np.zeros((1, 1)),), "It returned 1 value instead of 2; the docstring says a tuple"),
        ((of.expected[0], np.zeros(1)), "`var` has shape (1,); it should have shape (1, 1)."),
        ((of.expected[0], 1.0), "`var` is a float; it should be an array of floats of shape (1, 1)."),
    ):
        call_result = known_responses(of, lambda x, kind, value=value: value)
        assert said in form_of_example(call_result)
    assert "It returned the wrong type for `var`; the docstring says a tuple (mean, var)" in line(
        "failure", call_result, rubric=HOMEWORK.rubric
    )


KINDS = ("value", "no_error", "unsteady", "overwritten", "shared")
ENDS = ("deadline", "idle", "crash", "disk", "memory", "protocol", "spent", "anything else")


@pytest.mark.parametrize(
    "call_result",
    [*(CallResult(SOFTMAX, Response(value=1.0), Failure(kind)) for kind in KINDS), *(stopped("softmax", why) for why in ENDS)],
    ids=[*KINDS, *ENDS],
)  # fmt: skip
def test_every_failure_and_every_ended_process_has_a_sentence(call_result: CallResult) -> None:
    said = line("failure", call_result, rubric=HOMEWORK.rubric)
    assert said.endswith(".") and "contract" not in said and "{" not in said


# Misconceptions in words: the mistake and its fix


def mistake(name: str, does: str, right: str, function: str = "layer_norm", known: bool = True) -> Misconception:
    return misconception(function, name, "layernorm.statistics", does=f"Your code {does}.", right=right, known=known)


SAMPLE = mistake("sample", "divides by d - 1", "Divide by d.")
OUTSIDE = mistake("outside", "adds eps outside", "Add eps inside.")
OUTSIDE_AGAIN = mistake("outside", "adds eps outside", "Add eps inside.", function="rms_norm")
SEEN = mistake("changes_x", "writes into `x`", "Work on a copy.", known=False)
ALSO_SEEN = mistake("changes_y", "writes into `y`", "Work on a copy.", known=False)


@pytest.mark.parametrize(
    ("misconceptions", "text"),
    [
        ([SAMPLE], "**Probably:** Your code divides by d - 1.\n\n**Fix:** Divide by d."),
        (
            [SAMPLE, OUTSIDE],
            "**Probably:** Your code divides by d - 1.\n\n**Fix:** Divide by d.\n\n"
            "**Probably also:** Your code adds eps outside.\n\n**Fix:** Add eps inside.",
        ),
        (
            [SEEN, ALSO_SEEN],
            "**Observed:** Your code writes into `x`.\n\n**Observed:** Your code writes into `y`.\n\n**Fix:** Work on a copy.",
        ),
        (
            [OUTSIDE, OUTSIDE_AGAIN],
            "**Probably, in `layer_norm` and `rms_norm`:** Your code adds eps outside.\n\n**Fix:** Add eps inside.",
        ),
    ],
)  # fmt: skip
def test_each_mistake_and_each_fix_is_shown_once(misconceptions: list[Misconception], text: str) -> None:
    assert paragraphs("named", misconceptions, "layer_norm") == text
