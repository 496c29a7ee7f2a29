"""How the public checks report their results. pytest reads this file; you do not need to.

A failed check prints a few lines (what was called, returned and expected, and how the two differ). Functions that are not
written yet are listed, and a table at the end shows how many checks pass. Nothing here is about your grade.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from contextlib import redirect_stdout, suppress
from difflib import get_close_matches
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    Report = pytest.TestReport | pytest.CollectReport

FOLDER = Path(__file__).resolve().parent.parent
# In the order in which to write them. Filled in from rubric.yaml.
MODULES = [
    "layernorm",
    "batchnorm_comparison",
    "scaled_attention",
    "causal_mask",
    "transformer_block",
    "decoder",
    "concept_check",
]
RULES = "GRADING.md" if (FOLDER / "GRADING.md").is_file() else "README.md"
HIDDEN = (
    f"This is not your grade. Hidden tests call the same functions with other arguments. {RULES} "
    "lists everything that is graded."
)


sys.path[:0] = [str(FOLDER), str(FOLDER / "checks")]  # in every folder, and with every --import-mode
from student_setup import obstacle  # noqa: E402

OBSTACLE = obstacle()
if not OBSTACLE and not any((FOLDER / f"{module}.py").is_file() for module in MODULES):
    OBSTACLE = f"No homework here: {MODULES[0]}.py and the other modules belong next to the folder {FOLDER / 'checks'}"
if not OBSTACLE:
    from student_advice import Advice
    from student_calls import Caller, calls_of, checks_in, fill, functions_in, has_other_parameters
    from student_errors import CheckFailed, Interrupted, NotReady, NotWritten, TooLong, where
    from student_modules import Broken, defined_twice, load, place, unwritten_functions
    from time_limit import limit

    sys.unraisablehook = lambda _: None  # a rejected event loop would complain when it is deleted


def pytest_configure() -> None:
    """Stop with one line instead of many errors."""
    if OBSTACLE:
        raise pytest.UsageError(OBSTACLE)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run the checks in the order of the modules, and only those selected with --only."""
    pytest_configure()  # with --only, pytest reads this file so late that an error there counts as a failed check
    items.sort(key=lambda item: order(module_of(item.nodeid)))
    for item in items:
        module = module_of(item.nodeid)
        if item.path.resolve().parent == FOLDER / "checks":  # otherwise a test of the student's own
            CALLED[item.nodeid] = next((call.function for call in calls_of(item.function, module)), "")
    functions = {module: functions_in(module) for module in MODULES}
    known = {name: [name] for names in functions.values() for name in names}
    asked = config.getoption("only", "").replace(",", " ").split()
    if not asked and config.option.keyword in known:  # -k softmax: the function, not every check of that name
        asked, config.option.keyword = [config.option.keyword], ""
    known = {**functions, **known}
    for name in asked:
        if name not in known:
            near = get_close_matches(name, known, 1) or [f"one of {', '.join(sorted(known))}"]
            raise pytest.UsageError(f"--only: there is no function or module {name}; did you mean {near[0]}?")
        ASKED.update(known[name])
    if asked:
        left = [item for item in items if CALLED.get(item.nodeid) in ASKED]
        config.hook.pytest_deselected(items=[item for item in items if item not in left])
        items[:] = left


def pytest_collection_finish(session: pytest.Session) -> None:
    """Remember the selected checks: with -x, not all of them run."""
    SELECTED.extend(item.nodeid for item in session.items)


CALLED: dict[str, str] = {}  # the function that a check is about
ASKED: set[str] = set()  # the functions selected with --only
SELECTED: list[str] = []


