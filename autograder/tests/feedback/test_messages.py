"""The message of a criterion: no repetition, nothing too early, and nothing of hidden calls that the code chose."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autograder.feedback.messages import message
from autograder.feedback.results import Grade
from autograder.grading.call_results import CallResult, Rules
from autograder.grading.grader import ModuleResult
from autograder.grading.scoring import CriterionScore
from autograder.homework.rubric import Feedback
from autograder.sandbox.protocol import Error, Response
from autograder.shared.differences import REMEMBERED
from autograder.tests.files import HOMEWORK
from autograder.tests.making import a_test_call, criterion, hidden, misconception, module_of, raised, result
from autograder.tests.running import known_responses

ARGS = (np.array([1.0, 2.0, 6.0]), np.array([1.0, 2.0, 0.5]), np.array([0.0, 1.0, -1.0]))
EXAMPLE, SECRET, AFFINE, EPSILON = (f"layernorm.{name}" for name in ("example", "statistics", "affine", "epsilon"))
SAMPLE = misconception("layer_norm", "sample", SECRET, does="Your code divides by d - 1.", right="Divide by d.")
OUTSIDE = misconception("layer_norm", "outside", EPSILON, does="Your code adds eps outside.", right="Add it inside.")
OTHER = misconception("layer_norm", "other", SECRET, does="Your code does another thing.", right="Divide by d.")
FLOAT64 = misconception(
    "layer_norm", "float64_result", "layernorm.dtype", does="Your result is float64.", right="Keep it.", known=False
)


def wrong_norm(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
    return np.sqrt(HOMEWORK.functions["layer_norm"](x, gamma, beta, eps) + 7)


def called(function: Callable[..., Any], *args: Any) -> CallResult:
    return known_responses(a_test_call("layer_norm", *(args or ARGS)), function)


SHOWN = called(wrong_norm)
WRONG = hidden(called(wrong_norm, 1000 * ARGS[0] + 123456, *ARGS[1:]), SECRET)
NONE = called(lambda *args: None)
INDEX_ERROR = raised("layer_norm", "IndexError", "", "layernorm.py", 30, criterion=SECRET)
TYPE_ERROR = replace(raised("layer_norm", "TypeError", "", "layernorm.py", 25), test_call=SHOWN.test_call)


def lost(id: str, *misconceptions: Any, **changes: Any) -> CriterionScore:
    given: dict[str, Any] = {
        "criterion": criterion(id),
        "why": "mistake",
        "call_result": WRONG,
        "example": SHOWN,
    } | changes
    return CriterionScore(misconceptions=misconceptions, **given)


def earned(visibility: Any = "after_published", **changes: Any) -> CriterionScore:
    return CriterionScore(criterion(AFFINE, visibility), "elsewhere", **{"call_result": WRONG, **changes})


def message_of(graded: CriterionScore, *others: CriterionScore) -> str:
    """The message of `graded`, which follows `others` in the same module."""
    return message(graded, result(module_of([*others, graded])))


def message_at_home(graded: CriterionScore, *at_home: CallResult) -> str:
    """The message of `graded`, with these results of public calls."""
    return message(graded, result(replace(module_of([graded]), at_home=at_home)))


def wrong_dtype() -> CallResult:
    of = a_test_call("layer_norm", *(a.astype(np.float32) for a in ARGS), rules=Rules(dtype=True))
    return hidden(known_responses(of, lambda *args: of.expected.astype(np.float64)), "layernorm.dtype")


# A message is either equal to a text, or contains some texts (one with ^ at its start) and lacks others.
UNDER = f"A failing call is shown under `{SECRET}`."
VISIBLE = criterion(EXAMPLE, "visible")
MESSAGES: dict[str, tuple[Callable[[], str], str | list[str], list[str]]] = {
    "a named mistake": (
        lambda: message_of(lost(SECRET, SAMPLE)),
        ["^**Probably:** Your code divides by d - 1.\n\n**Fix:** Divide by d.",
         "**For example:**", "**Read:** the formula of layer_norm\n"],
        ["123", "contract", "wrong values", "entries are wrong"],
    ),
    "no argument of a hidden call": (lambda: message_of(lost(SECRET)), ["```"], ["123", "contract", "No row is right"]),
    "the same mistake again": (
        lambda: message_of(lost(AFFINE, SAMPLE), lost(SECRET, SAMPLE)),
        f"Same mistake as under `{SECRET}`: Your code divides by d - 1.\n", [],
    ),
    "a further mistake": (
        lambda: message_of(lost(EPSILON, SAMPLE, OUTSIDE), lost(SECRET, SAMPLE)),
        [f"^Same mistake as under `{SECRET}`: Your code divides by d - 1.\n\n**Probably:** Your code adds eps outside.",
         UNDER],
        ["Divide by d.", "wrong values"],
    ),
    "the same example again": (lambda: message_of(lost(AFFINE), lost(SECRET)), [UNDER], ["```"]),
    "an example of another symptom": (
        lambda: message_of(lost(AFFINE, call_result=raised("layer_norm", "KeyError")), lost(SECRET)),
        [], ["```", "is shown under", "No example on"],
    ),
    "no reference to what is shown later": (
        lambda: message_of(lost(EXAMPLE, SAMPLE, criterion=VISIBLE), lost(SECRET, SAMPLE)),
        ["**Probably:**", "```"], [SECRET],
    ),
    "a reference to what is shown earlier": (
        lambda: message_of(lost(SECRET, SAMPLE), lost(EXAMPLE, SAMPLE, criterion=VISIBLE)),
        [f"^Same mistake as under `{EXAMPLE}`"], [],
    ),
    "earned in spite of a mistake": (
        lambda: message_of(earned(misconceptions=(SAMPLE,), charged=(SECRET,))),
        f"Awarded: the mistake in the failing calls is counted under `{SECRET}`.\n", [],
    ),
    "counted under a criterion that is not shown yet": (
        lambda: message_of(earned("visible", misconceptions=(SAMPLE,), charged=(SECRET,))),
        ["counted under another criterion"], [SECRET],
    ),
    "a pass without a helper": (
        lambda: message_of(CriterionScore(criterion(AFFINE), blamed=("softmax",))),
        "Awarded: with a correct `softmax` in place of yours, this works.\n", [],
    ),
    "an observed dtype, without an example of wrong values": (
        lambda: message_of(lost("layernorm.dtype", FLOAT64, call_result=wrong_dtype())),
        ["**Observed, in `layer_norm`:** Your result is float64."], ["Probably", "```"],
    ),
    "an example that is wrong in another way": (
        lambda: message_of(lost(SECRET, call_result=INDEX_ERROR)),
        ["raised IndexError on line 30", "**Your function also fails here:**"], ["**For example:**"],
    ),
    "an example with a helper's mistake": (
        lambda: message_of(lost(SECRET, example=TYPE_ERROR, blamed=("softmax",))),
        ["tested with a correct `softmax` in place of yours; the example shows your own version.", "TypeError"], [],
    ),
    "the failure, if the example is shown elsewhere": (
        lambda: message_of(*(lost(c, call_result=hidden(NONE, c), example=NONE) for c in (AFFINE, SECRET))),
        ["^`layer_norm` returned the wrong type; the docstring says an array"], [],
    ),
    "a function that is not written": (
        lambda: message_of(lost(SECRET, call_result=raised("layer_norm", "NotImplementedError"))),
        ["^`layer_norm` still raises NotImplementedError."], [],
    ),
    "a function that is not there": (
        lambda: message_of(lost(SECRET, call_result=raised("layer_norm", "AttributeError", hint="missing"))),
        ["^There is no function `layer_norm` in `layernorm.py`: define it with this name, "], [],
    ),
    "a mistake that no public example shows": (
        lambda: message_of(lost(SECRET, example=None)), ["No example on this page shows the mistake,"], [REMEMBERED],
    ),
    "a worked example that fails as well": (
        lambda: message_at_home(lost(SECRET, example=None), hidden(SHOWN, EXAMPLE), SHOWN),
        ["A worked example in the docstring of `layer_norm` also fails."], ["No example on"],
    ),
    "dependent on earlier calls": (
        lambda: message_of(lost(SECRET, example=None, depends=True)), [REMEMBERED], ["public example"],
    ),
    "the shared fix of undecided mistakes": (
        lambda: message_of(lost(SECRET, undecided=(SAMPLE, OTHER))), ["**Hint:** Divide by d."], [SAMPLE.does, "**Fix:**"],
    ),
    "too few correct functions": (
        lambda: message_of(lost("layernorm.purity", call_result=None, example=None)),
        ["fix more of the functions"], ["contract"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MESSAGES)
def test_message(name: str) -> None:
    made, has, lacks = MESSAGES[name]
    text = made()
    if isinstance(has, str):
        assert text == has
        return
    assert [part for part in has if part.lstrip("^") not in text] == []
    assert all(text.startswith(part[1:]) for part in has if part.startswith("^"))
    assert [part for part in lacks if part in text] == []
    assert text.count("It returned") <= 1


@pytest.mark.parametrize(
    ("policy", "named", "example"), [("full", True, True), ("diagnosis", True, False), ("score", False, False)]
)
def test_policy_decides_how_much_is_shown(policy: Feedback, named: bool, example: bool) -> None:
    text = message_of(lost(SECRET, SAMPLE, criterion=criterion(SECRET, feedback=policy)))
    assert (SAMPLE.does in text) is named
    assert ("**For example:**" in text) is example


def test_import_error_is_shown_once() -> None:
    broken = Response(error=Error(("ZeroDivisionError",), "in '/tmp/autograder-1/x.py'", "layernorm.py", 3, ""))
    both = lost(EXAMPLE, call_result=None), lost(SECRET, call_result=None)
    of_all = result(ModuleResult("layernorm", both, broken))
    assert Grade.of(of_all).output.count("ZeroDivisionError: in 'x.py' (line 3 of `layernorm.py`)") == 1
    for graded in both:
        assert message(graded, of_all) == "`layernorm.py` could not be used: see the message at the top.\n"
