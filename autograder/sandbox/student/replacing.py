"""Replaces a student's function where it is defined: from then on its name means another one.

After each statement of the top level that binds the name, `name = <the other function>` is inserted, so that whatever keeps the
function afterwards (a table, a default value, a class, another name) keeps the other one.
"""

import ast
from collections.abc import Callable, Mapping
from typing import Any

from autograder.sandbox.student.namespace import bound_names


def replaced(tree: ast.Module, names: Mapping[str, Callable[..., Any]]) -> ast.Module:
    """The program with each of `names` bound anew; to be run where `namespace(names)` is defined."""
    tree.body = _with_bindings(tree.body, names)
    return ast.fix_missing_locations(tree)


def namespace(names: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
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
    for field in ("body", "orelse", "finalbody"):
        branch = getattr(statement, field, None)
        if isinstance(branch, list):
            setattr(statement, field, _with_bindings(branch, names))
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        part.body = _with_bindings(part.body, names)


def _bindings(statement: ast.stmt, names: Mapping[str, Any]) -> list[ast.stmt]:
    bound = {name for name, _ in bound_names([statement])}
    hit = [name for name in names if name in bound or "*" in bound]
    also = [
        (statement.value.id, name)
        for name in hit
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name)
    ]
    return [
        ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], ast.Name(_hidden(source), ast.Load())), statement)
        for name, source in [*((name, name) for name in hit), *also]
    ]
