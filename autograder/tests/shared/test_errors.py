"""Exceptions by built-in names, text and place, the running loop, and advice."""

import collections
import errno
import importlib
import socket
import sys
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.shared import errors
from autograder.shared.errors import (
    ADVICE,
    CIRCULAR,
    MATMUL,
    MAX_PASSED,
    NO_INPUT,
    NO_LINE,
    NOT_ALLOWED,
    advice,
    builtin_kinds,
    is_circular,
    location,
    loop,
    passed,
    text_of,
)
from autograder.tests.files import put, python_says


def raised(action: Callable[..., Any], *args: Any) -> BaseException:
    with pytest.raises(BaseException) as caught:
        action(*args)
    return caught.value


def defined(source: str, file: str = "m.py", **names: Any) -> dict[str, Any]:
    exec(compile(source, file, "exec"), names)
    return names


def is_students(file: str) -> bool:
    return file.endswith("m.py")


@pytest.mark.parametrize("kind", [None, *ADVICE, "EOFError", "ValueError", "TypeError"])
def test_advice_depends_on_the_kind_or_the_text(kind: str) -> None:
    assert advice(str(kind), "", True) == CIRCULAR
    assert advice(str(kind), NO_LINE) == (NO_INPUT if kind == "EOFError" else ADVICE.get(kind, ""))
    assert advice(str(kind), "it uses os.popen, which the grader does not run") == NOT_ALLOWED
    assert advice(str(kind), "matmul: sizes") == (MATMUL if kind == "ValueError" else ADVICE.get(kind, ""))


def test_limits_of_a_browser_are_named_only_there(monkeypatch: pytest.MonkeyPatch) -> None:
    error = raised(lambda: np.ones(1, np.int64).astype(np.int32, casting="safe"))
    text = str(error).replace("Cannot cast array from", "Cannot cast array data from")
    assert advice("TypeError", text) == advice("RuntimeError", "can't start new thread") == ""
    monkeypatch.setattr(sys, "platform", "emscripten")
    assert advice("TypeError", text).startswith("In a browser, indices have 32 bits. Unless your code asks for int32")
    assert advice("RuntimeError", "can't start new thread").startswith("A browser cannot start threads")
    assert advice("RuntimeError", "another text") == ""


@pytest.mark.parametrize(("one", "other"), [((2, 3), (4, 5)), ((3,), (4,)), ((3,), ())])
def test_advice_on_a_product_of_incompatible_shapes(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    assert advice("ValueError", str(raised(np.matmul, np.ones(one), np.ones(other)))) == MATMUL


@pytest.mark.parametrize(("one", "two", "circular"), [
    ("import two", "from one import x", True), ("import two", "import one\none.x", True),
    ("from two import x", "import one", False), ("import two\ntwo.x", "import one", False), ("import two", "import three", False),
    ("import two", "one = 1\none.x", False),
    ("import two", "class E(ImportError):\n    @property\n    def name(self): raise OSError\nraise E", False),
])  # fmt: skip
def test_circular_import_is_recognised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one: str, two: str, circular: bool
) -> None:
    """By the modules that were being imported, since Python's text differs between versions."""
    put(tmp_path, {"one.py": one, "two.py": two})
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "two", raising=False)
    assert is_circular(raised(importlib.import_module, "one")) is circular


class Own(KeyError, ValueError):
    pass


def test_kinds_of_an_error_are_builtin_names() -> None:
    assert builtin_kinds(Own()) == ["KeyError", "LookupError", "ValueError", "Exception", "BaseException"]
    assert builtin_kinds(type("ValueError", (Exception,), {})()) == ["Exception", "BaseException"]


class Silent(Exception):
    def __str__(self) -> str:
        raise SystemExit


EPERM = PermissionError(errno.EPERM, "Operation not permitted")
CALLED = "it uses timeit.repeat, which the grader does not run"


def wrapping(error: Exception) -> Exception:
    error.__context__ = EPERM
    return error


