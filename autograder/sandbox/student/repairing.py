"""Plays edited versions of a function of the submission, beside the rest of it. What they return is judged by the grader.

    ["edits", module, function, others, lines, call]
                                                -> ["edits", array of (number, size, line)]: of those that may change the
                                                   reply, those of `lines` first, small ones before large ones
    ["edited", number, call]                    -> what the function with that edit replies to the call
    ["edit", module, function, others, number]  -> ["edit", lines]: from now on the module is loaded with it

`call` is a request as in session.py. Only what was evaluated in the call of "edits" is edited: all else cannot change its reply.
Nothing but the text of the submission is used. Code that reads or changes what is kept here can only spoil its own search: a
process that says what an edit is, and plays it in full, has run nothing of the submission before.
"""

import ast
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from autograder.sandbox.student.edits import MOST_BYTES, MOST_EDITS, SEEN, Text, evaluated, mark, noting
from autograder.sandbox.student.loading import StudentModules, bound_names

EDITED_SECONDS, AGAIN_SECONDS = 0.3, 0.05  # processor time of an edited call; until it is told again that this is over


class Endless(BaseException):
    """An edited call has had its time."""


class Repairing:
    """The edits of one function; `reply` answers an encoded request that is not sent."""

    def __init__(self, submission: StudentModules, reply: Callable[[bytes], tuple[Any, ...]]):
        self.submission, self.reply = submission, reply
        self.module, self.text = "", Text(b"", "", ())

    @property
    def handlers(self) -> dict[str, Callable[..., tuple[Any, ...]]]:
        return {"edits": self._edits, "edited": self._edited, "edit": self._edit}

    def _read(self, module: str, function: str, others: list[str]) -> None:
        with open(self._path(module), "rb") as file:
            self.module, self.text = module, Text(file.read(MOST_BYTES + 1), function, others)

    def _path(self, module: str) -> str:
        return os.path.join(self.submission.folder, f"{module}.py")

    def _edits(self, module: str, function: str, others: list[str], lines: list[int], call: bytes) -> tuple[Any, ...]:
        self._read(module, function, others)
        mark(self.text.units)
        seen: set[int] = set()
        with contextlib.suppress(Exception), self._defined(map(noting, self.text.units), {SEEN: seen.add}):
            self.reply(call)
        edits = enumerate(self.text.edits)
        rows = [(number, edit.size, edit.lines[0]) for number, edit in edits if evaluated(edit, seen)]
        rows.sort(key=lambda row: row[2] not in lines)
        return ("edits", np.array(rows[:MOST_EDITS], dtype=np.int64).reshape(-1, 3))

    def _edited(self, number: int, call: bytes) -> tuple[Any, ...]:
        edit = self.text.edits[number]
        with edit.made(), self._defined(self.text.made_from(edit.unit)):
            return self.reply(call)

    def _edit(self, module: str, function: str, others: list[str], number: int) -> tuple[Any, ...]:
        self._read(module, function, others)
        edit = self.text.edits[number]
        edit.make()
        self.submission.edited = {self._path(module): self.text.tree}
        return ("edit", list(edit.lines))

    @contextlib.contextmanager
    def _defined(self, units: Iterable[ast.stmt], more: Mapping[str, Any] | None = None) -> Iterator[None]:
        """Units of the text defined anew in their module, which are to be used for a short time."""
        names = vars(sys.modules[self.module])
        own = sorted(units, key=lambda unit: unit.lineno)
        before = {name: names[name] for name, _ in bound_names(own) if name in names}
        code = compile(ast.Module(own, []), self._path(self.module), "exec", dont_inherit=True)
        try:
            with limited():
                names.update(more or {})
                exec(code, names)  # noqa: S102 - in a process of the submission
                yield
        finally:
            names.update(before)


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Raise Endless after EDITED_SECONDS, where the system has such a timer; else the deadline of the call remains."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    signal.signal(signal.SIGVTALRM, _up)
    signal.setitimer(signal.ITIMER_VIRTUAL, EDITED_SECONDS, AGAIN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _up(*_: Any) -> None:
    raise Endless
