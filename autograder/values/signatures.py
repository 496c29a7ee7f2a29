"""How tests call a function: required arguments by position, optional ones by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def required(function: Callable[..., Any]) -> list[str]:
    """Return the names of the arguments without a default that can be passed by position."""
    parameters = inspect.signature(function).parameters.values()
    return [
        p.name for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]


def as_tested(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call as tests pass them. Raises TypeError if the function does not accept them."""
    bound = inspect.signature(function).bind(*args, **kwargs)
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in bound.signature.parameters.values()):
        return tuple(args), dict(kwargs)
    names = required(function)
    named = {name: value for name, value in bound.arguments.items() if name not in names}
    return tuple(bound.arguments[name] for name in names), named
