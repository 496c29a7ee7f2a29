"""Compares responses with expected values, for hidden calls, public examples and repeats alike.

Tolerances are in values/compare.py.
"""

from collections.abc import Iterable, Mapping

from autograder.grading.call_results import CallResult, TestCall
from autograder.sandbox.messages import Response
from autograder.values.compare import Failure, values_agree


def compared(test_calls: Iterable[TestCall], responses: Iterable[Response]) -> list[CallResult]:
    """Compare the responses to test calls made in this order. A repeated call is compared with the first response."""
    calls: dict[int, Response] = {}
    call_results = []
    for test_call, response in zip(test_calls, responses, strict=True):
        call_results.append(_compare(test_call, response, calls))
        if test_call.kind == "call":
            calls[test_call.number] = response
    return call_results


def _compare(test_call: TestCall, response: Response, calls: Mapping[int, Response]) -> CallResult:
    if response.ended is not None:
        return CallResult(test_call, response, Failure("ended", response.ended.why))
    if test_call.kind == "call":
        return _call(test_call, response, calls)
    if test_call.kind == "changes" and response.changed:
        return CallResult(test_call, response, Failure("changed_later"))
    earlier = calls.get(test_call.about)
    if test_call.kind == "look" and earlier is not None and earlier.error is None and earlier.ended is None:
        return CallResult(
            test_call, response, None if values_agree(earlier.value, response.value) else Failure("overwritten")
        )
    return CallResult(test_call, response)


def _call(test_call: TestCall, response: Response, calls: Mapping[int, Response]) -> CallResult:
    rules = test_call.rules
    if rules.error:
        if response.error is None:
            return CallResult(test_call, response, Failure("no_error"))
        right = rules.error in response.error.kinds and response.error.hint != "signature"
        return CallResult(test_call, response, None if right else Failure("raised", response.error.kind))
    if response.error is not None:
        return CallResult(test_call, response, Failure("raised", response.error.kind))
    if rules.question:
        answer = response.value.get(rules.question) if isinstance(response.value, dict) else None
        right = isinstance(answer, str) and answer.strip().lower() == str(test_call.expected).lower()
        return CallResult(test_call, response, None if right else Failure("value"))
    first = calls.get(rules.repeats)
    if (
        first is not None
        and first.error is None
        and first.ended is None
        and not values_agree(first.value, response.value)
    ):
        return CallResult(test_call, response, Failure("unsteady"))
    failure, deviation = test_call.compared(response)
    side_effect = Failure("changed") if response.changed else Failure("shared") if response.shared else None
    return CallResult(test_call, response, failure or side_effect, deviation)
