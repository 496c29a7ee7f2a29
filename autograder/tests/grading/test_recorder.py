"""Recording a suite's test: the arguments, expected results and kept objects of its test calls."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from autograder.exceptions import CommandError
from autograder.grading.call_results import Rules, Target, TestCall
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


# Number, kind, function, arguments, result and tolerance, rules, and what the student's process looks at and keeps
RECORDED = """
5 call double([2.0]) {} -> [4.0] 1e-08 {} [] 0
6 call double([3.0]) {} -> [6.0] 0.0002 {pure: True} ['pure'] 6
7 changes double() {} -> None 0 {pure: True} 6
8 call double([3.0]) {} -> [6.0] 0.0002 {pure: True, repeats: 6} ['pure'] 0
9 call double([2.0]) {} -> [4.0] 1e-08 {untouched: True} ['pure'] 0
10 call refuse([2.0]) {} -> None 1e-08 {untouched: True, error: ValueError} ['pure'] 10
11 changes refuse() {} -> None 0 {untouched: True, error: ValueError} 10
12 call scale([2.0], 4.0) {power: 2} -> [16.0] 1e-08 {dtype: True, new: True, keep: True} ['new'] 12
13 write scale(12.result, [0.0]) {} -> None 0 {} 12
14 look scale(12.result) {} -> None 0 {} 12
15 call apply(f, {k: [12.0]}) {} -> {k: [[2.0]]} 1e-08 {pure: True, keep: True} ['pure'] 15
16 changes apply() {} -> None 0 {pure: True, keep: True} 15
17 call apply(f, {k: [12.0]}) {} -> {k: [[2.0]]} 1e-08 {pure: True, repeats: 15, keep: True} ['pure'] 0
18 call scale(15.result.k.0, 3) {shift: 1} -> [7.0] 0.001 {within: 0.001} [] 0
19 call split([5.0, 6.0]) {} -> (5.0, [6.0]) 1e-08 {parts: (first)} [] 0
20 call apply(f, (12.result, {a: 12.result})) {} -> ([0.0], {a: [0.0]}) 1e-08 {keep: True} [] 20
21 look apply(20.result.1.a) {} -> None 0 {} 20
"""


def plain(value: Any) -> str:
    match value:
        case Handle():
            return ".".join(map(str, (value.call, *value.path)))
        case tuple() | list():
            text = ", ".join(map(plain, value))
            return f"({text})" if isinstance(value, tuple) else f"[{text}]"
        case dict():
            return str({key: plain(item) for key, item in value.items()}).replace("'", "")
        case np.ndarray():
            return plain(value.tolist())
    return "f" if callable(value) else str(value)


def described(of: TestCall) -> str:
    rules = {f.name: getattr(of.rules, f.name) for f in fields(Rules) if getattr(of.rules, f.name) != f.default}
    sent = [str(part) for part in of.call.parts[4:]] if of.kind == "call" else [str(of.about)]
    call = f"{of.number} {of.kind} {of.target.function}{plain(of.args)} {plain(dict(of.kwargs))}"
    return " ".join([call, f"-> {plain(of.expected)} {of.allowed:g} {plain(rules)}", *sent])


def test_calls_of_a_test_are_recorded_in_order() -> None:
    recorder = Recorder("module", FUNCTIONS, "test", "module.criterion", 5)
    check, x, y = Check(recorder, "module"), np.array([2.0]), np.array([3.0], np.float32)
    check.double(x)
    check.pure.double(y)
    check.untouched.double(x)
    assert check.untouched.raises(ValueError).refuse(x) is None
    scaled = check.keep.new.dtype.scale(x, 4.0, power=2)
    check.overwrite(scaled, 0.0)
    check.stays(scaled)
    applied = check.keep.pure.apply(lambda a: a, {"k": [x]})
    check.within(1e-3).scale(applied["k"][0], factor=3, shift=1)
    assert check.part("first").split(np.array([5.0, 6.0]))[1].tolist() == [6.0]
    _, inner = check.keep.apply(lambda a: a, (scaled, {"a": scaled}))
    check.stays(inner["a"])
    assert [*map(described, recorder.test_calls)] == RECORDED.strip().splitlines()
    assert {(of.test, of.criterion) for of in recorder.test_calls} == {("test", "module.criterion")}
    assert recorder.test_calls[7].names == ("x", "factor", "power") and recorder.test_calls[14].parts == (
        "first",
        "others",
    )


@pytest.mark.parametrize("function", ["double", "spoil"])
def test_arguments_are_copied_before_the_call(recorder: Recorder, check: Any, function: str) -> None:
    x = X.copy()
    getattr(check, function)(x)
    x[:] = 0
    assert np.array_equal(recorder.test_calls[0].args[0], X)


def test_invalid_call_is_rejected(check: Any) -> None:
    with pytest.raises(ValueError, match="split returns no part named 'second', only first, others"):
        check.part("second").split(X)
    with pytest.raises(ValueError, match="no part"):
        check.part("first").double(X)
    with pytest.raises(AssertionError, match="does not raise ValueError"):
        check.raises(ValueError).double(X)
    with pytest.raises(ValueError, match="no"):
        check.refuse(X)
    with pytest.raises(ValueError, match="does not come from an earlier"):
        check.overwrite(X, 1.0)


def test_criterion_of_the_integration_names_the_module(recorder: Recorder) -> None:
    check = Check(recorder, "")
    assert np.array_equal(check.module.double(X), 2 * X) and repr(check.module) == "check"
    with pytest.raises(
        CommandError, match=r"has no module 'modul'; did you mean 'module'\?; delete this test or add the mod"
    ):
        check.modul  # noqa: B018


def test_relation_must_hold_for_the_reference(recorder: Recorder, check: Any) -> None:
    check.related(lambda f, x: -f(-x)).double(X)
    with pytest.raises(CommandError, match="the relation does not hold for the reference of double"):
        check.related(lambda f, x: f(-x)).double(X)


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


def test_random_numbers_depend_only_on_the_test() -> None:
    assert rng_for("a").random() == rng_for("a").random() != rng_for("b").random()
