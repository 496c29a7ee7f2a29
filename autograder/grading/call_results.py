"""Test calls, and the comparison of their responses with the expected values. Tolerances are in shared/compare.py.

A test call is one request to a student's process. Its kinds are:

- "call": call the function and compare the result with the expected one.
- "changes": report how the arguments of an earlier call differ from their values before it.
- "write": write into an argument or a result of an earlier call, as the caller; nothing is compared.
- "look": return the present value of an earlier result.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from autograder.grading.thresholds import SAME, SAME_ROUNDING
from autograder.homework.library import (
    CHANGES,
    COPIES,
    COPIES_OF_LISTS,
    FLOAT64,
    KEEP_DTYPE,
    KEPT,
    NO_CHANGES,
    Misconception,
    of_dtype,
)
from autograder.sandbox.protocol import Error, Request, Response
from autograder.sandbox.wire import Handle
from autograder.shared.changes import expression, in_words
from autograder.shared.compare import Compared, Failure, compare, deviation, equal, values_agree
from autograder.shared.differences import difference
from autograder.shared.display import display
from autograder.shared.tree import Opaque, arrays, leaves
from autograder.submissions.text import printable


class Target(NamedTuple):
    """One function of one module."""

    module: str
    function: str


@dataclass(frozen=True)
class Rules:
    """How strictly a response is compared.

    `dtype`: the dtype of the result counts. `pure`: no argument may change, not even later, and the same call must
    return the same result again. `untouched`: no argument may change. `new`: the result must not share memory with an
    argument. `within`: a tolerance other than the usual one, as a share of max(1, largest expected magnitude). `error`:
    the exception that the call must raise. `question`: the key of the returned dict that counts, compared as a letter.
    `repeats`: the number of the call whose result this one must repeat. `parts`: the names of the parts of the returned
    tuple that count, () for all. `keep`: the arguments and the result stay the same objects for later calls. `related`: see
    Check.related.
    """

    dtype: bool = False
    pure: bool = False
    untouched: bool = False
    new: bool = False
    within: float | None = None
    error: str = ""
    question: str = ""
    repeats: int = 0
    parts: tuple[str, ...] = ()
    keep: bool = False
    related: Callable[..., Any] | None = None

    @property
    def checks(self) -> list[str]:
        """The observations that the student's process makes."""
        return ["pure"] * (self.pure or self.untouched) + ["new"] * self.new


@dataclass(frozen=True, eq=False)
class TestCall:
    """One request to a student's process. `criterion` is "" for a public example; `expected` comes from the reference.

    `number` is unique within the test plan of a module. `about` is the number of the call that "changes", "write" and "look" refer
    to. Arguments are copies that nothing modifies; an argument that is an object of an earlier call is a `Handle`. `names` are
    the contract's names of the arguments, in the order of the call. `parts` are the names of the parts of the returned tuple, ()
    if the function returns none. `reference` is the reference function.
    """

    __test__ = False  # pytest would collect it
    number: int
    target: Target
    call: Request = field(repr=False)
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    expected: Any = None
    allowed: float = 0.0
    rules: Rules = Rules()
    about: int = 0
    test: str = ""
    criterion: str = ""
    names: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    reference: Callable[..., Any] = field(default=lambda: None, repr=False)

    def counted(self, value: Any) -> Any:
        """Return the result with expected values for parts that do not count; unchanged if the tuples have different lengths."""
        if not self.rules.parts or not all(
            isinstance(both, tuple | list) and len(both) == len(self.parts) for both in (value, self.expected)
        ):
            return value
        named = zip(self.parts, value, self.expected, strict=True)
        return tuple(returned if name in self.rules.parts else expected for name, returned, expected in named)

    @property
    def kind(self) -> str:
        return self.call.kind

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """The arguments by name, in the order of the reference."""
        return dict(inspect.signature(self.reference).bind_partial(*self.args, **self.kwargs).arguments)

    @cached_property
    def needs(self) -> set[int]:
        """The numbers of the calls that this one refers to, or whose objects it takes."""
        arguments = leaves((self.args, self.kwargs))
        return {leaf.call for leaf in arguments if isinstance(leaf, Handle)} | ({self.about} if self.about else set())


def with_needed(every: Sequence[TestCall], selected: Iterable[TestCall]) -> list[TestCall]:
    """Return some test calls, the calls whose objects they need, and the writes into these objects, in the original order."""
    numbers = {test_call.number for test_call in selected}
    last = max(numbers, default=0)
    for test_call in reversed(every):  # an object comes from an earlier call
        if test_call.number in numbers or (
            test_call.kind == "write" and test_call.about in numbers and test_call.number < last
        ):
            numbers |= {test_call.number, *test_call.needs}
    return [test_call for test_call in every if test_call.number in numbers]


