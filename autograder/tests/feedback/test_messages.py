"""What a student is told of a criterion: everything once, nothing too early, nothing of hidden calls that their code chose."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autograder.feedback.messages import message
from autograder.feedback.summary import summary
from autograder.grading.call_results import CallResult, Rules
from autograder.grading.grader import ModuleResult
from autograder.grading.probes import Probe, ProbeResult
from autograder.grading.scoring import CriterionScore
from autograder.homework import reference
from autograder.homework.rubric import Feedback
from autograder.sandbox.messages import Error, Response
from autograder.tests.making import a_test_call, criterion, hidden, misconception, module_of, raised, result, stopped
from autograder.tests.running import known_responses
from autograder.values.changes import Change
from autograder.values.compare import Failure
from autograder.values.differences import REMEMBERED, UNSTEADY

ARGS = (np.array([1.0, 2.0, 6.0]), np.array([1.0, 2.0, 0.5]), np.array([0.0, 1.0, -1.0]))
EXAMPLE, SECRET = "layernorm.example", "layernorm.statistics"
SAMPLE = misconception(
    "layer_norm", "sample_variance", SECRET, does="Your code divides by d - 1.", right="Divide by d."
)
OUTSIDE = misconception(
    "layer_norm", "eps_outside", "layernorm.epsilon", does="Your code adds eps outside.", right="Add it inside."
)
FLOAT64 = misconception(
    "layer_norm",
    "float64_result",
    "layernorm.dtype",
    does="Your result is float64.",
    right="Keep the dtype.",
    known=False,
)


def wrong_norm(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
    return np.sqrt(reference.functions()["layer_norm"](x, gamma, beta, eps) + 7)


SHOWN = known_responses(a_test_call("layer_norm", *ARGS), wrong_norm)
WRONG = hidden(known_responses(a_test_call("layer_norm", 1000 * ARGS[0] + 123456, *ARGS[1:]), wrong_norm), SECRET)
ALSO = known_responses(a_test_call("layer_norm", 2 * ARGS[0], *ARGS[1:]), wrong_norm)


def lost(
    id: str,
    *misconceptions: Any,
    call_result: CallResult | None = WRONG,
    shown: CallResult | None = SHOWN,
    **changes: Any,
) -> CriterionScore:
    of = changes.pop("criterion", criterion(id))
    return CriterionScore(
        of, changes.pop("why", "mistake"), misconceptions, call_result=call_result, shown=shown, **changes
    )


def told(
    graded: CriterionScore, *others: CriterionScore, call_results: tuple[CallResult, ...] = (), **changes: Any
) -> str:
    """The message of `graded`, with these criteria before it."""
    return message(graded, result(module_of([*others, graded], call_results, **changes)))


def test_a_named_mistake() -> None:
    text = told(lost(SECRET, SAMPLE))
    assert text.startswith("`layer_norm` returned wrong values.\n")
    assert "**Probably:** Your code divides by d - 1.\n\n**Fix:** Divide by d." in text
    assert "**For example:**" in text
    assert text.endswith("**Read:** the formula of layer_norm\n")


def test_hidden_arguments_are_never_shown() -> None:
    assert WRONG.failure is not None and WRONG.failure.kind == "value"
    for text in (told(lost(SECRET)), told(lost(SECRET, SAMPLE)), told(lost(SECRET, shown=None))):
        assert "123" not in text and "1234" not in text


@pytest.mark.parametrize(
    ("policy", "named", "example"), [("full", True, True), ("diagnosis", True, False), ("score", False, False)]
)
def test_policy_decides_what_is_told(policy: Feedback, named: bool, example: bool) -> None:
    text = told(lost(SECRET, SAMPLE, criterion=criterion(SECRET, feedback=policy)))
    assert (SAMPLE.does in text) is named
    assert ("**For example:**" in text) is example


# Each thing once


def test_the_same_mistake_is_a_line_under_the_next_criterion() -> None:
    text = told(lost("layernorm.affine", SAMPLE), lost(SECRET, SAMPLE))
    assert text == f"Same mistake as under `{SECRET}`: Your code divides by d - 1.\n"


def test_a_further_mistake_is_told_in_full() -> None:
    text = told(lost("layernorm.epsilon", SAMPLE, OUTSIDE), lost(SECRET, SAMPLE))
    assert "**Probably:** Your code adds eps outside." in text
    assert f"**Already reported:** Your code divides by d - 1. (See `{SECRET}`.)" in text
    assert "Divide by d." not in text
    assert f"A failing call is shown under `{SECRET}`." in text


def test_the_same_example_is_shown_once() -> None:
    first, second = lost(SECRET), lost("layernorm.affine")
    assert "```" in told(first)
    text = told(second, first)
    assert "```" not in text
    assert f"A failing call is shown under `{SECRET}`." in text


def test_what_is_shown_later_is_no_place_to_refer_to() -> None:
    visible = lost(EXAMPLE, SAMPLE, criterion=criterion(EXAMPLE, "visible"))
    text = told(visible, lost(SECRET, SAMPLE))
    assert SECRET not in text
    assert "**Probably:**" in text and "```" in text
    assert told(lost(SECRET, SAMPLE), visible).startswith(f"Same mistake as under `{EXAMPLE}`")


# Earned in spite of wrong values


def earned(visibility: Any = "after_published", **changes: Any) -> CriterionScore:
    return CriterionScore(criterion("layernorm.affine", visibility), "elsewhere", **changes)


def test_earned_in_spite_of_a_mistake() -> None:
    text = told(earned(call_result=WRONG, misconceptions=(SAMPLE,), charged=(SECRET,)))
    assert text == f"Awarded: the failing calls come from a mistake counted under `{SECRET}`.\n"


def test_earned_in_spite_of_two_mistakes_names_both_places() -> None:
    inside = misconception(
        "rms_norm", "centred", "layernorm.rms", does="Your code subtracts the mean.", right="Do not."
    )
    text = told(earned(call_result=WRONG, misconceptions=(SAMPLE, inside), charged=(SECRET, "layernorm.rms")))
    assert f"mistakes counted under `{SECRET}` and `layernorm.rms`." in text


def test_a_mistake_made_again_in_another_function_costs_nothing_more() -> None:
    again = misconception(
        "rms_norm", "centred", "layernorm.affine", does="Your code subtracts the mean.", right="Do not."
    )
    assert "this mistake is already counted under" in told(
        earned(call_result=WRONG, misconceptions=(again,), charged=(SECRET,))
    )


def test_a_hidden_verdict_is_not_told_under_a_visible_criterion() -> None:
    text = told(earned("visible", call_result=WRONG, misconceptions=(SAMPLE,), charged=(SECRET,)))
    assert "counted elsewhere" in text and SECRET not in text


def test_a_pass_without_a_helper_and_a_plain_one() -> None:
    text = told(CriterionScore(criterion("layernorm.affine"), blamed=("softmax",)))
    assert text == "Awarded: with a correct `softmax` in place of yours, this works.\n"
    assert told(CriterionScore(criterion("layernorm.affine"))) == ""


# What fits


def test_a_mistake_of_form_is_what_was_seen() -> None:
    of = a_test_call("layer_norm", *(a.astype(np.float32) for a in ARGS), rules=Rules(dtype=True))
    call_result = hidden(known_responses(of, lambda *args: of.expected.astype(np.float64)), "layernorm.dtype")
    text = told(lost("layernorm.dtype", FLOAT64, call_result=call_result))
    assert "**Observed, in `layer_norm`:** Your result is float64." in text
    assert "Probably" not in text
    assert "```" not in text, "an example of wrong values says nothing of a dtype"


def test_a_changed_argument_without_a_name() -> None:
    of = a_test_call("layer_norm", *ARGS, rules=Rules(pure=True))
    call_result = CallResult(
        of, Response(value=of.expected, changed=(Change(0, (), "entry written"),)), Failure("changed")
    )
    assert "an entry of `x` was overwritten" in told(lost("layernorm.purity", call_result=call_result, shown=None))


def test_two_lines_in_one_message_are_of_one_call() -> None:
    call_result = raised("layer_norm", "IndexError", "", "layernorm.py", 30, criterion=SECRET)
    example = raised("layer_norm", "TypeError", "", "layernorm.py", 25)
    example = replace(example, test_call=SHOWN.test_call)
    text = told(lost(SECRET, call_result=call_result, shown=example))
    assert "(line 25 of layernorm.py)" in text and "line 30" not in text
    assert "on line 30" in told(lost(SECRET, call_result=call_result, shown=None))


def test_an_example_that_is_wrong_in_another_way_is_said_to_be_another_call() -> None:
    call_result = raised("layer_norm", "IndexError", "", "layernorm.py", 30, criterion=SECRET)
    text = told(lost(SECRET, call_result=call_result))
    assert "raised IndexError on line 30" in text
    assert "**Another failing call:**" in text and "**For example:**" not in text


def test_an_example_of_a_helpers_symptom_is_not_shown() -> None:
    shown = replace(raised("layer_norm", "TypeError", "", "layernorm.py", 25), test_call=SHOWN.test_call)
    assert "TypeError" in told(lost(SECRET, SAMPLE, shown=shown))
    text = told(lost(SECRET, SAMPLE, shown=shown, blamed=("softmax",)))
    assert "TypeError" not in text and "```" not in text
    assert "```" in told(lost(SECRET, SAMPLE, blamed=("softmax",)))


def test_what_came_back_is_said_once() -> None:
    nothing = known_responses(a_test_call("layer_norm", *ARGS), lambda *args: None)
    text = told(lost(SECRET, call_result=hidden(nothing, SECRET), shown=nothing))
    assert text.count("It returned") == 1
    assert "It returned None; the docstring says an array" in text


def test_what_is_wrong_is_said_where_the_example_stands_elsewhere() -> None:
    nothing = known_responses(a_test_call("layer_norm", *ARGS), lambda *args: None)
    graded = [lost(c, call_result=hidden(nothing, c), shown=nothing) for c in (SECRET, "layernorm.affine")]
    text = told(graded[1], graded[0])
    assert text.startswith("`layer_norm` returned the wrong type; the docstring says an array")


def test_unwritten_functions_and_loops() -> None:
    call_result = raised("layer_norm", "NotImplementedError")
    assert told(lost(SECRET, call_result=call_result)).startswith("`layer_norm` still raises NotImplementedError.")
    for text in ("def layer_norm(x):\n    raise ValueError\n", "def layer_norm(x):\n    pass\n"):
        given = result(module_of([lost(SECRET, call_result=call_result)]), files={"layernorm.py": text.encode()})
        assert message(lost(SECRET, call_result=call_result), given) == "`layer_norm` is not written yet.\n"
    assert "took too long" in told(lost(SECRET, call_result=stopped("layer_norm", "deadline"), shown=None))


def test_right_in_public_or_dependent_on_earlier_calls() -> None:
    right = known_responses(a_test_call("layer_norm", *ARGS), reference.functions()["layer_norm"])
    assert "passes all the small public examples" in told(lost(SECRET, shown=None), call_results=(right, WRONG))
    assert REMEMBERED in told(lost(SECRET, shown=None, depends=True), call_results=(SHOWN, WRONG))
    assert REMEMBERED not in told(lost(SECRET, shown=None), call_results=(SHOWN, WRONG))
    worked = replace(SHOWN, test_call=replace(SHOWN.test_call, criterion=EXAMPLE))
    assert "right on the small" not in told(lost(SECRET, shown=None), call_results=(right, worked, WRONG))


@pytest.mark.parametrize(
    ("depends", "wrong", "said"),
    [(True, (SHOWN, ALSO), REMEMBERED), (True, (SHOWN,), UNSTEADY), (False, (SHOWN, ALSO), UNSTEADY)],
)
def test_what_is_right_whenever_it_is_called_alone_is_not_random(
    depends: bool, wrong: tuple[CallResult, ...], said: str
) -> None:
    again = replace(SHOWN, response=Response(value=np.zeros(3)))
    graded = lost(SECRET, shown=None, depends=depends, why="unexplained")
    probe_results = {
        SHOWN.test_call: tuple(ProbeResult(Probe(SHOWN.test_call), call_result) for call_result in (SHOWN, again))
    }
    assert said in message(graded, result(replace(module_of([graded], wrong), probe_results=probe_results)))


def test_a_worked_example_can_be_run_at_home() -> None:
    text = told(lost(EXAMPLE, shown=None))
    assert "the worked example in the docstring of `layer_norm`" in text
    assert "the worked example" not in told(lost(SECRET, shown=None))


def test_an_example_that_shows_another_symptom_is_not_referred_to() -> None:
    assert f"A failing call is shown under `{SECRET}`." in told(lost("layernorm.affine"), lost(SECRET))
    text = told(lost("layernorm.affine", call_result=raised("layer_norm", "KeyError")), lost(SECRET))
    assert "is shown under" not in text and "```" not in text


def test_a_criterion_that_is_wrong_in_two_ways_tells_both() -> None:
    raises = hidden(raised("layer_norm", "KeyError"), SECRET)
    text = told(lost(SECRET, why="unexplained"), call_results=(WRONG, raises))
    assert "wrong values. In another call, it raised KeyError." in text
    assert "In another call" not in told(lost(SECRET, why="unexplained"), call_results=(WRONG, WRONG))


def test_a_function_that_is_not_there_is_not_said_to_be_called() -> None:
    text = told(lost(SECRET, call_result=raised("layer_norm", "AttributeError", hint="missing")))
    assert text == "There is no function `layer_norm` in `layernorm.py`: check its name.\n"


def test_nothing_is_charged_under_a_criterion_that_is_earned() -> None:
    text = told(earned(call_result=WRONG, misconceptions=(SAMPLE,)))
    assert text == "Awarded: the failing calls come from a mistake counted under another criterion.\n"


def test_undecided_mistakes_say_what_they_share() -> None:
    other = misconception("layer_norm", "other", SECRET, does="Your code does another thing.", right="Divide by d.")
    text = told(lost(SECRET, undecided=(SAMPLE, other)))
    assert "**Fix:** Divide by d." in text
    assert SAMPLE.does not in text


def test_one_name_of_two_mistakes_says_that_there_is_another() -> None:
    others = [
        misconception("layer_norm", name, SECRET, does=f"{name}.", right=f"Not {name}.") for name in ("This", "That")
    ]
    text = told(lost(EXAMPLE, SAMPLE, undecided=tuple(others)))
    assert "**Probably:** Your code divides by d - 1." in text and "There is at least one more mistake." in text
    assert "another mistake" not in told(lost(EXAMPLE, SAMPLE)) + told(lost(EXAMPLE, undecided=tuple(others)))


def test_too_few_right_functions() -> None:
    assert "fix more of the functions" in told(lost("layernorm.purity", call_result=None, shown=None))


def test_a_module_that_cannot_be_imported_says_why_once() -> None:
    broken = Response(error=Error(("ZeroDivisionError",), "in '/tmp/autograder-1/x.py'", "layernorm.py", 3, ""))
    first, second = lost(EXAMPLE, call_result=None), lost(SECRET, call_result=None)
    module = ModuleResult("layernorm", (first, second), broken)
    of_all = result(module)
    assert summary(of_all).count("ZeroDivisionError: in 'x.py' (line 3 of `layernorm.py`)") == 1
    for graded in (first, second):
        assert message(graded, of_all) == "`layernorm.py` could not be used: see the message at the top.\n"


@pytest.mark.parametrize("counts", ["full", "dropped"])
def test_a_quiz_question_that_is_given_to_everybody_or_dropped_is_not_called_wrong(counts: str) -> None:
    question = criterion("concept_check.q3", counts=counts, why="a typo")
    graded = CriterionScore(question, "unexplained", call_result=None)
    text = message(graded, result(module_of([graded])))
    assert text.startswith("This criterion ") and "a typo" in text and "ight yet" not in text
    plain = CriterionScore(criterion("concept_check.q3"), "unexplained", call_result=None)
    assert (
        message(plain, result(module_of([plain]))) == "Not correct yet. Only the score is shown for this criterion.\n"
    )


@pytest.mark.parametrize("word", ["contract", "No entry is right", "No row is right"])
def test_words_that_no_message_has(word: str) -> None:
    for graded in (
        lost(SECRET),
        lost(SECRET, SAMPLE),
        lost(SECRET, shown=None),
        lost(EXAMPLE, call_result=None, shown=None),
    ):
        assert word not in told(graded, call_results=(SHOWN,))
