"""Finds the names that the statements of a file bind, without running it."""

import ast
import os
from collections.abc import Iterator
from typing import TypeGuard


def exported_names(path: str, seen: tuple[str, ...] = ()) -> list[str]:
    """The names in `__all__`, or every public name bound at the top level; [] for invalid source.

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


def parameters(path: str) -> dict[str, list[str]]:
    """The names of the parameters of each function at the top level of a file; {} for invalid source."""
    try:
        with open(path, "rb") as file:
            body = ast.parse(file.read()).body
    except (OSError, SyntaxError, ValueError):
        return {}
    definitions = {
        node.name: node.args for node in body if isinstance(node, ast.FunctionDef) and not node.decorator_list
    }
    return {name: [argument.arg for argument in own.args] for name, own in definitions.items()}


def bound_names(statements: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Every name that the statements bind in their scope, with the module of an import ("*": all its names)."""
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
