"""`autograder build`: the same tree gives the same zips and assignments/, with exact versions of packages; errors are one line."""

import errno
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from autograder.exceptions import ArgumentsError, CommandError
from autograder.homework import kit
from autograder.homework import rubric as rubrics
from autograder.release import build, packing
from autograder.release.rehearsal import otherwise_here
from autograder.tests.files import Built, put, unzipped
from autograder.tests.forked import python


def test_committed_assignments_are_up_to_date(built: Built) -> None:
    assert packing.contents(built.assignments) == packing.contents(kit.home() / "assignments"), "run: autograder build"


@pytest.mark.parametrize("folder", ["assignments", "solutions/checks"])
def test_the_zips_are_not_written_among_the_files_of_students(folder: str) -> None:
    with pytest.raises(ArgumentsError, match="the zips do not belong in "):
        build.build(kit.home() / folder)


@pytest.mark.slow
def test_same_tree_gives_the_same_bytes(built: Built, tree: Path) -> None:
    code = "with build.assigned(check=False) as result: build.write(result, Path('dist'), Path('assignments'))"
    done = python(tree, "-c", f"from pathlib import Path\nfrom autograder.release import build\n{code}")
    assert done.returncode == 0, done.stderr
    assert (tree / "dist" / "student.zip").read_bytes() == built.student_zip.read_bytes()
    assert (tree / "dist" / "autograder.zip").read_bytes() == built.zip.read_bytes()


def failing_build(tree: Path, wrong: str) -> "subprocess.CompletedProcess[str]":
    """A build with a WRONG last line of rms_norm."""
    solution = tree / "solutions" / "layernorm.py"
    text = solution.read_text()
    assert text.count(RIGHT) == 1
    solution.write_text(text.replace(RIGHT, wrong))
    return python(
        tree, "-c", "from pathlib import Path; from autograder.release import build; build.build(Path('dist'))"
    )


RIGHT = "    return gamma * (x / np.sqrt(mean_square + eps))\n"


@pytest.mark.slow
def test_solution_that_loses_points_fails_the_build(tree: Path) -> None:
    # It changes its argument: what it returns, which the suites take as right, is the same.
    done = failing_build(tree, "    x /= np.sqrt(mean_square + eps)\n    return gamma * x\n")
    said = done.stderr.splitlines()[-1].partition("CommandError: ")[2]
    assert re.fullmatch(r"the solutions do not get full marks; they lose \w+\.\w+(, \w+\.\w+)*", said)
    assert not (tree / "dist").exists()


def test_solution_that_is_not_python_fails_the_build_with_its_line_once(tree: Path) -> None:
    done = failing_build(tree, "    return (\n")
    said = done.stderr.splitlines()[-1].partition("CommandError: ")[2]
    assert re.fullmatch(r"[^;]+/solutions/layernorm\.py:\d+: [^;]*", said), said


def test_solution_that_a_suite_finds_wrong_fails_the_build(tree: Path) -> None:
    done = failing_build(tree, RIGHT.replace(" + eps", ""))
    assert re.search(r"test_integration\.py:\d+: the reference fails: assert ", done.stderr)
    assert done.returncode and not (tree / "dist").exists()


def test_repositorys_own_assignments_are_not_overwritten_by_a_smaller_homework() -> None:
    with pytest.raises(ArgumentsError, match="is for the whole homework; give another folder with -o"):
        build.build(kit.home(), only=("layernorm",))


def test_full_disk_leaves_no_half_written_zip(monkeypatch: pytest.MonkeyPatch, built: Built, tmp_path: Path) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "x.zip")

    (tmp_path / "result" / "student").mkdir(parents=True)
    shutil.copytree(built.zip.parent, tmp_path / "result" / "autograder")
    monkeypatch.setattr("zipfile.ZipFile.writestr", fail)
    with pytest.raises(CommandError, match=f"^x.zip: {os.strerror(errno.ENOSPC)}; free some space"):
        build.write(tmp_path / "result", tmp_path / "dist", tmp_path / "assignments")
    assert list((tmp_path / "dist").iterdir()) == []


# Why `otter assign` failed

HEAD = "some warning\nTraceback (most recent call last):\n  File 'a.py', line 1\n    f()\n"


