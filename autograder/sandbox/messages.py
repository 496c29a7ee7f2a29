"""Requests to a student's process, its responses, and their validation."""

import builtins
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from autograder.sandbox import wire
from autograder.sandbox.callbacks import packed
from autograder.sandbox.wire import CallbackHandle, Kept
from autograder.values.changes import CHANGED, MAX_CHANGES, Change
from autograder.values.errors import MAX_NAME, MAX_PASSED, MAX_TEXT
from autograder.values.tree import mapped

MAX_KINDS = 32  # names of exception classes in one error
HINTS = ("", "signature", "missing", "absent")
_EXCEPTIONS = {name for name, cls in vars(builtins).items() if isinstance(cls, type) and issubclass(cls, BaseException)}


@dataclass(frozen=True)
class Error:
    """An exception in the student's code. `kinds` are built-in names, most specific first.

    The hint is "missing" if there is no such function, "signature" if the function does not accept these arguments,
    "absent" if an argument is an object of an earlier call that does not exist. `passed` are the functions that the
    exception passed through, innermost first, preceded by the name that a NameError did not find. The student's code
    can choose these names: only those of contract functions may be shown.
    """

    kinds: tuple[str, ...]
    text: str
    file: str
    line: int
    hint: str
    passed: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        return self.kinds[0]


@dataclass(frozen=True)
class Ended:
    """The student's process has ended: "deadline", "idle", "crash", "disk", "memory", "protocol" or "spent".

    The place is the loop that was running at the deadline, if the process reported it.
    """

    why: str
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Response:
    """The outcome of a request: a value (with observations), an error, or the end of the process.

    Student code cannot choose the contents of `changed`: its paths lead through the arguments that the grader sent.
    """

    value: Any = None
    changed: tuple[Change, ...] = ()
    shared: bool = False
    error: Error | None = None
    ended: Ended | None = None


@dataclass(frozen=True)
class Call:
    """An encoded request. `arguments` are those whose changes are reported.

    `runs` is the function, or the modules, that the request runs; "" if it runs none. `callbacks` are the functions
    among the arguments that the student's process may call in the grader.
    """

    kind: str
    payload: bytes
    arguments: tuple[Any, ...] = ()
    runs: str = ""
    callbacks: Mapping[int, Callable[..., Any]] = field(default_factory=dict, repr=False, compare=False)


def prepared(
    module: str,
    function: str,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    checks: Sequence[str] = (),
    number: int = 0,
) -> Call:
    """A call of `module.function`; `checks` may contain "pure" and "new".

    A number above 0 keeps the arguments and the result alive in the student's process. Arguments are plain data,
    arrays, functions and `Kept` objects of earlier calls. Raises WireError for others.
    """
    callbacks: dict[int, Callable[..., Any]] = {}

    def sent(leaf: Any) -> Any:
        if not callable(leaf):
            return leaf
        code = packed(leaf)
        if not code:
            callbacks[len(callbacks) + 1] = leaf
        return CallbackHandle(len(callbacks), code)

    args, named = mapped(sent, list(args)), mapped(sent, dict(kwargs or {}))
    payload = wire.encode(("call", module, function, args, named, checks, number), from_grader=True)
    return Call("call", payload, (*args, *named.values()), f"{module}.{function}", callbacks)


def prepared_changes(number: int, call: Call) -> Call:
    """Request the differences of the arguments of an earlier `call` with this number from their values before it."""
    return Call("changes", wire.encode(("changes", number)), arguments=call.arguments)


def prepared_look(kept: Kept) -> Call:
    """Request the present value of a kept object."""
    return Call("look", wire.encode(("look", kept)))


def prepared_write(kept: Kept, value: Any) -> Call:
    """Overwrite a kept array in place; no effect unless it is a writable array of that shape."""
    return Call("write", wire.encode(("write", kept, value)))


class Reference(NamedTuple):
    """A module of the reference implementation: its compiled code, and the functions that replace the student's.

    With no `functions`, only other references use it.
    """

    module: str
    code: bytes
    functions: tuple[str, ...] = ()


