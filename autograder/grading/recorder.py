"""The fixtures that a hidden suite uses: `check` and `rng`.

A test never sees a student's value. It runs once, on the reference, and every `check.f(...)` becomes a test call of the
plan that grades each submission (plan.py). `check` returns the reference's values, so a test can compute
later arguments from them, whatever the student's function returns.
"""

import contextlib
import difflib
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from autograder.exceptions import CommandError, WireError
from autograder.grading.call_results import Rules, Target, TestCall
from autograder.homework import reference as references
from autograder.homework.homework import Homework
from autograder.homework.rubric import INTEGRATION
from autograder.sandbox import wire
from autograder.sandbox.protocol import Call, Changes, Look, Request, Write
from autograder.sandbox.wire import Handle, sendable
from autograder.shared.compare import equal, tolerance
from autograder.shared.signatures import as_tested, required
from autograder.shared.tree import Opaque, arrays, copied, leaves

PLAIN = Rules()
MODIFIERS = ("dtype", "pure", "untouched", "new", "keep")
__tracebackhide__ = True  # pytest shows the line of the test instead


@dataclass
class Recorder:
    """Turns the calls of one test into test calls of `module` (or "integration"), and passes each to `on_step`.

    `functions` are the reference's. Numbers start at `first`.
    """

    module: str
    functions: Mapping[Target, Callable[..., Any]]
    test: str = ""
    criterion: str = ""
    first: int = 1
    on_step: Callable[[TestCall], object] = lambda test_call: None
    test_calls: list[TestCall] = field(default_factory=list)
    # By id; holding the object keeps its id unique.
    objects: dict[int, tuple[Any, Handle]] = field(default_factory=dict)

    def call(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any], rules: Rules) -> Any:
        """Record a call, followed for a pure one by a check of its arguments and a repetition; returns the reference's value.

        However a test writes a call, required arguments are passed by position and optional ones by name.
        """
        args, kwargs = as_tested(self.functions[target], args, kwargs)
        expected = self._expected(target, args, kwargs, rules)
        if rules.within is not None and not rules.within > (least := _rounding(expected)):
            raise CommandError(f"within({rules.within:g}) must be more than the rounding of these results, {least:.0e}")
        if rules.related and not equal(
            rules.related(self.functions[target], *args, **kwargs), expected, tolerance(args)
        ):
            raise CommandError(f"the relation does not hold for the reference of {target.function}")
        parts = references.parts(self.functions[target])
        for name in set(rules.parts) - set(parts):
            raise ValueError(f"{target.function} returns no part named {name!r}, only {', '.join(parts)}")
        arguments = tuple(map(self._argument, args)), {name: self._argument(value) for name, value in kwargs.items()}
        for leaf in leaves(sendable(expected, wire.MAX_FROM_STUDENT)):
            if isinstance(leaf, Opaque):
                raise CommandError(
                    f"the result of {target.function} cannot be sent from students' code: it has {leaf.kind}"
                )
        # The response to a raising call lists no changes.
        has_check, number = rules.pure or bool(rules.untouched and rules.error), self._next
        names = (*required(self.functions[target])[: len(args)], *kwargs)
        call = self._call(target, arguments, names, expected, rules, number if rules.keep or has_check else 0)
        if has_check:
            self._add(target, Changes(number, call), about=number, names=names, rules=rules)
        if rules.pure:
            self._call(target, arguments, names, expected, replace(rules, repeats=number))
        value = copied(expected)
        if rules.keep:
            objects: list[tuple[str | int, Any]] = [("result", value), *enumerate((*args, *kwargs.values()))]
            for position, item in objects:
                self._keep(item, Handle(number, (position,)))
        return value

    def call_later(self, request: Callable[..., Request], value: Any, *more: Any) -> None:
        """Record a request about an object of an earlier call."""
        if id(value) not in self.objects:
            raise ValueError("this object does not come from an earlier check.keep call in this test")
        args = (self.objects[id(value)][1], *more)
        about = args[0].call
        self._add(self.test_calls[about - self.first].target, request(*args), args=args, about=about)

    def _expected(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any], rules: Rules) -> Any:
        try:
            value = self.functions[target](*copied(args), **copied(kwargs))
        except Exception as error:
            if type(error).__name__ == rules.error:
                return None
            raise
        if rules.error:
            raise AssertionError(f"the reference of {target.function} does not raise {rules.error}")
        return value[rules.question] if rules.question else value

    def _call(
        self, target: Target, arguments: Any, names: tuple[str, ...], expected: Any, rules: Rules, number: int = 0
    ) -> Call:
        args, kwargs = copied(arguments)
        try:
            call = Call(target.module, target.function, args, kwargs, rules.checks, number)
        except WireError as error:
            raise CommandError(f"an argument of {target.function} cannot be sent to students' code: {error}") from None
        allowed = rules.within or tolerance(arguments)
        self._add(target, call, args=args, kwargs=kwargs, names=names, expected=expected, allowed=allowed, rules=rules)
        return call

    def _add(self, target: Target, call: Request, **fields: Any) -> None:
        """Record one request; `fields` are the other fields of TestCall."""
        reference = self.functions[target]
        origin: dict[str, Any] = {"test": self.test, "criterion": self.criterion, "reference": reference}
        origin["parts"] = references.parts(reference)
        self.test_calls.append(TestCall(self._next, target, call, **origin, **fields))
        self.on_step(self.test_calls[-1])

    @property
    def _next(self) -> int:
        return self.first + len(self.test_calls)

    def _argument(self, value: Any) -> Any:
        """Return an argument, or a reference to the earlier object that it is, also within a list, tuple or dict."""
        if id(value) in self.objects:
            return self.objects[id(value)][1]
        if isinstance(value, dict):
            return {key: self._argument(item) for key, item in value.items()}
        return type(value)(map(self._argument, value)) if type(value) in (list, tuple) else value

    def _keep(self, value: Any, origin: Handle) -> None:
        """Remember an object, and the arrays inside it."""
        if isinstance(value, np.ndarray | dict | list | tuple):
            self.objects[id(value)] = (value, origin)
        listed = value if isinstance(value, list | tuple) else ()
        parts = value.items() if isinstance(value, dict) else enumerate(listed)
        for key, item in parts:
            self._keep(item, Handle(origin.call, (*origin.path, key)))


