"""Modules are imported as at home, each context apart from the others; tried in processes of their own."""

import pytest

from autograder.sandbox.messages import Reply, prepared
from autograder.tests.running import STAND_INS, loaded, opened, replied, said

CONTRACT = "import neighbour\nfrom neighbour import plus\n"


def test_a_proxy_answers_for_the_contract_and_the_file_for_the_rest() -> None:
    own = b"OWN = 5\ndef helper(): return 'own'\ndef plus(x): return 'never'\n_private = 3\n"
    source = (
        "from neighbour import *\nimport neighbour\ndef f(x): return [plus(x), OWN, helper(), neighbour._private]\n"
    )
    with opened(source, files={"neighbour.py": own}) as (_, process):
        assert process.load("m", ["m"], STAND_INS) == Reply()
        assert process.play([prepared("m", "m", "f", [1.0])])[0].error is None
        import numpy as np

        reply = process.play([prepared("m", "m", "f", [np.ones(1)])])[0]
        assert reply.value[0].tolist() == [2] and reply.value[1:] == [5, "own", 3]


def test_a_broken_neighbour_does_no_harm() -> None:
    with opened("from neighbour import *\ndef f(x): return plus(x)\n", files={"neighbour.py": b"1 / 0"}) as (
        _,
        process,
    ):
        assert process.load("m", ["m"], STAND_INS) == Reply()
        assert process.play([prepared("m", "m", "f", [[1.0]])])[0].value.tolist() == [2]


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
    reply = loaded(source)
    assert reply.error is not None and reply.error.kind == kind


def test_a_proxy_looks_like_a_module() -> None:
    source = (
        "import copy, importlib, inspect, pickle, neighbour\nassert inspect.ismodule(neighbour)\n"
        "assert neighbour.__spec__.name == neighbour.__name__ == 'neighbour'\n"
        "assert importlib.import_module('neighbour') is neighbour\n"
        "assert pickle.loads(pickle.dumps(neighbour.plus)) is neighbour.plus\n"
        "assert 'plus' in dir(neighbour) and 'plus' in neighbour.__all__\n"
        "assert not hasattr(neighbour, '__path__')\n"
    )
    assert loaded(source) == Reply()


def test_the_submission_goes_before_the_standard_library_but_not_before_what_numpy_needs() -> None:
    source = "import colorsys, json, msgpack\ndef f(): return [colorsys.OWN, json.dumps(1), msgpack.OWN]\n"
    files = {"colorsys.py": b"OWN = 1", "json.py": b"1 / 0", "msgpack.py": b"OWN = 2"}
    with opened(source, files=files) as (_, process):
        assert process.load("m", ["m"]) == Reply()
        assert process.play([prepared("m", "m", "f")])[0].value == [1, "1", 2]


def test_where_the_kit_lies_is_not_said() -> None:
    assert said(loaded("import sys\nraise RuntimeError(repr([sys.argv, sys.orig_argv]))")) == "[[''], ['']]"


def test_nothing_of_the_kit_can_be_imported() -> None:
    for name in ("autograder", "autograder.sandbox.wire", "msgpack", "psutil", "pydantic"):
        assert said(loaded(f"import sys\nimport {name}")).startswith("No module named"), name


CONTEXTS = """
import builtins, helper, sys
sys.path.append("/somewhere")
builtins.left = getattr(builtins, "left", 0) + 1
helper.count += 1
def f(): return [helper.count, builtins.left, sys.path.count("/somewhere")]
"""


def test_contexts_share_nothing() -> None:
    with opened(CONTEXTS, files={"helper.py": b"count = 0"}) as (_, process):
        for context in ("a", "b", "c"):
            assert process.load(context, ["m"]) == Reply()
        calls = [prepared(context, "m", "f") for context in ("a", "c", "b", "a")]
        assert [reply.value for reply in process.play(calls)] == [[1, 1, 1]] * 4


SETTING = """
import builtins, sys, warnings
import numpy as np
def f(x):
    print(x)
    return [g(x), len(warnings.filters), type(sys.stderr).__name__, isinstance(sys.path, list), all([x, 0])]
def g(x):
    return float(np.exp(x))
def spoil():
    np.seterr(all="raise")
    warnings.simplefilter("error")
    warnings.simplefilter("always", UserWarning)
    sys.stdout.detach()
    sys.stderr.close()
    sys.stderr = Odd()
    sys.path = None
    sys.modules[__name__].__file__ = Odd()
    warnings.filters, warnings.resetwarnings, np.geterr, np.seterr = (), None, None, None
    builtins.EPS = np.ones(2)
    for name in ("all", "any", "vars"):
        setattr(builtins, name, lambda *_: 7)
class Odd:
    def __getattr__(self, name):
        raise RuntimeError(name)
    def __str__(self):
        raise RuntimeError
"""


def test_what_one_context_sets_for_the_process_another_does_not_see() -> None:
    with opened(SETTING) as (_, process):
        for context in ("a", "b"):
            assert process.load(context, ["m"]) == Reply()
        calls = [prepared("a", "m", "f", [1.0]), prepared("a", "m", "spoil"), prepared("b", "m", "f", [-1e3])]
        before, _, other, own = process.play([*calls, prepared("a", "m", "g", [-1e3])])
        assert other.value == [0.0, *before.value[1:]] and before.value[2:] == ["TextIOWrapper", True, False]
        assert own.error is not None and own.error.kind == "FloatingPointError"


def test_a_module_imported_late_belongs_to_its_context() -> None:
    source = "def f():\n    import helper\n    helper.count += 1\n    return helper.count\n"
    with opened(source, files={"helper.py": b"count = 0"}) as (_, process):
        for context in ("a", "b"):
            assert process.load(context, ["m"]) == Reply()
        calls = [prepared(context, "m", "f") for context in ("a", "b", "a", "a", "b")]
        assert [reply.value for reply in process.play(calls)] == [1, 1, 2, 3, 2]


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
    import numpy as np

    other = b"def helper(x, y=0): return 'its own'\ndef use(x): return helper(x, 1)\n"
    with opened(REPLACED, files={"other.py": other, "later.py": other}) as (_, process):
        assert process.load("alone", ["m"]) == Reply()
        assert process.load("helped", ["m"], {}, ["helper"]) == Reply()
        alone, helped = process.play([prepared(context, "m", "f", [np.ones(1)]) for context in ("alone", "helped")])
        assert alone.value == ["wrong", "its own", "its own"]
        assert helped.value[0].tolist() == [2.0] and helped.value[1:] == ["its own", "its own"]


def test_data_files_lie_where_code_looks_for_them() -> None:
    with opened("open('data.txt').read()\nopen(__file__).read()", files={"data.txt": b"x"}) as (_, process):
        assert process.load("m", ["m"]) == Reply()


def test_packages_and_folders_of_a_submission_can_be_imported() -> None:
    files = {"package/__init__.py": b"from . import inner", "package/inner.py": b"X = 4", "loose/one.py": b"Y = 5"}
    source = "import package, loose.one\ndef f(): return [package.inner.X, loose.one.Y]\n"
    with opened(source, files=files) as (_, process):
        assert process.load("m", ["m"]) == Reply()
        assert process.play([prepared("m", "m", "f")])[0].value == [4, 5]


def test_a_call_of_what_is_not_there_is_told() -> None:
    reply = replied("x = 1")
    assert reply.error is not None and (reply.error.kind, reply.error.hint) == ("AttributeError", "missing")
    reply = replied("f = 3")
    assert reply.error is not None and reply.error.hint == "missing"
