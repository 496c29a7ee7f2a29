"""The numbers behind the report are those of the textbook, and its picture is what the class lost."""

import random

import numpy as np
import pytest

from autograder.gradebook import report
from autograder.gradebook.store import Grade, Mark
from autograder.tests.making import grade_of_passed as grade


def test_items_are_those_of_the_textbook() -> None:
    """Difficulty and discrimination against a second way to compute them."""
    chance = random.Random(0)
    grades = [grade(str(i), *(chance.random() < p for p in (0.2, 0.5, 0.8, 1.0))) for i in range(60)]
    found = report.item_analysis(grades)
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
    assert [item.discrimination for item in report.item_analysis(grades)] == [None, None]


def test_histogram_counts_everybody_once() -> None:
    grades = [grade("a"), grade("b", True, True), grade("c", True, False), grade("d", False, False)]
    found = report.histogram(grades)  # of 4 points
    assert (found["width"], sum(found["counts"])) == (0.2, 4)
    assert (found["counts"][0], found["counts"][10], found["counts"][19]) == (2, 1, 1)


@pytest.mark.parametrize(("most", "width", "bars", "ticks"), [
    (100, 5, 20, [10.0 * n for n in range(11)]),
    (108, 5, 22, [10.0 * n for n in range(11)]),
    (40, 2, 20, [5.0 * n for n in range(9)]),
    (7, 0.5, 14, [float(n) for n in range(8)]),
    (250, 10, 25, [50.0 * n for n in range(6)]),
    (0.5, 0.02, 25, [0.05 * n for n in range(11)]),
])  # fmt: skip
def test_axis_has_round_numbers(most: float, width: float, bars: int, ticks: list[float]) -> None:
    mark = Mark("m.c", "m.c: x", most, most)
    found = report.histogram([Grade("a", most, (mark,), (), 0.0)])
    assert (found["width"], len(found["counts"])) == (width, bars)
    assert found["counts"][-1] == 1 and width * bars >= most
    assert found["ticks"] == pytest.approx(ticks)


def test_empty_class_has_no_overview_and_no_picture() -> None:
    assert report.overview([]) is report.picture([], {}, str) is None
    assert report.item_analysis([]) == []


def test_who_earned_nothing_makes_no_criterion_look_good() -> None:
    """A class that guesses: without those who hand in nothing the criteria say nothing about each other."""
    working = [grade(str(number), number % 2 == 0, number // 2 % 2 == 0, True) for number in range(40)]
    empty = [grade(f"e{number}", False, False, False) for number in range(40)]
    alone, together = report.item_analysis(working), report.item_analysis([*working, *empty])
    assert [item.discrimination for item in together] == [item.discrimination for item in alone]
    assert [item.cases for item in together] == [40] * 3
    assert together[0].rate == 0.25


def test_modules_have_mean_and_standard_deviation() -> None:
    (found,) = report.by_module([grade("a", True, True), grade("b", True, False), grade("c", False, False)])
    assert (found["module"], found["mean"], found["most"]) == ("m", 2.0, 4.0)
    assert found["deviation"] == pytest.approx(np.std([4, 2, 0]))


def item(discrimination: float, cases: int = 54, rarer: int = 20) -> report.Item:
    return report.Item("m.c", "m.c: about", 1.0, 0.5, cases, rarer, discrimination)


@pytest.mark.parametrize(("discrimination", "cases", "rarer", "verdict"), [
    (-0.08, 54, 20, "may be chance"),
    (-0.27, 54, 20, "may be chance"),
    (-0.28, 54, 20, "negative"),
    (-0.08, 900, 400, "negative"),
    (0.26, 54, 20, "may be chance"),
    (0.54, 54, 20, "very good"),
    (0.54, 54, 2, "too few to say"),
    (-0.9, 54, 4, "too few to say"),
])  # fmt: skip
def test_discrimination_warns_only_beyond_chance(discrimination: float, cases: int, rarer: int, verdict: str) -> None:
    assert item(discrimination, cases, rarer).verdict == verdict


def test_of_tests_that_have_nothing_to_do_with_one_another_hardly_any_is_called_negative() -> None:
    chance = random.Random(1)
    grades = [grade(str(i), *(chance.random() < 0.5 for _ in range(40))) for i in range(60)]
    assert sum(one.verdict == "negative" for one in report.item_analysis(grades)) <= 3


def marked(key: str, *marks: tuple[str, float, tuple[str, ...]]) -> Grade:
    found = tuple(Mark(name, f"{name}: about", score, 1.0, misconceptions) for name, score, misconceptions in marks)
    return Grade(key, sum(mark.score for mark in found), found, (), 0.0)


def test_columns_are_submissions_best_first_and_lines_are_criteria() -> None:
    worst = marked("w", ("a.x", 0, ()), ("a.y", 0, ("f.wrong",)), ("b.z", 0, ()))
    middle = marked("m", ("a.x", 0, ("f.wrong", "f.other")), ("a.y", 1, ()), ("b.z", 1, ()))
    best = marked("b", ("a.x", 1, ()), ("a.y", 1, ()), ("b.z", 1, ()))
    found = report.picture([worst, best, middle], {"m": "Mei"}, lambda name: f"sentence of {name}")
    assert found is not None
    assert (found["width"], found["height"], found["groups"]) == (3, 3, (("a", 2), ("b", 1)))
    assert found["data"]["lines"] == [".#x", "..#", "..x"]
    assert found["data"]["names"] == ["", "Mei", ""]
    assert found["data"]["mistakes"] == ["sentence of f.wrong", "sentence of f.other"]
    assert found["data"]["cells"] == [{1: [0, 1]}, {2: [0]}, {}]
    assert found["lost"] == "M2 0h1v1h-1zM2 2h1v1h-1z"
    assert found["named"] == "M1 0h1v1h-1zM2 1h1v1h-1z"


def test_cells_side_by_side_are_one_rectangle() -> None:
    found = report.picture([marked(str(number), ("a.x", 0, ())) for number in range(300)], {}, str)
    assert found is not None
    assert found["lost"] == "M0 0h300v1h-300z"
