"""report.html is complete, escapes everything a student chose, and works in a real browser."""

import html
import html.parser
import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest

from autograder.feedback.results import Cause, Grade, Mark, Unexplained
from autograder.gradebook import outputs, report
from autograder.gradebook.batch import Run
from autograder.gradebook.rows import StudentRow
from autograder.submissions.submission import Student, Upload
from autograder.submissions.text import number
from autograder.tests.files import HOMEWORK
from autograder.tests.making import AWKWARD, few
from autograder.tests.making import grade_of_passed as passing

CRITERIA = HOMEWORK.rubric.criteria
FUNCTION = next(iter(next(iter(HOMEWORK.rubric.modules.values())).functions))
CHROMIUM = shutil.which("chromium")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
SENTENCE = report.sentence(HOMEWORK, f"{FUNCTION}.no_root")
CHANGES = report.sentence(HOMEWORK, f"{FUNCTION}.changes_x")
READ = next(one.read for one in HOMEWORK.of_module("layernorm") if one.id == f"{FUNCTION}.no_root").replace("`", "")
EVIL = '"><script>window.broken = 1</script><img src=x onerror="window.broken = 1">'


def marked(key: str, *marks: tuple[str, float, tuple[str, ...]]) -> Grade:
    about = {name: f"{name}: {one.about}" for name, one in CRITERIA.items()}
    found = tuple(
        Mark(
            name,
            about.get(name, name),
            score,
            1.0,
            mistakes,
            cause="" if score else "misconception" if mistakes else "other",
        )
        for name, score, mistakes in marks
    )
    points = sum(mark.score for mark in found)
    submitted = tuple({mark.criterion.partition(".")[0] for mark in found})
    return Grade(key, points, found, ("fork", "session"), 1_760_000_000.0, submitted=submitted)


def grade(key: str, lost: int, misconception: str | None = None) -> Grade:
    """A grade without the first `lost` criteria, all lost to the same misconception."""
    named = (misconception,) if misconception else ()
    return marked(key, *((name, float(at >= lost), named[: at < lost]) for at, name in enumerate(CRITERIA)))


def run(names: tuple[str, ...] = AWKWARD, errors: dict[str, str] | None = None) -> Run:
    """A class in which each student loses three criteria more than the one before."""
    rows = []
    for i, name in enumerate(names):
        student = Student(name, f"{i}", f"{name}@example.org")
        entry = Upload(f"s{i}", None, (student,), remark=name)
        misconception = f"{FUNCTION}.{'no_root' if i % 2 else 'unheard_of'}"
        rows.append(StudentRow(student, entry, grade(f"s{i}", 3 * i, misconception), "", ()))
    for key, why in (errors or {}).items():
        entry = Upload(key, None, (Student(EVIL),), problem=why)
        rows.append(StudentRow(Student(EVIL), entry, None, why, (Upload("older"),)))
    grades = {row.grade.key: row.grade for row in rows if row.grade}
    return Run("abcdef" * 10, (), grades, errors or {}, 3, rows=rows, problems=["look: " + EVIL])


class Texts(html.parser.HTMLParser):
    """The tags, attributes and text of a page."""

    def __init__(self, page: str):
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def test_page_is_self_contained_and_escapes_student_input() -> None:
    source = report.html(HOMEWORK, run((*AWKWARD, EVIL), {"s99": EVIL}))
    page = Texts(source)
    links = [value for name, value in page.attributes if name in ("src", "href")]
    assert all(value and value.startswith(("#", "results/")) for value in links)
    style = source.partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style and "@import" not in style and "default-src 'none'" in source
    assert page.tags.count("script") == 2  # the page's script, and the data of the picture
    assert "img" not in page.tags
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    for name in (*AWKWARD, EVIL):
        assert " ".join(name.split()) in " ".join(page.text.split())
    assert "{{" not in page.text.replace("{{ 7 * 7 }}", "")


