"""Names that `import *` finds in a file, and helpers that are replaced where they are defined."""

import ast
from pathlib import Path
from typing import Any

import pytest

from autograder.sandbox.loading import StudentModules, hidden_names, rebind, reference_module

NAMES = {
    "import os.path, json as j\nfrom math import pi as p, e": ["os", "j", "p", "e"],
    "def f(): inner = 1\nclass C:\n    y = 1\nasync def g(): pass": ["f", "C", "g"],
    "a = b = 1\nc, (d, *e) = 1, (2, 3)\nf: int = 3\n(g := 4)": ["a", "b", "c", "d", "e", "f", "g"],
    "if True:\n    x = 1\nelse:\n    y = 1\nfor i in [1]: pass\nwith open(__file__) as h: pass": ["x", "i", "h"],
    "_hidden = 1\nshown = 2": ["shown"],
    "__all__ = ['_hidden', 'b']\n_hidden = b = c = 1": ["_hidden", "b"],
    "__all__ = sorted('ba')\nb = c = 1": ["b"],
    "b = 1 / 0": [],
    "this is not Python": [],
    "f = lambda z: (w := z)": ["f"],
}


def exported_names(path: Path) -> set[str]:
    own = {"f": run} if path.stem == "with_f" else {}
    return {*reference_module(path.stem, str(path), own, StudentModules(str(path.parent), frozenset())).__all__}


@pytest.mark.parametrize("source", NAMES)
def test_names_are_those_of_import_star(source: str, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(source)
    assert exported_names(tmp_path / "m.py") == {*NAMES[source]}


def test_star_imports_are_followed_even_in_a_cycle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "one_of_two.py").write_text("from two_of_two import *\nx = 1")
    (tmp_path / "two_of_two.py").write_text("from one_of_two import *\ny = 1")
    assert exported_names(tmp_path / "one_of_two.py") == {"x", "y"}
    (tmp_path / "with_f.py").write_text("f = g = 1")
    assert exported_names(tmp_path / "with_f.py") == {"f", "g"}
    assert exported_names(tmp_path / "nothing.py") == set()


SOURCES = {
    "def": "def h(): return 'old'\ndef f(): return h()",
    "lambda": "h = lambda: 'old'\nf = lambda: h()",
    "another name": "def h(): return 'old'\ng = h\ndef f(): return g()",
    "from another name": "def _h(): return 'old'\nh = _h\ndef f(): return _h()",
    "a table": "def h(): return 'old'\nT = {'h': [h]}\ndef f(): return T['h'][0]()",
    "a default": "def h(): return 'old'\ndef f(g=h): return g()",
    "a partial": "import functools\ndef h(): return 'old'\nf = functools.partial(h)",
    "a class": "def h(): return 'old'\nclass C:\n    g = staticmethod(h)\nf = lambda: C.g()",
    "a closure": "def h(): return 'old'\ndef make(g):\n    return lambda: g()\nf = make(h)",
    "decorated": "def d(g): return lambda: g()\n@d\ndef h(): return 'old'\ndef f(): return h()",
    "a decorator of others": "def h(): return 'old'\ndef d(g): return lambda: h()\n@d\ndef f(): pass",
    "a branch": "if True:\n    def h(): return 'old'\nelse:\n    h = None\ndef f(): return h()",
    "try": "try:\n    import nothing\nexcept ImportError:\n    h = lambda: 'old'\nfinally:\n    pass\ndef f(): return h()",
    "match": "match 1:\n    case 1:\n        def h(): return 'old'\ndef f(): return h()",
    "with and for": "import io\nwith io.StringIO():\n    for i in [1]:\n        h = lambda: 'old'\nf = lambda: h()",
    "twice": "def h(): return 'older'\nT = h\ndef h(): return 'old'\ndef f(): return T() and h()",
    "star": "from math import *\nh = h if 'h' in globals() else 0\nf = lambda: h()",
}


def new() -> str:
    return "new"


def run(source: str, names: dict[str, Any]) -> dict[str, Any]:
    tree = rebind(ast.parse(source), names)
    namespace: dict[str, Any] = {**names, **hidden_names(names)}
    exec(compile(tree, "m.py", "exec"), namespace)
    return namespace


@pytest.mark.parametrize("name", SOURCES)
def test_the_helper_is_replaced(name: str) -> None:
    assert run(SOURCES[name], {"h": new})["f"]() == "new"


def test_names_inside_functions_and_classes_are_not_replaced() -> None:
    source = "def f():\n    h = 'own'\n    return h\nclass C:\n    h = 'own'\ng = lambda h: h"
    namespace = run(source, {"h": new})
    assert namespace["f"]() == "own" and namespace["C"].h == "own" and namespace["g"](3) == 3
    assert namespace["h"] is new


def test_several_helpers_are_replaced_without_moving_lines() -> None:
    source = "def a(): return 1\ndef b(): return 2\ndef f():\n    raise ValueError"
    namespace = run(source, {"a": new, "b": lambda: "b"})
    assert (namespace["a"](), namespace["b"]()) == ("new", "b")
    with pytest.raises(ValueError) as caught:
        namespace["f"]()
    assert caught.traceback[-1].lineno + 1 == 4


def test_the_docstring_and_future_imports_stay_first() -> None:
    source = '"""About."""\nfrom __future__ import annotations\ndef h(x: undefined): return 1'
    namespace = run(source, {"h": new, "annotations": new})
    assert namespace["__doc__"] == "About."
