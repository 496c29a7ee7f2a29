"""`autograder grade` and the commands that read its output. The commands of the how-to guides are run as written."""

import contextlib
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from autograder.cli import explain
from autograder.cli.main import main
from autograder.exceptions import ArgumentsError
from autograder.gradebook import pool, sample
from autograder.gradebook.batch import Run
from autograder.gradebook.similar import Pair
from autograder.gradebook.store import Outcome
from autograder.grading.scoring import CriterionScore
from autograder.grading.student_tests import FunctionTests
from autograder.homework.homework import PACKAGE
from autograder.sandbox import layers
from autograder.shared.compare import Failure
from autograder.submissions.exports import listing
from autograder.submissions.submission import Student, Submission, load
from autograder.tests.files import HOMEWORK, put, table_of
from autograder.tests.forked import python
from autograder.tests.making import document, grade_of_points, known, misconception, raised, run


def command(*arguments: object) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)])


# The how-to guides on late work, adjusted grades and similar code

HOW_TO = PACKAGE / "docs" / "how-to"
PAGES = [HOW_TO / f"{name}.md" for name in ("late-work", "adjust-grades", "find-similar")]
METADATA = """\
submission_1:
  :submitters: [{":name": Ada A, ":sid": "3000001", ":email": ada@example.org}]
  :created_at: 2026-11-21 10:00:00 +01:00
submission_2:
  :submitters: [{":name": Bela B, ":sid": "3000002", ":email": bela@example.org}]
  :created_at: 2026-11-22 10:00:00 +01:00
submission_3:
  :submitters: [{":name": Zoe Z, ":sid": "9", ":email": zoe@example.org}]
  :created_at: 2026-11-20 10:00:00 +01:00
"""


def code_blocks(language: str) -> list[str]:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def guide_results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results folder after following every instruction in the guides."""
    root = tmp_path_factory.mktemp("term") / "kit"
    skipped = shutil.ignore_patterns("__pycache__", "tests", "docs", ".*")
    for part in ("autograder", "solutions"):
        shutil.copytree(HOMEWORK.folder / part, root / part, ignore=skipped)
    shutil.copy(HOMEWORK.folder / "pyproject.toml", root)
    rules = yaml.safe_load(HOMEWORK.rubric_file.read_text(encoding="utf-8"))
    late, dropped = (yaml.safe_load(text) for text in code_blocks("yaml"))
    first = next(iter(rules["modules"].values()))["criteria"]
    first[next(iter(first))].update(dropped)
    (root / "rubric.yaml").write_text(yaml.safe_dump(rules | late, sort_keys=False), encoding="utf-8")
    names = ("roster.csv", "late-days.csv", "overrides.csv", "withheld.csv", "comments.csv")
    put(root, dict(zip(names, code_blocks("csv"), strict=True)))
    export = {"assignment_5_export/submission_metadata.yml": METADATA}
    for number in (1, 2, 3):
        for name, text in sample.references(HOMEWORK).items():
            export[f"assignment_5_export/submission_{number}/{name}"] = f"{text}\n# {number}\n"
    put(root / "export.zip", export)
    for line in code_blocks("sh"):
        words = line.split()
        assert words[0] == "autograder"
        done = python(root, "-m", *words)
        assert done.returncode == 0, done.stderr
    return root / "results"


@pytest.mark.slow
def test_tables_include_late_work_overrides_and_missing_students(guide_results: Path) -> None:
    found = table_of(guide_results / "grades.csv", "Student")
    first = next(iter(HOMEWORK.rubric.criteria.values()))
    most = HOMEWORK.rubric.points - first.points
    assert {name: row["Status"] for name, row in found.items()} == {
        "Ada Abel": "Graded", "Bela Brandt": "Graded", "Zoe Z": "Graded", "Chidi Costa": "Missing",
    }  # fmt: skip
    ada, bela, zoe = found["Ada Abel"], found["Bela Brandt"], found["Zoe Z"]
    assert float(ada["Total Score"]) == 90
    assert "oral exam" in ada["Remark"]
    assert float(bela["Raw Score"]) == float(bela["Max Points"]) == most
    assert float(bela["Total Score"]) == pytest.approx(most * 0.8)
    assert (zoe["Late"], float(zoe["Total Score"]), zoe["Section"]) == ("", most, "")
    assert bela["Section"] == "Tuesday"
    assert first.id not in bela
    found = table_of(guide_results / "canvas.csv", "Student")
    assert set(found) == {"Ada Abel", "Bela Brandt", "Zoe Z"}
    assert float(found["Ada Abel"][f"{HOMEWORK.rubric.title} (77)"]) == 90


@pytest.mark.slow
def test_run_writes_student_pages_an_anonymous_report_and_similar_pairs(guide_results: Path) -> None:
    pages = {f"submission_{number}.html" for number in (1, 2, 3)}
    assert {path.name for path in (guide_results / "feedback").iterdir()} == pages
    page = (guide_results / "feedback" / "submission_2.html").read_text(encoding="utf-8")
    assert "For Bela Brandt" in page
    assert "This criterion does not count: the sheet named the wrong axis" in page
    assert "Bela" not in (guide_results / "report-anonymous.html").read_text(encoding="utf-8")
    page = (guide_results / "similar.html").read_text(encoding="utf-8")
    assert page.count("<summary>") == 3
    assert "<bdi>Ada Abel</bdi> and <bdi>Bela Brandt</bdi>" in page


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder of a run with two students, one of whom divides by d - 1."""
    place = tmp_path_factory.mktemp("explain")
    files = HOMEWORK.files
    double = files["layernorm.py"] + b"\n\n_right = layer_norm\ndef layer_norm(x, gamma, beta, eps=1e-5):\n"
    double += b"    scale = gamma / np.sqrt(x.var(-1, ddof=1, keepdims=True) + eps)\n"
    double += b"    return scale * (x - x.mean(-1, keepdims=True)) + beta\n"
    put(place / "class", {"ada/layernorm.py": files["layernorm.py"], "bela/layernorm.py": double})
    assert command("grade", place / "class", "-o", place / "out", "--jobs", "1").exit_code == 0
    return place / "out"


