"""What is no Python, or no module of the grader's, is known by its text."""

import pytest

from autograder.values.names import mend
from autograder.values.source import no_python, not_there


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"x = 1\n", ""),
        (b"x = (1\n", ""),  # its own error says what is wrong
        (b'"""\n>>> f(1)\n%time\n"""\n', ""),
        ("x = 1".encode("utf-16"), "m.py is saved as UTF-16: save it as UTF-8"),
        (b'{\n "cells": [], "metadata": {}}', "m.py is a notebook"),
        (b"import a\n!pip install b\n", "m.py, line 2 is for notebooks only: !pip install b"),
        (b"def f():\n    >>> x\n", "m.py, line 2 begins with the prompt"),
        (b"\x00", ""),
    ],
)
def test_what_a_file_is_instead_of_python(data: bytes, said: str) -> None:
    assert no_python(data, "m.py").startswith(said) and bool(said) == bool(no_python(data, "m.py"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import numpy.linalg, math, own", []),
        ("import torch.nn as nn", [(1, "torch")]),
        ("x = 1\ndef f():\n    from scipy.special import softmax", [(3, "scipy")]),
        ("from . import helper", []),
        ("try:\n    import torch\nexcept ImportError:\n    torch = None", []),
        ("if __name__ == '__main__':\n    import matplotlib", []),
        ("import (", []),
    ],
)
def test_modules_that_the_grader_has_not(text: str, found: list[tuple[int, str]]) -> None:
    assert list(not_there(text.encode(), {"own"})) == found


def test_what_to_do_with_a_file_of_another_name() -> None:
    assert mend("LayerNorm.py", "layernorm.py") == "rename it to layernorm.py"
    assert mend("layernorm.ipynb", "layernorm.py") == "that is a notebook: copy its code into a file layernorm.py"
