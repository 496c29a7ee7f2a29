"""What a grader asks of a student's process, and what comes back: the forms, and how they are checked."""

import builtins
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from autograder.sandbox import wire


class Answer(Protocol):
    """Answers the questions of a student's process, or raises Refusal. `known` are answers by question, both encoded."""

    known: dict[bytes, bytes]

    def __call__(
        self,
        target: "str | Callable[..., Any]",
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        invoke: Callable[..., Any],
    ) -> Any: ...


class Refusal(Exception):
    """A question of the student's that is not answered; the text goes to the student's code."""

    def __init__(self, kind: str, text: str):
        super().__init__(text)
        self.kind = kind


class _NoAnswers:
    """Answers nothing."""

    def __init__(self) -> None:
        self.known = dict[bytes, bytes]()

    def __call__(self, target: Any, args: Any, kwargs: Any, invoke: Any) -> Any:
        raise Refusal("ValueError", "this function is not available here")


NO_ANSWERS: Answer = _NoAnswers()


@dataclass(frozen=True)
class Error:
    """An exception in the student's code. `kinds` are built-in names, the most special first."""

    kinds: tuple[str, ...]
    text: str
    file: str
    line: int
    hint: str

    @property
    def kind(self) -> str:
        return self.kinds[0]


@dataclass(frozen=True)
class Ended:
    """The student's process is gone: "deadline", "crash", "disk" or "protocol"."""

    why: str


@dataclass(frozen=True)
class Change:
    """One change of an argument; `how` is "entry written", "key added", "key removed", "length", "replaced" or "dtype or shape"."""

    argument: int
    path: tuple[str | int, ...]
    how: str


@dataclass(frozen=True)
class Reply:
    """What a call came to: exactly one of a value (with what was observed), an error, or an end."""

    value: Any = None
    changed: tuple[int, ...] = ()
    shared: bool = False
    error: Error | None = None
    ended: Ended | None = None


@dataclass(frozen=True)
class Call:
    """A call of a student's function, ready to be sent, with the functions that it lends by handle."""

    payload: bytes
    lent: Mapping[int, Callable[..., Any]]


_handles = itertools.count(1)  # never used twice: a function is lent for one call


def prepared(
    context: str, module: str, function: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], checks: Sequence[str]
) -> Call:
    """A call of `module.function` in a context; `checks` are of "pure" and "new"."""
    lent: dict[int, Callable[..., Any]] = {}

    def lend(value: Any) -> Any:
        if not callable(value):
            return value
        lent[number := next(_handles)] = value
        return wire.Handle(number)

    plain, named = [lend(arg) for arg in args], {name: lend(arg) for name, arg in kwargs.items()}
    return Call(wire.encode(("call", context, module, function, plain, named, list(checks))), lent)


def reply_of(message: list[Any], request: str, lines: Mapping[str, int]) -> Reply:
    """A final reply, held to the form that the request allows."""
    match message:
        case ["loaded"] if request == "load":
            return Reply()
        case ["failed", list() as error] if request == "load":
            return Reply(error=_error(error, lines))
        case ["raised", list() as error] if request in ("call", "invoke"):
            return Reply(error=_error(error, lines))
        case ["returned", value, list() as changed, bool() as shared] if request in ("call", "invoke"):
            return Reply(value=value, changed=_indices(changed), shared=shared)
        case ["changed", list() as changed] if request == "again":
            return Reply(changed=_indices(changed))
    raise wire.WireError("a reply of another form")


def _indices(values: list[Any]) -> tuple[int, ...]:
    if not all(type(value) is int and 0 <= value < 32 for value in values):
        raise wire.WireError("an impossible argument number")
    return tuple(values)


def _error(parts: list[Any], lines: Mapping[str, int]) -> Error:
    """An error whose place is one that the submission has, since the place is shown."""
    match parts:
        case [list() as kinds, str() as text, str() as file, int() as line, str() as hint] if kinds and len(kinds) < 32:
            names = tuple(kind for kind in kinds if isinstance(kind, str) and _is_exception(kind))
            known = 0 < line <= lines.get(file, 0) + 1
            place = (file, line) if known else (file if file in lines else "", 0)
            return Error(names or ("Exception",), text[:300], *place, hint[:20])
    raise wire.WireError("an error of another form")


def _is_exception(name: str) -> bool:
    cls = getattr(builtins, name, None)
    return isinstance(cls, type) and issubclass(cls, BaseException)
