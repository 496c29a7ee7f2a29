"""The instructor's page on adding a module names everything that a suite and a mistake may use."""

import inspect
import re

import pytest

from autograder.grading import diagnosis
from autograder.grading.recorder import Check
from autograder.homework import kit

PAGE = (kit.PACKAGE / "docs" / "instructor.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in vars(Check) if not name.startswith("_")])
def test_everything_that_a_check_can_be_asked_is_on_the_page(name: str) -> None:
    assert re.search(rf"`check\.{name}\b", PAGE)


def test_every_name_of_a_mistake_of_form_is_on_the_page() -> None:
    names = set(re.findall(r'_mistake\(record, f?"([^"]*)"', inspect.getsource(diagnosis)))
    assert {"shares_memory", "{name}_result", "changes_{name}"} <= names
    for name in names:
        assert re.search(rf"\| `{name.replace('{name}', '<[a-z]+>')}`", PAGE), name
