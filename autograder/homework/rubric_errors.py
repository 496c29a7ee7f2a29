"""What is wrong with a rubric.yaml, and where: file, line and key, and what would be right."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, get_args, get_origin

import yaml
from pydantic import BaseModel

from autograder.sandbox.limits import Limits

EXAMPLES = {  # what would be right, by key; for limits, their defaults
    **{name: f"{field.default:g}" for name, field in Limits.model_fields.items()},
    "title": "Layer norm",
    "points": "3",
    "about": '"the root mean square of every row"',
    "why": '"the sheet named the wrong axis"',
    "grades": "[layer_norm]",
    "uses": "[layernorm]",
    "functions": "{layer_norm: [], layer_norm_backward: [layer_norm]}",
    "criteria": '{rms: {points: 3, grades: [rms_norm], about: "the root mean square of every row"}}',
    "due": "2026-11-20T23:59+01:00",
    "late": "{grace_minutes: 15, percent_a_day: 10}",
    "grace_minutes": "15",
    "points_a_day": "5",
    "percent_a_day": "10",
    "floor_percent": "50",
}
REASONS = {  # by pydantic's name for what is wrong
    "greater_than": "must be above {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than_equal": "must be at most {le:g}",
    "timezone_aware": "needs a time zone",
    "too_short": "must not be empty",
    "string_too_short": "is too short",
    "string_type": "must be text",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "int_from_float": "must be a whole number",
}
KINDS = {
    "float": "a number",
    "int": "a whole number",
    "datetime": "a date and time",
    "dict": "keys with values",
    "model": "keys with values",
}


def explained(problem: Any, form: type[BaseModel]) -> str:
    """What is wrong where a file does not have this form, in words; `problem` is one of pydantic's errors."""
    where = keys(problem)
    if problem["type"] == "extra_forbidden":
        return f"unknown key; known here: {', '.join(_known_keys(form, where))}"
    if problem["type"] == "missing":
        return "this key is missing" + _example(where)
    if problem["type"] == "literal_error":
        return f"{problem['input']!r} is none of {problem['ctx']['expected']}"
    return _reason(problem) + _example(where)


def keys(problem: Any) -> tuple[str, ...]:
    """The keys that lead to one of pydantic's errors, from the outermost in."""
    return tuple(str(part) for part in problem["loc"])


def _reason(problem: Any) -> str:
    kind, given = problem["type"], problem["input"]
    shown = (
        f"{given!r} " if isinstance(given, str | int | float) else f"{given} " if isinstance(given, datetime) else ""
    )
    if kind in REASONS:
        return shown + REASONS[kind].format(**problem.get("ctx", {}))
    if kind.partition("_")[0] in KINDS:
        return f"{shown}must be {KINDS[kind.partition('_')[0]]}"
    return shown + str(problem["msg"])


def _example(where: tuple[str, ...]) -> str:
    """What would be right here, for the innermost key that is not a number in a list or a name of somebody's own."""
    key = next((part for part in reversed(where) if part in EXAMPLES), "")
    return f"; for example {key}: {EXAMPLES[key]}" if key else "; rubric.yaml has title, points, modules and so on"


def _known_keys(form: Any, where: tuple[str, ...]) -> list[str]:
    """The keys that may stand where the last one of `where` does."""
    above = iter(where[:-1])
    for key in above:
        annotation = form.model_fields[key].annotation
        form = next(part for part in (annotation, *get_args(annotation)) if hasattr(part, "model_fields"))
        if get_origin(annotation) is dict:
            next(above)  # a name of a module or a criterion
    return [name for name, field in form.model_fields.items() if not field.exclude]


def line_of(node: Any, where: tuple[str, ...]) -> int:
    """The line of the innermost part of `where` that the file has."""
    line = node.start_mark.line + 1 if node is not None else 1
    for part in where:
        if isinstance(node, yaml.MappingNode):
            found = [(key, value) for key, value in node.value if key.value == part]
            if not found:
                break
            line, node = found[0][0].start_mark.line + 1, found[0][1]
        elif isinstance(node, yaml.SequenceNode) and part.isdigit() and int(part) < len(node.value):
            node = node.value[int(part)]
            line = node.start_mark.line + 1
        else:
            break
    return line


def twice(node: Any, where: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Keys that stand twice in one mapping (YAML would quietly take the last)."""
    if isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            if key.value in seen:
                yield (*where, key.value)
            seen.add(key.value)
            yield from twice(value, (*where, key.value))
