"""How an exception is reported: file, line and reason."""

from __future__ import annotations

import ast
import linecache
import os
import traceback
from collections.abc import Callable, Collection, Iterator
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

from student_values.errors import advice, is_circular, text_of
from student_values.source import is_stub

CHECKS = Path(__file__).resolve().parent
FOLDER = CHECKS.parent
HOME, INSIDE_CHECKS = (os.path.normcase(os.path.join(folder, "")) for folder in (FOLDER, CHECKS))
MODULES = sorted(path.stem.removeprefix("test_") for path in CHECKS.glob("test_*.py"))


class CheckFailed(AssertionError):
    """A failed check. Its text is for the student; `hint` is advice that needs no known mistake.

    `at` is the line that stopped the call, "" if none did; `call` is the Call of student_calls, if there is one. `is_explained`
    is true if the text says what to change: a dtype, shared memory, a changed argument, a parameter or a print. `is_faint` is true
    if the values are nearly right.
    """

    is_explained = is_faint = False

    def __init__(
        self, text: str, function: tuple[str, str] = ("", ""), hint: str = "", at: str = "", call: Any = None
    ) -> None:
        super().__init__(text)
        self.function, self.hint, self.at, self.call = function, hint, at, call


class NotReady(CheckFailed):
    """A function that cannot be called: not written yet, did not finish, or its module cannot be imported.

    `cause` is the module that cannot be imported, "" if none.
    """

    cause = ""


class NotWritten(NotReady):
    """A function that is still a stub, or calls a stub."""


class Interrupted(CheckFailed):
    """A call that was stopped by Ctrl-C."""


class TooLong(BaseException):
    """A call that takes too long, and the loop it was in; not an Exception, so that `except Exception` does not catch it."""

    def __init__(self, file: str = "", line: int = 0, deleted: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self.file, self.line, self.deleted = file, line, deleted

    def __del__(self) -> None:
        self.deleted()  # also where a bare `except:` caught it


class Stopped(BaseException):
    """A function that did not finish was called again; not an Exception, so that `except Exception` does not catch it."""


@cache
def is_students(file: str) -> bool:
    """Return True if a file is the student's own: in the folder of the homework or below, but not a check.

    The hooks of student_limits call this, so it must not import or open anything.
    """
    path = os.path.normcase(file)
    inside = path.startswith(HOME) and not path.startswith(INSIDE_CHECKS)
    return inside and "site-packages" not in path.split(os.sep) and path.endswith(".py")


def where(error: BaseException, module: str = "", others: Collection[str] = ()) -> str:
    """File, line and reason of an exception: the last line of `module` in its traceback, else the last line of any student file.

    Lines in `others`, and in functions that they call, do not count. The line that raised the error is added if that is another
    one. While a file is imported, only lines outside of functions count.
    """
    if isinstance(error, SyntaxError) and error.filename:
        said = f"{Path(error.filename).name}, line {error.lineno}: {type(error).__name__}: {error.msg}"
        text, column = error.text or "", error.offset or 0
        before = " " * (column - 1 - len(text) + len(text.lstrip()))
        return said + (f"\n    {text.strip()}\n    {before}^" if text.strip() and column else "")
    frames = list(_own(error.__traceback__, "<module>")) or list(_own(error.__traceback__))
    if isinstance(error, NotImplementedError) and frames:
        return unwritten(error)[2]
    reason = words(error)
    if not frames or (isinstance(error, ModuleNotFoundError) and error.name in MODULES):
        return reason
    names = [frame.name for frame in traceback.extract_tb(error.__traceback__) if is_students(frame.filename)]
    count = next((number for number, name in enumerate(names) if name in others and number), len(frames))
    path, line, text = next((frame for frame in reversed(frames[:count]) if frame[0].stem == module), frames[-1])
    said = f"{path.name}, line {line}: {reason}" + (f"\n    {text}" if text else "")
    raised = frames[-1]
    if raised[:2] != (path, line):
        said += f"\nraised in {raised[0].name}, line {raised[1]}:\n    {raised[2]}"
    return said


def where_it_was(error: BaseException, stopped: str) -> str:
    """Where a call was stopped: in which loop or at which line, and in which function called by that line."""
    frames = list(_own(error.__traceback__))
    if isinstance(error, TooLong) and error.line:
        text = linecache.getline(str(FOLDER / error.file), error.line).strip()
        return f"{error.file}, line {error.line}: {stopped}; look for an infinite loop\n    {text}"
    if not frames:
        return stopped
    (path, line, text), inner = frames[0], frames[-1]
    said = f"{path.name}, line {line}: {stopped}\n    {text}"
    if len(frames) > 1:
        said += f"\nwhich called {inner[0].name}, line {inner[1]}:\n    {inner[2]}"
    return said


def unwritten(error: NotImplementedError) -> tuple[str, str, str]:
    """Return the function that raised NotImplementedError, its file, and a sentence about it."""
    frames = list(_own(error.__traceback__))
    if not frames:
        return "", "", str(error).partition("\n")[0] or "something is not written yet"
    path, line, _ = frames[-1]
    function = _function_at(path, line)
    name = function.name if function else ""
    if function is None or not is_stub(function):
        return name, path.name, f"{path.name}, line {line} still raises NotImplementedError"
    return name, path.name, f"{name} is not written yet"


def words(error: BaseException) -> str:
    """Return the kind of an error, the first line of its text, and what to do about it, if known."""
    if isinstance(error, ModuleNotFoundError) and error.name in MODULES:
        return f"{error.name}.py is missing: it belongs next to the folder {CHECKS.name}"
    name, said = type(error).__name__, "" if isinstance(error, SystemExit) else text_of(error, is_students)
    text = said.partition("\n")[0]
    if isinstance(error, ImportError):
        text = text.removesuffix(f" ({error.path})")
    reason = f"{name}: {text}".removesuffix(": ")
    what_to_do = advice(name, said, is_circular(error))
    return f"{reason}. {what_to_do}" if what_to_do else reason


def _own(trace: TracebackType | None, function: str = "") -> Iterator[tuple[Path, int, str]]:
    """Yield the lines of the student's code in a traceback, outermost first; with `function`, only those of that function."""
    for frame in traceback.extract_tb(trace):
        if is_students(frame.filename) and function in ("", frame.name):
            yield Path(frame.filename), frame.lineno or 0, frame.line or ""


def _function_at(path: Path, line: int) -> ast.FunctionDef | None:
    """Return the innermost function of a file that contains this line."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    around = [node for node in found if node.lineno <= line <= (node.end_lineno or 0)]
    return max(around, key=lambda node: node.lineno, default=None)
