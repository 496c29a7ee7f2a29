"""Runs edited versions of a function in a student's process, for the search in explaining.py.

Only statements that the call of `Edits` runs are edited: others cannot change its response. Student code that changes this
state can only spoil its own search: another process confirms the edit.
"""

import ast
import contextlib
import inspect
import marshal
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.exceptions import Endless
from autograder.sandbox.protocol import Call, Define, Reference, Request, Response, Session
from autograder.shared.edits import MOST_BYTES, MOST_EDITS, Text, executed, redefined
from autograder.shared.slips import slips

if TYPE_CHECKING:
    from autograder.sandbox.loading import StudentModules

EDITED_SECONDS, AGAIN_SECONDS = 0.1, 0.05  # processor time of an edited call, and between further interrupts


class Edits(Request):
    """Return the edits of a function that may change the response to a call; they edit none of the functions `unedited`.

    Each row of the array has the number, the size and the line of an edit; those of `lines` come first, small ones before
    large ones.
    """

    kind, returns, is_stored = "edits", (np.ndarray,), False

    @staticmethod
    def answer(
        session: Session, module: str, function: str, unedited: list[str], lines: list[int], call: bytes
    ) -> Sequence[Any]:
        editor = session.editor = Editor(session.imports, module, function, unedited)
        with contextlib.suppress(BaseException), executed(editor.path) as run, editor.defined(editor.text.units):
            session.answer(call)
        rows = [(number, edit.size, edit.lines[0]) for number, edit in editor.text.reached(run)]
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
        editor: Editor = session.editor
        edit = editor.text.edits[number]
        with edit.applied(), editor.defined(editor.text.dependents(edit.unit)):
            return session.answer(call)

    def check(self, *parts: Any) -> Response:
        _, call = self.parts
        return call.check(*parts)  # type: ignore[no-any-return]


class Edit(Request):
    """Load the module with one edit from now on; returns the lines of the edit."""

    kind, returns, is_stored = "edit", (tuple,), False

    @staticmethod
    def answer(session: Session, module: str, function: str, unedited: list[str], number: int) -> Sequence[Any]:
        editor = Editor(session.imports, module, function, unedited)
        edit = editor.text.edits[number]
        edit.put()
        session.imports.edited = {editor.path: editor.text.tree}
        return [tuple(edit.lines)]

    def check(self, *parts: Any) -> Response:
        (lines,) = parts
        if not all(type(line) is int for line in lines):
            raise ValueError("malformed lines")
        return Response(lines)


REQUESTS = (Edits, Edited, Edit)  # added to a session by `extension`


class Editor:
    """The edits of one function, in the student's process."""

    def __init__(self, submission: "StudentModules", module: str, function: str, unedited: list[str]):
        self.module, self.path = module, os.path.join(submission.folder, f"{module}.py")
        with open(self.path, "rb") as file:
            self.text = Text(file.read(MOST_BYTES + 1), function, unedited)

    @contextlib.contextmanager
    def defined(self, units: Iterable[ast.stmt]) -> Iterator[None]:
        """Temporarily redefine units of the text in their module."""
        with redefined(units, vars(sys.modules[self.module]), self.path, limited):
            yield


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
