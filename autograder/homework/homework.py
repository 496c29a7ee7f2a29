"""A homework: the places of its files, and what they contain.

The homework that comes with the package is next to it in a clone and inside it in a wheel. Any other homework is a folder
with rubric.yaml, solutions/ and grading/.
"""

import contextlib
import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder.exceptions import CommandError, in_one_line
from autograder.homework import reference, rubric
from autograder.homework.library import LOADED_BY, Call, Misconception, Version, Written, combined
from autograder.homework.reference import compiled
from autograder.homework.rubric import Rubric
from autograder.sandbox.protocol import Reference

PACKAGE = Path(__file__).resolve().parents[1]
GRADING = "grading"


def packaged() -> Path:
    """Return the folder of the homework that comes with the package."""
    wheel = PACKAGE / "kit"
    return wheel if wheel.is_dir() else PACKAGE.parent


class Homework:
    """A homework, by default the one that comes with the package. What its files contain is read once, when it is needed."""

    def __init__(self, folder: Path | None = None):
        self.folder = (folder or packaged()).resolve()
        self.is_packaged = self.folder == packaged()
        self.rubric_file = self.folder / "rubric.yaml"
        self.solutions = self.folder / "solutions"
        grading = self.folder / GRADING
        is_complete = not self.is_packaged or grading.is_dir()
        # The hidden tests, and the audit's list of equivalent mutants.
        self.suites = grading / "suites" if is_complete else PACKAGE / "homework" / "suites"
        # A folder for each module.
        self.misconceptions = grading / "misconceptions" if is_complete else PACKAGE / "homework" / "misconceptions"
        # Correct solutions in other styles, a folder each.
        self.alternatives = grading / "alternatives" if is_complete else PACKAGE / "audit" / "alternatives"
        # A student's process must not read these: they have the solutions, suites and misconceptions.
        self.secret = [PACKAGE, self.folder]
        # The folder for another process, which has its own packaged homework.
        self.own_folder = None if self.is_packaged else self.folder

    @classmethod
    def at(cls, folder: Path) -> "Homework":
        """Return the homework in `folder`, or the packaged one if the folder has none."""
        return cls(folder if (folder / "rubric.yaml").is_file() and (folder / GRADING / "suites").is_dir() else None)

    @cached_property
    def rubric(self) -> Rubric:
        """Raises CommandError."""
        return rubric.load(self.rubric_file)

    @property
    def notebook(self) -> str:
        """The name of the master notebook, the only one in solutions/."""
        names = [path.name for path in self.solutions.glob("*.ipynb")]
        if len(names) != 1:
            raise CommandError(f"there must be exactly one notebook in {self.solutions}, not {len(names)}")
        return names[0]

    # The reference solutions

    @cached_property
    def modules(self) -> dict[str, ModuleType]:
        """Every reference module by name. Raises CommandError if one cannot be imported."""
        try:
            return reference.load(self.solutions, tuple(self.rubric.modules))
        except Exception as error:
            raise CommandError(in_one_line(error, self.solutions, str(self.solutions))) from error

    @cached_property
    def functions(self) -> dict[str, Callable[..., Any]]:
        """Every contract function by name."""
        entries = self.rubric.modules
        return {name: getattr(self.modules[module], name) for module in entries for name in entries[module].functions}

    @cached_property
    def files(self) -> dict[str, bytes]:
        """The reference modules as a submission."""
        return {name: (self.solutions / name).read_bytes() for name in self.rubric.files}

    @contextlib.contextmanager
    def importable(self) -> Iterator[None]:
        """Make `import` find the reference modules, for suites and misconceptions."""
        modules = self.modules
        with reference.hidden(modules):
            sys.modules.update(modules)
            yield

    def replacing(self, modules: Iterable[str]) -> list[Reference]:
        """Return references that replace a student's modules, preceded by those that they import."""
        replaced, entries = set(modules), self.rubric.modules
        needed = replaced.union(*map(self.rubric.below, replaced))
        return [
            Reference(
                name,
                compiled(f"{name}.py", self.files[f"{name}.py"]),
                tuple(entry.functions) if name in replaced else (),
            )
            for name, entry in entries.items()
            if name in needed
        ]

    def helpers(self, module: str, functions: tuple[str, ...]) -> Reference:
        """Return some functions of a reference module, without its other contract functions."""
        needed = {*functions, *self.rubric.helpers(module, functions)}
        without = frozenset(self.rubric.modules[module].functions) - needed
        return Reference(module, compiled(f"{module}.py", self.files[f"{module}.py"], without), functions)

    # The misconception library

    @cached_property
    def library(self) -> dict[str, dict[str, Written]]:
        """The library of each module, by function in the order of the rubric.

        Raises CommandError with file and line.
        """
        with self.importable():
            return {module: self._tables(module) for module in self.rubric.modules}

    def _tables(self, module: str) -> dict[str, Written]:
        functions, folder = self.rubric.modules[module].functions, self.misconceptions / module
        tables, examples = dict[str, Written](), dict[str, tuple[list[Call], str]]()
        for path in sorted(folder.glob("*.py")):
            try:
                loaded = vars(module_at(path, **{LOADED_BY: self}))
            except Exception as error:
                raise CommandError(in_one_line(error, path, str(path))) from error
            tables |= {entry.function: entry for entry in loaded.values() if isinstance(entry, Written)}
            line = path.read_text(encoding="utf-8").partition("EXAMPLES")[0].count("\n") + 1
            examples |= {name: (calls, f"{path}:{line}") for name, calls in loaded.get("EXAMPLES", {}).items()}
        for name in tables:
            if name not in functions:
                raise CommandError(f"{folder / name}.py: {name} is not a function of {module}; see rubric.yaml")
        for name in functions:  # perhaps without misconceptions
            table = tables.setdefault(name, Written(self.functions[name], self))
            table.examples, table.place_of_examples = examples.get(name, ([], ""))
        return {name: tables[name] for name in functions}

    def of_module(self, module: str) -> tuple[Misconception, ...]:
        """Return the misconceptions of a module, function by function in the order of the rubric."""
        return tuple(misconception for table in self.library[module].values() for misconception in table.misconceptions)

    def of_function(self, module: str, function: str) -> tuple[Misconception, ...]:
        return tuple(self.library[module][function].misconceptions)

    def misconception(self, id: str) -> Misconception | None:
        """Return the misconception with this id, if it exists."""
        return next((m for module in self.library for m in self.of_module(module) if m.id == id), None)

    def correct(self, module: str, function: str) -> Version:
        """Return the correct function: from the misconception file, else the reference."""
        return Version(self, module, function, (), self.library[module][function].source)

    def alone(self, misconception: Misconception) -> Version:
        """Return the function with only this misconception."""
        return Version(self, misconception.module, misconception.function, (misconception,), misconception.source)

    def version(self, module: str, function: str, misconceptions: tuple[Misconception, ...]) -> Version | None:
        """Return the function with these misconceptions; None if they cannot be combined."""
        source = combined(self.correct(module, function).source, misconceptions)
        return Version(self, module, function, misconceptions, source) if source is not None else None


def module_at(path: Path, **names: object) -> ModuleType:
    """Import a file of a homework, in which these names are defined."""
    spec = importlib.util.spec_from_file_location(f"autograder_homework.{path.parent.name}.{path.stem}", path)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    vars(loaded).update(names)
    spec.loader.exec_module(loaded)
    return loaded
