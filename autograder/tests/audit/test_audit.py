"""The audit: misconceptions are named and cost their criteria; trivial code earns and correct code loses nothing."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.audit import audit, cases
from autograder.audit.cases import Case, GradedCall, Row, differing
from autograder.grading.plan import record
from autograder.grading.scoring import CriterionScore
from autograder.homework.homework import Homework
from autograder.tests.files import HOMEWORK, KMEANS, kmeans
from autograder.tests.making import graded, made, sample
from autograder.tests.running import the_plan

MODULES = [name for name in HOMEWORK.rubric.modules if HOMEWORK.of_module(name)]


def singles() -> list[Case]:
    """Every misconception, in its first variant."""
    return [case for module in MODULES for case in cases.singles(HOMEWORK, module) if case.misconceptions[0].way == 0]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """One misconception for each criterion of the first module, graded in the sandbox like a student's upload."""
    some = [case for case in singles() if case.module == MODULES[0]]
    chosen = {name: case for case in some for name in case.misconceptions[0].criteria}.values()
    # A second process would run all library versions again.
    return list(cases.each(HOMEWORK, audit.graded, dict.fromkeys(chosen), 1, sandbox=True))


def problems(rows: list[Row]) -> list[str]:
    """The problems, except for pairs that reproduce another misconception and get its name (see test_pairs.py)."""
    found = audit.problems(HOMEWORK, rows, complete=False)
    return [problem for problem in found if not (" + " in problem and " is named " in problem)]


def test_single_misconception_is_named_and_costs_its_criterion(rows: list[Row]) -> None:
    assert len(rows) >= 8 and problems(rows) == []
    assert {c.id for c in HOMEWORK.rubric.of(MODULES[0])} <= {name for row in rows for name in row.lost}
    assert [row.case.name for row in rows if not row.case.ids & row.named] == []


