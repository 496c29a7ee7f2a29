"""What NumPy says of shapes, in words that hold for the shapes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.values.errors import in_words, place


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ((2, 3), (4, 5), "the last axis of a (here 3) must be as long as the last axis but one of b (here 4)"),
        ((3,), (4,), "the last axis of a (here 3) must be as long as the last axis but one of b (here 4)"),
        ((2, 3, 3), (4, 3, 3), "all axes but the last two must agree; the shapes are (2,3,3) and (4,3,3)"),
        ((3,), (), "a @ b is for arrays; here b is a single number"),
    ],
)
def test_shapes_that_do_not_fit(one: tuple[int, ...], other: tuple[int, ...], said: str) -> None:
    with pytest.raises(ValueError) as caught:
        np.matmul(np.ones(one), np.ones(other))
    assert said in in_words("ValueError", str(caught.value))


def test_other_errors_keep_their_words() -> None:
    assert in_words("ValueError", "d_model must be even\nmore") == "d_model must be even"
    assert in_words("TypeError", "matmul: Input operand 1 does not have enough dimensions") != "a @ b is for arrays"
    own = "matmul: Input operand 9 does not have enough dimensions"  # a student may raise anything
    assert in_words("ValueError", own) == own


@pytest.mark.parametrize(("call", "line"), [("broken()", 5), ("VALUE = [broken() for _ in range(2)]", 5), ("", 2)])
def test_an_error_at_import_has_the_line_outside_of_functions(tmp_path: Path, call: str, line: int) -> None:
    path = tmp_path / "m.py"
    path.write_text(f"def broken():\n    return 1 / 0\n\n\n{call}\n")

    def run() -> None:
        names: dict[str, Any] = {}
        exec(compile(path.read_text(), str(path), "exec"), names)
        names["broken"]()

    with pytest.raises(ZeroDivisionError) as caught:
        run()
    assert place(caught.tb, lambda name: name == str(path)) == ("m.py", line)
