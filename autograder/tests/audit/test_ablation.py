"""`autograder audit --ablate`: the effect of switching off a rule on correct modules and their mutants."""

import pytest

from autograder.audit import ablation
from autograder.grading import thresholds
from autograder.homework import reference
from autograder.submissions.submission import Submission

TWO = b"""

def layer_norm(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    var = (centred**2).sum(axis=-1, keepdims=True) / (x.shape[-1] - 1)
    return gamma * centred / (np.sqrt(var) + eps) + beta
"""


def test_every_threshold_is_measured_or_only_limits_time() -> None:
    constants = {name for name in vars(thresholds) if name.isupper()}
    assert constants == {*ablation.NEUTRAL, *ablation.LIMITS}
    assert len(constants) <= 20


@pytest.mark.slow
def test_effect_of_a_rule_is_counted() -> None:
    files = reference.files()
    subject = (Submission("two mistakes", files | {"layernorm.py": files["layernorm.py"] + TWO}), "layernorm")
    pairs, rounding = ablation.run(["MOST_TOGETHER", "SAME_ROUNDING"], [subject], jobs=1)
    assert (pairs.names, pairs.fewer) == (("two mistakes",), ())
    assert not (rounding.more or rounding.fewer or rounding.names or rounding.messages)
    table = list(ablation.lines([pairs], 1))
    assert table[0].startswith("1 modules;") and table[2].split()[:4] == ["MOST_TOGETHER", "0", "0", "1"]


def test_every_rule_can_be_switched_off() -> None:
    for rule in (*ablation.NEUTRAL, *ablation.RULES):
        with ablation.without(rule):
            pass


@pytest.mark.slow
def test_subjects_are_correct_modules_and_mutants() -> None:
    chosen = ablation.subjects(each=20)
    styles = [submission for submission, module in chosen if not module]
    assert len(chosen) == len(styles) + 20 and len(styles) > 10
    assert len({submission.name for submission, _ in chosen}) == len(chosen)
