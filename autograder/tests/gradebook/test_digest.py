"""A result stands as long as nothing that it depends on has changed."""

import shutil
from pathlib import Path

import pytest

from autograder.gradebook import pool
from autograder.homework import kit, rubric
from autograder.submissions.submission import Note, Submission

MODULE = next(iter(rubric.current().modules))


def test_submission_is_its_files_and_notes_and_not_its_name() -> None:
    one = pool.submission_digest(Submission("ada", {"a.py": b"1", "b.py": b""}))
    assert one == pool.submission_digest(Submission("bela", {"b.py": b"", "a.py": b"1"}))
    others = [
        Submission("ada", {"a.py": b"2", "b.py": b""}),
        Submission("ada", {"a.py": b"1"}),
        Submission("ada", {"a.py": b"1b.py", "": b""}),
        Submission("ada", {"a.py": b"1", "b.py": b""}, (Note("damaged", "c.py"),)),
        Submission("ada", {"a.py": b"1", "b.py": b""}, (Note("link", "c.py"),)),
    ]
    assert len({one, *map(pool.submission_digest, others)}) == 6


@pytest.mark.parametrize(
    "changed",
    ["autograder/sandbox/wire.py", f"autograder/homework/suites/test_{MODULE}.py", "autograder/values/compare.py",
     "autograder/submissions/text.py", "autograder/feedback/messages.py", f"solutions/{MODULE}.py"],
)  # fmt: skip
def test_kit_is_every_file_that_takes_part_in_grading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    skipped = shutil.ignore_patterns("__pycache__", "tests", "audit", "docs")
    for folder in ("autograder", "solutions"):
        source = kit.PACKAGE if folder == "autograder" else kit.solutions()
        shutil.copytree(source, tmp_path / folder, ignore=skipped)
    before = pool.kit_digest.__wrapped__()
    monkeypatch.setattr(kit, "PACKAGE", tmp_path / "autograder")
    monkeypatch.setattr(kit, "solutions", lambda: tmp_path / "solutions")
    assert pool.kit_digest.__wrapped__() == before
    path = tmp_path / changed
    path.write_text(path.read_text() + "\n")
    assert pool.kit_digest.__wrapped__() != before


def test_what_only_makes_tables_is_no_part_of_the_kit() -> None:
    assert not [name for name in pool._files() if name.startswith(("gradebook/", "cli/", "release/", "audit/"))]
