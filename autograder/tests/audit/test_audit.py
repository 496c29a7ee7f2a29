"""The audit: misconceptions are named and cost their criteria; trivial code earns and correct code loses nothing."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
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


def problems(rows: list[Row]) -> list[str]:
    """The problems, except for pairs that reproduce another misconception and get its name (see test_pairs.py)."""
    found = audit.problems(HOMEWORK, rows, complete=False)
    return [problem for problem in found if not (" + " in problem and " is named " in problem)]


DISTANCES, NEAREST, CENTRES = FUNCTIONS = ("squared_distances", "nearest", "new_centres")
ARGUMENTS = {DISTANCES: ("x", "centres"), NEAREST: ("x", "centres"), CENTRES: ("x", "labels", "centres")}
COSTS = {DISTANCES: "example distances", NEAREST: "example nearest", CENTRES: "example means empty"}
MISTAKES = {
    DISTANCES: {"not_squared": "example distances", "city_block": "example distances", "mean": "example distances"},
    NEAREST: {"farthest": "example nearest", "nearest_point": "example nearest", "last": "nearest"},
    CENTRES: {"sum": "example means", "median": "means", "empty_is_zero": "example empty"},
}  # fmt: skip
TRIVIAL = ["zeros", "constant", "always_value_error", "nothing"]


def ids(names: str) -> str:
    return ", ".join(f"kmeans.{name}" for name in names.split())


@pytest.fixture(scope="module")
def homework(tmp_path_factory: pytest.TempPathFactory) -> Homework:
    return Homework(kmeans(tmp_path_factory.mktemp("audit") / "homework"))


def test_all_cases_of_a_homework_are_graded_without_a_problem(homework: Homework) -> None:
    chosen = cases.cases(homework)
    nothings = {
        f"{f}.{name}": COSTS[f] for f in FUNCTIONS for name in (*TRIVIAL, *(f"returns_{a}" for a in ARGUMENTS[f]))
    }
    nothings |= {f"kmeans.*.{name}": "example distances nearest means empty" for name in (*TRIVIAL, "first_argument")}
    mistakes = {f"{f}.{name}": costs for f in FUNCTIONS for name, costs in MISTAKES[f].items()}
    holes = [f"{f}, {how}" for f in FUNCTIONS for how in cases.HOLES]
    names = {"mistake": [*mistakes], "hole": holes, "nothing": [*nothings], "alternative": ["loops"]}
    assert [(case.kind, case.name) for case in chosen] == [(kind, name) for kind in names for name in names[kind]]
    rows = list(audit.run(homework, chosen, 1))
    assert audit.problems(homework, rows) == []
    assert [*audit.table_lines(homework, rows)] == [
        "\nkmeans: misconceptions", *(f"  {name}: named; loses {ids(costs)}" for name, costs in mistakes.items()),
        "\nkmeans: code that computes nothing", *(f"  {name}: {ids(costs)}" for name, costs in nothings.items()),
        "\ncorrect alternatives", "  loops: nothing lost", "\n9 of 9 misconceptions are named correctly.",
    ]  # fmt: skip
    unlost = [row for row in rows if row.case.kind in ("hole", "alternative")]
    criteria = [f"{name}: no misconception costs it" for name in homework.rubric.criteria]
    assert audit.problems(homework, unlost) == criteria
    for row in rows:
        if row.case.kind == "hole":
            assert ", ".join(row.lost) == ids(COSTS[row.case.function])
            assert {*row.absent.values()} <= {row.case.function, ""}


PAIRS = {
    "squared_distances": ["squared_distances.city_block + squared_distances.mean"],
    "nearest": ["nearest.farthest + nearest.nearest_point"],
    "new_centres": [f"new_centres.{name} + new_centres.empty_is_zero" for name in ("sum", "median")],
}


@pytest.mark.parametrize(("only", "number", "functions"), [
    (["kmeans"], 49, FUNCTIONS), (["nearest"], 14, FUNCTIONS[1:2]), (["nearest.last", "new_centres"], 16, FUNCTIONS[2:]),
    (["x"], 0, ()),
])  # fmt: skip
def test_modules_functions_and_misconceptions_can_be_selected(
    homework: Homework, only: list[str], number: int, functions: tuple[str, ...]
) -> None:
    assert len(cases.cases(homework, only)) == number
    assert [case.name for case in cases.pairs(homework, only)] == [name for f in functions for name in PAIRS[f]]


def test_variants_of_a_misconception_are_numbered() -> None:
    names = [
        case.name for case in cases.singles(HOMEWORK, "layernorm") if "layer_norm.eps_hard_coded_outside" in case.name
    ]
    assert names == [f"layer_norm.eps_hard_coded_outside_root ({number} of 3)" for number in (1, 2, 3)]


def test_code_that_computes_nothing_has_the_shape_of_a_result(homework: Homework) -> None:
    x, centres = np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([[0.0, 1.0]], "f")
    found: dict[str, Any] = {}
    for case in cases.nothings(homework, "kmeans"):
        if case.function == DISTANCES:
            exec(case.text, names := dict[str, Any]())
            try:
                found[case.name.partition(".")[2]] = names[DISTANCES](x, centres)
            except ValueError as error:
                found[case.name.partition(".")[2]] = str(error)
    assert found.pop("returns_x") is x and found.pop("returns_centres") is centres
    plain = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in found.items()}
    assert plain == {"zeros": [[0.0], [0.0]], "constant": [[1.0], [1.0]], "always_value_error": "no", "nothing": None}
    exec(cases._TRIVIAL_SOURCE.format(right="", function="f", parameters="x", body="_like({'right': x}, 1)"), names)
    assert names["f"]((True, [2.5, 3], {"q": "a"})) == (True, [1.0, 1], {"q": "1"})
    exec(cases._TRIVIAL_SOURCE.format(right="", function="f", parameters="x", body="_repeated(x, 4)"), names)
    assert (names["f"]((1, 2)), names["f"](1)) == ((4, 4), 4)


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


def test_homework_without_misconceptions_or_alternatives_is_a_problem(tmp_path: Path) -> None:
    homework = Homework(kmeans(tmp_path / "homework"))
    shutil.rmtree(homework.misconceptions / "kmeans")
    one = Row(Case("alternative", "loops"), {})
    assert audit.problems(homework, [one]) == [
        f"kmeans: there are no misconceptions in {homework.misconceptions / 'kmeans'}"
    ]
    assert audit.problems(homework, [one], complete=False) == []
    assert audit.containing(homework, "kmeans") == "1 of 1 alternatives contain kmeans.py"
    (homework.alternatives / "loops" / "kmeans.py").rename(homework.alternatives / "loops" / "another.py")
    said = "0 of 1 alternatives contain kmeans.py: nothing shows that correct code keeps its points there"
    assert audit.containing(homework, "kmeans") == said


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
