"""Imports the student's modules, with reference implementations of the modules that they depend on.

A reference module replaces the student's file of that name: the contract functions are the reference's, and every other
name comes from the file. Thus a mistake in one file costs no points in another. The names of required arguments are free, so
a reference also accepts those of the student's own function.
"""

import ast
import contextlib
import importlib
import importlib.machinery
import importlib.util
import inspect
import marshal
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial, wraps
from types import CodeType, FunctionType, ModuleType
from typing import Any

from autograder.exceptions import Raised
from autograder.shared.bindings import bound_names
from autograder.shared.signatures import accepts, required

Functions = Mapping[str, Callable[..., Any]]
_DEFINITION = re.compile(r"\bdef (\w+)\(([^()]*)\)")


def adopting(reference: Callable[..., Any], find: Callable[[], Any]) -> Callable[..., Any]:
    """Return the reference for calls by the contract, and for calls with the argument names of the student's function.

    `find` returns the student's function. It is used only if the reference does not accept a call, and also gets the calls that
    the contract does not have, such as one with another optional argument.
    """
    signature = inspect.signature(reference)
    counts = range(len(required(reference)), len(signature.parameters) + 1)

    @wraps(reference)
    def adopted(*args: Any, **kwargs: Any) -> Any:
        if (not kwargs and len(args) in counts) or accepts(signature, args, kwargs):
            return reference(*args, **kwargs)
        try:
            function = find()
            names = dict(zip(inspect.signature(function).parameters, required(reference), strict=False))
        except Exception:  # there is no function, or it has no known signature
            return reference(*args, **kwargs)
        renamed = {names.get(name, name): value for name, value in kwargs.items()}
        return reference(*args, **renamed) if accepts(signature, args, renamed) else function(*args, **kwargs)

    return adopted


def _parameters(path: str) -> dict[str, set[tuple[str, ...]]]:
    """Return the names of the parameters of each function in a file, one tuple for each definition; {} without the file.

    Unusual definitions are left out, and text may look like one: parsing the file would take a hundred times as long.
    """
    by_function = dict[str, set[tuple[str, ...]]]()
    with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        for name, parameters in _DEFINITION.findall(file.read()):
            names = (parameter.partition(":")[0].partition("=")[0].strip() for parameter in parameters.split(","))
            by_function.setdefault(name, set()).add(tuple(names))
    return by_function


class Loader(importlib.machinery.SourceFileLoader):
    """Runs a file of the submission, with an edit or replaced functions if there are any."""

    def __init__(self, name: str, path: str, submission: "StudentModules"):
        super().__init__(name, path)
        self.submission = submission

    def source_to_code(self, data: Any, path: Any, *arguments: Any, **options: Any) -> Any:  # type: ignore[override]
        """Compile the edited program instead of the file's; later versions of Python pass more `arguments`."""
        names, edited = self.submission.replaced.get(path, {}), self.submission.edited.get(path)
        if names or edited:
            data = rebind(edited or ast.parse(data, path), names)
        return super().source_to_code(data, path, *arguments, **options)

    def exec_module(self, module: ModuleType) -> None:
        names = self.submission.replaced.get(self.path, {})
        # Define functions that the file lacks or names differently.
        vars(module).update({**names, **hidden_names(names)})
        super().exec_module(module)


def reference_module(name: str, path: str, functions: Functions, submission: "StudentModules") -> ModuleType:
    """Return a module to replace a student's file: contract functions are the reference's, other names come from the file."""
    module, loader = ModuleType(name), Loader(name, path, submission)
    file: ModuleType | None = None  # the module of the file itself

    def run() -> ModuleType:
        """Run the file itself when one of its other names is first used."""
        nonlocal file
        if file is None:
            spec = importlib.util.spec_from_loader(name, loader)
            if spec is None or not os.path.isfile(path):
                raise AttributeError(f"module {name!r} has no other attributes")
            file = importlib.util.module_from_spec(spec)
            loader.exec_module(file)
        return file

    def find(attribute: str) -> Any:
        if attribute == "__all__":  # for `import *`: the functions, and the file's other names if it can be run
            names: list[str] = []
            with contextlib.suppress(Exception):
                declared = getattr(run(), "__all__", [name for name in vars(run()) if not name.startswith("_")])
                names = [name for name in declared if hasattr(run(), name) and name not in functions]
            return [*functions, *names]
        is_special = attribute.startswith("__") and attribute.endswith("__")
        if is_special and attribute not in ("__version__", "__author__"):
            raise AttributeError(attribute)
        return getattr(run(), attribute)

    vars(module).update(functions, __getattr__=find, __file__=path)
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, origin=path)
    parameters = _parameters(path)
    for function, reference in functions.items() if os.path.isfile(path) else ():
        code = getattr(reference, "__code__", None)
        if code is None or parameters.get(function) != {code.co_varnames[: code.co_argcount]}:
            setattr(module, function, adopting(reference, partial(find, function)))
    return module


