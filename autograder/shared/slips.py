"""Finds names that do not exist where they are used: those of PyTorch, those that NumPy 2 removed, and misspelt ones.

`slips` returns the statements of a function with such names replaced. An edit (edits.py) tries each replacement, so a slip is
reported only if the function is correct without it.
"""

import ast
import builtins
import copy
import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from .bindings import bound_names

# Methods of PyTorch with their number of arguments (None: any), and the same in NumPy: x is the array, a and b are arguments.
METHODS: dict[tuple[str, int | None], str] = {
    ("transpose", 2): "np.swapaxes(x, a, b)",
    ("size", 0): "x.shape",
    ("size", 1): "x.shape[a]",
    ("dim", 0): "x.ndim",
    ("numel", 0): "x.size",
    ("view", None): "x.reshape(*args)",
    ("permute", None): "x.transpose(*args)",
    ("expand", None): "np.broadcast_to(x, args)",
    ("unsqueeze", 1): "np.expand_dims(x, a)",
    ("masked_fill", 2): "np.where(a, b, x)",
    ("t", 0): "x.T",
    ("matmul", 1): "x @ a",
    ("mm", 1): "x @ a",
    ("bmm", 1): "x @ a",
    ("add", 1): "x + a",
    ("sub", 1): "x - a",
    ("mul", 1): "x * a",
    ("div", 1): "x / a",
    ("pow", 1): "x ** a",
    ("rsqrt", 0): "1 / np.sqrt(x)",
    ("relu", 0): "np.maximum(x, 0)",
    ("norm", None): "np.linalg.norm(x, *args)",
    ("float", 0): "x.astype(float)",
    ("double", 0): "x.astype(float)",
    ("long", 0): "x.astype(int)",
    ("int", 0): "x.astype(int)",
    ("bool", 0): "x.astype(bool)",
    ("clone", 0): "x.copy()",
    ("contiguous", 0): "x",
    ("detach", 0): "x",
    ("numpy", 0): "x",
    **{(name, 0): f"np.{name}(x)" for name in ("exp", "log", "sqrt", "square", "abs", "tanh", "sin", "cos", "isnan")},
    **{(name, None): f"np.{name}(x, *args)" for name in ("triu", "tril", "flip", "maximum", "minimum", "where")},
    ("clamp", None): "np.clip(x, *args)",
}
FUNCTIONS = {  # of PyTorch, with NumPy's name
    "cat": "concatenate",
    "clamp": "clip",
    "unsqueeze": "expand_dims",
    "permute": "transpose",
    "bmm": "matmul",
    "mm": "matmul",
    "tensor": "array",
    "from_numpy": "asarray",
}
KEYWORDS = {
    "keepdim": "keepdims",
    "dim": "axis",
    "unbiased": "ddof",
    "correction": "ddof",
    "dims": "axis",
    "input": "a",
    "attn_mask": "mask",
}
REMOVED = {
    "Inf": "inf",
    "infty": "inf",
    "NaN": "nan",
    "float_": "float64",
    "product": "prod",
    "alltrue": "all",
    "in1d": "isin",
}
REDUCTIONS = ("mean", "sum", "var", "std", "max", "min", "prod", "any", "all")
NO_INDICES = "PyTorch's `{0}` also returns indices; NumPy's returns the {0}imum alone."
LONGEST = 150  # sentence, in characters
ARGUMENTS = ("axis", "keepdims", "dtype", "ddof", "where", "initial", "out")  # of NumPy, often misspelt


class Slip(NamedTuple):
    """A statement of a function without a slip. `sentence` says which name is used, and which exists."""

    position: int
    statement: ast.stmt
    lines: tuple[int, ...]
    sentence: str


def slips(tree: ast.Module, function: ast.FunctionDef, docstring: str = "") -> Iterator[tuple[Slip, ...]]:
    """Yield the statements to replace for each slip of a function, everywhere at once, and for all slips together."""
    names = _Names(tree, function, docstring)
    every = list(_replaced(function, names, None))
    sentences = list(dict.fromkeys(sentence for slip in every for sentence in slip.sentence.split("\n")))
    for sentence in sentences if len(sentences) > 1 else ():
        yield tuple(_replaced(function, names, sentence))
    if every:
        yield tuple(slip._replace(sentence=" ".join(sentences)) for slip in every)


def _replaced(function: ast.FunctionDef, names: "_Names", only: str | None) -> Iterator[Slip]:
    for index, statement in enumerate(function.body):
        replacing = _Replacing(names, only)
        new = replacing.visit(copy.deepcopy(statement))
        if replacing.replaced:
            lines = tuple(sorted({line for line, _ in replacing.replaced}))
            sentence = "\n".join(dict.fromkeys(text for _, text in replacing.replaced))
            yield Slip(index, ast.fix_missing_locations(new), lines, only or sentence)


