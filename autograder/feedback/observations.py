"""Observations about wrong values that no misconception explains.

They come from public examples only: the words are ours, the numbers the student's. What is true of every failing example of the
function comes first.
"""

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import lru_cache, partial
from itertools import combinations, groupby, permutations
from typing import Any

import numpy as np

from autograder.feedback.sentences import line
from autograder.grading.call_results import CallResult, TestCall
from autograder.grading.probes import Arguments, ProbeResult, arguments, is_unsteady, moved, part, plain
from autograder.grading.thresholds import FEW
from autograder.homework import reference
from autograder.values.compare import equal
from autograder.values.differences import IN_ORDER, UNSTEADY, difference
from autograder.values.tree import leaves

Array = np.ndarray[Any, Any]


def observe(example: CallResult, examples: Sequence[CallResult] = (), outcomes: Sequence[ProbeResult] = ()) -> str:
    """A few sentences about a failing public example, or "". `examples` are all public examples of the same function.

    `outcomes` are the results of its probes; a sentence about all calls must be true of the failing ones.
    """
    test_call = example.test_call
    if test_call.rules.error or example.response.ended is not None:
        return ""
    if is_unsteady(outcomes):
        return UNSTEADY
    if not _returned(example):
        return _right_with(outcomes)
    others = [
        call_result for call_result in examples if call_result.test_call is not test_call and _returned(call_result)
    ]
    wrong = [example, *(call_result for call_result in others if call_result.failed)]
    made_up = [outcome.call_result for outcome in outcomes[1:] if outcome.call_result.failed]
    said = _other_arguments(wrong, made_up)
    differs = said or differs_by(example)
    if said or differs.startswith(IN_ORDER):
        return differs
    alike = (
        _returned(r) and difference(r.test_call.expected, r.response.value, r.test_call.allowed) == differs
        for r in made_up
    )
    if "transpose" in differs and not all(alike):
        differs = ""
    return " ".join(filter(None, (differs, dependence(outcomes), _right_with(outcomes))))


def differs_by(example: CallResult) -> str:
    """How the result of a public example differs; "" if there is none."""
    test_call = example.test_call
    return (
        difference(test_call.expected, example.response.value, test_call.allowed, test_call.parts)
        if _returned(example)
        else ""
    )


def _right_with(outcomes: Sequence[ProbeResult]) -> str:
    """The changes of the call that make its result right."""
    right = (outcome.probe.change for outcome in outcomes[1:] if not outcome.call_result.failed)
    words = dict.fromkeys(filter(None, right))
    return line("right_with", list(words)[:FEW]) if words else ""


def _returned(call_result: CallResult) -> bool:
    return call_result.returned and not call_result.test_call.rules.error


# Right for other arguments


def _other_arguments(wrong: Sequence[CallResult], made_up: Sequence[CallResult]) -> str:
    """The other arguments for which the first result is right, if every other failing result is too, or cannot tell.

    Made-up calls must each be right for them.
    """
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
    """Whether a result is this value, apart from the right parts of a tuple."""
    test_call, actual = call_result.test_call, call_result.response.value
    expected, allowed = test_call.expected, test_call.allowed
    if not isinstance(expected, tuple) or not isinstance(value, tuple) or not isinstance(actual, tuple | list):
        return equal(value, actual, allowed)
    if not len(expected) == len(value) == len(actual):
        return False
    wrong = [(v, a) for e, v, a in zip(expected, value, actual, strict=True) if not equal(e, a, allowed)]
    return bool(wrong) and all(equal(v, a, allowed) for v, a in wrong)


# What a wrong result depends on and the right one does not, or the reverse, found by moving one thing at a time.
#
# This describes kinds of unlisted mistakes: an unused argument, a mean over too many axes, the queries of one head for all. Each
# sentence says only what the probes of a public call showed.


def dependence(outcomes: Sequence[ProbeResult]) -> str:
    """Sentences about the probes of one call, the first of which is the call itself; "" if both results depend on the same."""
    moves = [outcome for outcome in outcomes[1:] if outcome.probe.path]
    if not moves:
        return ""
    base = outcomes[0].call_result
    names = tuple(f"`{name}`" for name in base.test_call.parts) or ("result",)
    of_leaves = [(path, list(own)) for path, own in groupby(moves, lambda outcome: outcome.probe.path)]
    said: list[tuple[int, str]] = []
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
                said += _of_leaf(leaf, name, pairs)
    return " ".join(sentence for _, sentence in sorted(said, key=lambda ranked: ranked[0])[:FEW])


