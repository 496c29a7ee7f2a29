"""Checks whether the hidden tests cover every input class, and state that is kept between calls.

Input classes are those of `homework/factors.py`: each value of each factor, each pair of values of two factors that interact, each
way of passing an argument. A class is covered if it contains a graded call whose criterion concerns the class. For a dtype,
the dtype must be compared; for purity, the arguments must be checked; for an argument with a default, omitting it must change
the result.

For state between calls there are programs that are right in each single call: they cache results, return one array twice, change
their arguments. Each must lose a criterion of purity. They are the kit's own code and run in this process.

Accepted gaps are in blind_spots.yaml, with the reason.
"""

import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import partial
from itertools import chain
from typing import Any

import click
import numpy as np

from autograder.audit.cases import recorded
from autograder.grading import plan as scripts
from autograder.grading.call_results import TestCall, compared, with_needed
from autograder.grading.known_responses import Direct, play
from autograder.homework import factors, reference
from autograder.homework import rubric as rubrics
from autograder.homework.factors import InputClass
from autograder.values.compare import equal
from autograder.values.tree import copied

RECORD = "blind_spots.yaml"  # in the folder of the suites

Function = Callable[..., Any]
Seen = dict[str, Any]  # the values of a call, from `factors.seen`
Met = Callable[[TestCall, Seen], bool]
Spot = tuple[str, str]  # a function, and the name of a gap in it


def calls_of(module: str) -> tuple[TestCall, ...]:
    """The test calls that decide points."""
    plan = scripts.current()
    return plan.visible.get(module, ()) + plan.hidden.get(module, ())


# Classes of inputs


def demands(module: str) -> Iterator[tuple[Spot, Met]]:
    """The calls that the suite of a module must contain, each with a predicate; none without a table of factors."""
    dtype, purity = frozenset({f"{module}.dtype"}), frozenset({f"{module}.purity"})
    for inside in factors.classes(module):
        if values := inside.about - dtype - purity:
            yield _demand("values", inside, values, lambda test_call, seen: True)
            for name in inside.uses:
                yield _demand(f"{name} not seen", inside, values, partial(_matters, name))
        if dtype <= inside.about:
            yield _demand("dtype", inside, dtype, lambda test_call, seen: test_call.rules.dtype)
        if purity <= inside.about:
            yield _demand(
                "arguments", inside, purity, lambda test_call, seen: test_call.rules.pure or test_call.rules.untouched
            )


def _demand(what: str, inside: InputClass, about: frozenset[str], counts: Met) -> tuple[Spot, Met]:
    """A call in the class, under a criterion of `about`, that `counts`."""

    def met(test_call: TestCall, seen: Seen) -> bool:
        own = test_call.target.function == inside.function and test_call.criterion in about
        return own and inside.holds(seen) and counts(test_call, seen)

    return (inside.function, f"{what}, {inside.name}"), met


def uncovered(module: str, known_responses: Sequence[TestCall]) -> list[Spot]:
    """The demands of a module that no call meets."""
    return [spot for spot, numbers in meeting(module, known_responses).items() if not numbers]


def meeting(module: str, known_responses: Sequence[TestCall]) -> dict[Spot, set[int]]:
    """The numbers of the calls that meet each demand of a module."""
    wanted = list(demands(module))
    steps_by_spot: dict[Spot, set[int]] = {spot: set() for spot, _ in wanted}
    for test_call, seen in _calls(known_responses):
        for spot, met in wanted:
            if met(test_call, seen):
                steps_by_spot[spot].add(test_call.number)
    return steps_by_spot


def _calls(known_responses: Iterable[TestCall]) -> Iterator[tuple[TestCall, Seen]]:
    """Each call with its arguments, including objects of earlier calls, before anything is written into these."""
    calls: list[Seen] = []

    def noting(name: str, right: Function) -> Function:
        def noted(*args: Any, **kwargs: Any) -> Any:
            result = _outcome(right, args, kwargs)
            calls.append(factors.seen(name, args, kwargs, result))
            return _returned(result)

        return noted

    direct = Direct({name: noting(name, right) for name, right in reference.functions().items()})
    for test_call in known_responses:
        calls.clear()
        direct.play(test_call)
        if calls:
            yield test_call, calls[0]


