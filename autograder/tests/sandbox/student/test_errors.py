"""Errors in the student's code arrive as built-in names, a text and a place in the student's own files."""

from pathlib import Path
from typing import Any

import pytest

from autograder.sandbox.student.calls import described
from autograder.values.errors import MAX_TEXT, builtin_kinds, text_of


class Own(KeyError, ValueError):
    pass


def raised(action: Any, *args: Any) -> BaseException:
    with pytest.raises(BaseException) as caught:
        action(*args)
    return caught.value


def test_only_built_in_names_are_told() -> None:
    assert builtin_kinds(Own()) == ["KeyError", "LookupError", "ValueError", "Exception", "BaseException"]
    fake = type("ValueError", (Exception,), {})
    assert builtin_kinds(fake()) == ["Exception", "BaseException"]


def test_texts_are_cut_and_never_raise() -> None:
    class Silent(Exception):
        def __str__(self) -> str:
            raise SystemExit

    assert text_of(Silent()) == ""
    assert len(text_of(ValueError("x" * 10**6))) == MAX_TEXT


def test_the_place_is_the_last_line_in_the_submission_and_functions_are_named_from_the_innermost(
    tmp_path: Path,
) -> None:
    source = "def f():\n    return g()\ndef g():\n    return missing\n"
    (tmp_path / "m.py").write_text(source)
    namespace: dict[str, Any] = {}
    exec(compile(source, str(tmp_path / "m.py"), "exec"), namespace)
    error = raised(namespace["f"])
    assert described(error, str(tmp_path))[2:] == ("m.py", 4, "", ["missing", "g", "f"])
    assert described(error, "/elsewhere")[2:4] == ("", 0)


def test_a_syntax_error_is_placed_where_it_stands(tmp_path: Path) -> None:
    error = raised(compile, "x = 1\nx = = 2\n", str(tmp_path / "m.py"), "exec")
    kinds, text, file, line, _, _ = described(error, str(tmp_path))
    assert (kinds[0], text, file, line) == ("SyntaxError", "invalid syntax", "m.py", 2)


def test_a_signature_that_does_not_fit_is_told_from_a_type_error_within() -> None:
    def f(x: Any) -> Any:
        return x + "text"

    assert described(raised(f), "/", f, [], {})[4] == "signature"
    assert described(raised(f, 1), "/", f, [1], {})[4] == ""
    assert described(raised(f, 1, 2), "/", f, [1, 2], {})[4] == "signature"
