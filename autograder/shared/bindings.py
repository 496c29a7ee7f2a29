"""Finds the names that the statements of a file bind, without running it."""

import ast
from collections.abc import Iterator


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
