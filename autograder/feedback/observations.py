"""Observations about wrong values that no misconception explains.

They come from public examples only. Observations that are true of every failing example of the function come first.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import lru_cache, partial
from itertools import combinations, groupby, permutations
from operator import itemgetter
from typing import Any

import numpy as np

from autograder.feedback.sentences import line
from autograder.grading.call_results import CallResult, TestCall
from autograder.grading.probes import Arguments, ProbeResult, arguments, is_unsteady, moved, part, plain, result_of
from autograder.grading.thresholds import FEW
from autograder.homework import reference
from autograder.values.compare import equal
from autograder.values.differences import IN_ORDER, UNSTEADY, difference
from autograder.values.tree import leaves

Array = np.ndarray[Any, Any]


def observe(example: CallResult, examples: Sequence[CallResult] = (), outcomes: Sequence[ProbeResult] = ()) -> str:
    """A few sentences about a failing public example that are also true of its probes and of the other failing `examples`."""
    if example.test_call.rules.error or example.response.ended is not None:
        return ""
    if is_unsteady(outcomes):
        return UNSTEADY
    if not _returned(example):
        return _right_with(outcomes)
    wrong = [example, *(r for r in examples if r.test_call is not example.test_call and r.failed and _returned(r))]
    made_up = [outcome.call_result for outcome in outcomes[1:] if outcome.call_result.failed]
    if text := _other_arguments(wrong, made_up):
        return text
    differs = differs_by(example)
    if differs.startswith(IN_ORDER):
        return differs
    if "transpose" in differs and not all(differs_by(r) == differs for r in made_up):
        differs = ""
    return " ".join(filter(None, (differs, dependence(outcomes), _right_with(outcomes))))


def differs_by(example: CallResult) -> str:
    """How the result of a public example differs; "" without a result."""
    call, value = example.test_call, example.response.value
    return difference(call.expected, value, call.allowed, call.parts) if _returned(example) else ""


def _right_with(outcomes: Sequence[ProbeResult]) -> str:
    """A sentence on the changes to the call that make its result correct."""
    right = (outcome.probe.change for outcome in outcomes[1:] if not outcome.call_result.failed)
    words = dict.fromkeys(filter(None, right))
    return line("right_with", list(words)[:FEW]) if words else ""


def _returned(call_result: CallResult) -> bool:
    return call_result.returned and not call_result.test_call.rules.error


# Results that are correct for other arguments


def _other_arguments(wrong: Sequence[CallResult], made_up: Sequence[CallResult]) -> str:
    """A sentence on other arguments for which every failing result and every made-up call would be correct."""
    first, *more = [(call_result, dict(others(call_result.test_call))) for call_result in wrong]
    for sentence, value in first[1].items():
        if (
            _mixed(first[0], value)
            and all(_mixed(call_result, own[sentence]) for call_result, own in more if sentence in own)
            and all(_returned(r) and _mixed(r, right_for(r.test_call, sentence)) for r in made_up)
        ):
            return sentence
    return ""


def _mixed(call_result: CallResult, value: Any) -> bool:
    """Whether a result equals `value`, apart from the correct parts of a tuple."""
    test_call, actual = call_result.test_call, call_result.response.value
    expected, allowed = test_call.expected, test_call.allowed
    if not isinstance(expected, tuple) or not isinstance(value, tuple) or not isinstance(actual, tuple | list):
        return equal(value, actual, allowed)
    if not len(expected) == len(value) == len(actual):
        return False
    wrong = [(v, a) for e, v, a in zip(expected, value, actual, strict=True) if not equal(e, a, allowed)]
    return bool(wrong) and all(equal(v, a, allowed) for v, a in wrong)


# Inputs that affect the wrong result but not the correct one, or the reverse, found by changing one entry at a time.
#
# They reveal kinds of unlisted mistakes: an unused argument, a mean over too many axes, one head's queries used for all heads.
# Each sentence states only facts from the probes of a public call.


def dependence(outcomes: Sequence[ProbeResult]) -> str:
    """Sentences about the probes of one call, beginning with the call itself; "" if both results depend on the same inputs."""
    moves = [outcome for outcome in outcomes[1:] if outcome.probe.path]
    if not moves:
        return ""
    base = outcomes[0].call_result
    names = tuple(f"`{name}`" for name in base.test_call.parts) or ("result",)
    of_leaves = [(path, list(own)) for path, own in groupby(moves, lambda outcome: outcome.probe.path)]
    ranked: list[tuple[int, str]] = []
    for number, name in enumerate(names):
        right, yours = part(base.test_call.expected, number, names), part(base.response.value, number, names)
        if moved(right, right) is None or moved(yours, yours) is None or np.shape(right) != np.shape(yours):
            continue
        for path, own in of_leaves:
            leaf = f"`{path[0]}{''.join(f'[{key!r}]' for key in path[1:])}`"
            pairs = [
                (
                    t.probe.entry,
                    moved(right, part(t.call_result.test_call.expected, number, names)),
                    moved(yours, part(t.call_result.response.value, number, names)),
                    _again(t, number, names),
                    *(moved(*(part(value, number, names) for value in pair)) for pair in t.probe.elsewhere),
                )
                for t in own
            ]
            if all(array is not None for _, *arrays in pairs for array in arrays):
                ranked += _of_leaf(leaf, name, pairs)
    return " ".join(sentence for _, sentence in sorted(ranked, key=itemgetter(0))[:FEW])


def _again(outcome: ProbeResult, number: int, names: Sequence[str]) -> Array:
    """Where the student's result changes with other input values; everywhere if that was not tried."""
    shape = np.shape(part(outcome.call_result.test_call.expected, number, names))
    moves = [
        moved(*(part(call_result.response.value, number, names) for call_result in pair)) for pair in outcome.again
    ]
    alike = [move for move in moves if move is not None and move.shape == shape]
    return np.abs(alike).max(axis=0) if alike and len(alike) == len(moves) else np.ones(shape, int)


