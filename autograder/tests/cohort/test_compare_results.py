"""Two runs side by side: who gains or loses what, by criterion."""

from pathlib import Path

import pytest

from autograder.cohort.compare_results import compare_runs, write
from autograder.faults import ArgumentsError
from autograder.tests.cohort.making import document, run


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
    found = compare_runs(one, one)
    assert (found.compared, found.changes, found.criteria, found.only_old, found.only_new) == (1, (), (), (), ())


@pytest.mark.parametrize("content", ["", "{", "[]", '{"tests": []}', '{"score": 1, "tests": [{}]}'])
def test_compare_refuses_what_is_no_result(tmp_path: Path, content: str) -> None:
    folder = run(tmp_path / "run", ada=document(a=(1, 1)))
    (folder / "results" / "x.json").write_text(content)
    with pytest.raises(ArgumentsError, match=r"x\.json"):
        compare_runs(folder, folder)


def test_csv_and_page_have_every_change_and_names_are_safe(tmp_path: Path) -> None:
    old = run(tmp_path / "old", ada=document(a=(1, 1), b=(0, 1)), gone=document(a=(1, 1)))
    new = run(tmp_path / "new", ada=document(a=(0, 1), b=(1, 1)), came=document(a=(1, 1)))
    page = write(compare_runs(old, new), old, new).read_text()
    assert page.count("<tr><td>ada</td>") == 1
    assert "Only in the first</h2>\n<p>gone</p>" in page
    table = (new / "compare.csv").read_text().splitlines()
    assert table == ["Submission,Student,Old,New,Change,a,b", "ada,'=ada,1,1,0,-1,1"]