def prepared_references(references: Sequence[Reference] = (), helpers: Reference | None = None) -> Call:
    """Put references in place of files; see `StudentProcess.load`."""
    sent = [*references, *([helpers] if helpers else [])]
    return Call("define", wire.encode(("define", sent, helpers is not None)))


def prepared_load(modules: Sequence[str]) -> Call:
    """Import modules."""
    return Call("load", wire.encode(("load", modules)), runs=" ".join(modules))


def prepared_extension(code: Sequence[Reference]) -> Call:
    """Add requests to a process: `handlers` of the last module returns them by name."""
    return Call("extend", wire.encode(("extend", code)))


def prepared_request(name: str, *parts: Any) -> Call:
    """A request of an extension. The form of its response is not checked."""
    return Call("extension", wire.encode((name, *parts)))


def reply_of(message: Any, call: Call, lines: Mapping[str, int]) -> Response:
    """Validate a final response against its request; raises WireError if it is invalid, Fault if it reports one.

    `lines` is the number of lines of each file of the submission.
    """
    match call.kind, message:
        case _, ["raised", list() as error]:
            return Response(error=_error(error, lines))
        case _, ["fault", str() as kind, str() as text]:
            raise wire.Fault(kind, text)
        case ("define", ["defined"]) | ("load", ["loaded"]) | ("write", ["written"]) | ("extend", ["extended"]):
            return Response()
        case "call", ["returned", value, list() as changed, bool() as shared]:
            return Response(value=value, changed=_changes(changed, call.arguments), shared=shared)
        case "changes", ["changed", list() as changed]:
            return Response(changed=_changes(changed, call.arguments))
        case "look", ["holds", value]:
            return Response(value=value)
        case "extension", ["answered", value]:
            return Response(value=value)
    raise wire.WireError("a malformed reply")


def _changes(parts: list[Any], arguments: tuple[Any, ...]) -> tuple[Change, ...]:
    if len(parts) > MAX_CHANGES:
        raise wire.WireError("too many changes")
    return tuple(_change(part, arguments) for part in parts)


def _change(part: Any, arguments: tuple[Any, ...]) -> Change:
    match part:
        case [argument, list() as path, str() as how] if type(argument) is int and how in CHANGED:
            if not 0 <= argument < len(arguments):
                raise wire.WireError("an argument that was not sent")
            return Change(argument, _known_path(arguments[argument], path), how)
    raise wire.WireError("a malformed change")


def _known_path(argument: Any, path: list[Any]) -> tuple[str | int, ...]:
    """The path, as far as it leads through arguments that the grader sent.

    A student's process could report any path, and its keys would put text into a message. The grader does not know the
    contents of a kept object.
    """
    if isinstance(argument, Kept):
        return ()
    here = argument
    for depth, key in enumerate(path, 1):
        is_key = isinstance(here, dict) and type(key) in (str, int) and key in here
        if not is_key and not (isinstance(here, list | tuple) and type(key) is int and 0 <= key < len(here)):
            raise wire.WireError("a path that does not exist in the argument")
        here = here[key]
        if isinstance(here, Kept):
            return tuple(path[:depth])
    return tuple(path)


def _error(parts: list[Any], lines: Mapping[str, int]) -> Error:
    """Validate an error. Its place must exist in the submission, since the place is shown."""
    match parts:
        case [list() as kinds, str() as text, str() as file, int() as line, str() as hint, list() as passed] if (
            0 < len(kinds) < MAX_KINDS and len(passed) <= MAX_PASSED
        ):
            names = tuple(kind for kind in kinds if isinstance(kind, str) and kind in _EXCEPTIONS)
            # A name that is not a file of the submission could be any text.
            place = (file, line if 0 < line <= lines[file] + 1 else 0) if file in lines else ("", 0)
            through = tuple(name[:MAX_NAME] for name in passed if isinstance(name, str))
            return Error(names or ("Exception",), text[:MAX_TEXT], *place, hint if hint in HINTS else "", through)
    raise wire.WireError("a malformed error")
