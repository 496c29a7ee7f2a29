"""The audit: every known mistake is charged where it belongs and named, code that computes nothing earns nothing, and what is
correct loses nothing."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from autograder.homework import mistakes
from autograder.homework.rubric import current
from autograder.proof import audit, cases, margins
from autograder.proof.cases import Case
from autograder.proof.rows import Check, Deviation, Row, Verdict

MODULES = [name for name in current().modules if mistakes.of_module(name)]


def singles() -> list[Case]:
    """Every known mistake, of several ways the first."""
    return [case for module in MODULES for case in cases.singles(module) if case.mistakes[0].way == 0]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """A sixth of the known mistakes, one for each criterion, and a pair of each function, graded as a student's modules are."""
    of_criterion = {name: case for case in singles() for name in case.mistakes[0].criteria}
    chosen = dict.fromkeys([*singles()[1::6], *of_criterion.values(), *cases.sample(list(cases.pairs()), 1)])
    return list(audit.side_by_side(list(chosen), 1))  # a second process would play all known versions again


@pytest.fixture(scope="module")
def sandboxed() -> list[Row]:
    """A fixed few of every function and every alternative: whole submissions, with the integration."""
    empty = [case for module in MODULES for case in cases.nothings(module) if not case.function]
    chosen = [*cases.sample(singles(), 1), *cases.sample(list(cases.pairs()), 1), *empty[:: len(empty) // 6]]
    return list(audit.in_sandbox([*chosen, *cases.alternatives()], 2))


def problems(rows: list[Row]) -> list[str]:
    """Which pairs do the same as another single mistake, and so get its name, is looked at in test_pairs.py."""
    found = audit.problems(rows, complete=False)
    return [problem for problem in found if not (" + " in problem and " is named " in problem)]


def test_a_mistake_alone_is_charged_where_it_belongs_and_named(rows: list[Row]) -> None:
    assert len(rows) >= 180
    assert problems(rows) == []


@pytest.mark.slow
def test_every_mistake_is_charged_and_named_as_a_students() -> None:
    assert problems(list(audit.side_by_side(singles(), 2))) == []


def holes() -> list[Case]:
    return [case for module in MODULES for case in cases.holes(module)]


def test_a_hole_costs_what_looks_at_it_and_no_other_function_is_said_to_be_missing() -> None:
    one_way_each = [
        own for number, own in enumerate(holes()) if number % len(cases.HOLES) == number // len(cases.HOLES) % 5
    ]
    assert {case.hole for case in one_way_each} == set(cases.HOLES)
    assert audit.problems(list(audit.side_by_side(one_way_each, 1)), complete=False) == []


@pytest.mark.slow
def test_every_way_not_to_write_a_function_costs_the_same() -> None:
    rows = list(audit.side_by_side(holes(), 2))
    assert len(rows) == 135 and audit.problems(rows, complete=False) == []


def test_every_criterion_is_lost_by_a_known_mistake(rows: list[Row]) -> None:
    lost = {name for row in rows for name in row.lost}
    told = {c.id for c in current().criteria.values() if c.module in MODULES}
    assert told <= lost


def test_most_mistakes_are_named_as_themselves(rows: list[Row]) -> None:
    alone = [row for row in rows if row.case.kind == "mistake"]
    assert sum(bool(row.case.ids & row.named) for row in alone) >= 0.9 * len(alone)


def test_both_mistakes_of_most_pairs_are_named(rows: list[Row]) -> None:
    both = [row for row in rows if row.case.kind == "pair"]
    assert sum(row.case.ids <= row.named for row in both) >= 0.7 * len(both) > 0


@pytest.mark.slow
def test_in_the_sandbox_no_more_is_lost_and_nothing_else_is_named(sandboxed: list[Row]) -> None:
    assert problems(sandboxed) == []


@pytest.mark.slow
def test_in_the_sandbox_a_mistake_costs_what_it_costs_by_direct_calls(sandboxed: list[Row]) -> None:
    alone = [row.case for row in sandboxed if row.case.kind == "mistake"]
    direct = {row.case: row for row in audit.run(alone, 2)}
    for row in sandboxed:
        if row.case.kind == "mistake":
            assert row.lost.keys() == direct[row.case].lost.keys(), row.case.name


def test_there_are_six_alternatives_for_each_module() -> None:
    for module in MODULES:
        assert len(list(cases.ALTERNATIVES.glob(f"*/{module}.py"))) >= 6


# What the audit would find

WRONG = next(case for case in cases.singles("layernorm") if case.name == "layer_norm.sample_variance")
NOTHING = next(case for case in cases.nothings("layernorm") if case.name == "layer_norm.zeros")
ALTERNATIVE = Case("alternative", "loops")
OWN, OTHER = "layernorm.statistics", "layernorm.affine"
NAMED = Verdict(False, "mistake", (WRONG.name,))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (Row(WRONG, {}), "keeps full marks"),
        (Row(WRONG, {OTHER: NAMED}), f"keeps {OWN}, where it belongs"),
        (Row(WRONG, {OWN: NAMED, OTHER: NAMED}), f"loses {OTHER} as well (mistake)"),
        (Row(WRONG, {OWN: replace(NAMED, named=("layer_norm.eps_missing",))}), "is named layer_norm.eps_missing"),
        (Row(WRONG, {OWN: Verdict(False, "unexplained")}), "is not named"),
        (
            Row(WRONG, {OWN: Verdict(False, "mistake", (), (WRONG.name, "layer_norm.no_root"))}),
            "cannot be told from layer_norm.no_root, and shares no sentence with them",
        ),
        (
            Row(WRONG, {OWN: NAMED, "integration.norms": Verdict(False, "unexplained", blamed=("decoder",))}),
            "integration.norms calls decoder.py the cause",
        ),
        (Row(WRONG, {OWN: NAMED, "scaled_attention.softmax": NAMED}), "loses scaled_attention.softmax as well"),
        (Row(NOTHING, {OWN: NAMED}), f"keeps {OTHER}, though it computes nothing"),
        (Row(ALTERNATIVE, {OWN: NAMED}), f"the correct alternative loops loses {OWN}"),
        (Row(ALTERNATIVE, {}), "layernorm.rms: no known mistake loses it"),
        (Row(WRONG, {OWN: NAMED}), "there are no correct alternatives"),
    ],
)
def test_audit_would_find(row: Row, said: str) -> None:
    assert any(said in problem for problem in audit.problems([row]))


