"""What a failed check says once all checks have run: its own text, and advice where there is any.

Where an earlier check of the same function has failed, only that is said: it is to be looked at first. Where the function needs
another one that fails its own checks, the mistake may lie there. Only else something is said about the function
itself: the known mistake that explains all calls of the function, and what is to be seen from the text alone.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import cache
from io import StringIO

from endless_loops import limit
from known_mistakes import Seen, explanation, known
from student_calls import SEEN, Again, Caller, labelled
from student_errors import CheckFailed, NotReady, Stopped, TooLong
from student_modules import needs

ANOTHER = "one more check"


class Advice:
    """Asked for the failed checks in the order in which they ran."""

    def __init__(self) -> None:
        self._failed: dict[tuple[str, str], str] = {}

    def on(self, error: CheckFailed, check: str) -> str:
        """The whole text of one failed check."""
        first = self._failed.setdefault(error.function, check)
        if first != check:
            return f"{error.function[1]} fails {ANOTHER}: first see {first}"
        return "\n".join([str(error), *(labelled(*line) for line in advice(error))])


def advice(error: CheckFailed) -> Iterator[tuple[str, str]]:
    """Titles and texts below a check that is the first one of its function to fail."""
    module, function = error.function
    wrong = {key for key in needs(module, function) if key[1] in _failing(key[0])}
    if wrong:
        yield "note", _may_come_from(module, {key for key in wrong if not needs(*key) & wrong})
        return
    yield from explanation(known(module, function), all_calls(module, function))
    if error.hint:
        yield "hint", error.hint


def _may_come_from(module: str, wrong: set[tuple[str, str]]) -> str:
    names = " and ".join(f"{name} ({other}.py)" if other != module else name for other, name in sorted(wrong))
    verb = "does not pass its" if len(wrong) == 1 else "do not pass their"
    return f"This may come from {names}, which {verb} own checks."


@cache
def _failing(module: str) -> set[str]:
    """The functions of a module that fail a public check; the checks are made anew, they may not be in this run."""
    errors = _made_again(module).errors
    return {error.function[1] for error in errors if not isinstance(error, NotReady)}


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
