"""The handout has stubs, tables and a notebook, but no code of a solution, a suite or a misconception."""

import ast
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from autograder.exceptions import CommandError
from autograder.homework.homework import PACKAGE, Homework
from autograder.homework.rubric import INTEGRATION, Rubric
from autograder.release import drafts, handout, home_table, packing
from autograder.tests.files import HOMEWORK, Built, kmeans, unzipped
from autograder.tests.forked import python
from autograder.tests.making import homework_with, rubric_with


def test_students_get_stubs_notebook_and_the_given_files(built: Built) -> None:
    cells = json.loads((HOMEWORK.solutions / "transformer.ipynb").read_text())["cells"]
    given = yaml.safe_load("".join(cells[0]["source"]))["files"]
    beside = packing.contents(HOMEWORK.solutions)
    wanted = {path for path in beside if path in given or path.partition("/")[0] in given}
    wanted.remove("checks/my_tests.py")  # only if students write tests
    wanted |= {f"{handout.VALUES}/{path.name}" for path in (PACKAGE / "shared").glob("*.py")}
    wanted |= {"conftest.py", "AGENTS.md", "transformer.ipynb", home_table.MISTAKES, *HOMEWORK.rubric.files}
    wanted |= {*handout.PAGES}
    found = packing.contents(built.student)
    assert set(found) == wanted
    zipped = unzipped(built.student_zip)
    container = json.loads(zipped.pop("transformer/.devcontainer/devcontainer.json"))
    assert container["image"].endswith(f":{HOMEWORK.rubric.python}")
    assert container["postCreateCommand"].rpartition(" ")[2] in found
    assert zipped == {f"transformer/{name}": data for name, data in found.items()}


# Statements that misconceptions share with the students' tools. They return a local name or a constant.
HARMLESS = {"return x", "return text", "return True", "return False"}


def test_handout_has_no_statement_of_a_solution_suite_or_misconception(built: Built) -> None:
    """Imports, signatures, docstrings and the inputs of visible criteria are public."""
    codes = [data.decode() for name, data in packing.contents(built.student).items() if name.endswith(".py")]
    cells = json.loads((built.student / "transformer.ipynb").read_text())["cells"]
    codes += [
        re.sub("^[%!].*", "", source_of(cell), flags=re.MULTILINE) for cell in cells if cell["cell_type"] == "code"
    ]
    given = set[str]().union(*(statements(ast.parse(code)) for code in codes))
    assert len(given) > 500
    for module in (*HOMEWORK.rubric.modules, INTEGRATION):
        for found in map(statements, secrets(module)):
            assert found and found & given <= HARMLESS, module


def test_handout_describes_misconceptions_without_their_code(built: Built) -> None:
    table = json.loads((built.student / home_table.MISTAKES).read_text(encoding="utf-8"))
    parts = [part for functions in table.values() for part in functions.values()]
    sentences = [text for part in parts for mistake in part["mistakes"] for text in mistake[:3]]
    assert len(sentences) > 1000
    assert "concept_check" not in table
    written = "\n".join(map(unspaced, sentences))
    for module in HOMEWORK.rubric.modules:
        solution = ast.parse((HOMEWORK.solutions / f"{module}.py").read_text())
        told = unspaced("\n".join(ast.get_docstring(n) or "" for n in solution.body if isinstance(n, ast.FunctionDef)))
        code = {unspaced(text) for secret in secrets(module) for text in statements(secret) | results(secret)}
        pieces = [piece for piece in code if len(piece) > SHORT and piece not in told]
        assert pieces or module == "concept_check"
        assert [piece for piece in pieces if piece in written] == [], module


SHORT = 15  # characters without spaces, as in grad_out*gamma


def results(tree: ast.AST) -> set[str]:
    """Every expression that is returned or assigned."""
    found = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return | ast.Assign)]
    return {ast.unparse(value) for value in found if value is not None and not isinstance(value, ast.Tuple)}


def unspaced(text: str) -> str:
    return "".join(text.split())


def secrets(module: str) -> Iterator[ast.AST]:
    """Code of a module that no student may get: bodies of the solution, tests of hidden criteria, misconceptions."""
    suite = ast.parse((HOMEWORK.suites / f"test_{module}.py").read_text())
    public = {f"criterion('{c.id}')" for c in HOMEWORK.rubric.of(module) if c.visible}
    tests = [n for n in suite.body if isinstance(n, ast.FunctionDef)]
    suite.body = [n for n in suite.body if n not in tests or public.isdisjoint(map(ast.unparse, n.decorator_list))]
    yield suite
    for path in (HOMEWORK.misconceptions / module).glob("*.py"):
        yield ast.parse(path.read_text())
    if module != INTEGRATION:
        solution = ast.parse((HOMEWORK.solutions / f"{module}.py").read_text())
        bodies = {n.name: n.body[1:] for n in solution.body if isinstance(n, ast.FunctionDef)}
        yield from (ast.Module([*bodies[function]], []) for function in HOMEWORK.rubric.modules[module].functions)