def test_page_shows_criteria_errors_and_details_of_the_run() -> None:
    graded = run(("Ada", "Bela", "Chidi", "Dana", "Emil"), {"s9": "the disk is full"})
    absent = StudentRow(Student("Zoe", "7"), Upload(""), None, section="Monday", absent=True)
    text = " ".join(Texts(report.html(HOMEWORK, replace(graded, rows=[*graded.rows, absent]))).text.split())
    assert all(criterion.id in text and criterion.about in text for criterion in CRITERIA.values())
    for part in ("the disk is full", "fork, session", "2025-10-09", "other uploads: older", f"{FUNCTION}.no_root"):
        assert part in text, part
    for part in ("3 results are from an earlier run", "look: " + EVIL, "No submission1", "Mondaymissing"):
        assert part in text, part
    assert text.count("Not in the current misconception library") == 1
    group = [StudentRow(Student(name), Upload("s0"), grade("s0", 0), "", ()) for name in ("Ada", "Bela")]
    assert len(report.submissions_that_count(group)) == 1
    assert report.html(HOMEWORK, Run("0", (), rows=group)).count('<tr id="s') == 2, "each member has a row"


@pytest.mark.parametrize(("name", "said"), [
    ("changes_x", "Your code changes the argument x. Do not change the arguments: work on copies."),
    ("changes_x_later", "Your code changes the argument x. Do not"),
    ("float64_result", "Your result is float64. Results keep the dtype"),
    ("int64_result", "Your result is int64. Results keep the dtype of the arguments."),
    ("shares_memory", "Your result shares memory with an argument. Return a new array"),
    ("overwrites_result", "A result that you returned changed"),
    ("remembers", "The same call returned different results"),
    ("signature", "Your function does not accept"),
    ("partly_right", "Your code gives the correct values with some arguments"),
])  # fmt: skip
def test_built_in_mistake_has_its_sentence_without_a_library_entry(name: str, said: str) -> None:
    assert report.sentence(HOMEWORK, f"softmax_of_no_library.{name}").startswith(said)


def test_mistakes_of_a_class_are_listed_most_frequent_first() -> None:
    rows = run(("Ada", "Bela", "Chidi", "Dana"), {"s9": "disk"}).rows
    two = marked(
        "t", ("a.x", 0, (f"{FUNCTION}.no_root", f"{FUNCTION}.changes_x")), ("a.y", 0, (f"{FUNCTION}.no_root",))
    )
    both = StudentRow(Student("Emil"), Upload("t"), two)
    about = {"place": f"{FUNCTION} in layernorm.py"}
    assert report.mistakes(HOMEWORK, [*rows, both]) == [
        about | {"id": f"{FUNCTION}.no_root", "sentence": SENTENCE, "read": READ, "rows": [1, 3, 5]},
        about
        | {
            "id": f"{FUNCTION}.changes_x",
            "sentence": CHANGES,
            "read": "the NumPy user guide, Copies and views",
            "rows": [5],
        },
        {"id": f"{FUNCTION}.unheard_of", "place": FUNCTION, "sentence": "", "read": "", "rows": [2]},
    ]


@pytest.mark.parametrize("errors", [{}, {"s1": "why"}])
def test_report_without_any_grade(errors: dict[str, str]) -> None:
    assert "Nothing has been graded" in report.html(HOMEWORK, Run("0", (), errors=errors, rows=run((), errors).rows))


def test_anonymous_page_does_not_identify_students() -> None:
    page = report.html(HOMEWORK, run((*AWKWARD, EVIL), {"s99": EVIL}), anonymous=True)
    text = Texts(page).text + page
    for name in (*AWKWARD, EVIL):
        if len(name.strip()) > 6:
            assert name.strip() not in html.unescape(text)
    for part in ("example.org", "s99", "s0", "results/", "other uploads"):
        assert part not in page
    assert "The class at a glance" in page


