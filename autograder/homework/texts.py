"""Texts of functions, and edits of them."""

import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from types import CodeType
from typing import Any


def text_of(function: Callable[..., Any]) -> str:
    """The text of a function without its decorators."""
    lines = textwrap.dedent(inspect.getsource(function)).splitlines(keepends=True)
    start = next(number for number, line in enumerate(lines) if line.startswith("def "))
    return "".join(lines[start:])


@cache
def compiled(text: str, name: str) -> CodeType:
    """The code of a function's text."""
    return compile(text, f"<a version of {name}>", "exec")


def is_python(text: str) -> bool:
    try:
        compile(text, "<text>", "exec")
    except SyntaxError:
        return False
    return True


def edited(text: str, edits: Sequence[tuple[str, str]]) -> str | None:
    """The text with all edits made at once; None where two of them change the same letters."""
    spans = sorted((start, start + len(old), new) for old, new in edits for start in places(text, old))
    if any(one[1] > other[0] for one, other in pairwise(spans)):
        return None
    for start, end, new in reversed(spans):
        text = text[:start] + new + text[end:]
    return text


def places(text: str, old: str) -> Iterator[int]:
    start = text.find(old)
    while start >= 0:
        yield start
        start = text.find(old, start + len(old))
