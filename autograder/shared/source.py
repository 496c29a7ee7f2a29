"""Analyzes a student's file: the module it was meant for, whether it is Python, and unimplemented functions."""

import ast
import codecs
import re
import unicodedata
import warnings
from collections.abc import Sequence
from encodings.aliases import aliases
from pathlib import PurePosixPath
from threading import Lock

# The errors of parsing, compiling or unparsing invalid or deeply nested source.
UNWRITTEN = ("NotImplementedError", "NotImplemented")  # raised by a function that is still to be written
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)

# A file may declare its codec, and some of Python's codecs take quadratic time. Only these are used.
CODECS = {"utf_8", "latin_1", "cp1252", "ascii"}
_DECLARED = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_COMMENT = re.compile(rb"[ \t\f]*(#.*)?")
_LINES = re.compile(r"\r\n|\r|\n")
_PARSING = Lock()  # threads that parse at once count one another's nesting in Python 3.11: python/cpython#106905


def rename_advice(name: str, file: str) -> str:
    """Advice on renaming a misnamed file."""
    is_notebook = PurePosixPath(name).suffix.lower() == ".ipynb"
    return f"that is a notebook: copy its code into a file {file}" if is_notebook else f"rename it to {file}"


def resembles(name: str, module: str) -> bool:
    """Return whether a name is like my_module: `MyModule.py`, `my_module (1).py`, `my-module.py.txt`, `my_module_final.py`."""
    stem = PurePosixPath(name).name.lower().split(".")[0]
    letters = "".join(c for c in unicodedata.normalize("NFKD", stem) if c.isalpha())
    name = module.replace("_", "")
    return letters.startswith(name) or letters.endswith(name)


def declared_encoding(data: bytes) -> str:
    """Return the encoding declared in the first two lines (PEP 263), as written; "" if none."""
    for line in re.split(rb"\r\n|\r|\n", data.removeprefix(codecs.BOM_UTF8), maxsplit=2)[:2]:
        if declared := _DECLARED.match(line):
            return declared[1].decode("ascii", "replace")
        if not _COMMENT.fullmatch(line):
            break
    return ""


def codec(declared: str) -> str:
    """Return the codec of a declared encoding, UTF-8 if none is declared; "" for an unsupported one."""
    name = declared.lower().replace("-", "_") or "utf_8"
    name = re.sub(r"^(utf_8|latin_1|iso_8859_1|iso_latin_1)_.*", r"\1", name)  # like Python: Emacs writes utf-8-unix
    name = "latin_1" if name == "iso_latin_1" else aliases.get(name, name)
    return name if name in CODECS else ""


def decoded(data: bytes) -> str:
    """Return the text of a Python file. Raises SyntaxError or ValueError if it cannot be decoded."""
    name, bom = codec(declared_encoding(data)), data.startswith(codecs.BOM_UTF8)
    if not name or (bom and name != "utf_8"):
        raise SyntaxError(f"encoding problem: {declared_encoding(data)}")
    return data.decode("utf-8-sig" if bom else name)


def parsed(text: bytes | str) -> ast.Module | None:
    """Return the syntax tree of a student's source, without warnings; None if it is invalid."""
    with _PARSING, warnings.catch_warnings(action="ignore"):
        try:
            return ast.parse(decoded(text) if isinstance(text, bytes) else text)
        except UNREADABLE:
            return None


def no_python(data: bytes, name: str) -> str:
    """Return a sentence about a file that is not Python; "" if it is, or if its SyntaxError is clear enough."""
    if not data.strip():
        return f"{name} is blank: save your work in it"
    text = data.rstrip(b"\0")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or 3 * text.count(0) > len(text):
        return f"{name} is saved as UTF-16: save it as UTF-8"
    line = 0
    try:
        ast.parse(decoded(data))
    except UNREADABLE as error:
        line = getattr(error, "lineno", 0) or 0
    try:
        decoded(data)
    except (SyntaxError, ValueError):
        if codec(declared := declared_encoding(data)) == "utf_8":
            return f"{name} is not saved as UTF-8: save it again with that encoding"
        return f"{name} declares the encoding {declared}: delete that line and save the file as UTF-8"
    lines = text_lines(data)
    if b"\0" in data:
        at = next(number for number, text in enumerate(lines, 1) if "\0" in text)
        return f"{name} contains null bytes from line {at} on: copy its text into a new file {name}"
    if re.match(r'\s*\{\s*"(cells|metadata|nbformat)"', "\n".join(lines)):
        return f"{name} is a notebook: copy the code of its cells into a new file {name}"
    code = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    if code.startswith(("%", "!")):
        return f"{name}, line {line} is for notebooks only: {code[:60]}"
    if code.startswith(">>>"):
        return f"{name}, line {line} begins with Python's prompt >>>: remove it"
    return ""


def text_lines(data: bytes) -> list[str]:
    """Return the lines of a file as Python counts them; undecodable bytes are replaced."""
    return _LINES.split(data.decode(codec(declared_encoding(data)) or "utf-8", "replace").removeprefix("\ufeff"))


def definitions(data: bytes) -> dict[str, list[ast.FunctionDef]]:
    """Return the functions of a file by name, once per definition; none if it is invalid."""
    tree, by_name = parsed(data), dict[str, list[ast.FunctionDef]]()
    for node in tree.body if tree else ():
        if isinstance(node, ast.FunctionDef):
            by_name.setdefault(node.name, []).append(node)
    return by_name


def is_stub(function: ast.FunctionDef) -> bool:
    """Return whether a function has only a docstring, an error, or a return of nothing or of an unchanged argument."""
    texts = [node for node in function.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    match [node for node in function.body if node not in texts and not isinstance(node, ast.Pass)]:
        case [] | [ast.Return(value=None | ast.Constant(value=None))]:
            return True
        case [ast.Raise() as error]:
            return any(isinstance(node, ast.Name) and node.id in UNWRITTEN for node in ast.walk(error))
        case [ast.Return(value=ast.Name(id=name))]:
            return name in [argument.arg for argument in function.args.args]
    return False


def repeated_definition(function: str, nodes: Sequence[ast.FunctionDef]) -> str:
    """Return a sentence about a function that is defined more than once; "" if it is not."""
    lines = " and ".join(str(node.lineno) for node in nodes)
    return f"`{function}` is defined on lines {lines}: only the last definition counts." if len(nodes) > 1 else ""
