"""`autograder.benchmarks.ablation`: the effect of switching off a rule."""

from pathlib import Path

import pytest

from autograder.benchmarks import ablation
from autograder.grading import thresholds
from autograder.submissions.submission import Submission
from autograder.tests.files import HOMEWORK, put

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
    files = HOMEWORK.files
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


def test_subjects_are_solutions_in_other_styles_and_the_modules_of_folders(tmp_path: Path) -> None:
    put(tmp_path, {"layernorm/one.py": "x = 1\n", "notes/two.py": "x = 2\n"})
    *styles, (submission, module) = ablation.subjects([tmp_path])
    assert len(styles) > 10 and not any(name for _, name in styles)
    assert module == "layernorm" and submission.files["layernorm.py"] == b"x = 1\n"
    assert submission.files["decoder.py"] == HOMEWORK.files["decoder.py"]
