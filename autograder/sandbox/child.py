"""What runs in the student's process: loads one module and answers calls. Knows no test, no solution, no expected value.

The grader sends lists of requests, since a message costs more than a call; the replies come in the same order. A request:
    ("load", context, modules, stand_ins, replaced)   -> ("loaded",) or ("failed", error)
    ("call", context, module, function, args, kwargs, checks)
                                                      -> ("returned", value, changed, shared) or ("raised", error)
    ("again", number)                                 -> ("changed", indices): which arguments of that call differ now
While it works on a call the student's side may ask, and be asked, in strict order:
    ("ask", name or handle, args, kwargs)             -> ("answer", value), ("same", number of the argument that is the
                                                         answer itself) or ("refused", kind, text)
    ("invoke", handle, args)                          -> ("returned", ...) or ("raised", error)
A context is a set of imported modules of its own: in each, the same file may see other neighbours.
An error is (kinds, text, file, line, hint): the built-in names of its classes, its text, where in the student's files.
"""

import ast
import builtins
import importlib
import importlib.machinery
import importlib.util
import inspect
import itertools
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from types import ModuleType, TracebackType
from typing import Any, ClassVar

import numpy as np

from autograder.sandbox import wire
from autograder.sandbox.plain import copied, differing, sendable, shares

MAX_TEXT = 300
REMEMBERED = 1000
WARM = 20
HELD, HELD_BYTES = 0.05, 65_536  # replies are sent together: after so many seconds, or bytes
ErrorTuple = tuple[list[str], str, str, int, str]


class Compiling(importlib.machinery.SourceFileLoader):
    """Compiles each file once, though every context runs it anew."""

    compiled: ClassVar[dict[tuple[bytes, str], Any]] = {}

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> Any:  # type: ignore[override]
        if (data, path) not in self.compiled:
            self.compiled[data, path] = super().source_to_code(data, path, _optimize=_optimize)
        return self.compiled[data, path]


class Refused(Exception):
    """The grader did not answer a stand-in."""


