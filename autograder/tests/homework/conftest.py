"""The solutions, the notebook's helpers and train.py, imported as in a student's folder."""

import importlib
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from autograder.tests.files import HOMEWORK


@pytest.fixture(scope="module")
def homework() -> Iterator[Any]:
    """The modules by name, without `tour.`; `modules` is the argument for pictures about names."""
    tops = ("tour", "train", *HOMEWORK.rubric.modules)
    before = {name: sys.modules.pop(name) for name in [*sys.modules] if name.partition(".")[0] in tops}
    sys.path.insert(0, str(HOMEWORK.solutions))
    helpers = [f"tour.{path.stem}" for path in (HOMEWORK.solutions / "tour").glob("[a-z]*.py")]
    names = (*helpers, "tour.pictures", *tops[1:])
    found: Any = SimpleNamespace(**{name.removeprefix("tour."): importlib.import_module(name) for name in names})
    found.modules = found.names.Modules(*map(found.controls.Lazy, found.names.Modules._fields))
    yield found
    sys.path.remove(str(HOMEWORK.solutions))
    for name in [*sys.modules]:
        if name.partition(".")[0] in tops:
            del sys.modules[name]
    sys.modules.update(before)
