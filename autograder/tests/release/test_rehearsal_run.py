"""A run of the zip's own script: what it leaves, results that are no results, and that nothing runs on or stays behind."""

import errno
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.exceptions import CommandError
from autograder.release import rehearsal


@pytest.fixture(autouse=True)
def scratch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Where temporary files go; a rehearsal must leave nothing there."""
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    yield place
    assert list(place.iterdir()) == []


def writing(document: Any) -> str:
    return f"(place / 'results' / 'results.json').write_text({json.dumps(document)!r})"


def test_what_is_left(other: Callable[..., Path], upload: Path) -> None:
    done = rehearsal.rehearse(other(writing({"score": 7})), upload, here=True)
    assert done.document == {"score": 7} and done.seconds > 0
    assert done.printed == "{} ['layernorm.py']\n"
    assert done.how == "with the packages installed here, in the versions of the zip"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise OSError(28, 'No space left on device', 'x' * 9000)", "no space left on the disk of "),
        ("sys.exit('Error: no room')", "there is no results.json; the submission would stay ungraded: Error: no room"),
        (writing({"score": float("nan")}), "results.json is not JSON: NaN is not a number in JSON"),
        (f"{writing({'score': 1})}; sys.exit('Error: late')", "failed after results.json was written: Error: late"),
        ("(place / 'results' / 'results.json').write_text('[')", "results.json is not JSON"),
    ],
    ids=["full disk", "none", "nan", "failed late", "half written"],
)
def test_result_that_is_none(other: Callable[..., Path], upload: Path, code: str, said: str) -> None:
    with pytest.raises(CommandError) as caught:
        rehearsal.rehearse(other(code), upload, here=True)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_endless_grader_is_ended_with_all_that_it_started(
    other: Callable[..., Path], upload: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearsal, "SECONDS", 1)
    sleeper = f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    start = f"subprocess.Popen([sys.executable, '-c', {'import os, time; ' + sleeper!r}])"
    with pytest.raises(CommandError, match="took more than 1 seconds, Gradescope's limit"):
        rehearsal.rehearse(other(f"import subprocess, time; {start}; time.sleep(60)"), upload, here=True)
    if sys.platform == "linux":
        state = Path("/proc", (tmp_path / "pid").read_text(), "status")
        for _ in range(100):  # a process that has been killed goes when the kernel gets round to it
            if not state.exists() or "zombie" in state.read_text():
                return
            time.sleep(0.1)
        pytest.fail("it runs on")


def test_full_disk_is_one_line(other: Callable[..., Path], upload: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "layernorm.py")

    zipped = other("")
    monkeypatch.setattr("shutil.copy", fail)
    with pytest.raises(
        CommandError, match=f"^layernorm.py: {os.strerror(errno.ENOSPC)}; free some space and run it again"
    ):
        rehearsal.rehearse(zipped, upload, here=True)
