"""Is a reply right? The one judge of hidden calls, public examples and repeats; tolerances stand in values/compare.py."""

from collections.abc import Iterable, Mapping

from autograder.grading.call_results import Record, Step
from autograder.sandbox.messages import Reply
from autograder.values.compare import Fault, values_agree


def judged(steps: Iterable[Step], replies: Iterable[Reply]) -> list[Record]:
    """The records of steps that were played in this order; a repeat is held against the reply to the call that it repeats."""
    calls: dict[int, Reply] = {}
    records = []
    for step, reply in zip(steps, replies, strict=True):
        records.append(_judged(step, reply, calls))
        if step.kind == "call":
            calls[step.number] = reply
    return records


def _judged(step: Step, reply: Reply, calls: Mapping[int, Reply]) -> Record:
    if reply.ended is not None:
        return Record(step, reply, Fault("ended", reply.ended.why))
    if step.kind == "call":
        return _call(step, reply, calls)
    if step.kind == "changes" and reply.changed:
        return Record(step, reply, Fault("changed_later"))
    earlier = calls.get(step.about)
    if step.kind == "look" and earlier is not None and earlier.error is None and earlier.ended is None:
        return Record(step, reply, None if values_agree(earlier.value, reply.value) else Fault("overwritten"))
    return Record(step, reply)


def _call(step: Step, reply: Reply, calls: Mapping[int, Reply]) -> Record:
    rules = step.rules
    if rules.error:
        if reply.error is None:
            return Record(step, reply, Fault("no_error", f"expected {rules.error}"))
        right = rules.error in reply.error.kinds and reply.error.hint != "signature"
        return Record(step, reply, None if right else Fault("raised", reply.error.kind))
    if reply.error is not None:
        return Record(step, reply, Fault("raised", reply.error.kind))
    if rules.question:
        answer = reply.value.get(rules.question) if isinstance(reply.value, dict) else None
        right = isinstance(answer, str) and answer.strip().lower() == str(step.expected).lower()
        return Record(step, reply, None if right else Fault("value", "another answer was expected"))
    first = calls.get(rules.repeats)
    if first is not None and first.error is None and first.ended is None and not values_agree(first.value, reply.value):
        return Record(step, reply, Fault("unsteady"))
    fault, deviation = step.compared(reply)
    side_effect = Fault("changed") if reply.changed else Fault("shared") if reply.shared else None
    return Record(step, reply, fault or side_effect, deviation)
