"""The misconception library: a correct version of each function, and edits that reproduce students' mistakes.

A file `<module>/<function>.py` of the library has a correct version of the function under `@written`, and a few lines for each
misconception: its name, its criterion, the edit of the source, and two sentences for the student:

    @written
    def layer_norm(x, gamma, beta, eps=1e-5):
        ...
        var = squares / count
        ...
    layer_norm.wrong("sample_variance", "statistics", {"/ count": "/ (count - 1)"},
        does="Your code divides the sum of squares by d - 1.", right="Divide by d: layer norm uses the population variance.",
        read="numpy.var, argument ddof")

Edits apply to the source, so a wrong version reads like a student's and can be submitted as part of a module. Two misconceptions
can be combined unless they edit the same characters. No student code runs here.
"""

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from types import CodeType
from typing import TYPE_CHECKING, Any

from autograder.exceptions import CommandError
from autograder.shared.source import parsed

if TYPE_CHECKING:
    from autograder.homework.homework import Homework

MOST_TEXTS = 3000  # cached versions, and compiled ones: all single misconceptions, and the pairs of a few submissions
LOADED_BY = "__homework__"  # the name of the homework in a file of the library
Call = tuple[tuple[Any, ...], dict[str, Any]]

KEPT = "the Python FAQ, Why are default values shared between objects?"
ANY_ORDER = "Look up parameters by name: the keys of a dict can be in any order."
COPIES = "the NumPy user guide, Copies and views"
COPIES_OF_LISTS = "the Python FAQ, Why did changing list 'y' also change list 'x'?"
PROMOTION = "the NumPy reference, Data type promotion in NumPy"
IGNORES, USE = "Your code ignores the argument {} and uses {}", "Use the argument {}"
CHANGES = "Your code changes the argument `{}`"
NO_CHANGES = "Do not change the arguments: work on copies."
KEEP_DTYPE = "Results keep the dtype of the arguments"
FLOAT64 = f"{KEEP_DTYPE}. Convert float64 values such as np.zeros(3) or np.sqrt(8); math.sqrt(8) keeps the dtype."


@dataclass(frozen=True)
class Misconception:
    """One mistake in one function.

    `does` is a sentence on what the code probably does, `right` one on what it should do, and `read` a reference.
    `criteria` are the ids of the criteria that it costs. `source` is the function with only this misconception, as a
    student would write it. `edits` are the (old, new) strings that change the correct source into it, if there are any.
    `memory`: it keeps state between calls. `inexact`: a rounding error, whose size counts rather than its digits.
    `changes` is the argument that it changes, if it is named after one, `ignores` one that it ignores. `way` is the number
    of the variant, of which a misconception can have several. `twice` replaces `does` with words that fit every function
    with this mistake, if `does` names one.
    """

    module: str
    function: str
    name: str
    criteria: tuple[str, ...]
    does: str
    right: str
    read: str
    edits: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    source: str = field(default="", repr=False)
    memory: bool = False
    inexact: bool = False
    changes: str = ""
    way: int = 0
    twice: str = field(default="", repr=False)
    ignores: str = ""

    @property
    def id(self) -> str:
        return f"{self.function}.{self.name}"

    @property
    def same(self) -> tuple[str, str]:
        """The identity of a mistake that several functions of a module share: its name, and what the code does.

        The name alone is not enough: "final_norm" is an extra norm in a block, and another one after a stack.
        """
        return self.name, self.twice or self.does

    @property
    def sentence(self) -> str:
        return f"{self.does} {self.right}"

    @property
    def is_observed(self) -> bool:
        """Whether it is an observed side effect or dtype, not a repair or a misconception of the library."""
        return not self.source and bool(self.right)


@dataclass(frozen=True)
class Version:
    """A function of a homework with some misconceptions, or none. `source` is the source of that function."""

    homework: "Homework" = field(repr=False)
    module: str
    function: str
    misconceptions: tuple[Misconception, ...]
    source: str = field(repr=False)

    @property
    def memory(self) -> bool:
        return any(misconception.memory for misconception in self.misconceptions)

    def fresh(self, helpers: "Mapping[str, Version] | None" = None) -> Callable[..., Any]:
        """Return the function without state from earlier calls, with these versions of its helpers."""
        below = self.homework.rubric.helpers(self.module, (self.function,)) if helpers else ()
        return self._defined((*below, self.function), helpers or {})[self.function]  # type: ignore[no-any-return]

    def whole_module(self, helpers: "Mapping[str, Version]") -> dict[str, Any]:
        """Return the namespace of the module, without state, in which every function uses this version and the helpers'."""
        return self._defined(tuple(self.homework.rubric.modules[self.module].functions), helpers)

    def _defined(self, functions: tuple[str, ...], helpers: "Mapping[str, Version]") -> dict[str, Any]:
        names = dict(vars(self.homework.modules[self.module]))
        for name in filter(functions.__contains__, self.homework.rubric.modules[self.module].functions):
            version = self if name == self.function else helpers.get(name) or self.homework.correct(self.module, name)
            exec(compiled(version.source, name), names)
        return names


# The vocabulary of misconception files


