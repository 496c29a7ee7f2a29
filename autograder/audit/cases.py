"""The submissions of the audit: misconceptions alone and in pairs, unimplemented functions, code that computes nothing, correct
alternatives.
"""

import ast
import json
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import combinations
from types import CodeType, ModuleType
from typing import Any, Literal, TypeVar

import yaml

from autograder.feedback import messages
from autograder.feedback.sentences import lacking
from autograder.grading import plan as scripts
from autograder.grading.call_results import CallResult, TestCall
from autograder.grading.diagnosis import Diagnoser
from autograder.grading.grader import Result, diagnoser_of, graded_with, open_grader
from autograder.grading.known_responses import Direct
from autograder.grading.plan import Plan
from autograder.grading.runner import Imports, Runner
from autograder.grading.scoring import CriterionScore
from autograder.homework import kit, library
from autograder.homework import reference as references
from autograder.homework import rubric as rubrics
from autograder.homework.library import TRIVIAL, Misconception, trivial
from autograder.homework.rubric import INTEGRATION, Rubric
from autograder.sandbox.messages import Error, Response
from autograder.submissions.submission import Submission, read
from autograder.values.compare import TOLERANCE, tolerance
from autograder.values.errors import builtin_kinds

HOLES = ("as handed out", "pass", "return None", "misspelt", "deleted")  # what replaces a function
Kind = Literal["mistake", "pair", "hole", "nothing", "mutant", "alternative"]


@dataclass(frozen=True)
class Case:
    """One submission of the audit: the reference, except for one function of `module` that has these misconceptions.

    A "hole" is an unimplemented function; `hole`, one of HOLES, says how. A "nothing" is code that computes nothing, such as
    zeros, in one function or, if `function` is "", in every function of the module. A "mutant" is machine-made; `changed` is
    its source. An "alternative" is a correct solution of all modules; its `module` is "". `name` is unique within its kind.
    """

    kind: Kind
    name: str
    module: str = ""
    function: str = ""
    misconceptions: tuple[Misconception, ...] = ()
    hole: str = ""
    changed: str = field(default="", repr=False)

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(misconception.id for misconception in self.misconceptions)

    @property
    def criteria(self) -> frozenset[str]:
        """The criteria of the misconceptions."""
        return frozenset(criterion for misconception in self.misconceptions for criterion in misconception.criteria)

    def is_one_of(self, only: Collection[str]) -> bool:
        """Whether its module, its function or one of its misconceptions is given, or nothing is."""
        return not only or not {self.module, self.function, *self.ids}.isdisjoint(only)

    @property
    def source(self) -> str:
        """The source of the wrong function or functions; "" for an alternative."""
        if not self.misconceptions or self.kind == "nothing":
            return self.changed or "\n\n".join(misconception.source for misconception in self.misconceptions)
        version = library.made(self.module, self.function, self.misconceptions)
        assert version is not None, f"{self.name}: these mistakes cannot be combined"
        return version.source


def cases(only: Collection[str] = ()) -> list[Case]:
    """Every misconception in each variant, all code that computes nothing, and every alternative.

    For some modules, functions or misconceptions only, if given; then without alternatives.
    """
    modules = rubrics.current().modules
    own = [case for name in modules for case in (*singles(name), *holes(name), *nothings(name)) if case.is_one_of(only)]
    return own + (alternatives() if not only or set(only) & set(modules) else [])


def singles(module: str) -> list[Case]:
    """Every misconception of a module alone, in each variant."""
    known = library.of_module(module)
    ways = {m.id: sum(misconception.id == m.id for misconception in known) for m in known}
    return [
        Case("mistake", f"{m.id} ({m.way + 1} of {ways[m.id]})" if ways[m.id] > 1 else m.id, module, m.function, (m,))
        for m in known
    ]


def holes(module: str) -> list[Case]:
    """Each function of a module with feedback, unimplemented in each way."""
    functions = rubrics.current().modules[module].functions if library.of_module(module) else ()
    return [Case("hole", f"{f}, {hole}", module, f, hole=hole) for f in functions for hole in HOLES]


