"""The form of rubric.yaml: which keys it has, and what may stand in them."""

from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from autograder.sandbox.limits import Limits

Visibility = Literal["visible", "after_due_date", "after_published", "hidden"]
Feedback = Literal["full", "diagnosis", "score"]
LooksAt = Literal["values", "form", "examples"]
Charge = Literal["mistakes", "criteria"]
Counts = Literal["dropped", "full"]
Uploads = Literal["last", "best", "last_on_time"]
Missing = Literal["empty", "zero"]
INTEGRATION = "integration"


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CriterionEntry(Strict):
    """One thing that earns points. `grades` are the contract functions that it tries.

    `looks_at` says what counts here: "values" (a mistake is charged once, see grading/charge.py), "form" (only changed
    arguments, dtypes and the like), "examples" (every wrong value).
    """

    points: float = Field(gt=0)
    about: str = Field(min_length=3)
    grades: list[str] = []
    looks_at: LooksAt = "values"
    visibility: Visibility | None = None
    feedback: Feedback | None = None
    counts: Counts | None = Field(default=None, description="after the fact: dropped for all, or given to all")
    why: str = Field(default="", description="what students are told about counts")


class ModuleEntry(Strict):
    """One file that a student writes."""

    title: str
    points: float = Field(gt=0)
    uses: list[str] = []
    functions: dict[str, list[str]] = Field(min_length=1)
    criteria: dict[str, CriterionEntry] = Field(min_length=1)


class IntegrationEntry(Strict):
    """The whole submission tried together."""

    points: float = Field(gt=0)
    criteria: dict[str, CriterionEntry] = Field(min_length=1)


class LateEntry(Strict):
    """What a late submission costs: a started day after the grace costs points, or percent of the raw score."""

    grace_minutes: float = Field(default=0, ge=0)
    points_a_day: float = Field(default=0, ge=0)
    percent_a_day: float = Field(default=0, ge=0, le=100)
    floor_percent: float = Field(default=0, ge=0, le=100, description="of the raw score, which stays in any case")


class RubricFile(Strict):
    title: str
    points: float = Field(gt=0)
    visibility: Visibility = "after_published"
    feedback: Feedback = "full"
    charge: Charge = "mistakes"
    due: AwareDatetime | None = None
    late: LateEntry | None = None
    uploads: Uploads = Field(default="last", description="which of several uploads of one student counts")
    missing: Missing = Field(default="empty", description="the score of who is in the roster and has handed in nothing")
    limits: Limits = Limits()
    modules: dict[str, ModuleEntry] = Field(min_length=1)
    integration: IntegrationEntry | None = None