class Written:
    """A correct function. `wrong` and `instead` add misconceptions to it. Raises CommandError."""

    def __init__(self, function: Callable[..., Any], homework: "Homework"):
        self.function, self._rubric = function.__name__, homework.rubric
        if self.function not in homework.functions:
            raise CommandError(f"{self.function} is not a function in rubric.yaml")
        self.module = self._rubric.module_of(self.function)
        self._parameters = inspect.signature(function).parameters
        self.source_line = f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"
        self.source = text_of(function)
        self.misconceptions: list[Misconception] = []
        self.examples: list[Call] = []  # from EXAMPLES in the file
        self.place_of_examples = ""

    def wrong(self, name: str, criterion: str | tuple[str, ...], *edits: Mapping[str, str], **about: Any) -> None:
        """Add a misconception that edits the source: each key of `edits` is replaced by its value everywhere.

        `about` has `does`, `right`, `read`, `memory` and `inexact` of Misconception. Several edits are variants, which
        give different results for some arguments. `criterion` is the name of a criterion of this module that grades the
        function. The sentences about `changes_<argument>`, `float64_result` and `float32_result` are built in: they
        state what is observed and guess no cause.
        """
        if any(misconception.name == name for misconception in self.misconceptions):
            raise CommandError(f"{self.function}.{name}: there is already a misconception with this name")
        for changed in edits:
            text = edited(self.source, tuple(changed.items()))
            self._add(name, criterion, text or "", tuple(changed.items()), **about)

    def instead(
        self, name: str, criterion: str | tuple[str, ...], **about: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Add a misconception that edits cannot express: the decorated function `<function>__<name>` replaces this one."""

        def add(body: Callable[..., Any]) -> Callable[..., Any]:
            if body.__name__ != f"{self.function}__{name}":
                raise CommandError(
                    f"{self.function}.{name}: call the function {self.function}__{name}, not {body.__name__}"
                )
            text = text_of(body).replace(f"def {body.__name__}(", f"def {self.function}(", 1)
            self._add(name, criterion, text, **about)
            return body

        return add

    def _add(
        self,
        name: str,
        criterion: str | tuple[str, ...],
        source: str,
        edits: tuple[tuple[str, str], ...] = (),
        does: str = "",
        right: str = "",
        read: str = "",
        **settings: Any,
    ) -> None:
        changes = next((parameter for parameter in self._parameters if name == f"changes_{parameter}"), "")
        if ignored := settings.get("ignores"):
            does, right = f"{IGNORES.format(ignored, 'a fixed number')}.", f"{USE.format(ignored)}."
        elif changes and not does and not right:
            does, right, read = f"{CHANGES.format(changes)}.", NO_CHANGES, COPIES
        elif not does and not right:
            does, right, read = of_dtype(name, self.function)
        read = read or f"the docstring of `{self.function}`"
        names = (criterion,) if isinstance(criterion, str) else criterion
        grading = [c.id.partition(".")[2] for c in self._rubric.of(self.module) if self.function in c.grades]
        problems = [
            f"`{half}` must be a sentence with a full stop, not {text!r}"
            for half, text in (("does", does), ("right", right))
            if not text.endswith(".") or len(text.split()) < 2
        ]
        problems += [
            f"the criterion {name!r} does not grade {self.function}; those that do: {', '.join(grading)}"
            for name in names or ("",)
            if name not in grading
        ]
        problems += [
            f"the text to replace, {old!r}, does not occur in {self.function}"
            for old, _ in edits
            if not old or old not in self.source
        ]
        if source in ("", self.source):
            problems += ["the edit changes nothing, or changes the same text twice"]
        elif parsed(source) is None:
            problems += [f"the changed function is not Python:\n{source}"]
        if problems:
            raise CommandError(f"{self.function}.{name}: {problems[0]}")
        settings |= {"edits": edits, "source": source, "changes": changes}
        settings["way"] = sum(misconception.name == name for misconception in self.misconceptions)
        criteria = tuple(f"{self.module}.{name}" for name in names)
        self.misconceptions.append(
            Misconception(self.module, self.function, name, criteria, does, right, read, **settings)
        )


def written(function: Callable[..., Any]) -> Written:
    """Decorate the correct version of a function in a file of the library."""
    return Written(function, function.__globals__[LOADED_BY])


def of_dtype(name: str, function: str) -> tuple[str, str, str]:
    """Return the built-in sentences about a misconception named float64_result or float32_result; empty for others."""
    if name == "float64_result":
        return "Your result is float64 for float32 arguments.", FLOAT64, f"the docstring of `{function}`; {PROMOTION}"
    if name == "float32_result":
        return "Your result is float32 for float64 arguments.", f"{KEEP_DTYPE}.", "numpy.ndarray.astype"
    return "", "", ""


# Sources of functions, and edits


@lru_cache(MOST_TEXTS)
def combined(source: str, misconceptions: tuple[Misconception, ...]) -> str | None:
    """Return the correct source of a function with these misconceptions; None if they cannot be combined."""
    if any(not misconception.edits for misconception in misconceptions):
        return misconceptions[0].source if len(misconceptions) == 1 else None
    # Some share an edit.
    edits = dict.fromkeys(edit for misconception in misconceptions for edit in misconception.edits)
    changed = edited(source, tuple(edits))
    return changed if changed is not None and parsed(changed) is not None else None


def text_of(function: Callable[..., Any]) -> str:
    """Return the source of a function without its decorators."""
    lines = textwrap.dedent(inspect.getsource(function)).splitlines(keepends=True)
    start = next(number for number, line in enumerate(lines) if line.startswith("def "))
    return "".join(lines[start:])


@lru_cache(MOST_TEXTS)
def compiled(text: str, name: str) -> CodeType:
    return compile(text, f"<a version of {name}>", "exec")


def edited(text: str, edits: Sequence[tuple[str, str]]) -> str | None:
    """Return the text with all edits; None if two of them change the same characters."""
    spans = sorted((match.span(), new) for old, new in edits for match in re.finditer(re.escape(old), text))
    if any(first[1] > second[0] for (first, _), (second, _) in pairwise(spans)):
        return None
    for (start, end), new in reversed(spans):
        text = text[:start] + new + text[end:]
    return text
