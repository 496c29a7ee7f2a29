"""The options of the public checks, which pytest must know before it finds the folder checks."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("homework")
    group.addoption(
        "--only", default="", metavar="FUNCTIONS", help="run the checks of these functions: softmax,split_heads"
    )
    group.addoption("--hint", action="store_true", help="say also what is right where a mistake is known")
