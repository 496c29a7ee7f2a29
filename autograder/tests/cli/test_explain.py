"""`autograder explain`: the calls, the diagnosis and the rule behind a criterion, each with file and line."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from autograder.cli.main import main
from autograder.homework import reference


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of two students; one divides by d - 1."""
    place = tmp_path_factory.mktemp("explain")
    files = reference.files()
    double = files["layernorm.py"] + b"\n\n_right = layer_norm\ndef layer_norm(x, gamma, beta, eps=1e-5):\n"
    double += (
        b"    return gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, ddof=1, keepdims=True) + eps) + beta\n"
    )
    for student, text in (("ada", files["layernorm.py"]), ("bela", double)):
        folder = place / "class" / student
        folder.mkdir(parents=True)
        (folder / "layernorm.py").write_bytes(text)
    assert run("grade", str(place / "class"), "-o", str(place / "out"), "--jobs", "1").exit_code == 0
    return place / "out"


def test_a_lost_criterion_is_explained(graded: Path) -> None:
    said = run("explain", str(graded / "results" / "bela.json"), "layernorm.statistics")
    assert said.exit_code == 0
    head, calls, diagnosis, rule = said.output.split("\n\n")
    assert head.startswith("layernorm.statistics: 0 of 3 points (rubric.yaml:")
    assert "(autograder/homework/suites/test_layernorm.py:" in calls and "FAILS  layer_norm(float64 (" in calls
    assert "layer_norm.sample_variance (autograder/homework/misconceptions/layernorm/layer_norm.py:" in diagnosis
    assert "it reproduces all" in diagnosis
    assert "rules 1 and 2" in rule and "autograder/grading/scoring.py:" in rule


@pytest.mark.slow
def test_an_earned_criterion_is_explained(graded: Path) -> None:
    said = run("explain", str(graded / "results" / "bela.json"), "layernorm.affine")
    assert "costs layernorm.statistics" in said.output and "(rule 1)" in said.output
    assert "every call passes" in run("explain", str(graded / "results" / "ada.json"), "layernorm.rms").output


@pytest.mark.parametrize(
    ("criterion", "said"),
    [("layernorm.statistic", "known: layernorm.statistics"), ("nothing", "there is no criterion 'nothing'")],
)
def test_an_unknown_criterion_is_one_line(graded: Path, criterion: str, said: str) -> None:
    result = run("explain", str(graded / "results" / "ada.json"), criterion)
    assert result.exit_code == 2 and said in result.output


@pytest.mark.slow
def test_a_submission_that_changed_or_is_gone_is_reported(graded: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(graded, out)
    place = graded.parent / "class" / "ada"
    (place / "extra.py").write_text("1\n")
    try:
        changed = run("explain", str(out / "results" / "ada.json"), "layernorm.rms")
        assert "note: the submission has changed since it was graded" in changed.output
    finally:
        (place / "extra.py").unlink()
    (out / "results" / "gone.json").write_text("{}")
    gone = run("explain", str(out / "results" / "gone.json"), "layernorm.rms")
    assert gone.exit_code == 2 and "gone: not among the submissions of this run any more" in gone.output
