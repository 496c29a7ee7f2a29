"""`autograder build` is reproducible and reports errors in one line."""

import errno
import json
import os
import re
import runpy
import subprocess
from pathlib import Path

import pytest

from autograder.exceptions import ArgumentsError, CommandError
from autograder.homework.homework import Homework
from autograder.release import build, packing
from autograder.tests.files import HOMEWORK, Built, clone, put, unzipped
from autograder.tests.forked import python


def test_committed_assignments_are_up_to_date_and_complete_the_student_folder(built: Built, tmp_path: Path) -> None:
    assert packing.contents(built.assignments) == packing.contents(HOMEWORK.folder / "assignments"), (
        "run: autograder build"
    )
    runpy.run_path(str(HOMEWORK.folder / ".ci" / "students.py"))["student_folder"](tmp_path / "home")
    assert packing.contents(tmp_path / "home") == packing.contents(built.student)


def test_links_of_pages_work_in_the_student_folder_and_in_assignments(built: Built) -> None:
    for folder in (built.student, HOMEWORK.folder / "assignments"):
        links = [
            (page, link) for page in folder.rglob("*.md") for link in re.findall(r"\]\(([^)\s#]+)", page.read_text())
        ]
        assert {page.name for page, _ in links} >= {"README.md"}
        dead = [(page, link) for page, link in links if "://" not in link and not (page.parent / link).is_file()]
        assert dead == []


@pytest.mark.parametrize("folder", ["assignments", "solutions/checks"])
def test_folders_of_the_homework_are_not_overwritten(folder: str) -> None:
    with pytest.raises(ArgumentsError, match="the zips do not belong in "):
        build.build(HOMEWORK, HOMEWORK.folder / folder)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the repository in another folder, with files that an instructor's own runs leave behind."""
    left = [".OTTER_LOG", ".ipynb_checkpoints/transformer.ipynb", "__pycache__/a.pyc", "checks/__pycache__/b.pyc"]
    return put(clone(tmp_path / "a copy"), {f"solutions/{name}": b"1" for name in left})


START = """
from pathlib import Path
from autograder.homework.homework import Homework
from autograder.release import build, packing
h = Homework()
"""


@pytest.mark.slow
def test_same_tree_gives_the_same_bytes(built: Built, tree: Path) -> None:
    code = "with build.assigned(h, check=False) as result: build.write(h, result, Path('dist'), Path('assignments'))"
    done = python(tree, "-c", f"{START}{code}")
    assert done.returncode == 0, done.stderr
    assert (tree / "dist" / "student.zip").read_bytes() == built.student_zip.read_bytes()
    assert (tree / "dist" / "autograder.zip").read_bytes() == built.zip.read_bytes()


RIGHT = "    return gamma * (x / np.sqrt(mean_square + eps))\n"


@pytest.mark.parametrize(("wrong", "said"), [
    # This changes its argument. The suites still pass, since its return value is the same.
    pytest.param("    x /= np.sqrt(mean_square + eps)\n    return gamma * x\n",
                 r"Error: .* the solutions do not get full marks; they lose \w+\.\w+ \(rms_norm: changed\)"),
    ("    return (\n", r"Error: [^;]+/solutions/layernorm\.py:\d+: [^;]*"),
    (RIGHT.replace(" + eps", ""), r"/test_integration\.py:\d+: AssertionError: assert .*"),
], ids=["loses points", "not Python", "wrong for a suite"])  # fmt: skip
def test_wrong_solution_fails_the_build_with_a_one_line_error(tree: Path, wrong: str, said: str) -> None:
    solution = tree / "solutions" / "layernorm.py"
    text = solution.read_text()
    assert text.count(RIGHT) == 1
    solution.write_text(text.replace(RIGHT, wrong))
    code = f"{START}build.build(h, Path('dist'))"
    done = python(tree, "-c", code)
    assert done.returncode and not (tree / "dist").exists()
    assert re.search(f"{said}$", done.stderr.splitlines()[-1]), done.stderr


