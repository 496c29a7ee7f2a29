"""What the text of a file says: that it is no Python (a notebook, its marks, another encoding), which functions are not written."""

import ast
import codecs
import re
import warnings
from collections.abc import Sequence

# What a text that is no Python, or is nested too deeply, raises where it is parsed, compiled or written out again.
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def parsed(text: bytes | str) -> ast.Module | None:
    """What a student's text says, read without warnings; None where it cannot be read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except UNREADABLE:
            return None


def no_python(data: bytes, name: str) -> str:
    """A sentence about what a file is instead of Python; "" where it can be read, or its error needs no other words."""
    if not data.strip():
        return f"{name} is blank: save your work in it"
    try:
        ast.parse(data)
    except UNREADABLE as error:
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
    code = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    if code.startswith(("%", "!")):
        return f"{name}, line {line} is for notebooks only: {code[:60]}"
    if code.startswith(">>>"):
        return f"{name}, line {line} begins with the prompt >>> of Python: remove it"
    return ""


def definitions(data: bytes) -> dict[str, list[ast.FunctionDef]]:
    """The functions of a file by name, each as often as it is defined; none where it cannot be read."""
    tree, by_name = parsed(data), dict[str, list[ast.FunctionDef]]()
    for node in tree.body if tree else ():
        if isinstance(node, ast.FunctionDef):
            by_name.setdefault(node.name, []).append(node)
    return by_name


def is_stub(function: ast.FunctionDef) -> bool:
    """Whether nothing but a docstring stands in it, with an error or with a return of nothing or of an argument as it is."""
    texts = [node for node in function.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    body = [node for node in function.body if node not in texts and not isinstance(node, ast.Pass)]
    only = body[0] if len(body) == 1 else None
    if isinstance(only, ast.Raise):
        return not any(isinstance(node, ast.Name) and node.id == "SystemExit" for node in ast.walk(only))
    if isinstance(only, ast.Return):
        value, names = only.value, [argument.arg for argument in function.args.args]
        nothing = value is None or (isinstance(value, ast.Constant) and value.value is None)
        return nothing or (isinstance(value, ast.Name) and value.id in names)
    return not body


def twice(function: str, nodes: Sequence[ast.FunctionDef]) -> str:
    """A sentence about a function that is defined several times; "" where it is not."""
    lines = " and ".join(str(node.lineno) for node in nodes)
    return f"`{function}` is defined in lines {lines}: only the last one counts." if len(nodes) > 1 else ""
