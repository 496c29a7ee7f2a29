"""rubric.yaml: the only place with points, criteria, visibility, feedback, limits and who may use whom.

A rubric that is wrong is refused with a RubricError that names file, line and key and says what would be right.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from autograder.faults import CommandError
from autograder.homework import kit
from autograder.homework.rubric_checks import explained, inconsistencies, line_of, twice
from autograder.homework.rubric_file import (
    INTEGRATION,
    Counts,
    Feedback,
    IntegrationEntry,
    LateEntry,
    LooksAt,
    ModuleEntry,
    RubricFile,
    Visibility,
)


class RubricError(CommandError):
    """The rubric cannot be used; the text says where and what would be right."""


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

    @property
    def most(self) -> float:
        """The points that can be had: none where it was dropped."""
        return 0.0 if self.counts == "dropped" else self.points

    @property
    def counted(self) -> str:
        """What students are told of one that was dropped or given to all, else ""."""
        said = {"dropped": "does not count", "full": "is given to all"}
        return f"{said[self.counts]}: {self.why}" if self.counts else ""


class Rubric:
    """The rubric as the rest of the kit reads it."""

    def __init__(self, file: RubricFile, path: Path, tree: Any):
        self._path, self._tree = path, tree
        self.title = file.title
        self.points = file.points
        self.limits = file.limits
        self.charge = file.charge
        self.due, self.late = file.due, file.late
        self.uploads, self.missing = file.uploads, file.missing
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

    @property
    def most(self) -> float:
        """The points that can be had, without what was dropped."""
        return sum(criterion.most for criterion in self.criteria.values())

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
        return f"{self._path}:{line_of(self._tree, where)}: {'.'.join(where)}"

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
        lines = [explained(path, tree, problem) for problem in error.errors()]
        raise RubricError("\n".join(lines)) from None
    problems = [f"{path}:{line_of(tree, where)}: {'.'.join(where)}: {text}" for where, text in inconsistencies(file)]
    problems += [f"{path}:{line_of(tree, where)}: {'.'.join(where)}: this key stands twice" for where in twice(tree)]
    if problems:
        raise RubricError("\n".join(problems))
    return Rubric(file, path, tree)


__all__ = [
    "INTEGRATION",
    "Criterion",
    "Feedback",
    "LateEntry",
    "Rubric",
    "RubricError",
    "Visibility",
    "current",
    "load",
]