def _matters(name: str, test_call: TestCall, seen: Seen) -> bool:
    """Whether omitting an argument would change the result of a call."""
    right = reference.functions()[test_call.target.function]
    given = {key: seen[key] for key in inspect.signature(right).parameters}
    result = _outcome(right, (), given | {name: factors.defaults(test_call.target.function)[name]})
    if isinstance(result, Exception) or test_call.rules.error:
        return isinstance(result, Exception) != bool(test_call.rules.error)
    return not equal(test_call.expected, test_call.counted(result), test_call.allowed)


def _outcome(right: Function, args: Any, kwargs: Any) -> Any:
    try:
        return right(*args, **kwargs)
    except ValueError as error:
        return error


def _returned(result: Any) -> Any:
    if isinstance(result, Exception):
        raise result
    return result


# State between calls


def unseen(module: str, known_responses: Sequence[TestCall]) -> list[Spot]:
    """The programs with state that keep every criterion about it."""
    return [spot for spot, numbers in showing(module, known_responses).items() if not numbers]


def showing(module: str, known_responses: Sequence[TestCall]) -> dict[Spot, set[int]]:
    """The numbers of the test calls at which each program with state loses a criterion about it."""
    steps_by_spot = {}
    for function in factors.of_module(module):
        graded = [c.id for c in rubrics.current().of(module) if function in c.grades and not c.visible]
        about = frozenset({f"{module}.purity"} & set(graded) or graded) - {f"{module}.dtype"}
        for name, wrong in with_memory(function).items():
            steps_by_spot[function, name] = {
                s.number for s in wrongly(known_responses, function, wrong) if s.criterion in about
            }
    return steps_by_spot


def wrongly(known_responses: Sequence[TestCall], function: str, wrong: Function) -> list[TestCall]:
    """The failing test calls of the function if the fresh function `wrong` replaces it."""
    own = with_needed(
        known_responses, [test_call for test_call in known_responses if test_call.target.function == function]
    )
    call_results = compared(own, play({**reference.functions(), function: wrong}, own))
    return [call_result.test_call for call_result in call_results if call_result.failure is not None]


def with_memory(function: str) -> dict[str, Function]:
    """Versions of a function that are right in each single call, by their error between calls."""
    right = reference.functions()[function]
    parameters = inspect.signature(right).parameters
    kinds = " ".join(str(p.annotation) for p in parameters.values())
    ways: dict[str, Function] = {}
    if "ndarray" in str(inspect.signature(right).return_annotation):
        ways["returns the cached array itself"] = _remembering(right, _contents, lambda result: result)
        ways["returns all results of a shape in one array"] = _in_one_array(right)
    if "ndarray" in kinds:
        ways["caches results by the shapes of its arguments"] = _remembering(right, _shapes)
        ways["caches results by the identity of its arguments"] = _remembering(right, _objects)
        ways["writes into its first array argument"] = _touching(right, np.ndarray, 0)
        ways["writes into its last array argument"] = _touching(right, np.ndarray, -1)
    if len(parameters) > 1:
        ways["caches results by its first argument"] = _remembering(right, lambda given: _contents(given[:1]))
        ways["caches results by all arguments except the first"] = _remembering(
            right, lambda given: _contents(given[1:])
        )
    for kind, words in ((dict, "dict"), (list, "list")):
        if f"{words}[" in kinds or (kind is list and "Any" in kinds):
            ways[f"adds to its first {words} argument"] = _touching(right, kind, 0)
            ways[f"adds to its last {words} argument"] = _touching(right, kind, -1)
    return ways


def _remembering(right: Function, key: Function, handed_out: Function = copied) -> Function:
    results: dict[Any, Any] = {}
    held = []  # keeps arguments alive, so identities stay unique

    def wrong(*args: Any, **kwargs: Any) -> Any:
        held.append((args, kwargs))
        asked = key(_given(right, args, kwargs))
        if asked not in results:
            results[asked] = copied(right(*args, **kwargs))
        return handed_out(results[asked])

    return wrong


