"""The command-line options of the public checks, and what `pytest layernorm.py` means."""

from difflib import get_close_matches
from pathlib import Path

import pytest

CHECKS = Path(__file__).resolve().parent / "checks"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("homework")
    group.addoption(
        "--only", default="", metavar="NAMES", help="run the checks of these functions or modules: softmax,layernorm"
    )
    group.addoption(
        "--hint", action="count", default=0, help="also show what the code does wrong; twice: also how to fix it"
    )


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
