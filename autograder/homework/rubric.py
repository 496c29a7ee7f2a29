"""rubric.yaml: the only place with points, criteria, visibility, feedback, limits and who may use whom.

A rubric that is wrong is refused with a RubricError that names file, line and key and says what would be right.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from autograder.homework import kit
from autograder.sandbox.limits import Limits

Visibility = Literal["visible", "after_due_date", "after_published", "hidden"]
Feedback = Literal["full", "diagnosis", "score"]
LooksAt = Literal["values", "form", "examples"]
Charge = Literal["mistakes", "criteria"]
Counts = Literal["dropped", "full"]
INTEGRATION = "integration"


class RubricError(ValueError):
    """The rubric cannot be used; the text says where and what would be right."""


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CriterionEntry(Strict):
    """One thing that earns points. `grades` are the contract functions that it tries.

    `looks_at` says what counts here: "values" (a mistake is charged once, see grading/charge.py), "form" (only changed
    arguments, dtypes and the like), "examples" (every wrong value).
    """

    points: float = Field(gt=0)
    about: str = Field(min_length=3)
    grades: list[str] = []
    looks_at: LooksAt = "values"
    visibility: Visibility | None = None
    feedback: Feedback | None = None
    counts: Counts | None = Field(default=None, description="after the fact: dropped for all, or given to all")
    why: str = Field(default="", description="what students are told about counts")


class ModuleEntry(Strict):
    """One file that a student writes."""

    title: str
    points: float = Field(gt=0)
    uses: list[str] = []
    functions: dict[str, list[str]] = Field(min_length=1)
    criteria: dict[str, CriterionEntry] = Field(min_length=1)


class IntegrationEntry(Strict):
    """The whole submission tried together."""

    points: float = Field(gt=0)
    criteria: dict[str, CriterionEntry] = Field(min_length=1)


class LateEntry(Strict):
    """What a late submission costs: a started day after the grace costs points, or percent of the raw score."""

    grace_minutes: float = Field(default=0, ge=0)
    points_a_day: float = Field(default=0, ge=0)
    percent_a_day: float = Field(default=0, ge=0, le=100)
    floor_percent: float = Field(default=0, ge=0, le=100, description="of the raw score, which stays in any case")


class RubricFile(Strict):
    title: str
    points: float = Field(gt=0)
    visibility: Visibility = "after_published"
    feedback: Feedback = "full"
    charge: Charge = "mistakes"
    due: AwareDatetime | None = None
    late: LateEntry | None = None
    limits: Limits = Limits()
    modules: dict[str, ModuleEntry] = Field(min_length=1)
    integration: IntegrationEntry | None = None


@dataclass(frozen=True)
class Criterion:
    """A criterion with the defaults filled in; `module` is a module's name or "integration"."""

    id: str
    module: str
    points: float
    about: str
    grades: tuple[str, ...]
    visibility: Visibility
    feedback: Feedback
    looks_at: LooksAt = "values"
    counts: Counts | None = None
    why: str = ""

    @property
    def visible(self) -> bool:
        return self.visibility == "visible"


class Rubric:
    """The rubric as the rest of the kit reads it."""

    def __init__(self, file: RubricFile, path: Path, tree: Any):
        self._path, self._tree = path, tree
        self.title = file.title
        self.points = file.points
        self.limits = file.limits
        self.charge = file.charge
        self.due, self.late = file.due, file.late
        self.modules = file.modules
        self._file = file

    @cached_property
    def criteria(self) -> dict[str, Criterion]:
        """Every criterion by id, in the order of the file, integration last."""
        return {c.id: c for c in self._criteria()}

    def _criteria(self) -> Iterator[Criterion]:
        groups: list[tuple[str, ModuleEntry | IntegrationEntry]] = list(self.modules.items())
        if self._file.integration:
            groups.append((INTEGRATION, self._file.integration))
        for module, group in groups:
            for name, entry in group.criteria.items():
                yield Criterion(
                    id=f"{module}.{name}",
                    module=module,
                    points=entry.points,
                    about=entry.about,
                    grades=tuple(entry.grades),
                    visibility=entry.visibility or self._file.visibility,
                    feedback=entry.feedback or self._file.feedback,
                    looks_at=entry.looks_at,
                    counts=entry.counts,
                    why=entry.why,
                )

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """What is graded one by one: the modules, then the integration."""
        return tuple(dict.fromkeys(c.module for c in self.criteria.values()))

    def of(self, module: str) -> list[Criterion]:
        return [c for c in self.criteria.values() if c.module == module]

    def explains(self, module: str) -> bool:
        """Whether students are told more than the score in any criterion of a module."""
        return any(criterion.feedback != "score" for criterion in self.of(module))

    def neighbours(self, module: str) -> dict[str, tuple[str, ...]]:
        """The modules that `module` may use, with their functions, which answer correctly while it is graded."""
        return {name: tuple(self.modules[name].functions) for name in self.modules[module].uses}

    def level(self, module: str) -> int:
        """How many modules stand below one another under this one: 0 for a module that uses none."""
        return max((1 + self.level(name) for name in self.modules[module].uses), default=0)

    def helpers(self, module: str, functions: tuple[str, ...]) -> tuple[str, ...]:
        """The functions of the same module that `functions` are built from, directly or not, without themselves."""
        edges, found = self.modules[module].functions, list(functions)
        for name in found:
            found += [helper for helper in edges[name] if helper not in found]
        return tuple(name for name in found if name not in functions)

    def module_of(self, function: str) -> str:
        return next(name for name, module in self.modules.items() if function in module.functions)

    def place(self, criterion: str) -> str:
        """Where the file has a criterion: file, line and key, as in all messages about the rubric."""
        module, _, name = criterion.partition(".")
        where = (*([module] if module == INTEGRATION else ["modules", module]), "criteria", name)
        return f"{self._path}:{_line(self._tree, where)}: {'.'.join(where)}"

    @cached_property
    def document(self) -> dict[str, Any]:
        """The rubric as plain data, complete with defaults."""
        return self._file.model_dump()