def nothings(module: str) -> list[Case]:
    """Code that computes nothing in place of each function of a module with feedback, then of all of them."""
    if not library.of_module(module):
        return []
    each = {f: trivial(module, f) for f in rubrics.current().modules[module].functions}
    trivials = [Case("nothing", m.id, module, f, (m,)) for f, own in each.items() for m in own]
    for number, name in enumerate((*TRIVIAL, "first_argument")):
        together = tuple(own[number] for own in each.values() if own[number:])
        trivials.append(Case("nothing", f"{module}.*.{name}", module, "", together))
    return trivials


def alternatives() -> list[Case]:
    """The correct solutions in other styles; none if the kit was installed without them."""
    names = {path.parent.name for path in kit.alternatives().glob("[!_.]*/*.py")}
    return [Case("alternative", name) for name in sorted(names)]


def recorded(name: str) -> dict[str, list[dict[str, Any]]]:
    """The accepted exceptions in a file next to the suites, by function; none without such a file."""
    path = kit.suites() / name
    return (yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else None) or {}


def containing(module: str) -> str:
    """How many of the alternatives contain a module, in a sentence; the others use the reference."""
    every = alternatives()
    number = sum((kit.alternatives() / case.name / f"{module}.py").is_file() for case in every)
    proved = "" if number else ": nothing shows that correct code keeps its points there"
    return f"{number} of {len(every)} alternatives contain {module}.py{proved}"


def pairs(only: Collection[str] = ()) -> Iterator[Case]:
    """Every two misconceptions of one function that can be combined, in their first variants."""
    for module, entry in rubrics.current().modules.items():
        for function in entry.functions:
            known = [m for m in library.of_function(module, function) if m.way == 0]
            for both in combinations(known, 2):
                case = Case("pair", " + ".join(m.id for m in both), module, function, both)
                if case.is_one_of(only) and library.made(module, function, both) is not None:
                    yield case


