"""Calls of your functions, and what the checks say about them.

A check reads

    call.layer_norm(x, gamma, beta).gives(expected)

call.layer_norm(...) only notes what is to be called. gives(), raises() and the others make the call. When it
does not do what is expected, they end in CheckFailed with a short text: what was called, what came back, what
was expected, why the two differ. When the module cannot be imported or the function is not written yet, they
end in NotReady, with one line. Of all calls it is noted what came back, for known_mistakes.
"""

from __future__ import annotations

import copy
import functools
import importlib
import inspect
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import known_mistakes
import student_values as values
from endless_loops import SECONDS
from known_mistakes import Seen
from student_errors import CheckFailed, NotReady, Stopped, TooLong, where, where_it_stood
from student_modules import cut_off, find, not_written

# Ten times what correct solutions differ by from numbers printed with six decimals.
TOLERANCE = 5e-6

NO_RETURN = "Does every way through the function end with a return?"
COPY = "Work on a copy: x = x + y makes a new array, x += y writes into the one of the caller."
FLOAT32 = "In NumPy 2, float32_array / np.sqrt(8) is float64, and float32_array / math.sqrt(8) is float32."

# What came back of the calls of each function, by (module, function), in the order in which they were made.
SEEN: dict[tuple[str, str], list[Seen]] = defaultdict(list)


class Caller:
    """The functions of one student module: caller.f(x) is the call f(x), not made yet."""

    def __init__(self, module: str, notes: list[Call] | None = None, again: Again | None = None) -> None:
        self._module, self._options = module, {"notes": notes, "again": again}

    def __getattr__(self, function: str) -> Callable[..., Call]:
        return lambda *args, **kwargs: Call(self._module, function, args, kwargs, **self._options)


@dataclass(frozen=True)
class Again:
    """All calls of one function, or of all ("") are made, also those in a check behind one that fails; none ends a check."""

    function: str = ""
    errors: list[CheckFailed] = field(default_factory=list)


def _going_on(asked: Callable[..., None]) -> Callable[..., None]:
    """A method of Call that with `again` raises no CheckFailed."""

    @functools.wraps(asked)
    def made(call: Call, *args: Any, **kwargs: Any) -> None:
        if call.again is None:
            return asked(call, *args, **kwargs)
        if call.again.function in ("", call.function):
            try:
                asked(call, *args, **kwargs)
            except CheckFailed as error:
                call.again.errors.append(error)
        return None

    return made


def calls_in(module: str) -> list[Call]:
    """All calls in the public checks of a module, in their order, without making any of them."""
    notes: list[Call] = []
    for name, check in vars(importlib.import_module(f"test_{module}")).items():
        if name.startswith("test_"):
            check(Caller(module, notes))
    return notes


def functions_in(module: str) -> list[str]:
    """The functions that the public checks of a module call, in their order."""
    return list(dict.fromkeys(call.function for call in calls_in(module)))


