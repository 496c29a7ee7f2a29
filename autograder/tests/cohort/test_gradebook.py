"""grades.csv: one row a student, safe to open, fit to import; and the numbers behind the report."""

import csv
import io
import random
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from autograder.cohort import gradebook, item_analysis, run_file
from autograder.cohort.compare_results import compare_runs
from autograder.cohort.store import Document, Grade, Mark, grade_of
from autograder.commands.main import main
from autograder.feedback.results import dump
from autograder.homework import rubric as rubrics
from autograder.intake.entries import Entry, Student

ADA, BELA = Student("Ada Abel", "1", "ada@example.org"), Student("Bela Brandt", "2", "bela@example.org")


def grade(key: str, *passed: bool, misconception: str | None = None) -> Grade:
    marks = tuple(
        Mark(f"m.c{i}", f"m.c{i}: about", 2.0 * p, 2.0, tuple(filter(None, [misconception])))
        for i, p in enumerate(passed)
    )
    return Grade(key, sum(mark.score for mark in marks), marks, ("fork",), 0.0)


def entry(key: str, *students: Student, at: str = "", remark: str = "") -> Entry:
    return Entry(key, None, students, created_at=at, remark=remark)


def table(*entries: Entry, faults: dict[str, str] | None = None) -> list[dict[str, str]]:
    grades = {one.key: grade(one.key, True, False) for one in entries if one.key not in (faults or {})}
    text = gradebook.table(gradebook.rows(entries, grades, faults or {}))
    return list(csv.DictReader(io.StringIO(text)))


def test_one_row_a_student_and_one_column_a_criterion() -> None:
    lines = table(entry("s1", ADA, BELA), entry("s2", Student("Chidi")))
    assert [line["Student"] for line in lines] == ["Ada Abel", "Bela Brandt", "Chidi"]
    assert [(line["m.c0"], line["m.c1"], line["Total Score"], line["Max Points"]) for line in lines] == [
        ("2", "0", "2", "4")
    ] * 3


def test_headers_are_what_canvas_and_gradescope_know() -> None:
    """Canvas: GradebookImporter#header?; Gradescope: the columns of its own tables."""
    header = gradebook.table([]).splitlines()[0].split(",")
    assert "Student" in header[0] and "ID" in header[1]
    assert (header[2], header[3], header[4]) == ("SIS User ID", "SIS Login ID", "Section")
    assert {"Name", "SID", "Email", "Total Score", "Max Points", "Status", "Submission ID"} <= set(header)


def test_canvas_table_has_the_total_alone_and_no_faults() -> None:
    entries = [entry("s1", ADA), entry("s2", BELA)]
    rows = gradebook.rows(entries, {"s1": grade("s1", True)}, {"s2": "disk"})
    lines = list(csv.reader(io.StringIO(gradebook.canvas_table(rows, "Homework"))))
    assert lines == [[*gradebook.CANVAS, "Homework"], ["Ada Abel", "", "1", "ada@example.org", "", "2"]]


def test_newest_submission_of_a_student_counts_and_others_are_listed() -> None:
    lines = table(
        entry("s9", ADA, at="2025-09-02"),
        entry("s1", ADA, BELA, at="2025-09-01"),
        entry("s3", BELA, at="2025-08-01"),
    )
    found = {line["Student"]: (line["Submission ID"], line["Other Submissions"]) for line in lines}
    assert found == {"Ada Abel": ("s9", "s1"), "Bela Brandt": ("s1", "s3")}


def test_without_times_the_higher_number_is_newer() -> None:
    (line,) = table(entry("submission_10", ADA), entry("submission_9", ADA))
    assert line["Submission ID"] == "submission_10"


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        (Student("A", "1", "a@x"), Student("B", "2", "A@X"), True),
        (Student("A", "1", "a@x"), Student("A", "1", "b@x"), False),
        (Student("A", "1", "a@x"), Student("A", "1"), True),
        (Student("A", "1"), Student("A", "1"), True),
        (Student("A"), Student("A"), False),
        (Student("A", canvas="5"), Student("A", canvas="5"), True),
    ],
)
def test_who_is_the_same_person(one: Student, two: Student, same: bool) -> None:
    assert len(table(entry("s1", one), entry("s2", two))) == (1 if same else 2)


