"""Mutants are generated for every graded function, and the recorded equivalent mutants match the current references."""

from pathlib import Path

import pytest
import yaml

from autograder.audit.cases import Case
from autograder.audit.mutants import equivalent, mutants, named, report
from autograder.homework.homework import Homework
from autograder.tests.files import HOMEWORK, kmeans


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


SUM = "return ((x[:, np.newaxis, :] - centres) ** 2).sum(axis={})"
SUMS = [named("squared_distances", SUM.format(-1), SUM.format(axis)) for axis in (0, 1, 2)]


@pytest.mark.parametrize(("recorded", "said"), [
    ("", [f"PROBLEM survives: {SUMS[2]}", "3 mutants, 2 killed, 0 recorded as equivalent."]),
    ("[2]", ["3 mutants, 2 killed, 1 recorded as equivalent."]),
    ("[1, 2]", [f"PROBLEM recorded as equivalent, but loses a criterion: {SUMS[1]}",
                "3 mutants, 2 killed, 2 recorded as equivalent."]),
    ("1", [f"PROBLEM recorded as equivalent, but loses a criterion: {SUMS[1]}", f"PROBLEM survives: {SUMS[2]}",
           "3 mutants, 2 killed, 1 recorded as equivalent."]),
])  # fmt: skip
def test_unrecorded_survivors_and_detected_equivalents_are_problems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], recorded: str, said: list[str]
) -> None:
    homework = Homework(kmeans(tmp_path / "homework"))
    some = [mutant for mutant in mutants(homework, "kmeans") if mutant.name in SUMS]
    monkeypatch.setattr("autograder.audit.mutants.mutants", lambda *_: some)
    if recorded:
        axes = yaml.safe_load(recorded)
        after = [SUM.format(axis) for axis in axes] if isinstance(axes, list) else SUM.format(axes)
        entry = {"before": SUM.format(-1), "after": after, "why": "the same axis"}
        text = yaml.safe_dump({"squared_distances": [entry]})
        (homework.suites / "equivalent_mutants.yaml").write_text(text)
    assert report(homework, 1) == (len(said) > 1) and capsys.readouterr().out.splitlines() == said
