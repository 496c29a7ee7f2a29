"""Imports the student's modules, each set of them in a context of its own.

A context is a set of imported modules: in each, the same file may see other neighbours. In the place of a neighbour stands a
module whose contract functions are answered by the grader, so that nobody pays for a mistake in another file.
"""

import ast
import builtins
import contextlib
import importlib
import importlib.machinery
import importlib.util
import itertools
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import CodeType, ModuleType
from typing import Any, TypeGuard

from numpy import geterr, seterr

MAX_REMOVED = 64  # modules of the baseline that a submission takes the place of, or removes
Functions = Mapping[str, Callable[..., Any]]


class Loader(importlib.machinery.SourceFileLoader):
    """Runs a file of the submission; compiled once, though every context runs it anew."""

    def __init__(self, name: str, path: str, submission: "StudentModules"):
        super().__init__(name, path)
        self.submission = submission

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> Any:  # type: ignore[override]
        names, edited = self.submission.replaced(path), self.submission.edited.get(path)
        if names or edited:
            tree = edited or ast.parse(data, path)
            return compile(with_replaced(tree, names), path, "exec", dont_inherit=True, optimize=_optimize)
        if (data, path) not in self.submission.compiled:
            self.submission.compiled[data, path] = super().source_to_code(data, path, _optimize=_optimize)
        return self.submission.compiled[data, path]

    def exec_module(self, module: ModuleType) -> None:
        names = self.submission.replaced(self.path)
        # A function that the file does not have, or gives another name, is there all the same.
        vars(module).update({**names, **hidden_names(names)})
        super().exec_module(module)


class ProxyModule(ModuleType):
    """Stands where a file of the student's would: contract functions are answered by the grader, other names by the file."""

    def __init__(self, name: str, path: str, functions: Functions, load: Callable[[], ModuleType]):
        super().__init__(name)
        vars(self).update(functions)
        self.__file__ = path
        self.__spec__ = importlib.machinery.ModuleSpec(name, None, origin=path)
        self._functions, self._load = tuple(functions), load

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return [*self._functions, *self._others()]
        if name.startswith("__") and name.endswith("__") and name not in ("__version__", "__author__"):
            raise AttributeError(name)
        if "_load" not in vars(self):  # a copy that is not complete yet
            raise AttributeError(name)
        return getattr(self._load(), name)

    def _others(self) -> list[str]:
        """The file's own names for `import *`, none where it cannot be run."""
        names = [name for name in exported_names(str(self.__file__)) if name not in self._functions]
        try:
            return [name for name in names if hasattr(self._load(), name)]
        except Exception:
            return []


@dataclass
class Context:
    """What one set of the student's modules sees, put away while another one runs.

    To put it away, and to bring it back, nothing is run that the student's code may have replaced, and no object of its own:
    until the builtins are back, no name of theirs is used.
    """

    builtins: dict[str, Any]
    path: Any
    streams: tuple[Any, Any]
    filters: Any  # of warnings
    errors: Any = None  # how NumPy treats those of numbers
    modules: dict[str, ModuleType] = field(default_factory=dict)

    @classmethod
    def present(cls, usual: dict[str, Any]) -> "Context":
        """The present one, after which the builtins are the `usual` ones; its modules are still to be noted."""
        of_sys, names = sys.__dict__, builtins.__dict__
        streams = of_sys.get("stdout"), of_sys.get("stderr")
        found = cls(names.copy(), of_sys.get("path"), streams, warnings.__dict__.get("filters"))
        _bind(usual)
        found.errors = geterr()
        return found

    def copy(self) -> "Context":
        """The same for modules that have changed nothing yet, with streams of their own."""
        return replace(
            self, modules={}, path=list(self.path), filters=list(self.filters), streams=(_stream(1), _stream(2))
        )

    def enter(self) -> None:
        """Bring it back."""
        sys.modules.update(self.modules)
        sys.path, warnings.filters = self.path, self.filters
        sys.stdout, sys.stderr = self.streams
        seterr(**self.errors)
        _bind(self.builtins)


def _bind(names: dict[str, Any]) -> None:
    """Let the builtins be these."""
    present = builtins.__dict__
    present.update(names)
    for name in present.keys() - names.keys():
        del present[name]


