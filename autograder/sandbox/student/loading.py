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
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import CodeType, ModuleType
from typing import Any

from autograder.sandbox.student import replacing
from autograder.sandbox.student.namespace import exported_names

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
            return compile(replacing.replaced(tree, names), path, "exec", dont_inherit=True, optimize=_optimize)
        if (data, path) not in self.submission.compiled:
            code = super().source_to_code(data, path, _optimize=_optimize)
            self.submission.compiled[data, path] = code
        return self.submission.compiled[data, path]

    def exec_module(self, module: ModuleType) -> None:
        names = self.submission.replaced(self.path)
        # A function that the file does not have, or gives another name, is there all the same.
        vars(module).update({**names, **replacing.namespace(names)})
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
    """What one set of the student's modules sees, put away while another one runs."""

    modules: dict[str, ModuleType]
    path: list[str]
    builtins: dict[str, Any]


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
            modules = {name: sys.modules.pop(name) for name in self._own_modules()}
            self._contexts[self._current] = Context(modules, list(sys.path), dict(vars(builtins)))
        known, self._current = self._contexts.get(context, self._contexts[""]), context
        sys.modules.update(known.modules)
        sys.path[:] = known.path
        if vars(builtins) == known.builtins:
            return
        for name in vars(builtins).keys() - known.builtins.keys():
            del vars(builtins)[name]
        vars(builtins).update(known.builtins)

    def _begin(self) -> None:
        """Let imports find the submission first, as at home: also before modules that only this process has needed."""
        own = {entry.removesuffix(".py") for entry in os.listdir(self.folder)}
        for name in own - self.baseline.essential:
            sys.modules.pop(name, None)
        sys.path.insert(0, self.folder)
        sys.path_hooks.insert(0, self._finder)
        self._contexts[""] = Context({}, list(sys.path), self.baseline.builtins)

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
        except Exception:  # something that is no module
            return True
        return any(str(place).startswith(self.folder) for place in places)

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