@dataclass(frozen=True, repr=False)
class Check:
    """`check.f(...)` requires the student's f to return what the reference returns, and returns the reference's value.

    In a suite of the integration, write the module first: `check.module.function(...)`. `check.dtype` and the other
    modifiers set a field of Rules.
    """

    _recorder: Recorder
    _module: str
    _rules: Rules = PLAIN

    def within(self, accuracy: float) -> "Check":
        """Replace the usual tolerance (shared/compare.py) by this one, a share of max(1, largest expected magnitude).

        The contract may state one, and small results need a smaller one where nothing cancels.
        """
        return self._with(within=accuracy)

    def part(self, *names: str) -> "Check":
        """Compare only these parts of the returned tuple, named as in the docstring. The tuple must still have all parts."""
        return self._with(parts=names)

    def related(self, relation: Callable[..., Any]) -> "Check":
        """State the result in terms of others: relation(f, *args, **kwargs) is f(*args, **kwargs) for a correct f.

        If nothing explains a function, a criterion only requires that its calls have this relation to its own results.
        """
        return self._with(related=relation)

    def raises(self, kind: type[Exception]) -> "Check":
        """Require that the call raises this error."""
        return self._with(error=kind.__name__)

    def answer(self, question: str) -> None:
        """Check one value of the dict that the module's only function returns: a letter, in either case."""
        target = next(target for target in self._recorder.functions if target.module == self._module)
        self._recorder.call(target, (), {}, replace(self._rules, question=question))

    def overwrite(self, array: "np.ndarray[Any, Any]", value: Any) -> None:
        """Write `value`, as the caller, into an array that an earlier `keep` call took or returned."""
        array[...] = value
        self._recorder.call_later(Write, array, array.copy())

    def stays(self, result: Any) -> None:
        """Require that the result of an earlier `keep` call still has its original value."""
        self._recorder.call_later(Look, result)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in MODIFIERS:
            return self._with(**{name: True})
        target, functions = Target(self._module, name), self._recorder.functions
        if target in functions:
            return lambda *args, **kwargs: self._recorder.call(target, args, kwargs, self._rules)
        if not self._module and any(target.module == name for target in functions):
            return replace(self, _module=name)
        if not self._module:
            hint = _meant(name, {target.module for target in functions})
            raise CommandError(f"rubric.yaml has no module {name!r}{hint}; delete this test or add the module")
        names = [target.function for target in functions if target.module == self._module]
        raise CommandError(f"rubric.yaml has no function {name!r} in {self._module}{_meant(name, names)}")

    def __repr__(self) -> str:  # pytest prints it with every failure
        return "check"

    def _with(self, **changes: Any) -> "Check":
        return replace(self, _rules=replace(self._rules, **changes))


