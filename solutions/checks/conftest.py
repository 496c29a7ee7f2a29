"""How the public checks tell what they found.

pytest reads this file; you need not. A check that fails gives a few lines (what was called, what came back,
what was expected, why the two differ), functions that are not written yet are listed, and a table at the end says
how many checks pass. Nothing here is about your grade.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator
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
HIDDEN = """This is not the grade. Hidden criteria test the same functions again: with other sizes
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
    from student_advice import Advice
    from student_calls import Caller, calls_of, fill, functions_in
    from student_errors import CheckFailed, NotReady, NotWritten, where
    from student_modules import defined_twice, place, unwritten_functions

    sys.unraisablehook = lambda _: None  # an event loop that was refused complains when it is thrown away


def pytest_configure() -> None:
    """Stop with one line instead of many errors."""
    if OBSTACLE:
        pytest.exit(OBSTACLE, returncode=2)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run the checks in the order in which the modules build on one another, and only those of the functions asked for."""
    pytest_configure()  # with --only, pytest finds this folder so late that an exit there counts as an error of a check
    items.sort(key=lambda item: order(module_of(item.nodeid)))
    for item in items:
        module = module_of(item.nodeid)
        CALLED[item.nodeid] = list(dict.fromkeys(call.function for call in calls_of(item.function, module)))
    known = {function for module in MODULES for function in functions_in(module)}
    asked = [name for name in config.getoption("only", "").replace(",", " ").split() if name]
    if (
        not asked and config.option.keyword in known
    ):  # -k with a function's name means that function, not a part of a name
        asked, config.option.keyword = [config.option.keyword], ""
    if unknown := sorted(set(asked) - known):
        raise pytest.UsageError(f"--only: there is no function {unknown[0]}; there are {', '.join(sorted(known))}")
    if asked:
        ASKED.update(asked)
        config.hook.pytest_deselected(items=[item for item in items if not ASKED & {*CALLED[item.nodeid]}])
        items[:] = [item for item in items if ASKED & {*CALLED[item.nodeid]}]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Remember the checks that are to run: with -x, not all of them do."""
    SELECTED.extend(item.nodeid for item in session.items)


CALLED: dict[str, list[str]] = {}  # the functions that a check calls
ASKED: set[str] = set()  # the functions given with --only
SELECTED: list[str] = []


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


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """What is not written yet is no failure to look at."""
    unwritten = report.when == "call" and isinstance(FAILED.get(report.nodeid), NotWritten)
    return ("not written", "-", "NOT WRITTEN") if unwritten else None


FAILED: dict[str, BaseException] = {}


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Now that all calls have been made, find what they say together, which stands in the place of each check's own text."""
    terminal = session.config.pluginmanager.getplugin("terminalreporter")
    if OBSTACLE or terminal is None:
        return
    reports = [report for report in terminal.stats.get("failed", []) if told(report)]
    ADVICE.append(Advice([FAILED[report.nodeid] for report in reports], session.config.getoption("hint", False)))
    for number, report in enumerate(reports):
        report.longrepr = ADVICE[0].texts.get(number, "")


ADVICE: list[Advice] = []


