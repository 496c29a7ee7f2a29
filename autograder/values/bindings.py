"""Finds the names that the statements of a file bind, without running it."""

import ast
from collections.abc import Iterator


def parameters(path: str) -> dict[str, list[str]]:
    """Return the names of the parameters of each function at the top level of a file; {} for invalid source."""
    try:
        with open(path, "rb") as file:
            body = ast.parse(file.read()).body
    except (OSError, SyntaxError, ValueError):
        return {}
    definitions = {
        node.name: node.args for node in body if isinstance(node, ast.FunctionDef) and not node.decorator_list
    }
    return {name: [argument.arg for argument in definition.args] for name, definition in definitions.items()}


def bound_names(statements: list[ast.stmt]) -> Iterator[str]:
    """Yield every name that the statements bind in their scope, "*" for all names of a module."""
    waiting: list[ast.AST] = list(statements)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif not isinstance(node, ast.Lambda):
            waiting += ast.iter_child_nodes(node)
