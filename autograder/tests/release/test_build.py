"""`autograder build`: the same tree gives the same zips and assignments/; errors are one line."""

import errno
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from autograder.exceptions import ArgumentsError, CommandError
from autograder.homework import kit
from autograder.release import build, packing
from autograder.tests.files import Built, put
from autograder.tests.forked import python


def test_committed_assignments_are_up_to_date(built: Built) -> None:
    assert packing.contents(built.assignments) == packing.contents(kit.home() / "assignments"), "run: autograder build"


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
