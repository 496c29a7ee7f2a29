"""A worker grades with the kit that it was asked for, and recovers from what happens to its sandbox."""

import pytest

from autograder.exceptions import CommandError
from autograder.gradebook import pool
from autograder.homework import rubric as rubrics
from autograder.submissions.submission import Submission

MODULES = list(rubrics.current().modules)


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