def sample(chosen: list[Case], each: int) -> list[Case]:
    """The same few cases of every function and kind, evenly spaced."""
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in chosen:
        groups.setdefault((case.function, case.kind), []).append(case)
    return [own[len(own) * (2 * n + 1) // (2 * each)] for own in groups.values() for n in range(each) if n < len(own)]


def submission(case: Case) -> Submission:
    """The files of a case: the references, with its own in their place."""
    files = references.files()
    if case.kind == "alternative":
        return Submission(case.name, files | read(kit.alternatives() / case.name, rubrics.current().limits).files)
    name = f"{case.module}.py"
    text = _with_hole(files[name].decode(), case) if case.hole else f"{files[name].decode()}\n\n{case.source}"
    return Submission(case.name, files | {name: text.encode()})


def _with_hole(text: str, case: Case) -> str:
    """A module without one of its functions, or with a function that does nothing."""
    tree = ast.parse(text)
    [function] = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == case.function)
    if case.hole == "deleted":
        tree.body.remove(function)
    elif case.hole == "misspelt":
        function.name += "_"
    else:
        unwritten = f'raise NotImplementedError("{case.function} is not written yet")'
        body = unwritten if case.hole == "as handed out" else case.hole
        function.body = ast.parse(f"def f(): {body}").body[0].body  # type: ignore[attr-defined]
    return ast.unparse(tree)


# Grades the kit's own code (references, misconceptions) by direct calls in this process, with the usual rules.
#
# Without a sandbox a submission takes a tenth of the time, so all pairs of misconceptions can be tried. Student code never runs
# here.

Functions = Mapping[str, Callable[..., Any]]


class InProcess:
    """Grades submissions of the kit's own code on a test plan."""

    def __init__(self, plan: Plan):
        self.plan, self.rubric = plan, plan.rubric
        self.diagnoser: Diagnoser = diagnoser_of(plan)
        self._wanted: dict[tuple[str, frozenset[str]], frozenset[TestCall]] = {}
        perfect = self._played(Submission("references", references.files()), {}, self.rubric.groups)
        self.right = {
            call_result.test_call: call_result.response
            for module in perfect.modules
            for call_result in module.call_results
        }

    def grade(self, submission: Submission, module: str, function: str, whole: bool = False) -> Result:
        """Grade a module (and, if `whole`, the integration) of a submission that is right except for this function ("": all)."""
        entries = self.rubric.modules[module].functions
        touched = frozenset(n for n in entries if function in (n, "") or function in self.rubric.helpers(module, (n,)))
        right = {
            test_call: response
            for test_call, response in self.right.items()
            if test_call not in self._needed(module, touched)
        }
        return self._played(submission, right, (module, INTEGRATION) if whole else (module,))

    def _played(self, submission: Submission, right: Mapping[TestCall, Response], names: tuple[str, ...]) -> Result:
        runner = Runner(lambda: DirectProcess(submission, self.rubric, right), self.plan, submission)
        return Result(submission, graded_with(runner, self.diagnoser, names), ())

    def _needed(self, module: str, touched: frozenset[str]) -> frozenset[TestCall]:
        """The test calls of affected functions, those whose objects they need, and the integration."""
        if (module, touched) not in self._wanted:
            test_calls = {s.number: s for s in (*self.plan.shown(module), *self.plan.hidden.get(module, ()))}
            own = {number for number, test_call in test_calls.items() if test_call.target.function in touched}
            for number in sorted(own, reverse=True):  # an object comes from an earlier call
                own |= test_calls[number].needs
            whole = (*self.plan.visible.get(INTEGRATION, ()), *self.plan.hidden.get(INTEGRATION, ()))
            self._wanted[module, touched] = frozenset((*(test_calls[number] for number in own), *whole))
        return self._wanted[module, touched]


class DirectProcess:
    """Runs a submission's functions directly. Test calls with known right responses are skipped."""

    ended = None

    def __init__(self, submission: Submission, rubric: Rubric, right: Mapping[TestCall, Response]):
        self.submission, self.rubric, self.right = submission, rubric, right
        self.modules: dict[str, ModuleType] = {}
        self.direct = Direct({})

    def load(self, imports: Imports, account: str = "") -> Response:
        self.modules |= {name: references.modules()[name] for name in imports.references}
        helpers = {name: references.functions()[name] for name in imports.helpers}
        order = list(self.rubric.modules)  # a module imports those before it
        try:
            for name in order[: 1 + max(map(order.index, imports.modules), default=-1)]:
                if name not in self.modules:
                    replaced = helpers if name == imports.modules[0] else {}
                    made = ModuleType(name)
                    with _importable(self.modules):
                        exec(_compiled(name, self.submission.files[f"{name}.py"]), made.__dict__)  # noqa: S102 - the kit's own text
                    vars(made).update(replaced)
                    self.modules[name] = made
        except ImportError as error:
            return Response(error=Error(tuple(builtin_kinds(error)), "", "", 0, ""))
        functions = (
            (f, vars(made).get(f)) for m, made in self.modules.items() for f in self.rubric.modules[m].functions
        )
        self.direct.functions = {name: function for name, function in functions if function is not None}
        return Response()

    def run(self, test_calls: Sequence[TestCall], account: str = "") -> list[Response]:
        return [
            self.right[test_call] if test_call in self.right else self.direct.play(test_call)
            for test_call in test_calls
        ]

    def close(self) -> None:
        """Nothing to do."""


@lru_cache(64)
def _compiled(name: str, text: bytes) -> CodeType:
    return compile(text, f"{name}.py", "exec")


@contextmanager
def _importable(modules: Mapping[str, ModuleType]) -> Iterator[None]:
    before = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module


# Cases graded in worker processes, in the sandbox or by direct calls; the results as data.

Item = TypeVar("Item")
Found = TypeVar("Found")
_open = ExitStack()
_warm: list[Any] = []  # the one grader of this process


def each(
    work: Callable[[Any, Item], Found], items: Iterable[Item], jobs: int | None = None, sandbox: bool = False
) -> Iterator[Found]:
    """Apply `work` to a warm grader and every item, in order, in `jobs` processes; it must be a function of a module.

    The grader is an InProcess, for the kit's own code, or with `sandbox` a Grader.
    """
    with ProcessPoolExecutor(jobs or os.cpu_count() or 1, initializer=_warm_up, initargs=(sandbox,)) as pool:
        yield from pool.map(partial(_do, work), items, chunksize=4)


def _warm_up(sandbox: bool) -> None:
    _warm.append(_open.enter_context(open_grader()) if sandbox else InProcess(scripts.current()))


def _do(work: Callable[[Any, Item], Found], item: Item) -> Found:
    return work(_warm[0], item)


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
    """The grading of a case.

    `graded` are the criteria that are lost, or earned although values are wrong; without call results, which do not travel. By
    criterion, `absent` is the function that the message calls missing or unimplemented, and `causes` are the modules that a message
    about the integration names. `deviations` are the deviations of the results.
    """

    case: Case
    graded: dict[str, CriterionScore]
    absent: dict[str, str] = field(default_factory=dict)
    causes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    deviations: dict[GradedCall, float] = field(default_factory=dict)

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


def row_of(case: Case, result: Result, deviations: bool = True) -> Row:
    """The row of a graded case, with or without deviations."""
    graded = {g.criterion.id: g for g in result.graded if not g.passed or g.misconceptions or g.undecided or g.blamed}
    lost = {name: g for name, g in graded.items() if not g.passed and name.startswith(INTEGRATION)}
    causes = {name: messages.causes(g, result) for name, g in lost.items()}
    absent = {
        name: _absent(g.call_result) for name, g in graded.items() if g.call_result is not None and not causes.get(name)
    }
    light = {name: replace(entry, call_result=None, shown=None) for name, entry in graded.items()}
    return Row(case, light, absent, causes, dict(_deviations(result)) if deviations else {})


def _absent(call_result: CallResult) -> str:
    missing = call_result.unwritten or (
        call_result.response.error is not None and call_result.response.error.hint == "missing"
    )
    return call_result.target.function if missing else lacking(call_result)


def _deviations(result: Result) -> Iterator[tuple[GradedCall, float]]:
    for module in result.modules:
        for call_result in module.call_results:
            test_call, kind = (
                call_result.test_call,
                call_result.failure.kind if call_result.failure is not None else "value",
            )
            compared = (
                test_call.kind == "call"
                and test_call.test
                and not test_call.rules.error
                and not test_call.rules.question
            )
            if (
                compared
                and kind == "value"
                and call_result.response.error is None
                and call_result.response.ended is None
            ):
                dtype = (
                    "float32" if tolerance((test_call.args, test_call.kwargs)) == TOLERANCE["float32"] else "float64"
                )
                place = GradedCall(
                    module.module, test_call.test, test_call.number, dtype, test_call.allowed, test_call.criterion
                )
                yield place, call_result.deviation


def shared(graded: Iterable[CriterionScore]) -> str:
    """The sentence about indistinguishable misconceptions, "" if there is none."""
    sentences = ({misconception.right for misconception in entry.undecided} for entry in graded)
    return next((right.pop() for right in sentences if len(right) == 1), "")


def differing(rows: Iterable[Row], before: Mapping[str, Any]) -> Iterator[str]:
    """The rows that differ from `before`, plain rows by name, with the criteria that differ."""
    for row in rows:
        old, new = before.get(row.name), row.plain
        if old is None:
            yield f"{row.name}: a new case"
        elif old != new:
            names = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
            both = ((n, *(json.dumps(plain.get(n, "right")) for plain in (old, new))) for n in names)
            yield row.name + "".join(f"\n  {n}: {before} -> {after}" for n, before, after in both)
