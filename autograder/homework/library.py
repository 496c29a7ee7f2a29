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

import ast
import inspect
import re
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import pairwise
from types import CodeType
from typing import Any

from autograder.exceptions import in_one_line
from autograder.homework import kit, reference, rubric
from autograder.homework.rubric import RubricError

MOST_TEXTS = 3000  # cached versions, and compiled ones: all single misconceptions, and the pairs of a few submissions
Call = tuple[tuple[Any, ...], dict[str, Any]]

KEPT = "the Python FAQ, Why are default values shared between objects?"
ANY_ORDER = "Look up parameters by name: the keys of a dict can be in any order."
COPIES = "the NumPy user guide, Copies and views"
PROMOTION = "the NumPy reference, Data type promotion in NumPy"
KEEP_DTYPE = "Results keep the dtype of the arguments"
FLOAT64 = f"{KEEP_DTYPE}. Convert float64 values such as np.zeros(3) or np.sqrt(8); math.sqrt(8) keeps the dtype."


@dataclass(frozen=True)
class Misconception:
    """One mistake in one function.

    `does` is a sentence on what the code probably does, `right` one on what it should do, and `read` a reference.
    `criteria` are the ids of the criteria that it costs. `edits` are (old, new) strings; if there are none, `whole` is
    the source of a complete function. `memory`: it keeps state between calls. `inexact`: a rounding error, whose size
    counts rather than its digits. `way` is the number of the variant, of which a misconception can have several.
    `twice` replaces `does` with words that fit every function with this mistake, if `does` names one.
    """

    module: str
    function: str
    name: str
    criteria: tuple[str, ...]
    does: str
    right: str
    read: str
    edits: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    whole: str = field(default="", repr=False)
    memory: bool = False
    inexact: bool = False
    way: int = 0
    twice: str = field(default="", repr=False)

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
    def changes(self) -> str:
        """The argument that it changes, according to its name; empty if none."""
        arguments = inspect.signature(reference.functions()[self.function]).parameters
        return next((name for name in arguments if self.name == f"changes_{name}"), "")

    @property
    def is_observed(self) -> bool:
        """Whether it is an observed side effect or dtype, not a repair or a misconception of the library."""
        return not self.edits and not self.whole and bool(self.right)

    @property
    def alone(self) -> "Version":
        """The function with only this misconception."""
        version = made(self.module, self.function, (self,))
        assert version is not None
        return version

    @property
    def source(self) -> str:
        """The source of the function with only this misconception, as a student would write it."""
        return self.alone.source

    def fresh(self) -> Callable[..., Any]:
        """The function with only this misconception, without state from earlier calls."""
        return self.alone.fresh()


@dataclass(frozen=True)
class Version:
    """A function with some misconceptions, or none. `source` is the source of that function."""

    module: str
    function: str
    misconceptions: tuple[Misconception, ...]
    source: str = field(repr=False)

    @property
    def memory(self) -> bool:
        return any(misconception.memory for misconception in self.misconceptions)

    def fresh(self, helpers: "Mapping[str, Version] | None" = None) -> Callable[..., Any]:
        """The function without state from earlier calls, with these versions of its helpers."""
        below = rubric.current().helpers(self.module, (self.function,)) if helpers else ()
        return self._defined((*below, self.function), helpers or {})[self.function]  # type: ignore[no-any-return]

    def whole_module(self, helpers: "Mapping[str, Version]") -> dict[str, Any]:
        """The namespace of the module, without state, in which every function uses this version and those of the helpers."""
        return self._defined(tuple(rubric.current().modules[self.module].functions), helpers)

    def _defined(self, wanted: tuple[str, ...], others: "Mapping[str, Version]") -> dict[str, Any]:
        names = dict(vars(reference.modules()[self.module]))
        for name in filter(wanted.__contains__, rubric.current().modules[self.module].functions):
            version = self if name == self.function else others.get(name) or correct(self.module, name)
            exec(compiled(version.source, name), names)
        return names


# The vocabulary of misconception files


