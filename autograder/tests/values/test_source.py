"""What is no Python, or no module of the grader's, is known by its text."""

import pytest

from autograder.values.names import mend
from autograder.values.source import definitions, is_stub, no_python, twice


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"x = 1\n", ""),
        (b" \n\n", "m.py is blank: save your work in it"),
        (b"x = (1\n", ""),  # its own error says what is wrong
        (b'"""\n>>> f(1)\n%time\n"""\n', ""),
        ("x = 1".encode("utf-16"), "m.py is saved as UTF-16: save it as UTF-8"),
        (b'{\n "cells": [], "metadata": {}}', "m.py is a notebook"),
        (b"import a\n!pip install b\n", "m.py, line 2 is for notebooks only: !pip install b"),
        (b"def f():\n    >>> x\n", "m.py, line 2 begins with the prompt"),
        (b"\x00", ""),
        (b"x = " + b"-" * 9000 + b"1\n", ""),  # nested too deeply
    ],
)
def test_what_a_file_is_instead_of_python(data: bytes, said: str) -> None:
    assert no_python(data, "m.py").startswith(said) and bool(said) == bool(no_python(data, "m.py"))


@pytest.mark.parametrize(
    ("body", "stub"),
    [
        ("raise NotImplementedError", True),
        ('raise NotImplementedError("f")', True),
        ("pass", True),
        ("return None", True),
        ("return", True),
        ("return x", True),
        ("raise SystemExit", False),
        ("raise ValueError('todo')", True),
        ("'later'", True),
        ("return 2 * x", False),
        ("y = x\n    raise NotImplementedError", False),
        (f"return {'**'.join(['1', *['-1'] * 260])}", False),
        (f"raise ValueError({'**'.join(['1', *['-1'] * 260])})", True),
    ],
)
def test_a_function_that_computes_nothing_is_known_by_its_text(body: str, stub: bool) -> None:
    assert is_stub(definitions(f"def f(x):\n    {body}\n".encode())["f"][0]) is stub


def test_functions_that_are_defined_twice() -> None:
    found = definitions(b"def f():\n    return 1\n\n\ndef f():\n    pass\n\n\ndef g():\n    pass\n")
    assert twice("f", found["f"]) == "`f` is defined in lines 1 and 5: only the last one counts."
    assert twice("g", found["g"]) == "" and definitions(b"def f(:") == definitions(b"(" * 300) == {}


def test_what_to_do_with_a_file_of_another_name() -> None:
    assert mend("LayerNorm.py", "layernorm.py") == "rename it to layernorm.py"
    assert mend("layernorm.ipynb", "layernorm.py") == "that is a notebook: copy its code into a file layernorm.py"