class Worker:
    """The student's side of one connection."""

    def __init__(self, connection: socket.socket, folder: str, limit: int):
        self.line, self.folder, self.limit = wire.Line(connection, limit), folder, min(limit, wire.FROM_STUDENT)
        self.own: set[str] = set()  # names of modules that the submission may have
        self.contexts: dict[str, dict[str, ModuleType]] = {"": {}}
        self.current = ""
        self.handles: dict[int, Callable[..., Any]] = {}
        self.numbers = itertools.count(1)
        self.answers: dict[bytes, Any] = {}  # neighbours are pure: the same question has the same answer
        self.lock = threading.RLock()
        self.busy = 0
        self.calls = 0
        self.before: dict[
            int, list[tuple[Any, Any]]
        ] = {}  # the arguments of the calls that must be pure, and as they were
        self.held: list[bytes] = []
        self.sent = time.monotonic()

    def serve(self) -> None:
        """Answer requests until the grader hangs up."""
        while True:
            try:
                requests = wire.decode(self.line.receive())
            except wire.Gone:
                return
            self.sent = time.monotonic()
            for number, payload in enumerate(requests, 1):
                kind, *parts = wire.decode(payload)
                reply = wire.encode(getattr(self, "on_" + kind)(*parts))
                with self.lock:  # a thread of the student's may be asking at this moment
                    self.held.append(reply)
                    late = time.monotonic() - self.sent > HELD or sum(map(len, self.held)) > HELD_BYTES
                    if late or number == len(requests):
                        self.flush()

    def flush(self, *more: bytes) -> None:
        """Send the replies that are held back, and what comes after them."""
        self.line.send(*self.held, *more)
        self.held, self.sent = [], time.monotonic()

    # loading

    def on_load(
        self, context: str, modules: list[str], stand_ins: dict[str, list[str]], replaced: list[str]
    ) -> tuple[Any, ...]:
        if self.folder not in sys.path:
            sys.path.insert(0, self.folder)
            sys.path_hooks.insert(0, self.finder)
            self.own = {entry.removesuffix(".py") for entry in os.listdir(self.folder)}
        self.enter(context)
        for name, functions in stand_ins.items():
            sys.modules[name] = self.stand_in(name, functions)
        for name in modules:
            outcome = self.guarded(importlib.import_module, (name,), {})
            if outcome[0] == "raised":
                return ("failed", outcome[1])
        for function in replaced:
            setattr(sys.modules[modules[0]], function, self.asker(f"{modules[0]}.{function}"))
        return ("loaded",)

    def finder(self, path: str) -> importlib.machinery.FileFinder:
        """What finds modules in the submission's folders."""
        if not path.startswith(self.folder):
            raise ImportError
        return importlib.machinery.FileFinder(path, (Compiling, [".py"]))

    def enter(self, context: str) -> None:
        """Let imports see the modules of this context, and no others of the student's."""
        if context != self.current:
            named = [(name, module) for name, module in sys.modules.items() if name.partition(".")[0] in self.own]
            held = [name for name, module in named if str(getattr(module, "__file__", "")).startswith(self.folder)]
            self.contexts[self.current] = {name: sys.modules.pop(name) for name in held}
            self.current = context
            sys.modules.update(self.contexts.get(context, {}))

    def stand_in(self, name: str, functions: list[str]) -> ModuleType:
        """A module whose contract functions answer over the wire; other names come from the student's own file."""
        module = ModuleType(name)
        path = os.path.join(self.folder, name + ".py")
        own: list[ModuleType] = []

        def load_own() -> ModuleType:
            if not own:
                spec = importlib.util.spec_from_file_location(name, path)
                if spec is None or spec.loader is None or not os.path.isfile(path):
                    raise AttributeError(name)
                own.append(importlib.util.module_from_spec(spec))
                spec.loader.exec_module(own[0])
            return own[0]

        def other(attribute: str) -> Any:
            if attribute == "__all__":
                return [*functions, *(n for n in _defined(path) if n not in functions)]
            if attribute.startswith("__") and attribute.endswith("__"):
                raise AttributeError(attribute)
            return getattr(load_own(), attribute)

        for function in functions:
            setattr(module, function, self.asker(f"{name}.{function}"))
        module.__file__ = path
        module.__getattr__ = other  # type: ignore[method-assign]
        return module

    # calling the student

    def on_call(
        self, context: str, module: str, function: str, args: list[Any], kwargs: dict[str, Any], checks: list[str]
    ) -> tuple[Any, ...]:
        self.calls += 1
        self.enter(context)
        target = getattr(sys.modules.get(module), function, None)
        if not callable(target):
            return ("raised", (["AttributeError"], "", "", 0, "missing"))
        local = tuple(self.local(arg) for arg in args)
        kwargs = {name: self.local(arg) for name, arg in kwargs.items()}
        before = [(arg, copied(arg)) for arg in (*local, *kwargs.values())] if "pure" in checks else []
        outcome = self.guarded(target, local, kwargs)
        if outcome[0] == "raised":
            return outcome
        if before:
            self.before[self.calls] = before
        shared = "new" in checks and shares(outcome[1], local)
        return ("returned", sendable(outcome[1], self.limit), differing(before), shared)

    def on_again(self, number: int) -> tuple[Any, ...]:
        return ("changed", differing(self.before.pop(number, [])))

    def guarded(self, target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        self.busy += 1
        try:
            return ("returned", target(*args, **kwargs))
        except BaseException as error:
            return ("raised", self.describe(error, target, args, kwargs))
        finally:
            self.busy -= 1

    def describe(
        self,
        error: BaseException,
        target: Callable[..., Any] | None = None,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> ErrorTuple:
        kinds = builtin_kinds(error)
        file, line = _place(error.__traceback__, self.folder)
        hint = ""
        if isinstance(error, SyntaxError) and error.filename and error.filename.startswith(self.folder):
            file, line = os.path.basename(error.filename), error.lineno or 0
        elif isinstance(error, TypeError) and target is not None and not _binds(target, args, kwargs or {}):
            hint = "signature"
        elif isinstance(error, Refused):
            hint = "refused"
        try:
            text = str(error.msg if isinstance(error, SyntaxError) else error)[:MAX_TEXT]
        except BaseException:
            text = ""
        return (kinds, text, file, min(line, 10**6), hint)

    # asking the grader

    def local(self, value: Any) -> Any:
        return self.asker(value) if isinstance(value, wire.Handle) else value

    def asker(self, target: "str | wire.Handle") -> Callable[..., Any]:
        def ask(*args: Any, **kwargs: Any) -> Any:
            with self.lock:
                if not self.busy:
                    raise RuntimeError("this function was used after the call that it belonged to")
                return self.ask(target, args, kwargs)

        if isinstance(target, str):
            ask.__name__ = ask.__qualname__ = target.rpartition(".")[2]
        return ask

    def ask(self, target: "str | wire.Handle", args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        mine: list[int] = []
        question = wire.encode(("ask", target, self.outgoing(args, mine), self.outgoing(kwargs, mine)))
        if question in self.answers:
            return copied(self.answers[question])
        self.flush(question)
        try:
            while True:
                reply = wire.decode(self.line.receive())
                if reply[0] == "answer":
                    if isinstance(target, str) and not mine and len(self.answers) < REMEMBERED:
                        self.answers[question] = copied(reply[1])
                    return reply[1]
                if reply[0] == "same":
                    return args[reply[1]]
                if reply[0] == "refused":
                    raise _REFUSALS.get(reply[1], Refused)(reply[2])
                outcome = self.guarded(self.handles[reply[1].id], reply[2], {})
                if outcome[0] == "returned":
                    outcome = ("returned", sendable(outcome[1], self.limit), [], False)
                self.line.send(wire.encode(outcome))
        finally:
            for number in mine:
                self.handles.pop(number, None)

    def outgoing(self, value: Any, mine: list[int]) -> Any:
        """Arguments for the grader: callables become handles, everything else plain data."""
        if type(value) is np.ndarray:
            return sendable(value, self.limit)
        if isinstance(value, tuple | list):
            parts = [self.outgoing(part, mine) for part in value]
            return tuple(parts) if isinstance(value, tuple) else parts
        if type(value) is dict:
            return {key: self.outgoing(part, mine) for key, part in value.items()}
        if callable(value) and not isinstance(value, type):
            number = next(self.numbers)
            self.handles[number] = value
            mine.append(number)
            return wire.Handle(number)
        return sendable(value, self.limit)


def warm_up() -> None:
    """Do in the fork server what every child does: Python and NumPy are faster from the second time on."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        worker, line = Worker(theirs, "/nowhere", wire.FROM_STUDENT), wire.Line(ours, wire.FROM_STUDENT)
        x = np.linspace(0, 1, 6).reshape(2, 3)
        nested = {"table": x, "parts": [{"a": x[0], "b": 1, "c": "text"}, (x > 0, 2.0, None)]}
        for _ in range(WARM):
            for function, args in (
                ("array", [[1.0, 2.0]]),
                ("dot", [x, x.T]),
                ("mean", [x]),
                ("exp", [x]),
                ("copy", [x]),
            ):
                call = wire.encode(("", "numpy", function, args, {}, ["pure", "new"]))
                wire.encode(worker.on_call(*wire.decode(call)))
            wire.decode(wire.encode(nested))
            line.send(wire.encode(("answer", x)))
            worker.busy, worker.answers = 1, {}
            worker.ask("nobody", (x, nested), {"eps": 1.0})
            line.receive()


_REFUSALS: dict[str, type[Exception]] = {"ValueError": ValueError, "TypeError": TypeError}


def builtin_kinds(error: BaseException) -> list[str]:
    """The built-in classes of an error by name, the most special first."""
    kinds = [cls.__name__ for cls in type(error).__mro__ if getattr(builtins, cls.__name__, None) is cls]
    return kinds or ["Exception"]


def _place(trace: TracebackType | None, folder: str) -> tuple[str, int]:
    """The last line of the student's own files that the error passed through."""
    place = ("", 0)
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if name.startswith(folder):
            place = (os.path.basename(name), trace.tb_lineno)
        trace = trace.tb_next
    return place


def _binds(target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    try:
        inspect.signature(target).bind(*args, **kwargs)
    except TypeError:
        return False
    except ValueError:
        pass
    return True


def _defined(path: str) -> list[str]:
    """The public names that a file defines at its top level, without running it."""
    try:
        with open(path, "rb") as file:
            body = ast.parse(file.read()).body
    except (OSError, SyntaxError, ValueError):
        return []
    names = [node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    names += [t.id for node in body if isinstance(node, ast.Assign) for t in node.targets if isinstance(t, ast.Name)]
    return [name for name in names if not name.startswith("_")]
