"""Calls that are made ahead of the tests: the tests find the replies, and what was not foreseen is asked then."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from autograder.grading.grader import Grader
from autograder.grading.planning import Planner
from autograder.grading.suite import Mismatch
from autograder.grading.trial import Trial, memo
from autograder.intake.submission import Submission
from autograder.sandbox.process import Student

Asked = list[str]


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """The functions that are called one by one."""
    asked: Asked = []
    call = Student.call

    def noted(self: Student, context: str, module: str, function: str, *rest: Any) -> Any:
        asked.append(function)
        return call(self, context, module, function, *rest)

    monkeypatch.setattr(Student, "call", noted)
    return asked


@contextmanager
def tried(grader: Grader, files: dict[str, bytes]) -> Iterator[Trial]:
    grader.sandbox.place(files)
    trial = Trial(grader.sandbox, grader.rubric, "layernorm", Submission("test", files))
    trial.log.test = "test"
    try:
        yield trial
    finally:
        trial.close()


def planned(grader: Grader, test: Callable[[Any], object]) -> dict[str, Any]:
    planner = Planner(grader.rubric, "layernorm")
    test(planner.check())
    return {"test": planner.plan}


X = np.array([[3.0, -1.0, 4.0], [0.0, 5.0, 9.0]])


def test_a_perfect_submission_is_never_called_alone(grader: Grader, references: dict[str, bytes], live: Asked) -> None:
    assert grader.grade(Submission("right", references)).points == grader.rubric.points
    assert live == []


def test_other_arguments_than_planned_are_asked_when_they_come(
    grader: Grader, references: dict[str, bytes], live: Asked
) -> None:
    def right(check: Any) -> None:
        check.rms_norm(check.rms_norm(X, np.ones(3)), np.ones(3))

    wrong = references["layernorm.py"] + b"\n\ndef rms_norm(x, gamma, eps=1e-6):\n    return 2 * x\n"
    with tried(grader, references | {"layernorm.py": wrong}) as trial:
        trial.ahead(planned(grader, right))
        y = trial.student_object().rms_norm(X, np.ones(3))
        assert live == []
        assert np.array_equal(trial.student_object().rms_norm(y, np.ones(3)), 4 * X)
        assert live == ["rms_norm"]


def test_purity_is_seen_in_calls_made_ahead(grader: Grader, references: dict[str, bytes], live: Asked) -> None:
    changing = (
        b"\n\ndef rms_norm(x, gamma, eps=1e-6):\n    x *= 1\n    y = x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)"
        b"\n    x += 1\n    return gamma * y\n"
    )

    def pure(check: Any) -> None:
        check.pure.rms_norm(X, np.ones(3))

    for more, good in ((b"", True), (changing, False)):
        with tried(grader, references | {"layernorm.py": references["layernorm.py"] + more}) as trial:
            trial.ahead(planned(grader, pure))
            if good:
                pure(trial.check())
            else:
                with pytest.raises(Mismatch):
                    pure(trial.check())
    assert live == []


def test_arguments_are_told_apart_by_all_that_they_hold() -> None:
    def shifted(by: Any) -> Callable[[Any], Any]:
        return lambda x: x + by

    arguments: list[Any] = [
        X, X + 1e-12, X.T.copy(), X.astype("float32"), X.tolist(), (1,), 1, 1.0, True, None, "1", {"a": X}, {"b": X}, [X],
        shifted(1), shifted(2), shifted(np.ones(2)), lambda x: x, lambda x: -x,
    ]  # fmt: skip
    keys = [memo.key((argument,), {}) for argument in arguments]
    assert None not in keys and len(set(keys)) == len(keys)
    again = [memo.key((argument,), {}) for argument in arguments]
    assert again == keys
    assert memo.key((shifted(1),), {}) == memo.key((shifted(1),), {})
    assert memo.key((len,), {}) is None and memo.key((object(),), {}) is None
