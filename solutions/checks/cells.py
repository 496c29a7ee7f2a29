"""Runs the public checks from a cell of the notebook, in a process of their own where there are processes.

check("layernorm")               the checks of layernorm.py
check()                          all of them
check("layernorm", "--hint")     with an option of pytest
"""

from __future__ import annotations

import builtins
import linecache
import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1]


def check(module: str = "", *options: str) -> None:
    """Run pytest on the checks of one module, or on all, and print what it prints."""
    arguments = [f"checks/test_{module}.py" if module else "checks", *options]
    if sys.platform == "emscripten":
        _in_this_process(arguments)
        return
    command, pipe = [sys.executable, "-m", "pytest", *arguments], subprocess.PIPE
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(command, cwd=FOLDER, env=environment, stdout=pipe, stderr=subprocess.STDOUT, encoding="utf-8")
    print(done.stdout)


def _in_this_process(arguments: list[str]) -> None:
    """Import the homework again for the checks, and leave the notebook's modules and built-in functions as they are."""
    import pytest

    originals, path, folder = (builtins.__import__, builtins.input), sys.path[:], os.getcwd()
    notebooks = _forget()
    linecache.clearcache()
    os.chdir(FOLDER)
    try:
        # A browser has no file descriptors, which pytest's default capture duplicates.
        pytest.main(["--capture=sys", *arguments])
    finally:
        os.chdir(folder)
        builtins.__import__, builtins.input = originals
        sys.path[:] = path
        _forget()
        sys.modules.update(notebooks)


def _forget() -> dict[str, object]:
    """Remove the modules of the homework's folder from those that are imported; return them."""
    files = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
    return {name: sys.modules.pop(name) for name, file in files.items() if file and FOLDER in Path(file).parents}
