"""rubric.yaml: points, criteria, visibility, feedback, limits and dependencies.

An invalid rubric raises a CommandError with file, line, key and advice.
"""

import difflib
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, ValidationError
from pydantic_core import PydanticKnownError

from autograder.exceptions import CommandError
from autograder.sandbox.process import Limits

Visibility = Literal["visible", "after_due_date", "after_published", "hidden"]
Feedback = Literal["full", "diagnosis", "score"]
Python = Literal["3.11", "3.12", "3.13", "3.14", "3.15"]  # of the Gradescope image
CHARGES = ("mistakes", "criteria")  # see grading/scoring.py
INTEGRATION = "integration"
TESTS, TESTS_FILE = "tests", "test_decoder_parts.py"  # the optional tests that students write, and their file


def _no_number(value: object) -> object:
    """Reject a number as a date: it would be read as seconds since 1970."""
    if isinstance(value, int | float):
        raise PydanticKnownError("datetime_type")
    return value


class Entry(BaseModel, extra="forbid", frozen=True):
    """A criterion as the file has it. `grades` are the contract functions that it tests.

    `looks_at` selects the failures that count: "values" (a mistake costs points once, see grading/scoring.py), "form"
    (only side effects and dtypes), "examples" (every wrong value).
    """

    points: float = Field(gt=0)
    about: str = Field(min_length=3)
    grades: tuple[str, ...] = ()
    looks_at: Literal["values", "form", "examples"] = "values"
    credit: Literal["all", "share"] = "all"  # all or nothing, or the share of its tests that pass
    visibility: Visibility | None = None  # that of the rubric
    feedback: Feedback | None = None
    counts: Literal["dropped", "full"] | None = None  # dropped for everybody, or given to everybody
    why: str = ""  # the reason for counts, shown to students


class Criterion(Entry, frozen=True):
    """A criterion. `id` is "<module>.<name>"; `module` is a module's name, "integration" or "tests"."""

    id: str
    module: str
    visibility: Visibility
    feedback: Feedback

    @property
    def visible(self) -> bool:
        return self.visibility == "visible"

    @property
    def most(self) -> float:
        """The points it can earn: none if it was dropped."""
        return 0.0 if self.counts == "dropped" else self.points

    @property
    def counted(self) -> str:
        """A sentence for students if the criterion was dropped or given to all, else ""."""
        words = {"dropped": "does not count", "full": "is given to all"}
        return f"{words[self.counts]}: {self.why}" if self.counts else ""


class Group(BaseModel, extra="forbid", frozen=True):
    """The criteria of a module, of the integration, or of the students' tests."""

    points: float = Field(gt=0)
    criteria: dict[str, Entry] = Field(min_length=1)


class Module(Group, extra="forbid", frozen=True):
    """One file that a student writes; `functions` maps each contract function to those of the same file that it calls."""

    title: str
    uses: list[str] = []
    functions: dict[str, list[str]] = Field(min_length=1)


class LatePolicy(BaseModel, extra="forbid", frozen=True):
    """The cost of a late submission: points, or percent of the raw score, for each started day after the grace period."""

    grace_minutes: float = Field(default=0, ge=0)
    points_a_day: float = Field(default=0, ge=0)
    percent_a_day: float = Field(default=0, ge=0, le=100)
    floor_percent: float = Field(default=0, ge=0, le=100)  # percentage of the raw score that always remains


def file_of(group: str) -> str:
    """Return the file that a group of criteria grades; "" for the integration."""
    return {INTEGRATION: "", TESTS: TESTS_FILE}.get(group, f"{group}.py")


