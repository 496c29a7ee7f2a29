"""Finds the known mistake that gives the same results as your function.

mistakes.txt is written when the homework is built. For each function it has the calls of the public checks, the wrong results
that known mistakes give there, and for each mistake two sentences, what to read, its results, and a wrong default value if
that is the mistake:

    {"layernorm": {"layer_norm": {
        "parameters": [["x"], ["gamma"], ["beta"], ["eps", 1e-05]],
        "calls": ["layer_norm(np.array([4.0, 2.0]), np.ones(2), np.zeros(2))", ...],
        "mistakes": [["what the code does", "what to read", "how to fix it",
                      {"0": {"value": ...}, "3": {"raised": "IndexError"}}, {"eps": 1e-6}], ...],
        "sentences": ["This would be the correct result with `mask=None`.", ...],
        "others": {"0": [[1, [["f(4,)", 0.52]]], ...]}}}}

Calls are written as `Call.key`; "3" is the result of call 3. Results are written by as_entry(): {"value": v} or
{"raised": name of the error}, and "changed": [names] if the call has changed arguments. In a value, an array is
{"array": nested lists, "dtype": "float64"}, a tuple {"parts": [values]}, a list {"list": [values]}, a set {"set": [values]}, a
dict {"items": [[key, value], ...]}, and bytes are {"bytes": hexadecimal digits}; numbers and text are written as they are.
NO_ERROR stands for any result where an error is expected. A call without an entry passes despite the mistake. {"0": [[1, prints]]}
under "others": sentence 1 is true of a result of call 0 with these fingerprints; those of the correct result come first,
as sentence -1. The table contains results, but no code. Without the file, no mistake is ever named.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from inspect import Parameter, Signature
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from student_values.compare import equal
from student_values.display import literal
from student_values.tree import Opaque, describe, in_order

TABLE = Path(__file__).resolve().parent / "mistakes.txt"


NO_ERROR = {"value": "no error"}


@dataclass(frozen=True)
class Seen:
    """One call of a function, by its key, with its result and whether the check accepted it."""

    call: str
    entry: dict[str, Any]
    right: bool
    tolerance: float


def as_entry(value: Any = None, raised: str = "", changed: Iterable[str] = ()) -> dict[str, Any]:
    """Return the result of a call, in the form used in the table."""
    entry = {"raised": raised} if raised else {"value": _plain(value)}
    return entry | ({"changed": sorted(changed)} if changed else {})


def _plain(value: Any) -> Any:
    if type(value) is np.ndarray or isinstance(value, np.generic):
        value = np.asarray(value)
        return {"array": value.tolist(), "dtype": str(value.dtype)} if value.ndim else value.item()
    if isinstance(value, tuple | list | set | frozenset):
        kind = "parts" if isinstance(value, tuple) else "list" if isinstance(value, list) else "set"
        return {kind: [_plain(part) for part in (in_order(value) if kind == "set" else value)]}
    if isinstance(value, dict):
        return {"items": [[_plain(key), _plain(part)] for key, part in value.items()]}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    return value if isinstance(value, bool | int | float | str) else {"kind": describe(value)}


def known(module: str, function: str) -> dict[str, Any]:
    """Return the part of the table about one function."""
    entry: dict[str, Any] = _table().get(module, {}).get(function, {"calls": [], "mistakes": []})
    return entry


def functions() -> set[str]:
    """All functions of the homework; none without a table."""
    return {function for functions in _table().values() for function in functions}


def contract(module: str, function: str) -> Signature | None:
    """Return the signature in the stub of a function; None without a table."""
    parameters = known(module, function).get("parameters")
    kind = Parameter.POSITIONAL_OR_KEYWORD
    given = [
        Parameter(name, kind, default=default[0] if default else Parameter.empty) for name, *default in parameters or ()
    ]
    return None if parameters is None else Signature(given)


@cache
def _table() -> dict[str, Any]:
    return json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.is_file() else {}


def explanation(
    known: dict[str, Any], calls: list[Seen], defaults: Mapping[str, object] | None = None
) -> list[tuple[str, str]]:
    """Return the sentences, with titles, of the mistakes that explain all calls of a function.

    These describe one known mistake, or else two if each call has the result of one of them. If there are several
    explanations, only the sentences they share are returned. A wrong default value counts only if it is in `defaults`, the
    values in the student's signature.
    """
    places = {call: str(place) for place, call in enumerate(known["calls"])}
    mistakes = [mistake for *mistake, wrong in known["mistakes"] if wrong.items() <= {**(defaults or {})}.items()]
    results = [[own.get(places.get(seen.call, "")) for seen in calls] for *_, own in mistakes]  # None: the call passes
    fits = [[_explains(entry, seen) for entry, seen in zip(own, calls, strict=True)] for own in results]
    halves = [tuple(said) for *said, _ in mistakes]
    single = [said for said, own in zip(halves, fits, strict=True) if all(own)]
    if single:
        shared = zip(("probably", "read", "right"), map(set, zip(*single, strict=True)), strict=True)
        said = [(title, texts.pop()) for title, texts in shared if len(texts) == 1]
        return said if {"probably", "right"} & {title for title, _ in said} else []
    if any(isinstance(seen.entry.get("value"), bool) for seen in calls):
        return []  # too many pairs agree on a bare True or False
    both = [
        halves[i] + halves[j]
        for i, j in combinations(range(len(halves)), 2)
        if all(map(_of_two, results[i], fits[i], results[j], fits[j]))
    ]
    titles = ("probably", "read", "right", "also", "read", "right")
    said = [pair for pair in zip(titles, both[0], strict=True) if all(pair[1] in o for o in both)] if both else []
    is_alone = "probably" not in dict(said)
    return [("probably" if is_alone and title == "also" else title, text) for title, text in said]


def other_arguments(known: dict[str, Any], calls: list[Seen]) -> str:
    """A sentence about other arguments for which every wrong result would be correct; "" if there are none, or a call raises."""
    places = {call: str(place) for place, call in enumerate(known["calls"])}
    wrong = [seen for seen in calls if not seen.right]
    tables = [known.get("others", {}).get(places.get(seen.call, ""), []) for seen in wrong]
    told = tables and all(seen.entry.keys() == {"value"} for seen in wrong)
    for number, _ in tables[0][1:] if told else []:
        own = [[prints for other, prints in table[1:] if other == number] for table in tables]
        pairs = zip(wrong, tables, own, strict=True)
        if all(not prints or _is_other(seen, table[0][1], prints[0]) for seen, table, prints in pairs):
            return str(known["sentences"][number])
    return ""


def _is_other(seen: Seen, right: list[Any], other: list[Any]) -> bool:
    """Return True if a result is the other result as a whole, and not the correct one."""
    parts = fingerprints(_value(seen.entry["value"]))
    same, correct = (
        [_alike(*pair, seen.tolerance) for pair in zip(parts, result, strict=False)] for result in (other, right)
    )
    return len(parts) == len(right) == len(other) and all(same) and not all(correct)


def fingerprints(value: Any) -> list[list[Any]]:
    """For each part of a result: its kind, its shape and a weighted sum of its entries, which identify it."""
    return [_fingerprint(part) for part in (value if isinstance(value, tuple | list) else (value,))]


def _fingerprint(part: Any) -> list[Any]:
    array = np.asarray(part)
    if array.dtype.kind not in "biuf":
        return [str(zlib.crc32(literal(part).encode("utf-8", "surrogatepass"))), 0.0]
    weights = np.cos(np.arange(array.size)).reshape(array.shape)
    total = (weights * np.nan_to_num(array.astype(float), nan=0.5, posinf=1e3, neginf=-1e3)).sum()
    return [array.dtype.kind + str(array.shape), float(total)]


def _alike(one: list[Any], two: list[Any], tolerance: float) -> bool:
    """Return True if two fingerprints belong to the same value."""
    return bool(one[0] == two[0] and abs(one[1] - two[1]) <= 4 * tolerance * max(1.0, abs(two[1])))


def _of_two(one: Any, one_fits: bool, other: Any, other_fits: bool) -> bool:
    """Return True if a call has the result of one of two mistakes; one, both or none of them affect it."""
    if one is None and other is None:
        return one_fits
    return (one is not None and one_fits) or (other is not None and other_fits)


def _explains(entry: dict[str, Any] | None, seen: Seen) -> bool:
    """Return True if a mistake with this entry (None: the correct result) agrees with the result of a call."""
    if entry is None or seen.right:
        # A call can pass and have an entry: if only a part of the result is checked, or only the dtype is wrong.
        return seen.right and (entry is None or same(entry, seen.entry, seen.tolerance))
    return _same(entry, seen.entry, seen.tolerance, dtype=False)


def same(one: dict[str, Any], two: dict[str, Any], tolerance: float) -> bool:
    """Return True if two entries are the same result up to rounding."""
    return _same(one, two, tolerance, dtype=True)


def _same(one: dict[str, Any], two: dict[str, Any], tolerance: float, dtype: bool) -> bool:
    """Return True if two entries are equal up to the tolerance; without `dtype`, float32 and float64 are the same."""
    values = [_value(entry.get("value")) for entry in (one, two)]
    rest = [{key: part for key, part in entry.items() if key != "value"} for entry in (one, two)]
    return one.keys() == two.keys() and rest[0] == rest[1] and equal(*values, tolerance, dtype)


def _value(entry: Any) -> Any:
    """Read a value from its form in the table."""
    match entry:
        case {"parts": parts}:
            return tuple(map(_value, parts))
        case {"list": parts}:
            return list(map(_value, parts))
        case {"set": parts}:
            return frozenset(map(_value, parts))
        case {"items": items}:
            return {_value(key): _value(part) for key, part in items}
        case {"bytes": digits}:
            return bytes.fromhex(digits)
        case {"array": numbers, "dtype": dtype}:
            return np.array(numbers, dtype=dtype)
        case {"kind": kind}:
            return Opaque(kind)
    return entry
