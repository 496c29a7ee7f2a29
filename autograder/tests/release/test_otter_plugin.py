"""Grading with Otter: results.json agrees with `autograder grade` for every form of upload, or does not exist."""

import json
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import otter.generate
import pytest
from otter.run import main as otter_run
from otter.test_files import GradingResults

from autograder.exceptions import CommandError, SandboxError
from autograder.gradebook import sample
from autograder.homework import kit
from autograder.homework import rubric as rubrics
from autograder.homework.rubric import RubricError
from autograder.release import otter_plugin
from autograder.tests.files import Bomb, Built, zipped
from autograder.tests.making import few
from autograder.tests.running import Box

Files = Mapping[str, bytes]
MakeBox = Callable[[Files], Box]
AtHome = Callable[[Path], dict[str, Any]]
NOTEBOOK = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}'


@pytest.fixture(scope="session")
def half_at_home(at_home: AtHome, half: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("home") / "homework.zip"
    path.write_bytes(zipped(half))
    return at_home(path)["tests"]


SHADOW = """
import pathlib, sys
if any("run_otter" in word or "ipykernel" in word for word in sys.orig_argv):
    pathlib.Path({mark!r}).touch()
"""


@pytest.mark.slow
def test_a_run_imports_nothing_of_the_students(
    box: MakeBox, at_home: AtHome, half: dict[str, bytes], tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    names = ["random", "otter", "json", "yaml", "autograder", "conftest", "sitecustomize", "tests/layernorm"]
    shadows = {f"{name}.py": SHADOW.format(mark=str(mark)).encode() for name in names}
    others = {".OTTER_LOG": pickle.dumps(Bomb(mark)), "transformer.ipynb": NOTEBOOK, "__init__.py": b""}
    tried = box({**half, **shadows, **others})
    home = at_home(tried.submission)
    done = tried.run()
    assert done.returncode == 0, done.stderr
    assert not mark.exists()
    assert tried.document() == home


def test_otter_run_gives_each_question_the_points_of_its_module(
    built: Built, box: MakeBox, half: dict[str, bytes], half_at_home: Any, tmp_path: Path
) -> None:
    (tmp_path / "half.zip").write_bytes(zipped(half))
    results = otter_run(str(tmp_path / "half.zip"), autograder=str(built.zip), output_dir=str(tmp_path), no_logo=True)
    document = json.loads((tmp_path / "results.json").read_text())
    assert document["tests"] == half_at_home
    assert results.total == pytest.approx(document["score"])
    assert results.possible == rubrics.current().points
    assert results.get_score("decoder") == 0
    assert 0 < results.get_score("layernorm") < results.get_result("layernorm").possible
    assert "layernorm.rms" in results.get_result("layernorm").summary()
    assert results.get_result("causal_mask").passed_all
    assert results.output == document["output"]
    assert results.to_gradescope_dict(None) == document


@pytest.mark.slow
@pytest.mark.parametrize("name", sample.students())
def test_sample_class_with_otter_and_without(box: MakeBox, at_home: AtHome, built: Built, name: str) -> None:
    files = {file: text.encode() for file, text in sample.students()[name].items()}
    if name == "nobody-yet":
        assert files == {file: (built.assignments / file).read_bytes() for file in files}
    tried = box(files)
    home = at_home(tried.submission)
    tried.run_without_kernel()
    assert tried.document() == home
    assert home["score"] == {"ada": rubrics.current().points, "nobody-yet": 0}.get(name, home["score"])


FORMS: dict[str, Callable[[dict[str, bytes]], dict[str, bytes]]] = {
    "files": lambda files: files,
    "files and the student's notebook": lambda files: {**files, "transformer.ipynb": NOTEBOOK},
    "a folder": lambda files: {f"homework/{name}": data for name, data in files.items()},
    "a zip": lambda files: {"homework.zip": zipped(files)},
    "a zip with a folder": lambda files: {"homework.ZIP": zipped({f"homework/{name}": data for name,
     data in files.items()})},
    "a zip from a Mac": lambda files: {"homework.zip": zipped({f"a/{n}": d for n,
     d in files.items()} | {f"__MACOSX/a/._{n}": b"\0" for n in files})},
    "an exported notebook": lambda files: {**files, "transformer.ipynb": NOTEBOOK, "__zip_filename__": b"x.zip"},
    "a package": lambda files: {**files, "__init__.py": b"import layernorm\n"},
    "the whole folder": lambda files: {**files, "checks/test_layernorm.py": b"1/0\n", "README.md": b"",
     "pytest.ini": b""},
    # Names that Otter would stumble over, if it saw them.
    "two notebooks": lambda files: {**files, "transformer.ipynb": b"{", "transformer (1).ipynb": NOTEBOOK},
    "Otter's names": lambda files: {**files, "tests": b"", "__init__.py/a": b"", "transformer.ipynb/a": b""},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_forms_of_an_upload_are_graded_alike(
    box: MakeBox, half: dict[str, bytes], half_at_home: Any, form: str
) -> None:
    tried = box(FORMS[form](half))
    tried.run_without_kernel()
    assert tried.document()["tests"] == half_at_home


def test_one_file_alone_is_graded(box: MakeBox, references: dict[str, bytes]) -> None:
    tried = box({"homework/layernorm.py": references["layernorm.py"]})
    tried.run_without_kernel()
    assert tried.document()["score"] == rubrics.current().modules["layernorm"].points


@pytest.mark.parametrize(
    "upload", few([{}, {"homework.zip": b"no zip"}, {"a.zip": zipped({}), "b.zip": zipped({})}], 1)
)
def test_nothing_usable_is_a_0_with_a_reason(box: MakeBox, upload: Files) -> None:
    tried = box(upload)
    tried.run_without_kernel()
    assert tried.document()["score"] == 0
    assert "There is no file layernorm.py" in tried.document()["output"]


@pytest.mark.slow
def test_second_run_in_the_same_container_finds_the_upload_again(box: MakeBox, references: dict[str, bytes]) -> None:
    tried = box({"layernorm.py": references["layernorm.py"], ".OTTER_LOG": b"1", "notes/a.txt": b"2"})
    tried.run_without_kernel()
    first = tried.document()
    assert (tried.submission / ".OTTER_LOG").read_bytes() == b"1"
    assert (tried.submission / "notes" / "a.txt").read_bytes() == b"2"
    tried.run_without_kernel()
    assert tried.document() == first


@pytest.mark.parametrize(
    "fault",
    few([SandboxError("no room"), RubricError("line 3"), CommandError("test_a"), MemoryError()], 1),
    ids=lambda fault: type(fault).__name__,
)
def test_grader_error_leaves_no_results_and_the_upload_in_place(
    box: MakeBox, half: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    def fail(*_: Any) -> None:
        raise fault

    monkeypatch.setattr("autograder.release.otter_plugin.read", fail)
    tried = box(half)
    tried.results.write_text("{}")  # of an earlier run
    with pytest.raises(CommandError, match=f"no result: {type(fault).__name__}: {fault}"):
        tried.run_without_kernel()
    assert not tried.results.exists()
    assert (tried.submission / "layernorm.py").read_bytes() == half["layernorm.py"]


@pytest.mark.slow
def test_grader_error_in_the_real_run_ends_with_one_clear_line(box: MakeBox, half: dict[str, bytes]) -> None:
    tried = box(half)
    script = (Path(otter.generate.TEMPLATE_DIR) / "common" / "run_otter.py").read_text()
    script = script.replace("{{ autograder_dir }}", "/autograder")
    (tried.place / "source" / "run_otter.py").write_text(script)
    done = tried.run()
    assert done.returncode == 1
    said = "CommandError: the grader failed, so there is no result: CommandError: the run_otter.py in the zip"
    assert said in done.stderr.splitlines()[-1]
    assert not tried.results.exists()


def test_kernel_without_results_is_a_grader_error() -> None:
    plugin = otter_plugin.HomeworkPlugin("", {}, {})
    with pytest.raises(CommandError, match=r"kernel gave no results.*Ran out of input"):
        plugin.after_grading(GradingResults.without_results(EOFError("Ran out of input")))


@pytest.mark.parametrize(
    ("listed", "question", "text"),
    [
        (["layernorm.py", "encoder.py"], "decoder", r"has no module for encoder\.py; .* remove student_files"),
        ([], "encoder", "has no entry for the question encoder"),
    ],
    ids=["unknown module", "unknown question"],
)
def test_notebook_that_does_not_match_the_rubric(tmp_path: Path, listed: list[str], question: str, text: str) -> None:
    (tmp_path / f"{question}.py").touch()
    tests = {"tests": SimpleNamespace(files=False), "generate_tests_dir": str(tmp_path)}
    assignment = SimpleNamespace(master=kit.solutions() / "transformer.ipynb", student_files=listed, **tests)
    with pytest.raises(CommandError, match=rf"transformer\.ipynb: rubric\.yaml {text}"):
        otter_plugin.HomeworkPlugin("", {}, {}).during_assign(assignment)


def test_notebook_of_another_clone_than_the_installed_kit(tmp_path: Path) -> None:
    assignment = SimpleNamespace(master=tmp_path / "solutions" / "transformer.ipynb")
    with pytest.raises(CommandError, match=f"first run: pip install -e {tmp_path}"):
        otter_plugin.HomeworkPlugin("", {}, {}).during_assign(assignment)
