"""`autograder build`: the students' folder holds no answer, both zips are the same bytes each time, errors are one line."""

import ast
import errno
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
import yaml

from autograder import build, handout, kit, otter_plugin
from autograder import rubric as rubrics
from autograder.build import BuildError
from autograder.handout import HandoutError
from autograder.rubric import INTEGRATION

if TYPE_CHECKING:
    from autograder.tests.road import Built

pytest_plugins = ["autograder.tests.road"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the repository at another place and of another age, with what an instructor's own runs leave behind."""
    root = tmp_path / "a copy"
    skip = shutil.ignore_patterns(".*", "__pycache__", "tests", "dist")
    shutil.copytree(kit.home(), root, ignore=skip, copy_function=shutil.copy)
    for name in (".OTTER_LOG", ".ipynb_checkpoints/transformer.ipynb", "__pycache__/a.pyc", "checks/__pycache__/b.pyc"):
        (root / "solutions" / name).parent.mkdir(exist_ok=True)
        (root / "solutions" / name).write_bytes(b"1")
    return root


def in_tree(tree: Path, code: str) -> "subprocess.CompletedProcess[str]":
    code = f"from pathlib import Path; from autograder import build; {code}"
    return subprocess.run([sys.executable, "-c", code], cwd=tree, capture_output=True, text=True)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


# What is built


def test_committed_assignments_are_what_the_solutions_give(built: "Built") -> None:
    assert build.differences(built.assignments, kit.home() / "assignments") == [], "run: autograder build"


def test_same_tree_gives_the_same_bytes(built: "Built", tree: Path) -> None:
    code = "build.write(stack.enter_context(build.assigned(check=False)), Path('dist'), Path('assignments'))"
    done = in_tree(tree, f"import contextlib; stack = contextlib.ExitStack(); {code}; stack.close()")
    assert done.returncode == 0, done.stderr
    assert (tree / "dist" / "student.zip").read_bytes() == built.student_zip.read_bytes()
    assert (tree / "dist" / "autograder.zip").read_bytes() == built.zip.read_bytes()


def test_students_get_stubs_notebook_and_the_given_files(built: "Built") -> None:
    cells = json.loads((kit.solutions() / "transformer.ipynb").read_text())["cells"]
    given = yaml.safe_load("".join(cells[0]["source"]))["files"]
    beside = build.contents(kit.solutions())
    wanted = {path for path in beside if path in given or path.partition("/")[0] in given}
    wanted |= {"transformer.ipynb", *(f"{name}.py" for name in rubrics.current().modules)}
    found = build.contents(built.assignments)
    assert set(found) == wanted
    with zipfile.ZipFile(built.student_zip) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            f"transformer/{n}": d for n, d in found.items()
        }


def test_students_get_no_statement_of_a_solution_suite_or_catalogue(built: "Built") -> None:
    """Beyond imports, signatures and docstrings; the inputs of visible criteria are public."""
    given: set[str] = set()
    for name, data in build.contents(built.assignments).items():
        if name.endswith(".py"):
            given |= statements(ast.parse(data))
        elif name.endswith(".ipynb"):
            cells = [cell for cell in json.loads(data)["cells"] if cell["cell_type"] == "code"]
            for cell in cells:
                code = "".join(line for line in cell["source"] if not line.lstrip().startswith(("%", "!")))
                given |= statements(ast.parse(code))
    assert len(given) > 500
    for module in (*rubrics.current().modules, INTEGRATION):
        for secret in secrets(module):
            found = statements(secret)
            assert found
            assert not {text for text in found & given if text != "return x"}, module


def secrets(module: str) -> Iterator[ast.AST]:
    """What no student may get of a module: bodies of the solution, tests of hidden criteria, the catalogue."""
    suite = ast.parse((kit.suites() / f"test_{module}.py").read_text())
    shown = [f'criterion("{c.id}")' for c in rubrics.current().of(module) if c.visible]
    suite.body = [n for n in suite.body if not isinstance(n, ast.FunctionDef) or not public(n, shown)]
    yield suite
    if (kit.catalogue() / f"{module}.py").is_file():
        yield ast.parse((kit.catalogue() / f"{module}.py").read_text())
    if module == INTEGRATION:
        return
    functions = rubrics.current().modules[module].functions
    solution = ast.parse((kit.solutions() / f"{module}.py").read_text())
    bodies = [n for n in solution.body if isinstance(n, ast.FunctionDef) and n.name in functions]
    assert len(bodies) == len(functions)
    yield from (ast.Module([*body.body[1:]], []) for body in bodies)