def _of_leaf(leaf: str, part: str, pairs: Sequence[Any]) -> Iterator[tuple[int, str]]:
    """The coarsest unit whose effects differ: the argument (0), its rows, columns or entries (1), or a row of both (2)."""
    entries, *arrays = zip(*pairs, strict=True)
    right, yours, again, *elsewhere = (np.array(array).reshape(len(pairs), -1) for array in arrays)
    ever = np.max([right, *np.abs(elsewhere)], axis=0)  # effects on the correct result, here or elsewhere
    yours_ever = np.where((right == 1) & (yours == 0), again, yours)
    sides = ((yours, ever, True), (right, yours_ever, False))  # effects on one result only; True: the student's
    for first, second, mine in sides:
        if _only(first, second).all():
            yield 0, line("depends", leaf, f"your {part}", mine)
            return
    shape = tuple(n + 1 for n in np.max(entries, axis=0)) if all(entries) else ()
    if not shape or len(pairs) < np.prod(shape):
        return
    for first, second, mine in sides:
        if where := _where(_only(first, second, axis=1).reshape(shape)):
            yield 1, line("depends", f"{where} of {leaf}", f"your {part}", mine)
            return
    given = np.shape(pairs[0][1])
    if len(shape) == len(given) == 2:
        only_yours, only_right = (
            _only(first.reshape(*shape, *given), second.reshape(*shape, *given), axis=(1, 3))
            for first, second, _ in sides
        )
        rows = [(i, j, bool(only_yours[i, j])) for i, j in np.argwhere(only_yours | only_right)]
        yield from ((2, line("depends", f"row {i} of {leaf}", f"row {j} of your {part}", m)) for i, j, m in rows[:1])


def _only(first: Array, second: Array, axis: int | tuple[int, ...] | None = None) -> Array:
    """Whether the first result changes and the second does not."""
    return np.asarray((first == 1).any(axis=axis) & (second == 0).all(axis=axis))


def _where(mask: Array) -> str:
    """The rows, columns or entries in a mask; "" if there are none, or too many to name."""
    if not mask.any() or mask.all():
        return ""
    for name, axis in (("row", 1), ("column", 0)) if mask.ndim == 2 else ():
        own = mask.all(axis=axis)
        if own.sum() <= FEW and mask.sum() == own.sum() * mask.shape[axis]:
            return _listed(name, f"{name}s", [str(n) for n in np.flatnonzero(own)])
    entries = [str([int(n) for n in index]) for index in np.argwhere(mask)]
    return _listed("entry", "entries", entries) if len(entries) <= FEW else ""


