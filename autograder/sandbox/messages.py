"""What the grader asks of a student's process, and what comes back: the forms, and how they are checked."""

import builtins
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.sandbox import wire
from autograder.sandbox.callbacks import packed
from autograder.sandbox.wire import CallbackHandle, Kept
from autograder.values.changes import CHANGED, MAX_CHANGES, Change
from autograder.values.errors import MAX_NAME, MAX_PASSED, MAX_TEXT
from autograder.values.tree import mapped

MAX_KINDS = 32  # classes that an error is said to be of
HINTS = ("", "signature", "missing", "absent")


@dataclass(frozen=True)
class Error:
    """An exception in the student's code. `kinds` are built-in names, the most special first.

    The hint is "missing" where there is no such function, "signature" where the function cannot take these arguments at
    all, "absent" where an argument was to be an object of an earlier call that is not there. `passed` are the functions that
    it passed through, from the one that raised it outwards; before them the name that a NameError did not find. The student's
    code can choose these names: only those of contract functions may be shown.
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
    """The student's process is gone: "deadline", "crash", "disk", "memory", "protocol" or "spent".

    The place is that of the loop that was running at the deadline, if the process could still say so.
    """

    why: str
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Response:
    """What a request came to: a value (with what was observed), an error, or an end.

    Nothing in `changed` was chosen by the student's code: paths lead through what the grader has sent.
    """

    value: Any = None
    changed: tuple[Change, ...] = ()
    shared: bool = False
    error: Error | None = None
    ended: Ended | None = None


@dataclass(frozen=True)
class Call:
    """A request, ready to be sent. `arguments` are those whose changes are reported.

    `runs` is the function, or the modules, that the request runs; "" if it runs none. `callbacks` are the functions among the
    arguments that the student's process may call in the grader. `seen` holds replies of the reference implementation by their
    bytes, with the number of their values: they need not be read again.
    """

    kind: str
    payload: bytes
    arguments: tuple[Any, ...] = ()
    runs: str = ""
    callbacks: Mapping[int, Callable[..., Any]] = field(default_factory=dict, repr=False, compare=False)
    seen: dict[bytes, tuple[Response, int]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def is_seen(self, response: Response) -> bool:
        """Whether this is the very reply in `seen`."""
        return any(response is earlier for earlier, _ in self.seen.values())


def prepared(
    module: str,
    function: str,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    checks: Sequence[str] = (),
    number: int = 0,
) -> Call:
    """A call of `module.function`; `checks` are of "pure" and "new".

    A number above 0 keeps the arguments and the result alive in the student's process. Arguments are plain data, arrays,
    functions and `Kept` objects of earlier calls. Raises WireError for others.
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
    """Ask how the arguments of an earlier `call` of this number differ by now from what they were before it."""
    return Call("changes", wire.encode(("changes", number)), arguments=call.arguments)


def prepared_look(kept: Kept) -> Call:
    """Ask for the present value of a kept object."""
    return Call("look", wire.encode(("look", kept)))


def prepared_write(kept: Kept, value: Any) -> Call:
    """Overwrite a kept array in place; nothing happens if it is no writable array of that shape."""
    return Call("write", wire.encode(("write", kept, value)))


@dataclass(frozen=True)
class Reference:
    """A module of the reference implementation: its compiled code, and the functions that take the place of the student's.

    With no `functions` it is there for other references only.
    """

    module: str
    code: bytes
    functions: tuple[str, ...] = ()


def prepared_load(
    modules: Sequence[str], references: Sequence[Reference] = (), helpers: Reference | None = None
) -> Call:
    """Import modules; see `StudentProcess.load`."""
    sent = [[r.module, r.code, r.functions] for r in (*references, *([helpers] if helpers else []))]
    return Call("load", wire.encode(("load", modules, sent, helpers is not None)), runs=" ".join(modules))


def prepared_extension(code: Sequence[Reference]) -> Call:
    """Add requests to a process: `handlers` of the last module returns them by name."""
    return Call("extend", wire.encode(("extend", [[r.module, r.code, r.functions] for r in code])))


def prepared_request(name: str, *parts: Any) -> Call:
    """A request that an extension has added. The value of the reply has no form that is checked."""
    return Call("extension", wire.encode((name, *parts)))


def reply_of(message: Any, call: Call, lines: Mapping[str, int]) -> Response:
    """A final reply, held to the form that the request allows; WireError for any other.

    `lines` says how many lines each file of the submission has.
    """
    match call.kind, message:
        case _, ["raised", list() as error]:
            return Response(error=_error(error, lines))
        case ("load", ["loaded"]) | ("write", ["written"]) | ("extend", ["extended"]):
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
    """The path, as far as it leads through what the grader has sent.

    A student's process could report any path: keys would carry text into a message. Of a kept object the grader does not
    know what is in it.
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
    """An error whose place is one that the submission has, since the place is shown."""
    match parts:
        case [list() as kinds, str() as text, str() as file, int() as line, str() as hint, list() as passed] if (
            0 < len(kinds) < MAX_KINDS and len(passed) <= MAX_PASSED
        ):
            names = tuple(kind for kind in kinds if isinstance(kind, str) and _is_exception(kind))
            # A name that is no file of the submission could be any text.
            place = (file, line if 0 < line <= lines[file] + 1 else 0) if file in lines else ("", 0)
            through = tuple(name[:MAX_NAME] for name in passed if isinstance(name, str))
            return Error(names or ("Exception",), text[:MAX_TEXT], *place, hint if hint in HINTS else "", through)
    raise wire.WireError("a malformed error")


def _is_exception(name: str) -> bool:
    cls = getattr(builtins, name, None)
    return isinstance(cls, type) and issubclass(cls, BaseException)
