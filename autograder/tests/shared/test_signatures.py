"""Which calls of the contract a student's signature accepts, what is said of it, and how a call is adapted to it."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import pytest

from autograder.shared.signatures import adapted, as_tested, misfit, required, signatures


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
UNCHANGED: Any = (((1, 2, 3), {"eps": 4}), ((1, 2, 3), {"norm": 5}))
# A student's function, what is said of it, and the arguments of f(1, 2, 3, eps=4) and of f(1, 2, 3, norm=5) when adapted to it.
FUNCTIONS: dict[str, tuple[Callable[..., Any], str, *tuple[tuple[tuple[Any, ...], dict[str, Any]], ...]]] = {
    "other names": (lambda a, b, c, eps=1, norm=2: 0, "", *UNCHANGED),
    "further optional arguments": (lambda a, b, c, eps=None, norm="", axis=-1: 0, "", *UNCHANGED),
    "keyword-only options": (lambda a, b, c, *, eps=0, norm=0: 0, "", *UNCHANGED),
    "any arguments": (lambda *args, **kwargs: 0, "", *UNCHANGED),
    "an instance": (Instance(), "", *UNCHANGED),
    "a static method": (Instance.static, "", *UNCHANGED),
    "defaults for everything": (lambda a=0, b=0, c=0, eps=0, norm=0: 0, "", *UNCHANGED),
    "a missing default": (
        lambda a, b, c, eps, norm=0: 0, f"{MISSING}`eps`. Write `eps=1e-5`.",
        ((1, 2, 3), {"eps": 4}), ((1, 2, 3), {"eps": 1e-5, "norm": 5}),
    ),
    "another name of an option": (
        lambda a, b, c, epsilon=0, norm=0: 0, BY_NAME.format("`eps`", "`eps=1e-5`"),
        ((1, 2, 3), {"epsilon": 4}), ((1, 2, 3), {"norm": 5}),
    ),
    "no options": (
        lambda a, b, c: 0, BY_NAME.format("`eps`, `norm`", "`eps=1e-5`, `norm=None`"), ((1, 2, 3), {}), ((1, 2, 3), {}),
    ),
    "a wrapper without keywords": (
        wrapped(contract), BY_NAME.format("`eps`, `norm`", "`eps=1e-5`, `norm=None`"),
        ((1, 2, 3, 4), {}), ((1, 2, 3, 1e-5, 5), {}),
    ),
    "keyword-only arguments": (
        lambda x, *, gamma, beta, eps=0, norm=0: 0,
        f"{BY_POSITION} Call them `x`, `gamma`, `beta` or as you like, in this order.",
        ((1,), {"gamma": 2, "beta": 3, "eps": 4}), ((1,), {"gamma": 2, "beta": 3, "norm": 5}),
    ),
    "too many required arguments": (
        lambda a, b, c, d, e, f, eps=0: 0,
        "Your function requires more than its 3 required arguments. Give every other argument a default.",
        *UNCHANGED,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signature_that_refuses_a_legal_call_is_described_and_adapted_to(name: str) -> None:
    function, said, *due = FUNCTIONS[name]
    right = inspect.signature(contract)
    own, *_ = signatures(function)
    assert " ".join(misfit(right, own) or ()) == said
    assert [adapted(right, own, (1, 2, 3), optional) for optional in ({"eps": 4}, {"norm": 5})] == due


@pytest.mark.parametrize(("of_contract", "own", "said"), [
    (lambda: 0, lambda a: 0, "Your function requires arguments, but is called without any. Give every other argument a default."),
    (lambda x: 0, lambda *, a: 0,
     "Your function does not accept its required argument by position. Call them `x` or as you like, in this order."),
    (lambda x: 0, lambda a, b, c, d, e, f, g, h, i, j: 0,
     "Your function requires more than its required argument. Give every other argument a default."),
    (lambda x: 0, lambda a, b, c, d, e, f, g, h, i, j, k: 0,
     "Your function does not accept its required argument by position. Call them `x` or as you like, in this order."),
    (lambda x, y=1: 0, lambda x, y: 0, "Your function has no default for `y`. Write `y=1`."),
    (lambda x, y=1: 0, lambda x, y, z: 0,
     "Your function requires more than its required argument. Give every other argument a default."),
])  # fmt: skip
def test_number_of_required_arguments_is_described(of_contract: Any, own: Any, said: str) -> None:
    assert " ".join(misfit(inspect.signature(of_contract), inspect.signature(own)) or ()) == said


def test_tests_pass_required_arguments_by_position_and_others_by_name() -> None:
    assert (required(contract), required(Instance.static)) == (["x", "gamma", "beta"], ["a", "b", "c"])
    assert as_tested(contract, (1, 2), {"beta": 3, "norm": 5}) == ((1, 2, 3), {"norm": 5})
    assert as_tested(contract, (1, 2, 3, 4), {}) == ((1, 2, 3), {"eps": 4})
    assert as_tested(lambda *args, **kwargs: 0, (1, 2), {"z": 3}) == ((1, 2), {"z": 3})
    assert as_tested(lambda *args: 0, (1, 2), {}) == ((1, 2), {})
    with pytest.raises(TypeError):
        as_tested(contract, (1, 2), {})


def test_wrapped_function_is_compared_too() -> None:
    def wrapper(*args: Any, **kwargs: Any) -> None:
        """Accepts everything, unlike the function below."""

    functools.update_wrapper(wrapper, lambda a, b, c, eps: 0)
    outer, inner = signatures(wrapper)
    right = inspect.signature(contract)
    assert misfit(right, outer) is None and misfit(right, inner) is not None


def test_function_without_a_known_signature_is_not_compared() -> None:
    assert signatures(type("C", (), {"__call__": 3})()) == [] == signatures(dict.fromkeys)[2:]
