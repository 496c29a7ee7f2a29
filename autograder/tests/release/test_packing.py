"""The zip for Gradescope: the kit as a wheel that can grade and audit, exact versions, and tests that run nothing."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from autograder.homework import kit
from autograder.homework import rubric as rubrics
from autograder.release import packing, prerequisites

if TYPE_CHECKING:
    from autograder.tests.running import Built


def test_zip_carries_the_kit_as_it_is_and_tests_that_run_nothing(built: "Built") -> None:
    with zipfile.ZipFile(built.zip) as archive:
        packed = {name: archive.read(name) for name in archive.namelist()}
    wheel = next(name for name in packed if name.endswith(".whl"))
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


def test_wheel_carries_the_correct_alternatives_and_its_audit_finds_them(built: "Built", tmp_path: Path) -> None:
    code = "from autograder.audit import cases; print(cases.__file__, *(c.name for c in cases.alternatives()))"
    environment = os.environ | {"PYTHONPATH": str(built.installed)}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    place, *found = done.stdout.split()
    assert Path(place).is_relative_to(built.installed)
    assert found == sorted(path.name for path in kit.alternatives().glob("[!_.]*/")) and len(found) > 10
    carried = {name for name in packing.contents(built.installed / "autograder" / "audit") if name.endswith(".py")}
    assert carried >= {f"alternatives/{name}" for name in packing.contents(kit.alternatives()) if name.endswith(".py")}


@pytest.fixture(scope="module")
def environment(built: "Built") -> Any:
    with zipfile.ZipFile(built.zip) as archive:
        return yaml.safe_load(archive.read("environment.yml"))["dependencies"]


def test_image_gets_exact_versions_of_everything_that_grades(environment: Any) -> None:
    wheel, *lines = environment[-1]["pip"]
    assert re.fullmatch(r"/autograder/source/files/kit-wheel/transformer_homework-\S+\.whl", wheel)
    assert all(re.fullmatch(r"[a-z0-9-]+==\S+", line) for line in lines)
    assert {"numpy", "otter-grader", "ipykernel", "jupyter-client", "pytest", "msgpack"} <= {
        line.partition("==")[0] for line in lines
    }
    assert prerequisites.otherwise_here(lines) == []


def test_image_gets_the_python_that_the_versions_are_for(environment: Any) -> None:
    assert environment[0] == f"python={sys.version_info[0]}.{sys.version_info[1]}"


def test_driver_notebook_runs_nothing(built: "Built") -> None:
    with zipfile.ZipFile(built.zip) as archive:
        notebook = json.loads(archive.read("files/transformer.ipynb"))
    assert notebook["cells"] == []
