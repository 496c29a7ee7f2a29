"""Is a reply right? The one judge of hidden calls, public examples and repeats; tolerances stand in values/compare.py."""

from collections.abc import Iterable, Mapping

from autograder.grading.call_results import CallResult, TestCall
from autograder.sandbox.messages import Reply
from autograder.values.compare import Failure, values_agree


def compared(test_calls: Iterable[TestCall], replies: Iterable[Reply]) -> list[CallResult]:
    """The records of steps that were played in this order; a repeat is held against the reply to the call that it repeats."""
    calls: dict[int, Reply] = {}
    call_results = []
    for test_call, reply in zip(test_calls, replies, strict=True):
        call_results.append(_judged(test_call, reply, calls))
        if test_call.kind == "call":
            calls[test_call.number] = reply
    return call_results


def _judged(test_call: TestCall, reply: Reply, calls: Mapping[int, Reply]) -> CallResult:
    if reply.ended is not None:
        return CallResult(test_call, reply, Failure("ended", reply.ended.why))
    if test_call.kind == "call":
        return _call(test_call, reply, calls)
    if test_call.kind == "changes" and reply.changed:
        return CallResult(test_call, reply, Failure("changed_later"))
    earlier = calls.get(test_call.about)
    if test_call.kind == "look" and earlier is not None and earlier.error is None and earlier.ended is None:
        return CallResult(
            test_call, reply, None if values_agree(earlier.value, reply.value) else Failure("overwritten")
        )
    return CallResult(test_call, reply)


def _call(test_call: TestCall, reply: Reply, calls: Mapping[int, Reply]) -> CallResult:
    rules = test_call.rules
    if rules.error:
        if reply.error is None:
            return CallResult(test_call, reply, Failure("no_error", f"expected {rules.error}"))
        right = rules.error in reply.error.kinds and reply.error.hint != "signature"
        return CallResult(test_call, reply, None if right else Failure("raised", reply.error.kind))
    if reply.error is not None:
        return CallResult(test_call, reply, Failure("raised", reply.error.kind))
    if rules.question:
        answer = reply.value.get(rules.question) if isinstance(reply.value, dict) else None
        right = isinstance(answer, str) and answer.strip().lower() == str(test_call.expected).lower()
        return CallResult(test_call, reply, None if right else Failure("value", "another answer was expected"))
    first = calls.get(rules.repeats)
    if first is not None and first.error is None and first.ended is None and not values_agree(first.value, reply.value):
        return CallResult(test_call, reply, Failure("unsteady"))
    failure, deviation = test_call.compared(reply)
    side_effect = Failure("changed") if reply.changed else Failure("shared") if reply.shared else None
    return CallResult(test_call, reply, failure or side_effect, deviation)
