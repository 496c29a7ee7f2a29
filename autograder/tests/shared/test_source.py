"""Problems in the text of a student's file: not Python, newer syntax, stubs and functions defined twice."""

import ast
import codecs
import gc
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from autograder.shared.source import (
    codec,
    declared_encoding,
    definitions,
    is_stub,
    no_python,
    parsed,
    rename_advice,
    repeated_definition,
    resembles,
    text_lines,
)


@pytest.mark.parametrize(("data", "said"), [
    (b"x = 1\n", ""), (b" \n\n", "m.py is blank: save your work in it"),
    (b"x = (1\n", ""),  # the SyntaxError is clear enough
    ("x = 1".encode("utf-16"), "m.py is saved as UTF-16: save it as UTF-8"),
    (b"a\0b\0c", "m.py is saved as UTF-16: save it as UTF-8"),
    (b'{\n "cells": [], "metadata": {}}', "m.py is a notebook: copy the code of its cells into a new file m.py"),
    (b"import a\n!pip install " + b"b" * 99, f"m.py, line 2 is for notebooks only: !pip install {'b' * 47}"),
    (b"%a", "m.py, line 1 is for notebooks only: %a"), (b"x = 1\n(\n%a", ""),
    (b"def f():\n    >>> x\n", "m.py, line 2 begins with Python's prompt >>>: remove it"),
    (b"\x00", "m.py contains null bytes from line 1 on: copy its text into a new file m.py"),
    (b"a\0b", "m.py contains null bytes from line 1 on: copy its text into a new file m.py"),
    (b"a\n\0b", "m.py contains null bytes from line 2 on: copy its text into a new file m.py"),
    (b"x = 1\ny = 2\n" + bytes(20), "m.py contains null bytes from line 3 on: copy its text into a new file m.py"),
    (b"\xef\xbb\xbfx = 1\n", ""),
    ("# coding: latin-1\nx = 'é'\n".encode("latin-1"), ""),
    ("x = 'é'\n".encode("latin-1"), "m.py is not saved as UTF-8: save it again with that encoding"),
    ("# coding: utf-8\nx = 1\ny = 'é'\n".encode("cp1252"), "m.py is not saved as UTF-8: save it again with that encoding"),
    ("# coding: ascii\nx = 'é'\n".encode(), "m.py declares the encoding ascii: delete that line and save the file as UTF-8"),
    (b"\xef\xbb\xbf# coding: latin-1\n", "m.py declares the encoding latin-1: delete that line and save the file as UTF-8"),
    (b"# coding: punycode\nx = 1\n", "m.py declares the encoding punycode: delete that line and save the file as UTF-8"),
    (b"x = " + b"-" * 9000 + b"1\n", ""),  # nested too deeply
])  # fmt: skip
def test_file_that_is_not_python_is_described(data: bytes, said: str) -> None:
    assert no_python(data, "m.py") == said


@pytest.mark.parametrize(("data", "lines"), [
    (b"", [""]), (b"a\r\nb\rc\n", ["a", "b", "c", ""]), (b"\xef\xbb\xbfa\n\xff", ["a", "\ufffd"]),
    (b"# coding: latin-1\n\xe9", ["# coding: latin-1", "é"]),
    ("# coding: punycode\né".encode(), ["# coding: punycode", "é"]),
])  # fmt: skip
def test_lines_are_those_that_python_counts(data: bytes, lines: list[str]) -> None:
    assert text_lines(data) == lines


@pytest.mark.parametrize(("name", "alike"), [
    ("MyModule.py", True), ("my_module (1).py", True), ("folder/2-my-module.py.txt", True), ("My Mödule.ipynb", True),
    ("my_module_final.py", True), ("mymodul.py", False), ("x_my_module_y.py", False), ("my_module/other.py", False),
])  # fmt: skip
def test_misnamed_file_is_recognised(name: str, alike: bool) -> None:
    assert resembles(name, "my_module") is alike
    assert rename_advice(name, "m.py") == (
        "that is a notebook: copy its code into a file m.py" if name.endswith("b") else "rename it to m.py"
    )


