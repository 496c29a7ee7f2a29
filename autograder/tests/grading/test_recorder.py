"""Recording a suite's test: the arguments, expected results and kept objects of its test calls."""

from typing import Any

import numpy as np
import pytest

from autograder.exceptions import CommandError
from autograder.grading.call_results import Target
from autograder.grading.recorder import Check, Recorder, rng_for
from autograder.sandbox import wire
from autograder.sandbox.wire import Handle

X = np.array([[1.0, 2.0], [3.0, 5.0]])


def double(x: Any) -> Any:
    return 2 * x


def spoil(x: Any) -> Any:
    x *= 0
    return x


def refuse(x: Any) -> Any:
    raise ValueError("no")


def apply(f: Any, x: Any) -> Any:
    return f(x)


def scale(x: Any, factor: Any, shift: Any = 0, power: Any = 1) -> Any:
    return x**power * factor + shift


def split(x: Any) -> Any:
    """The rows of x.

    Returns: a tuple (first (d,), others (n - 1, d)), in the dtype of x.
    """
    return x[0], x[1:]


FUNCTIONS = {Target("module", f.__name__): f for f in (double, spoil, refuse, apply, scale, split)}


@pytest.fixture
def recorder() -> Recorder:
    return Recorder("module", FUNCTIONS, "test", "module.criterion")


@pytest.fixture
def check(recorder: Recorder) -> Any:
    return Check(recorder, "module")


@pytest.mark.parametrize("function", ["double", "spoil"])
def test_arguments_are_copied_before_the_call(recorder: Recorder, check: Any, function: str) -> None:
    x = X.copy()
    getattr(check, function)(x)
    x[:] = 0
    assert np.array_equal(recorder.test_calls[0].args[0], X)


def test_parts_of_a_tuple_are_named_as_in_the_docstring(recorder: Recorder, check: Any) -> None:
    _, others = check.part("others").split(X)
    assert np.array_equal(others, X[1:])
    check.split(X)
    assert [test_call.rules.parts for test_call in recorder.test_calls] == [("others",), ()]
    assert [test_call.parts for test_call in recorder.test_calls] == [("first", "others")] * 2
    with pytest.raises(ValueError, match="split returns no part named 'second', only first, others"):
        check.part("second").split(X)
    with pytest.raises(ValueError, match="no part"):
        check.part("first").double(X)


def test_expected_error_must_be_raised_by_the_reference(recorder: Recorder, check: Any) -> None:
    assert check.raises(ValueError).refuse(X) is None
    with pytest.raises(AssertionError, match="does not raise ValueError"):
        check.raises(ValueError).double(X)
    with pytest.raises(ValueError, match="no"):
        check.refuse(X)


def test_relation_must_hold_for_the_reference(recorder: Recorder, check: Any) -> None:
    check.related(lambda f, x: -f(-x)).double(X)
    with pytest.raises(CommandError, match="the relation does not hold for the reference of double"):
        check.related(lambda f, x: f(-x)).double(X)


def test_kept_objects_are_not_sent_as_copies(recorder: Recorder, check: Any) -> None:
    x = X.copy()
    y = check.keep.double(x)
    check.double(x)
    check.double(y)
    check.apply(lambda x: x[0], [x, x])
    one, other, both = recorder.test_calls[1:]
    assert [one.args[0], other.args[0], both.args[1]] == [
        Handle(1, (0,)),
        Handle(1, ("result",)),
        [Handle(1, (0,))] * 2,
    ]
    assert np.array_equal(other.expected, 4 * X) and both.needs == {1}
    with pytest.raises(ValueError, match="does not come from an earlier"):
        check.overwrite(X, 1.0)


def test_argument_that_cannot_be_sent_is_rejected(recorder: Recorder, check: Any) -> None:
    mask = X > 0
    for function, argument, why in (
        (lambda x: x * mask, X, "<lambda> uses `mask`"), (lambda x: 1, object(), "object cannot be sent"),
    ):  # fmt: skip
        with pytest.raises(CommandError, match=f"an argument of apply cannot be sent to students' code: .*{why}"):
            check.apply(function, argument)
    with pytest.raises(
        CommandError, match="the result of apply cannot be sent from students' code: it has a generator"
    ):
        check.apply(lambda x: (x, (part for part in x)), X)
    check.apply(lambda x: 2 * x, X)
    (of,) = recorder.test_calls
    assert of.args[0](3) == 6


@pytest.mark.parametrize("value", [("F", 19), [("a", 1)], {"k": (1, {2})}, (X, None), "text", {("a", 1): b"x"}, 10**30])
def test_arguments_are_sent_as_they_are(recorder: Recorder, check: Any, value: Any) -> None:
    check.apply(lambda x: x, value)
    sent = wire.decode(recorder.test_calls[0].call.payload)[3][1]
    assert repr(sent) == repr(value) and sent is not value


def test_only_functions_of_the_rubric_can_be_checked(check: Any) -> None:
    with pytest.raises(CommandError, match="has no function 'triple'"):
        check.triple(X)


def test_random_numbers_depend_only_on_the_test() -> None:
    assert rng_for("a").random() == rng_for("a").random() != rng_for("b").random()
