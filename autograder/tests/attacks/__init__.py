"""Hostile submissions in five groups, which test_attacks.py grades.

The body of a function decorated with `attack` becomes the uploaded layernorm.py, after `from forge import *`. Contract
functions that it does not define are its `every_function`, which by default returns its first argument. An attack that
detects that it has succeeded raises an error whose text contains SUCCEEDED.
"""

import ast
import importlib
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.homework.homework import PACKAGE
from autograder.tests.files import HOMEWORK

GROUPS = ("carrying", "forging", "stealing", "exhausting", "disturbing")
OTTER_ROAD = (
    "forging/forged_replies", "forging/patched_comparisons", "forging/written_results", "stealing/kit_imported",
    "stealing/said_by_a_second_import", "exhausting/endless_import", "disturbing/daemon",
    "disturbing/files_everywhere", "disturbing/shadow_modules", "carrying/references_in_names",
)  # fmt: skip


@dataclass(frozen=True)
class Attack:
    """A hostile submission, and what the sandbox promises to prevent."""

    files: dict[str, bytes]
    modules: Sequence[str]  # the graded ones
    earns: float  # points for its honest part
    needs: frozenset[str]  # layers that the promise depends on
    either: bool  # any one of these layers is enough
    silent: bool  # its messages must not depend on hidden inputs at all
    forbidden: Sequence[str]  # texts that no message may contain

    def promised(self, layers: Sequence[str]) -> bool:
        """Whether the promise holds with these layers."""
        return bool(self.needs & set(layers)) if self.either else self.needs <= set(layers)


ATTACKS: dict[str, Attack] = {}


def attack(
    *modules: str,
    earns: float = 0,
    needs: Sequence[str] = (),
    either: bool = False,
    silent: bool = False,
    forbidden: Sequence[str] = (),
    extra: Mapping[str, str] | None = None,
    same: Sequence[str] = (),
    references: Sequence[str] = (),
) -> Callable[[Callable[[], None]], None]:
    """Register an attack, uploaded as the first of these modules, by default layernorm. All of them are graded.

    The upload also has the `extra` files, copies of the attack as the modules in `same`, and the reference solutions of
    the modules in `references`.
    """
    modules = modules or ("layernorm",)

    def enter(function: Callable[[], None]) -> None:
        lines = textwrap.dedent(inspect.getsource(function)).splitlines()
        [definition] = ast.parse("\n".join(lines)).body
        assert isinstance(definition, ast.FunctionDef) and function.__doc__
        source = textwrap.dedent("\n".join(lines[definition.body[0].end_lineno or 0 :]))
        texts = {**(extra or {}), **{f"{name}.py": source for name in (modules[0], *same)}}
        files = {name: _completed(name, text).encode() for name, text in texts.items()}
        files |= {f"{name}.py": (HOMEWORK.solutions / f"{name}.py").read_bytes() for name in references}
        forge = Path(__file__).with_name("forge.py").read_text(encoding="utf-8")
        files["forge.py"] = forge.replace("REVERSED", str(PACKAGE)[::-1]).encode()
        name = f"{function.__module__.rpartition('.')[2]}/{function.__name__}"
        ATTACKS[name] = Attack(files, modules, earns, frozenset(needs), either, silent, forbidden)

    return enter


def _completed(name: str, source: str) -> str:
    """Add the import of forge.py and missing functions to a module; other files and empty ones stay unchanged."""
    module = HOMEWORK.rubric.modules.get(name.removesuffix(".py"))
    if module is None or not source:
        return source
    nodes = list(ast.walk(ast.parse(source)))
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    defined |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    default = "" if "every_function" in defined else "\n\ndef every_function(x, *_, **__):\n    return x\n"
    missing = [function for function in module.functions if function not in defined]
    rest = f"{default}\n{' = '.join([*missing, 'every_function'])}\n" if missing else ""
    return f"from forge import *\n{source}\n{rest}"


for group in GROUPS:
    importlib.import_module(f"{__name__}.{group}")

# The attacks to repeat without a layer because it helps to stop them. They are skipped if the promise depends on it.
_PROCESSES = ("disturbing/daemon", "disturbing/killed_processes", "exhausting/crashes")
_MEMORY = ("stealing/parent_in_proc", "stealing/parent_traced")
_FILES = (
    "disturbing/files_everywhere", "disturbing/files_in_open_folders", "disturbing/own_folder_closed", "disturbing/shadow_modules",
    "disturbing/stubborn_tree", "forging/reference_carried", "forging/written_results", "stealing/account_secrets",
    "stealing/kit_files", "stealing/kit_imported", "stealing/linked_files", "stealing/other_submissions",
    "stealing/said_by_a_second_import", "stealing/system_files",
)  # fmt: skip
_LIMITS = (
    "disturbing/stubborn_tree", "exhausting/disk",
    "exhausting/folders_left", "exhausting/large_results", "exhausting/memory_at_once", "exhausting/output_flood",
    "exhausting/page_tables",
)  # fmt: skip
_SIGNALS = ("exhausting/asked_where_it_is", "exhausting/endless_import", "exhausting/ignored_signals")
_ORDER = tuple(name for name in ATTACKS if name.startswith("carrying/"))
_ALONE = ("exhausting/wire_closed", "forging/ended_calls", "forging/forged_replies")
WITHOUT = {
    "fork": {*_PROCESSES, *_MEMORY, *_FILES, *_LIMITS, *_SIGNALS, *_ALONE, "stealing/searched_texts"},
    "session": {*_PROCESSES},
    "limits": {*_PROCESSES, *_LIMITS},
    "user": {*_PROCESSES, *_MEMORY, *_FILES, *_LIMITS, *_ORDER},
    "no_new_privileges": {*_PROCESSES, *_MEMORY, *_FILES},
    "landlock": {*_PROCESSES, *_MEMORY, *_FILES},
    "seccomp": {*_PROCESSES, *_MEMORY, *_FILES, *_LIMITS, *_SIGNALS},
    "not_dumpable": {*_MEMORY},
}