def test_explain_lost_criterion(graded: Path) -> None:
    said = command("explain", graded / "results/bela.json", "layernorm.statistics")
    assert said.exit_code == 0
    head, calls, diagnosis, rule = said.output.split("\n\n")
    points = HOMEWORK.rubric.criteria["layernorm.statistics"].points
    assert head.startswith(f"layernorm.statistics: 0 of {points:g} points (rubric.yaml:")
    assert head.endswith("\n  points of all criteria: 16 with `charge: mistakes` and 9 with `charge: criteria`")
    assert "(autograder/homework/suites/test_layernorm.py:" in calls and "FAILS  layer_norm(float64 (" in calls
    assert "shape (20, 70)\n           Every entry is multiplied by the same factor, 0.992831." in calls
    assert "layer_norm.sample_variance (autograder/homework/misconceptions/layernorm/layer_norm.py:" in diagnosis
    assert "it reproduces all" in diagnosis
    assert "rules 1 and 2" in rule and "autograder/grading/scoring.py:" in rule


def test_explain_reports_changed_missing_and_damaged_results(graded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also that the kit has changed since then. The submission is graded as it was, if it has not changed."""
    graded_files = list[set[str]]()

    class Opened(contextlib.nullcontext[None]):
        def __enter__(self) -> Any:
            return self

        def grade(self, submission: Submission) -> None:
            graded_files.append({*submission.files})
            raise ArgumentsError("graded")

    monkeypatch.setattr("autograder.cli.explain.open_grader", lambda _: Opened())
    run, name = shutil.copytree(graded, graded.parent / "again"), "layernorm.rms"
    path, copy = run / "results/ada.json", graded.parent / "class/ada/layernorm (1).py"
    document = json.loads(path.read_text())
    said = [command("explain", path, name).stderr]
    path.write_text(json.dumps(document | {"extra_data": document["extra_data"] | {"kit": "another"}}))
    said += [command("explain", path, name).stderr]
    put(copy.parent, {copy.name: "x = 1\n"})
    said += [command("explain", path, name).stderr]
    for text in ("[]", "{", '{"extra_data": 1}'):
        path.write_text(text)
        said += [command("explain", path, name).stderr]
    copy.replace(copy.with_name("layernorm.py")).rename(copy)
    accepted = load(listing([copy.parents[1]], HOMEWORK.rubric).entries[0], HOMEWORK.rubric, accept_names=True)
    data = document["extra_data"] | {"submission": pool.submission_digest(accepted)}
    path.write_text(json.dumps(document | {"extra_data": data}))
    said += [command("explain", path, name).stderr]
    said += [command("explain", path.rename(path.with_stem("gone")), name).stderr]
    copy.unlink()
    put(copy.parent, {"layernorm.py": HOMEWORK.files["layernorm.py"]})
    notes = (
        "note: the submission has changed since it was graded\n",
        ("note: the kit has changed since then; this output is from the current kit\n"),
    )
    assert said == [
        "autograder: graded\n", f"{notes[1]}autograder: graded\n", f"{notes[0]}{notes[1]}autograder: graded\n",
        *[f"autograder: {path}: not a result of this kit\n"] * 3, "autograder: graded\n",
        f"autograder: gone: not among the submissions of this run any more; see {run / 'run.json'}\n",
    ]  # fmt: skip
    assert graded_files == [
        {"layernorm.py"},
        {"layernorm.py"},
        {"layernorm.py", copy.name},
        {"layernorm.py", copy.name},
    ]


VARIANCE, EPS = map(known, ("sample_variance", "eps_missing"))
OBSERVED = misconception("layer_norm", "changes_x", does="It changes x.", right="Copy it.", known=False)
EDIT = misconception("layer_norm", "edit", does="An edit.", right="", known=False)
WRONG = [replace(raised("layer_norm", "ValueError"), failure=failure) for failure in (Failure("value"), None)]
FILE = "autograder/homework/misconceptions/layernorm/layer_norm.py"
ROWS = (HOMEWORK.folder / FILE).read_text(encoding="utf-8").splitlines()
LINES = {one: next(at for at, row in enumerate(ROWS, 1) if f'"{one.name}"' in row) for one in (VARIANCE, EPS)}
NAMED = [f"{one.id} ({FILE}:{line}): {one.does}" for one, line in LINES.items()]


@pytest.mark.parametrize(("values", "lines"), [
    ({"misconceptions": (VARIANCE,)}, [NAMED[0], "  it reproduces all 2 results of layer_norm, 1 of them wrong"]),
    ({"misconceptions": (VARIANCE, EPS)}, [line for name in NAMED for line in (
        name, "  with the other mistakes named, it reproduces all 2 results of layer_norm, 1 of them wrong")]),
    ({"misconceptions": (VARIANCE,), "at_least": True, "charged": ("a.b", "a.c")},
     [NAMED[0], "  it explains some of the 1 wrong results of layer_norm", "costs a.b, a.c"]),
    ({"misconceptions": (OBSERVED, EDIT)}, ["observed: It changes x.",
     "edit in layernorm.py: a single edit of layer_norm makes every call pass"]),
    ({"undecided": (VARIANCE, EPS)}, ["these misconceptions give the same result in every call, so none is named: "
     "layer_norm.sample_variance, layer_norm.eps_missing"]),
    ({"blamed": ("softmax", "layer_norm")}, ["tested with a correct softmax, layer_norm in place of the student's",
     "none: no call fails in a way that counts for this criterion"]),
    ({"call_result": WRONG[0]}, ["none: no misconception and no single edit explains the calls"]),
    ({"tests": FunctionTests("layer_norm", detected=2, total=3)}, ["the tests of layer_norm detect 2 of 3"]),
    ({"tests": FunctionTests("layer_norm", "few")}, ["few"]),
])  # fmt: skip
def test_explain_describes_the_diagnosis(values: dict[str, Any], lines: list[str]) -> None:
    score = CriterionScore(HOMEWORK.rubric.criteria["layernorm.statistics"], "mistake", **values)
    assert list(explain._diagnosis(HOMEWORK, score, WRONG)) == lines


@pytest.mark.parametrize(
    ("criterion", "said"),
    [
        ("statistics", "known: layernorm.statistics\n"),
        ("layernorm.nothing", "known: layernorm.example, layernorm.statistics, "),
        ("nothing", "there is no criterion 'nothing'; known: layernorm.<name>, batchnorm_comparison.<name>, "),
    ],
)
def test_explain_unknown_criterion_is_a_one_line_error(graded: Path, criterion: str, said: str) -> None:
    result = command("explain", graded / "results/ada.json", criterion)
    assert result.exit_code == 2 and said in result.output


def test_compare_prints_all_tables_and_counts_the_rows_that_it_leaves_out(tmp_path: Path) -> None:
    """A student with the same total is only in the page and the CSV file."""
    ada = {"old": document(a=(1, 1), b=(0, 1)), "new": document(a=(0, 1), b=(1, 1), c=(0, 2))}
    for folder, score, others in ("old", 1, 33), ("new", 0, 34):
        documents = {f"s{number:02d}": document(a=(score, 1), b=(1, 1)) for number in range(others)}
        run(tmp_path / folder, [], ada=ada[folder], **documents)
    done = command("compare", tmp_path / "old", tmp_path / "new")
    end = f"Full comparison: {tmp_path / 'new' / 'compare.html'} and compare.csv"
    assert done.exit_code == 0 and [" ".join(line.split()) for line in done.stdout.splitlines()] == [
        "Students in both runs: 34; 34 differ, 33 in their total.", "", "Criteria", "Criterion gain lose points",
        "a 0 34 1", "b 1 0 1", "c 0 0 none -> 2", "", "Students whose total differs", "Submission Student old new change by",
        *(f"s{number:02d} =s{number:02d} 2 1 -1 a -1" for number in range(30)), "and 3 more", "",
        "Only in the second: s33", "", end,
    ]  # fmt: skip
    ada_of = partial(Outcome, "s", Student("Ada"))
    run(tmp_path / "then", [ada_of(3.0)], s=document(a=(3, 3)))
    run(tmp_path / "now", [ada_of(None, ("ill",), (("a", 2.5),))], s=document(a=(3, 4)))
    lines = [
        " ".join(line.split()) for line in command("compare", tmp_path / "then", tmp_path / "now").stdout.splitlines()
    ]
    assert lines[2:-2] == [
        "Criteria", "Criterion gain lose points", "a 0 0 3 -> 4", "", "Students whose total differs",
        "Submission Student old new change by", "s Ada 3 no score -3 -3 (was: nothing; now: ill)", "",
        "Points set manually, although the criterion is worth more or less now", "Student Criterion set to old points new points",
        "Ada a 2.5 3 4",
    ]  # fmt: skip


def test_names_cannot_inject_terminal_escapes_or_markup(tmp_path: Path) -> None:
    names = "[bold]\x1b]0;owned\x07\u202eevil", "b" * 150
    for folder, total in ("old", 1.0), ("new", 0.0):
        outcomes = [Outcome(key, Student(name), total) for key, name in zip("ab", names, strict=True)]
        run(tmp_path / folder, [*outcomes, Outcome("", Student(folder + names[0]), None)], a=document(a=(total, 1)))
    lines = command("compare", tmp_path / "old", tmp_path / "new").stdout.splitlines()
    assert [sum(name in line for line in lines) for name in ("[bold]?]0;owned??evil", names[1])] == [3, 1]
    assert all(line.isprintable() and not line.endswith(" ") for line in lines)


@pytest.mark.parametrize("name", ["compare", "similar"])
def test_folder_without_a_run_is_a_one_line_error(tmp_path: Path, name: str) -> None:
    real = run(tmp_path / "real", ada=document(a=(1, 1)))
    (tmp_path / "other").mkdir()
    shutil.copy(real / "results" / "ada.json", tmp_path / "other")
    places = [real] if name == "compare" else []
    done = command(name, *places, tmp_path / "other")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "other: not a run: it has no run.json; give the OUT of `autograder grade" in done.stderr


# Commands with their parts replaced


def grade(tmp_path: Path, graded: Callable[..., Run], *more: str, size: int = 2) -> Result:
    """Grade a class, with a replacement for its grading."""
    put(tmp_path / "class", {f"s{number:02d}/layernorm.py": "" for number in range(size)})
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("autograder.gradebook.batch.grade_class", graded)
        return command("grade", tmp_path / "class", "-o", tmp_path / "out", *more)


def test_grade_prints_scores_notes_and_errors(tmp_path: Path) -> None:
    grades = {"s00": grade_of_points("s00", 10)}
    run = Run("kit", tuple(layers.NAMES), grades, {"s01": "the machine\x1b"}, 1, "the disk is full")
    done, out = grade(tmp_path, lambda *_: run), tmp_path / "out"
    assert done.exit_code == 1
    assert [" ".join(line.split()) for line in done.stdout.splitlines()] == [
        "Student Submission Score", "s00 s00 10 of 10", "s01 s01 grader error",
        f"1 graded (1 unchanged since an earlier run), median 10 of 10; see {out / 'report.html'}",
    ]  # fmt: skip
    assert done.stderr.splitlines() == [
        f"{tmp_path / 'class'}: a folder of 2 submissions", "ERROR s01: the machine?",
        "autograder: stopped: the disk is full. Fix the cause and run the same command again.",
    ]  # fmt: skip
    put(out, {f"results/old{number}.json": "{}" for number in range(7)})
    run = replace(
        run, layers=(), errors={f"s{at:02d}": f"why {max(at, 2)}" for at in range(43)}, stopped="", unchanged=0
    )
    done = grade(tmp_path, lambda *_: run, "--classroom50", size=43)
    median = f"1 graded, median 10 of 10; see {out / 'report.html'}\n"
    assert (done.exit_code, done.stdout) == (1, median)
    why = "no grade, no clone of a repository, or no .classroom50.yaml with a classroom and an assignment"
    assert done.stderr.splitlines() == [
        f"{tmp_path / 'class'}: a folder of 43 submissions",
        f"note: {out / 'results'} also has 7 results from other runs, which are not in grades.csv: old0, old1, old2, old3, old4 "
        "and 2 more",
        f"note: the sandbox lacks {', '.join(layers.NAMES)}; `autograder doctor` shows why; "
        "autograder/docs/container/Dockerfile provides all layers",
        f"note: no result.json for {', '.join(f's{at:02d}' for at in range(43))}: {why}",
        "ERROR s00 and 2 more: why 2", *(f"ERROR s{at:02d}: why {at}" for at in range(3, 42)),
        "ERROR and 1 other reasons; the report lists them",
    ]  # fmt: skip
    run = replace(run, layers=tuple(layers.NAMES), errors={})
    shutil.rmtree(out)
    assert grade(tmp_path, lambda *_: run, "--quiet", size=43).output == ""


def test_interrupted_run_says_how_to_continue(tmp_path: Path) -> None:
    def interrupted(*_: object) -> Run:
        raise KeyboardInterrupt

    done = grade(tmp_path, interrupted, "--quiet")
    said = f"autograder: interrupted; finished results are in {tmp_path / 'out'}. Run the same command again to continue.\n"
    assert (done.exit_code, done.output) == (130, said)


@pytest.mark.parametrize("number", [0, 2, 33])
def test_similar_lists_pairs_by_the_names_of_students(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    pairs, written = [Pair("ada", f"s{at}", 0.756, ()) for at in range(number)], list[Any]()
    monkeypatch.setattr("autograder.gradebook.similar.compared", lambda *values: (pairs, [values[2]] * 7))
    monkeypatch.setattr("autograder.gradebook.similar.write", lambda *values: written.append(values))
    folder = run(tmp_path / "run", ada=document(a=(1, 1)))
    done = command("similar", folder)
    assert written == [(folder, HOMEWORK.rubric.title, pairs, [0.6] * 7, {"ada": "=ada"})]
    assert done.stdout.splitlines() == [
        *["Shared  One   Other"] * bool(number), *[f"76%     =ada  s{at}" for at in range(min(number, 30))],
        f"{number} pairs among 7 submissions likely share code; see {folder / 'similar.html'}",
    ]  # fmt: skip


@pytest.mark.parametrize(("least", "groups"), [("1", "abc"), ("2", "bc"), ("4", "")])
def test_learn_writes_a_draft_for_each_group_of_unexplained_functions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, least: str, groups: str
) -> None:
    monkeypatch.setattr("autograder.grading.grader.open_grader", lambda _: contextlib.nullcontext("grader"))
    drafts = {"a": "text of a", "b": "", "c": "text of c"}
    monkeypatch.setattr(
        "autograder.audit.learning.draft",
        lambda grader, group: (name := next(iter(group.values())).responses, drafts[name] * (grader == "grader")),
    )
    documents = {f"s{at}": document(a=(1, 1)) for at in range(3)}
    for at, one in enumerate(documents.values()):
        one["extra_data"]["unexplained"] = [
            {"function": "rms_norm", "responses": name, "criteria": [], "source": "", "example": ""} for name in "abc"[-1 - at :]
        ]  # fmt: skip
    folder = run(tmp_path / "run", [], **documents)
    done = command("learn", folder, "--least", least)
    places = {name: str(folder / "drafts" / f"rms_norm.{name}.txt") for name in "ac"}
    rows = {
        name: places.get(name, "none: no function fails only because of this mistake")
        for name in "cba"
        if name in groups
    }
    assert [" ".join(line.split()) for line in done.stdout.splitlines()] == [
        *["Submissions Function Draft"] * bool(groups),
        *(f"{'abc'.index(name) + 1} rms_norm {where}" for name, where in rows.items()),
        f"Unexplained wrong results that {least} or more submissions share: {len(rows)}.",
    ]  # fmt: skip
    written = {path.name: path.read_text() for path in folder.glob("drafts/*")}
    assert written == {f"rms_norm.{name}.txt": drafts[name] for name in groups if name != "b"}
