"""What runs in the student's process: loads one module and answers calls. Knows no test, no solution, no expected value.

The grader sends a number and then as many requests, since a round trip costs more than a call; the replies come in the same
order. A request:
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
import functools
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
from dataclasses import dataclass
from types import FunctionType, ModuleType, TracebackType
from typing import Any, ClassVar

import numpy as np

from autograder.sandbox import wire
from autograder.sandbox.plain import copied, differing, sendable, shares

MAX_TEXT = 300
ESSENTIAL: frozenset[str] = frozenset()  # modules that NumPy needs: a file of the student's does not take their place
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


@dataclass
class Context:
    """What one set of the student's modules sees, put away while another one runs."""

    modules: dict[str, ModuleType]
    path: list[str]
    builtins: dict[str, Any]


class Refused(Exception):
    """The grader did not answer a stand-in."""


class Worker:
    """The student's side of one connection."""

    def __init__(self, connection: socket.socket, folder: str, limit: int):
        self.line, self.folder, self.limit = wire.Line(connection, limit), folder, min(limit, wire.FROM_STUDENT)
        self.baseline: set[str] = set()  # modules that were there before any of the student's
        self.contexts: dict[str, Context] = {}
        self.current = ""
        self.handles: dict[int, Callable[..., Any]] = {}
        self.numbers = itertools.count(1)
        self.answers: dict[bytes, Any] = {}  # neighbours are pure: the same question has the same answer
        self.lock = threading.Condition(threading.Lock())
        self.busy = self.depth = 0
        self.calls = 0
        self.before: dict[int, list[tuple[Any, Any]]] = {}  # arguments of calls that must be pure, and as they were
        self.held: list[bytes] = []
        self.sent = time.monotonic()

    def serve(self) -> None:
        """Answer requests until the grader hangs up."""
        while True:
            try:
                requests = [self.line.receive() for _ in range(wire.decode(self.line.receive()))]
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
        if not self.contexts:
            self.begin()
        self.enter(context)
        for name, functions in stand_ins.items():
            sys.modules[name] = self.stand_in(name, functions)
        for name in modules:
            outcome = self.guarded(importlib.import_module, (name,), {})
            if outcome[0] == "raised":
                return ("failed", outcome[1])
        for function in replaced:
            self.replace(getattr(sys.modules[modules[0]], function, None), self.asker(f"{modules[0]}.{function}"))
        return ("loaded",)

    def begin(self) -> None:
        """Let imports find the submission first, as at home: also before modules that only this process has needed."""
        own = {entry.removesuffix(".py") for entry in os.listdir(self.folder)}
        for name in own - ESSENTIAL - set(sys.builtin_module_names):
            sys.modules.pop(name, None)
        sys.path.insert(0, self.folder)
        sys.path_hooks.insert(0, self.finder)
        self.baseline = set(sys.modules)
        self.contexts[""] = Context({}, list(sys.path), dict(vars(builtins)))

    def replace(self, original: Any, function: Callable[..., Any]) -> None:
        """Put a function in the place of a student's, wherever the submission keeps it."""
        if not callable(original):
            return
        for module in [sys.modules[name] for name in self.students()]:
            for name, value in list(vars(module).items()):
                other = _replaced(value, original, function)
                if other is not value:
                    setattr(module, name, other)

    def students(self) -> list[str]:
        """The names of the modules that come from the submission."""
        return [name for name, module in list(sys.modules.items()) if name not in self.baseline and self.owns(module)]

    def owns(self, module: ModuleType) -> bool:
        try:
            places = [module.__dict__.get("__file__"), *module.__dict__.get("__path__", ())]
        except Exception:  # something that is no module
            return True
        return any(str(place).startswith(self.folder) for place in places)

    def finder(self, path: str) -> importlib.machinery.FileFinder:
        """What finds modules in the submission's folders."""
        if not path.startswith(self.folder):
            raise ImportError
        return importlib.machinery.FileFinder(path, (Compiling, [".py"]))

    def enter(self, context: str) -> None:
        """Let imports see the modules of this context, and no others of the student's."""
        if context != self.current:
            modules = {name: sys.modules.pop(name) for name in self.students()}
            self.contexts[self.current] = Context(modules, list(sys.path), dict(vars(builtins)))
            known, self.current = self.contexts.get(context, self.contexts[""]), context
            sys.modules.update(known.modules)
            sys.path[:] = known.path
            for name in vars(builtins).keys() - known.builtins.keys():
                del vars(builtins)[name]
            vars(builtins).update(known.builtins)

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

        def others() -> list[str]:
            """The student's own names for `import *`, none where the file cannot be run."""
            names = [name for name in _defined(path) if name not in functions]
            try:
                return [name for name in names if hasattr(load_own(), name)]
            except Exception:
                return []

        def other(attribute: str) -> Any:
            if attribute == "__all__":
                return [*functions, *others()]
            if (
                attribute.startswith("__")
                and attribute.endswith("__")
                and attribute not in ("__version__", "__author__")
            ):
                raise AttributeError(attribute)
            return getattr(load_own(), attribute)

        for function in functions:
            setattr(module, function, self.asker(f"{name}.{function}"))
        module.__file__ = path
        module.__spec__ = importlib.machinery.ModuleSpec(name, None, origin=path)
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
            ask.__module__, _, ask.__name__ = target.rpartition(".")
            ask.__qualname__ = ask.__name__
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
                outcome = self.invoked(self.handles[reply[1].id], reply[2])
                if outcome[0] == "returned":
                    outcome = ("returned", sendable(outcome[1], self.limit), [], False)
                self.line.send(wire.encode(outcome))
        finally:
            for number in mine:
                self.handles.pop(number, None)

    def invoked(self, function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Call a function of the student's in the midst of a question; its threads may ask in the meantime.

        What they have asked is answered before the function's own outcome is sent: the wire is in strict order.
        """
        self.depth += 1
        mine = self.depth
        self.lock.release()
        try:
            outcome = self.guarded(function, args, {})
        finally:
            self.lock.acquire()
            self.lock.wait_for(lambda: self.depth == mine)
            self.depth -= 1
            self.lock.notify_all()
        return outcome

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


def _replaced(value: Any, original: Any, function: Callable[..., Any], depth: int = 4) -> Any:
    """The value with `function` for `original`: itself, or kept in a container, a partial, a default or a class."""
    if value is original:
        return function
    kind = type(value)
    if depth == 0:
        return value

    def inside(part: Any) -> Any:
        return _replaced(part, original, function, depth - 1)

    if kind is dict:
        value.update({key: inside(part) for key, part in value.items()})
    elif kind is list:
        value[:] = map(inside, value)
    elif kind is tuple:
        parts = tuple(map(inside, value))
        return parts if any(new is not old for new, old in zip(parts, value, strict=True)) else value
    elif kind is functools.partial:
        return functools.partial(inside(value.func), *map(inside, value.args), **inside(dict(value.keywords)))
    elif kind is FunctionType:
        value.__defaults__, value.__kwdefaults__ = inside(value.__defaults__), inside(value.__kwdefaults__)
    elif kind is staticmethod:
        held = inside(value.__func__)
        return value if held is value.__func__ else staticmethod(held)
    elif kind is type:
        for name, part in list(vars(value).items()):
            other = part if name.startswith("__") else inside(part)
            if other is not part:
                setattr(value, name, other)
    return value


def _defined(path: str, seen: tuple[str, ...] = ()) -> list[str]:
    """The names that `import *` would take from a file, without running it."""
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return []
    names: list[str] = []
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                names.append(alias.asname or alias.name.partition(".")[0])
            other = os.path.join(os.path.dirname(path), f"{getattr(node, 'module', None)}.py")
            if names[-1] == "*" and other not in seen:
                names += _defined(other, (*seen, path))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
        elif not isinstance(node, ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    assigned = [n for n in tree.body if isinstance(n, ast.Assign | ast.AnnAssign)]
    told = [ast.literal_eval(n.value) for n in assigned if n.value is not None and _is_all(n)]
    return list(told[-1]) if told else [name for name in dict.fromkeys(names) if not name.startswith(("_", "*"))]


def _is_all(node: ast.Assign | ast.AnnAssign) -> bool:
    texts = isinstance(node.value, ast.List | ast.Tuple) and all(
        isinstance(part, ast.Constant) and isinstance(part.value, str) for part in node.value.elts
    )
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    return texts and ast.unparse(target) == "__all__"
