"""Calls your functions, and reports what is wrong with their results.

A check reads

    call.layer_norm(x, gamma, beta).gives(expected)

call.layer_norm(...) only describes the call. gives(), raises() and the others make it. If the result is wrong, they raise
CheckFailed with a short text: what was called, what it returned, what was expected, and how the two differ. If the
module cannot be imported or the function is not written yet, they raise NotReady, with one line. The result of every call
is recorded for known_mistakes.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import re
import textwrap
from collections import defaultdict
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from io import StringIO
from time import monotonic
from typing import Any

import known_mistakes
import numpy as np
from known_mistakes import Seen
from student_errors import CheckFailed, Interrupted, NotReady, Stopped, TooLong, where, where_it_was
from student_limits import as_graded
from student_modules import alone, cut_off, find, not_written
from student_values.changes import WORK_ON_COPIES, Change, differences, expression
from student_values.changes import in_words as changed_in_words
from student_values.compare import equal
from student_values.differences import NO_RETURN, REMEMBERED, VARIES, difference, form, what_returns
from student_values.display import literal, pair
from student_values.signatures import accepts, misfit, signatures
from student_values.tree import arrays, copied
from time_limit import SECONDS, Clock, limit

WIDTH = 74  # of the text to the right of "Called    ", so that lines end before column 88

# As a share of max(1, largest expected number): ten times the rounding of numbers that are printed with six decimals.
TOLERANCE = 5e-6

COPY = "Work on a copy: x = x + y makes a new array, x += y writes into the caller's array."
OVERWRITTEN = "This call changed the result of an earlier call: your code writes into an array that it has returned."
COPY_OF_LIST = "Work on a copy: sorted(x) and x + y make a new list, x.sort() and x += y change the caller's list."
PRINTED = "It prints a value and returns None: write return in place of print."
FLOAT32 = "In NumPy 2, float32_array / np.sqrt(8) is float64, and float32_array / math.sqrt(8) is float32."

# Deviations, in the same unit, that a reader takes for rounding; another failed check is shown if there is one.
FAINT = 0.01

TIMES = 20  # as in the grader

# The results of the calls of each function, by (module, function), in the order of the calls.
SEEN: dict[tuple[str, str], list[Seen]] = defaultdict(list)
MODIFIED: set[tuple[str, str]] = set()  # the functions reported for changes to their arguments or to earlier results
RETURNED: dict[tuple[str, str], list[tuple[Any, bytes]]] = defaultdict(list)  # the arrays in its results, as returned


class Caller:
    """The functions of one student module: caller.f(x) describes the call f(x) without making it."""

    def __init__(self, module: str, notes: list[Call] | None = None, again: Again | None = None) -> None:
        self._module, self._options = module, {"notes": notes, "again": again}

    def __getattr__(self, function: str) -> Callable[..., Call]:
        return lambda *args, **kwargs: Call(self._module, function, args, kwargs, **self._options)


@dataclass(frozen=True)
class Again:
    """Makes all calls of one function, or of every function (""): a wrong result does not end a check."""

    function: str = ""
    errors: list[CheckFailed] = field(default_factory=list)


def _going_on(asked: Callable[..., None]) -> Callable[..., None]:
    """Return a method of Call that does not raise CheckFailed if the call has `again`."""

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


def calls_of(check: Callable[[Caller], None], module: str) -> list[Call]:
    """All calls in a public check, in order, without making them."""
    notes: list[Call] = []
    check(Caller(module, notes))
    return notes


def checks_in(module: str) -> list[Callable[[Caller], None]]:
    """Return the public checks of a module."""
    named = vars(importlib.import_module(f"test_{module}")).items()
    return [check for name, check in named if name.startswith("test_")]


def calls_in(module: str) -> list[Call]:
    """All calls in the public checks of a module."""
    return [call for check in checks_in(module) for call in calls_of(check, module)]


def functions_in(module: str) -> list[str]:
    """Return the functions that the public checks of a module call, in order."""
    return list(dict.fromkeys(call.function for call in calls_in(module)))


@dataclass(frozen=True)
class Call:
    """One call of a student's function, made when one of the methods below needs its result.

    With `notes`, nothing is called, and the call is appended there. `told`: whether the check contains the correct
    result; `expected` is that result if it is a value. `accepts` and `error` say which results pass.
    """

    module: str
    function: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    names: tuple[str, ...] = ()
    part: str = ""
    choose: Callable[[Any], Any] = lambda result: result
    is_new: bool = False
    may_modify: bool = False
    notes: list[Call] | None = field(default=None, compare=False)
    told: bool = True
    again: Again | None = field(default=None, compare=False)
    expected: Any = field(default=None, compare=False)
    accepts: Callable[[Any], bool] = field(default=lambda _: True, compare=False)
    error: type[Exception] | None = field(default=None, compare=False)

    def returning(self, *names: str) -> Call:
        """Return the same call, with names for the parts of the returned tuple."""
        return replace(self, names=names)

    def then(self, part: str, choose: Callable[[Any], Any]) -> Call:
        """Return the same call, but only choose(result) is checked; `part` is a description of it."""
        return replace(self, part=part, choose=choose)

    def as_new_array(self) -> Call:
        """Return the same call, whose result must not share memory with an argument."""
        return replace(self, is_new=True)

    def without_check(self) -> None:
        """Make the call, whatever comes of it: it only precedes one that is checked."""
        if self.notes is None:
            try:
                self._made()
            except Interrupted:
                raise
            except CheckFailed:
                pass

    def in_place(self) -> Call:
        """Return the same call, which may modify its arguments."""
        return replace(self, may_modify=True)

    @_going_on
    def gives(self, expected: Any, tolerance: float = TOLERANCE) -> None:
        """Check that the result has the type, shape and values of expected, and its floating-point dtype."""
        accepts = functools.partial(equal, expected, allowed=tolerance, dtype=True)
        if replace(self, expected=expected, accepts=accepts)._noted():
            return
        result, entry, changes = self._result()
        right = equal(expected, result, tolerance)
        self._note(entry, right and not changes, tolerance)  # the table distinguishes mistakes by their values
        if not right or not accepts(result):
            why = self._why(expected, result, tolerance, dtype=right)
            if not right and self.again is None:
                why = self._unsteady(expected, tolerance) or why
            modified = self._modified(changes)
            shown = self._shown(expected, result)
            single = any(array.dtype == np.float32 for array in arrays(expected))
            hint = (FLOAT32 if single else "") if right else self._copy if modified else ""
            failed = self._failed(hint, returned=shown[1], expected=shown[0], why=f"{why} {modified}".strip())
            failed.is_explained, failed.is_faint = right or why == PRINTED, not right and equal(expected, result, FAINT)
            raise failed
        self._require_unmodified(changes)

    @_going_on
    def agrees_with(self, other: Call) -> None:
        """Check that both calls, which differ in some arguments, give the same result. Known mistakes are not compared with it."""
        if replace(self, told=False)._noted():
            replace(other, told=False)._noted()
            return
        (one, _, changes), (two, _, _) = self._result(), other._result()
        if not equal(two, one, 1e-9):
            pairs = zip(other.args, self.args, strict=True)
            changed = [(old, new) for old, new in pairs if not equal(old, new, 0)]
            others = " and ".join(f"{source(new)} in place of {source(old)}" for new, old in changed)
            wanted, came = self._shown(two, one)
            raise self._failed(returned=came, expected=f"{wanted}\nas with {others}", why=self._why(two, one, 1e-9))
        self._require_unmodified(changes)

    @_going_on
    def fulfils(self, expected: str, failure: Callable[[Any], str]) -> None:
        """Check that failure(result), which says what is wrong, is empty; `expected` describes a correct result."""
        if replace(self, accepts=lambda result: not failure(result))._noted():
            return
        result, entry, changes = self._result()
        why = failure(result)
        self._note(entry, not why and not changes, TOLERANCE)
        if why:
            why = f"{why} {self._modified(changes)}".strip()
            raise self._failed(returned=source(result), expected=expected, why=why)
        self._require_unmodified(changes)

    @_going_on
    def raises(self, error: type[Exception], because: str) -> None:
        """Check that the call raises this exception, or a subclass of it."""
        if replace(self, error=error)._noted():
            return
        wanted = f"{error.__name__}, because {because}"
        result, other, _ = self._made()
        if other is None:
            # A call that returns None is distinguished from one that computes a result.
            entry = known_mistakes.NO_ERROR if result is not None else known_mistakes.as_entry(None)
            self._note(entry, False, TOLERANCE)
            raise self._failed(returned=self._shown(result, result)[1], expected=wanted)
        right = isinstance(other, error) and not isinstance(other, NotImplementedError)
        self._note(known_mistakes.as_entry(raised=type(other).__name__), right, TOLERANCE)
        if not right:
            raise self._failed(
                stopped=where(other, self.module, self._others()), expected=wanted, why=self._does_not_bind()
            )

    def passes(self, function: Callable[..., Any], seconds: float = SECONDS, clock: Clock = monotonic) -> bool:
        """Whether the check accepts this call of `function` instead of the student's, within some seconds. It records nothing."""
        args, kwargs = copied(self.args), copied(self.kwargs)
        given = [*args, *kwargs.values()]
        before = copied(given)
        try:
            with as_graded(), limit(seconds, clock):
                result = self.choose(function(*args, **kwargs))
        except (Exception, SystemExit, TooLong, Stopped) as error:
            return (
                self.error is not None and isinstance(error, self.error) and not isinstance(error, NotImplementedError)
            )
        return self.error is None and not self._changes(given, before) and self.accepts(result)

    def due(self, reference: Callable[..., Any]) -> dict[str, Any]:
        """Return the entry of known_mistakes for a correct result: the one in the check, else that of the reference."""
        return self.entry_of(reference) if self.expected is None else known_mistakes.as_entry(self.expected)

    def entry_of(self, function: Callable[..., Any]) -> dict[str, Any]:
        """Return the entry of known_mistakes for this call of `function` instead of the student's."""
        args, kwargs = copied(self.args), copied(self.kwargs)
        given = [*args, *kwargs.values()]
        before = copied(given)
        try:
            result = function(*args, **kwargs)
        except Exception as error:
            return known_mistakes.as_entry(raised=type(error).__name__)
        return self._entry(function, result, self._changes(given, before))

    def _changes(self, given: list[Any], before: list[Any]) -> list[Change]:
        """Return the changes to arguments that a check does not accept."""
        return [] if self.may_modify else differences(given, before)

    def _entry(self, function: Callable[..., Any], result: Any, changes: list[Change]) -> dict[str, Any]:
        names = self._names(function) if changes else []
        with contextlib.suppress(Exception):
            result = self.choose(result)
        return known_mistakes.as_entry(result, changed={expression(names, number, path) for number, path, _ in changes})

    def _names(self, function: Callable[..., Any]) -> list[str]:
        """Return the names of the arguments in the stub, else in a function, in the order of the call."""
        try:
            signature = known_mistakes.contract(self.module, self.function) or inspect.signature(function)
            names = list(signature.parameters)[: len(self.args)]
        except ValueError:
            names = []
        return [*names, *(f"number {i + 1}" for i in range(len(names), len(self.args))), *self.kwargs]

    def _result(self) -> tuple[Any, dict[str, Any], list[Change]]:
        """Return the part of the result that is checked, the table's entry for it, and the changes to arguments."""
        result, error, changes = self._made()
        if error is not None:
            self._note(known_mistakes.as_entry(raised=type(error).__name__), False, TOLERANCE)
            raise self._failed(stopped=where(error, self.module, self._others()), why=self._does_not_bind())
        function = find(self.module, self.function)
        entry = self._entry(function, result, changes)
        try:
            return self.choose(result), entry, changes
        except Exception:
            self._note(entry, False, TOLERANCE)
            hint = NO_RETURN if result is None else ""
            raise self._failed(hint, returned=self._shown(result, result)[1], why=f"It has no {self.part}.") from None

    def _modified(self, changes: list[Change]) -> str:
        """Return a sentence about changed arguments, the first time for each function; "" if there are none."""
        if not changes or (self.again is None and (self.module, self.function) in MODIFIED):
            return ""
        if self.again is None:
            MODIFIED.add((self.module, self.function))
        said = changed_in_words(self._names(find(self.module, self.function)), changes)
        return f"It modified its arguments: {said}. {WORK_ON_COPIES}"

    def _require_unmodified(self, changes: list[Change]) -> None:
        """Fail one check of a function that modifies its arguments; the others are about its results."""
        if why := self._modified(changes):
            raise self._failed(self._copy, why=why)

    @property
    def _copy(self) -> str:
        return COPY if arrays([self.args, self.kwargs]) else COPY_OF_LIST

    def _made(self) -> tuple[Any, BaseException | None, list[Change]]:
        """Make the call: its result, the error that it raised, and the changes to its arguments."""
        function = find(self.module, self.function)
        args, kwargs = copied(self.args), copied(self.kwargs)
        given = [*args, *kwargs.values()]
        before = copied(given)
        try:
            with as_graded(), limit():
                result = function(*args, **kwargs)
        except (TooLong, KeyboardInterrupt) as error:
            cut_off(self.module, self.function)
            by_time = isinstance(error, TooLong)
            at = where_it_was(error, f"stopped after {SECONDS:g} seconds" if by_time else "stopped by Ctrl-C")
            raise self._failed(stopped=at, error=CheckFailed if by_time else Interrupted) from None
        except Stopped as stopped:
            raise NotReady(str(stopped)) from None
        except NotImplementedError as error:
            if stub := not_written(self.module, self.function, error):
                raise stub from None
            return None, error, []
        except (Exception, SystemExit) as error:
            return None, error, []
        if self.is_new and any(np.shares_memory(one, other) for one in arrays(result) for other in arrays(given)):
            self._note(self._entry(function, result, []), False, TOLERANCE)
            raise self._failed(why="The result shares its memory with an argument: return a new array.")
        key, changes = (self.module, self.function), self._changes(given, before)
        overwritten = any(array.tobytes() != before for array, before in RETURNED[key])
        returned = [*(array for array, _ in RETURNED[key]), *arrays(result)]
        RETURNED[key] = [(array, array.tobytes()) for array in returned]
        if overwritten and (self.again is not None or key not in MODIFIED):
            MODIFIED.add(key)
            self._note(self._entry(function, result, changes), False, TOLERANCE)
            raise self._failed(why=OVERWRITTEN)
        return result, None, changes

    def _others(self) -> set[str]:
        """Return the other functions of the homework, which have checks of their own."""
        return known_mistakes.functions() - {self.function}

    def _does_not_bind(self) -> str:
        """Why the function does not accept these arguments; "" if it does."""
        contract, own = (
            known_mistakes.contract(self.module, self.function),
            signatures(find(self.module, self.function)),
        )
        if contract is None or all(accepts(signature, self.args, self.kwargs) for signature in own):
            return ""
        return next((" ".join(why) for signature in own if (why := misfit(contract, signature))), "")

    def _unsteady(self, expected: Any, tolerance: float) -> str:
        """Return a sentence about a result that depends on more than the arguments; "" if it does not."""
        try:
            with as_graded(), limit(), redirect_stdout(StringIO()) as printed:
                results = [
                    self.choose(alone(self.module, self.function)(*copied(self.args), **copied(self.kwargs)))
                    for _ in range(TIMES)
                ]
        except Exception as error:
            return f"It raises {type(error).__name__} if this is the first call: your code keeps state between calls."
        except (SystemExit, TooLong):
            return ""
        if results[0] is None and printed.getvalue():
            return PRINTED
        first, *others = map(known_mistakes.as_entry, results)  # an object without __eq__ equals only itself
        if not all(known_mistakes.same(first, other, tolerance) for other in others):
            return VARIES
        return REMEMBERED if equal(expected, results[0], tolerance) else ""

    def _why(self, expected: Any, result: Any, tolerance: float, dtype: bool = False) -> str:
        """Why a result is wrong, in the words the grader uses."""
        docstring = "" if self.part else inspect.getdoc(find(self.module, self.function)) or ""
        wrong_form = form(expected, result, tolerance, dtype, what_returns(docstring), self.names)
        return f"{wrong_form} {difference(expected, result, tolerance, self.names)}".strip()

    def _shown(self, expected: Any, result: Any) -> tuple[str, str]:
        return pair(expected, result, self.names, WIDTH - 12)

    def _note(self, entry: dict[str, Any], right: bool, tolerance: float) -> None:
        SEEN[self.module, self.function].append(Seen(self.key, entry, right, tolerance))

    def _noted(self) -> bool:
        if self.notes is not None:
            self.notes.append(self)
        return self.notes is not None

    def _failed(self, hint: str = "", error: type[CheckFailed] = CheckFailed, **lines: str) -> CheckFailed:
        called = f"{self}\nChecked: {self.part}" if self.part else str(self)
        rows = [("called", called), *lines.items()]
        text = "\n".join(labelled(title, text) for title, text in rows if text)
        at = re.match(r"\w+\.py, line \d+", lines.get("stopped", ""))
        failed = error(text, (self.module, self.function), hint, at[0] if at else "", self)
        failed.is_explained = "returned" not in lines and ("stopped" not in lines or bool(lines.get("why")))
        return failed

    def __str__(self) -> str:
        return self._with(source)

    @property
    def key(self) -> str:
        """The call as it is written in known_mistakes: Python, with functions by name, and the part that is checked."""
        called = self._with(lambda arg: arg.__name__ if inspect.isfunction(arg) else source(arg))
        return f"{called}: {self.part}" if self.part else called

    def _with(self, code: Callable[[Any], str]) -> str:
        keywords = [f"{name}={code(arg)}" for name, arg in self.kwargs.items()]
        return f"{self.function}({', '.join([*map(code, self.args), *keywords])})"


