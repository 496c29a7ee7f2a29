"""What is said about an exception: its built-in names, its text, and where in a folder's files it arose."""

import ast
import builtins
import errno
import os
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FrameType, TracebackType

MAX_TEXT = 300  # characters
MAX_PASSED, MAX_NAME = 16, 64  # functions that an error is said to have passed through, and characters of their names
NO_LINE = "EOF when reading a line"  # what Python says where nobody answers `input()`
NO_INPUT = "Nobody answers `input()` while a submission is graded: delete the call."
CIRCULAR = "Modules import one another: import only from files that stand higher up in the README's table."
NOT_ALLOWED = (
    "Homework code may not use other processes, sockets, pipes, event loops, or files outside its temporary folder."
)
NOT_RUN = "which the grader does not run"
ADVICE = {
    "MemoryError": "It needs more memory than is allowed: look for an array that is far larger than the result.",
    "RecursionError": "It calls itself without an end.",
    "PermissionError": NOT_ALLOWED,
    "BlockingIOError": "Homework code may not start processes, and only a few threads.",
    "SystemExit": "Homework code may not end Python: delete the call of `exit()`, `quit()` or `sys.exit()`.",
    "ModuleNotFoundError": "The grader has NumPy, the standard library and your own files only: use nothing else.",
}


def builtin_kinds(error: BaseException) -> list[str]:
    """The built-in classes of an error by name, the most special first."""
    classes = [cls for cls in type(error).__mro__ if issubclass(cls, BaseException)]
    kinds = [cls.__name__ for cls in classes if getattr(builtins, cls.__name__, None) is cls]
    return kinds or ["Exception"]


def text_of(error: BaseException, own: Callable[[str], bool] = lambda _: False) -> str:
    """The text of an error, cut; "" where even that raises an error. `own` says which files are one's own."""
    try:
        if _is_refused(error):
            function = _called(error.__traceback__, own)
            return f"it uses {function}, {NOT_RUN}" if function else str(error)[:MAX_TEXT]
        return str(error.msg if isinstance(error, SyntaxError) else error)[:MAX_TEXT]
    except BaseException:
        return ""


def _is_refused(error: BaseException | None) -> bool:
    """Whether the system has refused something that is no file, which the standard library may say in an error of its own."""
    of_system = isinstance(error, PermissionError) and error.errno == errno.EPERM and error.filename is None
    of_network = type(error).__name__ == "gaierror"
    return isinstance(error, OSError) and (of_system or of_network or _is_refused(error.__context__))


def _called(trace: TracebackType | None, own: Callable[[str], bool]) -> str:
    """The function of the standard library that the last step in one's own files has called; "" where it has called none."""
    function, is_next = "", False
    while trace is not None:
        code, module = trace.tb_frame.f_code, str(trace.tb_frame.f_globals.get("__name__", ""))
        if own(code.co_filename):
            function, is_next = "", True
        elif is_next:
            known = module.partition(".")[0] in sys.stdlib_module_names
            name = f"{module}.{code.co_qualname}".removesuffix(".__init__")
            function, is_next = name[:MAX_NAME] if known else "", False
        trace = trace.tb_next
    return function


def place(trace: TracebackType | None, own: Callable[[str], bool]) -> tuple[str, int]:
    """File and line of the last step in one's own files; while a file is imported, the last one outside of functions."""
    place, importing = ("", 0), False
    while trace is not None:
        code = trace.tb_frame.f_code
        outside = code.co_name == "<module>"
        if own(code.co_filename) and (outside or not importing):
            place, importing = (os.path.basename(code.co_filename), trace.tb_lineno), outside
        trace = trace.tb_next
    return place


def passed(error: BaseException, own: Callable[[str], bool]) -> list[str]:
    """The names of the functions in one's own files that an error passed through, from the one that raised it outwards.

    Before them stands the name that a NameError did not find.
    """
    names, trace = [], error.__traceback__
    while trace is not None:
        if own(trace.tb_frame.f_code.co_filename):
            names.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    missing = [error.name] if isinstance(error, NameError) and isinstance(error.name, str) else []
    return [name[:MAX_NAME] for name in (*missing, *reversed(names))][:MAX_PASSED]


def loop(frame: FrameType | None, own: Callable[[str], bool]) -> tuple[str, int]:
    """File and line of the loop in which a file that is one's own is running; ("", 0) where it is in none.

    It is the outermost one, a `while` before a `for`: where in a loop a call is interrupted is chance.
    """
    loops: list[tuple[str, ast.While | ast.For]] = []
    while frame is not None:
        name, line = frame.f_code.co_filename, frame.f_lineno
        if own(name):
            around = (node for node in _loops(name) if node.lineno <= line <= (node.end_lineno or 0))
            loops += [(os.path.basename(name), node) for node in around]
        frame = frame.f_back
    chosen = [entry for entry in loops if isinstance(entry[1], ast.While)] or loops
    return (chosen[-1][0], chosen[-1][1].lineno) if chosen else ("", 0)


@cache
def _loops(name: str) -> list[ast.While | ast.For]:
    """The loops of a file, the last first: a file is read once, however many frames lead through it."""
    try:
        nodes = ast.walk(ast.parse(Path(name).read_bytes()))
    except (OSError, SyntaxError, ValueError):
        return []
    return sorted((node for node in nodes if isinstance(node, ast.While | ast.For)), key=lambda node: -node.lineno)


def advice(kind: str, text: str) -> str:
    """What to do about an error of which the kind or the text says it; "" for others."""
    if "partially initialized module" in text:
        return CIRCULAR
    if (kind, text) == ("EOFError", NO_LINE):
        return NO_INPUT
    if text.endswith(NOT_RUN):
        return NOT_ALLOWED
    return ADVICE.get(kind, "")


def missing(function: str, module: str) -> str:
    return f"There is no function `{function}` in `{module}.py`: check its name."


def no_such_call(function: str, parameters: str) -> str:
    """Of a function that does not take the arguments that its docstring names."""
    return (
        f"Its arguments are not those of `{function}({parameters})`: check their names, their order and their number."
    )


def in_words(kind: str, text: str) -> str:
    """The first line of an error's text; what NumPy says of @, np.matmul and np.dot by "core dimension", in words about shapes."""
    text = text.partition("\n")[0]
    if kind != "ValueError":
        return text
    sizes = re.search(r"^matmul.*operand 1 .*core dimension (\d).*\(size (\d+) is different from (\d+)\)", text)
    if sizes:
        return f"in a @ b the last axis of a (here {sizes[3]}) must be as long as the last axis but one of b (here {sizes[2]})"
    axes = re.search(r"^matmul: Input operand ([01]) does not have enough dimensions", text)
    if axes:
        return f"a @ b is for arrays; here {'ab'[int(axes[1])]} is a single number"
    shapes = re.search(r"remapped shapes \[original->remapped\]: (\([\d,]*\))->\S* (\([\d,]*\))->", text)
    if shapes:
        return f"in a @ b all axes but the last two must agree; the shapes are {shapes[1]} and {shapes[2]}"
    return text