def _listed(singular: str, plural: str, places: Sequence[str]) -> str:
    return f"{singular if len(places) == 1 else plural} {' and '.join(places)}"


@lru_cache(maxsize=1024)
def others(test_call: TestCall) -> tuple[tuple[str, Any], ...]:
    """The reference's results for changed arguments of a public example, where they differ.

    Each has the sentence for code that returns it: "Your result would be correct with `mask=None`." Too many arrays
    give the same small result, such as three tokens; for these, only flags, strings, counts and None are changed.
    """
    kinds = [(np.asarray(leaf).dtype.kind, np.size(leaf)) for leaf in leaves(test_call.expected)]
    is_rich = all(kind == "f" or (kind == "b" and size > 5) for kind, size in kinds)  # floats, or many bools
    results = [(text, result_of(call)) for text, call, is_plain in _calls(test_call) if is_plain or is_rich]
    different = (r for r in results if r[1] is not None and not equal(test_call.expected, r[1], test_call.allowed))
    return tuple(different)


@lru_cache(maxsize=4096)
def right_for(test_call: TestCall, sentence: str) -> Any:
    """The reference's result for the arguments in a sentence of `others`; None if there is none."""
    return next((result_of(call) for text, call, _ in _calls(test_call) if text == sentence), None)


def _calls(test_call: TestCall) -> Iterator[tuple[str, Callable[[], Any], bool]]:
    """The sentence, the call, and whether it is plain; the most likely mix-ups come first."""
    function, given = reference.functions()[test_call.target.function], arguments(test_call)
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
    """Arguments with other arrays and, if `floats` is true, other floats."""
    for name, parameter in inspect.signature(function).parameters.items():
        default = parameter.default
        if not isinstance(default, float) or not floats:
            continue
        # Common wrong values of a small default: 1e-12 to 1e-3 for an eps.
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
        yield from ((words, given | {name: changed}) for words, changed in _parts(f"`{name}", value))


def _exchangeable(first: Any, second: Any) -> bool:
    arrays = isinstance(first, np.ndarray) and isinstance(second, np.ndarray)
    return arrays and first.dtype.kind == second.dtype.kind and first.shape == second.shape


def _parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Other values for an argument or a part of it. `name` has no closing backtick yet."""
    if isinstance(value, np.ndarray):
        yield from ((f"{name}` {words}", changed) for words, changed in _arrays(value))
    elif isinstance(value, dict):
        yield from _entries(name, value)
        for key, own in value.items():
            yield from ((words, {**value, key: changed}) for words, changed in _parts(f"{name}[{key!r}]", own))
    elif isinstance(value, list):
        yield f"{name}` in reverse order", value[::-1]
        if len(value) > 1:
            yield f"{name}` without its last entry", value[:-1]
            yield f"{name}` without its first entry", value[1:]
            yield f"only the last entry of {name}`", value[-1:]
        for number, own in enumerate(value):
            changes = _parts(f"{name}[{number}]", own)
            yield from ((words, [*value[:number], changed, *value[number + 1 :]]) for words, changed in changes)


def _entries(name: str, value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    alike = [pair for pair in permutations(value, 2) if _exchangeable(*(value[key] for key in pair))]
    for first, second in combinations(value, 2):
        if (first, second) in alike or (isinstance(value[first], dict) and isinstance(value[second], dict)):
            words = f"{name}[{first!r}]` and {name}[{second!r}]` swapped"
            yield words, {**value, first: value[second], second: value[first]}
    for first, second in alike:
        yield f"{name}[{second!r}]` in place of {name}[{first!r}]`", {**value, first: value[second]}
    if len(alike) > 2:
        turned = {key: own.T if isinstance(own, np.ndarray) else own for key, own in value.items()}
        yield f"every array of {name}` transposed", turned


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
        yield "with its rows in reverse order", np.flip(value, -2)
    if value.ndim:
        yield "in reverse order" if value.ndim == 1 else "with its columns in reverse order", np.flip(value, -1)
        if len(value) > 1:
            thing = "entry" if value.ndim == 1 else "row"
            yield f"without its first {thing}", value[1:]
            yield f"without its last {thing}", value[:-1]
