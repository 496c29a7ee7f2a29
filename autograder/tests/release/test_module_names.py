"""Names that a new module cannot have."""

import pytest

from autograder.exceptions import ArgumentsError
from autograder.release import new_module


@pytest.mark.parametrize(
    ("name", "why"),
    [
        *[(name, "cannot be a module's name") for name in ("class", "Foo", "1x", "a-b", "test_x", "__init__")],
        *[(name, "another module that students import") for name in ("random", "numpy", "pytest", "tour", "train")],
        ("layernorm", "is taken"),
        ("softmax", "is taken"),
    ],
)
def test_a_name_that_would_hide_something_is_refused(name: str, why: str) -> None:
    with pytest.raises(ArgumentsError, match=why):
        new_module.write(name)