def test_folder_gets_exactly_these_files_and_equal_ones_are_not_touched(tmp_path: Path) -> None:
    put(tmp_path, {"same": "1", "old": "", "deep/changed": "2", ".hidden": ""})
    os.utime(tmp_path / "same", (0, 0))
    packing.refresh({"same": b"1", "deep/changed": b"3", "new/file": b"4"}, tmp_path)
    assert packing.contents(tmp_path) == {"same": b"1", "deep/changed": b"3", "new/file": b"4"}
    assert (tmp_path / "same").stat().st_mtime == 0 and (tmp_path / ".hidden").exists()


def test_full_disk_of_temporary_files_is_an_error_with_advice() -> None:
    with pytest.raises(CommandError) as caught, packing.temporary_folder("autograder-") as folder:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder / "a"))
    assert str(caught.value).startswith(f"{folder}/a: No space left on device; free some space") and not folder.exists()


# Failures of `otter assign`

HEAD = "some warning\nTraceback (most recent call last):\n  File 'a.py', line 1\n    f()\n"


@pytest.mark.parametrize(("stderr", "said"), [
    (f"{HEAD}OSError: [Errno {errno.ENOSPC}] {os.strerror(errno.ENOSPC)}: 'a'", "no space left on the disk of "),
    ("some warning\nError: do this", "do this"),
    (f"{HEAD}ValueError: wrong", "otter assign failed: ValueError: wrong"),
    (f"{HEAD}KeyError: {'x' * 5000}", "otter assign failed: KeyError: xxx"),
    ("", "otter assign failed: no reason given"),
], ids=["disk", "ours", "Otter's", "long", "nothing"])  # fmt: skip
def test_failure_of_otter_is_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stderr: str, said: str
) -> None:
    put(tmp_path, {"rubric.yaml": b"", "grading/suites/": b"", "solutions/a.ipynb": b"{}"})
    monkeypatch.setattr("subprocess.run", lambda *_, **__: subprocess.CompletedProcess([], 1, "", stderr))
    with pytest.raises(CommandError) as caught, build.assigned(Homework(tmp_path)):
        pytest.fail("there is no result")
    assert said in str(caught.value) and "\n" not in str(caught.value) and len(str(caught.value)) < 700


def test_clone_that_is_not_the_installed_kit_or_has_no_project_is_rejected(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tree / "solutions")
    text = f"this is the clone {tree}, but the installed kit is {HOMEWORK.folder}; first run: pip install -e {tree}"
    with pytest.raises(CommandError, match=re.escape(text)):
        packing.tree(HOMEWORK)
    (tree / "pyproject.toml").unlink()
    done = python(tree, "-c", f"{START}packing.tree(h)")
    text = f"CommandError: there is no {tree / 'pyproject.toml'}; run this in the folder of a homework"
    assert text in done.stderr.splitlines()[-1]


def test_zip_has_the_kit_and_tests_that_run_nothing(built: Built) -> None:
    packed = unzipped(built.zip)
    wheel = next(name for name in packed if name.endswith(".whl"))
    assert json.loads(packed["files/transformer.ipynb"])["cells"] == []
    assert set(packed) == {
        "run_autograder", "run_otter.py", "setup.sh", "otter_config.json", "files/transformer.ipynb",
        "files/kit-wheel/requirements.txt", wheel, *(f"tests/{group}.py" for group in HOMEWORK.rubric.groups),
    }  # fmt: skip
    assert wheel.startswith("files/kit-wheel/")
    assert not any(b"subprocess" in packed[f"tests/{group}.py"] for group in HOMEWORK.rubric.groups)
    inside = packing.contents(built.installed / "autograder")
    assert inside["kit/rubric.yaml"] == HOMEWORK.rubric_file.read_bytes()
    assert not any(name.startswith("tests/") for name in inside)


def test_audit_of_the_wheel_finds_its_alternatives(built: Built, tmp_path: Path) -> None:
    code = f"{START}from autograder.audit import cases\nprint(cases.__file__, *(c.name for c in cases.alternatives(h)))"
    done = python(tmp_path, "-c", code, PYTHONPATH=str(built.installed))
    assert done.returncode == 0, done.stderr
    place, *found = done.stdout.split()
    assert Path(place).is_relative_to(built.installed)
    assert found == sorted(path.name for path in HOMEWORK.alternatives.glob("[!_.]*/")) and len(found) > 10
