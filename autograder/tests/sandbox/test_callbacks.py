"""Callback arguments are sent as code; those that need more than NumPy are rejected, with what they use."""

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy
import numpy as np
import pytest

from autograder.sandbox.wire import ALLOWED, packed, unpacked
from autograder.tests.running import replied

MASK = np.tri(2)
X = np.array([[1.0, 2.0], [3.0, -1.0]])


def with_inner(x: Any) -> Any:
    """Needs only NumPy, also in its inner function."""
    return sum((lambda row: np.abs(row) + len(x))(row) for row in x)


def analysis(x: Any) -> Any:
    return MASK @ x


def calling(x: Any) -> Any:
    return [with_inner(row) for row in x]


def with_variable() -> Callable[..., Any]:
    mask = np.tri(2)
    return lambda x: mask @ x


@pytest.mark.parametrize(
    "function", [lambda x: np.cumsum(x, axis=0), lambda x: x - x.max(axis=0), lambda x: x[:, 1:] + x[0, 0], with_inner]
)
def test_function_that_needs_only_numpy_is_sent_as_code(function: Callable[..., Any]) -> None:
    code = packed(function)
    assert np.array_equal(unpacked(code)(X), function(X))
    unpacked(code).__globals__["np"] = None  # a changed global does not persist
    assert np.array_equal(unpacked(code)(X), function(X))
    assert not any(word in code for word in (b"with_inner", b"test_callbacks", b"autograder"))
    assert np.array_equal(replied("def f(g, x): return g(x)", function, X).value, function(X))


def test_equal_code_has_equal_bytes() -> None:
    first, second = (eval("lambda x: x + len((7.5, 2.25))") for _ in range(2))
    references = [list(part) for part in first.__code__.co_consts if isinstance(part, tuple)]  # marshal counts them
    assert references and packed(first) == packed(second)


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (analysis, f"{ALLOWED}, but analysis uses `MASK`"), (calling, "but calling uses `with_inner`"),
        (with_variable(), "but <lambda> uses `mask`"), (lambda x, mask=MASK: mask @ x, "uses default values"),
        (lambda x, *, mask=None: x, "uses default values"), (lambda x: numpy.abs(x), "uses `numpy`"),
        (np.abs, "<ufunc 'absolute'> is not a Python function: write a lambda"), (len, "is not a Python function"),
        (functools.partial(with_inner), "is not a Python function"), (types.SimpleNamespace, "is not a Python function"),
    ],
)  # fmt: skip
def test_other_functions_are_rejected(function: Any, why: str) -> None:
    with pytest.raises(TypeError) as caught:
        packed(function)
    assert why in str(caught.value)
