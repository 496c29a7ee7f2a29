"""Students' tests run without pytest."""

from typing import Any

import pytest

from autograder.shared import running_tests

FAKE: Any = running_tests.pytest_module()


@pytest.mark.parametrize(
    ("names", "rows"), [("a, unused", [(1, 0), (2, 0)]), (["a", "unused"], ((1, 0), (2, 0))), ("a", [1, 2])]
)
def test_parametrize_runs_a_test_for_each_row(names: Any, rows: Any) -> None:
    seen = []

    def test(a: int, b: int, unused: int = 0) -> None:
        seen.append((a, b))

    marked = FAKE.mark.parametrize(names, iter(rows))(FAKE.mark.parametrize("b", [3, 4])(test))
    assert marked.__name__ == "test" and marked() is None
    assert marked() is None and seen == 2 * [(1, 3), (1, 4), (2, 3), (2, 4)]
    with pytest.raises(ValueError):
        FAKE.mark.parametrize("a, b", [(1, 2, 3)])(test)()


def test_raises_fails_unless_the_block_raises_such_an_error() -> None:
    error = ValueError("the text")
    for match in ("he", ""):
        with FAKE.raises((KeyError, ValueError), match=match) as caught:
            raise error
        assert caught.value is error
    for block, why in ((lambda: None, "nothing was raised"), (lambda: int("x"), "the message is invalid literal .*")):
        with pytest.raises(AssertionError, match=f"^{why}"), FAKE.raises(ValueError, match="other"):
            block()
    with pytest.raises(KeyError), FAKE.raises(ValueError):
        raise KeyError


@pytest.mark.parametrize(("test", "function"), [
    ("test_layer_norm", "layer_norm"), ("test_layer_norm_of_one_row", "layer_norm"),
    ("test_layer_norm_backward_x", "layer_norm_backward"), ("test_layer_normal", ""), ("test_other", ""),
])  # fmt: skip
def test_function_under_test_is_in_the_name_of_the_test(test: str, function: str) -> None:
    assert running_tests.tested(test, ["layer_norm", "layer_norm_backward"]) == function