def _again(outcome: ProbeResult, number: int, names: Sequence[str]) -> Array:
    """Where the student's result moves with other numbers; everywhere, if that was not tried."""
    shape = np.shape(part(outcome.call_result.test_call.expected, number, names))
    moves = [
        moved(*(part(call_result.response.value, number, names) for call_result in pair)) for pair in outcome.again
    ]
    alike = [move for move in moves if move is not None and move.shape == shape]
    return np.abs(alike).max(axis=0) if alike and len(alike) == len(moves) else np.ones(shape, int)


def _of_leaf(leaf: str, part: str, pairs: Sequence[Any]) -> Iterator[tuple[int, str]]:
    """The coarsest unit in which the two differ: the whole argument (0), its rows, columns or entries (1), or a row that
    moves a row of the result (2).
    """
    entries, *arrays = zip(*pairs, strict=True)
    right, yours, again, *elsewhere = (np.array(array).reshape(len(pairs), -1) for array in arrays)
    ever = np.max([right, *np.abs(elsewhere)], axis=0)  # what moves the right result, here or elsewhere
    yours_ever = np.where((right == 1) & (yours == 0), again, yours)
    for first, second, mine in ((yours, ever, True), (right, yours_ever, False)):
        if (first == 1).any() and (second == 0).all():
            yield 0, line("depends", leaf, f"your {part}", mine)
            return
    if not all(entries):
        return
    shape = tuple(n + 1 for n in np.max(entries, axis=0))
    if len(pairs) < np.prod(shape):
        return
    for first, second, mine in ((yours, ever, True), (right, yours_ever, False)):
        where = _where(((first == 1).any(axis=1) & (second == 0).all(axis=1)).reshape(shape))
        if where:
            yield 1, line("depends", f"{where} of {leaf}", f"your {part}", mine)
            return
    given = np.shape(pairs[0][1])
    if len(shape) != 2 or len(given) != 2:
        return
    right, ever, yours, yours_ever = (
        np.moveaxis(array.reshape(*shape, *given), 2, 1) for array in (right, ever, yours, yours_ever)
    )
    for i, j in np.ndindex(shape[0], given[0]):
        for first, second, mine in ((yours, ever, True), (right, yours_ever, False)):
            if (first[i, j] == 1).any() and (second[i, j] == 0).all():
                yield 2, line("depends", f"row {i} of {leaf}", f"row {j} of your {part}", mine)
                return


def _where(mask: Array) -> str:
    """The rows, columns or entries of an argument: "" for none, or too many to name."""
    if not mask.any() or mask.all():
        return ""
    lines = (
        [("row", mask.all(axis=-1)), ("column", mask.reshape(-1, mask.shape[-1]).all(axis=0))] if mask.ndim == 2 else []
    )
    for name, own in lines:
        if own.sum() <= FEW and np.sum(mask) == own.sum() * mask.shape[1 if name == "row" else 0]:
            return _listed(name, f"{name}s", [str(n) for n in np.flatnonzero(own)])
    entries = [str([int(n) for n in index]) for index in np.argwhere(mask)]
    return _listed("entry", "entries", entries) if len(entries) <= FEW else ""


def _listed(singular: str, plural: str, places: Sequence[str]) -> str:
    return f"{singular if len(places) == 1 else plural} {' and '.join(places)}"


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
        turned = {key: own.T if isinstance(own, np.ndarray) else own for key, own in value.items()}
        yield f"every array of {name}` transposed", turned
    for key, own in value.items():
        yield from ((words, {**value, key: changed}) for words, changed in _parts(f"{name}[{key!r}]", own))


def _lists(name: str, value: list[Any]) -> Iterator[tuple[str, Any]]:
    yield f"{name}` in reverse order", value[::-1]
    if len(value) > 1:
        yield f"{name}` without its last entry", value[:-1]
        yield f"{name}` without its first entry", value[1:]
        yield f"only the last entry of {name}`", value[-1:]
    for number, own in enumerate(value):
        changes = _parts(f"{name}[{number}]", own)
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
