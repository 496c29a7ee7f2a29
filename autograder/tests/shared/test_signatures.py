"""Which calls of the contract a student's signature accepts, what is said of it, and how a call is adapted to it."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import pytest

from autograder.shared.signatures import adapted, as_tested, misfit, signatures


def contract(x: Any, gamma: Any, beta: Any, eps: float = 1e-5, norm: Any = None) -> None:
    """A function of the contract."""


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator whose wrapper passes on no keyword arguments."""

    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        return function(*args)

    return wrapper


class Instance:
    def __call__(self, a: Any, b: Any, c: Any, eps: Any = None, norm: Any = None) -> None: ...

    @staticmethod
    def static(a: Any, /, b: Any, c: Any, *, norm: Any = 0, eps: Any = 0) -> None: ...


MISSING, BY_NAME = "Your function has no default for ", "Your function does not accept {} by name. Write {}."
BY_POSITION = "Your function does not accept its 3 required arguments by position."
# A student's function, what is said of it, and the arguments of f(1, 2, 3, eps=4) when adapted to it.
FUNCTIONS: dict[str, tuple[Callable[..., Any], str, tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "other names": (lambda a, b, c, eps=1, norm=2: 0, "", ((1, 2, 3), {"eps": 4})),
    "further optional arguments": (lambda a, b, c, eps=None, norm="", axis=-1: 0, "", ((1, 2, 3), {"eps": 4})),
    "keyword-only options": (lambda a, b, c, *, eps=0, norm=0: 0, "", ((1, 2, 3), {"eps": 4})),
    "any arguments": (lambda *args, **kwargs: 0, "", ((1, 2, 3), {"eps": 4})),
    "an instance": (Instance(), "", ((1, 2, 3), {"eps": 4})),
    "a static method": (Instance.static, "", ((1, 2, 3), {"eps": 4})),
    "defaults for everything": (lambda a=0, b=0, c=0, eps=0, norm=0: 0, "", ((1, 2, 3), {"eps": 4})),
    "a missing default": (
        lambda a, b, c, eps, norm=0: 0, f"{MISSING}`eps`. Write `eps=1e-5`.", ((1, 2, 3), {"eps": 4})
    ),
    "another name of an option": (
        lambda a, b, c, epsilon=0, norm=0: 0, BY_NAME.format("`eps`", "`eps=1e-5`"), ((1, 2, 3), {"epsilon": 4})
    ),
    "no options": (
        lambda a, b, c: 0, BY_NAME.format("`eps`, `norm`", "`eps=1e-5`, `norm=None`"), ((1, 2, 3), {})
    ),
    "a wrapper without keywords": (
        wrapped(contract), BY_NAME.format("`eps`, `norm`", "`eps=1e-5`, `norm=None`"), ((1, 2, 3, 4), {})
    ),
    "keyword-only arguments": (
        lambda x, *, gamma, beta, eps=0, norm=0: 0,
        f"{BY_POSITION} Call them `x`, `gamma`, `beta` or as you like, in this order.",
        ((1,), {"gamma": 2, "beta": 3, "eps": 4}),
    ),
    "too many required arguments": (
        lambda a, b, c, d, e, f, eps=0: 0,
        "Your function requires more than its 3 required arguments. Give every other argument a default.",
        ((1, 2, 3), {"eps": 4}),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signature_that_refuses_a_legal_call_is_described_and_adapted_to(name: str) -> None:
    function, said, due = FUNCTIONS[name]
    right = inspect.signature(contract)
    own, *_ = signatures(function)
    assert " ".join(misfit(right, own) or ()) == said
    assert adapted(right, own, (1, 2, 3), {"eps": 4}) == due


def test_wrapped_function_is_compared_too() -> None:
    def wrapper(*args: Any, **kwargs: Any) -> None:
        """Accepts everything, unlike the function below."""

    functools.update_wrapper(wrapper, lambda a, b, c, eps: 0)
    outer, inner = signatures(wrapper)
    right = inspect.signature(contract)
    assert misfit(right, outer) is None and misfit(right, inner) is not None


def test_function_without_a_known_signature_is_not_compared() -> None:
    assert signatures(type("C", (), {"__call__": 3})()) == [] == signatures(dict.fromkeys)[2:]
    assert as_tested(lambda *args, **kwargs: 0, (1, 2), {"z": 3}) == ((1, 2), {"z": 3})