def public(test: ast.FunctionDef, shown: list[str]) -> bool:
    return any(ast.unparse(d).replace("'", '"') in shown for d in test.decorator_list)


def statements(tree: ast.AST) -> set[str]:
    """Every statement in a tree, whatever its layout."""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Pass, ast.Break, ast.Continue)
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and not isinstance(node, kinds)]
    told = [n for n in nodes if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)]
    return {ast.unparse(node) for node in nodes if node not in told}


def test_every_stub_names_the_function_that_is_not_written_yet(built: "Built") -> None:
    for module, entry in rubrics.current().modules.items():
        stub = (built.assignments / f"{module}.py").read_text()
        assert re.findall(r"    raise NotImplementedError\(\"(\w+) is not written yet\"\)", stub) == [
            name for name in re.findall(r"^def (\w+)\(", stub, re.MULTILINE) if name in entry.functions
        ]
        assert "SOLUTION" not in stub


def test_readme_has_every_criterion_with_its_points(built: "Built") -> None:
    text = (built.assignments / "README.md").read_text()
    assert handout.MARKER not in text
    rows = re.findall(r"^\| (\w+\.\w+) \| (\S+) \|", text, re.MULTILINE)
    assert {name: float(points) for name, points in rows} == {
        c.id: c.points for c in rubrics.current().criteria.values()
    }