class StudentModules:
    """The files of one submission as modules."""

    def __init__(self, folder: str, essential: frozenset[str]):
        """Files of the submission do not replace `essential` modules: built-in ones, and those that NumPy needs."""
        self.folder, self.essential = folder, essential
        self.edited: dict[str, ast.Module] = {}  # syntax trees to run instead of files
        self.replaced: dict[str, Functions] = {}  # by file, so that functions of these names in other files remain
        self._helpers: Functions = {}
        self._references: dict[str, ModuleType] = {}
        self._begun = False

    def define(self, references: list[Any], has_helpers: bool) -> Iterable[Any]:
        """Put references, each [name, code, functions], in place of files; returns the `REQUESTS` of one that has them.

        With `has_helpers`, the functions of the last one will replace those of the first module that is loaded. A reference
        can import those before it. No code of the submission runs.
        """
        defined: dict[str, dict[str, Any]] = {}
        for name, code, functions in references:
            module = importlib.util.module_from_spec(importlib.machinery.ModuleSpec(name, None))  # for relative imports
            exec(marshal.loads(code), vars(module))  # noqa: S102 - the grader's own code
            sys.modules[name] = module
            defined[name] = {function: getattr(module, function) for function in functions}
        for name in defined:
            del sys.modules[name]
        added = [request for functions in defined.values() for request in functions.pop("REQUESTS", ())]
        if not (self._begun or added):
            self._begin()
        self._helpers = defined.pop(name) if has_helpers else {}
        for name, functions in defined.items():
            sys.modules.pop(name, None)
            if functions:
                sys.modules[name] = self._references[name] = reference_module(name, self._path(name), functions, self)
        return added

    def load(self, modules: list[str]) -> None:
        """Import modules. Raises Raised for any exception of the modules."""
        if self._helpers:
            self.replaced = dict.fromkeys(self._files_of(modules[0], self._helpers), self._helpers)
            self._helpers = {}
        for name in modules:
            try:
                importlib.import_module(name)
            except BaseException as error:
                raise Raised(error) from error

    def _files_of(self, module: str, names: Iterable[str]) -> set[str]:
        """Import a module once; return its file and those from which it imports functions of these names."""
        with contextlib.suppress(BaseException):  # it may need these functions
            importlib.import_module(module)
        namespace = vars(sys.modules.get(module, ModuleType(module)))
        codes = [getattr(namespace.get(name), "__code__", None) for name in names]
        for name, loaded in list(sys.modules.items()):
            if self._references.get(name) is not loaded and self._owns(loaded):
                del sys.modules[name]
        return {self._path(module), *(code.co_filename for code in codes if isinstance(code, CodeType))}

    def _begin(self) -> None:
        """Let imports search the submission first, as on the student's machine."""
        self._begun = True
        names = {entry.removesuffix(".py") for entry in os.listdir(self.folder)}
        for name in names - self.essential:
            sys.modules.pop(name, None)
        sys.path.insert(0, self.folder)
        sys.path_hooks.insert(0, self._finder)

    def _finder(self, path: str) -> importlib.machinery.FileFinder:
        """Find modules in the submission's folders."""
        if not path.startswith(self.folder):
            raise ImportError
        return importlib.machinery.FileFinder(path, (partial(Loader, submission=self), [".py"]))  # type: ignore[arg-type]

    def _owns(self, module: ModuleType) -> bool:
        """Return whether a module comes from the submission."""
        try:
            return str(module.__dict__.get("__file__")).startswith(self.folder)
        except Exception:  # not a module
            return True

    def _path(self, module: str) -> str:
        return os.path.join(self.folder, module + ".py")


def rebind(program: ast.AST, names: Functions) -> Any:
    """Replace functions of a program where they are defined. Run the program where `hidden_names` are defined.

    `name = <the other function>(name)` is inserted after each top-level statement that binds the name, also in branches. Later
    uses (a table, a default value, a class, another name) then refer to the other function.
    """
    for statements in (value for _, value in ast.iter_fields(program) if isinstance(value, list)):
        for node in [*statements]:
            if not isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
                continue
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                rebind(node, names)
            if not isinstance(node, ast.stmt):
                continue
            bound = set(bound_names([node]))
            pairs = [(name, name) for name in names if name in bound or "*" in bound]
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
                pairs += [(node.value.id, name) for name, _ in pairs]
            for target, name in reversed(pairs):
                value = ast.Call(ast.Name(f"<{name}>", ast.Load()), [ast.Name(target, ast.Load())], [])
                new = ast.copy_location(ast.Assign([ast.Name(target, ast.Store())], value), node)
                statements.insert(statements.index(node) + 1, ast.fix_missing_locations(new))
    return program


def hidden_names(names: Functions) -> dict[str, Callable[..., Any]]:
    """Return, for each function, one that rebinds it, under names that are not identifiers, so no program can use them."""
    return {f"<{name}>": partial(_rebound, function) for name, function in names.items()}


def _rebound(reference: Callable[..., Any], function: Any) -> Callable[..., Any]:
    """Return the reference in place of the student's function, which several statements may bind."""
    is_rebound = isinstance(function, FunctionType) and vars(function).get("__wrapped__") is reference
    return function if is_rebound else adopting(reference, lambda: function)
