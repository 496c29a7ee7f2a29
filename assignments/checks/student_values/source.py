"""What a file has that should be Python and is not: a notebook, its marks, another encoding, modules that the grader lacks."""

import ast
import codecs
import re
import sys
from collections.abc import Collection, Iterator


def no_python(data: bytes, name: str) -> str:
    """A sentence about what a file is instead of Python; "" where it can be read, or its error needs no other words."""
    try:
        ast.parse(data)
    except (SyntaxError, ValueError) as error:
        return instead_of_python(data, name, getattr(error, "lineno", 0) or 0)
    return instead_of_python(data, name)


def instead_of_python(data: bytes, name: str, line: int = 0) -> str:
    """The same of a file in which Python has stopped at a line, 0 if at none; the file is not parsed here."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return f"{name} is saved as UTF-16: save it as UTF-8"
    text = data.decode("utf-8", "replace")
    if re.match(r'\s*\{\s*"(cells|metadata|nbformat)"', text):
        return f"{name} is a notebook: copy the code of its cells into a new file {name}"
    lines = text.splitlines()
    found = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    if found.startswith(("%", "!")):
        return f"{name}, line {line} is for notebooks only: {found[:60]}"
    if found.startswith(">>>"):
        return f"{name}, line {line} begins with the prompt >>> of Python: remove it"
    return ""


def not_there(data: bytes, own: Collection[str]) -> Iterator[tuple[int, str]]:
    """Line and name of the modules that a file imports and the grader has not; `own` are the student's.

    What stands in a `try`, or below `if __name__`, may fail without harm.
    """
    try:
        waiting: list[ast.AST] = [ast.parse(data)]
    except (SyntaxError, ValueError):
        return
    there = {"numpy", *own, *sys.stdlib_module_names}
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.Try) or (isinstance(node, ast.If) and "__name__" in ast.dump(node.test)):
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            of = getattr(node, "module", None)  # of `from a.b import c`; None also in `from . import c`
            names = [of] if of else [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            tops = [name.partition(".")[0] for name in names]
            yield from ((node.lineno, top) for top in tops if top not in there)
        waiting += ast.iter_child_nodes(node)