@dataclass(frozen=True, eq=False)
class CallResult:
    """A test call and its response. `deviation` is the largest error, as a share of max(1, largest expected magnitude)."""

    test_call: TestCall
    response: Response
    failure: Failure | None = None
    deviation: float = 0.0

    @property
    def target(self) -> Target:
        return self.test_call.target

    @property
    def failed(self) -> bool:
        return self.failure is not None

    @property
    def kind(self) -> str:
        """The kind of the failure, "" for a passing call."""
        return self.failure.kind if self.failure is not None else ""

    @property
    def error(self) -> Error | None:
        return self.response.error

    @property
    def returned(self) -> bool:
        """Whether the call returned a value, correct or not."""
        return self.response.error is None and self.response.ended is None

    @property
    def unwritten(self) -> bool:
        """Whether the function itself raises NotImplementedError, not a function that it calls."""
        error = self.error
        return error is not None and error.kind == "NotImplementedError" and error.passed[:1] == (self.target.function,)

    @property
    def is_absent(self) -> bool:
        """Whether the function is missing, unimplemented, or does not accept its arguments."""
        return self.unwritten or (self.error is not None and self.error.hint in ("missing", "signature"))


def of_function(call_results: Iterable[CallResult], function: str) -> list[CallResult]:
    return [call_result for call_result in call_results if call_result.target.function == function]


def outcome(call_result: CallResult) -> Iterator[str]:
    """Yield the expected and the returned value of a call, for an instructor, and how they differ."""
    test_call = call_result.test_call
    if test_call.kind == "call" and call_result.returned:
        value = test_call.counted(call_result.response.value)
        yield f"expected: {test_call.rules.error or display(test_call.expected)}"
        yield f"returned: {display(value)}"
        yield from filter(None, [difference(test_call.expected, value, test_call.allowed, test_call.parts)])


def reason(response: Response) -> str:
    """Return the error of a response, or the end of its process; "" if there is neither."""
    if response.error is not None:
        return f"{response.error.kind}: {printable(response.error.text)}"
    return response.ended.why if response.ended is not None else ""


def compared(test_calls: Iterable[TestCall], responses: Iterable[Response]) -> list[CallResult]:
    """Compare the responses to test calls made in this order. A repeated call is compared with the first response."""
    earlier: dict[int, Response] = {}
    call_results = []
    for test_call, response in zip(test_calls, responses, strict=True):
        call_results.append(CallResult(test_call, response, *_compared(test_call, response, earlier)))
        if test_call.kind == "call" and response.error is None:
            earlier[test_call.number] = response
    return call_results


def _compared(test_call: TestCall, response: Response, earlier: Mapping[int, Response]) -> Compared:
    rules, error = test_call.rules, response.error
    if response.ended is not None:
        return Failure("ended", response.ended.why), 0.0
    if test_call.kind != "call":
        is_overwritten = test_call.kind == "look" and not repeats(response, earlier.get(test_call.about))
        kind = "changed_later" if response.changed else "overwritten" if is_overwritten else ""
        return Failure(kind) if kind else None, 0.0
    if error is not None:
        passes = rules.error in error.kinds and error.hint not in ("missing", "signature")
        return (None if passes else Failure("raised", error.kind)), 0.0
    if rules.error:
        return Failure("no_error"), 0.0
    if rules.question:
        answer = response.value.get(rules.question) if isinstance(response.value, dict) else None
        passes = isinstance(answer, str) and answer.strip().lower() == str(test_call.expected).lower()
        return (None if passes else Failure("value")), 0.0
    if not repeats(response, earlier.get(rules.repeats)):
        return Failure("unsteady"), 0.0
    failure, deviation = compare(test_call.expected, test_call.counted(response.value), test_call.allowed, rules.dtype)
    side_effect = Failure("changed") if response.changed else Failure("shared") if response.shared else None
    return failure or side_effect, deviation


def repeats(response: Response, first: Response | None) -> bool:
    """Whether a response repeats the first one: the same value, or an error again.

    A call whose process ended proves nothing, nor does a value that was not sent.
    """
    if first is None or first.ended is not None or response.ended is not None:
        return True
    if any(isinstance(leaf, Opaque) for leaf in leaves([first.value, response.value])):
        return True
    if first.error is not None or response.error is not None:
        return first.error is not None and response.error is not None
    return values_agree(first.value, response.value)


# Wrong responses with one cause