@pytest.mark.parametrize(("error", "text"), [
    (ValueError("x" * 999), "x" * 300), (raised(compile, "x = = 2", "m.py", "exec"), python_says("x = = 2")), (Silent(), ""),
    (EPERM, CALLED), (socket.gaierror(1, "no name"), CALLED), (wrapping(ConnectionError("x")), CALLED),
    (PermissionError(errno.EACCES, "denied"), f"[Errno {errno.EACCES}] denied"),
    (PermissionError(errno.EPERM, "denied", "a.txt"), f"[Errno {errno.EPERM}] denied: 'a.txt'"),
    (ConnectionError("x"), "x"), (wrapping(ValueError("x")), "x"),
], ids=repr)  # fmt: skip
def test_text_of_an_error_names_the_function_that_the_system_refused(error: Exception, text: str) -> None:
    def refused() -> None:
        raise error.with_traceback(None)

    names = defined("def f(): g()\ndef g(): repeat(refused)", repeat=timeit.repeat, refused=refused)
    assert text_of(raised(names["f"]), is_students) == text


def test_refused_function_may_be_a_class_and_is_of_the_standard_library() -> None:
    class Refused:
        def keys(self) -> None:
            raise EPERM.with_traceback(None)

    code = "def f(): repeat(h)\ndef g(): refused.keys()\ndef h(): UserDict(refused)"
    names = defined(code, UserDict=collections.UserDict, repeat=timeit.repeat, refused=Refused())
    assert text_of(raised(names["f"]), is_students) == "it uses collections.UserDict, which the grader does not run"
    assert text_of(raised(names["g"]), is_students) == text_of(raised(Refused().keys)) == str(EPERM)


@pytest.mark.parametrize(("call", "line"), [("broken()", 5), ("VALUE = [broken() for _ in range(2)]", 5), ("", 2)])
def test_error_has_its_last_line_and_at_import_that_outside_functions(call: str, line: int) -> None:
    def run() -> None:
        defined(f"def broken():\n    return 1 / 0\n\n\n{call}\n", "/a/m.py")["broken"]()

    error = raised(run)
    assert location(error.__traceback__, is_students) == ("m.py", line)
    assert location(error.__traceback__, lambda _: False) == ("", 0)


def test_functions_that_an_error_passed_through_come_innermost_first() -> None:
    names = defined(
        f"def f(n=0): return f(n + 1) if n < {MAX_PASSED} else g()\ndef g(): return {'x' * 99}\nh = lambda: [][1]"
    )
    assert passed(raised(names["f"]), is_students) == ["x" * 64, "g", *["f"] * (MAX_PASSED - 2)]
    assert passed(raised(names["h"]), is_students) == ["<lambda>"]


@pytest.mark.parametrize(("source", "line"), [
    ("probe()", 0), ("for _ in 'a':\n        pass\n    probe()", 0), ("while True:\n        for _ in 'a': return probe()", 2),
    ("for _ in 'a':\n        while True: return probe()", 3), ("for _ in 'a':\n        for _ in 'b': probe()", 2),
    ("while True:\n        if x == 19: return probe()\n        return f(x + 1)", 2),
    ("for _ in 'a':\n        if x == 19: return probe()\n        return f(x + 1)", 2),
    ("for _ in 'a':\n        if x == 20: return probe()\n        return f(x + 1)", 0),
    ("while True:\n        if x == 20: return probe()\n        return f(x + 1)", 2),
])  # fmt: skip
def test_running_loop_is_the_outermost_while_or_else_for(source: str, line: int, tmp_path: Path) -> None:
    found = []

    def probe() -> None:
        found.append(loop(sys._getframe(1), is_students))

    file = tmp_path / "m.py"
    file.write_text(f"def f(x):\n    {source}\n")
    defined(file.read_text(), str(file), probe=probe)["f"](0)
    defined(file.read_text(), str(tmp_path / "gone/m.py"), probe=probe)["f"](0)
    assert found == [("m.py" if line else "", line), ("", 0)]
    assert loop(None, is_students) == ("", 0)


def test_missing_function_is_named() -> None:
    assert errors.missing("f", "m") == (
        "There is no function `f` in `m.py`: define it with this name, outside of any class or other function."
    )
