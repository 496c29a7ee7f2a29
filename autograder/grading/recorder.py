"""The fixtures that a hidden suite uses: `check`, `reference` and `rng`.

A test never sees a student's value. It runs once, on the reference, and every `check.f(...)` becomes a test call of the
plan that grades each submission (plan.py). `check` returns the reference's values, so later arguments may be computed
from them: a wrong response costs the criterion whatever follows.
"""

import difflib
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from operator import methodcaller
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from autograder.grading.call_results import Rules, Target, TestCall
from autograder.homework import reference as references
from autograder.homework import rubric as rubrics
from autograder.homework.rubric import INTEGRATION, RubricError
from autograder.sandbox.messages import Call, prepared, prepared_changes, prepared_look, prepared_write
from autograder.sandbox.wire import Kept
from autograder.values.compare import tolerance
from autograder.values.tree import arrays, copied

PLAIN = Rules()
# With `pytest --submission`, a failing call is shown with the line of its test, without the lines of this file.
__tracebackhide__ = methodcaller("errisinstance", AssertionError)


@dataclass
class Recorder:
    """Turns the calls of one test into test calls of `module` (or "integration"), and passes each to `on_step`.

    `functions` are the reference's, by "<module>.<function>". Numbers start at `first`.
    """

    module: str
    functions: Mapping[str, Callable[..., Any]]
    test: str = ""
    criterion: str = ""
    first: int = 1
    on_step: Callable[[TestCall], object] = lambda test_call: None
    test_calls: list[TestCall] = field(default_factory=list)
    # By id; holding the object keeps its id unique.
    kept: dict[int, tuple[Any, Kept]] = field(default_factory=dict)

    def call(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any], rules: Rules, keep: bool) -> Any:
        """Record a call, followed for a pure one by a check of its arguments and a repetition; returns the reference's value."""
        expected = self._expected(target, args, kwargs, rules)
        if rules.within is not None and rules.within < (least := _rounding(expected)):
            raise RubricError(
                f"within({rules.within:g}) is less than the rounding of these results; use {least:.0e} or more"
            )
        parts = self._parts(target)
        for name in set(rules.parts) - set(parts):
            raise ValueError(f"{target.function} returns no part named {name!r}, only {', '.join(parts)}")
        number, given = self._next, (tuple(map(self._given, args)), {k: self._given(v) for k, v in kwargs.items()})
        refused = bool(rules.untouched and rules.error)  # the response to a raising call lists no changes
        self._call(target, given, expected, rules, keep or rules.pure or refused)
        if rules.pure or refused:
            changes = prepared_changes(number, self.test_calls[-1].call)
            self._add(target, changes, kind="changes", about=number, rules=rules)
        if rules.pure:
            self._call(target, given, expected, replace(rules, repeats=number), False)
        value = copied(expected)
        if keep:
            self._keep(value, Kept(number, ("result",)))
            places: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
            for position, argument in places:
                self._keep(argument, Kept(number, (position,)))
        return value

    def overwrite(self, array: "np.ndarray[Any, Any]", value: Any) -> None:
        """Record that the caller writes into an array of an earlier call, and write into it here."""
        kept = self._known(array)
        array[...] = value
        args = (kept, array.copy())
        self._add(self._target(kept), prepared_write(*args), kind="write", about=kept.call, args=args)

    def look(self, value: Any) -> None:
        """Record a check of the present value of an earlier result."""
        kept = self._known(value)
        self._add(self._target(kept), prepared_look(kept), kind="look", about=kept.call, args=(kept,))

    def _expected(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any], rules: Rules) -> Any:
        function = self.functions[f"{target.module}.{target.function}"]
        try:
            value = function(*copied(args), **copied(kwargs))
        except Exception as error:
            if type(error).__name__ == rules.error:
                return None
            raise
        if rules.error:
            raise AssertionError(f"the reference of {target.function} does not raise {rules.error}")
        return value[rules.question] if rules.question else value

    def _parts(self, target: Target) -> tuple[str, ...]:
        return references.parts(self.functions[f"{target.module}.{target.function}"])

    def _call(self, target: Target, given: Any, expected: Any, rules: Rules, keep: bool) -> None:
        args, kwargs = given
        call = prepared(target.module, target.function, args, kwargs, rules.checks, self._next if keep else 0)
        args, kwargs = copied(given)
        allowed = rules.within or tolerance(given)
        self._add(target, call, args=args, kwargs=kwargs, expected=expected, allowed=allowed, rules=rules)

    def _add(self, target: Target, call: Call, **fields: Any) -> None:
        """Record one request; `fields` are its other fields of TestCall."""
        origin = {"test": self.test, "criterion": self.criterion, "parts": self._parts(target)}
        empty: dict[str, Any] = {"args": (), "kwargs": {}, "expected": None, "allowed": 0.0}
        self.test_calls.append(TestCall(self._next, target, call=call, **empty | origin | fields))
        self.on_step(self.test_calls[-1])

    @property
    def _next(self) -> int:
        return self.first + len(self.test_calls)

    def _given(self, value: Any) -> Any:
        """An argument, or a reference to the earlier object that it is, also within a list."""
        if id(value) in self.kept:
            return self.kept[id(value)][1]
        return [self._given(part) for part in value] if isinstance(value, list) else value

    def _keep(self, value: Any, kept: Kept) -> None:
        """Remember an object, and the arrays inside it."""
        if isinstance(value, np.ndarray | dict | list | tuple):
            self.kept[id(value)] = (value, kept)
        listed = value if isinstance(value, list | tuple) else ()
        parts = value.items() if isinstance(value, dict) else enumerate(listed)
        for key, part in parts:
            self._keep(part, Kept(kept.call, (*kept.path, key)))

    def _known(self, value: Any) -> Kept:
        if id(value) not in self.kept:
            raise ValueError("this object does not come from an earlier check.keep call in this test")
        return self.kept[id(value)][1]

    def _target(self, kept: Kept) -> Target:
        return next(test_call.target for test_call in self.test_calls if test_call.number == kept.call)