@pytest.mark.parametrize(("head", "declared", "readable"), [
    (b"", "", True),
    (b"# coding: utf-8\n", "utf-8", True),
    (b"# -*- coding: utf-8-unix -*-\n", "utf-8-unix", True),
    (b"#!/usr/bin/python\n# vim: set fileencoding=Latin_1 :\n", "Latin_1", True),
    (b"\xef\xbb\xbf# coding: UTF8\r", "UTF8", True),
    (b"# coding: punycode\n", "punycode", False),
    (b"\n# coding: utf-7\n", "utf-7", False),
    (b"# coding: latin-2\n", "latin-2", False),
    (b"y = 1\n# coding: punycode\n", "", True),
    (b"# a\n\n# coding: punycode\n", "", True),
    (b"#" * 2000 + b"\n# coding: cp1252\n", "cp1252", True),
    (b"# coding: iso-latin-1-unix\n", "iso-latin-1-unix", True),
])  # fmt: skip
def test_only_a_few_declared_encodings_are_supported(head: bytes, declared: str, readable: bool) -> None:
    data = head + b"x = 1\n"
    assert (declared_encoding(data), bool(codec(declared))) == (declared, readable)
    assert (parsed(data) is not None) is readable


def test_declared_encoding_never_selects_one_of_pythons_codecs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decoding punycode takes quadratic time."""
    asked = []

    def watched(name: str) -> None:
        asked.append(name)

    data = ("# coding: punycode\n# " + "b" * 450 + chr(0x10000) * 449).encode("punycode")
    codecs.register(watched)
    try:
        spelled = data.replace(b"punycode", b"trap", 1)  # a codec that has not been looked up before
        with pytest.raises(SyntaxError):
            ast.parse(spelled)
        assert asked == ["trap"]
        for text in (data, spelled):
            assert parsed(text) is None and no_python(text, "m.py") and definitions(text) == {}
        assert asked == ["trap"]
    finally:
        codecs.unregister(watched)


def test_decoded_text_matches_python() -> None:
    for text, encoding in (("x = 'é'\r\ny = 1", "latin-1"), ("x = '€'", "cp1252"), ("x = 'ä'", "utf-8-sig")):
        data = (f"# coding: {encoding}\n" * (encoding != "utf-8-sig") + text).encode(encoding)
        tree = parsed(data)
        assert tree is not None and ast.dump(tree) == ast.dump(ast.parse(data))


@pytest.mark.parametrize(("body", "stub"), [
    ("raise NotImplementedError", True), ("raise NotImplementedError('later')", True),
    ("'About.'\n    pass\n    return None", True), ("return y", False), ("return 1", False), ("return None", True),
    ("return", True), ("return x", True), ("raise SystemExit", False), ("'later'", True), ("return 2 * x", False),
    ("y = x\n    raise NotImplementedError", False), (f"return {'**'.join(['1', *['-1'] * 260])}", False),
])  # fmt: skip
def test_stubs_are_recognised(body: str, stub: bool) -> None:
    assert is_stub(definitions(f"def f(x):\n    {body}\n".encode())["f"][0]) is stub


def test_functions_defined_twice_are_reported() -> None:
    found = definitions(b"def f():\n    return 1\n\n\ndef f():\n    pass\n\n\ndef g():\n    pass\n")
    assert repeated_definition("f", found["f"]) == "`f` is defined on lines 1 and 5: only the last definition counts."
    assert repeated_definition("g", found["g"]) == "" and definitions(b"def f(:") == definitions(b"(" * 300) == {}


def test_threads_can_parse_at_once() -> None:
    """Another thread runs while a tree is made if Python collects garbage then, and something is called for it."""
    source, threshold = "y = [f(x), x]\n" * 100, gc.get_threshold()

    def switch(*_: object) -> None:
        time.sleep(1e-5)

    gc.callbacks.append(switch)
    gc.set_threshold(50)
    try:
        with ThreadPoolExecutor(4) as threads:
            assert all(threads.map(parsed, [source] * 20))
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(switch)
