"""Where an exception was raised, and how to fix it."""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.values.errors import CIRCULAR, MATMUL, advice, place


@pytest.mark.parametrize(("one", "other"), [((2, 3), (4, 5)), ((3,), (4,)), ((3,), ())])
def test_advice_on_a_product_of_incompatible_shapes(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    with pytest.raises(ValueError) as caught:
        np.matmul(np.ones(one), np.ones(other))
    assert advice("ValueError", str(caught.value)) == MATMUL
    assert advice("TypeError", str(caught.value)) == advice("ValueError", "d_model must be even") == ""


@pytest.mark.parametrize(
    ("first", "second"), [("import two", "import one\none.x"), ("import two", "from one import x")]
)
def test_advice_on_modules_that_import_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, second: str
) -> None:
    (tmp_path / "one.py").write_text(first)
    (tmp_path / "two.py").write_text(second)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises((AttributeError, ImportError)) as caught:
        importlib.import_module("one")
    assert advice(caught.typename, str(caught.value)) == CIRCULAR


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
    assert place(caught.tb, lambda name: name == str(path)) == ("m.py", line)
