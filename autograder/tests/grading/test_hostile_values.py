"""The grader never fails, whatever values, errors and crashes a student's process reports.

The process is replaced by a fake one that distorts the expected results at random, with fixed seeds.
"""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autograder.exceptions import WireError
from autograder.feedback.results import Grade
from autograder.grading.call_results import TestCall
from autograder.grading.grader import Grader
from autograder.grading.runner.processes import Direct
from autograder.sandbox import wire
from autograder.sandbox.protocol import Ended, Error, Request, Response
from autograder.shared.changes import Change
from autograder.shared.tree import Opaque
from autograder.submissions.submission import Submission
from autograder.tests.files import HOMEWORK

MODULES = HOMEWORK.rubric.modules
COMPLETE = Submission("bent", {f"{name}.py": b"" for name in MODULES})
DTYPES = [dtype.name for dtype in wire.DTYPES]
ODD: list[Any] = [
    None, "text", b"bytes", 7, 2**63 - 1, -1.5, float("nan"), True, [], {}, [[[]]], {"a": np.ones(3), 1: {None: []}},
    [np.ones(2), [np.zeros((0, 3))] * 5], np.zeros(0), np.zeros((0, 4)), np.array(1.5), np.float32(2), np.bool_(True),
    np.full((3, 4), np.nan), np.full((2, 2, 2), np.inf), np.ones((1,) * 16), np.full((2,) * 10, 1e308),
    *(Opaque(kind) for kind in wire.OPAQUE_KINDS), (lambda x: x), {1, "```"}, {(1, b"x"): frozenset()}, 10**4000, "\ud800",
    ["<script>", "```\n# x"] * 9, "`" * 99,
]  # fmt: skip


def distorted(value: Any, rng: random.Random) -> Any:
    """The expected value, or one with another type, shape, dtype or content."""
    if isinstance(value, tuple) and rng.random() < 0.7:
        return [distorted(part, rng) for part in value]
    with np.errstate(all="ignore"):
        return (
            rng.choice(ARRAY_DISTORTIONS)(value, rng)
            if isinstance(value, np.ndarray)
            else rng.choice(OTHER_DISTORTIONS)(value, rng)
        )


Distortion = Callable[[Any, random.Random], Any]
ARRAY_DISTORTIONS: list[Distortion] = [
    lambda v, rng: v,
    lambda v, rng: v.astype(rng.choice(DTYPES)),
    lambda v, rng: v.astype("float16").astype(float),
    lambda v, rng: v.T,
    lambda v, rng: v[None],
    lambda v, rng: v.ravel(),
    lambda v, rng: v[..., :0],
    lambda v, rng: v * rng.choice([-1, 2, 1e300, 1e-300]) if v.dtype.kind == "f" else v,
    lambda v, rng: v + rng.choice([1, 1e-6, 1e300]) if v.dtype.kind == "f" else v,
    lambda v, rng: np.where(np.arange(v.size).reshape(v.shape) % 3 == 0, rng.choice([np.nan, np.inf, -np.inf, 0]), v),
    lambda v, rng: v.tolist(),
    lambda v, rng: v.flat[0] if v.size else v,
    lambda v, rng: rng.choice(ODD),
]
OTHER_DISTORTIONS: list[Distortion] = [
    lambda v, rng: v,
    lambda v, rng: [v, v],
    lambda v, rng: np.asarray(v) if isinstance(v, float | int | bool) else v,
    lambda v, rng: {key: rng.choice(ODD) for key in v} if isinstance(v, dict) else -v if isinstance(v, float) else v,
    lambda v, rng: rng.choice(ODD),
]
CHANGED = (Change(31, (), "entry written"), Change(1, ("gamma", 3), "key added"))
KINDS = ["ValueError", "TypeError", "NotImplementedError", "RecursionError", "SystemExit", "ExceptionGroup", "Warning"]


class DistortingProcess:
    """Replaces a student's process and distorts the expected results."""

    def __init__(self, rng: random.Random, test_calls: dict[int, TestCall]):
        """`test_calls` are those of the test plan, by the id of their call."""
        self.rng, self.test_calls, self.direct = rng, test_calls, Direct(HOMEWORK.functions)
        self.ended: Ended | None = None

    def load(self, *_: Any) -> Response:
        chance = self.rng.random()
        if chance < 0.01:
            return Response(ended=Ended("crash"))
        return Response(error=self.error()) if chance < 0.03 else Response()

    def run(self, calls: Sequence[Request], account: str = "") -> list[Response]:
        responses: list[Response] = []
        for call in calls:
            test_call = self.test_calls.get(id(call))
            responses.append(self.response(test_call) if test_call else self.repair_response(call))
            if self.ended is not None:
                break
        return responses

    def response(self, test_call: TestCall) -> Response:
        chance = self.rng.random()
        if self.ended is None and chance < 0.002:
            self.ended = Ended(self.rng.choice(["deadline", "crash", "disk", "memory", "protocol"]))
        if self.ended is not None:
            return Response(ended=self.ended)
        if chance < 0.1:
            return Response(error=self.error())
        [right] = self.direct.run([test_call.call])
        if test_call.kind != "call":
            return replace(right, changed=CHANGED) if test_call.kind == "changes" and chance < 0.12 else right
        value = distorted(right.value, self.rng) if chance < 0.6 and right.error is None else right.value
        try:
            crossed = wire.received(wire.encode(value))[0]
        except WireError:  # a function, which only the grader may send
            self.ended = Ended("protocol")
            return Response(ended=self.ended)
        return replace(right, value=crossed, changed=CHANGED if chance < 0.12 else (), shared=0.12 < chance < 0.14)

    def repair_response(self, call: Request) -> Response:
        """The response to a request of the repair search."""
        rows = np.array(self.rng.choices([-1, 0, 5, 10**9], k=3 * self.rng.choice([0, 1, 60, 4000]))).reshape(-1, 3)
        lines = self.rng.choice([(), (1,), (2, 3), (10**9,), (1.5,)])
        said = {"edits": rows, "edit": lines, "edited": self.rng.choice(ODD)}
        try:
            more = ((), False) if call.kind == "edited" else ()
            return call.check(*([said[call.kind], *more] if call.kind in said else []))
        except ValueError:
            self.ended = Ended("protocol")
            return Response(ended=self.ended)

    def error(self) -> Error:
        kind, hint = self.rng.choice(KINDS), self.rng.choice(["", "missing", "signature", "absent", "<b>"])
        place = self.rng.choice([("", 0), ("layernorm.py", 3), ("`x`.py", 7)])
        return Error((kind, "Exception"), "```\n<b>\u202e", *place, hint)

    def close(self) -> None:
        pass


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "modules"), [(0, ("layernorm", "integration")), *((seed, ()) for seed in range(160))])
def test_no_response_makes_the_grader_fail(
    grader: Grader, seed: int, modules: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    groups = (grader.plan.visible, grader.plan.examples, grader.plan.hidden)
    test_calls = {id(test_call.call): test_call for group in groups for found in group.values() for test_call in found}
    monkeypatch.setattr(grader.sandbox, "start", lambda: DistortingProcess(rng, test_calls))
    result = grader.grade(COMPLETE, modules)
    document = Grade.of(result).to_gradescope()
    text = json.dumps(document)
    assert json.loads(text) == document
    assert 0 <= document["score"] <= HOMEWORK.rubric.points
    assert len(text) < 1_000_000
    assert "\u202e" not in text
