"""`autograder rehearse` grades an upload as Gradescope does, and prints what students and instructors see."""

import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from autograder.cli.main import main
from autograder.release.packing import SCRIPTS
from autograder.submissions.text import number
from autograder.tests.files import HOMEWORK, Built, put

Run = Callable[..., Result]
AtHome = Callable[[Path], dict[str, Any]]
POINTS = number(HOMEWORK.rubric.points)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Runs the command and checks that it leaves no temporary files."""
    tmp_path_factory.getbasetemp()  # pytest's own, if this is the first test
    scratch = Path(tempfile.mkdtemp(prefix="rehearsals-"))
    scratch.chmod(0o711)  # the sandbox's user cannot read pytest's own temporary folders
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))

    def call(*arguments: object, here: bool = True) -> Result:
        done = CliRunner().invoke(main, ["rehearse", *map(str, arguments), *(["--here"] if here else [])])
        assert list(scratch.iterdir()) == []
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done

    yield call
    scratch.rmdir()


def section(output: str, title: str) -> str:
    """The section of the output with this title."""
    return output.partition(f"{title}\n{'-' * len(title)}\n")[2].partition("\n\nWhat the ")[0]


def points_and_id(criterion: str) -> str:
    """A criterion's points and ID, as in the output."""
    return f"{number(HOMEWORK.rubric.criteria[criterion].points)}  {criterion}"


@pytest.mark.slow
@pytest.mark.parametrize(("here", "where"), [
    (True, "with the packages installed here"), (False, "with the zip's setup.sh and run_autograder"),
], ids=["here", "setup.sh"])  # fmt: skip
def test_rehearsal_prints_what_students_and_instructors_see(
    built: Built, run: Run, half: dict[str, bytes], at_home: AtHome, tmp_path: Path, here: bool, where: str
) -> None:
    score = at_home(put(tmp_path / "half", half))["score"]
    assert 0 < score < HOMEWORK.rubric.points
    half_score = f"{number(score)} of {POINTS}"
    done = run(built.zip, put(tmp_path / "upload", half), here=here)
    assert done.exit_code == 0, done.stderr
    assert re.match(rf"Graded in [\d.]+ s, {where}", done.stdout)
    now = section(done.stdout, "What the student sees immediately")
    assert "`decoder.py` could not be imported: ModuleNotFoundError" in now and "No total: Gradescope" in now
    assert f"failed  0 of {points_and_id('layernorm.example')}" in now
    assert f" of {points_and_id('causal_mask.example')}" in now
    assert "layernorm.rms:" not in now and "layernorm.statistics" not in now
    later = section(done.stdout, "What the student also sees when grades are published")
    assert f"failed  0 of {points_and_id('layernorm.rms')}:" in later
    assert re.search(rf"^passed  \d+ of {points_and_id('layernorm.statistics')}:", later, re.MULTILINE)
    assert re.search(rf"^Total: {half_score}$", later, re.MULTILINE)
    mine = section(done.stdout, "What the instructor sees")
    assert f'"Autograder points" must be {POINTS}.' in mine
    assert re.search(rf"^All of the above, and the total: {half_score}$", mine, re.MULTILINE)


def test_missing_upload_or_zip_is_an_error(run: Run, tmp_path: Path) -> None:
    done = run(put(tmp_path / "small.zip", dict.fromkeys(SCRIPTS, "")), tmp_path / "nobody")
    assert done.exit_code == 2
    assert done.stderr == f"autograder: {tmp_path / 'nobody'}: there is no such file or folder\n"
    done = run(tmp_path / "nothing.zip", tmp_path)
    assert done.exit_code == 2 and "No such file or directory; use the autograder.zip" in done.stderr