class Written:
    """A correct function. `wrong` and `instead` add misconceptions to it. Raises RubricError."""

    def __init__(self, function: Callable[..., Any]):
        self.function = function.__name__
        if self.function not in reference.functions():
            raise RubricError(f"{self.function} is not a function in rubric.yaml")
        self.module = rubric.current().module_of(self.function)
        self.source = text_of(function)
        self.misconceptions: list[Misconception] = []
        self.examples: list[Call] = []  # from EXAMPLES in the file

    def wrong(self, name: str, criterion: str | tuple[str, ...], *edits: Mapping[str, str], **about: Any) -> None:
        """Add a misconception that edits the source: each key of `edits` is replaced by its value everywhere.

        `about` has `does`, `right`, `read`, `memory` and `inexact` of Misconception. Several edits are variants, which
        give different results for some arguments. `criterion` is the name of a criterion of this module that grades the
        function. The sentences of the side effects and dtypes of `of_form` are built in.
        """
        if any(misconception.name == name for misconception in self.misconceptions):
            raise self._error(name, "there is already a misconception with this name")
        for changed in edits:
            self._add(name, criterion, edits=tuple(changed.items()), **about)

    def instead(
        self, name: str, criterion: str | tuple[str, ...], **about: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Add a misconception that edits cannot express: the decorated function `<function>__<name>` replaces this one."""

        def add(body: Callable[..., Any]) -> Callable[..., Any]:
            if body.__name__ != f"{self.function}__{name}":
                raise self._error(name, f"call the function {self.function}__{name}, not {body.__name__}")
            text = text_of(body).replace(f"def {body.__name__}(", f"def {self.function}(", 1)
            self._add(name, criterion, whole=text, **about)
            return body

        return add

    def _add(
        self,
        name: str,
        criterion: str | tuple[str, ...],
        *,
        does: str = "",
        right: str = "",
        read: str = "",
        **settings: Any,
    ) -> None:
        if not does and not right:
            does, right, read = of_form(name, self.function)
        names = (criterion,) if isinstance(criterion, str) else criterion
        criteria = tuple(f"{self.module}.{name}" for name in names)
        read = read or f"the docstring of `{self.function}`"
        way = sum(misconception.name == name for misconception in self.misconceptions)
        added = Misconception(self.module, self.function, name, criteria, does, right, read, way=way, **settings)
        for problem in self._problems(added):
            raise self._error(name, problem)
        self.misconceptions.append(added)

    def _problems(self, misconception: Misconception) -> Iterator[str]:
        for half, text in (("does", misconception.does), ("right", misconception.right)):
            if not text.endswith(".") or len(text.split()) < 2:
                yield f"`{half}` must be a sentence with a full stop, not {text!r}"
        grading = [c.id for c in rubric.current().of(self.module) if self.function in c.grades]
        for criterion in misconception.criteria or ("",):
            if criterion not in grading:
                others = ", ".join(name.partition(".")[2] for name in grading)
                name = criterion.partition(".")[2]
                yield f"the criterion {name!r} does not grade {self.function}; those that do: {others}"
        for old, _ in misconception.edits:
            if not old or old not in self.source:
                yield f"the text to replace, {old!r}, does not occur in {self.function}"
        changed = misconception.whole or edited(self.source, misconception.edits)
        if changed is None or changed == self.source:
            yield "the edit changes nothing, or changes the same text twice"
        elif not is_python(changed):
            yield f"the changed function is not Python:\n{changed}"

    def _error(self, name: str, text: str) -> RubricError:
        return RubricError(f"{self.function}.{name}: {text}")


written = Written  # the decorator


def of_form(name: str, function: str) -> tuple[str, str, str]:
    """The built-in sentences about a side effect or dtype, by name; empty for other misconceptions.

    The names are `changes_<argument>`, `float64_result` and `float32_result`; the cause is not guessed.
    """
    if name.startswith("changes_"):
        right = "Do not change the arguments: work on copies or new arrays."
        return f"Your code changes the argument `{name.removeprefix('changes_')}`.", right, COPIES
    if name == "float64_result":
        return "Your result is float64 for float32 arguments.", FLOAT64, f"the docstring of `{function}`; {PROMOTION}"
    if name == "float32_result":
        return "Your result is float32 for float64 arguments.", f"{KEEP_DTYPE}.", "numpy.ndarray.astype"
    return "", "", ""


# The misconceptions of a module


@cache
def known(module: str) -> dict[str, Written]:
    """The misconceptions of a module, by function in the order of the rubric; empty if it has no files.

    Raises RubricError with file and line.
    """
    functions, folder = rubric.current().modules[module].functions, kit.misconceptions() / module
    tables, examples = dict[str, Written](), dict[str, list[Call]]()
    for path in sorted(folder.glob("*.py")):
        try:
            loaded = vars(kit.module(path))
        except Exception as error:
            raise RubricError(in_one_line(error, path, str(path))) from error
        tables |= {entry.function: entry for entry in loaded.values() if isinstance(entry, Written)}
        examples |= loaded.get("EXAMPLES", {})
    for name in tables:
        if name not in functions:
            raise RubricError(f"{folder / name}.py: {name} is not a function of {module}; see rubric.yaml")
    for name in functions:
        if name in examples:  # perhaps without misconceptions
            tables.setdefault(name, Written(reference.functions()[name])).examples = examples[name]
    return {name: tables[name] for name in functions if name in tables}


@cache
def of_module(module: str) -> tuple[Misconception, ...]:
    """The misconceptions of a module, function by function in the order of the rubric."""
    return tuple(misconception for table in known(module).values() for misconception in table.misconceptions)


def of_function(module: str, function: str) -> tuple[Misconception, ...]:
    return tuple(misconception for misconception in of_module(module) if misconception.function == function)


def find(id: str) -> Misconception | None:
    """The misconception with this id, if it exists."""
    every = (misconception for module in rubric.current().modules for misconception in of_module(module))
    return next((misconception for misconception in every if misconception.id == id), None)


def examples(module: str, function: str) -> list[Call]:
    """Tiny public inputs that reveal a wrong function, smallest first."""
    table = known(module).get(function)
    return table.examples if table is not None else []


# Versions


@cache
def correct(module: str, function: str) -> Version:
    """The correct function: from the misconception file, else the reference."""
    table = known(module).get(function)
    text = table.source if table is not None else text_of(reference.functions()[function])
    return Version(module, function, (), text)


@lru_cache(MOST_TEXTS)
def made(module: str, function: str, misconceptions: tuple[Misconception, ...]) -> Version | None:
    """The function with these misconceptions; None if they cannot be combined."""
    if not misconceptions:
        return correct(module, function)
    if any(misconception.whole for misconception in misconceptions):
        return Version(module, function, misconceptions, misconceptions[0].whole) if len(misconceptions) == 1 else None
    edits = dict.fromkeys(
        edit for misconception in misconceptions for edit in misconception.edits
    )  # some share an edit
    changed = edited(known(module)[function].source, tuple(edits))
    if changed is None or not is_python(changed):
        return None
    return Version(module, function, misconceptions, changed)


# Sources of functions, and edits


def text_of(function: Callable[..., Any]) -> str:
    """The source of a function without its decorators."""
    lines = textwrap.dedent(inspect.getsource(function)).splitlines(keepends=True)
    start = next(number for number, line in enumerate(lines) if line.startswith("def "))
    return "".join(lines[start:])


@lru_cache(MOST_TEXTS)
def compiled(text: str, name: str) -> CodeType:
    return compile(text, f"<a version of {name}>", "exec")


def is_python(text: str) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            compile(text, "<text>", "exec")
    except SyntaxError:
        return False
    return True


def edited(text: str, edits: Sequence[tuple[str, str]]) -> str | None:
    """The source with all edits; None if two of them change the same characters."""
    spans = sorted((found.span(), new) for old, new in edits for found in re.finditer(re.escape(old), text))
    if any(first[1] > second[0] for (first, _), (second, _) in pairwise(spans)):
        return None
    for (start, end), new in reversed(spans):
        text = text[:start] + new + text[end:]
    return text


# Code that computes nothing: zeros, a constant, an argument returned, an exception, None. It must earn nothing.

TRIVIAL = {
    "zeros": "_like({{'right': _result(_right_{function}, {names})}}, 0)",
    "constant": "_like({{'right': _result(_right_{function}, {names})}}, 1)",
    "always_value_error": "_refuse()",
    "nothing": "None",
}
RETURNED = "_repeated(_result(_right_{function}, {names}), {name})"
_TRIVIAL_SOURCE = """
{right}

def _result(right, *args):
    try:
        return right(*args)
    except ValueError:
        return 0

def _like(held, value):  # held and written so that no single edit makes the code correct
    right = held["right"]
    if isinstance(right, tuple):
        return tuple(_like({{"right": part}}, value) for part in right)
    if isinstance(right, np.ndarray):
        return np.full(right.shape, float(f"{{value}}"), right.dtype)
    return {{key: f"{{value}}" for key in right}} if isinstance(right, dict) else type(right)(float(f"{{value}}"))

def _refuse():
    raise ValueError("no")

def _repeated(right, value):
    return (value,) * len(right) if isinstance(right, tuple) else value

def {function}({parameters}):
    return {body}
"""


def trivial(module: str, function: str) -> tuple[Misconception, ...]:
    """Versions that compute nothing, even if the shape is right. They must earn nothing."""
    text = text_of(reference.functions()[function])
    definition = ast.parse(text).body[0]
    assert isinstance(definition, ast.FunctionDef)
    names = [argument.arg for argument in definition.args.args]
    parts = {
        "right": text.replace(f"def {function}(", f"def _right_{function}(", 1),
        "function": function,
        "parameters": ast.unparse(definition.args),
    }
    graded = tuple(c.id for c in rubric.current().of(module) if function in c.grades)
    sentences = ("It computes nothing yet.", "Write it.", "the docstring")
    found = []
    for name, body in (TRIVIAL | {f"returns_{name}": RETURNED.replace("{name}", name) for name in names}).items():
        source = _TRIVIAL_SOURCE.format(body=body.format(function=function, names=", ".join(names)), **parts)
        found.append(Misconception(module, function, name, graded, *sentences, whole=source))
    return tuple(found)