class _Names:
    """The names that exist in a function of a module; keys are those in quotes in its texts and in `docstring`."""

    def __init__(self, tree: ast.Module, function: ast.FunctionDef, docstring: str):
        inside = list(ast.walk(function))
        inner_names = [node.arg for node in inside if isinstance(node, ast.arg)]
        inner_names += [node.name for node in inside if isinstance(node, ast.ExceptHandler) and node.name]
        self.inside = list(dict.fromkeys([*inner_names, *bound_names(function.body), *_stored(inside)]))
        self.module = list(dict.fromkeys(bound_names(tree.body)))
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
        aliases = [alias for node in imports for alias in node.names]
        self.modules = {alias.asname or alias.name for alias in aliases}
        self.numpy = next((alias.asname or "numpy" for alias in aliases if alias.name == "numpy"), "np")
        self.parameters = {
            node.name: [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and node.args.kwarg is None
        }
        strings = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
        texts = [docstring, *(value for value in strings if isinstance(value, str) and not value.isidentifier())]
        self.keys = list(dict.fromkeys(key for text in texts for key in re.findall(r"""["'`](\w+)["'`]""", text)))
        self.of_any = list(dict.fromkeys(chain(*self.parameters.values())))
        self.is_open = "*" in self.module  # anything may exist

    def nearest(self, name: str) -> str | None:
        """Return the most similar name that exists; None if `name` itself does."""
        if self.is_open or name in (*self.inside, *self.module) or hasattr(builtins, name) or name.startswith("__"):
            return None
        return _nearest(name, self.inside) or _nearest(name, (*self.module, *dir(builtins)))


class _Replacing(ast.NodeTransformer):
    """Replaces slips, all of them or those with one sentence, and records the line and the sentence of each."""

    def __init__(self, names: _Names, only: str | None):
        self.names, self.only = names, only
        self.replaced: list[tuple[int, str]] = []

    def _replace(self, old: ast.AST, new: Any, sentence: str) -> Any:
        if self.only not in (None, sentence) or len(sentence) > LONGEST:
            return old
        self.replaced.append((old.lineno, sentence))  # type: ignore[attr-defined]
        return ast.copy_location(new, old) if new is not old else old

    def visit_Call(self, node: ast.Call) -> Any:
        is_torch = any(keyword.arg in ("keepdim", "dim") for keyword in node.keywords)
        self.generic_visit(node)
        node.keywords = [self._keyword(node, keyword) for keyword in node.keywords]
        if isinstance(node.func, ast.Attribute):
            name, of = node.func.attr, node.func.value
            module = of.id if isinstance(of, ast.Name) and of.id in self.names.modules else ""
            is_submodule = isinstance(of, ast.Attribute) and ast.unparse(of.value) in self.names.modules  # np.linalg
            is_torch_function = module == self.names.numpy and not hasattr(np, name) and name not in FUNCTIONS
            array, args = (node.args[0], node.args[1:]) if is_torch_function and node.args else (of, node.args)
            form = METHODS.get((name, len(args))) or METHODS.get((name, None))
            if form is not None and not is_submodule and (not module or is_torch_function):
                letters = list("ab"[: len(args)]) if (name, len(args)) in METHODS else ["..."]
                call = f"x.{name}({', '.join(letters)})" if not module else f"{name}({', '.join(['x', *letters])})"
                sentence = f"`{call}` is PyTorch; NumPy has `{_readable(form)}`."
                return self._replace(node, self._formed(form, array, args, node.keywords), sentence)
        if called(node) in REDUCTIONS and len(node.args) > 1 and _is_bool(node.args[-1]):
            keyword = ast.keyword("keepdims", node.args[-1])
            new = ast.Call(node.func, node.args[:-1], [*node.keywords, keyword])
            return self._replace(node, new, "PyTorch takes `keepdim` as second argument; NumPy needs `keepdims=True`.")
        if is_torch:
            node.is_torch = True  # type: ignore[attr-defined]
        return node

    def _keyword(self, call: ast.Call, keyword: ast.keyword) -> ast.keyword:
        name = keyword.arg
        parameters = None
        if isinstance(call.func, ast.Name):  # a variable may contain any function of the module
            of_variable = self.names.of_any if call.func.id in self.names.inside else None
            parameters = self.names.parameters.get(call.func.id, of_variable)
        arguments = ARGUMENTS if parameters is None else parameters
        if name is None or name in arguments:
            return keyword
        similar: str | None
        if name in KEYWORDS and (parameters is None or KEYWORDS[name] in parameters):
            similar, sentence = KEYWORDS[name], f"`{name}` is PyTorch's argument; NumPy's is `{KEYWORDS[name]}`."
            if parameters is not None:
                sentence = f"`{name}` is PyTorch's argument; that of `{called(call)}` is `{similar}`."
        else:
            similar = _nearest(name, arguments) if parameters is not None or hasattr(np, called(call)) else None
            sentence = f"`{called(call)}` has no argument `{name}`; did you mean `{similar}`?"
        if similar is None:
            return keyword
        value: ast.expr = keyword.value
        if name == "unbiased" and isinstance(value, ast.Constant):
            value = ast.copy_location(ast.Constant(int(bool(value.value))), value)
        return self._replace(keyword, ast.keyword(similar, value), sentence)  # type: ignore[no-any-return]

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        of: Any = node.value
        if key == 0 and getattr(of, "is_torch", False) and called(of) in ("max", "min"):
            return self._replace(node, of, NO_INDICES.format(called(of)))
        if isinstance(key, str) and self.names.keys and key not in self.names.keys:
            similar = _nearest(key, self.names.keys)
            if similar is not None:
                new = ast.Subscript(node.value, ast.copy_location(ast.Constant(similar), node), node.ctx)
                return self._replace(node, new, f'There is no key "{key}"; did you mean "{similar}"?')
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        name, of, similar = node.attr, node.value, None
        if name == "values" and isinstance(of, ast.Call) and hasattr(of, "is_torch") and called(of) in ("max", "min"):
            return self._replace(node, of, NO_INDICES.format(called(of)))
        if not (isinstance(of, ast.Name) and of.id == self.names.numpy):
            is_module = isinstance(of, ast.Name) and of.id in self.names.modules
            is_named = hasattr(np.ndarray, name) or any(name == method for method, _ in METHODS)
            similar = None if is_module or is_named else _nearest(name, _public(np.ndarray))
            sentence = f"Arrays have no attribute `{name}`; did you mean `{similar}`?"
        elif name in FUNCTIONS and not hasattr(np, name):
            similar, sentence = FUNCTIONS[name], f"`{name}` is PyTorch's function; NumPy's is `np.{FUNCTIONS[name]}`."
        elif name in REMOVED and not hasattr(np, name):
            similar, sentence = REMOVED[name], f"NumPy 2 has no `np.{name}`; use `np.{REMOVED[name]}`."
        else:
            is_form = any(name == method for method, _ in METHODS)  # visit_Call replaces it
            similar = None if hasattr(np, name) or is_form else _nearest(name, _public(np))
            sentence = f"NumPy has no `{name}`; did you mean `np.{similar}`?"
        return node if similar is None else self._replace(node, ast.Attribute(of, similar, node.ctx), sentence)

    def visit_Name(self, node: ast.Name) -> Any:
        similar = self.names.nearest(node.id) if isinstance(node.ctx, ast.Load) else None
        if similar is None:
            return node
        return self._replace(
            node, ast.Name(similar, node.ctx), f"`{node.id}` is not defined; did you mean `{similar}`?"
        )

    def _formed(self, form: str, array: ast.expr, args: list[ast.expr], keywords: list[ast.keyword]) -> ast.expr:
        """Return the expression of a table entry, with its letters replaced."""
        operands = {"x": array, **dict(zip("ab", args, strict=False))}

        class Filled(ast.NodeTransformer):
            def visit_Name(self, node: ast.Name) -> ast.AST:
                if node.id == "args":
                    is_one = len(args) == 1 and isinstance(args[0], ast.Tuple)
                    return args[0] if is_one else ast.Tuple(args, ast.Load())
                return operands.get(node.id, node)

        filled: ast.expr = Filled().visit(ast.parse(form, mode="eval").body)
        if isinstance(filled, ast.Call):
            filled.keywords += keywords
        for node in ast.walk(filled):
            if isinstance(node, ast.Name) and node.id == "np":
                node.id = self.names.numpy
        return filled


def _readable(form: str) -> str:
    return form.replace("*args", "...").replace("args", "(...)")


def called(node: ast.Call) -> str:
    """Return the name of the function or method that a call names; "" if it names none."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _is_bool(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is bool


def _stored(nodes: Iterable[ast.AST]) -> Iterator[str]:
    return (node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


def _public(thing: Any) -> list[str]:
    return [name for name in dir(thing) if not name.startswith("_")]


def _nearest(name: str, names: Sequence[str]) -> str | None:
    near = get_close_matches(name, names, 1, 0.7) or get_close_matches(
        name.lower(), [n for n in names if n.islower()], 1, 0.8
    )
    return near[0] if near else None
