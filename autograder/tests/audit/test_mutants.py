"""Mutants are generated for every graded function, and the recorded equivalent mutants match the current references."""

import pytest

from autograder.audit.cases import Case
from autograder.audit.mutants import equivalent, mutants, named, problems
from autograder.tests.files import HOMEWORK


@pytest.fixture(scope="module")
def everything() -> list[Case]:
    return [mutant for module in HOMEWORK.rubric.modules for mutant in mutants(HOMEWORK, module)]


@pytest.mark.parametrize(("function", "before", "after"), [
    ("rms_norm", "def rms_norm(x, gamma, eps=1e-06):", "def rms_norm(x, gamma, eps=1e-05):"),
    ("embed", "return table[tokens]", "return tokens[tokens]"),
    ("padding_mask", "raise ValueError(f'every length must lie between 0 and {t}')", "pass"),
    ("residual", "return x + sublayer(x)", "return sublayer(x)"),
    ("transformer_stack", "orders = {'pre': pre_norm_block, 'post': post_norm_block}", "pass"),
    ("merge_heads", "*leading, n_heads, t, d_head = x.shape", "*leading, t, n_heads, d_head = x.shape"),
    ("is_autoregressive", "return not np.triu(dependency_matrix(f, x), k=1).any()", "return None"),
    ("generate", "if next_token == eos:", "if True:"),
])  # fmt: skip
def test_mutants_of_many_kinds_are_generated(everything: list[Case], function: str, before: str, after: str) -> None:
    assert named(function, before, after) in {mutant.name for mutant in everything}


def test_every_graded_function_is_mutated(everything: list[Case]) -> None:
    graded = {function for criterion in HOMEWORK.rubric.criteria.values() for function in criterion.grades}
    assert {mutant.function for mutant in everything} == graded


def test_recorded_equivalent_mutants_exist(everything: list[Case]) -> None:
    gone = equivalent(HOMEWORK).keys() - {mutant.name for mutant in everything}
    assert not gone, "the reference has changed: look at these entries of equivalent_mutants.yaml again"
    assert all(reason.strip() for reason in equivalent(HOMEWORK).values())


def test_unrecorded_survivors_and_detected_equivalents_are_problems(everything: list[Case]) -> None:
    known = next(mutant for mutant in everything if mutant.name in equivalent(HOMEWORK))
    other = next(mutant for mutant in everything if mutant.name not in equivalent(HOMEWORK))
    assert problems(HOMEWORK, [(known, frozenset()), (other, frozenset({1}))]) == []
    assert [line.partition(":")[0] for line in problems(HOMEWORK, [(known, frozenset({1})), (other, frozenset())])] == [
        "recorded as equivalent, but loses a criterion",
        "survives",
    ]
