"""How tests call a function, and which of these calls a student's signature does not accept.

Required arguments are passed by position, so their names are free; optional ones are passed by name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any

MORE = 10  # further required arguments of a signature that are still reported as such
Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def signatures(function: Callable[..., Any]) -> list[Signature]:
    """Return the signature of a function, and that of the function it wraps, if Python knows them."""
    try:
        direct = [inspect.signature(function, follow_wrapped=False)]
        return [*direct, inspect.signature(function)] if hasattr(function, "__wrapped__") else direct
    except (TypeError, ValueError):
        return []


def required(function: Callable[..., Any]) -> list[str]:
    """Return the names of the arguments without a default that can be passed by position."""
    return _required(inspect.signature(function))


def as_tested(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Arguments:
    """Return the arguments of a call as tests pass them. Raises TypeError if the function does not accept them."""
    bound = inspect.signature(function).bind(*args, **kwargs)
    kinds = {parameter.kind for parameter in bound.signature.parameters.values()}
    if kinds & {Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD}:
        return tuple(args), dict(kwargs)
    names = _required(bound.signature)
    named = {name: value for name, value in bound.arguments.items() if name not in names}
    return tuple(bound.arguments[name] for name in names), named


def misfit(contract: Signature, signature: Signature) -> tuple[str, str] | None:
    """Return why a student's signature does not accept every call of the contract, and what to write; None if it does.

    The sentences contain no name that the student chose.
    """
    names = _required(contract)
    count, optional = len(names), _optional(contract)
    its = f"its {count} required arguments" if count > 1 else "its required argument"
    if not _accepts(signature, count):
        bare = [
            name
            for name in optional
            if name in signature.parameters and signature.parameters[name].default is Parameter.empty
        ]
        if bare and _accepts(signature, count, bare):
            return (f"Your function has no default for {_code(bare)}.", f"Write {_written(contract, bare)}.")
        if any(_accepts(signature, count + more) for more in range(1, MORE)):
            needs = f"more than {its}" if count else "arguments, but is called without any"
            return (f"Your function requires {needs}.", "Give every other argument a default.")
        order = f"Call them {_code(names)} or as you like, in this order."
        return (f"Your function does not accept {its} by position.", order)
    lacking = [name for name in optional if not _accepts(signature, count, [name])]
    if not lacking:
        return None
    return (f"Your function does not accept {_code(lacking)} by name.", f"Write {_written(contract, lacking)}.")


def adapted(contract: Signature, signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Arguments:
    """Return the arguments of a call as a student's signature accepts them; unchanged if it accepts neither.

    An optional argument that the signature lacks is left out, one with another name gets that name, and one without a default
    gets the contract's.
    """
    names, optional = list(contract.parameters), _optional(contract)
    end, named, unused = len(args), dict[str, Any](), dict(kwargs)
    for index, (name, parameter) in enumerate(signature.parameters.items()):
        is_renamed = name not in names and index < len(names) and names[index] not in signature.parameters
        meant = names[index] if is_renamed else name
        if meant in optional and (meant in unused or parameter.default is Parameter.empty):
            named[name] = unused.pop(meant, contract.parameters[meant].default)
        elif parameter.kind is Parameter.KEYWORD_ONLY and index < len(args):
            named[name], end = args[index], min(end, index)
    positional, kinds = list(args[:end]), {parameter.kind for parameter in signature.parameters.values()}
    if Parameter.VAR_KEYWORD in kinds:
        named |= unused
    elif Parameter.VAR_POSITIONAL in kinds:  # all of them up to the last one
        while unused and len(positional) < len(names):
            name = names[len(positional)]
            positional.append(unused.pop(name, contract.parameters[name].default))
    return (tuple(positional), named) if accepts(signature, positional, named) else (tuple(args), dict(kwargs))


def accepts(signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def _accepts(signature: Signature, count: int, names: Iterable[str] = ()) -> bool:
    return accepts(signature, [None] * count, dict.fromkeys(names))


def _required(signature: Signature) -> list[str]:
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in signature.parameters.values() if p.default is Parameter.empty and p.kind in kinds]


def _optional(signature: Signature) -> list[str]:
    return [p.name for p in signature.parameters.values() if p.default is not Parameter.empty]


def _code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _written(contract: Signature, names: Iterable[str]) -> str:
    """Return optional arguments with their defaults, as in a definition."""
    return _code(f"{name}={contract.parameters[name].default!r}".replace("e-0", "e-") for name in names)