def _meant(name: str, candidates: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, candidates, 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _rounding(expected: Any) -> float:
    """Return the effect of the order of summation on a result, as a share of max(1, largest expected magnitude)."""
    floats = [array[np.isfinite(array)] for array in arrays(expected) if array.dtype.kind == "f"]
    sizes = ((np.abs(array).max(initial=0.0), np.finfo(array.dtype).eps) for array in floats)
    return max((float(4 * eps * min(1.0, size)) for size, eps in sizes), default=0.0)


def rng_for(name: str) -> np.random.Generator:
    """Return a generator that is the same in every run of the test of this name."""
    return np.random.default_rng(zlib.crc32(name.encode()))


def functions(homework: Homework) -> dict[Target, Callable[..., Any]]:
    """Return the reference's functions."""
    return {Target(homework.rubric.module_of(name), name): function for name, function in homework.functions.items()}


# Under pytest: the marker and the fixtures. A test runs on the reference and records its calls. Grading does this once for all
# submissions (plan.py); `--submission` runs each call immediately (manual.py).

RECORDERS = pytest.StashKey[list[Recorder]]()  # one for each started test, in order
HOMEWORK = pytest.StashKey[Homework]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "criterion(id): the criterion of rubric.yaml that the test belongs to")
    config.stash.setdefault(RECORDERS, [])
    if HOMEWORK not in config.stash:  # a user has started pytest; its root folder is that of the suites
        homework = config.stash[HOMEWORK] = Homework.at(config.rootpath.parents[1])
        with contextlib.ExitStack() as stack:
            stack.enter_context(homework.importable())
            config.add_cleanup(stack.pop_all().close)


@pytest.fixture(autouse=True)
def recorder(request: pytest.FixtureRequest) -> Recorder:
    """Record the calls of a test."""
    homework = request.config.stash[HOMEWORK]
    marker, criteria = request.node.get_closest_marker("criterion"), homework.rubric.criteria
    if marker is None or not marker.args:
        raise CommandError("the test has no @criterion")
    name = str(marker.args[0])
    if name not in criteria:
        hint = _meant(name, criteria)
        raise CommandError(f"the test names the criterion {name!r}, which rubric.yaml does not have{hint}")
    earlier = request.config.stash[RECORDERS]
    first = 1 + sum(len(recorder.test_calls) for recorder in earlier)
    earlier.append(Recorder(criteria[name].module, functions(homework), request.node.name, name, first))
    return earlier[-1]


@pytest.fixture
def check(recorder: Recorder) -> Check:
    return Check(recorder, "" if recorder.module == INTEGRATION else recorder.module)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    return rng_for(request.node.name)
