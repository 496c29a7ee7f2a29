"""The pages for authors are complete: what a suite can require, and the names of side effects."""

import inspect
import re

import pytest

from autograder.grading import diagnosis
from autograder.grading.recorder import Check
from autograder.homework import kit

DOCS = kit.PACKAGE / "docs"


@pytest.mark.parametrize("name", [name for name in vars(Check) if not name.startswith("_")])
def test_the_reference_lists_every_modifier_of_check(name: str) -> None:
    page = (DOCS / "reference" / "suites.md").read_text(encoding="utf-8")
    assert re.search(rf"`check\.{name}\b", page)


def test_the_guide_lists_every_name_of_a_side_effect() -> None:
    page = (DOCS / "how-to" / "add-a-misconception.md").read_text(encoding="utf-8")
    names = set(re.findall(r'_mistake\(call_result, f?"([^"]*)"', inspect.getsource(diagnosis)))
    assert {"shares_memory", "{name}_result", "changes_{name}"} <= names
    for name in names:
        assert re.search(rf"\| `{name.replace('{name}', '<[a-z]+>')}`", page), name