@cache
def current() -> Rubric:
    """The kit's own rubric, read once."""
    return load()


def load(path: Path | None = None) -> Rubric:
    """Read and check a rubric.

    Raises RubricError for a file that is not readable, not YAML, or not a consistent rubric.
    """
    path = path or kit.rubric_file()
    try:
        text = path.read_text(encoding="utf-8")
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
        data = yaml.safe_load(text)
    except (OSError, UnicodeDecodeError) as error:
        raise RubricError(f"{path}: cannot be read ({error}). Give the path of a rubric.yaml.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        what = getattr(error, "problem", None) or str(error)
        advice = "Indent with spaces, two for each level" if "\\t" in what else "Look at this line and the one above"
        raise RubricError(f"{place}: not YAML: {what}. {advice}.") from None
    try:
        file = RubricFile.model_validate(data)
    except ValidationError as error:
        lines = [_explain(path, tree, problem) for problem in error.errors()]
        raise RubricError("\n".join(lines)) from None
    problems = [f"{path}:{_line(tree, where)}: {'.'.join(where)}: {text}" for where, text in _inconsistencies(file)]
    problems += [f"{path}:{_line(tree, where)}: {'.'.join(where)}: this key stands twice" for where in _twice(tree)]
    if problems:
        raise RubricError("\n".join(problems))
    return Rubric(file, path, tree)


def _explain(path: Path, tree: Any, problem: Any) -> str:
    where = tuple(str(part) for part in problem["loc"])
    text = problem["msg"]
    if problem["type"] == "extra_forbidden":
        text = f"unknown key; {_known_keys(where)}"
    elif problem["type"] == "missing":
        text = "this key is missing"
    elif problem["type"] == "literal_error":
        text = f"{problem['input']!r} is none of {problem['ctx']['expected']}"
    return f"{path}:{_line(tree, where)}: {'.'.join(where)}: {text}"


def _known_keys(where: tuple[str, ...]) -> str:
    model: type[BaseModel] = RubricFile
    if where[0] in ("limits", "late"):
        model = Limits if where[0] == "limits" else LateEntry
    elif where[0] == "modules":
        model = CriterionEntry if len(where) > 4 else ModuleEntry
    elif where[0] == INTEGRATION:
        model = CriterionEntry if len(where) > 3 else IntegrationEntry
    return "known here: " + ", ".join(model.model_fields)


def _line(node: Any, where: tuple[str, ...]) -> int:
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


def _twice(node: Any, where: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Keys that stand twice in one mapping (YAML would quietly take the last)."""
    if isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            if key.value in seen:
                yield (*where, key.value)
            seen.add(key.value)
            yield from _twice(value, (*where, key.value))


def _inconsistencies(file: RubricFile) -> Iterator[tuple[tuple[str, ...], str]]:
    total = sum(m.points for m in file.modules.values()) + (file.integration.points if file.integration else 0)
    if abs(total - file.points) > 1e-9:
        yield ("points",), f"is {file.points:g}, but the modules and the integration add up to {total:g}"
    yield from _late_inconsistencies(file)
    owners: dict[str, str] = {}
    for name, module in file.modules.items():
        here = ("modules", name)
        if not name.isidentifier() or name == INTEGRATION:
            yield here, "a module's name must be a Python name other than integration"
        yield from _module_inconsistencies(here, name, module, file)
        for function in module.functions:
            if owners.setdefault(function, name) != name:
                yield (*here, "functions", function), f"the module {owners[function]} has this function already"
    if file.integration:
        for key, entry in file.integration.criteria.items():
            if entry.grades:
                yield (INTEGRATION, "criteria", key, "grades"), "integration tries everything; leave this key out"
        yield from _points((INTEGRATION,), file.integration)


def _late_inconsistencies(file: RubricFile) -> Iterator[tuple[tuple[str, ...], str]]:
    if file.late and not file.due:
        yield ("late",), "says what a late submission costs, but there is no key due, as in due: 2026-11-20T23:59+01:00"
    if file.late and file.late.points_a_day and file.late.percent_a_day:
        yield ("late", "points_a_day"), "give either points_a_day or percent_a_day"


def _points(here: tuple[str, ...], group: ModuleEntry | IntegrationEntry) -> Iterator[tuple[tuple[str, ...], str]]:
    total = sum(entry.points for entry in group.criteria.values())
    if abs(total - group.points) > 1e-9:
        yield (*here, "points"), f"is {group.points:g}, but the criteria add up to {total:g}"
    for key, entry in group.criteria.items():
        if entry.counts and not entry.why:
            yield (*here, "criteria", key, "counts"), "add the key why: students are told the reason"


def _module_inconsistencies(
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
