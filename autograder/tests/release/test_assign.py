"""Why `otter assign` failed, on one line."""

import errno
import os
import subprocess
from pathlib import Path

import pytest

from autograder.exceptions import CommandError
from autograder.release import build

HEAD = "some warning\nTraceback (most recent call last):\n  File 'a.py', line 1\n    f()\n"


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        (
            f"{HEAD}OSError: [Errno {errno.ENOSPC}] {os.strerror(errno.ENOSPC)}: 'a'",
            "no space left on the disk while Otter wrote to ",
        ),
        (f"{HEAD}autograder.exceptions.CommandError: do this", "do this"),
        (f"{HEAD}autograder.homework.rubric.RubricError: line 3\nand line 4", "line 3 and line 4"),
        (f"{HEAD}ValueError: wrong", "otter assign failed: ValueError: wrong"),
        (f"{HEAD}KeyError: {'x' * 5000}", f"otter assign failed: KeyError: {'x' * 100}"),
        ("", "otter assign failed: no reason given"),
    ],
    ids=["disk", "ours", "rubric", "Otter's", "long", "nothing"],
)
def test_reason_is_one_line(stderr: str, said: str) -> None:
    found = build.reason(stderr)
    assert said in found and "\n" not in found and len(found) < 700


def test_failure_of_otter_ends_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    failed = subprocess.CompletedProcess([], 1, "", f"{HEAD}ValueError: wrong")
    monkeypatch.setattr("subprocess.run", lambda *_, **__: failed)
    with pytest.raises(CommandError, match=r"^otter assign failed: ValueError: wrong$"), build.assigned(root=tmp_path):
        pytest.fail("there is no result")
