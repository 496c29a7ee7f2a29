"""Arguments of a question are held to the signature of the function that answers it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autograder.sandbox.conversation import fitting, parameters
from autograder.sandbox.wire import Handle
from autograder.values.kinds import Opaque


def f(
    x: np.ndarray, n: int, eps: float = 1e-5, mask: np.ndarray | None = None, flag: bool = False, kind: str = "a"
) -> None: ...
def g(f: Callable[..., Any], params: dict[str, Any], blocks: list[Any], anything: Any = None) -> None: ...


X = np.ones(2)


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((X, 3), {}), ((X, np.int64(3), 1), {"mask": X > 0}), ((X, 3), {"eps": np.float32(1), "flag": np.True_, "kind": "b"}),
        ((np.float64(3), 3), {}), (([1.0, 2], 3), {}), ((5, 3), {}), ((X, True), {}),
    ],
)  # fmt: skip
def test_what_fits_is_passed_on(args: Any, kwargs: Any) -> None:
    fitted, named = fitting(f, args, kwargs)
    assert isinstance(fitted[0], np.ndarray | np.generic | int) and len(fitted) + len(named) >= len(args)


def test_python_numbers_stay_what_they_are() -> None:
    fitted, named = fitting(f, (2.0, 3), {"mask": True})
    assert list(map(type, (*fitted, *named.values()))) == [float, int, bool]
    assert (np.float32(1) * fitted[0]).dtype == np.float32


def test_parameters_are_names_and_defaults() -> None:
    assert parameters(f)[:4] == [["x"], ["n"], ["eps", 1e-5], ["mask", None]]
    assert parameters(g) == [["f"], ["params"], ["blocks"], ["anything", None]]


@pytest.mark.parametrize(
    ("args", "kwargs", "text"),
    [
        ((), {}, "f: missing a required argument: 'x'"),
        ((X, 3), {"other": 1}, "f: got an unexpected keyword argument 'other'"),
        ((X, 3.5), {}, "f: the contract does not allow this kind of n"),
        ((X, 3, "x"), {}, "f: the contract does not allow this kind of eps"),
        (("text", 3), {}, "f: the contract does not allow this kind of x"),
        ((None, 3), {}, "f: the contract does not allow this kind of x"),
        (([[1], [2, 3]], 3), {}, "f: the contract does not allow this kind of x"),
        ((["a"], 3), {}, "f: the contract does not allow this kind of x"),
        ((Opaque("text"), 3), {}, "f: the contract does not allow this kind of x"),
        ((Handle(3), 3), {}, "f: the contract does not allow this kind of x"),
        ((X, 3), {"mask": Opaque("a list")}, "f: the contract does not allow this kind of mask"),
        ((X, 3), {"kind": 3}, "f: the contract does not allow this kind of kind"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(args: Any, kwargs: Any, text: str) -> None:
    with pytest.raises(TypeError) as caught:
        fitting(f, args, kwargs)
    assert str(caught.value) == text


def test_functions_come_as_handles() -> None:
    assert fitting(g, (Handle(1), {"a": 1}, [1]), {})[0][0] == Handle(1)
    assert fitting(g, (Handle(1), {}, (1, 2), Opaque("text")), {})
    with pytest.raises(TypeError):
        fitting(g, (X, {}, []), {})