GROUPS: dict[str, Callable[[], list[Case]]] = {
    "every misconception": singles,
    "unimplemented functions": lambda: [case for module in MODULES for case in cases.holes(HOMEWORK, module)],
    "modules that compute nothing": lambda: [
        case for module in MODULES for case in cases.nothings(HOMEWORK, module) if not case.function
    ][::5],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", GROUPS)
def test_wrong_code_costs_its_criteria_in_the_sandbox(name: str) -> None:
    rows = list(cases.each(HOMEWORK, audit.graded, GROUPS[name](), 2, sandbox=True))
    assert rows and problems(rows) == []


@pytest.mark.slow
def test_both_misconceptions_of_a_pair_are_named() -> None:
    """Two pairs per function, without those that one of the two masks. In some, one changes nothing that the other leaves."""
    in_process = cases.InProcess(the_plan())
    rows = cases.each(HOMEWORK, audit.graded, sample(list(cases.pairs(HOMEWORK)), 2), 2, sandbox=True)
    both = [row for row in rows if audit.pair_verdict(in_process, row).what != "masked"]
    assert problems(both) == []
    unnamed = [row.case.name for row in both if not row.case.ids <= row.named]
    assert len(unnamed) <= 0.15 * len(both), unnamed


def test_each_module_has_at_least_six_alternatives() -> None:
    for module in MODULES:
        assert len(list(HOMEWORK.alternatives.glob(f"*/{module}.py"))) >= 6


# Problems that the audit detects

WRONG = next(case for case in cases.singles(HOMEWORK, "layernorm") if case.name == "layer_norm.sample_variance")
NOTHING = next(case for case in cases.nothings(HOMEWORK, "layernorm") if case.name == "layer_norm.zeros")
HOLE = next(case for case in cases.holes(HOMEWORK, "layernorm") if case.function == "layer_norm")
ALTERNATIVE = Case("alternative", "loops")
OWN, OTHER = "layernorm.statistics", "layernorm.affine"
NAMED = graded(OWN, "mistake", "sample_variance")
ALIKE = ("sample_variance", "no_root")


@pytest.mark.parametrize(("row", "said"), [
    (made(WRONG), "keeps full marks"),
    (made(WRONG, graded(OTHER, "mistake", "sample_variance")), f"keeps {OWN}, the criterion it should cost"),
    (made(WRONG, NAMED, graded(OTHER, "mistake", "sample_variance")), f"loses {OTHER} as well"),
    (made(WRONG, graded(OWN, "mistake", "eps_missing")), "is named layer_norm.eps_missing"),
    (made(WRONG, graded(OWN, "unexplained")), "is not named"),
    (made(WRONG, graded(OWN, "mistake", undecided=ALIKE)),
     "cannot be distinguished from layer_norm.no_root, and shares no sentence with them"),
    (made(WRONG, NAMED, graded("integration.norms", "unexplained")), "loses integration.norms as well"),
    (made(WRONG, NAMED, graded("scaled_attention.softmax", "unexplained")), "loses scaled_attention.softmax as well"),
    (made(NOTHING, NAMED), f"keeps {OTHER}, although it computes nothing"),
    (replace(made(NOTHING, NAMED), causes={"integration.norms": ("layernorm", "decoder")}),
     "integration.norms reports that decoder.py earns nothing"),
    (made(HOLE, NAMED), f"keeps {OTHER}, although the function is missing"),
    (replace(made(HOLE, NAMED), absent={OWN: "rms_norm"}), "reports rms_norm as missing or not written"),
    (made(ALTERNATIVE, NAMED), f"the correct alternative loops loses {OWN}"),
    (made(ALTERNATIVE), "layernorm.rms: no misconception costs it"),
    (made(WRONG, NAMED), "there are no correct alternatives"),
])  # fmt: skip
def test_audit_detects_the_problem(row: Row, said: str) -> None:
    assert any(said in problem for problem in audit.problems(HOMEWORK, [row]))


@pytest.mark.parametrize(("body", "said"), [
    ("return centres[:, 0]", "expected: [[ 1.], [18.]], returned: [0.]"),
    ("raise TypeError('no')", "It raised TypeError"),
])  # fmt: skip
def test_wrong_alternative_is_reported_with_its_line_and_first_failing_call(
    tmp_path: Path, body: str, said: str
) -> None:
    homework = Homework(kmeans(tmp_path / "homework"))
    path = homework.alternatives / "loops" / "kmeans.py"
    text = homework.files["kmeans.py"].decode()
    path.write_text(f"{text}def squared_distances(x, centres):\n    {body}\n")
    grader = cases.InProcess(record(homework))
    row = cases.row_of(ALTERNATIVE, grader.grade(cases.submission(homework, ALTERNATIVE), ("kmeans",)))
    line = len(text.splitlines()) + 1
    call = "squared_distances(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 1.0]]))"
    start = f"the correct alternative loops loses kmeans.example: {path}:{line}: {call}: {said}"
    assert next(audit.of_case(homework, row)).startswith(start)


ONE, ANOTHER = graded(OWN, "mistake", undecided=ALIKE).undecided
SHARING = replace(graded(OWN, "mistake"), undecided=(ONE, replace(ANOTHER, right=ONE.right)))


@pytest.mark.parametrize("scores", [
    (NAMED,),
    (NAMED, graded("layernorm.purity", "too_few")),
    (NAMED, graded("layernorm.example", "mistake", "sample_variance")),
    (SHARING,),
])  # fmt: skip
def test_audit_accepts_the_scores(scores: tuple[CriterionScore, ...]) -> None:
    assert list(audit.of_case(HOMEWORK, made(WRONG, *scores))) == []


def test_small_margins_are_detected() -> None:
    close, far = GradedCall("layernorm", "t", 1, "float64", 1e-8), GradedCall("layernorm", "t", 2, "float64", 1e-8, OWN)
    right = Row(ALTERNATIVE, {}, deviations={close: 2e-9})
    wrong = Row(WRONG, {}, deviations={far: 5e-8})
    assert audit.too_close(audit.margins([right, wrong])) == [close]
    assert audit.unclear([right, wrong]) == [WRONG.name]
    clear = {replace(far, number=3): 1e-3}
    assert audit.unclear([replace(wrong, deviations=wrong.deviations | clear)]) == []


def test_only_changed_rows_are_reported() -> None:
    before = made(WRONG, NAMED, graded(OTHER, "unexplained", "sample_variance"))
    kept = json.loads(json.dumps({row.name: row.plain for row in (before, made(ALTERNATIVE))}))
    assert list(differing([before, made(ALTERNATIVE)], kept)) == []
    [said] = differing([made(WRONG, graded(OWN, "unexplained")), made(ALTERNATIVE)], kept)
    assert said.startswith("mistake: layer_norm.sample_variance\n")
    assert 'layernorm.affine: {"earned": false, "why": "unexplained"' in said and said.count("\n") == 2
    assert '-> "right"' in said and '"why": "unexplained"' in said
    assert list(differing([made(NOTHING)], kept)) == ["nothing: layer_norm.zeros: a new case"]


@pytest.mark.parametrize(("row", "said"), [
    (made(WRONG, NAMED, graded("layernorm.purity", "too_few")),
     "layer_norm.sample_variance: named; loses layernorm.statistics, layernorm.purity"),
    (made(WRONG, graded(OWN, "mistake", undecided=ALIKE)),
     "layer_norm.sample_variance: not named, may be layer_norm.no_root; loses layernorm.statistics"),
    (made(WRONG, graded(OTHER, "elsewhere")), "layer_norm.sample_variance: not named; loses nothing"),
    (made(ALTERNATIVE), "loops: nothing lost"),
])  # fmt: skip
def test_report_has_a_line_for_each_case(row: Row, said: str) -> None:
    assert f"  {said}" in audit.table_lines(HOMEWORK, [row])


@pytest.mark.parametrize(("text", "lacking"), [
    ("pi = 3\n", ["squared_distances", "nearest", "new_centres"]),
    ("def nearest(\n", []),
    ("from other import *\n", []),
    ("from other import near as nearest\nsquared_distances = new_centres = print\n", []),
    ("class A:\n    def nearest(self): ...\n\n\ndef new_centres():\n    squared_distances = 1\n", ["squared_distances", "nearest"]),
])  # fmt: skip
def test_function_that_an_alternative_lacks_is_the_references(tmp_path: Path, text: str, lacking: list[str]) -> None:
    homework = Homework(shutil.copytree(KMEANS, tmp_path, dirs_exist_ok=True))
    (homework.alternatives / "loops" / "kmeans.py").write_text(text)
    files = cases.submission(homework, cases.Case("alternative", "loops")).files
    [added] = [
        line for line in files["kmeans.py"].decode().splitlines() if "import" in line and "other" not in line
    ] or [""]
    assert added == (f"from reference_kmeans import {', '.join(lacking)}" if lacking else "")
    assert files.get("reference_kmeans.py") == (homework.files["kmeans.py"] if lacking else None)
    assert audit.containing(homework, "kmeans").endswith("the reference is used") == bool(lacking)