@dataclass(frozen=True)
class Check:
    """`check.f(...)` requires the student's f to return what the reference returns, and returns the reference's value.

    In a suite of the integration, write the module first: `check.module.function(...)`.
    """

    _recorder: Recorder
    _modules: Mapping[str, tuple[str, ...]]
    _module: str
    _rules: Rules = PLAIN
    _keep: bool = False

    @property
    def dtype(self) -> "Check":
        """Compare the dtype of the result too."""
        return self._with(dtype=True)

    @property
    def pure(self) -> "Check":
        """Require that no argument changes, and that a repeated call returns the same result."""
        return self._with(pure=True)

    @property
    def untouched(self) -> "Check":
        """Require that no argument changes, even if the call must raise an error."""
        return self._with(untouched=True)

    @property
    def new(self) -> "Check":
        """Require that the result does not share memory with an argument."""
        return self._with(new=True)

    @property
    def keep(self) -> "Check":
        """Keep the arguments and the result, so that a later call can receive the same objects."""
        return replace(self, _keep=True)

    def within(self, accuracy: float) -> "Check":
        """Replace the usual tolerance (values/compare.py) by this one, a share of max(1, largest expected magnitude).

        The contract may state one, and small results need a smaller one where nothing cancels.
        """
        if not accuracy > 0:
            raise RubricError(f"within({accuracy:g}): an accuracy is a number above 0, such as 1e-6")
        return self._with(within=accuracy)

    def part(self, *names: str) -> "Check":
        """Compare only these parts of the returned tuple, named as in the docstring. The tuple must still have all parts."""
        return self._with(parts=names)

    def raises(self, kind: type[Exception]) -> "Check":
        """Require that the call raises this error."""
        return self._with(error=kind.__name__)

    def answer(self, question: str) -> None:
        """Check one value of the dict that the module's only function returns: a letter, in either case."""
        target = Target(self._module, self._modules[self._module][0])
        self._recorder.call(target, (), {}, replace(self._rules, question=question), False)

    def overwrite(self, array: "np.ndarray[Any, Any]", value: Any) -> None:
        """Write `value`, as the caller, into an array that an earlier `keep` call took or returned."""
        self._recorder.overwrite(array, value)

    def stays(self, result: Any) -> None:
        """Require that the result of an earlier `keep` call still has its original value."""
        self._recorder.look(result)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if not self._module and name in self._modules:
            return replace(self, _module=name)
        functions = self._modules.get(self._module, ())
        if name not in functions:
            near = difflib.get_close_matches(name, functions, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise RubricError(f"rubric.yaml has no function {name!r} in {self._module or 'this suite'}{hint}")
        target = Target(self._module, name)
        return lambda *args, **kwargs: self._recorder.call(target, args, kwargs, self._rules, self._keep)

    def _with(self, **changes: Any) -> "Check":
        return replace(self, _rules=replace(self._rules, **changes))


def _rounding(expected: Any) -> float:
    """The effect of the order of summation on a result, as a share of max(1, largest expected magnitude)."""
    parts = [part for part in arrays(expected) if part.dtype.kind == "f" and np.isfinite(part).any()]
    largest = [(np.abs(part[np.isfinite(part)]).max(), np.finfo(part.dtype).eps) for part in parts]
    return max((float(4 * eps * size / max(1.0, size)) for size, eps in largest), default=0.0)


def rng_for(name: str) -> np.random.Generator:
    """A generator that is the same in every run of the test of this name."""
    return np.random.default_rng(zlib.crc32(name.encode()))


# Under pytest: the marker and the fixtures. A test runs on the reference and records its calls. Grading does this once for all
# submissions (plan.py); `--submission` runs each call immediately (manual.py).

RECORDING = pytest.StashKey[bool]()  # set while the suites are only recorded
RECORDERS = pytest.StashKey[list[Recorder]]()  # one for each started test, in order


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "criterion(id): the criterion of rubric.yaml that the test belongs to")
    config.stash[RECORDERS] = []