@pytest.mark.parametrize(("stderr", "said"), [
    (f"{HEAD}OSError: [Errno {errno.ENOSPC}] {os.strerror(errno.ENOSPC)}: 'a'", "no space left on the disk of "),
    (f"{HEAD}autograder.exceptions.CommandError: do this", "do this"),
    (f"{HEAD}autograder.homework.rubric.RubricError: line 3\nand line 4", "line 3 and line 4"),
    (f"{HEAD}ValueError: wrong", "otter assign failed: ValueError: wrong"),
    (f"{HEAD}KeyError: {'x' * 5000}", f"otter assign failed: KeyError: {'x' * 100}"),
    ("", "otter assign failed: no reason given"),
], ids=["disk", "ours", "rubric", "Otter's", "long", "nothing"])  # fmt: skip
def test_failure_of_otter_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stderr: str, said: str) -> None:
    put(tmp_path, {"solutions/a.py": b""})
    monkeypatch.setattr("subprocess.run", lambda *_, **__: subprocess.CompletedProcess([], 1, "", stderr))
    with pytest.raises(CommandError) as caught, build.assigned(root=tmp_path):
        pytest.fail("there is no result")
    assert said in str(caught.value) and "\n" not in str(caught.value) and len(str(caught.value)) < 700


def test_refresh_touches_only_files_that_differ(tmp_path: Path) -> None:
    put(tmp_path, {"same.py": b"1", "stale.py": b"1", "__pycache__/a.pyc": b"1"})
    os.utime(tmp_path / "same.py", (1, 1))
    packing.refresh({"same.py": b"1", "checks/new.py": b"2"}, tmp_path)
    assert packing.contents(tmp_path) == {"checks/new.py": b"2", "same.py": b"1"}
    assert (tmp_path / "same.py").stat().st_mtime == 1
    assert (tmp_path / "__pycache__" / "a.pyc").exists()


def test_zip_has_the_same_bytes_whatever_the_order_and_the_time(tmp_path: Path) -> None:
    given = {"setup.sh": b"1", "a/b.py": b"2"}
    first = packing.pack(given, tmp_path / "a.zip").read_bytes()
    assert packing.pack(dict(reversed(given.items())), tmp_path / "b.zip").read_bytes() == first
    assert unzipped(tmp_path / "a.zip") == given


def test_copy_has_the_parts_without_ignored_names(tmp_path: Path) -> None:
    names = ("one.toml", "a/kept.py", "a/.hidden", "a/tests/x.py", "b/other.py")
    source, target = put(tmp_path / "from", dict.fromkeys(names, b"")), put(tmp_path / "to", {})
    packing.copy_parts(source, target, ("one.toml", "a"), (".*", "tests"))
    assert sorted(path.name for path in target.rglob("*") if path.is_file()) == ["kept.py", "one.toml"]


def test_in_another_clone_than_the_installed_kit(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree / "solutions")
    text = f"this is the clone {tree}, but the installed kit is {kit.home()}; first run: pip install -e {tree}"
    with pytest.raises(CommandError, match=re.escape(text)):
        packing.tree()


def test_kit_without_a_clone(tree: Path) -> None:
    (tree / "pyproject.toml").unlink()
    done = python(tree, "-c", "from autograder.release import packing; packing.tree()")
    said = f"CommandError: there is no {tree / 'pyproject.toml'}; run this in the folder of a homework"
    assert said in done.stderr.splitlines()[-1]


def test_no_place_for_temporary_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    said = f"^big: {os.strerror(errno.ENOSPC)}; free some space and run it again, or set TMPDIR"
    with pytest.raises(CommandError, match=said), packing.temporary_folder("a-"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "big")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    said = f"nowhere.*: {os.strerror(errno.ENOENT)}"
    with pytest.raises(CommandError, match=said), packing.temporary_folder("a-"):
        pytest.fail("there is no such place")


