"""Comparing two runs: each student's gains and losses by criterion."""

from pathlib import Path

import pytest

from autograder.exceptions import ArgumentsError
from autograder.gradebook.compare_results import ScoreChange, compare_runs, write
from autograder.gradebook.store import Outcome
from autograder.submissions.submission import Student
from autograder.tests.making import document, run


def test_compare_reports_the_points_of_a_changed_rubric(tmp_path: Path) -> None:
    old = run(tmp_path / "old", ada=document(a=(1, 1), b=(2, 2)))
    new = run(tmp_path / "new", ada=document(a=(3, 3), c=(0, 1)))
    points = {name: both for name, _, _, both in compare_runs(old, new).criteria}
    assert points == {"a": (1, 3), "b": (2, None), "c": (None, 1)}


@pytest.mark.parametrize("content", ["", "{", "[]", '{"tests": []}', '{"score": 1, "tests": [{}]}'])
def test_compare_rejects_an_invalid_result(tmp_path: Path, content: str) -> None:
    folder = run(tmp_path / "run", ada=document(a=(1, 1)))
    (folder / "results" / "x.json").write_text(content)
    with pytest.raises(ArgumentsError, match=r"x\.json"):
        compare_runs(folder, folder)


def test_csv_and_page_list_every_change_and_escape_names(tmp_path: Path) -> None:
    old = run(tmp_path / "old", ada=document(a=(1, 1), b=(0, 1)), gone=document(a=(1, 1)))
    new = run(tmp_path / "new", ada=document(a=(0, 1), b=(1, 1)), came=document(a=(1, 1)))
    page = write(compare_runs(old, new), "Title", old, new).read_text()
    assert page.count("<tr><td>ada</td>") == 1
    assert "Only in the first</h2>\n<p>gone</p>" in page
    table = (new / "compare.csv").read_text().splitlines()
    assert table == ["Submission,Student,Old,New,Change,a,b", "ada,'=ada,1,1,0,-1,1"]


# Totals that differ for a reason other than a criterion

ADA, BELA, CHIDI = (Student(name, email=f"{name.lower()}@x") for name in ("Ada", "Bela", "Chidi"))
LATE = "0 d 2 h late, 1 points deducted"


@pytest.mark.parametrize(
    ("then", "now", "points", "said"),
    [
        (Outcome("s", ADA, 10), Outcome("s", ADA, 9, (LATE,)), 10, f"-1 (was: nothing; now: {LATE})"),
        (Outcome("s", ADA, 9, (LATE,)), Outcome("s", ADA, 8.1, (LATE,)), 9, f"a -1, +0.1 ({LATE})"),
        (Outcome("s", ADA, 10), Outcome("s", ADA, 9), 9, "a -1"),
        (Outcome("s", ADA, 5, ("set: x",)), Outcome("s", ADA, 5, ("set: x",)), 9, "a -1, +1 (set: x)"),
        (Outcome("s", ADA, 10), Outcome("s", ADA, None, ("excused",)), 10, "-10 (was: nothing; now: excused)"),
        (Outcome("t", ADA, 3), Outcome("s", ADA, 10), 10, "a +7, s counts, not t"),
        (Outcome("", ADA, None, ("absent",)), Outcome("", ADA, 0, ("absent",)), 10, "absent"),
        (Outcome("s", Student("ada"), 10), Outcome("s", ADA, 9, (LATE,)), 10, f"-1 (was: nothing; now: {LATE})"),
    ],
    ids=["late", "more than late", "no reason", "by hand", "excused", "another upload", "missing", "by submission"],
)  # fmt: skip
def test_other_changes_show_their_reason(tmp_path: Path, then: Outcome, now: Outcome, points: float, said: str) -> None:
    old = run(tmp_path / "old", [then], s=document(a=(10, 10)), t=document(a=(3, 10)))
    new = run(tmp_path / "new", [now], s=document(a=(points, 10)), t=document(a=(3, 10)))
    found = compare_runs(old, new)
    (change,) = found.changes
    assert (change.where, change.old, change.new) == (said, then.total, now.total)
    assert (found.compared, found.only_old, found.only_new) == (1, [], [])
    assert "<td>" + said.replace("+", "&#43;") + "</td>" in write(found, "Title", old, new).read_text().replace(
        "+", "&#43;"
    )
    assert change.reason in (new / "compare.csv").read_text()


def test_points_set_manually_for_a_criterion_that_is_worth_something_else_now_are_listed(tmp_path: Path) -> None:
    set_by_hand = (("a", 3.0), ("b", 2.0), ("total", 5.0))
    old = run(tmp_path / "old", [Outcome("s", ADA, 5)], s=document(a=(0, 3), b=(2, 2)))
    new = run(tmp_path / "new", [Outcome("s", ADA, 5, ("set",), set_by_hand)], s=document(a=(0, 4), b=(2, 2)))
    found = compare_runs(old, new)
    assert found.manual == [("Ada", "a", 3.0, 3, 4), ("Ada", "total", 5.0, 5, 6)]
    assert "<td>total</td>" in write(found, "Title", old, new).read_text()


def test_many_criteria_are_summed_by_module() -> None:
    criteria = {f"{module}.c{at}": 1.5 for module in ("layernorm", "decoder") for at in range(4)}
    assert ScoreChange("s", "Ada", 0, 12, criteria).where == "layernorm +6, decoder +6"


def test_group_members_are_compared_individually(tmp_path: Path) -> None:
    group = document(a=(10, 10))
    old = run(tmp_path / "old", [Outcome("s", one, 10) for one in (ADA, BELA)], s=group)
    outcomes = [Outcome("s", ADA, 10), Outcome("s", BELA, 5, ("x",)), Outcome("", CHIDI, None)]
    new = run(tmp_path / "new", outcomes, s=group)
    found = compare_runs(old, new)
    assert [(change.who, change.difference) for change in found.changes] == [("Bela", -5)]
    assert (found.compared, found.only_old, found.only_new) == (2, [], ["Chidi"])