def alike(test_call: TestCall, first: Response, second: Response) -> bool:
    """Whether two responses to a call have the same value: an error of the same kind, or values within the tolerance."""
    if first.ended is not None or second.ended is not None:
        return False
    if test_call.kind != "call":
        return True
    if first.error is not None and second.error is not None:
        kinds = {first.error.kind, second.error.kind}
        # NumPy raises either for shapes that do not fit.
        return len(kinds) == 1 or (kinds == {"IndexError", "ValueError"} and not test_call.rules.error)
    if error := first.error or second.error:
        return not test_call.rules.error and _breaks_down(error, (first.value, second.value))
    if test_call.rules.error:
        # If an error is expected, all returned values are equivalent, except None, which is a missing return.
        return (first.value is None) == (second.value is None)
    of_type = _of_another_type(test_call, first)
    if of_type:
        return of_type == _of_another_type(test_call, second)  # any numbers in place of booleans are equivalent
    return equal(test_call.counted(first.value), test_call.counted(second.value), _allowed(test_call, first.value))


def _breaks_down(error: Error, value: Any) -> bool:
    """Whether Python's own numbers raise this error where NumPy returns the nan or infinity in the value."""
    numbers = [np.asarray(leaf) for leaf in leaves(value)]
    is_finite = all(np.isfinite(array).all() for array in numbers if array.dtype.kind == "f")
    arithmetic = error.kind in ("ZeroDivisionError", "OverflowError") or error.text == "math domain error"
    return arithmetic and not is_finite


def explained(test_call: TestCall, version: Response, response: Response) -> float:
    """How much of a failing response a version explains: 1.0 for all, at most 0.5 if it is only closer."""
    if alike(test_call, version, response):
        return 1.0
    if version.error is not None or response.error is not None or response.ended is not None or test_call.rules.error:
        return 0.0
    values = test_call.expected, test_call.counted(version.value), test_call.counted(response.value)
    parts = [[np.asarray(leaf) for leaf in group] for group in zip(*map(leaves, values), strict=False)]
    explained = 0.0
    for correct, predicted, actual in parts:
        numbers = {correct.dtype.kind, predicted.dtype.kind, actual.dtype.kind} <= {*"biuf"}
        if numbers and correct.shape == predicted.shape == actual.shape:
            # How much closer it is to the predicted value than to the correct one, as a share of its deviation.
            before, after = deviation(actual, correct), deviation(actual, predicted)
            explained += 1 - after / before if after < before < np.inf else 0.0
    return explained / max(1, len(parts)) / 2


def _allowed(test_call: TestCall, value: Any) -> float:
    """Return the tolerance between two wrong responses: larger than the call's if that is meant for a much smaller value."""
    if not 0 < test_call.allowed < SAME:
        return test_call.allowed
    largest = max((float(np.abs(array[np.isfinite(array)]).max(initial=0.0)) for array in arrays(value)), default=0.0)
    return max(test_call.allowed, SAME * min(1.0, largest))


def _of_another_type(test_call: TestCall, response: Response) -> str:
    """Return the type returned instead of an array, or of an array of booleans; "" if the type is correct."""
    if not isinstance(test_call.expected, np.ndarray):
        return ""
    difference, _ = compare(test_call.expected, response.value, np.inf)
    return difference.got if difference is not None and difference.kind == "type" else ""


def alike_in_form(test_call: TestCall, first: Response, second: Response) -> bool:
    """Whether two responses have the same side effects and dtype."""
    if (set(first.changed), first.shared) != (set(second.changed), second.shared):
        return False
    if first.error is not None or second.error is not None or not test_call.rules.dtype:
        return True
    values = test_call.counted(first.value), test_call.counted(second.value)
    difference, _ = compare(*values, test_call.allowed, dtype=True)
    return difference is None or difference.kind != "dtype"


def wrong_in_value(call_result: CallResult) -> bool:
    """Whether a call fails by more than side effects and dtype."""
    if not call_result.failed or call_result.kind in ("changed", "changed_later", "shared", "overwritten"):
        return False
    expected = Response(value=call_result.test_call.expected)
    return call_result.kind != "dtype" or not alike(call_result.test_call, expected, call_result.response)


# Rounding errors, as opposed to other small errors


def alike_in_rounding(test_call: TestCall, exact: Response, inexact: Response, response: Response) -> bool:
    """Whether a response has errors of the same size as the known inexact one."""
    if inexact.error is not None or response.error is not None or test_call.kind != "call":
        return alike(test_call, inexact, response)
    correct = test_call.counted(exact.value)
    far, theirs = (distance(correct, test_call.counted(item.value)) for item in (inexact, response))
    if far <= test_call.allowed:
        return alike(test_call, exact, response)
    return far / SAME_ROUNDING <= theirs <= far * SAME_ROUNDING or theirs == np.inf


def distance(exact: Any, value: Any) -> float:
    """Return the largest deviation of a value or its parts; negative for another shape or type, infinite unless all are finite."""
    if exact is None or value is None:
        return 0.0 if exact is value else -1.0  # an error was raised
    failure, away = compare(exact, value, np.inf)
    return away if failure is None or failure.kind == "value" else -1.0