def told(report: Report) -> bool:
    """Whether a check has failed that made its call."""
    error = FAILED.get(report.nodeid)
    return isinstance(error, CheckFailed) and not isinstance(error, NotReady)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What failed, module by module, what follows from it, how many checks of each function pass, and what to do next."""
    write, stats = terminalreporter.write_line, terminalreporter.stats
    passed = {report.nodeid for report in stats.get("passed", [])}
    failed = [report for kind in ("failed", "error", "not written") for report in stats.get(kind, [])]
    modules = sorted({module_of(name) for name in (*passed, *(report.nodeid for report in failed))}, key=order)
    if not modules:
        return
    for module in modules:
        texts = about(module, [report for report in failed if module_of(report.nodeid) == module])
        if texts and terminalreporter.config.option.tbstyle == "no":  # else pytest has shown them already
            write("")
            write(f"{module}.py", bold=True)
            for line in "\n".join(texts).split("\n"):
                write(f"  {line}".rstrip())
    follow = [fill(line, 88) for line in ADVICE[0].lines()] if ADVICE else []
    for line in ["", *follow] if follow else []:
        write(line)
    write("")
    for line, finished in counts(modules, passed, {report.nodeid for report in failed}):
        write(line, green=finished, yellow=not finished)
    write("")
    write(fill(next_step(failed, len(passed)), 88), bold=True)


def about(module: str, failures: list[Report]) -> list[str]:
    """The texts about one module: what is not written in one line, then each different text once."""
    functions = [function for function in functions_in(module) if not ASKED or function in ASKED]
    missing = unwritten_functions(module, functions) if failures else []
    lines = [fill(f"Not written yet: {', '.join(missing)}", 86)] if missing else []
    lines += defined_twice(module, functions)
    said = {f"{function} is not written yet" for function in missing}
    texts: dict[str, list[str]] = {}
    for report in failures:
        text = report.longreprtext.strip()
        if text and text not in said:
            texts.setdefault(text, []).append(describe(report))
    return lines + [with_count(shown[0], len(shown)) for shown in texts.values()]


def with_count(text: str, count: int) -> str:
    """A text that as many checks have in common; longer ones stand apart."""
    more = f"(and in {count - 1} more check{'s' if count > 2 else ''})" if count > 1 else ""
    return f"\n{text}\n  {more}".rstrip() if "\n" in text else fill(f"{text} {more}", 86)


def counts(modules: list[str], passed: set[str], failed: set[str]) -> Iterator[tuple[str, bool]]:
    """A line for each module, with those of its functions of which not all checks pass; with --only, for each function."""
    for module in modules:
        own = [name for name in SELECTED if module_of(name) == module]
        functions = [function for function in functions_in(module) if not ASKED or function in ASKED]
        unwritten = unwritten_functions(module, functions)
        calling = {function: [name for name in own if function in CALLED[name]] for function in functions}
        groups = {function: calling[function] for function in functions} if ASKED else {module: own}
        for group, names in groups.items():
            done, waiting = len(passed & {*names}), len({*names} - passed - failed)
            line = f"{group:22} {done} of {len(names) - waiting} checks pass"
            yield line + (f", {waiting} not run" if waiting else ""), done == len(names)
        left = [
            f"{function} ({'not written' if function in unwritten else f'{len(passed & {*names})} of {len(names)}'})"
            for function, names in calling.items()
            if not passed >= {*names}
        ]
        if left and not ASKED and passed & {*own}:
            yield "  " + fill(", ".join(left), 86).replace("\n", "\n  "), False


def next_step(failed: list[Report], passed: int) -> str:
    """What to do next: the function to be mended first, else the next one to write, else the upload."""
    wrong = [report for report in failed if not isinstance(FAILED.get(report.nodeid), NotWritten)]
    first = ADVICE[0].first() if ADVICE else None
    if wrong and not told(wrong[0]):
        return f"Next: mend {module_of(wrong[0].nodeid)}.py; what is wrong stands above."
    if first is not None:
        hint = " --hint says what is right." if first in ADVICE[0].hints else "."
        at = ADVICE[0].stopped.get(first, "")
        verb = "write" if unwritten_functions(first[0], [first[1]]) else "mend"
        what = f"mend {first[1]}, beginning at {at}" if at else f"{verb} {first[1]} in {place(*first)}"
        return f"Next: {what}; pytest --only {first[1]}{hint}"
    unwritten = [
        (m, f) for m in MODULES for f in unwritten_functions(m, functions_in(m)) if (FOLDER / f"{m}.py").is_file()
    ]
    unwritten.sort(key=lambda key: key[1] not in ASKED)
    if unwritten:
        module, function = unwritten[0]
        return f"Next: write {function} in {place(module, function)}; pytest --only {function}."
    if passed < len(CALLED) or wrong:
        return "Next: pytest, for all checks." if not wrong else "Next: what is wrong stands above."
    files = ", ".join(f"{module}.py" for module in MODULES)
    return f"All {passed} public checks pass. Next: upload {files}.\n{HIDDEN}"


def module_of(name: str) -> str:
    """The student module that a check is about, of which the id is given."""
    return Path(name.partition("::")[0]).stem.removeprefix("test_")


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