class Rubric(BaseModel):
    """The contents of rubric.yaml."""

    # As arguments of the class, these would make a type checker reject assignments to private attributes.
    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    points: float = Field(gt=0)
    visibility: Visibility = "after_published"
    feedback: Feedback = "full"
    charge: Literal["mistakes", "criteria"] = "mistakes"
    due: Annotated[AwareDatetime | None, BeforeValidator(_no_number)] = None
    late: LatePolicy | None = None
    uploads: Literal["last", "best", "last_on_time"] = "last"  # which of several uploads of one student counts
    missing: Literal["empty", "zero"] = "empty"  # the score of a student in the roster without a submission
    agents_file: bool = Field(default=True, strict=True)  # whether students get AGENTS.md, for coding assistants
    python: Annotated[Python, BeforeValidator(str)] = "3.13"  # YAML reads a version without quotes as a number
    limits: Limits = Limits()
    modules: dict[str, Module] = Field(min_length=1)
    integration: Group | None = None
    tests: Group | None = None
    _path: Path = PrivateAttr(Path("rubric.yaml"))
    _tree: Any = PrivateAttr(None)

    @cached_property
    def groups(self) -> dict[str, Group]:
        """The groups of criteria by name: the modules, then the integration and the students' tests, if there are any."""
        more = {INTEGRATION: self.integration, TESTS: self.tests}
        return {**self.modules, **{name: group for name, group in more.items() if group}}

    @cached_property
    def criteria(self) -> dict[str, Criterion]:
        """Every criterion by id, in the order of the file; the integration and the students' tests come last."""
        return {
            f"{module}.{name}": Criterion(
                **entry.model_dump(exclude={"visibility", "feedback"}),
                id=f"{module}.{name}",
                module=module,
                visibility=entry.visibility or self.visibility,
                feedback=entry.feedback or self.feedback,
            )
            for module, group in self.groups.items()
            for name, entry in group.criteria.items()
        }

    @property
    def most(self) -> float:
        """The points that can be earned, without dropped criteria."""
        return sum(criterion.most for criterion in self.criteria.values())

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The files that a student writes, one per module."""
        return tuple(f"{module}.py" for module in self.modules)

    @cached_property
    def titles(self) -> dict[str, str]:
        """The title of each group."""
        titles = {INTEGRATION: "The whole model", TESTS: "Tests"}
        return {name: group.title if isinstance(group, Module) else titles[name] for name, group in self.groups.items()}

    def of(self, module: str) -> list[Criterion]:
        return [c for c in self.criteria.values() if c.module == module]

    def explains(self, module: str) -> bool:
        """Return whether any criterion of a module shows more than the score."""
        return any(criterion.feedback != "score" for criterion in self.of(module))

    def below(self, module: str) -> set[str]:
        """Return the modules that `module` uses, directly or not."""
        return set(self.modules[module].uses).union(*map(self.below, self.modules[module].uses))

    def helpers(self, module: str, functions: tuple[str, ...]) -> tuple[str, ...]:
        """Return the functions of the same module that `functions` call, directly or not."""
        edges, below = self.modules[module].functions, list(functions)
        for name in below:
            below += [helper for helper in edges[name] if helper not in below]
        return tuple(name for name in below if name not in functions)

    def module_of(self, function: str) -> str:
        return next(name for name, module in self.modules.items() if function in module.functions)

    def source_of(self, criterion: str) -> str:
        """Return the definition of a criterion: file, line and key, as in all messages about the rubric."""
        module, _, name = criterion.partition(".")
        return self.source_of_key(f"{'modules.' if module in self.modules else ''}{module}.criteria.{name}")

    def source_of_key(self, where: str) -> str:
        """Return the file, line and name of a key of the rubric."""
        return f"{self._path}:{line_of(self._tree, where)}: {where}"


def load(path: Path) -> Rubric:
    """Read and check a rubric.

    Raises CommandError if the file is unreadable, not YAML, or not a consistent rubric.
    """
    try:
        text = path.read_text(encoding="utf-8")
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
        data = yaml.safe_load(text)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise CommandError(f"{path}: cannot be read: {reason}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        location = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        what = getattr(error, "problem", None) or str(error)
        advice = "Indent with spaces, two for each level" if "\\t" in what else "Look at this line and the one above"
        raise CommandError(f"{location}: not YAML: {what}. {advice}.") from None
    try:
        rubric = Rubric.model_validate(data)
    except ValidationError as error:
        problems = [(".".join(map(str, problem["loc"])), _explained(problem)) for problem in error.errors()]
    else:
        rubric._path, rubric._tree = path, tree
        count = Counter(name for name, _ in _lines(tree))
        repeated = [name for name in count if count[name] > 1 >= count[name.rpartition(".")[0]]]
        problems = [*_inconsistencies(rubric), *((name, "this key occurs twice") for name in repeated)]
    if problems:
        places = (f"{path}:{line_of(tree, where)}: {where or 'the file'}: {text}" for where, text in problems)
        raise CommandError("\n".join(places))
    return rubric


Problems = Iterator[tuple[str, str]]  # the keys, joined by dots, and a sentence


def _inconsistencies(rubric: Rubric) -> Problems:
    total = sum(group.points for group in rubric.groups.values())
    if abs(total - rubric.points) > 1e-9:
        tests = ", the integration and the tests" if rubric.tests else " and the integration"
        yield "points", f"is {rubric.points:g}, but the modules{tests} add up to {total:g}"
    needs_due = f"needs the key due, for example due: {DUE}"
    if rubric.late and not rubric.due:
        yield "late", f"the late policy {needs_due}"
    if rubric.uploads == "last_on_time" and not rubric.due:
        yield "uploads", f"last_on_time {needs_due}"
    if rubric.late and rubric.late.points_a_day and rubric.late.percent_a_day:
        yield "late.points_a_day", "give either points_a_day or percent_a_day"
    owners: dict[str, str] = {}
    for name, group in rubric.groups.items():
        key_path, names = name, list[str]()
        if isinstance(group, Module):
            key_path, names = f"modules.{name}", list(group.functions)
            yield from _of_module(key_path, name, group, list(rubric.modules))
        points = sum(entry.points for entry in group.criteria.values())
        if abs(points - group.points) > 1e-9:
            yield f"{key_path}.points", f"is {group.points:g}, but the criteria add up to {points:g}"
        for function in names:
            if owners.setdefault(function, name) != name:
                yield f"{key_path}.functions.{function}", f"the module {owners[function]} already has this function"
        for key, entry in group.criteria.items():
            criterion_path = f"{key_path}.criteria.{key}"
            if entry.counts and not entry.why:
                yield f"{criterion_path}.counts", "add the key why: the reason is shown to students"
            if foreign := [graded for graded in entry.grades if graded not in names][:1]:
                why = {INTEGRATION: "the integration runs all functions", TESTS: "students choose what they test"}.get(
                    name
                )
                unknown = f"{foreign[0]!r} is not a function of this module: {', '.join(names)}"
                yield f"{criterion_path}.grades", f"{why}; remove this key" if why else unknown
            if names and not entry.grades:
                yield criterion_path, f"grades: list the functions it tests; known: {', '.join(names)}"
            if name == TESTS and rubric.criteria[f"{TESTS}.{key}"].visible:
                why = "the tests run on correct code, so their results are shown later, for example after_published"
                yield f"{criterion_path}.visibility", why


def _of_module(key_path: str, name: str, module: Module, modules: list[str]) -> Problems:
    functions = list(module.functions)
    if not name.isidentifier() or name in (INTEGRATION, TESTS):
        yield key_path, "a module's name must be a Python name other than integration and tests"
    above = modules[: modules.index(name)]
    for used in module.uses:
        if used not in above:
            yield f"{key_path}.uses", f"{used!r} is not a module above this one: {', '.join(above)}"
    for number, (function, helpers) in enumerate(module.functions.items()):
        for helper in helpers:
            if helper not in functions[:number]:
                text = f"{helper!r} is not a function above this one: {', '.join(functions[:number])}"
                yield f"{key_path}.functions.{function}", text
        if not any(function in entry.grades for entry in module.criteria.values()):
            yield f"{key_path}.functions.{function}", "no criterion grades this function"


# Errors in rubric.yaml: the place, the problem and an example.

DUE = "2026-11-20T23:59+01:00"
EXAMPLES = {
    "grades": "[layer_norm]",
    "uses": "[first_module]",
    "functions": "{layer_norm: [], layer_norm_backward: [layer_norm]}",
    "criteria": '{rms: {points: 3, grades: [rms_norm], about: "the root mean square of every row"}}',
    "due": DUE,
    "late": "{grace_minutes: 15, percent_a_day: 10}",
}
MODELS: dict[str, type[BaseModel]] = {
    "modules": Module,
    "criteria": Entry,
    "integration": Group,
    "tests": Group,
    "late": LatePolicy,
    "limits": Limits,
}


def _explained(problem: Any) -> str:
    """Return the text of one of pydantic's errors."""
    where, kind, value = [str(key) for key in problem["loc"]], problem["type"], problem["input"]
    if kind == "extra_forbidden":
        # The key above names the model, or the one above that if the model has a name that the rubric chooses.
        allowed = list(next((MODELS[key] for key in where[-3:-1] if key in MODELS), Rubric).model_fields)
        near = [name for name in allowed if where[-1].startswith(name)]
        near += difflib.get_close_matches(where[-1], allowed, 1, 0.5)
        meant = f"did you mean {near[0]!r}? " if near else ""
        return f"unknown key; {meant}known here: {', '.join(allowed)}"
    is_mapping = kind in ("model_type", "dict_type")
    text = "should be keys with values" if is_mapping else problem["msg"].removeprefix("Input ")
    text += f" (it is {value!r})" if isinstance(value, str | int | float) else ""
    key = next((key for key in reversed(where) if key in EXAMPLES), "")
    return text + (f"; for example {key}: {EXAMPLES[key]}" if key else "")


def line_of(node: Any, where: str) -> int:
    """Return the line of the innermost key of `where` that the file has."""
    lines = dict(_lines(node))
    while where and where not in lines:
        where = where.rpartition(".")[0]
    return lines.get(where, node.start_mark.line + 1 if node is not None else 1)


def _lines(node: Any, above: str = "") -> Iterator[tuple[str, int]]:
    """Yield every key of the file, joined by dots, with its line; YAML would silently take the last of equal ones."""
    entries: list[tuple[str, Any, Any]] = []
    if isinstance(node, yaml.MappingNode):
        entries = [(key.value, key, value) for key, value in node.value]
    elif isinstance(node, yaml.SequenceNode):
        entries = [(str(number), value, value) for number, value in enumerate(node.value)]
    for name, key, value in entries:
        yield f"{above}{name}", key.start_mark.line + 1
        yield from _lines(value, f"{above}{name}.")