def wrong_alike(correct: Any, exact: Any, value: Any, allowed: float) -> bool | None:
    """Whether a value is much closer to the exact misconceptions' value than to the correct one; None if these have no effect."""
    apart, residual = distance(correct, exact), distance(exact, value)
    if 0 <= apart <= allowed:
        return None
    return 0 <= residual <= max(apart / SAME_ROUNDING, allowed)


# Side effects and wrong dtypes are named by observation

OBSERVED = {
    "shares_memory": ("Your result shares memory with an argument.", "Return a new array, or a copy."),
    "overwrites_result": (
        "A result that you returned changed in a later call, or when another result was overwritten.",
        "Return a new one in every call.",
    ),
    "remembers": (
        "The same call returned different results.",
        "Keep nothing from one call to the next, and use no random numbers.",
    ),
    # Other mistakes that are in no library, in a class report.
    "signature": ("Your function does not accept the arguments of every call that the docstring allows.", ""),
    "partly_right": ("Your code gives the correct values with some arguments, but not with others.", ""),
}


def observed(call_results: Sequence[CallResult], explained: bool) -> tuple[Misconception, ...]:
    """Return the wrong side effects and dtypes of one function, each once; `explained`: the diagnosis covers kept state."""
    every = [(r.test_call.kind == "changes", m) for r in call_results if r.failed for m in observations(r, explained)]
    at_once = {m.changes for is_later, m in every if not is_later}
    first = {m.name: m for is_later, m in reversed(every) if not (is_later and m.changes in at_once)}
    return tuple(first[name] for name in dict.fromkeys(m.name for _, m in every) if name in first)


def observations(call_result: CallResult, explained: bool) -> Iterator[Misconception]:
    """Yield the wrong side effects and dtypes in one call result."""
    test_call, response, (module, function) = call_result.test_call, call_result.response, call_result.target
    later = test_call.kind == "changes"
    has_numpy = any(value is np for value in test_call.reference.__globals__.values())
    copies = COPIES if has_numpy else COPIES_OF_LISTS
    facts: list[tuple[str, str, str, str]] = []  # name, details, what to read, and the changed argument
    for number in dict.fromkeys(change.argument for change in response.changed):
        name = expression(test_call.names, number, ()).replace(" ", "_")
        how = in_words(test_call.names, (change for change in response.changed if change.argument == number))
        details = f": {how}{', which is visible only after the call' if later else ''}"
        facts.append((f"changes_{name}{'_later' * later}", details, copies, name))
    dtype, floats = _dtypes(call_result)
    follows_arguments = any(a.dtype.kind == "f" for a in arrays((test_call.args, dict(test_call.kwargs))))
    if dtype:
        details = f" for {floats} arguments" if follows_arguments else f" instead of {floats}"
        facts.append((f"{dtype}_result", details, of_dtype("float64_result", function)[2], ""))
    if response.shared:
        facts.append(("shares_memory", "", COPIES, ""))
    if call_result.kind == "overwritten":
        facts.append(("overwrites_result", "", copies, ""))
    if call_result.kind == "unsteady" and not explained:
        facts.append(("remembers", "", KEPT, ""))
    criteria = (test_call.criterion,) if test_call.criterion else ()
    for name, details, read, changes in facts:
        does, fix = built_in(name)
        if dtype and name == f"{dtype}_result" and not follows_arguments:
            fix = f"Return {floats}."
        yield Misconception(
            module, function, name, criteria, f"{does.removesuffix('.')}{details}.", fix, read, changes=changes
        )


def built_in(name: str) -> tuple[str, str]:
    """Return the sentences about a mistake that is in no library, without details of one submission; empty for other names."""
    if changed := re.fullmatch(r"changes_(.+?)(_later)?", name):
        return f"{CHANGES.format(changed[1])}.", NO_CHANGES
    if dtype := re.fullmatch(r"((?:float|u?int)\d+)_result", name):
        return f"Your result is {dtype[1]}.", FLOAT64 if dtype[1] == "float64" else f"{KEEP_DTYPE}."
    return OBSERVED.get(name, ("", ""))


def _dtypes(call_result: CallResult) -> tuple[str, str]:
    """Return the first returned dtype that is not expected, and the expected one, regardless of shape; "" if all are correct."""
    response, test_call = call_result.response, call_result.test_call
    expected = [array.dtype for array in arrays(test_call.expected)]
    due = next((dtype for dtype in expected if dtype.kind == "f"), None)
    if due is None or not test_call.rules.dtype or not call_result.returned:
        return "", ""
    returned = [leaf.dtype for leaf in leaves(response.value) if isinstance(leaf, np.ndarray | np.generic)]
    unexpected = next((dtype for dtype in returned if dtype.kind in "fiu" and dtype not in expected), None)
    return (str(unexpected), str(due)) if unexpected is not None else ("", "")
