"""The digests that show whether a stored result is still valid, and the warm grader, which replaces a dead sandbox."""

import errno
import os
import shutil
from pathlib import Path

import pytest

from autograder.exceptions import CommandError
from autograder.gradebook import pool
from autograder.homework.homework import PACKAGE
from autograder.submissions.submission import Note, Submission
from autograder.tests.files import HOMEWORK

MODULES = list(HOMEWORK.rubric.modules)


def test_submission_digest_covers_files_and_notes_but_not_the_name() -> None:
    one = pool.submission_digest(Submission("ada", {"a.py": b"1", "b.py": b""}))
    assert one == pool.submission_digest(Submission("bela", {"b.py": b"", "a.py": b"1"}))
    files = [{"a.py": b"2", "b.py": b""}, {"a.py": b"1"}, {"a.py": b"1b.py", "": b""}]
    others = [Submission("ada", own) for own in files]
    others += [Submission("ada", {"a.py": b"1", "b.py": b""}, (Note(kind, "c.py"),)) for kind in ("damaged", "link")]
    assert len({one, *map(pool.submission_digest, others)}) == 6


def test_kit_digest_covers_every_file_that_affects_grading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skipped = shutil.ignore_patterns("__pycache__", "tests", "docs")
    package = shutil.copytree(PACKAGE, tmp_path / "autograder", ignore=skipped)
    shutil.copytree(HOMEWORK.solutions, tmp_path / "solutions", ignore=skipped)
    shutil.copy(HOMEWORK.rubric_file, tmp_path)
    digest = pool.kit_digest.__wrapped__
    before = digest(None)
    monkeypatch.setattr(pool, "PACKAGE", package)
    monkeypatch.setattr("autograder.homework.homework.PACKAGE", package)
    assert digest(None) == before, "the same kit in another place"
    changed = [
        "sandbox/wire.py", "shared/compare.py", "submissions/text.py", "feedback/messages.py", "grading/scoring.py",
        f"homework/suites/test_{MODULES[0]}.py", f"../solutions/{MODULES[0]}.py",
    ]  # fmt: skip
    for name in ("gradebook/report.py", "cli/grade.py", "release/build.py", "audit/audit.py", *changed):
        path = package / name
        path.write_text(path.read_text() + "\n")
        after = digest(None)
        assert (after != before) == (name in changed), name
        before = after


def test_worker_with_another_kit_raises_an_error() -> None:
    with pytest.raises(CommandError, match="a different version"):
        pool.grade(Submission("x", {}), "another digest", None)


@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOENT, errno.EACCES])
def test_missing_place_for_locks_is_reported(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(pool, "ProcessPoolExecutor", fail)
    with pytest.raises(CommandError, match=rf"/dev/shm must exist and be writable \({os.strerror(number)}\)"):
        pool.local(1).submit(0, pool.prepare)


def test_warm_grader_recovers_from_a_killed_sandbox() -> None:
    kit = pool.kit_digest(None)
    before = pool.grade(Submission("x", {f"{MODULES[0]}.py": b""}), kit, None)
    grader = pool.warm(None)
    server = grader.sandbox._server
    if server is not None:
        server.kill()
        server.wait()
    assert pool.grade(Submission("x", {f"{MODULES[0]}.py": b""}), kit, None) == before
    pool.cool()
