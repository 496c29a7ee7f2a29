"""Runs edited versions of a function in a student's process, for the search in repair.py. It adds these requests:
    ["edits", module, function, others, lines, call]
                                                -> array of (number, size, line): the edits that may change the response, those
                                                   of `lines` first, small ones before large ones
    ["edited", number, call]                    -> the response of the edited function to the call
    ["edit", module, function, others, number]  -> the lines of the edit; the module is loaded with it from now on

`call` is a request as in session.py. Only statements that the call of "edits" runs are edited: others cannot change its
response. Student code that changes this state can only spoil its own search: another process confirms the edit.
"""

import ast
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.grading.runner.edits import MOST_BYTES, MOST_EDITS, Text
from autograder.sandbox.student.bindings import bound_names

if TYPE_CHECKING:
    from autograder.sandbox.student.loading import StudentModules

EDITED_SECONDS, AGAIN_SECONDS = 0.1, 0.05  # processor time of an edited call, and between further interrupts


class Endless(BaseException):
    """An edited call has used up its time."""


class EditRunner:
    """The edits of one function; `response` answers an encoded request as if it had been sent."""

    def __init__(self, submission: "StudentModules", response: Callable[[bytes], tuple[Any, ...]]):
        self.submission, self.response = submission, response
        self.module, self.text = "", Text(b"", "", ())

    def _read(self, module: str, function: str, others: list[str]) -> None:
        with open(self._path(module), "rb") as file:
            self.module, self.text = module, Text(file.read(MOST_BYTES + 1), function, others)

    def _path(self, module: str) -> str:
        return os.path.join(self.submission.folder, f"{module}.py")

    def edits(self, module: str, function: str, others: list[str], lines: list[int], call: bytes) -> tuple[Any, ...]:
        self._read(module, function, others)
        with contextlib.suppress(Exception), executed(self._path(module)) as run, self._defined(self.text.units):
            self.response(call)
        rows = [(number, edit.size, edit.lines[0]) for number, edit in self.text.reached(run)]
        rows.sort(key=lambda row: row[2] not in lines)
        return ("answered", np.array(rows[:MOST_EDITS], dtype=np.int64).reshape(-1, 3))

    def edited(self, number: int, call: bytes) -> tuple[Any, ...]:
        edit = self.text.edits[number]
        with edit.made(), self._defined(self.text.made_from(edit.unit)):
            return self.response(call)

    def edit(self, module: str, function: str, others: list[str], number: int) -> tuple[Any, ...]:
        self._read(module, function, others)
        edit = self.text.edits[number]
        edit.make()
        self.submission.edited = {self._path(module): self.text.tree}
        return ("answered", list(edit.lines))

    @contextlib.contextmanager
    def _defined(self, units: Iterable[ast.stmt]) -> Iterator[None]:
        """Temporarily redefine units of the text in their module."""
        names = vars(sys.modules[self.module])
        own = sorted(units, key=lambda unit: unit.lineno)
        before = {name: names[name] for name, _ in bound_names(own) if name in names}
        code = compile(ast.Module(own, []), self._path(self.module), "exec", dont_inherit=True)
        try:
            with limited():
                exec(code, names)  # noqa: S102 - in a process of the submission
                yield
        finally:
            names.update(before)


@contextlib.contextmanager
def executed(file: str) -> Iterator[set[int]]:
    """The numbers of the lines of a file that run meanwhile."""
    lines = set[int]()

    def trace(frame: FrameType, *_: Any) -> Any:
        if frame.f_code.co_filename != file:
            return None
        lines.add(frame.f_lineno)
        return trace

    sys.settrace(trace)
    try:
        yield lines
    finally:
        sys.settrace(None)


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Raise Endless after EDITED_SECONDS if the system has such a timer; otherwise only the deadline of the call applies."""
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


def handlers(submission: "StudentModules", response: Callable[[bytes], tuple[Any, ...]]) -> Mapping[str, Any]:
    """The requests that this module adds to a session."""
    runner = EditRunner(submission, response)
    return {"edits": runner.edits, "edited": runner.edited, "edit": runner.edit}
