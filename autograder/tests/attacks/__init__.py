"""Hostile submissions in four groups, each a file that says what it tries; test_attacks.py runs them.

A file is what a student would upload as layernorm.py. Constants in it say otherwise, and what holds against it:
    MODULE, MODULES         what it is uploaded as, and what is graded
    EARNS                   the points of its honest part
    NEEDS, EITHER           the layers without which the promise does not stand; with EITHER, any one of them is enough
    SILENT                  what a student is shown does not depend on the hidden inputs at all
    FORBIDDEN, LONGEST      texts that no message may contain, and the longest that a message may be
    EXTRA, EXTRA_REFERENCE  files uploaded beside it
A function of its module that a file leaves out is the first one that it defines, or returns its first argument. An attack
that notices that it has succeeded raises an error that says SUCCEEDED.
"""

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.homework import kit, rubric

FOLDER = Path(__file__).parent
GROUPS = ("forging", "stealing", "exhausting", "disturbing")
OTTER_ROAD = (
    "forging/forged_replies", "forging/patched_builtins", "forging/written_results", "stealing/kit_imported",
    "stealing/said_through_files", "exhausting/endless_import", "disturbing/daemon",
    "disturbing/files_everywhere", "disturbing/shadow_modules",
)  # fmt: skip


@dataclass(frozen=True)
class Attack:
    """One hostile submission and what is promised against it."""

    name: str
    about: str
    files: dict[str, bytes]
    modules: tuple[str, ...]
    earns: float
    needs: frozenset[str]
    either: bool
    silent: bool
    forbidden: tuple[str, ...]
    longest: int

    def promised(self, layers: list[str]) -> bool:
        """Whether the promise stands under these layers."""
        lost = self.needs - set(layers)
        return lost != self.needs or not lost if self.either else not lost


def all_attacks() -> list[Attack]:
    """Every attack, group by group."""
    return [_read(path) for group in GROUPS for path in sorted((FOLDER / group).glob("*.py"))]


def _read(path: Path) -> Attack:
    source = path.read_text(encoding="utf-8")
    said = _constants(source)
    modules = said.get("MODULES", (said.get("MODULE", "layernorm"),))
    functions, bound = rubric.current().modules[modules[0]].functions, compile(source, path, "exec").co_names
    if missing := [name for name in functions if name not in bound]:
        first = next((name for name in functions if name in bound), "lambda x, *_, **__: x")
        source += f"\n\n{' = '.join([*missing, first])}\n"
    files = {name: text.encode() for name, text in said.get("EXTRA", {}).items()}
    files |= {f"{name}.py": (kit.solutions() / f"{name}.py").read_bytes() for name in said.get("EXTRA_REFERENCE", ())}
    files |= {"forge.py": (FOLDER / "forge.py").read_bytes(), f"{modules[0]}.py": source.encode()}
    return Attack(
        f"{path.parent.name}/{path.stem}",
        (ast.get_docstring(ast.parse(source)) or "").partition("\n\n")[0],
        files,
        modules,
        said.get("EARNS", 0),
        frozenset(said.get("NEEDS", ())),
        said.get("EITHER", False),
        said.get("SILENT", False),
        said.get("FORBIDDEN", ()),
        said.get("LONGEST", 20_000),
    )


def _constants(source: str) -> dict[str, Any]:
    """The constants at the top level that are plain data or built from the plain data above them."""
    found: dict[str, Any] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id.isupper():
            try:
                found[node.targets[0].id] = _plain(node.value, found)
            except ValueError:
                continue
    return found


def _plain(node: ast.expr, known: dict[str, Any]) -> Any:
    """literal_eval that knows constants above, `TEXT * NUMBER`, and `{f"{name}.py": TEXT for name in NAMES}`."""
    if isinstance(node, ast.Name) and node.id in known:
        return known[node.id]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _plain(node.left, known) * _plain(node.right, known)
    if isinstance(node, ast.Dict):
        return {_plain(k, known): _plain(v, known) for k, v in zip(node.keys, node.values, strict=True) if k is not None}
    if isinstance(node, ast.DictComp):
        return {f"{name}.py": _plain(node.value, known) for name in _plain(node.generators[0].iter, known)}
    return ast.literal_eval(node)