@pytest.mark.parametrize(("cause", "words"), [(cause, words) for cause, (_, _, words) in report.STATES.items()])
def test_each_cause_of_a_loss_has_its_own_state_and_legend(cause: Cause, words: str) -> None:
    whole, lost = grade("a", 0), grade("b", 1)
    lost = replace(lost, marks=(replace(lost.marks[0], cause=cause), *lost.marks[1:]))
    picture = report.picture([whole, lost], {}, lambda name: name)
    assert picture is not None
    state = picture["data"]["lines"][0][1]
    assert picture["data"]["states"][state] == f"lost: {words}" and set("".join(picture["data"]["lines"][1:])) == {"."}
    page = Texts(report.html(HOMEWORK, Run("0", (), rows=[StudentRow(Student("B"), Upload("b"), lost)])))
    legend = page.text.partition("Lost:")[2].partition("earned")[0].split()
    assert " ".join(legend) == words


def test_tiles_and_histogram_have_the_totals_of_the_table() -> None:
    """After late deductions and overrides; without students whose submission does not count."""
    rows = list(run(tuple("abcdefg")).rows)
    rows[0] = replace(rows[0], deduction=10.0)
    rows[1] = replace(rows[1], total=1.0)
    rows[2] = replace(rows[2], excused=True)
    rows[3] = replace(rows[3], withheld=True)
    rows[4] = replace(rows[4], grade=replace(grade("s4", 0), submitted=()))
    text = "".join(Texts(report.html(HOMEWORK, Run("0", (), rows=rows))).text.split())
    totals = [rows[0].score, 1.0, rows[5].score, rows[6].score]
    assert report.final_scores(rows) == totals
    for tile in (
        "Students 7",
        "Submissions 4 of 7 count",
        "Empty uploads 1",
        "Excused 1",
        "Withheld 1",
        "Full marks 0",
    ):
        assert tile.replace(" ", "") in text
    assert f"Median{number(round(median(map(float, filter(None, totals))), 1))}of" in text


def test_page_has_the_mean_with_each_rule_unless_results_lack_it() -> None:
    both = [{"mistakes": 90.0, "criteria": 80.0}, {"mistakes": 91.0, "criteria": 70.0}]
    text = Texts(report.html(HOMEWORK, class_with("totals", *both))).text
    assert "manual changes: 90.5 with charge: mistakes, 75 with charge: criteria." in text
    assert "charge: mistakes" not in Texts(report.html(HOMEWORK, class_with("totals", both[0], {}))).text


def test_names_are_under_the_columns_of_a_small_class_but_not_for_the_class() -> None:
    for size, is_shown in ((report.NAMES, True), (report.NAMES + 1, False)):
        assert ('class="columns"' in report.html(HOMEWORK, run(("Ada",) * size))) == is_shown
    assert 'class="columns"' not in report.html(HOMEWORK, run(("Ada",)), anonymous=True)


