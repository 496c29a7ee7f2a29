"""What a hidden suite is written with: `criterion`, and the objects behind the fixtures `check` and `student`.

A `Caller` brings a call to the student's code, in its own process when grading. Every call is compared, recorded and, where it
is wrong, ends the test with a Mismatch; whatever else a test raises is a plain assertion about correct values or a fault
of the suite, never the student's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import pytest

from autograder.grading.compare import TOLERANCE, Difference, compare, form, tolerance
from autograder.sandbox.messages import Reply

criterion = pytest.mark.criterion


@dataclass(frozen=True)
class Target:
    """One function of one module."""

    module: str
    function: str


class Caller(Protocol):
    """Brings calls to the student's code."""

    def call(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any], checks: list[str]) -> Reply: ...

    def again(self, target: Target) -> Reply: ...

    def expected(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...


@dataclass(frozen=True)
class Fault:
    """Why one call was refused. `kind` is a Difference's, or "raised", "ended", "no_error", "changed", "changed_later",
    "unsteady", "shared"."""

    kind: str
    text: str = ""


@dataclass(frozen=True)
class Record:
    """One call of the student's code and what came of it."""

    target: Target
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    reply: Reply
    fault: Fault | None
    deviation: float = 0.0
    allowed: float = 0.0
    expects: str = "value"
    checks: tuple[str, ...] = ()
    test: str = ""


class Mismatch(AssertionError):
    """The student's code is wrong in this call."""

    def __init__(self, record: Record):
        self.record = record
        assert record.fault is not None
        super().__init__(record)

    def __str__(self) -> str:
        from autograder.feedback.messages import counterexample, sentence

        return f"{sentence(self.record)}\n\n{counterexample(self.record)}"


@dataclass
class Log:
    """Every call of the student's code so far, for the diagnosis; `test` is the name of the test that runs."""

    records: list[Record] = field(default_factory=list)
    test: str = ""


@dataclass(frozen=True)
class Rules:
    """How strictly a call is judged."""

    dtype: bool = False
    pure: bool = False
    new: bool = False
    values: bool = True
    within: float | None = None
    error: str = ""


class Check:
    """`check.f(...)` calls the student's f, compares with the reference, and returns the student's value."""

    def __init__(self, caller: Caller, modules: dict[str, tuple[str, ...]], module: str, log: Log, rules: Rules):
        self._caller, self._modules, self._module, self._log, self._rules = caller, modules, module, log, rules
        self._pure: list[Record] = []

    @property
    def dtype(self) -> "Check":
        """The dtype of the result counts too."""
        return self._with(dtype=True)

    @property
    def pure(self) -> "Check":
        """No argument may change, and the same call must give the same result."""
        return self._with(pure=True)

    @property
    def new(self) -> "Check":
        """The result must share no memory with an argument."""
        return self._with(new=True)

    def within(self, accuracy: float) -> "Check":
        """An accuracy that the contract states, as a share of max(1, largest expected magnitude)."""
        return self._with(within=accuracy)

    def raises(self, kind: type[Exception]) -> "Check":
        """The call must raise this error."""
        return self._with(error=kind.__name__)

    def answer(self, question: str) -> None:
        """One entry of the dict that the module's only function returns: letters, in any case."""
        target = Target(self._module, self._modules[self._module][0])
        reply = self._caller.call(target, (), {}, [])
        expected = self._caller.expected(target, (), {})[question]
        given = reply.value.get(question) if isinstance(reply.value, dict) else None
        right = isinstance(given, str) and given.strip().lower() == expected.lower()
        fault = _trouble(reply) or (None if right else Fault("value", "another answer was expected"))
        self._enter(Record(target, (), {}, reply, fault, test=self._log.test))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if not self._module and name in self._modules:
            return replace_module(self, name)
        if name not in self._modules.get(self._module, ()):
            raise AttributeError(f"the rubric knows no function {name!r} in {self._module or 'this suite'}")
        return lambda *args, **kwargs: self._judge(Target(self._module, name), args, kwargs)

    def _with(self, **changes: Any) -> "Check":
        return Check(self._caller, self._modules, self._module, self._log, replace(self._rules, **changes))

    def _judge(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        __tracebackhide__ = True
        rules = self._rules
        checks = tuple(name for name in ("pure", "new") if getattr(rules, name))
        reply, test = self._caller.call(target, args, kwargs, list(checks)), self._log.test
        if rules.error:
            return self._judge_error(Record(target, args, kwargs, reply, None, expects=rules.error, test=test))
        record = self._compared(Record(target, args, kwargs, reply, None, checks=checks, test=test))
        self._enter(record)
        if rules.pure:
            self._enter(self._repeated(record))
        return reply.value

    def _judge_error(self, record: Record) -> None:
        fault = _trouble(record.reply)
        if record.reply.error is not None and record.expects in record.reply.error.kinds:
            fault = Fault("raised") if record.reply.error.hint == "signature" else None
        elif fault is None:
            fault = Fault("no_error", f"expected {record.expects}")
        self._enter(replace(record, fault=fault))

    def _compared(self, record: Record) -> Record:
        fault = _trouble(record.reply)
        if fault is not None:
            return replace(record, fault=fault)
        rules, reply = self._rules, record.reply
        expected = self._caller.expected(record.target, record.args, record.kwargs)
        if not rules.values:
            return replace(record, fault=_fault(form(expected, reply.value)))
        allowed = rules.within or tolerance((record.args, record.kwargs))
        verdict = compare(expected, reply.value, allowed, rules.dtype)
        fault = _fault(verdict.difference)
        if fault is None and reply.changed:
            fault = Fault("changed", str(reply.changed[0]))
        if fault is None and reply.shared:
            fault = Fault("shared")
        return replace(record, fault=fault, deviation=verdict.deviation, allowed=allowed)

    def _repeated(self, record: Record) -> Record:
        """The same call once more, and a last look at the arguments of the first."""
        later = self._caller.again(record.target)
        if later.changed:
            return replace(record, fault=Fault("changed_later", str(later.changed[0])))
        second = self._caller.call(record.target, record.args, record.kwargs, ["pure"])
        again = self._compared(replace(record, reply=second))
        return replace(again, fault=Fault("unsteady") if again.fault else None)

    def _enter(self, record: Record) -> None:
        __tracebackhide__ = True
        self._log.records.append(record)
        if record.fault is not None:
            raise Mismatch(record)


def replace_module(check: Check, module: str) -> Check:
    """The same check for one module of an integration suite."""
    return Check(check._caller, check._modules, module, check._log, check._rules)


def _fault(difference: Difference | None) -> Fault | None:
    return None if difference is None else Fault(difference.kind, difference.text)


def _trouble(reply: Reply) -> Fault | None:
    if reply.ended is not None:
        return Fault("ended", reply.ended.why)
    return Fault("raised", reply.error.kind) if reply.error is not None else None


class Reference:
    """`reference.f(...)`, or `reference.module.f(...)` in an integration suite."""

    def __init__(self, functions: Mapping[str, Any]):
        vars(self).update(functions)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the reference has no {name!r}")


def rng_for(name: str) -> np.random.Generator:
    """A generator that is the same in every run of the test of this name."""
    import zlib

    return np.random.default_rng(zlib.crc32(name.encode()))


__all__ = ["TOLERANCE", "Check", "Log", "Mismatch", "Record", "Reference", "Rules", "Target", "criterion", "rng_for"]