def test_notebook_has_a_check_for_each_module_that_needs_nothing_of_ours(built: "Built", tmp_path: Path) -> None:
    notebook = json.loads((built.assignments / "transformer.ipynb").read_text())
    tests = notebook["metadata"]["otter"]["tests"]
    assert set(tests) == set(rubrics.current().groups)
    folder = shutil.copytree(built.assignments, tmp_path / "homework")
    code = tests["layernorm"].replace("from otter.test_files import test_case", "test_case = lambda **_: lambda f: f")
    command = [sys.executable, "-c", f"{code}\ntest_layernorm()"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 1
    assert "rms_norm is not written yet" in done.stdout
    shutil.copy(kit.solutions() / "layernorm.py", folder)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert re.search(r"layernorm +(\d+)/\1 done", done.stdout)


def test_zip_carries_the_kit_as_it_is_and_tests_that_run_nothing(built: "Built") -> None:
    with zipfile.ZipFile(built.zip) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    wheel = next(name for name in files if name.endswith(".whl"))
    assert set(files) == {
        "run_autograder", "run_otter.py", "setup.sh", "environment.yml", "otter_config.json", "files/transformer.ipynb",
        wheel, *(f"tests/{group}.py" for group in rubrics.current().groups),
    }  # fmt: skip
    assert f"/autograder/source/{wheel}" in files["environment.yml"].decode()
    assert not any(b"subprocess" in files[f"tests/{group}.py"] for group in rubrics.current().groups)
    inside = build.contents(built.installed / "autograder")
    assert inside["kit/rubric.yaml"] == kit.rubric_file().read_bytes()
    assert inside["kit/solutions/layernorm.py"] == (kit.solutions() / "layernorm.py").read_bytes()
    assert not any(name.startswith("tests/") for name in inside)


def test_refresh_touches_only_what_differs(tmp_path: Path) -> None:
    for name in ("same.py", "stale.py", "__pycache__/a.pyc"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"1")
    os.utime(tmp_path / "same.py", (1, 1))
    build.refresh({"same.py": b"1", "checks/new.py": b"2"}, tmp_path)
    assert build.contents(tmp_path) == {"checks/new.py": b"2", "same.py": b"1"}
    assert (tmp_path / "same.py").stat().st_mtime == 1
    assert (tmp_path / "__pycache__" / "a.pyc").exists()


# Errors, each one line


def test_solution_that_loses_points_fails_the_build(tree: Path) -> None:
    edit(tree / "solutions" / "layernorm.py", "np.sqrt(mean_square + eps)", "np.sqrt(mean_square)")
    done = in_tree(tree, "build.build(Path('dist'))")
    text = r"autograder\.build\.BuildError: the solutions do not get full marks; they lose \w+\.\w+(, \w+\.\w+)*"
    assert re.fullmatch(text, done.stderr.splitlines()[-1])
    assert not (tree / "dist").exists()


@pytest.mark.parametrize(
    ("listed", "questions", "text"),
    [
        (["layernorm.py", "encoder.py"], [], r"has no module for encoder\.py; .* leave student_files out"),
        ([], ["encoder"], "has nothing for the question encoder"),
    ],
    ids=["unknown module", "unknown question"],
)
def test_notebook_that_does_not_go_with_the_rubric(
    tmp_path: Path, listed: list[str], questions: list[str], text: str
) -> None:
    for name in questions:
        (tmp_path / f"{name}.py").touch()
    tests = {"tests": SimpleNamespace(files=False), "generate_tests_dir": str(tmp_path)}
    assignment = SimpleNamespace(master=kit.solutions() / "transformer.ipynb", student_files=listed, **tests)
    with pytest.raises(ValueError, match=rf"transformer\.ipynb: rubric\.yaml {text}"):
        otter_plugin.HomeworkPlugin("", {}, {}).during_assign(assignment)


def test_notebook_of_another_clone_than_the_installed_kit(tmp_path: Path) -> None:
    assignment = SimpleNamespace(master=tmp_path / "solutions" / "transformer.ipynb")
    with pytest.raises(ValueError, match=f"first run: pip install -e {tmp_path}"):
        otter_plugin.HomeworkPlugin("", {}, {}).during_assign(assignment)


def test_in_another_clone_than_the_installed_kit(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree / "solutions")
    text = f"this is the clone {tree}, but the kit that is installed is {kit.home()}; first run: pip install -e {tree}"
    with pytest.raises(BuildError, match=re.escape(text)):
        build.build(tree / "dist")


@pytest.mark.parametrize("name", ["pyproject.toml", "solutions/transformer.ipynb"])
def test_kit_without_a_clone(tree: Path, name: str) -> None:
    (tree / name).unlink()
    done = in_tree(tree, "build.build(Path('dist'))")
    assert f"BuildError: there is no {tree / name}; build needs a clone" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("version", ["6.1.3", "8.0.0"])
def test_another_major_version_of_otter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda _: version)
    with pytest.raises(BuildError, match=f"Otter {version} is installed; Otter 7 is needed: pip install"):
        build.build(tmp_path)


def test_no_kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("jupyter_client.kernelspec.KernelSpecManager._find_spec_directory", lambda *_: None)
    with pytest.raises(BuildError, match=r"no Jupyter kernel named python3\..* pip install ipykernel"):
        build.build(tmp_path)


def test_no_disk_space(monkeypatch: pytest.MonkeyPatch, built: "Built", tmp_path: Path) -> None:
    full = os.strerror(errno.ENOSPC)
    failed = subprocess.CompletedProcess(
        [], 1, "", f"Traceback (most recent call last):\nOSError: [Errno 28] {full}: 'a'"
    )
    monkeypatch.setattr("subprocess.run", lambda *_, **__: failed)
    with pytest.raises(BuildError, match="no space left on the disk"):
        build.build(tmp_path)

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, full, "x.zip")

    (tmp_path / "result" / "student").mkdir(parents=True)
    shutil.copytree(built.zip.parent, tmp_path / "result" / "autograder")
    monkeypatch.setattr("zipfile.ZipFile.writestr", fail)
    with pytest.raises(BuildError, match=f"x.zip: {full}"):
        build.write(tmp_path / "result", tmp_path / "dist", tmp_path / "assignments")
    assert list((tmp_path / "dist").iterdir()) == []


# Stubs


def stub(source: str) -> str:
    return handout.stub(source, ["f"])


def test_stub_keeps_signature_docstring_and_imports() -> None:
    head = '"""A."""\nimport numpy as np\n\n\ndef f(x: int = 1) -> int:\n    """B."""\n'
    solution = "    # BEGIN SOLUTION\n    return x\n    # END SOLUTION\n"
    assert stub(head + solution) == head + '    raise NotImplementedError("f is not written yet")\n'


