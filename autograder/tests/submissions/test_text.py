"""Student text cannot inject markup, formulas or control codes, end a code block, or reveal folders of the machine."""

import html
import re
from collections.abc import Callable

import pytest
from markdown_it import MarkdownIt

from autograder.submissions.submission import Student
from autograder.submissions.text import (
    as_code,
    cell,
    cleaned_code,
    counted,
    few,
    listed,
    markdown,
    number,
    printable,
    without_places,
)


@pytest.mark.parametrize(
    "text", ["www.evil.example", "see WWW.evil.example", "write to a.b@evil.example", "https://evil.example", "ftp://a.example"]
)  # fmt: skip
def test_addresses_do_not_become_links(text: str) -> None:
    """See "Autolinks (extension)" in the GitHub Flavored Markdown specification."""
    assert not re.search(r"(?i)www\.|://|[\w.+-]@[\w-]+\.", markdown(without_places(text)))
    assert markdown("the shape of x@w is no mail, www or http") == "the shape of x@w is no mail, www or http"


@pytest.mark.parametrize("clean", [lambda text: markdown(without_places(text)), cleaned_code])
def test_cleaned_text_is_one_short_line_without_code_fences(clean: Callable[[str], str]) -> None:
    text = clean("a\nb```" + "y" * 5000)
    assert len(text) <= 210 and "\n" not in text and "```" not in text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("[Errno 2] No such file or directory: '/tmp/autograder-x1/files/data.npy'", "'data.npy'"),
        ("cannot open /tmp/autograder-x1/files/data.npy now", "cannot open data.npy now"),
        ("in '/Users/Jane Doe/kit/sandbox/child.py'", "in 'child.py'"),
        (r"C:\Users\jane\kit\solutions\layernorm.py", "layernorm.py"),
        ("not a folder: /tmp/autograder-x1/files/", "not a folder: ..."),
        ("file:///tmp/autograder-x1/a.txt", "file://a.txt"),
        ("<function f at 0x7f21a7c3e840>", "at 0x..."),
    ],
)
def test_folders_and_memory_addresses_are_removed(text: str, left: str) -> None:
    for private in ("autograder-x1", "Jane", "jane", "/tmp", "0x7f"):
        assert private not in cleaned_code(text)
    assert left in cleaned_code(text)


@pytest.mark.parametrize("text", ["division by zero", "1/2 and/or 3 / 4", "shapes (2,3) and (4,) not aligned: 3 != 4"])
def test_harmless_text_is_unchanged(text: str) -> None:
    assert cleaned_code(text) == text


def test_printable_is_one_line_without_control_or_bidi_characters() -> None:
    assert printable("a\x1b[31m\u202eb\n\ud800c") == "a?[31m?b??c"
    assert printable("李 小龍 é🧮") == "李 小龍 é🧮"
    assert printable("x" * 650_000, most=300) == "x" * 297 + "..."


def test_shown_name_is_short_and_has_no_markup() -> None:
    assert as_code("a`<b>|*[c]\\_d.py") == "a??b????c??_d.py"
    assert len(as_code("n" * 500)) == 60


@pytest.mark.parametrize("text", [
    r"[x](http://a)", r"\[x](http://a)", r"\\[x](http://a)", "**b**", "_b_", "`c`", "~~d~~", "#e", "| f |", "<b>&lt;",
])  # fmt: skip
def test_markdown_escapes_all_markup(text: str) -> None:
    reader = MarkdownIt("commonmark").enable(["strikethrough", "table"])
    assert reader.render(markdown(text)) == f"<p>{html.escape(text.replace('://', ': //'))}</p>\n"


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "  =1", "＝1", "\n=1", "Ada;=cmd()", 'a;"=b"']
)
def test_cell_is_never_a_formula_even_after_a_semicolon(text: str) -> None:
    found = str(cell(text))
    for part in found.split(";"):
        assert not part.lstrip(' "').startswith(("=", "+", "-", "@", "＝"))


def test_cell_drops_control_characters_and_keeps_numbers() -> None:
    assert cell("a\x1b[31m\u202eb\0c\nd") == "a[31mbc d"
    assert (cell(-1.5), cell('O\'Neil, "Pat"; x'), cell("")) == (-1.5, 'O\'Neil, "Pat"; x', "")


@pytest.mark.parametrize(("value", "text"), [
    (number(2.0), 2), (number(2.5), 2.5), (number(0.1 + 0.2), 0.3), (counted(1, "file"), "1 file"), (counted(0, "file"), "0 files"),
    (counted(2.5, "point"), "2.5 points"), (few("abc", 3), "a, b, c"), (few("abcd", 3), "a, b, c and 1 more"),
    (listed("a"), "a"), (listed("aba"), "a and b"), (listed("abc", "or"), "a, b or c"), (listed(""), ""),
    (Student("Ada", "1", "a@x"), "Ada (a@x)"), (Student("", "1"), "(1)"), (Student("1", "1"), "1"), (Student(), "nobody"),
    (cell("a\x1b[31m\u202eb\0c\nd"), "a[31mbc d"),
])  # fmt: skip
def test_numbers_lists_and_people_in_sentences(value: object, text: object) -> None:
    assert str(value) == str(text)