def criterion_of(item: pytest.Item) -> str:
    """The criterion that a test names, "" if it names none."""
    marker = item.get_closest_marker("criterion")
    return str(marker.args[0]) if marker is not None and marker.args else ""


@pytest.fixture
def recorder(request: pytest.FixtureRequest) -> Recorder:
    """Records the calls of a test."""
    criterion = rubrics.current().criteria.get(criterion_of(request.node))
    if criterion is None:
        raise pytest.UsageError(f"{request.node.nodeid} does not name a criterion of rubric.yaml")
    earlier = request.config.stash[RECORDERS]
    first = 1 + sum(len(recorder.test_calls) for recorder in earlier)
    earlier.append(Recorder(criterion.module, references.by_name(), request.node.name, criterion.id, first))
    return earlier[-1]


@pytest.fixture
def check(recorder: Recorder) -> Check:
    functions = {name: tuple(entry.functions) for name, entry in rubrics.current().modules.items()}
    return Check(recorder, functions, "" if recorder.module == INTEGRATION else recorder.module)


@pytest.fixture
def reference(recorder: Recorder) -> SimpleNamespace:
    """`reference.f(...)`, or `reference.module.f(...)` in a suite of the integration."""
    functions, modules = references.functions(), rubrics.current().modules
    if recorder.module == INTEGRATION:
        own = {name: {f: functions[f] for f in modules[name].functions} for name in modules}
        return SimpleNamespace(**{name: SimpleNamespace(**named) for name, named in own.items()})
    return SimpleNamespace(**{name: functions[name] for name in modules[recorder.module].functions})


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    return rng_for(request.node.name)
