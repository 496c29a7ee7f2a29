"""Runs students' test functions without pytest: in the grader's sandbox, and at home with `--test-my-tests`.

A test is a function `test_*` at the top level of the file. It may use `assert`, `numpy.testing`, `pytest.raises` and
`pytest.mark.parametrize`; `pytest_module` is a substitute for pytest with just these.
"""

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any


@contextmanager
def raises(kind: type[BaseException] | tuple[type[BaseException], ...], match: str = "") -> Iterator[SimpleNamespace]:
    """`with pytest.raises(ValueError, match="heads"):` fails unless the block raises such an error."""
    caught = SimpleNamespace(value=None)
    try:
        yield caught
    except kind as error:
        if not re.search(match, str(error)):
            raise AssertionError(f"the message is {error}") from error
        caught.value = error
    else:
        raise AssertionError("nothing was raised")


def parametrize(names: str | Sequence[str], values: Iterable[Any]) -> Callable[[Callable[..., None]], Any]:
    """`@pytest.mark.parametrize("x, y", [(1, 2), (3, 4)])` runs a test once for each entry."""
    keys, rows = [key.strip() for key in names.split(",")] if isinstance(names, str) else list(names), list(values)

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**arguments: Any) -> None:
            for row in rows:
                test(**arguments, **dict(zip(keys, row if len(keys) > 1 else (row,), strict=True)))

        return run

    return decorated


mark = SimpleNamespace(parametrize=parametrize)


def pytest_module() -> ModuleType:
    """Return the module that `import pytest` returns if pytest is not installed; in the sandbox it is a reference."""
    module = ModuleType("pytest")
    vars(module).update(raises=raises, mark=mark)
    return module


def tested(test: str, functions: Iterable[str]) -> str:
    """Return the function under test, by the name of the test: layer_norm for test_layer_norm_of_one_row; "" if none."""
    name = test.removeprefix("test_")
    fitting = [function for function in functions if name == function or name.startswith(f"{function}_")]
    return max(fitting, key=len, default="")
