"""What a failed check says once all checks have run: its own text, and advice where there is any.

Where an earlier check of the same function has failed, only that is said: it is to be looked at first. Where the function needs
another one that fails its own checks, the mistake may lie there. Only else something is said about the function
itself: the known mistake that explains all calls of the function, and what is to be seen from the text alone.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache

from endless_loops import limit
from known_mistakes import explanation, known
from student_calls import SEEN, Caller, labelled
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
        return "\n".join([str(error), *(labelled(*advice) for advice in self._advice(error))])

    def _advice(self, error: CheckFailed) -> Iterator[tuple[str, str]]:
        module, function = error.function
        wrong = {key for key in needs(module, function) if key[1] in _failing(key[0])}
        if wrong:
            yield "note", _may_come_from(module, {key for key in wrong if not needs(*key) & wrong})
            return
        yield from explanation(known(module, function), SEEN[error.function]).items()
        if error.hint:
            yield "hint", error.hint


def _may_come_from(module: str, wrong: set[tuple[str, str]]) -> str:
    names = " and ".join(f"{name} ({other}.py)" if other != module else name for other, name in sorted(wrong))
    verb = "does not pass its" if len(wrong) == 1 else "do not pass their"
    return f"This may come from {names}, which {verb} own checks."


@cache
def _failing(module: str) -> set[str]:
    """The functions of a module that fail a public check; the checks are made anew, they may not be in this run."""
    failing = set()
    for name, check in vars(importlib.import_module(f"test_{module}")).items():
        if name.startswith("test_"):
            try:
                with limit(lambda place: None):
                    check(Caller(module))
            except NotReady:
                continue
            except CheckFailed as error:
                failing.add(error.function[1])
            except (TooLong, Stopped):
                break
    return failing
