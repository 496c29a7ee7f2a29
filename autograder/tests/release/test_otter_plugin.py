"""Grading with Otter: results.json agrees with `autograder grade` or does not exist; `otter assign` cannot delete a kit."""

import json
import os
import pickle
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from otter.run import main as otter_run
from otter.test_files import GradingResults

from autograder.exceptions import CommandError
from autograder.homework import kit
from autograder.homework import rubric as rubrics
from autograder.release import otter_plugin
from autograder.release.otter_guard import kit_in_danger
from autograder.release.otter_plugin import UPLOAD, grade, quarantined
from autograder.tests.files import Bomb, Built, put, zipped
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
def test_run_imports_no_file_of_a_student(
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


FORMS: dict[str, Callable[[dict[str, bytes]], dict[str, bytes]]] = {
    "files and the student's notebook": lambda files: {**files, "transformer.ipynb": NOTEBOOK},
    "an exported notebook": lambda files: {**files, "transformer.ipynb": NOTEBOOK, "__zip_filename__": b"x.zip"},
    "a package": lambda files: {**files, "__init__.py": b"import layernorm\n"},
    "the whole folder": lambda files: {**files, "checks/test_layernorm.py": b"1/0\n", "README.md": b"",
     "pytest.ini": b""},
    # Names that Otter would fail on if it saw them.
    "two notebooks": lambda files: {**files, "transformer.ipynb": b"{", "transformer (1).ipynb": NOTEBOOK},
    "Otter's names": lambda files: {**files, "tests": b"", "__init__.py/a": b"", "transformer.ipynb/a": b""},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_all_forms_of_an_upload_are_graded_alike(
    box: MakeBox, half: dict[str, bytes], half_at_home: Any, form: str
) -> None:
    tried = box(FORMS[form](half))
    tried.run_without_kernel()
    assert tried.document()["tests"] == half_at_home


@pytest.mark.parametrize("upload", few([{}, {"homework.zip": b"no zip"}, {"a.zip": zipped({}), "b.zip": b""}], 1))
def test_upload_without_usable_files_gets_0_with_a_reason(box: MakeBox, upload: Files) -> None:
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
    assert first["score"] == rubrics.current().modules["layernorm"].points


def test_grader_error_leaves_no_results_and_the_upload_in_place(
    box: MakeBox, half: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr("autograder.release.otter_plugin.read", fail)
    tried = box(half)
    tried.results.write_text("{}")  # left by an earlier run
    with pytest.raises(CommandError, match="no result: MemoryError: no room"):
        tried.run_without_kernel()
    assert not tried.results.exists()
    assert (tried.submission / "layernorm.py").read_bytes() == half["layernorm.py"]


def test_kernel_without_results_is_a_grader_error() -> None:
    plugin = otter_plugin.HomeworkPlugin("", {}, {})
    with pytest.raises(CommandError, match=r"kernel gave no results.*its reason"):
        plugin.after_grading(GradingResults.without_results(EOFError("its reason")))


@pytest.mark.parametrize(
    ("folder", "listed", "question", "text"),
    [
        (
            kit.solutions(),
            ["layernorm.py", "encoder.py"],
            "decoder",
            r"no module for encoder\.py; .* remove student_files",
        ),
        (kit.solutions(), [], "encoder", r"transformer\.ipynb: rubric\.yaml has no entry for the question encoder"),
        (Path("/another/solutions"), [], "decoder", "first run: pip install -e /another"),
    ],
    ids=["unknown module", "unknown question", "another clone"],
)
def test_notebook_that_does_not_match_the_kit_is_rejected(
    tmp_path: Path, folder: Path, listed: list[str], question: str, text: str
) -> None:
    (tmp_path / f"{question}.py").touch()
    tests = {"tests": SimpleNamespace(files=False), "generate_tests_dir": str(tmp_path)}
    assignment = SimpleNamespace(master=folder / "transformer.ipynb", student_files=listed, **tests)
    with pytest.raises(CommandError, match=text):
        otter_plugin.HomeworkPlugin("", {}, {}).during_assign(assignment)


@pytest.mark.parametrize("result", ["", "solutions/..", "../a copy"])
def test_otter_assign_into_the_repository_deletes_nothing(
    built: Built, tree: Path, tmp_path: Path, result: str
) -> None:
    """Uses an environment with the wheel of the kit; all other packages come from the test environment."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python = next((tmp_path / "venv").glob("[bS]*/python*"))
    (packages,) = (tmp_path / "venv").rglob("site-packages")
    (packages / "a.pth").write_text(f"import site; site.addsitedir({str(built.installed)!r})\n")
    (packages / "b.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    before = sorted(tree.rglob("*"))
    words = ["otter", "assign", f"solutions/{kit.notebook()}", str(Path(tree, result)), "--no-run-tests"]
    done = subprocess.run([python, "-m", *words], cwd=tree, capture_output=True, text=True)
    line = f"autograder: otter assign would delete {tree / 'autograder'}; give a RESULT outside this repository\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)
    assert sorted(tree.rglob("*")) == before


@pytest.mark.parametrize(("arguments", "refused"), [
    (["python", "/venv/bin/otter", "assign", "x.ipynb", "{kit}"], True),
    (["python", "-m", "otter", "assign", "-v", "x.ipynb", "{kit}/", "--no-pdfs"], True),
    (["python", "C:\\venv\\Scripts\\otter.exe", "assign", "x.ipynb", "{kit}"], True),
    (["python", "/venv/bin/otter", "assign", "{kit}/solutions/transformer.ipynb", "{kit}/dist"], False),
    (["python", "/venv/bin/otter", "assign", "x.ipynb", "{kit}/autograder"], False),
    (["python", "/venv/bin/otter", "run", "{kit}", "assign"], False),
    (["python", "/venv/bin/pytest", "assign", "{kit}"], False),
    (["python", "-c", "pass"], False),
])  # fmt: skip
def test_only_a_result_folder_with_a_kit_is_rejected(arguments: list[str], refused: bool) -> None:
    given = [argument.format(kit=kit.home()) for argument in arguments]
    assert kit_in_danger(given) == (kit.PACKAGE if refused else None)


@pytest.fixture
def place(references: dict[str, bytes], tmp_path: Path) -> Path:
    """A folder like /autograder, with a zip of the solutions instead of the kit's wheel."""
    put(put(tmp_path / "source" / "files", {}) / "kit.whl", references)
    put(tmp_path / "results", {"results.json": b"of an earlier run"})
    put(tmp_path / "submission", {})
    return tmp_path


def folder_with_the_solutions_zip(path: Path) -> None:
    path.mkdir()
    (path / "inner.zip").symlink_to("../../source/files/kit.whl")


TRICKS: dict[str, Callable[[Path], None]] = {
    "link to the wheel": lambda path: path.symlink_to(path.parents[1] / "source" / "files" / "kit.whl"),
    "relative link to the wheel": lambda path: path.symlink_to("../source/files/kit.whl"),
    "endless link": lambda path: path.symlink_to("/dev/zero"),
    "pipe": os.mkfifo,
    "folder with a link": folder_with_the_solutions_zip,
}


@pytest.mark.parametrize("name", few([*TRICKS]))
def test_links_and_pipes_earn_no_points_and_do_not_block_grading(
    place: Path, name: str, references: dict[str, bytes]
) -> None:
    first, second = rubrics.current().files[:2]
    TRICKS[name](place / "submission" / first)
    TRICKS[name](place / "submission" / "up.zip")
    (place / "submission" / second).write_bytes(references[second])
    with quarantined(place):
        assert grade(place, otter_run=False).points == rubrics.current().modules[second.removesuffix(".py")].points


def test_quarantine_hides_the_upload_and_restores_it(place: Path) -> None:
    upload = put(place / "submission", {".OTTER_LOG": b"1", "a/b.py": b"2", "tests/a.py": b"3", "__init__.py": b"4"})
    TRICKS["endless link"](upload / "link.py")
    os.mkfifo(upload / "transformer.ipynb")
    with quarantined(place):
        assert list(upload.iterdir()) == [] and list((place / "results").iterdir()) == []
        closed = [place / name for name in ("source", "submission", UPLOAD)]
        assert [path.stat().st_mode & 0o777 for path in closed] == [0o700] * 3
        put(upload, {"transformer.ipynb": b"Otter's", "tests/b.py": b"", "kit-wheel/kit.whl": b"", "__init__.py": b""})
    found = {path.relative_to(upload).as_posix() for path in upload.rglob("*") if not path.is_dir()}
    assert found == {".OTTER_LOG", "a/b.py", "tests/a.py", "__init__.py", "link.py", "transformer.ipynb"}
    assert os.readlink(upload / "link.py") == "/dev/zero" and (upload / "transformer.ipynb").is_fifo()
    assert (upload / "__init__.py").read_bytes() == b"4"
    assert not (place / UPLOAD).exists()


def test_upload_outside_quarantine_is_not_graded(place: Path) -> None:
    with pytest.raises(CommandError, match=r"the run_otter\.py in the zip is not the kit's"):
        grade(place, otter_run=False)


@pytest.mark.slow
def test_otters_own_files_are_not_graded_after_otter_run(place: Path, references: dict[str, bytes]) -> None:
    own = {"kit.whl", "tests", "__init__.py"}
    put(place / "submission", {**{f"homework/{name}": text for name, text in references.items()}, "kit.whl": b""})
    put(place / "submission", {"tests/a.py": b"", "__init__.py": b""})
    assert grade(place, otter_run=True).points == rubrics.current().points
    assert {path.name for path in (place / "submission").iterdir()} == own


def test_quarantine_on_another_disk_keeps_links_and_drops_pipes(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Moving to another disk copies the files, and must not follow a link or wait for a pipe."""

    def refuse(*_: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    upload = put(place / "submission", {"a.py": b"1", "a/b.py": b"2"})
    TRICKS["endless link"](upload / "up.zip")
    TRICKS["endless link"](upload / "a" / "down.py")
    os.mkfifo(upload / "pipe.py")
    os.mkfifo(upload / "a" / "pipe.py")
    monkeypatch.setattr(os, "rename", refuse)
    with quarantined(place):
        found = {path.relative_to(place / UPLOAD).as_posix(): path.is_symlink() for path in (place / UPLOAD).rglob("*")}
    assert found == {"a.py": False, "a": False, "a/b.py": False, "a/down.py": True, "up.zip": True}
