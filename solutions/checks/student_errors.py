"""What is said about an exception: file, line and reason, in words."""

from __future__ import annotations

import ast
import linecache
import re
import traceback
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import TracebackType

from student_values.errors import NO_LINE, advice, in_words, text_of
from student_values.source import is_stub

CHECKS = Path(__file__).resolve().parent
FOLDER = CHECKS.parent
MODULES = sorted(path.stem.removeprefix("test_") for path in CHECKS.glob("test_*.py"))


class CheckFailed(AssertionError):
    """A check that failed: its text is written for the student, `hint` is what is to be seen from the text alone.

    `at` is the line that stopped the call, "" if none did.
    """

    def __init__(self, text: str, function: tuple[str, str] = ("", ""), hint: str = "", at: str = "") -> None:
        super().__init__(text)
        self.function, self.hint, self.at = function, hint, at


class NotReady(CheckFailed):
    """A function that cannot be tried: not written yet, in a module that cannot be imported, without an end."""


class NotWritten(NotReady):
    """A function that is still a stub, or needs one that is."""


class TooLong(BaseException):
    """A call that does not seem to end, and the loop that it was in; no Exception, so that `except Exception` lets it pass."""

    def __init__(self, file: str = "", line: int = 0) -> None:
        super().__init__()
        self.file, self.line = file, line


class Stopped(BaseException):
    """Raised where a function without an end is called once more; no Exception, so that nothing swallows it."""


@cache
def is_students(file: str) -> bool:
    """Whether a file is the student's own: in the folder of the homework or below, but not a check."""
    path = Path(file)
    inside = FOLDER in path.parents and CHECKS not in path.parents
    return inside and "site-packages" not in path.parts and path.suffix == ".py"


def where(error: BaseException) -> str:
    """File, line and reason of an exception, from the last line of the student's own code that led to it.

    While a file is imported, that is the last one outside of functions.
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
    path, line, text = frames[-1]
    return f"{path.name}, line {line}: {reason}" + (f"\n    {text}" if text else "")


def where_it_stood(error: TooLong, seconds: float) -> str:
    """The loop in which a call was stopped that did not end; else the line at which it stood, and what that line had called."""
    frames = list(_own(error.__traceback__))
    if error.line:
        text = linecache.getline(str(FOLDER / error.file), error.line).strip()
        return f"{error.file}, line {error.line}: stopped after {seconds:g} seconds; look for a loop that never ends\n    {text}"
    if not frames:
        return f"stopped after {seconds:g} seconds"
    (path, line, text), inner = frames[0], frames[-1]
    said = f"{path.name}, line {line}: stopped after {seconds:g} seconds\n    {text}"
    if len(frames) > 1:
        said += f"\nwhich had called {inner[0].name}, line {inner[1]}:\n    {inner[2]}"
    return said


def unwritten(error: NotImplementedError) -> tuple[str, str, str]:
    """The function that ended in NotImplementedError, its file, and a sentence about it."""
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
    """The kind of an error, the first line of its text, and what to do about it where that is known."""
    if isinstance(error, ModuleNotFoundError) and error.name in MODULES:
        return f"{error.name}.py is missing: it must lie beside the folder {CHECKS.name}"
    name, said = type(error).__name__, "" if isinstance(error, SystemExit) else text_of(error, is_students)
    if said.startswith("pytest: reading from stdin"):
        name, said = "EOFError", NO_LINE  # as where there is no pytest
    text = re.sub(r" \([^()]*\.py\)$", "", in_words(name, said))  # the place of a file says nothing
    reason, what_to_do = f"{name}: {text}".removesuffix(": "), advice(name, said)
    return f"{reason}. {what_to_do}" if what_to_do else reason


def _own(trace: TracebackType | None, function: str = "") -> Iterator[tuple[Path, int, str]]:
    """The lines of the student's code on the way to an exception, the outermost first; on request those of one function."""
    for frame in traceback.extract_tb(trace):
        if is_students(frame.filename) and function in ("", frame.name):
            yield Path(frame.filename), frame.lineno or 0, frame.line or ""


def _function_at(path: Path, line: int) -> ast.FunctionDef | None:
    """The innermost function of a file that has this line."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    around = [node for node in found if node.lineno <= line <= (node.end_lineno or 0)]
    return max(around, key=lambda node: node.lineno, default=None)
