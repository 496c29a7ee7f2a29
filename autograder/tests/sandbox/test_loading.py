"""Student modules are imported as at home, with references in place of some files."""

import marshal

import numpy as np
import pytest

from autograder.sandbox.protocol import Call, Reference, Response
from autograder.tests.running import loaded, opened, responses, said


def reference(name: str, text: str, *functions: str) -> Reference:
    return Reference(name, marshal.dumps(compile(text, f"{name}.py", "exec")), functions)


def test_contract_functions_come_from_the_reference_and_other_names_from_the_file() -> None:
    own = b"OWN = 5\ndef helper(): return 'own'\ndef plus(x): return 'never'\n_private = 3\n"
    source = (
        "from neighbour import *\nimport neighbour\ndef f(x): return [plus(x), OWN, helper(), neighbour._private]\n"
    )
    number, array = responses(source, ("f", 1.0), ("f", np.ones(1)), files={"neighbour.py": own})
    assert number.error is None
    assert array.value[0].tolist() == [2] and array.value[1:] == [5, "own", 3]


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("import neighbour\nneighbour.nothing", "AttributeError"),
        *((f"from neighbour import {name}", "ImportError") for name in ("nothing", "HIDDEN", "np")),
        ("import nowhere", "ModuleNotFoundError"),
        ("x = (", "SyntaxError"),
        ("raise SystemExit", "SystemExit"),
        ("import m\nm.f", "AttributeError"),
    ],
)
def test_errors_at_import_are_reported(source: str, kind: str) -> None:
    response = loaded(source)
    assert response.error is not None and response.error.kind == kind


def test_reference_without_functions_is_used_only_by_other_references() -> None:
    below = reference("first", "def scaled(x): return 2 * x")
    above = reference("second", "from first import scaled\ndef both(x): return scaled(x) + 1", "both")
    source = "from first import scaled\nfrom second import both\ndef f(x): return [scaled(x), both(x)]\n"
    with opened(source, files={"first.py": b"def scaled(x): return 'own'\n"}) as (_, process):
        assert process.load(["m"], [below, above]) == Response()
        assert process.run([Call("m", "f", [3])])[0].value == ["own", 7]


PLUS = "def plus(x, y, step=1): return x + 10 * y + 100 * step"
OWN_PLUS = "def plus(a, b, step=1, *, turn=0): return ('own', turn)"
CALLS = {  # calls of `plus` in another module, and in its own
    "by position": ("plus(1, 2)", 121),
    "by the names of the contract": ("plus(y=2, x=1)", 121),
    "by the student's names": ("plus(b=2, a=1, step=3)", 321),
    "partly by name": ("plus(1, b=2)", 121),
    "through a partial": ("functools.partial(plus, b=2)(1)", 121),
    "with an argument that the contract does not have": ("plus(1, 2, turn=5)", ["own", 5]),
    "with a wrong name": ("plus(1, c=2)", "TypeError"),
    "with too few arguments": ("plus(1)", "TypeError"),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("is_helper", [False, True], ids=["dependency", "helper"])
def test_references_accept_the_argument_names_of_the_students_own_function(name: str, is_helper: bool) -> None:
    code, value = CALLS[name]
    above = OWN_PLUS if is_helper else "from other import plus"
    source = f"import functools\n{above}\ndef f():\n    result = {code}\n    return result if result != ('own', 5) else [*result]\n"
    with opened(source, files={"other.py": OWN_PLUS.encode()}) as (_, process):
        given = ([], reference("m", PLUS, "plus")) if is_helper else ([reference("other", PLUS, "plus")], None)
        assert process.load(["m"], *given) == Response()
        response = process.run([Call("m", "f")])[0]
    assert (response.value if response.error is None else response.error.kind) == value


@pytest.mark.parametrize("own", ["", "plus = None", "def other(): pass", "raise ValueError", "x = ("])
def test_calls_that_a_reference_does_not_accept_fail_without_a_function_of_the_student(own: str) -> None:
    with opened("from other import plus\ndef f(): return plus(a=1, b=2)\n", files={"other.py": own.encode()}) as (
        _,
        process,
    ):
        assert process.load(["m"], [reference("other", PLUS, "plus")]) == Response()
        error = process.run([Call("m", "f")])[0].error
        assert error is not None and error.kind == "TypeError" and error.line == 2


def test_a_reference_looks_like_a_module() -> None:
    source = (
        "import copy, importlib, inspect, pickle, neighbour\nassert inspect.ismodule(neighbour)\n"
        "assert neighbour.__spec__.name == neighbour.__name__ == 'neighbour'\n"
        "assert importlib.import_module('neighbour') is neighbour\n"
        "assert pickle.loads(pickle.dumps(neighbour.plus)) is neighbour.plus\n"
        "assert 'plus' in dir(neighbour) and 'plus' in neighbour.__all__\n"
        "assert not hasattr(neighbour, '__path__')\n"
    )
    assert loaded(source) == Response()


@pytest.mark.parametrize(
    ("source", "files", "value"),
    [
        (  # the submission shadows the standard library, except for modules that NumPy needs
            "import colorsys, json, msgpack\ndef f(): return [colorsys.OWN, json.dumps(1), msgpack.OWN]\n",
            {"colorsys.py": b"OWN = 1", "json.py": b"1 / 0", "msgpack.py": b"OWN = 2"},
            [1, "1", 2],
        ),
        (
            "import package, loose.one\ndef f(): return [package.inner.X, loose.one.Y]\n",
            {"package/__init__.py": b"from . import inner", "package/inner.py": b"X = 4", "loose/one.py": b"Y = 5"},
            [4, 5],
        ),
        ("TEXT = open('data.txt').read()\nopen(__file__).read()\ndef f(): return TEXT", {"data.txt": b"x"}, "x"),
    ],
    ids=["order", "packages", "data"],
)
def test_files_of_a_submission_are_found(source: str, files: dict[str, bytes], value: object) -> None:
    assert responses(source, ("f",), files=files)[0].value == value


def test_kit_cannot_be_imported_and_its_path_is_not_revealed() -> None:
    assert said(loaded("import sys\nraise RuntimeError(repr([sys.argv, sys.orig_argv]))")) == "[[''], ['']]"
    for name in ("autograder", "autograder.sandbox.wire", "msgpack", "psutil", "pydantic"):
        error = loaded(f"import sys\nimport {name}").error
        assert error is not None and error.kind == "ModuleNotFoundError", name


REPLACED = """
import other
def helper(x): return "wrong"
TABLE = {"h": helper}
def f(x): return [TABLE["h"](x), other.use(x), late(x)]
def late(x):
    import later
    return later.use(x)
"""


def test_helper_is_replaced_in_its_own_module_and_in_no_other_file() -> None:
    other = b"def helper(x, y=0): return 'its own'\ndef use(x): return helper(x, 1)\n"
    with opened(REPLACED, files={"other.py": other, "later.py": other}) as (sandbox, _):
        found = []
        for helpers in (None, reference("m", "def helper(x): return x + 1", "helper")):
            with sandbox.start() as process:
                assert process.load(["m"], [], helpers) == Response()
                found += process.run([Call("m", "f", [np.ones(1)])])
        alone, helped = found
        assert alone.value == ["wrong", "its own", "its own"]
        assert helped.value[0].tolist() == [2.0] and helped.value[1:] == ["its own", "its own"]