def _stream(number: int) -> Any:
    """A new stream to a descriptor, which it does not close; None, to which `print` writes nothing, where there is none."""
    try:
        return open(number, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
    except OSError:
        return None


class Baseline:
    """What is imported before any of the student's code; noted in the fork server.

    To look through all modules in a student's process would cost more than all else of an import: each object that is so
    much as touched makes the kernel copy the page of memory that it shares with the fork server.
    """

    def __init__(self, essential: frozenset[str]):
        """`essential` are modules that NumPy needs: a file of the submission does not take their place."""
        self.essential = essential | set(sys.builtin_module_names)
        self.modules = frozenset(sys.modules)
        self.builtins = dict(vars(builtins))


class StudentModules:
    """The files of one submission as modules."""

    def __init__(self, folder: str, baseline: "Baseline"):
        self.folder, self.baseline = folder, baseline
        self.compiled: dict[tuple[bytes, str], Any] = {}
        self.edited: dict[str, ast.Module] = {}  # what is run in the place of a file: see repairing.py
        self._replaced: dict[tuple[str, str], Functions] = {}  # by context and file
        self._contexts: dict[str, Context] = {}
        self._current = ""

    def load(self, context: str, modules: list[str], proxies: Mapping[str, Functions], replaced: Functions) -> None:
        """Import modules into a context of their own, the first with other functions; raises whatever they raise."""
        if not self._contexts:
            self._begin()
        self.enter(context)
        for name, functions in proxies.items():
            sys.modules[name] = self._proxy(name, functions)
        if replaced:
            for path in self._files_of(modules[0], replaced):
                self._replaced[context, path] = replaced
        for name in modules:
            importlib.import_module(name)

    def replaced(self, path: str) -> Functions:
        """The functions that the present context replaces in a file: what other files call by these names stays theirs."""
        return self._replaced.get((self._current, path), {})

    def _files_of(self, module: str, names: Iterable[str]) -> set[str]:
        """A module's own file, and those from which it imports functions of these names: it is imported once to see that."""
        with contextlib.suppress(BaseException):  # it may need just these functions
            importlib.import_module(module)
        own = vars(sys.modules.get(module, ModuleType(module)))
        codes = [getattr(own.get(name), "__code__", None) for name in names]
        for name in self._own_modules():
            if not isinstance(sys.modules[name], ProxyModule):
                del sys.modules[name]
        return {self._path(module), *(code.co_filename for code in codes if isinstance(code, CodeType))}

    def enter(self, context: str) -> None:
        """Let imports see the modules of this context, and no others of the student's."""
        if context == self._current:
            return
        if self._current:
            left = self._contexts[self._current] = Context.present(self.baseline.builtins)
            left.modules = {name: sys.modules[name] for name in self._own_modules()}
            for name in left.modules:
                del sys.modules[name]
        self._current = context
        (self._contexts.get(context) or self._contexts[""].copy()).enter()

    def _begin(self) -> None:
        """Let imports find the submission first, as at home: also before modules that only this process has needed."""
        own = {entry.removesuffix(".py") for entry in os.listdir(self.folder)}
        for name in own - self.baseline.essential:
            sys.modules.pop(name, None)
        sys.path.insert(0, self.folder)
        sys.path_hooks.insert(0, self._finder)
        self._contexts[""] = Context.present(self.baseline.builtins)

    def _finder(self, path: str) -> importlib.machinery.FileFinder:
        """What finds modules in the submission's folders."""
        if not path.startswith(self.folder):
            raise ImportError

        def loader(name: str, file: str) -> Loader:
            return Loader(name, file, self)

        return importlib.machinery.FileFinder(path, (loader, [".py"]))  # type: ignore[arg-type]

    def _own_modules(self) -> list[str]:
        """The names of the modules that come from the submission: they are among the last, as later imports are."""
        count = max(0, len(sys.modules) - len(self.baseline.modules)) + MAX_REMOVED
        last = itertools.islice(reversed(sys.modules.items()), count)
        return [name for name, module in last if self._owns(module)]

    def _owns(self, module: ModuleType) -> bool:
        try:
            places = [module.__dict__.get("__file__"), *module.__dict__.get("__path__", ())]
            return any(str(place).startswith(self.folder) for place in places)
        except Exception:  # something that is no module, or has no place
            return True

    def _path(self, module: str) -> str:
        return os.path.join(self.folder, module + ".py")

    def _proxy(self, name: str, functions: Functions) -> ProxyModule:
        path = self._path(name)
        loaded: list[ModuleType] = []

        def load() -> ModuleType:
            """The file itself, run when the first of its other names is wanted."""
            if not loaded:
                if not os.path.isfile(path):
                    raise AttributeError(name)
                spec = importlib.util.spec_from_file_location(name, path, loader=Loader(name, path, self))
                if spec is None or spec.loader is None:
                    raise AttributeError(name)
                loaded.append(importlib.util.module_from_spec(spec))
                spec.loader.exec_module(loaded[0])
            return loaded[0]

        return ProxyModule(name, path, functions, load)


# A student's function replaced where it is defined: from then on its name means another one.
#
# After each statement of the top level that binds the name, `name = <the other function>` is inserted, so that whatever keeps the
# function afterwards (a table, a default value, a class, another name) keeps the other one.


def with_replaced(tree: ast.Module, names: Mapping[str, Callable[..., Any]]) -> ast.Module:
    """The program with each of `names` bound anew; to be run where `hidden_names(names)` are defined."""
    tree.body = _with_bindings(tree.body, names)
    return ast.fix_missing_locations(tree)


def hidden_names(names: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """The functions under names that no program can spell."""
    return {_hidden(name): function for name, function in names.items()}


def _hidden(name: str) -> str:
    return f"<{name}>"


def _with_bindings(statements: list[ast.stmt], names: Mapping[str, Any]) -> list[ast.stmt]:
    changed: list[ast.stmt] = []
    for statement in statements:
        _inside(statement, names)
        changed += [statement, *_bindings(statement, names)]
    return changed


def _inside(statement: ast.stmt, names: Mapping[str, Any]) -> None:
    """The same in the branches of a compound statement, which belong to the top level as well."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    for name in ("body", "orelse", "finalbody"):
        branch = getattr(statement, name, None)
        if isinstance(branch, list):
            setattr(statement, name, _with_bindings(branch, names))
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        part.body = _with_bindings(part.body, names)


def _bindings(statement: ast.stmt, names: Mapping[str, Any]) -> list[ast.stmt]:
    bound = {name for name, _ in bound_names([statement])}
    hit = [name for name in names if name in bound or "*" in bound]
    pairs = [(name, name) for name in hit]
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name):
        pairs += [(statement.value.id, name) for name in hit]
    return [
        ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], ast.Name(_hidden(source), ast.Load())), statement)
        for name, source in pairs
    ]


# Which names `import *` takes from a file, found without running it


def exported_names(path: str, seen: tuple[str, ...] = ()) -> list[str]:
    """The names in `__all__`, or else every public name that the top level binds; [] for what is no Python file.

    `seen` are the files that lead here by `import *`.
    """
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return []
    declared = [ast.literal_eval(node.value) for node in tree.body if _is_all(node) and node.value is not None]
    if declared:
        return list(declared[-1])
    names: list[str] = []
    for name, source in bound_names(tree.body):
        origin = os.path.join(os.path.dirname(path), f"{source}.py")
        if name != "*":
            names.append(name)
        elif origin not in seen:
            names += exported_names(origin, (*seen, path))
    return [name for name in dict.fromkeys(names) if not name.startswith("_")]


def bound_names(statements: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Every name that statements bind in their own scope, with the module that an import takes it from ("*": all of it)."""
    waiting: list[ast.AST] = list(statements)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, ""
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name.partition(".")[0], getattr(node, "module", None) or ""
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, ""
        elif not isinstance(node, ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def _is_all(node: ast.stmt) -> TypeGuard[ast.Assign | ast.AnnAssign]:
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return False
    texts = isinstance(node.value, ast.List | ast.Tuple) and all(
        isinstance(part, ast.Constant) and isinstance(part.value, str) for part in node.value.elts
    )
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    return texts and ast.unparse(target) == "__all__"