def test_zip_has_the_kit_and_tests_that_run_nothing(built: Built) -> None:
    packed = unzipped(built.zip)
    wheel = next(name for name in packed if name.endswith(".whl"))
    assert json.loads(packed["files/transformer.ipynb"])["cells"] == []
    assert set(packed) == {
        "run_autograder", "run_otter.py", "setup.sh", "environment.yml", "otter_config.json", "files/transformer.ipynb",
        wheel, *(f"tests/{group}.py" for group in rubrics.current().groups),
    }  # fmt: skip
    assert f"/autograder/source/{wheel}" in packed["environment.yml"].decode()
    assert not any(b"subprocess" in packed[f"tests/{group}.py"] for group in rubrics.current().groups)
    inside = packing.contents(built.installed / "autograder")
    assert inside["kit/rubric.yaml"] == kit.rubric_file().read_bytes()
    assert inside["kit/solutions/layernorm.py"] == (kit.solutions() / "layernorm.py").read_bytes()
    assert not any(name.startswith("tests/") for name in inside)


def test_wheel_carries_the_correct_alternatives_and_its_audit_finds_them(built: Built, tmp_path: Path) -> None:
    code = "from autograder.audit import cases; print(cases.__file__, *(c.name for c in cases.alternatives()))"
    done = python(tmp_path, "-c", code, PYTHONPATH=str(built.installed))
    assert done.returncode == 0, done.stderr
    place, *found = done.stdout.split()
    assert Path(place).is_relative_to(built.installed)
    assert found == sorted(path.name for path in kit.alternatives().glob("[!_.]*/")) and len(found) > 10
    carried = {name for name in packing.contents(built.installed / "autograder" / "audit") if name.endswith(".py")}
    assert carried >= {f"alternatives/{name}" for name in packing.contents(kit.alternatives()) if name.endswith(".py")}


@pytest.fixture(scope="module")
def environment(built: Built) -> Any:
    return yaml.safe_load(unzipped(built.zip)["environment.yml"])["dependencies"]


def test_image_gets_exact_versions_of_everything_that_grades(environment: Any) -> None:
    wheel, *lines = environment[-1]["pip"]
    assert re.fullmatch(r"/autograder/source/files/kit-wheel/transformer_homework-\S+\.whl", wheel)
    assert all(re.fullmatch(r"[a-z0-9-]+==\S+", line) for line in lines)
    packages = {line.partition("==")[0] for line in lines}
    assert {"numpy", "otter-grader", "ipykernel", "jupyter-client", "pytest", "msgpack"} <= packages
    assert len(packages) == len(lines) > 30
    assert otherwise_here(lines) == []
    assert environment[0] == f"python={sys.version_info[0]}.{sys.version_info[1]}"


# The versions of the image

PACKAGES = {
    "kit": ("1", ["a", "b[x]>=2", 'dev-only; extra == "dev"']),
    "a": ("1.5", ["b", 'windows-only; sys_platform == "win32"', 'linux-only; sys_platform == "linux"']),
    "b": ("2.0", ["a", 'for-x; extra == "x"', 'for-y; extra == "y"', 'old-python; python_version < "3"']),
    "for-x": ("3", []),
    "linux-only": ("4", []),
    "windows-only": ("5", []),
    "for-y": ("6", []),
    "dev-only": ("7", []),
    "old-python": ("8", []),
}


@pytest.mark.parametrize(("requirements", "pins"), [
    (PACKAGES["kit"][1], ["a==1.5", "b==2.0", "for-x==3", "linux-only==4"]),
    (["b", "b[x]"], ["a==1.5", "b==2.0", "for-x==3", "linux-only==4"]),
    (["B"], ["a==1.5", "b==2.0", "linux-only==4"]),
    (["LINUX_only"], ["linux-only==4"]),
    (["linux.only"], ["linux-only==4"]),
    (["a", "nowhere>=1"], ["a==1.5", "b==2.0", "linux-only==4"]),
], ids=["linux only", "an extra required later", "another case", "underscore", "dot", "not installed"])  # fmt: skip
def test_requirements_on_linux_are_pinned(
    requirements: list[str], pins: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def distribution(name: str) -> SimpleNamespace:
        if name not in PACKAGES:
            raise importlib.metadata.PackageNotFoundError(name)
        version, requires = PACKAGES[name]
        return SimpleNamespace(version=version, requires=requires)

    monkeypatch.setattr("importlib.metadata.distribution", distribution)
    assert packing.pinned(requirements) == pins
