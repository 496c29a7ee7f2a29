"""The requests to a student's process. One class describes each: what is sent, how it is answered, and which responses are valid.

A request is a list of its kind and its parts, the response ["answered", ...] with its parts, or ["raised", error].
"""

import builtins
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from inspect import Parameter, Signature
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from autograder.exceptions import Absent, Missing, Raised, WireError
from autograder.sandbox import wire
from autograder.sandbox.wire import Handle
from autograder.shared.changes import CHANGED, MAX_CHANGES, Change, differences
from autograder.shared.errors import (
    MAX_NAME,
    MAX_PASSED,
    MAX_TEXT,
    builtin_kinds,
    is_circular,
    location,
    passed,
    text_of,
)
from autograder.shared.signatures import accepts, signatures
from autograder.shared.tree import arrays, copied, mapped

if TYPE_CHECKING:
    from autograder.sandbox.loading import StudentModules

MAX_KINDS = 32  # names of exception classes in one error
HINTS = ("", "signature", "missing", "absent", "circular")
THREADS_SECONDS = 0.01  # time for other student threads before arguments are checked again
_EXCEPTIONS = {name for name, cls in vars(builtins).items() if isinstance(cls, type) and issubclass(cls, BaseException)}


# Responses


@dataclass(frozen=True)
class Error:
    """An exception in the student's code. `kinds` are built-in names, most specific first.

    The hint is "missing" if there is no such function, "signature" if the function does not accept these arguments,
    "absent" if an argument is an object of an earlier call that does not exist, "circular" if modules import each other.
    `passed` are the functions that the exception passed through, innermost first, preceded by the name that a NameError
    did not find. The student's code can choose these names: only those of contract functions may be shown.
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


# Requests


class Request:
    """One request, whose parts may contain another one. Raises WireError if they cannot be sent.

    `answer` runs in the student's process, with the session and the parts; it returns the parts of the response.
    """

    kind: ClassVar[str]
    returns: ClassVar[tuple[type, ...]] = ()  # the types of the parts of the response
    is_stored: ClassVar[bool] = True  # whether the grader stores the value of the response
    is_kits: ClassVar[bool] = False  # whether it runs only the kit's own code
    answer: ClassVar[Callable[..., Sequence[Any]]]

    def __init__(self, *parts: Any, runs: str = ""):
        """Encode the request. `runs` is the function, or the modules, that it runs; by default, those of the inner one."""
        self.parts = parts
        self.runs: str = runs or "".join(item.runs for item in parts if isinstance(item, Request))
        sent = [item.payload if isinstance(item, Request) else item for item in parts]
        self.payload: bytes = wire.encode([self.kind, *sent])

    def check(self, *parts: Any) -> Response:
        """In the grader: the response with these parts; raises ValueError if they are not valid."""
        return Response(*parts)

    def response(self, message: Any, lines: Mapping[str, int]) -> Response:
        """Return the validated response; raises WireError if it is invalid or reports a fault.

        `lines` is the number of lines of each submitted file.
        """
        try:
            match message:
                case ["answered", *parts] if len(parts) == len(self.returns) and all(
                    map(isinstance, parts, self.returns)
                ):
                    return self.check(*parts)
                case ["raised", error]:
                    return Response(error=_error(error, lines))
                case ["fault", str() as text]:
                    raise WireError(text)
            raise ValueError("a malformed response")
        except ValueError as error:
            raise WireError(str(error)) from None


class Reference(NamedTuple):
    """A module of the reference implementation: its compiled code, and the functions that replace the student's.

    With no `functions`, only other references use it.
    """

    module: str
    code: bytes
    functions: tuple[str, ...] = ()


class Define(Request):
    """Put references in place of files; see `StudentProcess.load`. No code of the submission runs.

    A reference that has `REQUESTS`, classes, adds kinds of requests to the process. Its code may import this module.
    """

    kind, is_stored, is_kits = "define", False, True

    def __init__(self, references: Sequence[Reference] = (), helpers: Reference | None = None):
        super().__init__([*references, *([helpers] if helpers else [])], helpers is not None)

    @staticmethod
    def answer(session: "Session", references: list[Any], has_helpers: bool) -> Sequence[Any]:
        sys.modules.update(session.kit)
        added = session.imports.define(references, has_helpers)
        session.requests.update({request.kind: request for request in added})
        for name in session.kit:
            del sys.modules[name]
        return []


class Load(Request):
    """Import modules; reports the signatures of functions, by module, as `signatures` in shared/signatures.py does.

    Defaults are not sent.
    """

    kind, returns, is_stored = "load", (list,), False

    def __init__(self, modules: Sequence[str], functions: Mapping[str, Sequence[str]] | None = None):
        self.names = [(module, name) for module, names in (functions or {}).items() for name in names]
        super().__init__(modules, self.names, runs=" ".join(modules))

    @staticmethod
    def answer(session: "Session", modules: list[str], names: list[tuple[str, str]]) -> Sequence[Any]:
        session.flush()  # code of the submission could change earlier responses
        session.imports.load(modules)
        every = []
        for module, name in names:
            try:
                parameters = [s.parameters.values() for s in signatures(session.function(module, name))]
                every.append([[[p.name, int(p.kind), p.default is not p.empty] for p in each] for each in parameters])
            except Exception:  # the student's code may define any signature
                every.append([])
        return [every]

    def check(self, *parts: Any) -> Response:
        (every,) = parts
        if len(every) != len(self.names) or not all(isinstance(listed, list) for listed in every):
            raise ValueError("malformed signatures")
        return Response(
            {name: [*map(_signature, listed)] for name, listed in zip(self.names, every, strict=True)} or None
        )


class Call(Request):
    """Call `module.function`; returns the value, and what `checks` ask for.

    "pure": the arguments that changed; "new": whether the result shares memory with an argument. A number above 0 keeps
    the arguments and the result alive in the student's process. Arguments are plain data, functions (see wire.py) and
    handles of objects of earlier calls.
    """

    kind, returns = "call", (object, list, bool)

    def __init__(
        self,
        module: str,
        function: str,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        checks: Sequence[str] = (),
        number: int = 0,
    ):
        named = dict(kwargs or {})
        super().__init__(module, function, [*args], named, checks, number, runs=f"{module}.{function}")
        self.arguments = (*args, *named.values())

    @staticmethod
    def answer(
        session: "Session", module: str, name: str, args: Any, kwargs: Any, checks: Sequence[str], number: int
    ) -> Sequence[Any]:
        function = session.function(module, name)
        if not callable(function):
            raise Missing
        session.calling = function, args, kwargs
        args, kwargs = mapped(session.find, tuple(args)), mapped(session.find, kwargs)
        arguments = (*args, *kwargs.values())
        before = copied(arguments) if number or "pure" in checks else ()
        if number:
            session.arguments[number] = arguments, before
            session.objects[number] = dict(enumerate(arguments))
        try:
            value = function(*args, **kwargs)
        except BaseException as error:  # also SystemExit and KeyboardInterrupt
            raise Raised(error) from error
        if number:
            session.objects[number]["result"] = value
        changed = differences(arguments, before) if "pure" in checks else []
        shared = "new" in checks and any(np.shares_memory(a, b) for a in arrays(value) for b in arrays(arguments))
        return wire.sendable(value, session.limit), changed, shared

    def check(self, *parts: Any) -> Response:
        value, changed, shared = parts
        return Response(value, _changes(changed, self.arguments), shared)


class Changes(Request):
    """Report how the arguments of an earlier `call` with this number differ from their values before it."""

    kind, returns = "changes", (list,)

    def __init__(self, number: int, call: Call):
        super().__init__(number)
        self.arguments = call.arguments

    @staticmethod
    def answer(session: "Session", number: int) -> Sequence[Any]:
        if threading.active_count() > 1:
            time.sleep(THREADS_SECONDS)  # give other threads time to run
        return [differences(*session.arguments[number]) if number in session.arguments else []]

    def check(self, *parts: Any) -> Response:
        (changed,) = parts
        return Response(changed=_changes(changed, self.arguments))


class Look(Request):
    """Return the present value of an object of an earlier call."""

    kind, returns = "look", (object,)

    @staticmethod
    def answer(session: "Session", handle: Handle) -> Sequence[Any]:
        return [wire.sendable(session.find(handle), session.limit)]


class Write(Request):
    """Overwrite an array of an earlier call in place; no effect unless it is a writable array of that shape."""

    kind = "write"

    @staticmethod
    def answer(session: "Session", handle: Handle, value: Any) -> Sequence[Any]:
        with suppress(Absent, TypeError, ValueError):
            target = session.find(handle)
            if isinstance(target, np.ndarray) and target.flags.writeable and target.shape == np.shape(value):
                np.copyto(target, value)
        return []


REQUESTS: dict[str, type[Request]] = {cls.kind: cls for cls in (Define, Load, Call, Changes, Look, Write)}


# Validation


def _signature(parts: Any) -> Signature:
    """Return the signature that a process reports; raises ValueError for any other data."""
    try:
        fields = [(name, kind, None if has_default else Parameter.empty) for name, kind, has_default in parts]
        return Signature([Parameter(name, kind, default=default) for name, kind, default in fields])
    except (TypeError, LookupError) as error:
        raise ValueError(f"a malformed signature: {error}") from None


def _changes(parts: list[Any], arguments: tuple[Any, ...]) -> tuple[Change, ...]:
    changes = list[Change]()
    for entry in parts[: MAX_CHANGES + 1]:
        match entry:
            case [argument, tuple() as path, str() as how] if type(argument) is int and how in CHANGED:
                if len(changes) == MAX_CHANGES or not 0 <= argument < len(arguments):
                    raise ValueError("too many changes, or of an argument that was not sent")
                changes.append(Change(argument, _known_path(arguments[argument], path), how))
            case _:
                raise ValueError("a malformed change")
    return tuple(changes)


def _known_path(argument: Any, path: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the path, as far as it leads through arguments that the grader sent.

    A student's process could report any path, and its keys would put text into a message. The grader does not know the
    contents of an object behind a handle.
    """
    if isinstance(argument, Handle):
        return ()
    value = argument
    for depth, key in enumerate(path, 1):
        is_number = isinstance(value, list | tuple) and type(key) is int and 0 <= key < len(value)
        if not is_number and not (isinstance(value, dict) and wire.is_key(key) and key in value):
            raise ValueError("a path that does not exist in the argument")
        value = value[key]
        if isinstance(value, Handle):
            return tuple(path[:depth])
    return path