def statements(tree: ast.AST) -> set[str]:
    """The statements in a tree, in a normalised layout, without imports, definitions and docstrings."""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Pass, ast.Break, ast.Continue)
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and not isinstance(node, kinds)]
    told = [n for n in nodes if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)]
    return {ast.unparse(node) for node in nodes if node not in told}


def test_readme_and_notebook_follow_the_rubric(built: Built) -> None:
    readme, rubric = "\n".join((built.student / page).read_text() for page in handout.PAGES), HOMEWORK.rubric
    assert handout.MARKER not in readme and not re.search(r"\{\w+\}", readme)
    rows = dict(re.findall(r"^\| (\w+\.\w+) \| (\S+) \|", readme, re.MULTILINE))
    assert {name: float(row) for name, row in rows.items()} == {c.id: c.points for c in rubric.criteria.values()}
    for module, entry in rubric.modules.items():
        assert f"| `{module}.py` | {entry.title} | `{next(iter(entry.functions))}`" in readme
    visible = sum(criterion.points for criterion in rubric.criteria.values() if criterion.visible)
    assert f"{visible:g} of the {rubric.points:g} points are for the examples" in readme
    text = (built.student / "transformer.ipynb").read_text()
    assert not re.search("otter|grader\\.", text, re.IGNORECASE)
    checks = re.findall(r"^check\((.*)\)$", "\n".join(map(source_of, json.loads(text)["cells"])), re.MULTILINE)
    assert sorted(checks) == sorted(["", *(f'"{name}"' for name in rubric.modules)])


def source_of(cell: Any) -> str:
    return "".join(cell["source"])


def test_stub_keeps_signature_docstring_and_imports() -> None:
    head = '"""A."""\nimport numpy as np\n\n\ndef f(x: int = 1) -> int:\n    """B."""\n'
    made = handout.stub(f"{head}{BEGIN}    return x\n{END}", ["f"])
    assert made == head + '    raise NotImplementedError("f is not written yet")\n'


BEGIN, END = "    # BEGIN SOLUTION\n", "    # END SOLUTION\n"
LEAKS = {
    "no marks": ("def f(x):\n    return x\n", "students would get all of 'f'"),
    "a line before the marks": (f"def f(x):\n    y = x\n{BEGIN}    return y\n{END}", "'f'"),
    "a helper": (f"def g(x):\n    return x\n\n\ndef f(x):\n{BEGIN}    return g(x)\n{END}", "all of 'g'"),
    "a table": ("A = {'q1': 'b'}\n", "all of \"A = {'q1': 'b'}\""),
    "no end": (f"def f(x):\n{BEGIN}    return x\n", "must come in pairs"),
    "no beginning": (f"def f(x):\n    return x\n{END}", "must come in pairs"),
    "another name": (f"def g(x):\n{BEGIN}    return x\n{END}", "there is no function f"),
}


@pytest.mark.parametrize(("source", "said"), LEAKS.values(), ids=LEAKS)
def test_stub_rejects_code_that_would_leak_to_students(source: str, said: str) -> None:
    with pytest.raises(CommandError, match=re.escape(said)):
        handout.stub(source, ["f"])


def test_readme_checks_and_notebook_need_their_markers() -> None:
    text = "\n".join((HOMEWORK.solutions / page).read_text() for page in handout.PAGES)
    for marker in (handout.MODULES, handout.MARKER):
        with pytest.raises(CommandError, match=f"the line {marker} must occur exactly once"):
            handout.readme(text.replace(marker, ""), HOMEWORK.rubric)
    with pytest.raises(CommandError, match="must have exactly one list MODULES"):
        handout.ordered_checks("MODULE = []\n", HOMEWORK.rubric)
    cell = {"cell_type": "code", "metadata": {}, "source": ["grader.export()"]}
    with pytest.raises(CommandError, match="must have `init_cell: false` and `export_cell: false`"):
        handout.without_otter(json.dumps({"cells": [cell], "metadata": {}}), "")


TABLES = f"{handout.MODULES}\n{handout.MARKER}\n"


