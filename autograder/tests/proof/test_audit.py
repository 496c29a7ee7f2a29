"""The audit as a whole: the proof that the grading names mistakes and spares the innocent."""

import pytest

from autograder.proof import audit
from autograder.proof.audit import Case, Check, Deviation, Row


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return list(audit.run())


def test_audit_finds_no_problem(rows: list[Row]) -> None:
    assert audit.problems(rows) == []


def test_misconceptions_are_many_and_named(rows: list[Row]) -> None:
    written = [row for row in rows if row.case.function and not row.case.trivial]
    assert len(written) >= 200
    assert sum(row.named for row in written) >= 0.95 * len(written)


def test_every_check_keeps_its_margin(rows: list[Row]) -> None:
    assert [margin for margin in audit.margins(rows) if not margin.good] == []


def test_there_are_six_alternatives_for_each_module() -> None:
    for module in (
        "layernorm",
        "batchnorm_comparison",
        "scaled_attention",
        "causal_mask",
        "transformer_block",
        "decoder",
    ):
        assert len(list(audit.ALTERNATIVES.glob(f"*/{module}.py"))) >= 6


WRONG = Case("layer_norm.sample_variance", "layernorm", "layer_norm")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (Row(WRONG, {}), "keeps full marks"),
        (Row(WRONG, {"layernorm.statistics": "layer_norm.eps_missing"}), "is named layer_norm.eps_missing"),
        (Row(WRONG, {"layernorm.rms": None}), "loses layernorm.rms, which does not grade it"),
        (Row(Case("loops"), {"layernorm.rms": None}), "alternative loops loses layernorm.rms"),
        (
            Row(Case("layer_norm.zeros", "layernorm", "layer_norm", True), {"layernorm.affine": None}),
            "computes nothing",
        ),
        (Row(Case("loops"), {}), "no misconception loses it"),
    ],
)
def test_audit_would_find(row: Row, said: str) -> None:
    assert any(said in problem for problem in audit.problems([row]))


def test_margin_would_be_found() -> None:
    right = Row(Case("loops"), {}, (Deviation(Check("layernorm", "t", 1, "float64", 1e-8), 2e-9),))
    wrong = Row(WRONG, {}, (Deviation(Check("layernorm", "t", 2, "float64", 1e-8), 5e-8),))
    assert [margin.good for margin in audit.margins([right, wrong])] == [False, False]


def test_one_module_alone() -> None:
    chosen = audit.cases(["causal_mask"])
    assert {case.module for case in chosen} == {"causal_mask", ""}
    assert audit.problems([Row(case, {}) for case in chosen if case.module], ["causal_mask"])
