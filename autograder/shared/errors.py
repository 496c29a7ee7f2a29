"""Describes exceptions: built-in names, text, and the line of the student's files that raised them."""

import ast
import builtins
import errno
import os
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from traceback import walk_stack, walk_tb
from types import FrameType, ModuleType, TracebackType

MAX_TEXT = 300  # characters
MOST_NESTED = 20  # calls of one function in one another that may be no endless recursion
MAX_PASSED, MAX_NAME = 16, 64  # functions listed that an error passed through, and characters of their names
NO_LINE = "EOF when reading a line"  # the text of Python's error if `input()` gets no answer
NO_INPUT = "`input()` does not work while your code is graded: delete the call."
CIRCULAR = "Modules import each other: import only from files that are higher up in the README's table."
NOT_ALLOWED = (
    "Homework code may not use other processes, sockets, pipes, event loops, or files outside its temporary folder."
)
MATMUL = "In a @ b, the last axis of a must be as long as the second-to-last axis of b (its only axis if b is 1-D)."
NOT_RUN = "which the grader does not run"
# Limits of Python in a browser, by the text of the error.
IN_A_BROWSER = {
    "can't start new thread": "A browser cannot start threads, but the grader can: run these checks on your own computer.",
    "Cannot cast array data from dtype('int64') to dtype('int32') according to the rule 'safe'": (
        "In a browser, indices have 32 bits. Unless your code asks for int32, this works in the grader."
    ),
}
ADVICE = {
    "MemoryError": "It needs more memory than allowed: look for a list or an array that is far larger than the result.",
    "RecursionError": "Too many nested calls: check that the recursion ends, or use a loop.",
    "PermissionError": NOT_ALLOWED,
    "BlockingIOError": "Homework code may not start processes, and may start only a few threads.",
    "SystemExit": "Homework code may not exit Python: delete the call of `exit()`, `quit()` or `sys.exit()`.",
    "ModuleNotFoundError": "The grader has only NumPy, the standard library and your own files.",
}


def builtin_kinds(error: BaseException) -> list[str]:
    """Return the built-in classes of an error by name, the most specific first."""
    classes = [cls for cls in type(error).__mro__ if issubclass(cls, BaseException)]
    kinds = [cls.__name__ for cls in classes if getattr(builtins, cls.__name__, None) is cls]
    return kinds or ["Exception"]


def text_of(error: BaseException, is_students: Callable[[str], bool] = lambda _: False) -> str:
    """Return the shortened text of an error; "" if even that raises an error. `is_students` selects the student's files."""
    try:
        if _is_refused(error):
            function = _called(error.__traceback__, is_students)
            return f"it uses {function}, {NOT_RUN}" if function else str(error)[:MAX_TEXT]
        return str(error.msg if isinstance(error, SyntaxError) else error)[:MAX_TEXT]
    except BaseException:
        return ""


def _is_refused(error: BaseException | None) -> bool:
    """Return whether the system rejected something other than a file; the standard library may wrap that error in its own."""
    of_system = isinstance(error, PermissionError) and error.errno == errno.EPERM and error.filename is None
    of_network = type(error).__name__ == "gaierror"
    return isinstance(error, OSError) and (of_system or of_network or _is_refused(error.__context__))


def _called(trace: TracebackType | None, is_students: Callable[[str], bool]) -> str:
    """Return the standard library function called by the last of the student's frames; "" if none."""
    frames = [frame for frame, _ in walk_tb(trace)]
    after = [number + 1 for number, frame in enumerate(frames) if is_students(frame.f_code.co_filename)][-1:]
    for frame in (frames[number] for number in after if number < len(frames)):
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] in sys.stdlib_module_names:
            return f"{module}.{frame.f_code.co_qualname}".removesuffix(".__init__")[:MAX_NAME]
    return ""


def location(trace: TracebackType | None, is_students: Callable[[str], bool]) -> tuple[str, int]:
    """Return the file and line of the last of the student's frames; during an import, of the last one outside functions."""
    last, importing = ("", 0), False
    for frame, line in walk_tb(trace):
        outside = frame.f_code.co_name == "<module>"
        if is_students(frame.f_code.co_filename) and (outside or not importing):
            last, importing = (os.path.basename(frame.f_code.co_filename), line), outside
    return last


def is_circular(error: BaseException) -> bool:
    """Return whether an import or an attribute of a module failed because that module was still being imported."""
    try:
        name = error.name if isinstance(error, ImportError) else ""
        if isinstance(error, AttributeError) and isinstance(error.obj, ModuleType):
            name = vars(error.obj)["__name__"]
        frames = [frame for frame, _ in walk_tb(error.__traceback__) if frame.f_code.co_name == "<module>"]
        return bool(name) and name in [frame.f_globals["__name__"] for frame in frames]
    except BaseException:  # the student's class may redefine these attributes
        return False


def passed(error: BaseException, is_students: Callable[[str], bool]) -> list[str]:
    """Return the names of the student's functions that an error passed through, innermost first.

    The name that a NameError did not find comes first.
    """
    codes = [frame.f_code for frame, _ in walk_tb(error.__traceback__)]
    names = [code.co_name for code in reversed(codes) if is_students(code.co_filename)]
    missing = [error.name] if isinstance(error, NameError) and isinstance(error.name, str) else []
    return [name[:MAX_NAME] for name in (*missing, *names)][:MAX_PASSED]


def loop(frame: FrameType | None, is_students: Callable[[str], bool]) -> tuple[str, int]:
    """Return the file and line of the loop that the student's code is running; ("", 0) if none.

    A `while` is preferred to a `for`, and an outer loop to an inner one, because the line of the interruption is arbitrary.
    Below a function that called itself often, only a `while` can be to blame.
    """
    frames = [(f.f_code, line) for f, line in walk_stack(frame)] if frame is not None else []
    is_recursive = max(Counter(code for code, _ in frames).values(), default=0) > MOST_NESTED
    loops = [
        (isinstance(node, ast.While), depth, -node.lineno, os.path.basename(code.co_filename))
        for depth, (code, line) in enumerate(frames)
        for node in (_loops(code.co_filename) if is_students(code.co_filename) else ())
        if node.lineno <= line <= (node.end_lineno or 0) and (isinstance(node, ast.While) or not is_recursive)
    ]
    _, _, line, file = max(loops, default=(False, 0, 0, ""))
    return file, -line


@cache
def _loops(file: str) -> list[ast.While | ast.For]:
    try:
        nodes = ast.walk(ast.parse(Path(file).read_bytes()))
    except (OSError, SyntaxError, ValueError):
        return []
    return [node for node in nodes if isinstance(node, ast.While | ast.For)]


def advice(kind: str, text: str, circular: bool = False) -> str:
    """Return advice on an error, by its kind or text; "" if there is none."""
    if circular:
        return CIRCULAR
    if (kind, text) == ("EOFError", NO_LINE):
        return NO_INPUT
    if text.endswith(NOT_RUN):
        return NOT_ALLOWED
    if kind == "ValueError" and text.startswith("matmul: "):
        return MATMUL
    if sys.platform == "emscripten" and text in IN_A_BROWSER:
        return IN_A_BROWSER[text]
    return ADVICE.get(kind, "")


def missing(function: str, module: str) -> str:
    return f"There is no function `{function}` in `{module}.py`: define it with this name, outside of any class or other function."
