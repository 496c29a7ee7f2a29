"""What a student's code has said (the text of an error), made fit to be shown: the one cleaner of this package; and numbers.

It is on one line, short, and no mark in it has a meaning; folders of the machine and addresses in memory are taken out. Names of
files are cleaned by submissions/text.py, which this builds on.
"""

import re
from collections.abc import Sequence

from autograder.submissions.text import markdown, printable

_QUOTED = re.compile(r"(['\"])((?:[A-Za-z]:)?[\\/][^'\"]*)(?:\1|$)")
_PLACE = re.compile(r"(?<![\w.])(?:[A-Za-z]:)?(?:[\\/][^\s'\"<>|*?:,;()\\/]+)+[\\/]?")
_FILE = re.compile(r"([^\\/]+\.\w{1,5})[\\/]?$")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{4,}")
LONGEST = 200  # characters of a student's text in a message


def said(text: str) -> str:
    """A student's text for a page in Markdown."""
    return markdown(_without_places(text), LONGEST)


def said_in_code(text: str) -> str:
    """A student's text for a block of code, which it cannot end."""
    return printable(_without_places(text), " ", LONGEST).replace("```", "'''")


def _without_places(text: str) -> str:
    """The text without folders: of a path only the name of the file is left, which is enough to find it at home.

    The sandbox's folder has another name in every run, and where the grader lies on its machine is nobody's business.
    """
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
