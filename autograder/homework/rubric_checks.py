"""What is wrong with a rubric.yaml, and where: file, line and key, and what would be right."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

from autograder.homework.rubric_file import (
    INTEGRATION,
    CriterionEntry,
    IntegrationEntry,
    LateEntry,
    ModuleEntry,
    RubricFile,
)
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
    "int_from_float": "must be a whole number",
}
KINDS = {
    "float": "a number",
    "int": "a whole number",
    "datetime": "a date and time",
    "dict": "keys with values",
    "model": "keys with values",
}


def explained(path: Path, tree: Any, problem: Any) -> str:
    where = tuple(str(part) for part in problem["loc"])
    text = problem["msg"]
    if problem["type"] == "extra_forbidden":
        text = f"unknown key; {_known_keys(where)}"
    elif problem["type"] == "missing":
        text = "this key is missing" + _example(where)
    elif problem["type"] == "literal_error":
        text = f"{problem['input']!r} is none of {problem['ctx']['expected']}"
    else:
        text = _reason(problem) + _example(where)
    return f"{path}:{line_of(tree, where)}: {'.'.join(where)}: {text}"


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


def _known_keys(where: tuple[str, ...]) -> str:
    model: type[BaseModel] = RubricFile
    if where[0] in ("limits", "late"):
        model = Limits if where[0] == "limits" else LateEntry
    elif where[0] == "modules":
        model = CriterionEntry if len(where) > 4 else ModuleEntry
    elif where[0] == INTEGRATION:
        model = CriterionEntry if len(where) > 3 else IntegrationEntry
    return "known here: " + ", ".join(model.model_fields)


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


def inconsistencies(file: RubricFile) -> Iterator[tuple[tuple[str, ...], str]]:
    total = sum(m.points for m in file.modules.values()) + (file.integration.points if file.integration else 0)
    if abs(total - file.points) > 1e-9:
        yield ("points",), f"is {file.points:g}, but the modules and the integration add up to {total:g}"
    yield from _late(file)
    owners: dict[str, str] = {}
    for name, module in file.modules.items():
        here = ("modules", name)
        if not name.isidentifier() or name == INTEGRATION:
            yield here, "a module's name must be a Python name other than integration"
        yield from _of_module(here, name, module, file)
        for function in module.functions:
            if owners.setdefault(function, name) != name:
                yield (*here, "functions", function), f"the module {owners[function]} has this function already"
    if file.integration:
        for key, entry in file.integration.criteria.items():
            if entry.grades:
                yield (INTEGRATION, "criteria", key, "grades"), "integration tries everything; leave this key out"
        yield from _points((INTEGRATION,), file.integration)


def _late(file: RubricFile) -> Iterator[tuple[tuple[str, ...], str]]:
    if file.late and not file.due:
        yield ("late",), "says what a late submission costs, but there is no key due, as in due: 2026-11-20T23:59+01:00"
    if file.uploads == "last_on_time" and not file.due:
        yield ("uploads",), "last_on_time needs the key due, as in due: 2026-11-20T23:59+01:00"
    if file.late and file.late.points_a_day and file.late.percent_a_day:
        yield ("late", "points_a_day"), "give either points_a_day or percent_a_day"


def _points(here: tuple[str, ...], group: ModuleEntry | IntegrationEntry) -> Iterator[tuple[tuple[str, ...], str]]:
    total = sum(entry.points for entry in group.criteria.values())
    if abs(total - group.points) > 1e-9:
        yield (*here, "points"), f"is {group.points:g}, but the criteria add up to {total:g}"
    for key, entry in group.criteria.items():
        if entry.counts and not entry.why:
            yield (*here, "criteria", key, "counts"), "add the key why: students are told the reason"


def _of_module(
    here: tuple[str, ...], name: str, module: ModuleEntry, file: RubricFile
) -> Iterator[tuple[tuple[str, ...], str]]:
    yield from _points(here, module)
    names = list(file.modules)
    for other in module.uses:
        if other not in file.modules:
            yield (*here, "uses"), f"there is no module {other!r}; known: {', '.join(names)}"
        elif names.index(other) >= names.index(name):
            yield (*here, "uses"), f"{other!r} must stand above {name!r}: a module uses only modules above it"
    order = list(module.functions)
    for function, helpers in module.functions.items():
        for helper in helpers:
            if helper not in module.functions:
                yield (*here, "functions", function), f"{helper!r} is no function of this module: {', '.join(order)}"
            elif order.index(helper) >= order.index(function):
                yield (*here, "functions", function), f"{helper!r} must stand above it: functions build on those above"
    graded = set()
    for key, entry in module.criteria.items():
        graded.update(entry.grades)
        unknown = [g for g in entry.grades if g not in module.functions]
        if unknown:
            yield (
                (*here, "criteria", key, "grades"),
                f"{unknown[0]!r} is no function of this module: {', '.join(order)}",
            )
        if not entry.grades:
            yield (*here, "criteria", key), f"grades: name the functions that it tries, of {', '.join(order)}"
    for function in order:
        if function not in graded:
            yield (*here, "functions", function), "no criterion grades this function"