@pytest.mark.parametrize(
    "verdicts",
    [
        {OWN: NAMED},
        {OWN: NAMED, OTHER: Verdict(False, "hidden", (WRONG.name,), unseen=("layer_norm.no_gamma",))},
        {OWN: NAMED, "layernorm.example": NAMED},
        {OWN: Verdict(False, "mistake", (), (WRONG.name, "layer_norm.no_root"), "Divide by d.")},
        {OWN: NAMED, "integration.norms": Verdict(False, "unexplained", blamed=("layernorm",))},
    ],
)
def test_audit_finds_nothing_wrong_with(verdicts: dict[str, Verdict]) -> None:
    assert list(audit.of_case(Row(WRONG, verdicts))) == []


def test_margin_would_be_found() -> None:
    right = Row(ALTERNATIVE, {}, (Deviation(Check("layernorm", "t", 1, "float64", 1e-8), 2e-9),))
    wrong = Row(WRONG, {}, (Deviation(Check("layernorm", "t", 2, "float64", 1e-8, OWN), 5e-8),))
    assert [margin.good for margin in margins.margins([right, wrong])] == [False, True]
    assert margins.unclear([right, wrong]) == [WRONG.name]
    clear = Deviation(Check("layernorm", "t", 3, "float64", 1e-8, OWN), 1e-3)
    assert margins.unclear([replace(wrong, deviations=(*wrong.deviations, clear))]) == []


def names(chosen: Iterator[Case] | list[Case]) -> list[str]:
    return [case.name for case in chosen]


def test_cases_of_one_module_alone() -> None:
    chosen = cases.cases(["causal_mask"])
    assert {case.module for case in chosen} == {"causal_mask", ""}
    assert len(set(names(chosen))) == len(chosen)


def test_a_sample_is_the_same_each_time_and_has_some_of_every_function() -> None:
    every = list(cases.pairs(["layernorm"]))
    chosen = cases.sample(every, 3)
    assert chosen == cases.sample(every, 3)
    assert [case.function for case in chosen] == [f for f in current().modules["layernorm"].functions for _ in range(3)]
