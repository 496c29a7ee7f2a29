"""What the text of a file says: that it is no Python (a notebook, its marks, another encoding), which functions are not written."""

import ast
import codecs
import re
from collections.abc import Sequence


def no_python(data: bytes, name: str) -> str:
    """A sentence about what a file is instead of Python; "" where it can be read, or its error needs no other words."""
    if not data.strip():
        return f"{name} is blank: save your work in it"
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
    code = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    if code.startswith(("%", "!")):
        return f"{name}, line {line} is for notebooks only: {code[:60]}"
    if code.startswith(">>>"):
        return f"{name}, line {line} begins with the prompt >>> of Python: remove it"
    return ""


def definitions(data: bytes) -> dict[str, list[ast.FunctionDef]]:
    """The functions of a file by name, each as often as it is defined; none where it cannot be read."""
    try:
        body = ast.parse(data).body
    except (ValueError, SyntaxError, RecursionError, MemoryError):  # the last two of a text that is nested too deeply
        return {}
    by_name: dict[str, list[ast.FunctionDef]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            by_name.setdefault(node.name, []).append(node)
    return by_name


def is_stub(function: ast.FunctionDef) -> bool:
    """Whether nothing but a docstring stands in it, with an error or with a return of nothing or of an argument as it is."""
    texts = [node for node in function.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    body = [node for node in function.body if node not in texts and not isinstance(node, ast.Pass)]
    text, names = ast.unparse(ast.Module(body, [])), [argument.arg for argument in function.args.args]
    raises = len(body) == 1 and isinstance(body[0], ast.Raise) and "SystemExit" not in text
    return raises or text in ("", "return", "return None", *(f"return {name}" for name in names))


def twice(function: str, nodes: Sequence[ast.FunctionDef]) -> str:
    """A sentence about a function that is defined several times; "" where it is not."""
    lines = " and ".join(str(node.lineno) for node in nodes)
    return f"`{function}` is defined in lines {lines}: only the last one counts." if len(nodes) > 1 else ""