LEAKS = {
    "no marks": ("def f(x):\n    return x\n", "students would get all of 'f'"),
    "a line before the marks": (
        "def f(x):\n    y = x\n    # BEGIN SOLUTION\n    return y\n    # END SOLUTION\n",
        "'f'",
    ),
    "a helper": (
        "def g(x):\n    return x\n\n\ndef f(x):\n    # BEGIN SOLUTION\n    return g(x)\n    # END SOLUTION\n",
        "all of 'g'",
    ),
    "a table": ("A = {'q1': 'b'}\n", "all of \"A = {'q1': 'b'}\""),
    "no end": ("def f(x):\n    # BEGIN SOLUTION\n    return x\n", "must come in pairs"),
    "no beginning": ("def f(x):\n    return x\n    # END SOLUTION\n", "must come in pairs"),
    "another name": ("def g(x):\n    # BEGIN SOLUTION\n    return x\n    # END SOLUTION\n", "there is no function f"),
}


@pytest.mark.parametrize("name", LEAKS)
def test_stub_refuses_what_would_reach_the_students(name: str) -> None:
    source, text = LEAKS[name]
    with pytest.raises(HandoutError, match=re.escape(text)):
        stub(source)


@pytest.mark.parametrize("marker", [handout.MODULES, handout.MARKER])
def test_readme_needs_its_markers(marker: str) -> None:
    text = (kit.solutions() / "README.md").read_text().replace(marker, "")
    with pytest.raises(HandoutError, match=f"the line {marker} must stand there once"):
        handout.readme(text, rubrics.current())


def test_readme_and_checks_follow_the_rubric(built: "Built") -> None:
    readme = (built.assignments / "README.md").read_text()
    for module, entry in rubrics.current().modules.items():
        assert f"| `{module}.py` | {entry.title} | `{next(iter(entry.functions))}`" in readme
    first = next(iter(rubrics.current().modules))
    assert f"`pytest checks/test_{first}.py`" in readme and "{" not in readme
    conftest = (built.assignments / "checks" / "conftest.py").read_text()
    listed = re.search(r"^MODULES = \[\n(.*?)^\]$", conftest, re.MULTILINE | re.DOTALL)
    assert listed is not None
    assert re.findall(r'"(\w+)"', listed[1]) == list(rubrics.current().modules)


def test_checks_without_a_list_of_modules() -> None:
    with pytest.raises(HandoutError, match="must have one list MODULES"):
        handout.checks("MODULES = []\n", rubrics.current())


def test_notebook_exports_every_module_and_helpers_of_ones_own(built: "Built", tmp_path: Path) -> None:
    notebook = json.loads((built.assignments / "transformer.ipynb").read_text())
    code = next("".join(cell["source"]) for cell in notebook["cells"] if "grader.export(" in "".join(cell["source"]))
    folder = shutil.copytree(built.assignments, tmp_path / "homework")
    (folder / "my_helpers.py").touch()
    command = f"import json\nclass grader:\n    export = lambda **options: print(json.dumps(options))\n{code}"
    done = subprocess.run([sys.executable, "-c", command], cwd=folder, capture_output=True, text=True)
    options = json.loads(done.stdout)
    assert {"my_helpers.py", *(f"{name}.py" for name in rubrics.current().modules)} <= set(options["files"])
    assert options["pdf"] is False and options["ignore_log"] is True


@pytest.mark.parametrize(
    "call", ["grader.export()", "grader.export(pdf=False, files=['a.py', 'b.py'])", "grader.export(files=[])"]
)
def test_any_export_cell_exports_everything(call: str) -> None:
    text = json.dumps({"cells": [{"source": ["x = 1\n", "grader.check('a')"]}, {"source": f"# Save\n{call}"}]})
    source = "".join(json.loads(handout.exporting(text))["cells"][1]["source"])
    options = "pdf=False, " if "pdf" in call else ""
    assert source == f'# Save\nimport glob\n\ngrader.export({options}files=sorted(glob.glob("*.py")))'


def test_notebook_without_an_export_cell() -> None:
    with pytest.raises(HandoutError, match="must have an export cell"):
        handout.exporting('{"cells": []}')
