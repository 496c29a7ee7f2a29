"""Gradescope's results.json as it is documented: what may stand in it, who sees what of it when, printed for an instructor.

Source: Gradescope, "Autograder Specifications", sections "Output format", "Controlling Test Case Visibility", "Test case
status" and "Output String Formatting", https://gradescope-autograders.readthedocs.io/en/latest/specs/. Stricter in one
point: a key that is not documented is refused, since a misspelt one would be ignored in silence.
"""

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, FiniteFloat, ValidationError, model_validator

from autograder.feedback.text import number
from autograder.intake.text import printable
from autograder.release.rehearsal import Rehearsal

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
        """The entries that become visible to a student at this moment; for "hidden", those that never do."""
        default = self.visibility or "visible"
        return [case for case in self.tests or () if (case.visibility or default) == moment]

    def total_is_shown(self, moment: Visibility) -> bool:
        """A student sees no total as long as any test is hidden."""
        later = MOMENTS[MOMENTS.index(moment) + 1 :]
        return not any(self.shown(after) for after in later)


def problems(document: Any) -> list[str]:
    """Where a document is not as documented, a line each; none if it is."""
    try:
        Results.model_validate(document)
    except ValidationError as refused:
        return [f"{'.'.join(map(str, error['loc'])) or 'results.json'}: {_reason(error)}" for error in refused.errors()]
    return []


def _reason(problem: Any) -> str:
    text = "this key is not documented" if problem["type"] == "extra_forbidden" else problem["msg"]
    return str(text).removeprefix("Value error, ")


# What `autograder rehearse` prints: who sees what of a results.json, and when.


def lines(done: Rehearsal, results: Results, brief: bool) -> Iterator[str]:
    """Who sees what, and when; of the messages only the first of each moment if `brief`."""
    yield f"Graded in {done.seconds:.1f} s, {done.how}."
    yield "results.json is as Gradescope documents it."
    yield from _title("What the student sees at once")
    yield from _text(results.output)
    yield from _moment(results, "visible", brief)
    if results.shown("after_due_date"):
        yield from _title("What the student sees after the due date, besides")
        yield from _moment(results, "after_due_date", brief)
    yield from _title("What the student sees when grades are published, besides")
    yield from _moment(results, "after_published", brief)
    yield from _title("What the instructor sees")
    yield f"All of that, and the total: {_points(results.points, results.possible)}"
    yield f'The assignment\'s "Autograder points" must be {number(results.possible)}.'
    if results.shown("hidden"):
        yield "Never shown to the student:"
    yield from _cases(results.shown("hidden"), brief)
    for criterion, names in _misconceptions(results):
        yield printable(f"Misconception in {criterion}: {names}")
    layers = (results.extra_data or {}).get("layers")
    if layers:
        yield printable(f"Layers of the sandbox here: {', '.join(map(str, layers))}")
    shown = [line for line in _text(done.printed)[-20:] if line.strip()]
    yield "What the autograder printed, at its end:"
    yield from (f"    {line}" for line in shown)


def _title(text: str) -> list[str]:
    return ["", text, "-" * len(text)]


def _moment(results: Results, moment: Visibility, brief: bool) -> Iterator[str]:
    cases = results.shown(moment)
    yield from _cases(cases, brief)
    if not cases:
        yield "Nothing."
    if results.total_is_shown(moment):
        yield f"Total: {_points(results.points, results.possible)}"
    else:
        yield "No total, since Gradescope shows none as long as any result is hidden."


def _cases(cases: list[TestCase], brief: bool) -> Iterator[str]:
    said = [case for case in cases if case.output]
    for case in cases:
        facts = [_status(case), *([] if case.max_score is None else [_points(case.score or 0, case.max_score)])]
        yield printable("  ".join([*filter(None, facts), case.name or "unnamed"]))
        for line in _text(case.output) if (not brief or case in said[:1]) else ():
            yield f"    {line}".rstrip()
    if brief and len(said) > 1:
        yield f"({len(said) - 1} more of these have a message; without --brief they are printed)"


def _status(case: TestCase) -> str:
    """As Gradescope colours an entry: by its status, else by its points, if it has any."""
    if case.status or case.max_score is None:
        return case.status or ""
    return "passed" if (case.score or 0) >= case.max_score else "failed"


def _misconceptions(results: Results) -> Iterator[tuple[str, str]]:
    """The criteria in which something is named, each with all that is named in it."""
    for case in results.tests or ():
        data = case.extra_data or {}
        # A list; zips that were built before several could be named have one name, or null.
        named = data.get("misconceptions") or [data.get("misconception")]
        names = [str(name) for name in named if name] if isinstance(named, list) else []
        if names:
            yield str(data.get("criterion", case.name or "")), ", ".join(names)


def _points(score: float, possible: float) -> str:
    return f"{number(score)} of {number(possible)}"


def _text(text: str | None) -> list[str]:
    return [printable(line) for line in (text or "").strip("\n").splitlines()]