@pytest.fixture
def call(request: pytest.FixtureRequest) -> Caller:
    """Return the functions of the module under test: layernorm in test_layernorm.py."""
    return Caller(request.path.stem.removeprefix("test_"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Replace the traceback with the text for the student. After Ctrl-C during a call, stop with the usual summary."""
    report = yield
    if call.excinfo is not None and report.failed:
        error = call.excinfo.value
        report.longrepr = str(error) if isinstance(error, CheckFailed) else where(error)
        FAILED[report.nodeid] = error
        if isinstance(error, Interrupted):
            item.session.shouldstop = "stopped by Ctrl-C"
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Keep functions that are not written yet out of the failures."""
    unwritten = report.when == "call" and isinstance(FAILED.get(report.nodeid), NotWritten)
    return ("not written", "-", "NOT WRITTEN") if unwritten else None


FAILED: dict[str, BaseException] = {}


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Replace the text of each failed check with advice based on all calls."""
    terminal = session.config.pluginmanager.getplugin("terminalreporter")
    if OBSTACLE or terminal is None:
        return
    reports = [report for report in terminal.stats.get("failed", []) if told(report)]
    ADVICE.append(Advice([FAILED[report.nodeid] for report in reports], session.config.getoption("hint", 0)))
    for number, report in enumerate(reports):
        report.longrepr = ADVICE[0].texts.get(number, "")


ADVICE: list[Advice] = []


def told(report: Report) -> bool:
    """Return True if a check failed after it had made its call."""
    error = FAILED.get(report.nodeid)
    return isinstance(error, CheckFailed) and not isinstance(error, NotReady)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what failed in each module, which functions fail as a consequence, how many checks pass, and what to do next."""
    write, stats = terminalreporter.write_line, terminalreporter.stats
    passed = {report.nodeid for report in stats.get("passed", [])} & CALLED.keys()
    failed = [report for kind in ("failed", "error", "not written") for report in stats.get(kind, [])]
    failed = [report for report in failed if report.nodeid in CALLED or isinstance(report, pytest.CollectReport)]
    modules = sorted({module_of(name) for name in (*passed, *(report.nodeid for report in failed))}, key=order)
    if not modules:
        return
    for module in modules:
        texts = about(module, [report for report in failed if module_of(report.nodeid) == module], modules)
        if texts and terminalreporter.config.option.tbstyle == "no":  # otherwise pytest has already shown them
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
    if unlike := [function for module in modules for function in accepted_though_unlike_the_stub(module, passed)]:
        have = "has" if len(unlike) == 1 else "have"
        write(fill(f"Note: {', '.join(unlike)} {have} other parameters than in the stub. The grader accepts them.", 88))
    if others := [module for module in MODULES if module not in modules and not (ASKED or failed)]:
        lacking = [f"{module} ({reason})" if (reason := lack(module)) else module for module in others]
        write(fill(f"Not run: {', '.join(lacking)}", 88))
    if line := names_so_far(modules):
        write("")
        write(fill(line, 88))
    write("")
    write(fill(next_step(failed, len(passed), terminalreporter.config.getoption("hint", 0)), 88), bold=True)


def about(module: str, failures: list[Report], modules: list[str]) -> list[str]:
    """Return the texts about one of the modules of this run: unwritten functions in one line, then each different text once."""
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
    causes = {getattr(FAILED.get(report.nodeid), "cause", "") for report in failures} - {"", *modules}
    lines += [found.text for cause in causes if isinstance(found := load(cause), Broken)]
    return lines + [with_count(shown[0], len(shown)) for shown in texts.values()]


def with_count(text: str, count: int) -> str:
    """Return a text that `count` checks share; longer texts are separated by a blank line."""
    more = f"(and in {count - 1} more check{'s' if count > 2 else ''})" if count > 1 else ""
    return f"\n{text}\n  {more}".rstrip() if "\n" in text else fill(f"{text} {more}", 86)


def counts(modules: list[str], passed: set[str], failed: set[str]) -> Iterator[tuple[str, bool]]:
    """Yield a line for each module, with the functions that still fail checks; with --only, a line for each function."""
    for module in modules:
        own = [name for name in SELECTED if module_of(name) == module]
        functions = [function for function in functions_in(module) if not ASKED or function in ASKED]
        unwritten = unwritten_functions(module, functions)
        calling = {function: [name for name in own if function == CALLED[name]] for function in functions}
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


def accepted_though_unlike_the_stub(module: str, passed: set[str]) -> list[str]:
    """Return the functions that pass their checks, and accept every call that the stub accepts, with other parameters."""
    checks = {
        function: {name for name in SELECTED if CALLED.get(name) == function} for function in functions_in(module)
    }
    finished = [function for function, names in checks.items() if names and names <= passed]
    return [function for function in finished if has_other_parameters(module, function)]


def lack(module: str) -> str:
    """Return what a module lacks before its checks can pass, without running them; "" if nothing is known."""
    with redirect_stdout(StringIO()):
        if isinstance(load(module), Broken):
            return "cannot be imported" if (FOLDER / f"{module}.py").is_file() else "missing"
    functions = functions_in(module)
    unwritten = unwritten_functions(module, functions)
    return f"{len(unwritten)} of {len(functions)} functions not written" if unwritten else ""


def names_so_far(modules: list[str]) -> str:
    """Names from the model that the functions written so far make up; "" if its module is not among these."""
    if not (FOLDER / "tour" / "ladder.py").is_file():
        return ""
    from tour import ladder

    with suppress(Exception, TooLong), limit(), redirect_stdout(StringIO()):
        return ladder.line(modules)
    return ""


def next_step(failed: list[Report], passed: int, hints: int) -> str:
    """Return what to do next: the function to fix first, else the next one to write, else the upload after a run of all checks."""
    wrong = [report for report in failed if not isinstance(FAILED.get(report.nodeid), NotWritten)]
    first = ADVICE[0].first() if ADVICE else None
    if wrong and not told(wrong[0]):
        cause = getattr(FAILED.get(wrong[0].nodeid), "cause", "")
        return f"Next: fix {cause or module_of(wrong[0].nodeid)}.py (see above)."
    if first is not None:
        module, function = first
        verb = "write" if unwritten_functions(module, [function]) else "fix"
        more = " --hint" * (hints + 1) if first in ADVICE[0].hints else ""
        run = f"{'Hint' if more else 'Then'}: pytest --only {function}{more}"
        return f"Next: {verb} {function} ({ADVICE[0].stopped.get(first) or place(*first)})\n{run}"
    unwritten = [
        (m, f) for m in MODULES for f in unwritten_functions(m, functions_in(m)) if (FOLDER / f"{m}.py").is_file()
    ]
    unwritten.sort(key=lambda key: (key[1] not in ASKED, key[0] not in map(module_of, SELECTED)))
    if unwritten:
        module, function = unwritten[0]
        return f"Next: write {function} ({place(module, function)})\nThen: pytest --only {function}"
    if wrong:
        return "Next: see above."
    if broken := [found for module in MODULES if isinstance(found := load(module), Broken)]:
        return f"Next: fix {broken[0].cause}.py\n{broken[0].text}"
    if passed < sum(len(checks_in(module)) for module in MODULES):
        return "Next: run all checks: pytest"
    files = ", ".join(f"{module}.py" for module in MODULES)
    return f"All {passed} public checks pass. Next: upload {files}.\n{HIDDEN}"


def module_of(name: str) -> str:
    """Return the module under test, from the id of a check."""
    return Path(name.partition("::")[0]).stem.removeprefix("test_")


def order(module: str) -> int:
    """Return the position of a module in the list; other modules come last."""
    return MODULES.index(module) if module in MODULES else len(MODULES)


def describe(report: Report) -> str:
    """Return the text of one failed check: a single line, or a title with lines below it."""
    text = report.longreprtext.strip()
    if isinstance(report, pytest.CollectReport):  # the file with the checks is damaged
        return f"{report.nodeid} cannot be read: {text.splitlines()[-1].lstrip('E ')}"
    if "\n" not in text:
        return text
    path, line, name = report.location
    printed = report.capstdout.rstrip().splitlines()[:10]
    if printed:
        text += "\nPrinted   " + "\n          ".join(printed)
    return f"{name}  {Path(path).as_posix()}:{(line or 0) + 1}\n  " + text.replace("\n", "\n  ")
