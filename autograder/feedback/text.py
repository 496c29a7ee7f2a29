"""Prepares a student's text, such as an error message, for display, and formats numbers and lists.

The text becomes one short line without markup, folders and memory addresses. submissions/text.py cleans file names.
"""

import re
from collections.abc import Sequence

from autograder.submissions.text import markdown, printable

_QUOTED = re.compile(r"(['\"])((?:[A-Za-z]:)?[\\/][^'\"]*)(?:\1|$)")
_PLACE = re.compile(r"(?<![\w.])(?:[A-Za-z]:)?(?:[\\/][^\s'\"<>|*?:,;()\\/]+)+[\\/]?")
_FILE = re.compile(r"([^\\/]+\.\w{1,5})[\\/]?$")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{4,}")
LONGEST = 200  # characters of a student's text in a message


def cleaned(text: str) -> str:
    """A student's text for a page in Markdown."""
    return markdown(_without_places(text), LONGEST)


def cleaned_code(text: str) -> str:
    """A student's text for a code block, which it cannot end."""
    return printable(_without_places(text), " ", LONGEST).replace("```", "'''")


def _without_places(text: str) -> str:
    """The text without folders, which are private or differ in every run: only file names remain."""
    text = _QUOTED.sub(lambda match: f"{match[1]}{_name(match[2])}{match[1]}", text)
    text = _PLACE.sub(lambda match: _name(match[0]), text)
    return _ADDRESS.sub("0x...", text)


def _name(path: str) -> str:
    match = _FILE.search(path)
    return match[1] if match else "..."


def number(points: float) -> float | int:
    """Points without a needless fraction."""
    return int(points) if float(points).is_integer() else round(points, 6)


def listed(names: Sequence[str]) -> str:
    """Each name once: "a", "a and b", "a, b and c"."""
    each = list(dict.fromkeys(names))
    return " and ".join(filter(None, (", ".join(each[:-1]), *each[-1:])))
