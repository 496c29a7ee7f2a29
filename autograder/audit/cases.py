"""The audit's submissions and their results.

The submissions have misconceptions, alone and in pairs, unimplemented functions, or code that computes nothing, or are
correct alternatives.
"""

import ast
import json
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from itertools import combinations, groupby, product
from pathlib import Path
from textwrap import shorten
from types import ModuleType
from typing import Any, Literal, TypeVar
from unittest.mock import patch

import numpy as np

from autograder.feedback import messages
from autograder.feedback.sentences import lacking, line
from autograder.gradebook.pool import processes
from autograder.grading.call_results import outcome, reason
from autograder.grading.diagnosis import Diagnoser
from autograder.grading.grader import Result, graded_with, open_grader
from autograder.grading.plan import Plan, record
from autograder.grading.runner.processes import Direct, Runner
from autograder.grading.scoring import CriterionScore
from autograder.homework.homework import Homework
from autograder.homework.library import Misconception, text_of
from autograder.sandbox.protocol import Ended, Error, Reference, Response
from autograder.shared.bindings import bound_names
from autograder.shared.compare import TOLERANCE, tolerance
from autograder.shared.display import literal
from autograder.shared.errors import builtin_kinds
from autograder.shared.source import parsed
from autograder.submissions.submission import Submission, read

HOLES = ("as handed out", "pass", "return None", "misspelt", "deleted")  # kinds of unimplemented functions
Kind = Literal["mistake", "pair", "hole", "nothing", "mutant", "alternative"]


@dataclass(frozen=True)
class Case:
    """A submission of the audit: the reference with these misconceptions in one function of `module`.

    A "hole" is an unimplemented function. A "nothing" is code that computes nothing, such as zeros, in one function or,
    if `function` is "", in every function of the module. A "mutant" is generated. An "alternative" is a correct
    solution of all modules; its `module` is "". `name` is unique within its kind. `text` is the source of the module if
    it has no misconceptions.
    """

    kind: Kind
    name: str
    module: str = ""
    function: str = ""
    misconceptions: tuple[Misconception, ...] = ()
    text: str = field(default="", repr=False)

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(misconception.id for misconception in self.misconceptions)

    @property
    def criteria(self) -> frozenset[str]:
        """The criteria of the misconceptions."""
        return frozenset(criterion for misconception in self.misconceptions for criterion in misconception.criteria)

    def is_one_of(self, only: Collection[str]) -> bool:
        """Return whether `only` is empty or has the case's module, function or one of its misconceptions."""
        return not only or not {self.module, self.function, *self.ids}.isdisjoint(only)


def submission(homework: Homework, case: Case) -> Submission:
    """Return the reference files, with those of the case replaced. A function that an alternative lacks is the reference's."""
    files = homework.files
    if case.kind == "alternative":
        solution = dict(read(homework.alternatives / case.name, homework.rubric).files)
        for name, missing in lacking_functions(homework, solution).items():
            solution |= {f"reference_{name}.py": files[f"{name}.py"]}
            solution[f"{name}.py"] += f"\n\nfrom reference_{name} import {', '.join(missing)}\n".encode()
        return Submission(case.name, files | solution)
    name = f"{case.module}.py"
    by_function = groupby(case.misconceptions, lambda misconception: misconception.function)
    versions = [homework.version(case.module, function, tuple(group)) for function, group in by_function]
    assert None not in versions, f"{case.name}: these mistakes cannot be combined"
    text = case.text or "\n\n".join((files[name].decode(), *(version.source for version in versions if version)))
    return Submission(case.name, files | {name: text.encode()})


def lacking_functions(homework: Homework, files: Mapping[str, bytes]) -> dict[str, list[str]]:
    """Return the contract functions that these files of an alternative lack, by module; none of a file that is not Python."""
    lacking = {}
    for module, entry in homework.rubric.modules.items():
        with suppress(SyntaxError, KeyError):
            names = set(bound_names(ast.parse(files[f"{module}.py"]).body))
            if missing := [function for function in entry.functions if not {function, "*"} & names]:
                lacking[module] = missing
    return lacking


def cases(homework: Homework, only: Collection[str] = ()) -> list[Case]:
    """Return all cases except pairs and mutants. `only` selects modules, functions or misconceptions.

    Alternatives are included if `only` is empty or names a module.
    """
    modules, kinds = homework.rubric.modules, (singles, holes, nothings)
    cases = [case for name in modules for kind in kinds for case in kind(homework, name) if case.is_one_of(only)]
    return cases + (alternatives(homework) if not only or set(only) & set(modules) else [])


