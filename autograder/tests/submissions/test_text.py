"""What a student's code has said cannot be markup, ends no block of code, and names no folder of the machine."""

import re
from collections.abc import Callable

import pytest

from autograder.submissions.text import cleaned, cleaned_code


def test_nothing_of_a_students_text_is_markup() -> None:
    text = cleaned("<script>*x*</script>\n`a` [b](c) | #")
    assert not re.search(r"<|>|(?<!\\)[*|#\[\]`]|\n", text)


@pytest.mark.parametrize(
    "text", ["www.evil.example", "see WWW.evil.example", "write to a.b@evil.example", "https://evil.example", "ftp://a.example"]
)  # fmt: skip
def test_no_address_is_taken_for_a_link(text: str) -> None:
    """By the rules of GitHub's Markdown: "Autolinks (extension)"."""
    assert not re.search(r"(?i)www\.|://|[\w.+-]@[\w-]+\.", cleaned(text))
    assert cleaned("the shape of x@w is no mail, www or http") == "the shape of x@w is no mail, www or http"


@pytest.mark.parametrize("clean", [cleaned, cleaned_code])
def test_it_is_short_on_one_line_and_ends_no_block_of_code(clean: Callable[[str], str]) -> None:
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
def test_folders_and_addresses_are_not_shown(text: str, left: str) -> None:
    for private in ("autograder-x1", "Jane", "jane", "/tmp", "0x7f"):
        assert private not in cleaned_code(text)
    assert left in cleaned_code(text)


@pytest.mark.parametrize("text", ["division by zero", "1/2 and/or 3 / 4", "shapes (2,3) and (4,) not aligned: 3 != 4"])
def test_other_texts_stay(text: str) -> None:
    assert cleaned_code(text) == text
