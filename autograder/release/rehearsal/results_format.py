"""Gradescope's results.json as it is documented: what may stand in it, and who sees what of it when.

Source: Gradescope, "Autograder Specifications", sections "Output format", "Controlling Test TestCase Visibility", "Test case
status" and "Output String Formatting", https://gradescope-autograders.readthedocs.io/en/latest/specs/. Stricter in one
point: a key that is not documented is refused, since a misspelt one would be ignored in silence.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, FiniteFloat, ValidationError, model_validator

Visibility = Literal["visible", "after_due_date", "after_published", "hidden"]
Format = Literal["text", "simple_format", "html", "md", "ansi"]
MOMENTS: tuple[Visibility, ...] = ("visible", "after_due_date", "after_published", "hidden")


class Documented(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class TestCase(Documented):
    """One entry of `tests`; everything may be missing."""

    score: FiniteFloat | None = None
    max_score: FiniteFloat | None = None
    status: Literal["passed", "failed"] | None = None
    name: str | None = None
    name_format: Format | None = None
    number: str | None = None
    output: str | None = None
    output_format: Format | None = None
    tags: list[str] | None = None
    visibility: Visibility | None = None
    extra_data: dict[str, Any] | None = None


class LeaderboardEntry(Documented):
    """One value of the leaderboard."""

    name: str
    value: FiniteFloat | str
    order: Literal["asc", "desc"] | None = None


class Results(Documented):
    """The whole document."""

    score: FiniteFloat | None = None
    execution_time: FiniteFloat | None = None
    output: str | None = None
    output_format: Format | None = None
    test_output_format: Format | None = None
    test_name_format: Format | None = None
    visibility: Visibility | None = None
    stdout_visibility: Visibility | None = None
    extra_data: dict[str, Any] | None = None
    tests: list[TestCase] | None = None
    leaderboard: list[LeaderboardEntry] | None = None

    @model_validator(mode="after")
    def _has_a_score(self) -> "Results":
        if self.score is None and not any(case.score is not None for case in self.tests or ()):
            raise ValueError("there is no score, neither at the top nor in tests")
        return self

    @property
    def points(self) -> float:
        """The score: the one at the top takes the place of the sum."""
        return self.score if self.score is not None else sum(case.score or 0 for case in self.tests or ())

    @property
    def possible(self) -> float:
        return sum(case.max_score or 0 for case in self.tests or ())

    def shown(self, moment: Visibility) -> list[TestCase]:
        """What becomes visible to a student at a moment and was not before; for "hidden", what never does."""
        default = self.visibility or "visible"
        return [case for case in self.tests or () if (case.visibility or default) == moment]

    def total_is_shown(self, moment: Visibility) -> bool:
        """A student sees no total as long as any test is hidden."""
        later = MOMENTS[MOMENTS.index(moment) + 1 :]
        return not any(self.shown(other) for other in later)


def problems(document: Any) -> list[str]:
    """Where a document is not as documented, a line each; none if it is."""
    try:
        Results.model_validate(document)
    except ValidationError as error:
        return [f"{'.'.join(map(str, one['loc'])) or 'results.json'}: {_reason(one)}" for one in error.errors()]
    return []


def _reason(problem: Any) -> str:
    known = "this key is not documented" if problem["type"] == "extra_forbidden" else problem["msg"]
    return str(known).removeprefix("Value error, ")
