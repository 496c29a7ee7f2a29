"""`autograder audit`: rows are written, and compared with earlier ones."""

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.audit import audit, cases
from autograder.audit.cases import Case, GradedCall, Row
from autograder.cli.main import main
from autograder.tests.making import graded, made

WRONG = next(case for case in cases.singles("layernorm") if case.name == "layer_norm.sample_variance")
BEFORE = made(WRONG, graded("layernorm.statistics", "mistake", "sample_variance"))
AFTER = made(WRONG, graded("layernorm.statistics", "unexplained"))


def run(monkeypatch: pytest.MonkeyPatch, row: Row, *arguments: str) -> tuple[int, str]:
    """The audit's status and output if this is its only row."""
    monkeypatch.setattr(cases, "cases", lambda only: [WRONG])
    monkeypatch.setattr(audit, "run", lambda chosen, jobs: iter([row]))
    done = CliRunner().invoke(main, ["audit", "--only", "layernorm", *arguments])
    return done.exit_code, done.output


def test_rows_that_differ_from_those_of_a_file_are_printed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = str(tmp_path / "rows.json")
    run(monkeypatch, BEFORE, "--rows", file)
    assert run(monkeypatch, BEFORE, "--against", file) == (0, "No rows differ.\n")
    status, said = run(monkeypatch, AFTER, "--against", file)
    assert status == 1
    assert said.startswith("mistake: layer_norm.sample_variance\n  layernorm.statistics: {")
    assert said.endswith("1 of 1 rows differ.\n")


def test_a_file_without_rows_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    file.write_text("rows", encoding="utf-8")
    status, said = run(monkeypatch, BEFORE, "--against", str(file))
    assert status == 2 and "is not a file written by --rows" in said


def test_one_misconception_can_be_audited_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "run", lambda chosen, jobs: (made(case, *BEFORE.graded.values()) for case in chosen))
    done = CliRunner().invoke(main, ["audit", "--only", "layer_norm.sample_variance"])
    assert "1 of 1 misconceptions are named correctly." in done.output and "alternatives" not in done.output


def test_tolerances_are_those_of_the_chosen_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    def call(module: str) -> GradedCall:
        return GradedCall(module, f"test_{module}", 1, "float64", 1e-8)

    styles = made(Case("alternative", "loops"))
    row = replace(styles, deviations={call("layernorm"): 1e-12, call("decoder"): 1e-12})
    monkeypatch.setattr(cases, "cases", lambda only: [row.case])
    monkeypatch.setattr(audit, "run", lambda chosen, jobs: iter([row]))
    said = CliRunner().invoke(main, ["audit", "--only", "layernorm", "--tolerances"]).output
    assert "test_layernorm #1" in said and "test_decoder" not in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--only", "layer_norm", "--public"), "there is no module 'layer_norm'"),
        (("--only", "layer_norm", "--tolerances"), "there is no module 'layer_norm'; known modules: layernorm"),
        (("--only", "layernorm", "--mutants"), "cannot be combined with --only"),
    ],
)
def test_unusable_selections_are_reported(arguments: tuple[str, ...], said: str) -> None:
    done = CliRunner().invoke(main, ["audit", *arguments])
    assert done.exit_code == 2 and said in done.output