def _error(parts: Any, lines: Mapping[str, int]) -> Error:
    """Validate an error. Its place must exist in the submission, since the place is shown."""
    match parts:
        case [list() as kinds, str() as text, str() as file, int() as line, str() as hint, list() as passed] if (
            0 < len(kinds) < MAX_KINDS and len(passed) <= MAX_PASSED
        ):
            names = tuple(kind for kind in kinds if isinstance(kind, str) and kind in _EXCEPTIONS)
            # A name that is not a file of the submission could be any text.
            position = (file, line if 0 < line <= lines[file] + 1 else 0) if file in lines else ("", 0)
            through = tuple(name[:MAX_NAME] for name in passed if isinstance(name, str))
            shortened = text[:MAX_TEXT].encode(errors="replace").decode()  # without surrogates
            return Error(names or ("Exception",), shortened, *position, hint if hint in HINTS else "", through)
    raise ValueError("a malformed error")


# Answers: in the student's process, and for trusted functions in the grader


class Session:
    """Answers requests, and keeps the objects of calls that have a number."""

    imports: "StudentModules"
    kit: Mapping[str, ModuleType]  # modules that the code of further requests may import
    editor: Any  # of edit_runner.py, in a process that received it
    flush: Callable[[], None]  # sends the responses so far

    def __init__(self, limit: int):
        """Values of half of `limit` bytes or more are reported as too large."""
        self.limit, self.requests = limit, dict(REQUESTS)
        self.calling: tuple[Any, ...] = ()  # the function of the current request and its arguments
        # By the number of the call: its objects by the first step of a `Handle`, and its arguments with copies made before it.
        self.objects: dict[int, dict[str | int, Any]] = {}
        self.arguments: dict[int, tuple[tuple[Any, ...], tuple[Any, ...]]] = {}

    def answer(self, request: bytes) -> Sequence[Any]:
        """Return the parts of the response; raises the exceptions of the student's code."""
        kind, *parts = wire.decode(request)
        asked = self.requests[kind]
        try:
            return asked.answer(self, *parts)
        except BaseException as error:
            if kind in REQUESTS or isinstance(error, Raised):
                raise
            raise Raised(error) from error  # added requests run code of the submission

    def function(self, module: str, name: str) -> Any:
        """Return the function of a loaded module, None if there is none."""
        return getattr(sys.modules.get(module), name, None)

    def find(self, leaf: Any) -> Any:
        """Return the object of a `Handle`, any other leaf itself; raises Absent."""
        if type(leaf) is not Handle:
            return leaf
        value: Any = self.objects.get(leaf.call, {})
        try:
            for step in leaf.path:
                if type(value) not in (list, dict) and not isinstance(value, tuple):
                    raise LookupError
                value = value[step]
        except (LookupError, TypeError):
            raise Absent from None
        return value


def described(
    error: BaseException,
    folder: str,
    function: Callable[..., Any] | None = None,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
) -> list[Any]:
    """Return the fields of `Error`, of which the place is the last line in `folder` that the error passed through."""

    def is_students(name: str) -> bool:
        return name.startswith(folder)

    file, line = location(error.__traceback__, is_students)
    hint = ""
    if isinstance(error, SyntaxError) and error.filename and error.filename.startswith(folder):
        file, line = os.path.basename(error.filename), error.lineno or 0
    elif isinstance(error, TypeError) and function is not None and not _binds(function, args, kwargs or {}):
        hint = "signature"
    elif isinstance(error, Absent | Missing):
        hint = type(error).__name__.lower()
    elif is_circular(error):
        hint = "circular"
    return [builtin_kinds(error), text_of(error, is_students), file, min(line, 10**6), hint, passed(error, is_students)]


def _binds(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    return all(accepts(signature, args, kwargs) for signature in signatures(function))
