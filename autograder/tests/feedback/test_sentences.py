"""What is wrong with one call: of a hidden one nothing that the student's code could have chosen."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autograder.feedback.sentences import form_of_example, line, returns, sentence
from autograder.grading.call_results import CallResult, Rules, Target
from autograder.homework import reference
from autograder.homework import rubric as rubrics
from autograder.sandbox.messages import Ended, Response
from autograder.tests.making import a_test_call, raised, stopped
from autograder.tests.running import known_responses
from autograder.values.changes import Change
from autograder.values.compare import Failure

X = np.array([[1.0, 2.0, 4.0]])
SOFTMAX = a_test_call("softmax", X)


@pytest.mark.parametrize("function", reference.functions())
def test_every_docstring_says_what_comes_back(function: str) -> None:
    said = returns(Target(rubrics.current().module_of(function), function))
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
def test_what_came_back_is_said_of_public_examples_only(value: Any, kind: str, public: str) -> None:
    call_result = known_responses(SOFTMAX, lambda x: value)
    assert call_result.failure is not None and call_result.failure.kind == kind
    assert public in form_of_example(call_result)
    hidden = sentence(call_result)
    assert hidden.startswith("It returned") and "the docstring says" in hidden
    for chosen in ("None", "list", "bool", "(3,)", "(1, 3)"):
        assert chosen not in hidden


def test_the_part_of_a_tuple_that_is_wrong_is_said_of_examples() -> None:
    of = a_test_call("norm_moments", X, "layer")
    call_result = known_responses(of, lambda x, kind: (np.zeros((1, 1)), np.zeros((1, 1)))[:1])
    assert "It returned 1 value instead of 2; the docstring says a tuple" in form_of_example(call_result)
    call_result = known_responses(of, lambda x, kind: (of.expected[0], np.zeros(1)))
    assert form_of_example(call_result) == "`var` has shape (1,); it should have shape (1, 1)."
    call_result = known_responses(of, lambda x, kind: (of.expected[0], 1.0))
    assert form_of_example(call_result) == "`var` is a float; it should be an array of floats of shape (1, 1)."
    assert sentence(call_result).startswith(
        "It returned the wrong type for `var`; the docstring says a tuple (mean, var)"
    )


def test_a_dtype_is_said_with_the_one_that_is_asked_for() -> None:
    of = a_test_call("softmax", X.astype(np.float32), rules=Rules(dtype=True))
    call_result = known_responses(of, lambda x: of.expected.astype(np.float64))
    assert "It returned float64 instead of float32" in form_of_example(call_result)
    assert "float64" not in sentence(call_result)


def test_only_lines_of_known_files_are_told() -> None:
    smuggling = raised("layer_norm", "KeyError", "secret", "helper_for_smuggling.py", 1234)
    assert "1234" not in sentence(smuggling)
    assert "secret" not in sentence(smuggling)
    own = raised("layer_norm", "KeyError", "secret", "layernorm.py", 12)
    assert sentence(own) == "It raised KeyError on line 12 of `layernorm.py`."
    assert line("failure", own) == "It raised KeyError."
    other = raised("layer_norm", "KeyError", "", "decoder.py", 5)
    assert "decoder.py" not in sentence(other)
    assert "on line 5 of `decoder.py`" in line("failure", other, ("decoder.py",))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (Change(0, (), "entry written"), "an entry of `x` was overwritten"),
        (Change(1, ("w_q",), "entry written"), "an entry of `params['w_q']` was overwritten"),
        (Change(1, (), "key added"), "a key was added to `params`"),
        (Change(1, ("w_q",), "key removed"), "`params['w_q']` was removed"),
        (Change(3, (), "entry written"), "an entry of `mask` was overwritten"),
    ],
)
def test_which_argument_changed_and_how(change: Change, said: str) -> None:
    params = {name: np.eye(2) for name in ("w_q", "w_k", "w_v", "w_o")}
    of = a_test_call(
        "multi_head_attention", np.ones((2, 2)), params, 1, mask=np.ones((2, 2), bool), rules=Rules(pure=True)
    )
    assert said in sentence(CallResult(of, Response(value=of.expected, changed=(change,)), Failure("changed")))


def test_arguments_by_keyword_are_counted_in_the_order_of_the_call() -> None:
    of = a_test_call("layer_norm", X, beta=np.zeros(3), gamma=np.ones(3))
    changed = CallResult(of, Response(changed=(Change(1, (), "entry written"),)), Failure("changed"))
    assert "`beta`" in sentence(changed)


def test_a_change_that_was_seen_after_the_call_is_said_to_be_one() -> None:
    of = replace(a_test_call("softmax", X), kind="changes", args=())
    call_result = CallResult(of, Response(changed=(Change(0, (), "entry written"),)), Failure("changed_later"))
    assert "After the call, its arguments were modified: an entry of `scores`" in sentence(call_result)


@pytest.mark.parametrize("why", ["deadline", "crash", "disk", "memory", "protocol", "spent", "anything else"])
def test_every_end_has_a_sentence(why: str) -> None:
    said = sentence(stopped("softmax", why))
    assert said.endswith(".") and "{" not in said


@pytest.mark.parametrize("kind", ["value", "no_error", "unsteady", "overwritten", "shared"])
def test_every_fault_has_a_sentence_without_the_word_contract(kind: str) -> None:
    said = sentence(CallResult(SOFTMAX, Response(value=1.0), Failure(kind)))
    assert said.endswith(".") and "contract" not in said


def test_names_and_arguments_that_are_missing() -> None:
    assert "There is no function `softmax`" in sentence(raised("softmax", "AttributeError", hint="missing"))
    signature = sentence(raised("softmax", "TypeError", hint="signature"))
    assert "`softmax(scores, axis)`" in signature


def test_an_error_in_the_place_of_a_value_error() -> None:
    call_result = raised("embed", "IndexError", "", "decoder.py", 3, rules=Rules(error="ValueError"))
    assert (
        sentence(call_result)
        == "It raised IndexError on line 3 of `decoder.py`, but the docstring requires a ValueError."
    )


def test_a_call_that_did_not_end_has_the_line_of_its_loop() -> None:
    end = Ended("deadline", "decoder.py", 7)
    assert "stopped in the loop on line 7 of `decoder.py`:" in line("ended", end, ("decoder.py",))
    assert "line" not in line("ended", end, ("softmax.py",))
    assert "line" not in line("ended", Ended("deadline"), ("decoder.py",))