def test_fault_has_a_remark_and_no_score_even_if_an_older_submission_has_one() -> None:
    (line,) = table(entry("s1", ADA, at="1"), entry("s2", ADA, at="2"), faults={"s2": "the disk"})
    assert (line["Total Score"], line[next(iter(rubrics.current().criteria))], line["Status"]) == (
        "",
        "",
        "Fault",
    )
    assert "the disk" in line["Remark"]
    assert line["Other Submissions"] == "s1"


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "  =1", "＝1", '=HYPERLINK("x")', "\n=1"])
def test_no_cell_is_a_formula(name: str) -> None:
    (line,) = table(entry("s1", Student(name, name, name), remark=name))
    for cell in line.values():
        assert not cell.lstrip().startswith(("=", "+", "-", "@", "＝")) or cell.lstrip("-").isdigit()
        assert not cell.startswith(("\t", "\r", "\n"))


@pytest.mark.parametrize("name", ['O\'Neil, "Pat"', "'quoted'", "李 小龍", "x" * 500, "null"])
def test_other_names_survive_as_they_are(name: str) -> None:
    (line,) = table(entry("s1", Student(name)))
    assert line["Name"] == name


# The numbers behind the report


def test_items_are_those_of_the_textbook() -> None:
    """Difficulty and discrimination against a second way to compute them."""
    chance = random.Random(0)
    grades = [grade(str(i), *(chance.random() < p for p in (0.2, 0.5, 0.8, 1.0))) for i in range(60)]
    found = item_analysis.items(grades)
    passes = np.array([[mark.score > 0 for mark in one.marks] for one in grades])
    for i, item in enumerate(found):
        rest = 2.0 * (passes.sum(axis=1) - passes[:, i])
        right, left = rest[passes[:, i]], rest[~passes[:, i]]
        assert item.rate == pytest.approx(passes[:, i].mean())
        if not len(left):
            assert item.discrimination is None
            continue
        share = passes[:, i].mean()
        expected = (right.mean() - left.mean()) / rest.std() * np.sqrt(share * (1 - share))
        assert item.discrimination == pytest.approx(expected)


@pytest.mark.parametrize("count", [1, 4])
def test_few_submissions_say_nothing_about_discrimination(count: int) -> None:
    grades = [grade(str(i), i % 2 == 0, i % 2 == 0) for i in range(count)]
    assert [item.discrimination for item in item_analysis.items(grades)] == [None, None]


def test_histogram_counts_everybody_once() -> None:
    grades = [grade("a"), grade("b", True, True), grade("c", True, False), grade("d", False, False)]
    counts = item_analysis.histogram(grades, 20)
    assert sum(counts) == 4
    assert (counts[0], counts[10], counts[19]) == (2, 1, 1)


def test_empty_class_has_no_overview() -> None:
    assert item_analysis.overview([]) is None
    assert item_analysis.items([]) == []


# Comparing two runs


def document(**scores: tuple[float, float]) -> Document:
    tests = [
        {
            "name": f"{name}: x",
            "score": score,
            "max_score": most,
            "extra_data": {"criterion": name, "misconception": None},
        }
        for name, (score, most) in scores.items()
    ]
    return {"score": sum(score for score, _ in scores.values()), "tests": tests, "extra_data": {"layers": []}}


def run(folder: Path, **documents: Document) -> Path:
    (folder / "results").mkdir(parents=True)
    for key, one in documents.items():
        (folder / "results" / f"{key}.json").write_text(dump(one))
    run_file.write(folder, [folder], [entry(key, Student(f"={key}")) for key in documents])
    return folder


