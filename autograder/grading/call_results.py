"""Test calls, and the comparison of their responses with the expected values. Tolerances are in shared/compare.py.

A test call is one request to a student's process. Its kinds are:

- "call": call the function and compare the result with the expected one.
- "changes": report how the arguments of an earlier call differ from their values before it.
- "write": write into an argument or a result of an earlier call, as the caller; nothing is compared.
- "look": return the present value of an earlier result.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from autograder.sandbox.protocol import Error, Request, Response
from autograder.sandbox.wire import Handle
from autograder.shared.compare import Compared, Failure, compare, values_agree
from autograder.shared.differences import difference
from autograder.shared.display import display
from autograder.shared.tree import Opaque, leaves
from autograder.submissions.text import printable


@dataclass(frozen=True)
class Target:
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
    tuple that count, () for all. `keep`: the arguments and the result stay the same objects for later calls.
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
        tuples = all(isinstance(both, tuple | list) and len(both) == len(self.parts) for both in (value, self.expected))
        if not self.rules.parts or not tuples:
            return value
        named = zip(self.parts, value, self.expected, strict=True)
        return tuple(returned if name in self.rules.parts else expected for name, returned, expected in named)

    @property
    def kind(self) -> str:
        return self.call.kind

    @property
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
