"""Changes random lines of the engine, one at a time, and prints the changes that the quick tests of their package miss.

`python -m autograder.benchmarks.survivors` tries 30 changes of all packages with a seed that was committed before it was first run.
`python -m autograder.benchmarks.survivors PACKAGE NUMBER SEED` tries others while you work on the tests of a package.
A change of the code that kills a student's processes may kill all others, so as root start it with
`unshare --pid --fork --mount-proc --kill-child`, or in a container.
"""

import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SEED, CHANGES = 20261129, 30
SECONDS = 900  # for the tests of one change; one that never ends is detected
NOT_THE_ENGINE = {"tests", "docs", "benchmarks", "alternatives", "misconceptions", "suites", "template", "__pycache__"}
SWAPS = {
    "==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "is": "is not", "is not": "is", "in": "not in",
    "not in": "in", "and": "or", "or": "and", "+": "-", "-": "+", "*": "+", "/": "*", "|": "&", "&": "|",
}  # fmt: skip


class Change(NamedTuple):
    """A changed line: its file in the tree, its number, the text of a part of it before and after, and the whole file."""

    file: Path
    line: int
    before: str
    after: str
    text: str

    @property
    def tests(self) -> Path:
        """The quick tests of the file's package, or of the file."""
        package = Path("autograder", "tests", self.file.parts[1])
        return package if package.suffix == "" else package.with_name(f"test_{package.name}")


def edits(node: ast.AST, text: str) -> Iterator[tuple[ast.AST, str]]:
    """Yield parts of one node with other texts: an operator, constant or condition, or a statement left out."""
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.Compare):
        operands = (
            [node.left, node.right]
            if isinstance(node, ast.BinOp)
            else node.values
            if isinstance(node, ast.BoolOp)
            else [node.left, *node.comparators]
        )
        first, second = (ast.unparse(operand) for operand in operands[:2])
        operator = ast.unparse(node).removeprefix(first).partition(second)[0].strip()
        if len(operands) == 2 and operator in SWAPS:
            yield node, f"({first} {SWAPS[operator]} {second})"
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int):
        yield node, repr(not node.value if isinstance(node.value, bool) else node.value + 1)
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        yield node.test, f"(not ({ast.unparse(node.test)}))"
    elif isinstance(node, ast.Return) and node.value is not None:
        yield node, "return None"
    elif isinstance(node, ast.AugAssign | ast.Expr) and not isinstance(node.value, ast.Constant):
        yield node, "pass"
    elif isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name | ast.Tuple):
        yield node, "pass"  # without a name, later lines would fail at once


def changes(package: str, wanted: int, seed: int) -> Iterator[Change]:
    """Yield random changes in a package, or in the whole engine; each line of a function is equally likely."""
    rng, engine = random.Random(seed), ROOT / "autograder"
    paths = sorted(p for p in (engine / package).rglob("*.py") if not {*p.relative_to(engine).parts} & NOT_THE_ENGINE)
    lines = [(path, line) for path in paths for line in range(1, 1 + path.read_text(encoding="utf-8").count("\n"))]
    number = 0
    while number < wanted:
        path, line = rng.choice(lines)
        text = path.read_text(encoding="utf-8")
        functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
        nodes = {id(node): node for function in functions for part in function.body for node in ast.walk(part)}
        chosen = [node for node in nodes.values() if getattr(node, "lineno", 0) == line]
        if possible := [(part, new) for node in chosen for part, new in edits(node, text)]:
            part, new = rng.choice(possible)
            before = ast.get_source_segment(text, part) or ""
            rows = text.splitlines(keepends=True)
            start = len("".join(rows[: part.lineno - 1]).encode()) + part.col_offset  # type: ignore[attr-defined]
            data = text.encode()
            changed = (data[:start] + new.encode() + data[start + len(before.encode()) :]).decode()
            try:
                is_changed = ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text))
            except SyntaxError:  # in an f-string, whose parts have no places before Python 3.12
                continue
            if is_changed:
                number += 1
                yield Change(path.relative_to(ROOT), line, before, new, changed)


def survives(change: Change, tree: Path) -> bool:
    """Run the quick tests on a change in a copy of the tree."""
    original = (tree / change.file).read_bytes()
    (tree / change.file).write_text(change.text, encoding="utf-8", newline="\n")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", str(change.tests)]
    try:
        environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, timeout=SECONDS)
        return done.returncode == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        (tree / change.file).write_bytes(original)


def main(package: str = "", wanted: str = str(CHANGES), seed: str = str(SEED)) -> None:
    ignored = shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__", ".cache", ".site", "dist")
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(shutil.copytree(ROOT, Path(folder, "tree"), ignore=ignored, symlinks=True))
        for change in list(changes(package, int(wanted), int(seed))):
            state = "SURVIVES" if survives(change, tree) else "detected"
            print(f"{state} {change.file}:{change.line}: {change.before!r} -> {change.after!r}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
