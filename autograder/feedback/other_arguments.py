"""Other arguments for a public example, and the reference's results: a result that is right for one of these shows what the
student's code does with the argument.

Public examples are the same for every submission, so each is computed once and kept.
"""

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from functools import lru_cache, partial
from itertools import combinations, permutations
from typing import Any

import numpy as np

from autograder.feedback.sentences import line
from autograder.grading.call_results import TestCall
from autograder.grading.probes import Arguments, arguments, plain
from autograder.homework import reference
from autograder.values.compare import equal
from autograder.values.tree import leaves


@lru_cache(maxsize=1024)
def others(test_call: TestCall) -> tuple[tuple[str, Any], ...]:
    """The reference's results for other arguments than those of a public example, where they differ.

    Each has the sentence for code that returns it: "Your result would be correct with `mask=None`." A small result, such as three
    tokens, is the same for too many arrays to say anything; for it, only flags, strings, counts and None are changed.
    """
    function = reference.functions()[test_call.target.function]
    kinds = [(np.asarray(leaf).dtype.kind, np.size(leaf)) for leaf in leaves(test_call.expected)]
    is_rich = all(kind == "f" or (kind == "b" and size > 5) for kind, size in kinds)  # floating numbers, or many truths
    results = []
    for sentence, call, is_plain in _calls(test_call, function, arguments(test_call)):
        value = _result(call)
        if value is not None and not equal(test_call.expected, value, test_call.allowed) and (is_plain or is_rich):
            results.append((sentence, value))
    return tuple(results)


@lru_cache(maxsize=4096)
def right_for(test_call: TestCall, sentence: str) -> Any:
    """The result that is right by a sentence of `others`; None if the reference has none."""
    calls = _calls(test_call, reference.functions()[test_call.target.function], arguments(test_call))
    return next((_result(call) for said, call, _ in calls if said == sentence), None)


def _result(call: Callable[[], Any]) -> Any:
    """The reference's result; None if it rejects the arguments."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return call()
        except Exception:
            return None


def _calls(
    test_call: TestCall, function: Callable[..., Any], given: Arguments
) -> Iterator[tuple[str, Callable[[], Any], bool]]:
    """The sentence, the call, and whether it is plain: the likeliest mix-ups first."""
    for words, changed in plain(test_call.target.function, given):
        yield line("right_for", words), partial(function, **changed), True
        if words.endswith("one larger"):
            shifted = line("right_for", f"{words}, without the first row of that result")
            yield shifted, partial(lambda given: function(**given)[1:], changed), True
    truth = isinstance(test_call.expected, np.ndarray) and test_call.expected.dtype.kind == "b"
    for words, changed in _changes(function, given, not truth and not isinstance(test_call.expected, bool | np.bool_)):
        yield line("right_for", words), partial(function, **changed), False
    for name, value in given.items():
        if isinstance(value, np.ndarray):
            yield line("unchanged", name), partial(copy, value), True


def _changes(function: Callable[..., Any], given: Arguments, floats: bool) -> Iterator[tuple[str, Arguments]]:
    """Other arrays and, if asked for, other floats."""
    for name, parameter in inspect.signature(function).parameters.items():
        default = parameter.default
        if not isinstance(default, float) or not floats:
            continue
        # The values that a small default may have been mistaken for: 1e-12 to 1e-3 for an eps.
        powers = [float(f"1e{power}") for power in range(-12, -2)] if 0 < default < 1e-3 else []
        for number in (default, 0.0, 1.0, 1 - default, *(power for power in powers if power != default)):
            yield f"`{name}={number:.6g}`", given | {name: number}
        yield f"1 - `{name}` in place of `{name}`", given | {name: 1 - given.get(name, default)}
    for first, second in combinations(given, 2):
        if _exchangeable(given[first], given[second]):
            yield f"`{first}` and `{second}` swapped", given | {first: given[second], second: given[first]}
    for first, second in permutations(given, 2):
        if _exchangeable(given[first], given[second]):
            yield f"`{second}` in place of `{first}`", given | {first: given[second]}
    for name, value in given.items():
        for words, changed in _parts(f"`{name}", value):
            yield words, given | {name: changed}


def _exchangeable(first: Any, second: Any) -> bool:
    arrays = isinstance(first, np.ndarray) and isinstance(second, np.ndarray)
    return arrays and first.dtype.kind == second.dtype.kind and first.shape == second.shape


def _parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Other values for an argument or a part of it. `name` has no closing mark yet."""
    if isinstance(value, np.ndarray):
        yield from ((f"{name}` {words}", changed) for words, changed in _arrays(value))
    elif isinstance(value, dict):
        yield from _entries(name, value)
    elif isinstance(value, list):
        yield from _lists(name, value)


def _entries(name: str, value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    alike = [pair for pair in permutations(value, 2) if _exchangeable(*(value[key] for key in pair))]
    for first, second in combinations(value, 2):
        if (first, second) in alike or (isinstance(value[first], dict) and isinstance(value[second], dict)):
            words = f"{name}[{first!r}]` and {name}[{second!r}]` swapped"
            yield words, {**value, first: value[second], second: value[first]}
    for first, second in alike:
        yield f"{name}[{second!r}]` in place of {name}[{first!r}]`", {**value, first: value[second]}
    if len(alike) > 2:
        turned = {key: part.T if isinstance(part, np.ndarray) else part for key, part in value.items()}
        yield f"every array of {name}` transposed", turned
    for key, part in value.items():
        yield from ((words, {**value, key: changed}) for words, changed in _parts(f"{name}[{key!r}]", part))


def _lists(name: str, value: list[Any]) -> Iterator[tuple[str, Any]]:
    yield f"{name}` in reverse order", value[::-1]
    if len(value) > 1:
        yield f"{name}` without its last entry", value[:-1]
        yield f"{name}` without its first entry", value[1:]
        yield f"only the last entry of {name}`", value[-1:]
    for number, part in enumerate(value):
        changes = _parts(f"{name}[{number}]", part)
        yield from ((words, [*value[:number], changed, *value[number + 1 :]]) for words, changed in changes)


def _arrays(value: "np.ndarray[Any, Any]") -> Iterator[tuple[str, Any]]:
    if value.dtype.kind == "b":
        yield "inverted (True and False swapped)", ~value
        yield "True everywhere", np.ones_like(value)
        yield "False everywhere", np.zeros_like(value)
    if value.dtype.kind == "f":
        yield "all zeros", np.zeros_like(value)
        yield "all ones", np.ones_like(value)
        yield "negated", -value
    if value.ndim >= 2:
        yield "transposed", np.swapaxes(value, -1, -2)
    if value.ndim == 0:
        return
    if value.ndim >= 2:
        yield "with its rows in reverse order", np.flip(value, -2)
    yield "in reverse order" if value.ndim == 1 else "with its columns in reverse order", np.flip(value, -1)
    if len(value) > 1:
        thing = "entry" if value.ndim == 1 else "row"
        yield f"without its first {thing}", value[1:]
        yield f"without its last {thing}", value[:-1]
