"""How the public checks tell what they found.

pytest reads this file; you need not. A check that fails gives a few lines (what was called, what came back,
what was expected, a hint), a function that is not written yet gives one line, and a table at the end says
which modules are done. Nothing here is about your grade.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    Report = pytest.TestReport | pytest.CollectReport

FOLDER = Path(__file__).resolve().parent.parent
# In the order in which they build on one another, which is the order of writing them. Filled in from rubric.yaml.
MODULES = [
    "layernorm",
    "batchnorm_comparison",
    "scaled_attention",
    "causal_mask",
    "transformer_block",
    "decoder",
    "concept_check",
]
SECONDS = 10
HIDDEN = """
This is not the grade. Hidden criteria test the same functions again: with other sizes and more leading
dimensions, with large and small numbers, in the corner cases and the errors that the docstrings name, for the
dtype of the result, for arguments that must stay as they are, and with all of your modules together."""


def obstacle() -> str:
    """What keeps the checks from running here at all; empty if nothing does."""
    if sys.version_info < (3, 11):  # noqa: UP036 - those who have an older one shall be told
        return f"The homework needs Python 3.11 or newer; this is {sys.version.split()[0]}, {sys.executable}"
    try:
        import numpy
    except ImportError:
        return f"NumPy is missing; install it with: {sys.executable} -m pip install numpy"
    if int(numpy.__version__.partition(".")[0]) < 2:
        upgrade = f"{sys.executable} -m pip install --upgrade numpy"
        return f"The homework needs NumPy 2.0 or newer; this is {numpy.__version__}. Upgrade it with: {upgrade}"
    if not any((FOLDER / f"{module}.py").is_file() for module in MODULES):
        return f"No homework here: {MODULES[0]}.py and the others must lie beside the folder {FOLDER / 'checks'}"
    return ""


OBSTACLE = obstacle()
if not OBSTACLE:
    sys.path.insert(0, str(FOLDER))  # also when pytest was started in another folder
    from student_calls import Caller, CheckFailed, where


def pytest_configure() -> None:
    """Stop with one line instead of many errors."""
    if OBSTACLE:
        pytest.exit(OBSTACLE, returncode=2)


@pytest.fixture
def call(request: pytest.FixtureRequest) -> Caller:
    """The functions of the module that the file of the check is about: layernorm in test_layernorm.py."""
    return Caller(request.path.stem.removeprefix("test_"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, None, None]:
    """End a check whose call takes far too long, with the line that it is at, and go on with the others."""
    here = threading.get_ident()
    timer = threading.Timer(SECONDS, interrupt, [here])
    timer.daemon = True
    timer.start()
    try:
        return (yield)
    finally:
        timer.cancel()


def interrupt(thread: int) -> None:
    """Raise TooLong in another thread, where Python is at that moment."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(TooLong))


class TooLong(Exception):
    """A call that does not seem to end."""

    def __str__(self) -> str:
        return f"no result after {SECONDS} seconds; look for a loop that never ends"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put the text for the student where pytest would put a traceback."""
    report = yield
    if call.excinfo is not None and report.failed:
        error = call.excinfo.value
        report.longrepr = str(error) if isinstance(error, CheckFailed) else where(error)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What failed, module by module, then which modules are done."""
    passed: list[pytest.TestReport] = terminalreporter.stats.get("passed", [])
    failed: list[Report] = [
        *terminalreporter.stats.get("failed", []),
        *terminalreporter.stats.get("error", []),
    ]
    counts: dict[str, int] = {}
    for report in [*passed, *failed]:
        counts[module_of(report)] = counts.get(module_of(report), 0) + 1
    if not counts:
        return

    for module in sorted(counts, key=order):
        failures = [report for report in failed if module_of(report) == module]
        if failures and terminalreporter.config.option.tbstyle == "no":  # else pytest has shown them already
            terminalreporter.write_line("")
            terminalreporter.write_line(f"{module}.py", bold=True)
            for text in dict.fromkeys(describe(report) for report in failures):
                terminalreporter.write_line("  " + text.replace("\n", "\n  "))

    terminalreporter.write_line("")
    for module in sorted(counts, key=order):
        done = sum(module_of(report) == module for report in passed)
        finished = done == counts[module]
        line = f"{module:22} {done}/{counts[module]} {'done' if finished else 'to do'}"
        terminalreporter.write_line(line, green=finished, yellow=not finished)
    if not failed:
        terminalreporter.write_line("")
        terminalreporter.write_line("All public checks that ran have passed." + HIDDEN)


def module_of(report: Report) -> str:
    """The student module that a check is about."""
    return Path(report.nodeid.partition("::")[0]).stem.removeprefix("test_")


def order(module: str) -> int:
    """The place of a module in the list; a module that is not in it comes last."""
    return MODULES.index(module) if module in MODULES else len(MODULES)


def describe(report: Report) -> str:
    """The text of one failed check: one line alone, or a title with lines below it."""
    text = report.longreprtext.strip()
    if isinstance(report, pytest.CollectReport):  # the file with the checks itself is damaged
        return f"{report.nodeid} cannot be read: {text.splitlines()[-1].lstrip('E ')}"
    if "\n" not in text:
        return text
    path, line, name = report.location
    printed = report.capstdout.rstrip().splitlines()[:10]
    if printed:
        text += "\nPrinted   " + "\n          ".join(printed)
    return f"{name} ({Path(path).as_posix()}, line {(line or 0) + 1})\n  " + text.replace("\n", "\n  ")