def singles(homework: Homework, module: str) -> list[Case]:
    """Return every misconception of a module alone, in each variant."""
    misconceptions = homework.of_module(module)
    ways = {m.id: m.way + 1 for m in misconceptions}
    return [
        Case("mistake", f"{m.id} ({m.way + 1} of {ways[m.id]})" if ways[m.id] > 1 else m.id, module, m.function, (m,))
        for m in misconceptions
    ]


def holes(homework: Homework, module: str) -> Iterator[Case]:
    """Yield each function of a module with feedback, unimplemented in each way."""
    functions = homework.rubric.modules[module].functions if homework.of_module(module) else ()
    for name, hole in product(functions, HOLES):
        tree = ast.parse(homework.files[f"{module}.py"])
        [function] = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name)
        if hole == "deleted":
            tree.body.remove(function)
        elif hole == "misspelt":
            function.name += "_"
        else:
            body = f'raise NotImplementedError("{name} is not written yet")' if hole == "as handed out" else hole
            function.body = ast.parse(body).body
        yield Case("hole", f"{name}, {hole}", module, name, text=ast.unparse(tree))


def nothings(homework: Homework, module: str) -> Iterator[Case]:
    """Replace each function of a module by code that computes nothing, then all of them."""
    functions = homework.rubric.modules[module].functions if homework.of_module(module) else ()
    text, versions = homework.files[f"{module}.py"].decode(), {name: trivial(homework, name) for name in functions}
    for function, sources in versions.items():
        for name, source in sources.items():
            yield Case("nothing", f"{function}.{name}", module, function, text=f"{text}\n\n{source}")
    for number, name in enumerate((*TRIVIAL, "first_argument")):
        if group := [[*sources.values()][number] for sources in versions.values() if len(sources) > number]:
            yield Case("nothing", f"{module}.*.{name}", module, text="\n\n".join((text, *group)))


