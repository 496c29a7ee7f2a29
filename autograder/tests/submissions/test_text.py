"""What a student chose can steer no terminal, is no markup and no formula, and stays readable."""

import pytest

from autograder.submissions.text import cell, markdown, page, printable, shown


def test_printable_is_one_line_without_control_and_direction() -> None:
    assert printable("a\x1b[31m\u202eb\n\ud800c") == "a?[31m?b??c"
    assert printable("李 小龍 é🧮") == "李 小龍 é🧮"
    assert printable("x" * 650_000, most=300) == "x" * 297 + "..."


def test_a_page_has_lines_but_no_control_and_direction() -> None:
    assert page("a\x1b[31m\n\tb\u202ec\x9b\u2066é") == "a?[31m\n\tb?c??é"
    assert page("a\u200b\u2060\ufeff\xad\u2028\U000e0041b") == "a??????b"


def test_shown_name_is_short_and_has_no_markup() -> None:
    assert shown("a`<b>|*[c]\\_d.py") == "a??b????c??_d.py"
    assert len(shown("n" * 500)) == 60


@pytest.mark.parametrize(
    "text", [r"[x](http://a)", r"\[x](http://a)", r"\\[x](http://a)", "**b**", "`c`", "~~d~~", "#e"]
)
def test_markdown_takes_every_mark_for_a_letter(text: str) -> None:
    """Read back as a Markdown reader does: a backslash before a mark stands for the mark."""
    escaped = markdown(text)
    plain, position = "", 0
    while position < len(escaped):
        position += escaped[position] == "\\"
        plain += escaped[position]
        position += 1
    assert plain == text.replace("://", ": //")
    assert not [at for at, c in enumerate(escaped) if c in "[]*`~#" and (at == 0 or escaped[at - 1] != "\\")]


@pytest.mark.parametrize("text", ["www.evil.example", "me@evil.example", "https://evil.example"])
def test_markdown_has_no_address(text: str) -> None:
    assert markdown(text).split() != [text] and markdown(text).replace(" ", "") == text


def test_markdown_has_no_html() -> None:
    assert markdown("<b>&lt;") == "&lt;b&gt;&amp;lt;"


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "  =1", "＝1", "\n=1", "Ada;=cmd()", 'a;"=b"']
)
def test_no_cell_is_a_formula_not_even_after_a_semicolon(text: str) -> None:
    found = str(cell(text))
    for part in found.split(";"):
        assert not part.lstrip(' "').startswith(("=", "+", "-", "@", "＝"))


def test_cell_has_no_control_characters_and_numbers_stay_numbers() -> None:
    assert cell("a\x1b[31m\u202eb\0c\nd") == "a[31mbc d"
    assert (cell(-1.5), cell('O\'Neil, "Pat"; x'), cell("")) == (-1.5, 'O\'Neil, "Pat"; x', "")