@dataclass(frozen=True)
class Call:
    """One call of a student's function, made when one of the methods below asks for its result.

    With `notes`, nothing is called, and the call is appended there; `told` is whether its check has the right result.
    """

    module: str
    function: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    names: tuple[str, ...] = ()
    part: str = ""
    choose: Callable[[Any], Any] = lambda result: result
    notes: list[Call] | None = field(default=None, compare=False)
    told: bool = True
    again: Again | None = field(default=None, compare=False)

    def returning(self, *names: str) -> Call:
        """The same call, which returns a tuple whose parts have these names."""
        return replace(self, names=names)

    def then(self, part: str, choose: Callable[[Any], Any]) -> Call:
        """The same call, of whose result only choose(result) is looked at; part says what that is."""
        return replace(self, part=part, choose=choose)

    @_going_on
    def gives(self, expected: Any, tolerance: float = TOLERANCE) -> None:
        """The result has the kind, the shape and the values of expected."""
        if self._noted():
            return
        result, entry = self._result()
        why = values.difference(result, expected, tolerance, self.names)
        only_dtype = all(values.OTHER_DTYPE in line for line in why.splitlines())  # also where there is no line
        self._note(entry, only_dtype, tolerance)  # the mistakes of the table are told apart by their values
        if why:
            hint = FLOAT32 if only_dtype and "float64" in why else ""
            wanted = values.table(expected, self.names)
            raise self._failed(hint, returned=values.table(result, self.names), expected=wanted, why=why)

    @_going_on
    def agrees_with(self, other: Call) -> None:
        """Both calls, which differ in some arguments, give the same."""
        if replace(self, told=False)._noted():
            replace(other, told=False)._noted()
            return
        (one, entry), (two, entry_of_other) = self._result(), other._result()
        why = values.difference(one, two, 1e-9)
        other._note(entry_of_other, True, TOLERANCE)
        self._note(entry, not why, TOLERANCE)
        if why:
            changed = [pair for pair in zip(other.args, self.args, strict=True) if values.changed_part(*pair, "it")]
            others = " and ".join(f"{values.code(new)} in place of {values.code(old)}" for new, old in changed)
            wanted = f"{values.table(two)}\nas with {others}"
            raise self._failed(returned=values.table(one), expected=wanted, why=why)

    @_going_on
    def fulfils(self, expected: str, fault: Callable[[Any], str]) -> None:
        """fault(result), which says what is wrong with the result, is empty; expected says it in words."""
        if self._noted():
            return
        result, entry = self._result()
        why = fault(result)
        self._note(entry, not why, TOLERANCE)
        if why:
            raise self._failed(returned=values.table(result), expected=expected, why=why)

    @_going_on
    def raises(self, error: type[Exception], because: str) -> None:
        """The call ends with this exception, or a subclass of it."""
        if self._noted():
            return
        wanted = f"{error.__name__}, because {because}"
        result, other, _ = self._made()
        if other is None:
            self._note(known_mistakes.NO_ERROR, False, TOLERANCE)
            raise self._failed(returned=values.table(result, self.names), expected=wanted)
        right = isinstance(other, error) and not isinstance(other, NotImplementedError)
        self._note(known_mistakes.as_entry(raised=type(other).__name__), right, TOLERANCE)
        if not right:
            raise self._failed(stopped=where(other), expected=wanted)

    def entry_of(self, function: Callable[..., Any]) -> dict[str, Any]:
        """What known_mistakes notes of this call if `function` stands in the place of the student's."""
        args, kwargs = copy.deepcopy(self.args), copy.deepcopy(self.kwargs)
        try:
            result = function(*args, **kwargs)
        except Exception as error:
            return known_mistakes.as_entry(raised=type(error).__name__)
        return known_mistakes.as_entry(result, changed=self._changed(function, args, kwargs))

    def _result(self) -> tuple[Any, dict[str, Any]]:
        """What is looked at of the result, and the table's entry for all of it."""
        result, error, changed = self._made()
        if error is not None:
            self._note(known_mistakes.as_entry(raised=type(error).__name__), False, TOLERANCE)
            raise self._failed(stopped=where(error))
        entry = known_mistakes.as_entry(result, changed=changed)
        if changed:
            self._note(entry, False, TOLERANCE)
            raise self._failed(COPY, why=f"the call has changed its argument {changed[0]}")
        if result is None:
            raise self._failed(NO_RETURN, returned="None")
        try:
            return self.choose(result), entry
        except Exception:
            self._note(entry, False, TOLERANCE)
            raise self._failed(returned=values.table(result), why=f"it has no {self.part}") from None

    def _made(self) -> tuple[Any, BaseException | None, list[str]]:
        """Make the call: its result, the error that ended it, and which arguments it has changed."""
        function = find(self.module, self.function)
        args, kwargs = copy.deepcopy(self.args), copy.deepcopy(self.kwargs)
        try:
            result = function(*args, **kwargs)
        except TooLong as error:
            cut_off(self.module, self.function)
            raise self._failed(stopped=where_it_stood(error, SECONDS)) from None
        except Stopped as stopped:
            raise NotReady(str(stopped)) from None
        except NotImplementedError as error:
            raise not_written(self.module, self.function, error) from None
        except (Exception, SystemExit) as error:
            return None, error, []
        return result, None, self._changed(function, args, kwargs)

    def _changed(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
        try:
            names = list(inspect.signature(function).parameters)[: len(args)]
        except ValueError:
            names = []
        names += [f"number {i + 1}" for i in range(len(names), len(args))]
        now = [*zip(args, self.args, names, strict=True), *((kwargs[key], self.kwargs[key], key) for key in kwargs)]
        return [part for triple in now if (part := values.changed_part(*triple))]

    def _note(self, entry: dict[str, Any], right: bool, tolerance: float) -> None:
        SEEN[self.module, self.function].append(Seen(self.key, entry, right, tolerance))

    def _noted(self) -> bool:
        if self.notes is not None:
            self.notes.append(self)
        return self.notes is not None

    def _failed(self, hint: str = "", **lines: str) -> CheckFailed:
        called = f"{self}\nand of that {self.part}" if self.part else str(self)
        rows = [("called", called), *lines.items()]
        text = "\n".join(labelled(title, text) for title, text in rows if text)
        return CheckFailed(text, (self.module, self.function), hint)

    def __str__(self) -> str:
        return self._with(values.code)

    @property
    def key(self) -> str:
        """The call in known_mistakes: as Python, but with the names of lent functions, which no Python spells anew."""
        return self._with(lambda arg: arg.__name__ if inspect.isfunction(arg) else values.code(arg))

    def _with(self, code: Callable[[Any], str]) -> str:
        keywords = [f"{name}={code(arg)}" for name, arg in self.kwargs.items()]
        return f"{self.function}({', '.join([*map(code, self.args), *keywords])})"


def labelled(title: str, text: str) -> str:
    """Lines of a message, with their title in front; tables keep the lines that they have."""
    laid_out = text if title in ("returned", "expected") and "\n" in text else values.fill(text)
    return f"{title.capitalize():9} {values.under(laid_out)}"
