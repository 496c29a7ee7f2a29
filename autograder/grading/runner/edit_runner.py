"""Runs edited versions of a function in a student's process, for the search in explaining.py.

Only statements that the call of `Edits` runs are edited: others cannot change its response. Student code that changes this
state can only spoil its own search: another process confirms the edit.
"""

import contextlib
import inspect
import marshal
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from autograder.exceptions import Endless
from autograder.sandbox.protocol import Call, Define, Reference, Request, Response, Session
from autograder.shared.edits import MOST_BYTES, MOST_EDITS, Text, executed, redefined
from autograder.shared.slips import slips

EDITED_SECONDS, AGAIN_SECONDS = 0.1, 0.05  # processor time of an edited call, and between further interrupts


class Edits(Request):
    """Return the edits of a function that may change the response to a call; `scope` are the arguments of Text after the source.

    Each row of the array has the number, the size and the line of an edit; those of `lines` come first, small ones before
    large ones.
    """

    kind, returns, is_stored = "edits", (np.ndarray,), False

    @staticmethod
    def answer(session: Session, module: str, scope: tuple[Any, ...], lines: list[int], call: bytes) -> Sequence[Any]:
        path, text = _read(session, module, scope)
        session.editor = text, partial(redefined, names=vars(sys.modules[module]), file=path, limited=limited)
        with contextlib.suppress(BaseException), executed(path) as run, session.editor[1](text.units):
            session.answer(call)
        rows = [(number, edit.size, edit.lines[0]) for number, edit in text.reached(run)]
        rows.sort(key=lambda row: row[2] not in lines)
        return [np.array(rows[:MOST_EDITS], dtype=np.int64).reshape(-1, 3)]

    def check(self, *parts: Any) -> Response:
        (rows,) = parts
        if rows.dtype != np.int64 or rows.shape[1:] != (3,):
            raise ValueError("malformed edits")
        return Response(rows[:MOST_EDITS].tolist())


class Edited(Request):
    """Make a call with one edit; the response is the call's."""

    kind, returns = "edited", Call.returns

    @staticmethod
    def answer(session: Session, number: int, call: bytes) -> Sequence[Any]:
        text, defined = session.editor
        edit = text.edits[number]
        with edit.applied(), defined(text.dependents(edit.unit)):
            return session.answer(call)

    def check(self, *parts: Any) -> Response:
        _, call = self.parts
        return call.check(*parts)  # type: ignore[no-any-return]


class Edit(Request):
    """Load the module with one edit from now on; returns the lines of the edit."""

    kind, returns, is_stored = "edit", (tuple,), False

    @staticmethod
    def answer(session: Session, module: str, scope: tuple[Any, ...], number: int) -> Sequence[Any]:
        path, text = _read(session, module, scope)
        edit = text.edits[number]
        edit.put()
        session.imports.edited = {path: text.tree}
        return [tuple(edit.lines)]

    def check(self, *parts: Any) -> Response:
        (lines,) = parts
        if not all(type(line) is int for line in lines):
            raise ValueError("malformed lines")
        return Response(lines)


REQUESTS = (Edits, Edited, Edit)  # added to a session by `extension`


def _read(session: Session, module: str, scope: tuple[Any, ...]) -> tuple[str, Text]:
    path = os.path.join(session.imports.folder, f"{module}.py")
    with open(path, "rb") as file:
        return path, Text(file.read(MOST_BYTES + 1), *scope)


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


@cache
def extension() -> Define:
    """In the grader: the code of these requests, sent only to the processes that need it."""
    sent = []
    for name in (slips.__module__, Text.__module__, __name__):
        code = compile(inspect.getsource(sys.modules[name]), f"{name}.py", "exec", dont_inherit=True)
        sent.append(Reference(name, marshal.dumps(code), ("REQUESTS",) * (name == __name__)))
    return Define(sent)