@pytest.mark.parametrize(("text", "left"), [
    ("- `layernorm.py`: an hour\n- `speed.py`: a day\n", "- `layernorm.py`: an hour\n"),
    ("<!-- needs layernorm -->\nA story.\n<!-- end -->\n", "A story.\n"),
    ("<!-- needs poetry -->\nA story.\n<!-- end -->\n", ""),
])  # fmt: skip
def test_readme_omits_modules_that_are_not_in_the_homework(text: str, left: str) -> None:
    assert handout.readme(text + TABLES, HOMEWORK.rubric).startswith(f"{left}| file |")


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Rubric], Path]:
    """Write a student folder for a rubric, with a notebook that has only checks."""
    monkeypatch.setattr(home_table, "text", lambda _: "{}")
    sources = [f'grader.check("{module}")' for module in HOMEWORK.rubric.modules]
    cells = [{"cell_type": "code", "metadata": {}, "source": [source]} for source in sources]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}}))
    shutil.copytree(HOMEWORK.solutions / "checks", tmp_path / "checks", ignore=shutil.ignore_patterns("student_values"))

    def write(rubric: Rubric) -> Path:
        handout.write(tmp_path, homework_with(rubric), "a.ipynb")
        return tmp_path

    return write


@pytest.mark.parametrize("wanted", [True, False])
def test_rubric_can_turn_files_off(written: Callable[[Rubric], Path], wanted: bool) -> None:
    tests = {"points": 2, "criteria": {"first": {"points": 2, "about": "tests of a function"}}}
    smaller = HOMEWORK.rubric.model_copy(update={"agents_file": False})
    folder = written(rubric_with(tests=tests) if wanted else smaller)
    assert (folder / "AGENTS.md").is_file() is wanted
    assert (folder / "test_decoder_parts.py").is_file() is wanted
    assert (folder / "checks" / "my_tests.py").is_file() is wanted
    readme, grading = ((folder / page).read_text() for page in handout.PAGES)
    assert ("## Write the tests" in readme) is ("| tests.first | 2 | tests of a function |" in grading) is wanted


def test_unknown_name_in_braces_is_rejected_with_its_line(tmp_path: Path) -> None:
    folder = drafts.new_homework(tmp_path / "homework", "centred_rows").resolve()
    page = folder / "solutions" / "README.md"
    text = page.read_text() + "$x_{max}$ and \\sqrt{ab}, ${HOME}, {1, 2}\n"
    page.write_text(text.replace("{visible}", "{visibel}"))
    line = text.partition("{visible}")[0].count("\n") + 1
    known = "{module}, {function}, {call_seconds}, {submission_seconds}, {memory_mb}, {points}, {visible}"
    (tmp_path / "student").mkdir()
    with pytest.raises(CommandError, match=f"^{re.escape(f'{page}:{line}: {{visibel}} is unknown; known: {known}')}$"):
        handout.write(tmp_path / "student", Homework(folder), "homework.ipynb")


@pytest.mark.parametrize(("file", "text"), [
    ("solutions/checks/test_kmeans.py", "there are no public checks of kmeans: {file}"),
    ("solutions/homework.ipynb", "{file} has no question named kmeans"),
    ("grading/misconceptions/kmeans/nearest.py", "has no EXAMPLES for nearest; add nearest.py there"),
])  # fmt: skip
def test_part_that_a_module_lacks_is_named(tmp_path: Path, file: str, text: str) -> None:
    folder = kmeans(tmp_path / "homework")
    student = shutil.copytree(folder / "solutions", tmp_path / "student")
    cell = {"cell_type": "code", "metadata": {}, "source": ['grader.check("kmeans")']}
    cells = [cell] if not file.endswith(".ipynb") else []
    (student / "homework.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}}))
    if cells:
        (folder / file).unlink()
    with pytest.raises(CommandError, match=re.escape(text.format(file=folder / file))):
        handout.write(student, Homework(folder), "homework.ipynb")


def test_notebook_exports_modules_and_helpers_but_no_provided_files(built: Built, tmp_path: Path) -> None:
    cells = json.loads((built.student / "transformer.ipynb").read_text())["cells"]
    code = next(source for source in map(source_of, cells) if "zipfile" in source)
    folder = shutil.copytree(built.student, tmp_path / "homework")
    (folder / "my_helpers.py").touch()
    (folder / "guesses.json").touch()
    for _ in range(2):  # the second zip must not contain the first one
        assert python(folder, "-c", code).returncode == 0
    files = {f"{name}.py" for name in HOMEWORK.rubric.modules} | {"my_helpers.py", "guesses.json"}
    assert set(unzipped(folder / "transformer.zip")) == files | {"transformer.ipynb"}
