"""The tree of a homework and the zip made of it: files as data, prerequisites, and the versions of the image's packages."""

import errno
import importlib.metadata
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from autograder.exceptions import CommandError
from autograder.homework import kit
from autograder.homework import rubric as rubrics
from autograder.release import packing
from autograder.release.rehearsal import otherwise_here
from autograder.tests.files import Built, put, unzipped
from autograder.tests.forked import python


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
