"""Where an exception was raised, and how to fix it."""

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.shared.errors import MATMUL, advice, is_circular, location
from autograder.tests.files import put


def test_limits_of_a_browser_are_named_only_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TypeError) as caught:
        np.ones(1, np.int64).astype(np.int32, casting="safe")
    text = str(caught.value).replace("Cannot cast array from", "Cannot cast array data from")
    assert advice("TypeError", text) == advice("RuntimeError", "can't start new thread") == ""
    monkeypatch.setattr(sys, "platform", "emscripten")
    assert advice("TypeError", text).startswith("In a browser, indices have 32 bits. Unless your code asks for int32")
    assert advice("RuntimeError", "can't start new thread").startswith("A browser cannot start threads")


@pytest.mark.parametrize(("one", "other"), [((2, 3), (4, 5)), ((3,), (4,)), ((3,), ())])
def test_advice_on_a_product_of_incompatible_shapes(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    with pytest.raises(ValueError) as caught:
        np.matmul(np.ones(one), np.ones(other))
    assert advice("ValueError", str(caught.value)) == MATMUL
    assert advice("TypeError", str(caught.value)) == advice("ValueError", "d_model must be even") == ""


@pytest.mark.parametrize(("one", "two", "circular"), [
    ("import two", "from one import x", True),
    ("import two", "import one\none.x", True),
    ("from two import x", "import one", False),
    ("import two\ntwo.x", "import one", False),
    ("import two", "import three", False),
    ("import two", "one = 1\none.x", False),
])  # fmt: skip
def test_circular_import_is_recognised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one: str, two: str, circular: bool
) -> None:
    """By the modules that were being imported, since Python's text differs between versions."""
    put(tmp_path, {"one.py": one, "two.py": two})
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "two", raising=False)
    with pytest.raises((AttributeError, ImportError)) as caught:
        importlib.import_module("one")
    assert is_circular(caught.value) == circular


@pytest.mark.parametrize(("call", "line"), [("broken()", 5), ("VALUE = [broken() for _ in range(2)]", 5), ("", 2)])
def test_error_at_import_has_the_module_level_line(tmp_path: Path, call: str, line: int) -> None:
    path = tmp_path / "m.py"
    path.write_text(f"def broken():\n    return 1 / 0\n\n\n{call}\n")

    def run() -> None:
        names: dict[str, Any] = {}
        exec(compile(path.read_text(), str(path), "exec"), names)
        names["broken"]()

    with pytest.raises(ZeroDivisionError) as caught:
        run()
    assert location(caught.tb, lambda name: name == str(path)) == ("m.py", line)