def has_other_parameters(module: str, function: str) -> bool:
    """Whether a function accepts every call that its stub accepts, with other parameters."""
    contract, own = known_mistakes.contract(module, function), signatures(find(module, function))
    if contract is None or not any(misfit(contract, signature) is None for signature in own):
        return False
    listed, due = ([(p.name, repr(p.default)) for p in one.parameters.values()] for one in (own[-1], contract))
    return listed != due


def source(value: Any) -> str:
    """Return a value as Python, on one line."""
    return literal(value, 10**9)


def labelled(title: str, text: str) -> str:
    """Return the lines of a message, with their title in front; tables keep their lines."""
    laid_out = text if title in ("returned", "expected", "values") and "\n" in text else fill(text)
    return f"{title.capitalize():9} " + laid_out.replace("\n", "\n" + " " * 10)


def fill(text: str, width: int = WIDTH) -> str:
    """Break lines of text or code at spaces, but not within a short list of numbers."""
    kept = re.sub(r"\[[^\[\]]{1,50}\]|\([^()]{1,30}\)", lambda row: row[0].replace(" ", "\0"), text)
    lines = [textwrap.fill(line, width, break_on_hyphens=False, break_long_words=False) for line in kept.splitlines()]
    return "\n".join(lines).replace("\0", " ")
