"""What a student may have chosen (names of files, texts of errors), made fit to be printed, marked up or put into a table.

Everything that leaves the kit passes one of these functions: a control character can steer a terminal, a change of
direction can turn a name around, a mark can become a link, and a formula runs when a table is opened.
"""

import re

FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
NAME_LENGTH = 60  # characters of a file name that a message shows
_UNSEEN = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
# A space here takes apart what many readers of Markdown make a link of, without any mark: www., a mail address, https://.
_LINKS = re.compile(r"(?i)(?<=www)(?=\.)|(?<=[\w.+-])(?=@[\w-]+\.)|(?<=:)(?=//)")
_MARKS = re.compile(r"([\\`*_\[\]|#~])")


def page(text: str) -> str:
    """A text of many lines as a file may have it: without what steers a terminal, changes the direction of text or is not seen."""
    return _UNSEEN.sub("?", text)


def printable(text: str, instead: str = "?", most: int = 100_000) -> str:
    """One line without control characters, half characters and changes of direction, cut to `most` characters."""
    # Cut first: a text of many megabytes is never looked at whole.
    clean = "".join(c if c.isprintable() else instead for c in text[: most + 1])
    return clean if len(clean) <= most else clean[: most - 3] + "..."


def shown(name: str) -> str:
    """The name of a student's file between marks of code, where Markdown has neither links nor entities: short, on one line."""
    return re.sub(r"[`<>|*\[\]\\]", "?", printable(name, most=NAME_LENGTH))


def markdown(text: str, most: int = 200) -> str:
    """Text in a Markdown page as it is: no mark in it has a meaning, no address is a link, and no HTML."""
    clean = printable(_LINKS.sub(" ", printable(text, instead=" ", most=most)), most=most)
    # The backslash is escaped like every other mark: before a bracket it would take the escape for itself.
    return _MARKS.sub(r"\\\1", clean.replace("&", "&amp;")).replace("<", "&lt;").replace(">", "&gt;")


def cell(value: object) -> object:
    """A cell of a csv on one line that no spreadsheet takes for a formula; what is no text stays as it is.

    A spreadsheet that splits at semicolons or tabs sees further cells in one text, so the rule holds for each of them.
    """
    if not isinstance(value, str):
        return value
    text = printable(re.sub(r"[\t\r\n\v\f]+", " ", value), instead="")
    parts = [f"'{part}" if part.lstrip(' "').startswith(FORMULA) else part for part in text.split(";")]
    return ";".join(parts)
