"""Modules are imported as at home, beside references; tried in processes of their own."""

import marshal

import numpy as np
import pytest

from autograder.sandbox.messages import Reference, Response, prepared
from autograder.tests.running import DEPENDENCY, loaded, opened, replied, said


def test_a_reference_has_the_contract_functions_and_the_file_the_rest() -> None:
    own = b"OWN = 5\ndef helper(): return 'own'\ndef plus(x): return 'never'\n_private = 3\n"
    source = (
        "from neighbour import *\nimport neighbour\ndef f(x): return [plus(x), OWN, helper(), neighbour._private]\n"
    )
    with opened(source, files={"neighbour.py": own}) as (_, process):
        assert process.load(["m"], [DEPENDENCY]) == Response()
        assert process.run([prepared("m", "f", [1.0])])[0].error is None
        response = process.run([prepared("m", "f", [np.ones(1)])])[0]
        assert response.value[0].tolist() == [2] and response.value[1:] == [5, "own", 3]


def test_a_broken_dependency_does_no_harm() -> None:
    with opened("from neighbour import *\ndef f(x): return plus(x)\n", files={"neighbour.py": b"1 / 0"}) as (
        _,
        process,
    ):
        assert process.load(["m"], [DEPENDENCY]) == Response()
        assert process.run([prepared("m", "f", [np.ones(1)])])[0].value.tolist() == [2]


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("import neighbour\nneighbour.nothing", "AttributeError"),
        ("from neighbour import nothing", "ImportError"),
        ("import nowhere", "ModuleNotFoundError"),
        ("x = (", "SyntaxError"),
        ("raise SystemExit", "SystemExit"),
        ("import m\nm.f", "AttributeError"),
    ],
)
def test_errors_at_import_are_told(source: str, kind: str) -> None:
    response = loaded(source)
    assert response.error is not None and response.error.kind == kind


@pytest.mark.parametrize("name", ["HIDDEN", "np"])
def test_other_names_of_a_reference_are_not_there(name: str) -> None:
    response = loaded(f"from neighbour import {name}")
    assert response.error is not None and response.error.kind == "ImportError"


FIRST = "def scaled(x): return 2 * x"
SECOND = "from first import scaled\ndef both(x): return scaled(x) + 1"


def test_a_reference_uses_the_references_below_it_and_the_student_only_those_named() -> None:
    below, above = (
        Reference(name, marshal.dumps(compile(text, name, "exec")), functions)
        for name, text, functions in (("first", FIRST, ()), ("second", SECOND, ("both",)))
    )
    own = b"def scaled(x): return 'own'\n"
    with opened(
        "from first import scaled\nfrom second import both\ndef f(x): return [scaled(x), both(x)]\n",
        files={"first.py": own},
    ) as (
        _,
        process,
    ):
        assert process.load(["m"], [below, above]) == Response()
        assert process.run([prepared("m", "f", [3])])[0].value == ["own", 7]


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


def test_the_submission_goes_before_the_standard_library_but_not_before_what_numpy_needs() -> None:
    source = "import colorsys, json, msgpack\ndef f(): return [colorsys.OWN, json.dumps(1), msgpack.OWN]\n"
    files = {"colorsys.py": b"OWN = 1", "json.py": b"1 / 0", "msgpack.py": b"OWN = 2"}
    with opened(source, files=files) as (_, process):
        assert process.load(["m"]) == Response()
        assert process.run([prepared("m", "f")])[0].value == [1, "1", 2]


def test_where_the_kit_lies_is_not_said() -> None:
    assert said(loaded("import sys\nraise RuntimeError(repr([sys.argv, sys.orig_argv]))")) == "[[''], ['']]"


def test_nothing_of_the_kit_can_be_imported() -> None:
    for name in ("autograder", "autograder.sandbox.wire", "msgpack", "psutil", "pydantic"):
        assert said(loaded(f"import sys\nimport {name}")).startswith("No module named"), name


REPLACED = """
import other
def helper(x): return "wrong"
TABLE = {"h": helper}
def f(x): return [TABLE["h"](x), other.use(x), late(x)]
def late(x):
    import later
    return later.use(x)
"""


def test_a_helper_is_replaced_in_the_module_that_is_tried_and_in_no_other_file() -> None:
    other = b"def helper(x, y=0): return 'its own'\ndef use(x): return helper(x, 1)\n"
    with opened(REPLACED, files={"other.py": other, "later.py": other}) as (sandbox, _):
        ours = Reference("m", marshal.dumps(compile("def helper(x): return x + 1", "m.py", "exec")), ("helper",))
        responses = []
        for helpers in (None, ours):
            with sandbox.start() as process:
                assert process.load(["m"], [], helpers) == Response()
                responses += process.run([prepared("m", "f", [np.ones(1)])])
        alone, helped = responses
        assert alone.value == ["wrong", "its own", "its own"]
        assert helped.value[0].tolist() == [2.0] and helped.value[1:] == ["its own", "its own"]


def test_data_files_lie_where_code_looks_for_them() -> None:
    with opened("open('data.txt').read()\nopen(__file__).read()", files={"data.txt": b"x"}) as (_, process):
        assert process.load(["m"]) == Response()


def test_packages_and_folders_of_a_submission_can_be_imported() -> None:
    files = {"package/__init__.py": b"from . import inner", "package/inner.py": b"X = 4", "loose/one.py": b"Y = 5"}
    source = "import package, loose.one\ndef f(): return [package.inner.X, loose.one.Y]\n"
    with opened(source, files=files) as (_, process):
        assert process.load(["m"]) == Response()
        assert process.run([prepared("m", "f")])[0].value == [4, 5]


def test_a_call_of_what_is_not_there_is_told() -> None:
    response = replied("x = 1")
    assert response.error is not None and (response.error.kind, response.error.hint) == ("AttributeError", "missing")
    response = replied("f = 3")
    assert response.error is not None and response.error.hint == "missing"
