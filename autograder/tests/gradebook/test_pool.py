"""A result is valid as long as nothing that it depends on has changed; a worker that is stopped is replaced by another."""

import shutil
from concurrent.futures import CancelledError, ThreadPoolExecutor
from pathlib import Path

import pytest

from autograder.exceptions import CommandError
from autograder.gradebook import batch, pool
from autograder.gradebook.pool import Pool
from autograder.homework import kit
from autograder.homework import rubric as rubrics
from autograder.sandbox.budget import Limits
from autograder.submissions.submission import Note, Submission

MODULES = list(rubrics.current().modules)


def test_submission_is_its_files_and_notes_and_not_its_name() -> None:
    one = pool.submission_digest(Submission("ada", {"a.py": b"1", "b.py": b""}))
    assert one == pool.submission_digest(Submission("bela", {"b.py": b"", "a.py": b"1"}))
    files = [{"a.py": b"2", "b.py": b""}, {"a.py": b"1"}, {"a.py": b"1b.py", "": b""}]
    others = [Submission("ada", own) for own in files]
    others += [Submission("ada", {"a.py": b"1", "b.py": b""}, (Note(kind, "c.py"),)) for kind in ("damaged", "link")]
    assert len({one, *map(pool.submission_digest, others)}) == 6


@pytest.mark.parametrize(
    "changed",
    ["autograder/sandbox/wire.py", f"autograder/homework/suites/test_{MODULES[0]}.py", "autograder/values/compare.py",
     "autograder/submissions/text.py", "autograder/feedback/messages.py", f"solutions/{MODULES[0]}.py"],
)  # fmt: skip
def test_kit_is_every_file_that_takes_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str) -> None:
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
    assert not [name for name, _ in pool._files() if name.startswith(("gradebook/", "cli/", "release/", "audit/"))]


def test_worker_with_another_kit_refuses() -> None:
    with pytest.raises(CommandError, match="a different version"):
        pool.grade(Submission("x", {}), "another digest")


def test_warm_grader_recovers_from_a_sandbox_that_is_gone() -> None:
    kit = pool.kit_digest()
    before = pool.grade(Submission("x", {f"{MODULES[0]}.py": b""}), kit)
    grader = pool.warm()
    server = grader.sandbox._server
    if server is not None:
        server.kill()
        server.wait()
    assert pool.grade(Submission("x", {f"{MODULES[0]}.py": b""}), kit) == before
    pool.cool()


def test_notes_on_the_upload_are_data_beside_the_text() -> None:
    files = {f"{MODULES[0].title()}.py": b"x = 1", f"{MODULES[1]}.py": b"def (:"}
    document = pool.grade(Submission("x", files), pool.kit_digest())
    notes = {note["path"]: note for note in document["extra_data"]["notes"]}
    pool.cool()
    assert notes[f"{MODULES[0].title()}.py"]["kind"] == "misnamed"
    assert notes[f"{MODULES[1]}.py"]["kind"] == "import"
    assert "SyntaxError" in notes[f"{MODULES[1]}.py"]["text"]
    assert notes[f"{MODULES[2]}.py"]["kind"] == "absent"


def test_stopped_worker_is_replaced_and_all_end_together() -> None:
    made: dict[int, list[ThreadPoolExecutor]] = {0: [], 1: []}
    closed: list[bool] = []

    def make(number: int) -> ThreadPoolExecutor:
        made[number].append(ThreadPoolExecutor(1))
        return made[number][-1]

    workers = Pool(make, 2, lambda: closed.append(True))
    assert [workers.submit(number, len, "abc").result() for number in (0, 1)] == [3, 3]
    workers.stop(1)
    assert workers.submit(1, len, "ab").result() == 2
    workers.end()
    assert (len(made[0]), len(made[1]), closed) == (1, 2, [True])
    with pytest.raises(CancelledError):
        workers.submit(0, len, "")
    for executor in (*made[0], *made[1]):
        with pytest.raises(RuntimeError):
            executor.submit(len, "")


def test_patience_is_longer_than_any_submission_may_take() -> None:
    limits = Limits(submission_seconds=60, wall_factor=4)
    assert batch.patience(limits) > limits.submission_seconds * limits.wall_factor
