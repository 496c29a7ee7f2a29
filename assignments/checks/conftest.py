"""How the public checks tell what they found.

pytest reads this file; you need not. A check that fails gives a few lines (what was called, what came back,
what was expected, why the two differ), functions that are not written yet are listed, and a table at the end says
how many checks pass. Nothing here is about your grade.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
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
HIDDEN = """
This is not the grade. Hidden criteria test the same functions again: with other sizes
and more leading dimensions, with large and small numbers, in the corner cases and the
errors that the docstrings name, for the dtype of the result, for arguments that must
stay as they are, and with all of your modules together."""


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
    from endless_loops import limit
    from student_advice import ANOTHER, Advice
    from student_calls import Caller, fill, functions_in
    from student_errors import CheckFailed, NotReady, where
    from student_modules import unwritten_functions


def pytest_configure() -> None:
    """Stop with one line instead of many errors."""
    if OBSTACLE:
        pytest.exit(OBSTACLE, returncode=2)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the checks in the order in which the modules build on one another."""
    items.sort(key=lambda item: order(item.path.stem.removeprefix("test_")))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Count the checks that are to run: with -x, not all of them do."""
    SELECTED.update(item.path.stem.removeprefix("test_") for item in session.items)


SELECTED: Counter[str] = Counter()


@pytest.fixture
def call(request: pytest.FixtureRequest) -> Caller:
    """The functions of the module that the file of the check is about: layernorm in test_layernorm.py."""
    return Caller(request.path.stem.removeprefix("test_"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """End a check whose call takes far too long, with the line that it is at, and go on with the others."""

    def give_up(place: str) -> None:
        item.config.pluginmanager.getplugin("capturemanager").suspend_global_capture(in_=True)
        terminal = item.config.pluginmanager.getplugin("terminalreporter")
        pytest_terminal_summary(terminal)
        terminal.write_line(f"\n{item.name}: {place}, does not end, and cannot be ended from outside: a loop with")
        terminal.write_line("`except:` in it, or one long call. The checks after this one have not run.")
        terminal.flush()
        os._exit(1)

    with limit(give_up):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put the text for the student where pytest would put a traceback."""
    report = yield
    if call.excinfo is not None and report.failed:
        error = call.excinfo.value
        report.longrepr = str(error) if isinstance(error, CheckFailed) else where(error)
        FAILED[report.nodeid] = error
    return report


FAILED: dict[str, BaseException] = {}


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Now that all calls have been made, add to each text what they say together."""
    terminal = session.config.pluginmanager.getplugin("terminalreporter")
    advice = None if OBSTACLE or terminal is None else Advice()
    for report in terminal.stats.get("failed", []) if advice else []:
        error = FAILED.get(report.nodeid)
        if isinstance(error, CheckFailed) and not isinstance(error, NotReady):
            report.longrepr = advice.on(error, report.location[2])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What failed, module by module, then how many checks of each module pass."""
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
            for text in about(module, failures):
                for line in text.split("\n"):
                    terminalreporter.write_line(f"  {line}".rstrip())

    terminalreporter.write_line("")
    for module in sorted(counts, key=order):
        done = sum(module_of(report) == module for report in passed)
        waiting = SELECTED[module] - counts[module]
        finished = done == counts[module] and waiting <= 0
        line = f"{module:22} {done} of {counts[module]} checks pass" + (f", {waiting} not run" if waiting > 0 else "")
        terminalreporter.write_line(line, green=finished, yellow=not finished)
    if not failed and sum(counts.values()) >= SELECTED.total():
        terminalreporter.write_line("")
        terminalreporter.write_line("All public checks that ran have passed." + HIDDEN)


def about(module: str, failures: list[Report]) -> list[str]:
    """The texts about one module: what is not written in one line, then each different text once."""
    missing = unwritten_functions(module, functions_in(module))
    lines = [fill(f"Not written yet: {', '.join(missing)}", 86)] if missing else []
    told = {f"{function} is not written yet" for function in missing}
    texts: dict[str, list[str]] = {}
    for report in failures:
        text = report.longreprtext.strip()
        if text not in told:
            texts.setdefault(text, []).append(describe(report))
    return lines + [with_count(shown[0], len(shown)) for shown in texts.values()]


def with_count(text: str, count: int) -> str:
    """A text that as many checks have in common; longer ones stand apart."""
    if ANOTHER in text:
        return fill(text.replace(ANOTHER, f"{count} more checks" if count > 1 else ANOTHER), 86)
    more = f"(and in {count - 1} more check{'s' if count > 2 else ''})" if count > 1 else ""
    return f"\n{text}\n  {more}".rstrip() if "\n" in text else fill(f"{text} {more}", 86)


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
    return f"{name}  {Path(path).as_posix()}:{(line or 0) + 1}\n  " + text.replace("\n", "\n  ")
