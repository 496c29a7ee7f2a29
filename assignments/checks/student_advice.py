"""What the failed checks say together, once all have run.

Of each function the first check that fails is told in full: its own text, the known mistake that explains all calls of the
function, and what is to be seen from the text alone. Where the function needs another one that fails its own checks, only that
is said: the other one is to be mended first. It is told all the same if a known mistake explains it, and none the other one.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from functools import cache
from io import StringIO

from endless_loops import limit
from known_mistakes import Seen, explanation, known, other_arguments
from student_calls import SEEN, Again, Caller, labelled
from student_errors import CheckFailed, NotReady, Stopped, TooLong
from student_modules import needs, silent_stubs

Function = tuple[str, str]  # (module, name)


class Advice:
    """Asked for the failed checks in the order in which they ran; `texts` are those to be shown, by the number of the check."""

    def __init__(self, failed: Iterable[CheckFailed], hint: bool) -> None:
        self.texts: dict[int, str] = {}
        self.causes: dict[Function, None] = {}
        self.follow: dict[tuple[Function, ...], list[Function]] = {}
        self.same: dict[Function, Function] = {}  # what has the mistake that is told of another function
        self.hints: set[Function] = set()  # of which a hint is held back
        self.said: list[tuple[str, str]] = []  # all that is said of known mistakes
        self.stopped: dict[Function, str] = {}  # the line that stopped a call
        self.names: dict[str, Function] = {}  # the function that a known mistake was told of
        for number, error in enumerate(failed):
            if error.function in self.causes or any(error.function in names for names in self.follow.values()):
                continue
            said, causes = advice(error), causes_of(error.function)
            name = name_in(said)
            if name in self.names and self.names[name] not in needs(*error.function):
                self.same[error.function] = self.names[name]
                continue
            if name in self.names:
                causes = (self.names[name],)  # the same mistake, seen through this function
            if causes and (not name or name in self.names or any(map(explained, causes))):
                self.follow.setdefault(causes, []).append(error.function)
                continue
            self.causes[error.function] = None
            self.stopped[error.function] = error.at
            self.said += said
            if name:
                self.names[name] = error.function
            if not hint and any(title == "right" for title, _ in said):
                self.hints.add(error.function)
            shown = [line for line in said if hint or line[0] != "right"]
            shown += [("hint", error.hint)] * (bool(error.hint) and not said)
            self.texts[number] = "\n".join([str(error), *(labelled(*line) for line in shown)])

    def lines(self) -> Iterator[str]:
        """What fails because something else does, a line for each cause; before them what has the same mistake."""
        for (module, name), (_, first) in self.same.items():
            yield f"{name} ({module}.py) has the same mistake as {first}."
        for causes, names in self.follow.items():
            listed = [name for _, name in names[:3]] + ([f"{len(names) - 3} more"] if len(names) > 3 else [])
            also = " and ".join(filter(None, (", ".join(listed[:-1]), listed[-1])))
            fail = "fails" if len(names) == 1 else "fail"
            yield f"{also} {fail} too: first mend {' and '.join(f'{name} ({module}.py)' for module, name in causes)}."

    def first(self) -> Function | None:
        """The function to be mended first."""
        known = {**self.causes, **self.same}
        elsewhere = [cause for causes in self.follow for cause in causes if cause not in known]
        return next(iter([*elsewhere, *self.causes]), None)


def advice(error: CheckFailed) -> list[tuple[str, str]]:
    """What is said below a check that is the first one of its function to fail: of a known mistake, else of other arguments."""
    table, calls = known(*error.function), all_calls(*error.function)
    other = other_arguments(table, calls)
    return explanation(table, calls) or ([("note", other)] if other else [])


def name_in(said: list[tuple[str, str]]) -> str:
    """What the code does, where a known mistake says so."""
    return next((text for title, text in said if title == "probably"), "")


@cache
def explained(function: Function) -> bool:
    """Whether known mistakes explain what a function gives, also if only what they share could be said."""
    return bool(explanation(known(*function), all_calls(*function)))


def causes_of(function: Function) -> tuple[Function, ...]:
    """Those of the functions that one needs which fail their own checks, and need none that do."""
    wrong = {key for key in needs(*function) if key[1] in _failing(key[0])}
    return tuple(sorted(key for key in wrong if not needs(*key) & wrong))


@cache
def _failing(module: str) -> set[str]:
    """The functions of a module that fail a public check; the checks are made anew, they may not be in this run.

    Those that are not written yet are among them if they end in another way than NotImplementedError.
    """
    errors = _made_again(module).errors
    return {error.function[1] for error in errors if not isinstance(error, NotReady)} | {*silent_stubs(module)}


def all_calls(module: str, function: str) -> list[Seen]:
    """What came back of the public checks' calls of a function, and now comes back of those that were not made yet."""
    made = [*SEEN[module, function]]
    _made_again(module, function)
    again = SEEN[module, function][len(made) :]
    return made + [seen for seen in again if seen.call not in {one.call for one in made}]


def _made_again(module: str, function: str = "") -> Again:
    again = Again(function)
    for name, check in vars(importlib.import_module(f"test_{module}")).items():
        if name.startswith("test_"):
            try:
                with limit(lambda place: None), redirect_stdout(StringIO()):
                    check(Caller(module, again=again))
            except (TooLong, Stopped):
                break
    return again
