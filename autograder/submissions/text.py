"""Makes text that a student may have chosen (file names, error messages) safe to print, mark up or put into a table.

All output of the kit passes one of these functions, or `write_atomically` in autograder/files.py: control characters can
steer a terminal, bidirectional characters can reverse a name, markup can become a link, and a spreadsheet runs formulas.
"""

import re
from collections.abc import Iterable, Sequence

FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
NAME_LENGTH = 60  # characters of a file name in a message
LONGEST = 200  # characters of a student's text in a message
# A space here breaks anything that Markdown renderers turn into a link: www., a mail address, https://.
_LINKS = re.compile(r"(?i)(?<=www)(?=\.)|(?<=[\w.+-])(?=@[\w-]+\.)|(?<=:)(?=//)")
_MARKS = re.compile(r"([\\`*_\[\]|#~])")


def printable(text: str, instead: str = "?", most: int = 100_000) -> str:
    """One line without control, surrogate and bidirectional characters, cut to `most` characters."""
    # Cut first: a text of many megabytes is never processed as a whole.
    clean = "".join(c if c.isprintable() else instead for c in text[: most + 1])
    return clean if len(clean) <= most else clean[: most - 3] + "..."


def as_code(name: str) -> str:
    """Return the name of a student's file as Markdown code: short, on one line."""
    return re.sub(r"[`<>|*\[\]\\]", "?", printable(name, most=NAME_LENGTH))


def unlinked(text: str) -> str:
    """One line of text in which no address becomes a link."""
    return printable(_LINKS.sub(" ", printable(text, instead=" ", most=LONGEST)), most=LONGEST)


def markdown(text: str) -> str:
    """Text for a Markdown page, without markup, links or HTML."""
    # The backslash is escaped too: before a bracket it would use up the escape.
    return _MARKS.sub(r"\\\1", unlinked(text).replace("&", "&amp;")).replace("<", "&lt;").replace(">", "&gt;")


def cell(value: object) -> object:
    """Return a CSV cell on one line that no spreadsheet interprets as a formula; values other than strings stay unchanged.

    A spreadsheet may split a string at semicolons, so the rule applies to each part.
    """
    if not isinstance(value, str):
        return value
    text = printable(re.sub(r"[\t\r\n\v\f]+", " ", value), instead="")
    parts = [f"'{piece}" if piece.lstrip(' "').startswith(FORMULA) else piece for piece in text.split(";")]
    return ";".join(parts)


_QUOTED = re.compile(r"(['\"])((?:[A-Za-z]:)?[\\/][^'\"]*)(?:\1|$)")
_PLACE = re.compile(r"(?<![\w.])(?:[A-Za-z]:)?(?:[\\/][^\s'\"<>|*?:,;()\\/]+)+[\\/]?")
_FILE = re.compile(r"([^\\/]+\.\w{1,5})[\\/]?$")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{4,}")


def cleaned_code(text: str) -> str:
    """Return a student's text for a code block, which it cannot end."""
    return printable(without_places(text), " ", LONGEST).replace("```", "'''")


def without_places(text: str) -> str:
    """Return the text without folders, which are private or differ in every run: only file names remain."""
    text = _QUOTED.sub(lambda match: f"{match[1]}{_name(match[2])}{match[1]}", text)
    text = _PLACE.sub(lambda match: _name(match[0]), text)
    return _ADDRESS.sub("0x...", text)


def _name(path: str) -> str:
    match = _FILE.search(path)
    return match[1] if match else "..."


def number(points: float) -> float | int:
    """Points, as an int if they are whole."""
    return int(points) if float(points).is_integer() else round(points, 6)


def counted(count: float, what: str) -> str:
    """Return a count with its unit: "1 file", "2 files"."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def few(names: Sequence[str], most: int) -> str:
    """Return the first names, and how many others there are: "a, b and 3 more"."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def listed(names: Iterable[str], word: str = "and") -> str:
    """Each name once: "a", "a and b", "a, b and c"."""
    each = list(dict.fromkeys(names))
    return f" {word} ".join(filter(None, (", ".join(each[:-1]), *each[-1:])))
