"""`otter run` and `otter assign` with the kit's plugin."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from otter.run import main as otter_run
from otter.run.run_autograder.runners import python_runner

from autograder.exceptions import CommandError
from autograder.release import otter_plugin
from autograder.tests.files import HOMEWORK, Built, put, zipped

AtHome = Callable[[Path], dict[str, Any]]


def test_otter_run_gives_each_question_the_points_of_its_module_without_a_kernel(
    built: Built, half: dict[str, bytes], at_home: AtHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kernel(*_: Any, **__: Any) -> None:
        raise RuntimeError("Kernel didn't respond in 60 seconds")

    monkeypatch.setenv("PATH", os.environ["PATH"])  # to be restored, because Otter changes it
    monkeypatch.setattr(python_runner, "grade_notebook", kernel)
    (tmp_path / "half.zip").write_bytes(zipped(half))
    results = otter_run(str(tmp_path / "half.zip"), autograder=str(built.zip), output_dir=str(tmp_path), no_logo=True)
    document = json.loads((tmp_path / "results.json").read_text())
    assert document["tests"] == at_home(tmp_path / "half.zip")["tests"]
    assert results.total == pytest.approx(document["score"])
    assert results.possible == HOMEWORK.rubric.points
    assert results.get_score("decoder") == 0
    assert 0 < results.get_score("layernorm") < results.get_result("layernorm").possible
    assert "layernorm.rms" in results.get_result("layernorm").summary()
    assert results.get_result("causal_mask").passed_all
    assert results.output == document["output"]
    assert results.to_gradescope_dict(None) == document
    assert python_runner.grade_notebook is kernel  # for another homework in the same process


def test_run_otter_of_otter_itself_is_rejected() -> None:
    with pytest.raises(CommandError, match=r"the run_otter\.py in the zip is not the kit's"):
        otter_plugin.HomeworkPlugin("", {}, {}).before_grading(SimpleNamespace(otter_run=False))


NO_EFFECT = "has no effect; remove it: the image has the Python of rubric.yaml and the packages that the kit pins"


@pytest.mark.parametrize(("folder", "question", "settings", "text"), [
    (HOMEWORK.solutions, "decoder", {"student_files": ["layernorm.py", "encoder.py"]},
     "transformer.ipynb: rubric.yaml has no module for encoder.py; the files of students are listed in rubric.yaml; "
     "remove student_files"),
    (HOMEWORK.solutions, "encoder", {}, "transformer.ipynb: rubric.yaml has no entry for the question encoder, only for "),
    (Path("/another/solutions"), "decoder", {}, f"the installed kit is {HOMEWORK.folder}; first run: pip install -e /another"),
    (HOMEWORK.solutions, "decoder", {"python_version": 3.12}, f"transformer.ipynb: python_version {NO_EFFECT}"),
    (HOMEWORK.solutions, "decoder", {"requirements": ["scipy"]}, f"transformer.ipynb: requirements {NO_EFFECT}"),
    (HOMEWORK.solutions, "decoder", {"plugins": [otter_plugin.KIT, {"otter.plugins.builtin.RateLimiting": {}}]},
     "transformer.ipynb: Gradescope runs no other plugin than the kit's; remove {'otter.plugins.builtin.RateLimiting'"),
])  # fmt: skip
def test_notebook_that_does_not_match_the_kit_is_rejected(
    tmp_path: Path, folder: Path, question: str, settings: dict[str, Any], text: str
) -> None:
    (tmp_path / f"{question}.py").touch()
    output = tmp_path / "result"
    put(output, {"student/a.py": "", "autograder/solution.py": ""})
    unset: dict[str, Any] = {"student_files": [], "plugins": [], **dict.fromkeys(otter_plugin.UNUSED)}
    tests: dict[str, Any] = {"tests": SimpleNamespace(files=False), "generate_tests_dir": str(tmp_path)}
    tests |= {"get_stu_path": lambda: str(output / "student"), "get_ag_path": lambda: str(output / "autograder")}
    assignment = SimpleNamespace(master=folder / "transformer.ipynb", **{**unset, **tests, **settings})
    with pytest.raises(click.ClickException, match=f"^{re.escape(text)}"):
        otter_plugin.HomeworkPlugin("", {}, {}).during_assign(assignment)
    assert not output.exists()
