"""The picture of a class: columns by score, one path for each kind of cell, and what each cell is."""

from autograder.gradebook.report import picture
from autograder.gradebook.store import Grade, Mark


def grade(key: str, *marks: tuple[str, float, tuple[str, ...]]) -> Grade:
    found = tuple(Mark(name, f"{name}: about", score, 1.0, misconceptions) for name, score, misconceptions in marks)
    return Grade(key, sum(mark.score for mark in found), found, (), 0.0)


def test_columns_are_submissions_best_first_and_lines_are_criteria() -> None:
    worst = grade("w", ("a.x", 0, ()), ("a.y", 0, ("f.wrong",)), ("b.z", 0, ()))
    middle = grade("m", ("a.x", 0, ("f.wrong", "f.other")), ("a.y", 1, ()), ("b.z", 1, ()))
    best = grade("b", ("a.x", 1, ()), ("a.y", 1, ()), ("b.z", 1, ()))
    found = picture([worst, best, middle], {"m": "Mei"}, lambda name: f"sentence of {name}")
    assert found is not None
    assert (found["width"], found["height"], found["groups"]) == (3, 3, (("a", 2), ("b", 1)))
    assert found["data"]["lines"] == [".#x", "..#", "..x"]
    assert found["data"]["names"] == ["", "Mei", ""]
    assert found["data"]["mistakes"] == ["sentence of f.wrong", "sentence of f.other"]
    assert found["data"]["cells"] == [{1: [0, 1]}, {2: [0]}, {}]
    assert found["lost"] == "M2 0h1v1h-1zM2 2h1v1h-1z"
    assert found["named"] == "M1 0h1v1h-1zM2 1h1v1h-1z"


def test_cells_side_by_side_are_one_rectangle() -> None:
    found = picture([grade(str(number), ("a.x", 0, ())) for number in range(300)], {}, str)
    assert found is not None
    assert found["lost"] == "M0 0h300v1h-300z"


def test_class_without_a_grade_has_no_picture() -> None:
    assert picture([], {}, str) is None