# Zeros, a constant, an exception, None, and an argument returned
TRIVIAL = {
    "zeros": "_like({{'right': _result(_right_{function}, {names})}}, 0)",
    "constant": "_like({{'right': _result(_right_{function}, {names})}}, 1)",
    "always_value_error": "_refuse()",
    "nothing": "None",
}
RETURNED = "_repeated(_result(_right_{function}, {names}), {name})"
_TRIVIAL_SOURCE = """
from copy import deepcopy

import numpy as np

{right}

def _result(right, *args):
    try:
        return right(*deepcopy(args))
    except ValueError:
        return 0

def _like(held, value):  # held and written so that no single edit makes the code correct
    right = held["right"]
    if isinstance(right, tuple | list):
        return type(right)(_like({{"right": part}}, value) for part in right)
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


def trivial(homework: Homework, function: str) -> dict[str, str]:
    """Return versions of a function that compute nothing, even if the shape is right, by name. They must earn nothing."""
    text = text_of(homework.functions[function])
    [definition] = ast.parse(text).body
    assert isinstance(definition, ast.FunctionDef)
    names = [argument.arg for argument in definition.args.args]
    solution = text.replace(f"def {function}(", f"def _right_{function}(", 1)
    bodies = TRIVIAL | {f"returns_{name}": RETURNED.replace("{name}", name) for name in names}
    parts = {"right": solution, "function": function, "parameters": ast.unparse(definition.args)}
    return {
        name: _TRIVIAL_SOURCE.format(body=body.format(function=function, names=", ".join(names)), **parts)
        for name, body in bodies.items()
    }


def alternatives(homework: Homework) -> list[Case]:
    """Return the correct solutions in other styles; none if the kit was installed without them."""
    names = {path.parent.name for path in homework.alternatives.glob("[!_.]*/*.py")}
    return [Case("alternative", name) for name in sorted(names)]


def pairs(homework: Homework, only: Collection[str] = ()) -> Iterator[Case]:
    """Yield every pair of misconceptions of one function that can be combined, in their first variants."""
    for module, entry in homework.rubric.modules.items():
        for function in entry.functions:
            misconceptions = [m for m in homework.of_function(module, function) if m.way == 0]
            for both in combinations(misconceptions, 2):
                case = Case("pair", " + ".join(m.id for m in both), module, function, both)
                if case.is_one_of(only) and homework.version(module, function, both) is not None:
                    yield case


# Grading


class InProcess:
    """Grades the kit's own code (references, misconceptions) by direct calls, ten times as fast as in a sandbox.

    Student code never runs here.
    """

    def __init__(self, plan: Plan):
        self.plan, self.diagnoser = plan, Diagnoser(plan)

    def grade(self, submission: Submission, modules: Sequence[str]) -> Result:
        """Grade some modules (and "integration")."""
        start: Any = partial(DirectProcess, submission, self.plan.homework)
        runner = Runner(start, self.plan, submission)
        return Result(self.plan.homework, submission, graded_with(runner, self.diagnoser, tuple(modules)), ())


class DirectProcess(Direct):
    """Runs a submission's functions directly instead of in a student's process."""

    ended: Ended | None = None

    def __init__(self, submission: Submission, homework: Homework):
        super().__init__({})
        self.submission, self.homework, self.rubric = submission, homework, homework.rubric
        self.modules: dict[str, ModuleType] = {}

    def load(
        self, modules: Sequence[str], references: Sequence[Reference], helpers: Reference | None, *_: Any
    ) -> Response:
        self.modules |= {one.module: self.homework.modules[one.module] for one in references if one.functions}
        order = list(self.rubric.modules)  # a module imports those before it
        try:
            for name in order[: 1 + max(map(order.index, modules), default=-1)]:
                if name not in self.modules:
                    loaded = ModuleType(name)
                    with patch.dict(sys.modules, self.modules):
                        exec(_compiled(self.submission.files[f"{name}.py"], f"{name}.py", "exec"), vars(loaded))  # noqa: S102 - the kit's own text
                    self.modules[name] = loaded
                    if helpers is not None and name == helpers.module:
                        vars(loaded).update({f: self.homework.functions[f] for f in helpers.functions})
        except ImportError as error:
            return Response(error=Error(tuple(builtin_kinds(error)), "", "", 0, ""))
        names = [(name, module) for module in self.modules for name in self.rubric.modules[module].functions]
        self.functions = {name: vars(self.modules[m])[name] for name, m in names if name in vars(self.modules[m])}
        return Response()

    def close(self) -> None:
        """Nothing to do."""


_compiled = lru_cache(64)(compile)

Item = TypeVar("Item")
Found = TypeVar("Found")
_open = ExitStack()  # ends with the process


def each(
    homework: Homework,
    work: Callable[[Any, Item], Found],
    items: Iterable[Item],
    jobs: int | None,
    sandbox: bool = False,
) -> Iterator[Found]:
    """Call `work(grader, item)` for every item in `jobs` processes; the results are in order. `work` must be picklable.

    The grader is an InProcess, for the kit's own code, or a Grader if `sandbox` is true.
    """
    with processes(jobs or os.cpu_count() or 1) as pool:
        yield from pool.map(partial(_done, homework.own_folder, work, sandbox), items, chunksize=4)


def _done(folder: Path | None, work: Callable[[Any, Item], Found], sandbox: bool, item: Item) -> Found:
    return work(_grader(folder, sandbox), item)


@cache
def _grader(folder: Path | None, sandbox: bool) -> Any:
    """Return the grader of this process."""
    homework = Homework(folder)
    return _open.enter_context(open_grader(homework)) if sandbox else InProcess(record(homework))


# The result of a case


@dataclass(frozen=True, order=True)
class GradedCall:
    """One compared call of one test, and its tolerance."""

    module: str
    test: str
    number: int
    dtype: str
    allowed: float
    criterion: str = ""


@dataclass(frozen=True)
class Row:
    """The result of a case.

    `graded` has the criteria that are lost, or earned despite wrong values, without their call results. By criterion,
    `absent` is the function reported as missing or unimplemented, `causes` are the modules blamed for the
    integration, and `failures` are the first failing calls in words. `deviations` and `failures` are empty for a pair.
    """

    case: Case
    graded: dict[str, CriterionScore]
    absent: dict[str, str] = field(default_factory=dict)
    causes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    deviations: dict[GradedCall, float] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    @property
    def lost(self) -> dict[str, CriterionScore]:
        return {name: graded for name, graded in self.graded.items() if not graded.passed}

    @property
    def named(self) -> frozenset[str]:
        """The misconceptions that the message names."""
        return frozenset(misconception.id for graded in self.graded.values() for misconception in graded.misconceptions)

    @property
    def undecided(self) -> frozenset[str]:
        """The indistinguishable misconceptions, none of which is named."""
        return frozenset(misconception.id for graded in self.graded.values() for misconception in graded.undecided)

    @property
    def name(self) -> str:
        return f"{self.case.kind}: {self.case.name}"

    @property
    def plain(self) -> dict[str, Any]:
        """The criteria, why each is lost or earned, and the misconceptions, as JSON."""
        return {
            name: {"earned": graded.passed, "why": graded.why}
            | {what: [m.id for m in getattr(graded, what)] for what in ("misconceptions", "undecided")}
            for name, graded in self.graded.items()
        }


LONGEST = 400  # characters of a call, and of its two results


def row_of(case: Case, result: Result) -> Row:
    graded = {g.criterion.id: g for g in result.graded if not g.passed or g.misconceptions or g.undecided or g.blamed}
    causes = {name: messages.causes(g, result) for name, g in graded.items() if not g.passed}
    absent = {}
    for name, g in graded.items():
        if g.call_result and not causes.get(name):
            error = g.call_result.response.error
            is_missing = g.call_result.unwritten or (error is not None and error.hint == "missing")
            absent[name] = (
                g.call_result.target.function if is_missing else lacking(g.call_result, result.homework.rubric)
            )
    light = {name: replace(entry, call_result=None, example=None) for name, entry in graded.items()}
    if case.kind == "pair":
        return Row(case, light, absent, causes)
    with np.errstate(all="ignore"):  # wrong values may be huge or nan
        failures = {name: _failure(case, g, result) for name, g in graded.items() if not g.passed}
    return Row(case, light, absent, causes, dict(_deviations(result)), failures)


def _failure(case: Case, graded: CriterionScore, result: Result) -> str:
    """Return in one line the file and line of a failing function of an alternative, and the first failing call of any case."""
    call, homework = graded.call_result, result.homework
    module = call.target.module if call is not None else graded.criterion.module
    path, parts = homework.alternatives / case.name / f"{module}.py", []
    if case.kind == "alternative" and path.is_file():
        tree = parsed(result.submission.text(path.name))
        lines = {node.name: node.lineno for node in tree.body if isinstance(node, ast.FunctionDef)} if tree else {}
        line_number = lines.get(call.target.function) if call is not None else None
        parts.append(f"{path}:{line_number}" if line_number else str(path))
    broken = next((m.broken for m in result.modules if m.module == module), None)
    if broken is not None:
        parts.append(reason(broken).rstrip(": "))
    elif call is not None:
        positional = len(call.test_call.args)
        every = (*call.test_call.args, *call.test_call.kwargs.values())
        values = [value.__name__ if callable(value) else literal(value) for value in every]
        named = [f"{name}={value}" for name, value in zip(call.test_call.kwargs, values[positional:], strict=True)]
        parts.append(f"{call.target.function}({', '.join([*values[:positional], *named])})")
        has_values = call.returned and call.kind not in messages.ONLY_FORM
        facts = ", ".join([*outcome(call)][:2]) if has_values else ""
        parts.append(facts or line("failure", call, rubric=homework.rubric))
    elif graded.why == "too_few":
        parts.append("too few functions of this module are correct")
    return ": ".join(shorten(clause, LONGEST, placeholder=" ...") for clause in parts)


def _deviations(result: Result) -> Iterator[tuple[GradedCall, float]]:
    """Yield the deviation of each compared value."""
    for module in result.modules:
        for call_result in module.call_results:
            call, response, failure = call_result.test_call, call_result.response, call_result.failure
            is_compared = call.kind == "call" and call.test and not call.rules.error and not call.rules.question
            has_value = response.error is None and response.ended is None
            if is_compared and has_value and (failure is None or failure.kind == "value"):
                dtype = "float32" if tolerance((call.args, call.kwargs)) == TOLERANCE["float32"] else "float64"
                graded = GradedCall(module.module, call.test, call.number, dtype, call.allowed, call.criterion)
                yield graded, call_result.deviation


def differing(rows: Iterable[Row], before: Mapping[str, Any]) -> Iterator[str]:
    """Describe each row that differs from `before`, which has plain rows by name."""
    for row in rows:
        old, new = before.get(row.name), row.plain
        if old is None:
            yield f"{row.name}: a new case"
        elif old != new:
            names = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
            both = ((n, *(json.dumps(plain.get(n, "right")) for plain in (old, new))) for n in names)
            yield row.name + "".join(f"\n  {n}: {before} -> {after}" for n, before, after in both)