def test_compare_says_who_gains_and_loses_what(tmp_path: Path) -> None:
    same = document(a=(1, 1), b=(0, 2))
    old = run(
        tmp_path / "old",
        ada=same,
        bela=document(a=(1, 1), b=(2, 2)),
        chidi=document(a=(0, 1), b=(0, 2)),
        gone=same,
    )
    new = run(
        tmp_path / "new",
        ada=same,
        bela=document(a=(0, 1), b=(2, 2)),
        chidi=document(a=(1, 1), b=(0, 2)),
        came=same,
    )
    found = compare_runs(old, new / "results")
    assert [(c.key, c.who, c.difference, dict(c.criteria)) for c in found.changes] == [
        ("bela", "=bela", -1, {"a": -1}),
        ("chidi", "=chidi", 1, {"a": 1}),
    ]
    assert [(c.name, c.gain, c.lose, c.rubric_changed) for c in found.criteria] == [("a", 1, 1, False)]
    assert (found.compared, found.only_old, found.only_new) == (3, ("gone",), ("came",))


def test_compare_sees_a_changed_rubric(tmp_path: Path) -> None:
    old = run(tmp_path / "old", ada=document(a=(1, 1), b=(2, 2)))
    new = run(tmp_path / "new", ada=document(a=(3, 3), c=(0, 1)))
    found = {one.name: one for one in compare_runs(old, new).criteria}
    assert {name: one.points for name, one in found.items()} == {"a": (1, 3), "b": (2, None), "c": (None, 1)}
    assert all(one.rubric_changed for one in found.values())


def test_compare_of_a_run_with_itself_finds_nothing(tmp_path: Path) -> None:
    one = run(tmp_path / "one", ada=document(a=(1, 1)))
    assert compare_runs(one, one).same


@pytest.mark.parametrize("content", ["", "{", "[]", '{"tests": []}', '{"score": 1, "tests": [{}]}'])
def test_compare_refuses_what_is_no_result(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(ValueError, match=r"x\.json"):
        compare_runs(tmp_path, tmp_path)


def test_compare_command_prints_both_tables(tmp_path: Path) -> None:
    old = run(tmp_path / "old", ada=document(a=(1, 1), b=(0, 1)), bela=document(a=(1, 1), b=(1, 1)))
    new = run(tmp_path / "new", ada=document(a=(0, 1), b=(1, 1)), bela=document(a=(0, 1), b=(1, 1)))
    done = CliRunner().invoke(main, ["compare", str(old), str(new)])
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert done.exit_code == 0
    assert lines[0] == "2 submissions are in both runs; 2 differ, 1 in their total."
    assert "a 0 2 1" in lines
    assert "bela =bela 2 1 -1 a -1" in lines
    assert "ada =ada 1 1 0 a -1, b +1" in lines


def test_compare_command_refuses_a_folder_without_results(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["compare", str(tmp_path), str(tmp_path)])
    assert (done.exit_code, "no results" in done.stderr) == (2, True)


def test_remark_is_made_of_the_notes_as_data() -> None:
    entry = {"name": "a.b: c", "score": 0, "max_score": 1, "extra_data": {"criterion": "a.b", "misconceptions": []}}
    extra = {"layers": [], "notes": [{"kind": "absent", "path": "a.py", "text": "There is no file a.py."}]}
    document = {"score": 0, "output": "- **prose**", "tests": [entry], "extra_data": extra}
    assert grade_of("ada", document, 0.0).remark == "There is no file a.py."


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ({"misconception": None}, ()),
        ({"misconception": "f.a"}, ("f.a",)),
        ({"misconceptions": ["f.a", "f.b"]}, ("f.a", "f.b")),
    ],
)
def test_mistakes_are_read_in_the_old_form_and_in_the_new(extra: dict[str, object], expected: tuple[str, ...]) -> None:
    entry = {"name": "a.b: c", "score": 0, "max_score": 1, "extra_data": {"criterion": "a.b", **extra}}
    document = {"score": 0, "tests": [entry], "extra_data": {"layers": []}}
    assert grade_of("ada", document, 0.0).marks[0].misconceptions == expected
