"""The names of a file are found as `import *` would find them, without running it."""

from pathlib import Path

import pytest

from autograder.sandbox.student.bindings import exported_names

SOURCES = {
    "import os.path, json as j\nfrom math import pi as p, e": ["os", "j", "p", "e"],
    "def f(): inner = 1\nclass C:\n    y = 1\nasync def g(): pass": ["f", "C", "g"],
    "a = b = 1\nc, (d, *e) = 1, (2, 3)\nf: int = 3\n(g := 4)": ["a", "b", "c", "d", "e", "f", "g"],
    "if True:\n    x = 1\nelse:\n    y = 1\nfor i in []: pass\nwith open('x') as h: pass": ["x", "y", "i", "h"],
    "_hidden = 1\nshown = 2": ["shown"],
    "__all__ = ['_hidden', 'b']\nb = c = 1": ["_hidden", "b"],
    "__all__ = make()\nb = 1": ["b"],
    "this is not Python": [],
    "f = lambda z: (w := z)": ["f"],
}


@pytest.mark.parametrize("source", SOURCES)
def test_names_are_those_of_import_star(source: str, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(source)
    assert sorted(exported_names(str(tmp_path / "m.py"))) == sorted(SOURCES[source])


def test_star_imports_are_followed_also_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("from b import *\nx = 1")
    (tmp_path / "b.py").write_text("from a import *\ny = 1")
    assert sorted(exported_names(str(tmp_path / "a.py"))) == ["x", "y"]


def test_a_file_that_is_not_there_has_no_names(tmp_path: Path) -> None:
    assert exported_names(str(tmp_path / "nothing.py")) == []
