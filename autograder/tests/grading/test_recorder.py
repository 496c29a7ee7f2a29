"""Recording a suite's test: the arguments, expected results and kept objects of its test calls."""

from typing import Any

import numpy as np
import pytest

from autograder.exceptions import CommandError
from autograder.grading.call_results import Target, TestCall
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


def test_call_is_recorded_with_the_result_of_the_reference(recorder: Recorder, check: Any) -> None:
    seen: list[TestCall] = []
    recorder.on_step = seen.append
    assert np.array_equal(check.double(X), 2 * X)
    (of,) = recorder.test_calls
    assert (of.test, of.criterion, of.target.function, of.number) == ("test", "module.criterion", "double", 1)
    assert np.array_equal(of.expected, 2 * X)
    assert seen == [of]  # passed on as soon as it is recorded


@pytest.mark.parametrize(
    ("args", "kwargs", "named"),
    [
        ((2, 3), {}, {}),
        ((), {"factor": 3, "x": 2}, {}),
        ((2, 3, 1), {}, {"shift": 1}),
        ((2, 3, 1, 5), {}, {"shift": 1, "power": 5}),
        ((2,), {"power": 5, "factor": 3}, {"power": 5}),
    ],
)
def test_required_arguments_are_passed_by_position_and_optional_ones_by_name(
    recorder: Recorder, check: Any, args: Any, kwargs: Any, named: Any
) -> None:
    check.keep.pure.scale(*args, **kwargs)
    first, changes, again = recorder.test_calls
    for of in (first, again):
        assert (of.args, of.kwargs, of.names) == ((2, 3), named, ("x", "factor", *named))
    assert changes.names == first.names


@pytest.mark.parametrize("function", ["double", "spoil"])
def test_arguments_are_copied_before_the_call(recorder: Recorder, check: Any, function: str) -> None:
    x = X.copy()
    getattr(check, function)(x)
    x[:] = 0
    assert np.array_equal(recorder.test_calls[0].args[0], X)


def test_rules_are_set_before_the_call(recorder: Recorder, check: Any) -> None:
    check.dtype.new.within(1e-3).double(X)
    rules = recorder.test_calls[0].rules
    assert (rules.dtype, rules.new, rules.within, recorder.test_calls[0].allowed) == (True, True, 1e-3, 1e-3)


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


def test_pure_call_is_followed_by_a_check_and_a_repetition(recorder: Recorder, check: Any) -> None:
    check.pure.double(X)
    first, changes, again = recorder.test_calls
    assert (changes.kind, again.kind) == ("changes", "call")
    assert changes.about == again.rules.repeats == first.number


def test_expected_error_must_be_raised_by_the_reference(recorder: Recorder, check: Any) -> None:
    assert check.raises(ValueError).refuse(X) is None
    with pytest.raises(AssertionError, match="does not raise ValueError"):
        check.raises(ValueError).double(X)
    with pytest.raises(ValueError, match="no"):
        check.refuse(X)


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