# In a browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("there is no chromium here")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture(params=few([[1366, 768], [1920, 1080], [390, 844]], 1), ids=["laptop", "wide", "phone"])
def page(browser: Any, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    """The report of a class with awkward names, opened in the browser. Fails on console messages and other requests."""
    (tmp_path / "report.html").write_text(report.html(HOMEWORK, run((*AWKWARD, EVIL), {"s99": EVIL})), encoding="utf-8")
    width, height = request.param
    opened = browser.new_page(viewport={"width": width, "height": height})
    said: list[str] = []
    requests: list[str] = []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("request", lambda asked: requests.append(asked.url))
    opened.goto((tmp_path / "report.html").as_uri())
    yield opened
    assert (said, requests) == ([], [(tmp_path / "report.html").as_uri()])
    opened.close()


def test_opens_without_errors_and_fits_the_screen(page: Any) -> None:
    assert page.evaluate("window.broken") is None
    assert page.title().endswith("class report")
    row = page.locator("#table tbody tr").first
    assert (closed := row.bounding_box()["height"]) < 48
    row.locator("summary").click()
    assert row.bounding_box()["height"] > closed
    width = page.viewport_size["width"]
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    wide = "Array.from(document.querySelectorAll('.wide'))"
    assert page.evaluate(f"{wide}.filter(part => part.scrollWidth > part.clientWidth).length") == 0
    assert page.locator("svg.histogram rect").count() == len(report.histogram([0], grade("s", 0).max_score)["counts"])


@pytest.mark.slow
def test_picture_is_on_the_first_screen_and_describes_the_cell_under_the_pointer(page: Any) -> None:
    box = page.locator("#picture").bounding_box()
    assert box["y"] + box["height"] <= page.viewport_size["height"]
    assert page.locator("#cell").inner_text().startswith("Point at")
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 2)
    said = page.locator("#cell").inner_text()
    assert next(iter(CRITERIA)) in said
    assert "lost: " in said
    page.mouse.move(box["x"] + 2, box["y"] + box["height"] - 2)
    assert "earned" in page.locator("#cell").inner_text()


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (390, 844)])
def test_students_page_fits_the_screen_with_the_first_diagnosis(
    browser: Any, tmp_path: Path, width: int, height: int
) -> None:
    lost = grade("s", 3, f"{FUNCTION}.no_root")
    marks = [replace(mark, output="**Probably:** " + "a long line of code " * 9) for mark in lost.marks]
    row = StudentRow(Student("Ada Abel"), Upload("s"), replace(lost, marks=tuple(marks)))
    (tmp_path / "page.html").write_text(outputs.student_page(row, HOMEWORK.rubric), encoding="utf-8")
    opened = browser.new_page(viewport={"width": width, "height": height})
    opened.goto((tmp_path / "page.html").as_uri())
    box = opened.locator("article strong").first.bounding_box()
    assert box["y"] + box["height"] <= height
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    opened.close()


def test_picture_and_legend_of_a_class_with_a_roster_are_on_the_first_screen(browser: Any, tmp_path: Path) -> None:
    """The ten tiles fit in one row."""
    rows = list(run(tuple(f"Student {number}" for number in range(20))).rows)
    rows[3] = replace(rows[3], excused=True)
    rows[4] = replace(rows[4], grade=replace(grade("s4", 0), submitted=()))
    rows.append(StudentRow(Student("Zoe"), Upload(""), None, absent=True))
    (tmp_path / "report.html").write_text(report.html(HOMEWORK, Run("0", (), rows=rows)), encoding="utf-8")
    opened = browser.new_page(viewport={"width": 1280, "height": 800})
    opened.goto((tmp_path / "report.html").as_uri())
    tiles = [tile.bounding_box() for tile in opened.locator(".tiles div").all()]
    assert len(tiles) == 10 and len({box["y"] for box in tiles}) == 1
    assert max(box["x"] + box["width"] for box in tiles) <= 1280
    for part in ("#picture", "figure.class figcaption"):
        box = opened.locator(part).bounding_box()
        assert box["y"] + box["height"] <= 800
    opened.close()


@pytest.mark.slow
def test_sorting_in_both_directions_puts_errors_last_and_works_from_the_keyboard(page: Any) -> None:
    scores = page.locator("#table tbody tr:not([hidden]) .total").all_inner_texts
    header = page.locator("#table th button", has_text="Total")
    header.click()
    down = [float(score) for score in scores()[:-1]]
    assert down == sorted(down, reverse=True)
    assert scores()[-1] == "grader error"
    assert page.locator("#table th[aria-sort=descending]").count() == 1
    header.click()
    assert [float(score) for score in scores()[:-1]] == sorted(down)
    assert scores()[-1] == "grader error"
    page.locator("#table th button", has_text="Student").click()
    names = page.locator("#table .name").all_inner_texts()
    assert names.index("null") > names.index("José Ñandú")
    page.locator("details.part > summary").first.press("Enter")
    part = page.locator("details.part").first
    part.locator("th button", has_text="Pass rate").press("Enter")
    rates = part.locator("td:nth-child(2)").evaluate_all("cells => cells.map(cell => Number(cell.dataset.value))")
    assert len(rates) > 1 and rates == sorted(rates, reverse=True)


