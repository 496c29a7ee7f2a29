"""Makes text that a student may have chosen (file names, error messages) safe to print, mark up or put into a table.

All output of the kit passes one of these functions: control characters can steer a terminal, bidirectional characters can reverse
a name, markup can become a link, and a spreadsheet runs formulas.
"""

import re

FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
NAME_LENGTH = 60  # characters of a file name in a message
_UNSEEN = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
# A space here breaks anything that Markdown renderers turn into a link: www., a mail address, https://.
_LINKS = re.compile(r"(?i)(?<=www)(?=\.)|(?<=[\w.+-])(?=@[\w-]+\.)|(?<=:)(?=//)")
_MARKS = re.compile(r"([\\`*_\[\]|#~])")


def page(text: str) -> str:
    """A text of many lines without control, bidirectional and invisible characters."""
    return _UNSEEN.sub("?", text)


def printable(text: str, instead: str = "?", most: int = 100_000) -> str:
    """One line without control, surrogate and bidirectional characters, cut to `most` characters."""
    # Cut first: a text of many megabytes is never processed as a whole.
    clean = "".join(c if c.isprintable() else instead for c in text[: most + 1])
    return clean if len(clean) <= most else clean[: most - 3] + "..."


def shown(name: str) -> str:
    """The name of a student's file as Markdown code: short, on one line."""
    return re.sub(r"[`<>|*\[\]\\]", "?", printable(name, most=NAME_LENGTH))


def markdown(text: str, most: int = 200) -> str:
    """Text for a Markdown page, without markup, links or HTML."""
    clean = printable(_LINKS.sub(" ", printable(text, instead=" ", most=most)), most=most)
    # The backslash is escaped too: before a bracket it would use up the escape.
    return _MARKS.sub(r"\\\1", clean.replace("&", "&amp;")).replace("<", "&lt;").replace(">", "&gt;")


def cell(value: object) -> object:
    """A CSV cell on one line that no spreadsheet interprets as a formula; values other than strings stay unchanged.

    A spreadsheet may split a string at semicolons, so the rule applies to each part.
    """
    if not isinstance(value, str):
        return value
    text = printable(re.sub(r"[\t\r\n\v\f]+", " ", value), instead="")
    parts = [f"'{part}" if part.lstrip(' "').startswith(FORMULA) else part for part in text.split(";")]
    return ";".join(parts)
