"""Summarises the failed checks once all have run.

For each function, only one failed check is shown in full, the first whose result is not nearly right, with the known mistake
that explains all calls of the function. If the function calls another one that fails its own checks, only one line says to fix
the other one first, since this one may be right.

Help comes in steps: where to look; with --hint what the code does wrong, or else the line of an edit that helps or the values on
the way; with --hint --hint how to fix it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from types import CodeType

from known_mistakes import Seen, explanation, known, other_arguments
from student_calls import SEEN, Again, Caller, calls_in, checks_in, labelled
from student_edits import searched
from student_errors import MODULES, CheckFailed, NotReady
from student_modules import UNFINISHED, find, silent_stubs

Function = tuple[str, str]  # (module, name)
TRACED_SECONDS = 1.0  # for one call, to see which functions it calls
STEPS = {"read": 0, "right": 2}  # how often --hint must be given for a line; once for all others


class Advice:
    """Built from the failed checks in the order they ran; `texts` maps the number of a check to the text to show."""

    def __init__(self, failed: Iterable[CheckFailed], hint: int) -> None:
        self.texts: dict[int, str] = {}
        self.causes: dict[Function, None] = {}
        self.follow: dict[tuple[Function, ...], list[Function]] = {}
        self.same: dict[Function, Function] = {}  # functions with the same mistake as another one
        self.hints: set[Function] = set()  # functions with lines that one more --hint shows
        self.stopped: dict[Function, str] = {}  # the line that stopped a call
        self.names: dict[str, Function] = {}  # the function for which a known mistake was reported
        by_function: dict[Function, list[tuple[int, CheckFailed]]] = {}
        for number, error in enumerate(failed):
            by_function.setdefault(error.function, []).append((number, error))
        for errors in by_function.values():
            number, error = next((pair for pair in errors if not pair[1].is_faint), errors[0])
            said, causes = advice(error), causes_of(error.function)
            name = name_in(said)
            if causes:
                self.follow.setdefault(causes, []).append(error.function)
                continue
            if name in self.names:
                self.same[error.function] = self.names[name]
                continue
            self.causes[error.function] = None
            self.stopped[error.function] = error.at
            if name:
                self.names[name] = error.function
            shown = [line for line in said if STEPS.get(line[0], 1) <= hint]
            if len(shown) < len(said):
                self.hints.add(error.function)
            shown += [("hint", error.hint)] * (bool(error.hint) and not said)
            if "probably" not in dict(said) and error.function not in UNFINISHED:
                if hint:
                    place, found = searched(error.call, are_several="right" in dict(said))
                    shown += [line for line in found if line[1] and (place or not error.is_explained)]
                    self.stopped[error.function] = place or error.at
                elif not error.is_explained:
                    self.hints.add(error.function)
            lines = (labelled("fix" if title == "right" else title, text) for title, text in shown)
            self.texts[number] = "\n".join([str(error), *lines])

    def lines(self) -> Iterator[str]:
        """Yield a line for each function with the same mistake as another one, and for each function that makes others fail."""
        for (module, name), (_, first) in self.same.items():
            yield f"{name} ({module}.py) has the same mistake as {first}."
        for causes, names in self.follow.items():
            listed = [name for _, name in names[:3]] + ([f"{len(names) - 3} more"] if len(names) > 3 else [])
            also = " and ".join(filter(None, (", ".join(listed[:-1]), listed[-1])))
            fail = "fails" if len(names) == 1 else "fail"
            yield f"{also} {fail} too: first fix {' and '.join(f'{name} ({module}.py)' for module, name in causes)}."

    def first(self) -> Function | None:
        """Return the function to fix first."""
        known = {**self.causes, **self.same}
        elsewhere = [cause for causes in self.follow for cause in causes if cause not in known]
        return next(iter([*elsewhere, *self.causes]), None)


def advice(error: CheckFailed) -> list[tuple[str, str]]:
    """Return the lines below the first failed check of a function: about a known mistake, else about other arguments."""
    calls = all_calls(*error.function)
    other = other_arguments(known(*error.function), calls)
    return explained(error.function) or ([("note", other)] if other else [])


def name_in(said: list[tuple[str, str]]) -> str:
    """Return what the code does wrong, if a known mistake explains it."""
    return next((text for title, text in said if title == "probably"), "")


@cache
def explained(function: Function) -> list[tuple[str, str]]:
    """Return the lines about the known mistakes that explain the results of a function; [] if there are none."""
    return explanation(known(*function), all_calls(*function), defaults(*function))


def defaults(module: str, function: str) -> dict[str, object]:
    """Return the default values in the signature of a student's function."""
    try:
        parameters = inspect.signature(find(module, function)).parameters.values()
    except (NotReady, ValueError):
        return {}
    return {parameter.name: parameter.default for parameter in parameters}


@cache
def needs(function: Function) -> set[Function]:
    """Return the functions of the homework that a student's function calls in the public checks, directly or not."""
    module, name = function
    loaded = [vars(sys.modules[m]).values() for m in MODULES if m in sys.modules]
    found = {
        (f.__module__, f.__name__): inspect.unwrap(f).__code__ for fs in loaded for f in fs if inspect.isfunction(f)
    }
    start, ran = getattr(sys.modules.get(module), name, None), set[CodeType]()
    sys.setprofile(lambda frame, *_: ran.add(frame.f_code))
    try:
        for call in calls_in(module) if callable(start) else ():
            if call.function == name:
                with redirect_stdout(StringIO()):
                    call.passes(start, TRACED_SECONDS)
    finally:
        sys.setprofile(None)
    return {key for key, code in found.items() if code in ran and key[0] in MODULES} - {function}


def causes_of(function: Function) -> tuple[Function, ...]:
    """Return the functions called by this one that fail their own checks and call no other failing function."""
    wrong = {key for key in needs(function) if key[1] in _failing(key[0])}
    return tuple(sorted(key for key in wrong if not needs(key) & wrong))


@cache
def _failing(module: str) -> set[str]:
    """Return the functions of a module that fail a public check; the checks run again because they may not be part of this run.

    This includes stubs that do not raise NotImplementedError.
    """
    errors = _made_again(module).errors
    return {error.function[1] for error in errors if not isinstance(error, NotReady)} | {*silent_stubs(module)}


def all_calls(module: str, function: str) -> list[Seen]:
    """Return the results of all public calls of a function; calls that were not made yet are made now."""
    made = [*SEEN[module, function]]
    _made_again(module, function)
    again = SEEN[module, function][len(made) :]
    return made + [seen for seen in again if seen.call not in {one.call for one in made}]


def _made_again(module: str, function: str = "") -> Again:
    again = Again(function)
    for check in checks_in(module):
        with redirect_stdout(StringIO()):
            check(Caller(module, again=again))
    return again