@pytest.mark.slow
def test_searching_finds_names_ids_and_mistakes_and_enter_shows_them(page: Any) -> None:
    total, shown = len(AWKWARD) + 2, page.locator("#table tbody tr:not([hidden]) .total")
    search = page.locator("#search")
    named = len(AWKWARD) // 2
    for words, count in (
        ("JOSÉ", 1),
        ("script>", 3),
        (f"{FUNCTION}.no_root", named),
        (SENTENCE, named),
        ("no such", 0),
        ("", total),
    ):
        search.fill(words)
        assert shown.count() == count, words
        assert page.locator("#shown").inner_text() == f"{count} of {total}"
    students, height = page.locator("#students"), page.viewport_size["height"]
    search.fill("JOSÉ")
    assert students.bounding_box()["y"] > height
    search.press("Enter")
    assert students.bounding_box()["y"] < height
    search.fill("no such")  # links and the picture lead to a row even if it is filtered out
    page.locator(".mistakes summary").first.click()
    link = page.locator(".who a").first
    link.click()
    page.locator(f"tr{link.get_attribute('href')}").wait_for(state="visible")
    search.fill("")
    page.locator("#picture").scroll_into_view_if_needed()
    box = page.locator("#picture").bounding_box()
    page.mouse.click(box["x"] + box["width"] - 2, box["y"] + 2)
    page.locator(f"#s{len(AWKWARD)} details[open]").wait_for()  # the hash changes a moment after the click


@pytest.mark.slow
def test_printing_opens_all_details_and_hides_controls(page: Any) -> None:
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("details:not([open])").count() == 0
    assert page.locator(".remark").first.is_visible() and page.locator("#table").is_visible()
    assert not page.locator("#search").is_visible()
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0


def class_with(field: str, *values: Any) -> Run:
    """A class with one student per value of the `field` of the grade."""
    changes: list[dict[str, Any]] = [{field: value} for value in values]
    grades = [replace(grade(f"s{at}", 0), **change) for at, change in enumerate(changes)]
    return replace(run(()), rows=[StudentRow(Student(one.key), Upload(one.key), one) for one in grades])


def test_groups_of_unexplained_functions_are_shown_with_size_and_source() -> None:
    one = Unexplained(FUNCTION, "d" * 16, (next(iter(CRITERIA)),), f"def {FUNCTION}():\n    pass\n", EVIL)
    found = class_with("unexplained", (one,), (one,), (replace(one, responses="another"),))
    page = report.html(HOMEWORK, found)
    assert "Unrecognised mistakes" in Texts(page).text and one.source.strip() in Texts(page).text
    assert EVIL not in page
    section = page.partition('id="unexplained"')[2].partition("</section>")[0]
    assert "1 more function has results that no other submission has." in section
    assert '<span class="tally">2</span>' in section and 'href="#s0"' in section and 'href="#s1"' in section
    assert "Unrecognised mistakes" not in report.html(HOMEWORK, found, anonymous=True)
    assert "Unrecognised mistakes" not in report.html(HOMEWORK, run())


def test_guesses_are_in_the_anonymous_report() -> None:
    guesses = [
        ({"question": "Which shape?", "answer": answer, "right": answer == "(t, d)"},)
        for answer in ("(t, d)", "(t, d)", "(t, h) " + EVIL)
    ]
    page = report.html(HOMEWORK, class_with("guesses", *guesses), anonymous=True)
    section = page.partition('id="guesses"')[2].partition("</section>")[0]
    assert "Which shape?" in section and "3 answered" in section and EVIL not in page
    assert section.index("width:66.7%") < section.index("(t, d) <b>right</b>") < section.index("width:33.3%")
    assert 'id="guesses"' not in report.html(HOMEWORK, run())


