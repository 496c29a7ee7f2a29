"""What is special in a hidden call that fails, and in its result: words from a fixed list, never a number.

A word is said of the call if no right call of the same function deserves it. The student's code chooses which calls fail, so the
list is short: at most four bits for the call, three for the result.
"""

import inspect
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import takewhile
from typing import Any

import numpy as np

from autograder.grading.record import Record, Step
from autograder.grading.thresholds import LONG
from autograder.homework import reference
from autograder.values.compare import values_agree
from autograder.values.tree import leaves

MANY = 3  # different numbers in a result, which no two calls return by chance
REPEATED = (
    "It returned exactly what an earlier call with other arguments had returned: it ignores the argument that differs, or "
    "keeps the earlier result."
)


def special(record: Record, records: Iterable[Record]) -> str:
    """A sentence about a wrong call among all `records` of its module; "" where there is nothing to say."""
    records = list(records)
    if any(map(partial(_repeated, record), takewhile(lambda earlier: earlier is not record, records))):
        return REPEATED
    right = {word for r in records if r.target == record.target and r.fault is None for word in _words(r.step)}
    call = next((word for word in _words(record.step) if word not in right), "")
    result = _result(record)
    said = [f"Unlike every passing call of `{record.target.function}`, this call has {call}."] if call else []
    said += [f"The result has {result}."] if result else []
    return " ".join(said)


def _repeated(record: Record, earlier: Record) -> bool:
    """Whether a call returned several numbers that an earlier call had returned, where other ones were expected."""
    if record.target != earlier.target or not record.step.kind == earlier.step.kind == "call":
        return False
    values = record.reply.value, earlier.reply.value
    numbers = [leaf for leaf in leaves(record.reply.value) if isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f"]
    if len(np.unique(np.concatenate([array.ravel() for array in numbers]))) < MANY if numbers else True:
        return False
    return not values_agree(record.step.expected, earlier.step.expected) and values_agree(*values)


def _words(step: Step) -> Iterator[str]:
    if step.kind != "call" or step.rules.error:
        return
    names = inspect.signature(reference.functions()[step.target.function]).parameters
    given = {**dict(zip(names, step.args, strict=False)), **step.kwargs}
    arrays = [leaf for leaf in leaves(tuple(given.values())) if isinstance(leaf, np.ndarray)]
    floats = [array for array in arrays if array.dtype.kind == "f"]
    yield from (f"`{name}` = 0" for name, value in given.items() if type(value) in (int, float) and value == 0)
    if any(array.ndim >= 4 for array in arrays):
        yield "four axes or more"
    lengths = [*(n for array in arrays for n in array.shape), *(n for n in given.values() if type(n) is int)]
    if any(n > LONG for n in lengths):
        yield f"a length above {LONG}"
    if any(1 in array.shape for array in arrays):
        yield "an axis of length one"
    if any(array.dtype.kind == "b" and array.ndim > 1 and not array.any(axis=-1).all() for array in arrays):
        yield "a row of the mask that is False throughout"
    if any(np.isinf(array).any() for array in floats):
        yield "infinite entries"
    first = floats[0] if floats and floats[0].ndim else np.arange(2)
    if first.shape[-1] > 1 and (first == first[..., :1]).all(axis=-1).any():
        yield "a constant row"
    if any(array.dtype == np.float32 for array in floats):
        yield "float32 arguments"


def _result(record: Record) -> str:
    """What is wrong with the first part of a result that differs in form, or is not finite where it should be."""
    fault, value, expected = record.fault, record.reply.value, record.step.expected
    if fault is None or fault.kind not in ("shape", "value"):
        return ""
    parts = isinstance(expected, tuple) and isinstance(value, tuple | list) and len(value) == len(expected)
    for right, yours in zip(expected, value, strict=True) if parts else [(expected, value)]:
        word = _of_array(right, yours)
        if word:
            return word
    return ""


def _of_array(expected: Any, actual: Any) -> str:
    if not isinstance(expected, np.ndarray) or not isinstance(actual, np.ndarray) or actual.dtype.kind not in "biuf":
        return ""
    if actual.ndim != expected.ndim:
        return "an axis too few" if actual.ndim < expected.ndim else "an axis too many"
    if actual.shape != expected.shape:
        return "an axis of another length"
    spoilt = actual[np.isfinite(expected)]
    return "nan" if np.isnan(spoilt).any() else "inf" if np.isinf(spoilt).any() else ""
