"""The command-line options of the public checks, and what `pytest layernorm.py` means."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from pathlib import Path

import pytest

CHECKS = Path(__file__).resolve().parent / "checks"
sys.path.insert(0, str(CHECKS))  # so that its conftest.py is found with every --import-mode
from student_setup import obstacle  # noqa: E402

# Options of plugins that run checks in other processes, whose results would be lost.
ELSEWHERE = {"numprocesses": "-n", "tx": "--tx", "forked": "--forked"}


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    if not pluginmanager.has_plugin("terminal"):
        raise pytest.UsageError("The checks print with pytest's terminal plugin: leave out -p no:terminal.")
    group = parser.getgroup("homework")
    group.addoption(
        "--only", default="", metavar="NAMES", help="run the checks of these functions or modules: softmax,layernorm"
    )
    group.addoption(
        "--hint",
        action="count",
        default=0,
        help="also show what the code does wrong, or where an edit helps; twice: also how to fix it",
    )
    group.addoption("--watch", action="store_true", help="run the checks of a module again whenever you save it")
    if (CHECKS / "my_tests.py").is_file():
        group.addoption(
            "--test-my-tests", action="store_true", help="run test_decoder_parts.py on correct and wrong code"
        )


def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """With --watch, run the checks again and again; with --test-my-tests, the student's own tests in place of the checks.

    Stop with one sentence if the checks cannot run.
    """
    if reason := obstacle():
        raise pytest.UsageError(reason)
    for name, option in ELSEWHERE.items():
        if config.getoption(name, None):
            raise pytest.UsageError(f"The checks run in a single process: leave out {option}.")
    if not (config.option.watch or config.getoption("test_my_tests", False)):
        return None
    sys.path.insert(0, str(CHECKS.parent))
    if config.option.watch:
        from watch import watch

        first = [argument for argument in config.invocation_params.args if argument != "--watch"]
        return watch(first, ["--hint"] * config.option.hint)
    from my_tests import report
    from student_calls import functions_in

    modules = [file.stem.removeprefix("test_") for file in CHECKS.glob("test_*.py")]
    lines, fine = report({module: functions_in(module) for module in modules})
    print(*lines, sep="\n")
    return 0 if fine else 1


def pytest_configure(config: pytest.Config) -> None:
    """Run the checks of a module where the module itself is given: `pytest layernorm.py`."""
    config.args = [_checks_of(argument) for argument in config.args]


def _checks_of(argument: str) -> str:
    path, colons, rest = argument.partition("::")
    module = Path(path).name.removesuffix(".py")
    checks = CHECKS / f"test_{module}.py"
    if checks.is_file():
        return f"{checks}{colons}{rest}"
    known = [file.stem.removeprefix("test_") for file in CHECKS.glob("test_*.py")]
    if not Path(path).exists() and (near := get_close_matches(module, known, 1)):
        raise pytest.UsageError(f"there is no {path}; did you mean {near[0]}.py?")
    return argument