def test_item_analysis_follows_the_textbook() -> None:
    """Compare difficulty and discrimination with an independent computation."""
    chance = random.Random(0)
    grades = [passing(str(i), *(chance.random() < p for p in (0.2, 0.5, 0.8, 1.0))) for i in range(60)]
    found = report.item_analysis(grades)
    empty = [passing(f"e{number}", False, False, False, False) for number in range(40)]
    pairs = zip(found, report.item_analysis([*grades, *empty]), strict=True)
    assert all(one["discrimination"] == two["discrimination"] for one, two in pairs), "only those with points count"
    assert {item["discrimination"] for item in report.item_analysis(grades[:4])} == {None}, "too few to say anything"
    passes = np.array([[mark.score > 0 for mark in one.marks] for one in grades])
    for i, item in enumerate(found):
        rest = 2.0 * (passes.sum(axis=1) - passes[:, i])
        right, left = rest[passes[:, i]], rest[~passes[:, i]]
        assert item["rate"] == pytest.approx(passes[:, i].mean())
        if not len(left):
            assert item["discrimination"] is None
            continue
        share = passes[:, i].mean()
        expected = (right.mean() - left.mean()) / rest.std() * np.sqrt(share * (1 - share))
        assert item["discrimination"] == pytest.approx(expected)


@pytest.mark.parametrize(("most", "width", "bars", "ticks"), [
    (100, 5, 20, [10.0 * n for n in range(11)]),
    (108, 5, 22, [10.0 * n for n in range(11)]),
    (40, 2, 20, [5.0 * n for n in range(9)]),
    (7, 0.5, 14, [float(n) for n in range(8)]),
    (250, 10, 25, [50.0 * n for n in range(6)]),
    (0.5, 0.02, 25, [0.05 * n for n in range(11)]),
])  # fmt: skip
def test_histogram_axis_has_round_numbers(most: float, width: float, bars: int, ticks: list[float]) -> None:
    found = report.histogram([0, most / 2, most, most], most)
    assert (found["width"], len(found["counts"])) == (width, bars)
    assert (found["counts"][0], sum(found["counts"]), found["counts"][-1]) == (1, 4, 2) and width * bars >= most
    assert found["ticks"] == pytest.approx(ticks)


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
    assert report.verdict(discrimination, cases, rarer) == verdict


def test_picture_has_a_column_per_submission_best_first_and_a_row_per_criterion() -> None:
    worst = marked("w", ("a.x", 0, ()), ("a.y", 0, ("f.wrong",)), ("b.z", 0, ()))
    middle = marked("m", ("a.x", 0, ("f.wrong", "f.other")), ("a.y", 1, ()), ("b.z", 1, ()))
    best = marked("b", ("a.x", 1, ()), ("a.y", 1, ()), ("b.z", 1, ()))
    found = report.picture([worst, best, middle], {"m": "Mei"}, lambda name: f"sentence of {name}")
    assert found is not None
    assert (found["width"], found["height"], found["groups"]) == (3, 3, (("a", 2), ("b", 1)))
    assert found["data"]["lines"] == [".nx", "..n", "..x"]
    assert found["data"]["names"] == ["", "Mei", ""]
    assert found["data"]["mistakes"] == ["sentence of f.wrong", "sentence of f.other"]
    assert found["data"]["cells"] == [{1: [0, 1]}, {2: [0]}, {}]
    assert [(style, path) for style, _, path in found["paths"]] == [
        ("named", "M1 0h1v1h-1zM2 1h1v1h-1z"),
        ("lost", "M2 0h1v1h-1zM2 2h1v1h-1z"),
    ]
    beside = report.picture([marked(str(number), ("a.x", 0, ())) for number in range(300)], {}, str)
    assert beside is not None and beside["paths"][0][2] == "M0 0h300v1h-300z"