def _in_one_array(right: Function) -> Function:
    buffers: dict[Any, Any] = {}

    def wrong(*args: Any, **kwargs: Any) -> Any:
        result = copied(right(*args, **kwargs))
        buffer = buffers.setdefault(_shapes([result]), result)
        for old, new in zip(_parts(buffer, np.ndarray), _parts(result, np.ndarray), strict=True):
            np.copyto(old, new)
        return buffer if isinstance(buffer, np.ndarray | tuple) else result

    return wrong


def _touching(right: Function, kind: type, which: int) -> Function:
    """The right function, which afterwards changes an array, dict or list in its arguments."""

    def wrong(*args: Any, **kwargs: Any) -> Any:
        result = copied(_outcome(right, args, kwargs))
        if parts := _parts(_given(right, args, kwargs), kind)[1 if kind is list else 0 :]:
            value = parts[which]
            if isinstance(value, dict):
                value["more"] = None
            elif isinstance(value, list):
                value.append(None)
            else:
                first = (0,) * value.ndim
                value[first] = value[first] == 0
        return _returned(result)

    return wrong


def _given(right: Function, args: Any, kwargs: Any) -> list[Any]:
    bound = inspect.signature(right).bind(*args, **kwargs)
    bound.apply_defaults()
    return list(bound.arguments.values())


def _shapes(value: Any) -> Any:
    """The value with shapes in place of arrays, without functions."""
    return _summary(value, lambda array: (array.shape, array.dtype.str), lambda function: None)


def _objects(value: Any) -> Any:
    """The arrays and containers of a value, by identity."""
    return tuple(id(part) if isinstance(part, np.ndarray | dict | list) else part for part in value)


def _contents(value: Any) -> Any:
    return _summary(value, lambda array: (array.shape, array.dtype.str, array.tobytes()), id)


def _summary(value: Any, of_array: Function, of_function: Function) -> Any:
    if isinstance(value, np.ndarray):
        return of_array(value)
    if isinstance(value, dict):
        return tuple((key, _summary(part, of_array, of_function)) for key, part in value.items())
    if isinstance(value, list | tuple):
        return tuple(_summary(part, of_array, of_function) for part in value)
    return of_function(value) if callable(value) else value


def _parts(value: Any, kind: type) -> list[Any]:
    """Every object of a kind in a value, outer ones first."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [value] * isinstance(value, kind) + [nested for part in inside for nested in _parts(part, kind)]


# Gaps


def reasons() -> dict[Spot, str]:
    """The accepted reason of each recorded gap; * in a name matches anything."""
    call_result = recorded(RECORD).items()
    return {(f, name): entry["why"] for f, entries in call_result for entry in entries for name in entry["spots"]}


def run(modules: Iterable[str] = ()) -> dict[Spot, str]:
    """Every gap of these modules, or of all, with its recorded reason, "" if there is none."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        names = list(modules) or rubrics.current().modules
        spots = list(chain.from_iterable((*uncovered(m, calls_of(m)), *unseen(m, calls_of(m))) for m in names))
    excused = reasons()
    return {spot: next((why for pattern, why in excused.items() if _fits(spot, pattern)), "") for spot in spots}


def problems(unseen: dict[Spot, str]) -> list[str]:
    """The gaps of all modules without a reason, and the reasons without a gap."""
    lines = [f"not covered: {function}: {name}" for (function, name), why in unseen.items() if not why]
    unused = [pattern for pattern in reasons() if not any(_fits(spot, pattern) for spot in unseen)]
    return lines + [f"has a reason, but is covered: {function}: {name}" for function, name in unused]


def _fits(spot: Spot, recorded: Spot) -> bool:
    return spot[0] == recorded[0] and fnmatchcase(spot[1], recorded[1])


def report() -> int:
    """Print the gaps of all modules; the exit status is 1 if one has no recorded reason."""
    unseen = run()
    wrong = problems(unseen)
    for line in wrong:
        click.echo(f"PROBLEM {line}")
    for (function, name), why in unseen.items():
        click.echo(f"not covered: {function}: {name} ({why or 'no reason recorded'})")
    modules = rubrics.current().modules
    count = sum(len(list(demands(m))) for m in modules)
    programs = sum(len(with_memory(f)) for m in modules for f in factors.of_module(m))
    click.echo(f"{count} input classes, {programs} programs with memory, {len(unseen)} not covered.")
    return 1 if wrong else 0
