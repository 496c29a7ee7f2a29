"""Gradescope's results.json as it is documented: what is accepted, and what is found."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.release import rehearsal


def test_what_the_kit_writes_is_as_documented(at_home: Callable[[Path], dict[str, Any]], tmp_path: Path) -> None:
    (tmp_path / "layernorm.py").touch()
    assert rehearsal.problems(at_home(tmp_path)) == []


DOCUMENTED = {
    "score": 44.0,
    "execution_time": 136,
    "output": "Text relevant to the entire submission",
    "output_format": "simple_format",
    "test_output_format": "text",
    "test_name_format": "text",
    "visibility": "after_due_date",
    "stdout_visibility": "visible",
    "extra_data": {},
    "tests": [
        {
            "score": 2.0,
            "max_score": 2.0,
            "status": "passed",
            "name": "Your name here",
            "name_format": "text",
            "number": "1.1",
            "output": "many lines",
            "output_format": "text",
            "tags": ["tag1", "tag2", "tag3"],
            "visibility": "visible",
            "extra_data": {},
        },
        {"name": "Compilation check", "status": "passed"},
    ],
    "leaderboard": [
        {"name": "Accuracy", "value": 0.926},
        {"name": "Time", "value": 15.1, "order": "asc"},
        {"name": "Stars", "value": "*****"},
    ],
}


def test_the_example_of_the_documentation_is_accepted() -> None:
    assert rehearsal.problems(DOCUMENTED) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"visibility": "after_deadline"}, "visibility: Input should be"),
        ({"output_format": "markdown"}, "output_format: Input should be"),
        ({"tests": [{"score": 1, "status": "ok"}]}, "tests.0.status: Input should be"),
        ({"tests": [{"score": True}]}, "tests.0.score: Input should be a valid number"),
        ({"tests": [{"score": 1, "number": 1}]}, "tests.0.number: Input should be a valid string"),
        ({"tests": [{"score": 1, "tags": "a"}]}, "tests.0.tags: Input should be a valid list"),
        ({"tests": [{"score": 1, "points": 1}]}, "tests.0.points: this key is not documented"),
        ({"leaderboard": [{"name": "a"}]}, "leaderboard.0.value: Field required"),
        ({"leaderboard": [{"name": "a", "value": 1, "order": "up"}]}, "leaderboard.0.order: Input should be"),
        ({"extra_data": []}, "extra_data: Input should be a valid dictionary"),
    ],
)
def test_what_is_not_documented_is_found(change: dict[str, Any], said: str) -> None:
    assert rehearsal.problems(DOCUMENTED | change)[0].startswith(said)
