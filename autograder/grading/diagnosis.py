"""Which known mistake is this? Every misconception of the function is tried on the same arguments.

A name is given only to the one misconception that agrees with every call seen so far; where several or none do, there is no name.
"""

from collections.abc import Iterable

from autograder.grading.compare import compare, tolerance
from autograder.grading.direct import observe
from autograder.grading.recorder import Record, Target
from autograder.homework import catalogue
from autograder.sandbox.messages import Reply


def diagnose(target: Target, records: Iterable[Record]) -> catalogue.Misconception | None:
    """The one misconception of `target` that explains all records of its calls, if there is exactly one."""
    calls = [record for record in records if record.target == target and record.reply.ended is None]
    if not any(record.fault is not None for record in calls):
        return None
    fitting = [m for m in catalogue.of_function(target.module, target.function) if explains(m, calls)]
    return fitting[0] if len(fitting) == 1 else None


def explains(hypothesis: catalogue.Misconception, calls: Iterable[Record]) -> bool:
    """Whether the wrong version, called in the same order, does in every call just what the student's function did."""
    function, calls = hypothesis.fresh(), list(calls)
    only_dtype = {r.fault.kind for r in calls if r.fault is not None} == {"dtype"}
    for record in calls:
        dtype = only_dtype and record.fault is not None
        if not _alike(observe(function, record.args, record.kwargs, list(record.checks)), record, dtype):
            return False
    return True


def _alike(reply: Reply, record: Record, dtype: bool) -> bool:
    theirs = record.reply
    if theirs.error is not None or reply.error is not None:
        return theirs.error is not None and reply.error is not None and reply.error.kind == theirs.error.kind
    if (reply.changed[:1], reply.shared) != (theirs.changed[:1], theirs.shared):
        return False
    verdict = compare(reply.value, theirs.value, tolerance((record.args, record.kwargs)), dtype)
    return verdict.difference is None
