"""Runs Python in a new process. Forking one that has already imported NumPy and pytest takes half of the time."""

import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

SECONDS = 100
POSSIBLE = "forkserver" in multiprocessing.get_all_start_methods()


def module_says(folder: Path, environment: Mapping[str, str], name: str, *arguments: str) -> str:
    """The output of `python -m NAME ARGUMENTS` in a folder, including stderr."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, "numpy", "pytest"])
    with tempfile.NamedTemporaryFile("r") as output:
        process = context.Process(target=_run, args=(str(folder), dict(environment), output.name, name, arguments))
        process.start()
        process.join(SECONDS)
        assert process.exitcode is not None, "it does not end"
        return output.read()


def python(folder: Path, *words: str | Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run `python WORDS` in a folder, in a new process."""
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=folder, env=os.environ | environment, capture_output=True, text=True)


def command(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return python(folder, "-m", "autograder", *words)


def _run(folder: str, environment: dict[str, str], output: str, name: str, arguments: tuple[str, ...]) -> None:
    for stream in (1, 2):
        os.dup2(os.open(output, os.O_WRONLY | os.O_APPEND), stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.dont_write_bytecode = True
    sys.path.insert(0, folder)
    sys.argv[1:] = arguments
    runpy.run_module(name, run_name="__main__", alter_sys=True)
