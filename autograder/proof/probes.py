"""Versions of the references that are right but for one class of calls, or but for something that stays between calls."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from autograder.grading.recorder import copied
from autograder.homework import factors, reference
from autograder.homework import rubric as rubrics
from autograder.homework.factors import InputClass

Function = Callable[..., Any]


@dataclass(frozen=True)
class Probe:
    """A wrong version of a function. `make` gives it without any memory; `about` are the criteria that may see what is wrong."""

    module: str
    function: str
    name: str
    about: frozenset[str]
    make: Callable[[], Function] = field(repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.function}: {self.name}"


def probes(module: str) -> list[Probe]:
    """Every probe of a module; none where it has no table."""
    found = [probe for one in factors.classes(module) for probe in _in_class(one)]
    return found + [probe for function in factors.of_module(module) for probe in _with_memory(module, function)]


# Wrong in one class of calls


def _in_class(one: InputClass) -> Iterator[Probe]:
    dtype, purity = frozenset({f"{one.module}.dtype"}), frozenset({f"{one.module}.purity"})
    values = one.about - dtype - purity
    if values:
        yield Probe(one.module, one.function, f"a wrong entry, {one.name}", values, lambda: _wrong_in(one, _spoiled))
        for name in one.uses:
            make = lambda name=name: _not_seeing(name, one)  # noqa: E731
            yield Probe(one.module, one.function, f"{name} not seen, {one.name}", values, make)
    if dtype <= one.about:
        yield Probe(
            one.module, one.function, f"float64 for float32, {one.name}", dtype, lambda: _wrong_in(one, _widened)
        )
    if purity <= one.about:
        right = reference.functions()[one.function]
        for words, which in (("first", 0), ("last", -1)):
            name = f"writes into the {words} array of its arguments, {one.name}"
            yield Probe(one.module, one.function, name, purity, partial(_touching, right, np.ndarray, which, one))


def _wrong_in(one: InputClass, way: Function) -> Function:
    """The right function, but in the class what `way` makes of the result, and no error."""
    right = reference.functions()[one.function]

    def wrong(*args: Any, **kwargs: Any) -> Any:
        result = _outcome(right, args, kwargs)
        inside = one.holds(factors.seen(one.function, args, kwargs, result))
        if isinstance(result, Exception):
            if not inside:
                raise result
            return None
        return way(result) if inside else result

    return wrong


def _not_seeing(name: str, one: InputClass) -> Function:
    """The right function, but in the class as if the argument `name` had been left out."""
    right = reference.functions()[one.function]

    def wrong(*args: Any, **kwargs: Any) -> Any:
        result = _outcome(right, args, kwargs)
        if one.holds(values := factors.seen(one.function, args, kwargs, result)):
            values[name] = factors.defaults(one.function)[name]
            return right(**{key: values[key] for key in inspect.signature(right).parameters})
        if isinstance(result, Exception):
            raise result
        return result

    return wrong


def _outcome(right: Function, args: Any, kwargs: Any) -> Any:
    try:
        return right(*args, **kwargs)
    except ValueError as error:
        return error


def _spoiled(value: Any) -> Any:
    """The value with one wrong entry, the last, in each part of a tuple: a criterion may be about any of them."""
    if isinstance(value, tuple):
        return tuple(map(_spoiled, value))
    if isinstance(value, np.ndarray):
        value = value.copy()
        value[(-1,) * value.ndim] = _spoiled(value[(-1,) * value.ndim])
        return value
    if isinstance(value, bool | np.bool_):
        return not value
    if isinstance(value, int | np.integer):
        return value + 1
    return value + 0.1 * max(1.0, abs(value)) if np.isfinite(value) else 0.0


def _widened(value: Any) -> Any:
    """The value in float64 where it is in float32."""
    if isinstance(value, tuple):
        return tuple(_widened(part) for part in value)
    return value.astype(np.float64) if value.dtype == np.float32 else value


# Wrong in what stays


def _with_memory(module: str, function: str) -> Iterator[Probe]:
    right = reference.functions()[function]
    graded = [c.id for c in rubrics.current().of(module) if function in c.grades and not c.visible]
    about = frozenset({f"{module}.purity"} & set(graded) or graded) - {f"{module}.dtype"}
    kinds = " ".join(str(p.annotation) for p in inspect.signature(right).parameters.values())
    ways = dict[str, Callable[[], Function]]()
    if "ndarray" in str(inspect.signature(right).return_annotation):
        ways["hands out the result that it remembers"] = lambda: _handing_out(right)
        ways["gives all results of a shape in one array"] = lambda: _in_one_array(right)
    if "ndarray" in kinds:
        ways["remembers results by the shapes of its arguments"] = lambda: _remembering(right, _shapes)
        ways["remembers results by the objects that its arguments are"] = lambda: _remembering(right, _objects)
        ways["writes into the first array of its arguments"] = lambda: _touching(right, np.ndarray, 0)
        ways["writes into the last array of its arguments"] = lambda: _touching(right, np.ndarray, -1)
    if len(inspect.signature(right).parameters) > 1:
        ways["remembers results by its first argument"] = lambda: _remembering(
            right, lambda given: _contents(given[:1])
        )
        ways["remembers results by all arguments but the first"] = lambda: _remembering(
            right, lambda given: _contents(given[1:])
        )
    for kind, words in ((dict, "dict"), (list, "list")):
        if f"{words}[" in kinds or (kind is list and "Any" in kinds):
            ways[f"adds to the first {words} of its arguments"] = lambda kind=kind: _touching(right, kind, 0)  # type: ignore[misc]
            ways[f"adds to the last {words} of its arguments"] = lambda kind=kind: _touching(right, kind, -1)  # type: ignore[misc]
    for name, make in ways.items():
        yield Probe(module, function, name, about, make)


def _remembering(right: Function, key: Callable[[list[Any]], Any]) -> Function:
    known: dict[Any, Any] = {}
    held = []  # all arguments, so that no other object gets the identity of one of them

    def wrong(*args: Any, **kwargs: Any) -> Any:
        held.append((args, kwargs))
        asked = key(_given(right, args, kwargs))
        if asked not in known:
            known[asked] = copied(right(*args, **kwargs))
        return copied(known[asked])

    return wrong


def _handing_out(right: Function) -> Function:
    known: dict[Any, Any] = {}

    def wrong(*args: Any, **kwargs: Any) -> Any:
        asked = _contents(_given(right, args, kwargs))
        if asked not in known:
            known[asked] = copied(right(*args, **kwargs))
        return known[asked]

    return wrong


def _in_one_array(right: Function) -> Function:
    known: dict[Any, Any] = {}

    def wrong(*args: Any, **kwargs: Any) -> Any:
        result = copied(right(*args, **kwargs))
        kept = known.setdefault(_shapes([result]), result)
        for old, new in zip(_parts(kept, np.ndarray), _parts(result, np.ndarray), strict=True):
            np.copyto(old, new)
        return kept if isinstance(kept, np.ndarray | tuple) else result

    return wrong


def _touching(right: Function, kind: type, which: int, one: InputClass | None = None) -> Function:
    """The right function, but afterwards (in a class, if one is given) an array, dict or list in the arguments is changed."""

    def wrong(*args: Any, **kwargs: Any) -> Any:
        result = copied(_outcome(right, args, kwargs))
        found = _parts(_given(right, args, kwargs), kind)[1 if kind is list else 0 :]
        if found and (one is None or one.holds(factors.seen(one.function, args, kwargs, result))):
            _change(found[which])
        if isinstance(result, Exception):
            raise result
        return result

    return wrong


def _change(value: Any) -> None:
    if isinstance(value, dict):
        value["more"] = None
    elif isinstance(value, list):
        value.append(None)
    else:
        value[(0,) * value.ndim] = _spoiled(value[(0,) * value.ndim])


def _given(right: Function, args: Any, kwargs: Any) -> list[Any]:
    bound = inspect.signature(right).bind(*args, **kwargs)
    bound.apply_defaults()
    return list(bound.arguments.values())


def _shapes(value: Any) -> Any:
    """The value with arrays as their shapes and functions as nothing."""
    return _summary(value, lambda array: (array.shape, array.dtype.str), lambda function: None)


def _objects(value: Any) -> Any:
    """The value with arrays and what holds them by identity."""
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
    """Every object of a kind in a value, the outer ones first."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [value] * isinstance(value, kind) + [found for part in inside for found in _parts(part, kind)]
