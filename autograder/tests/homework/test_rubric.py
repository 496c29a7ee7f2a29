"""A rubric that is wrong is refused, with file, line, key and what would be right."""

from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.grading.plan import record
from autograder.homework import kit, rubric
from autograder.homework.rubric import RubricError

Edit = Callable[[str], str]


@pytest.mark.parametrize(
    ("edit", "where", "said"),
    [
        (lambda t: t.replace("points: 100", "points: 99", 1), "points", "add up to 100"),
        (
            lambda t: t.replace("statistics: {points: 3", "statistics: {points: 4"),
            "modules.layernorm.points",
            "add up to",
        ),
        (
            lambda t: t.replace("about:", "abuot:", 1),
            "abuot",
            "unknown key; did you mean 'about'? known here: points, about",
        ),
        (
            lambda t: t.replace("statistics: {", "statistics: {id: layernorm.statistics, "),
            "statistics.id",
            "unknown key; known here: points, about",
        ),
        (lambda t: t.replace("    title: Layer norm\n", "", 1), "modules.layernorm.title", "missing"),
        (lambda t: t.replace("grades: [rms_norm]", "grades: [rmsnorm]", 1), "grades", "'rmsnorm' is not a function"),
        (lambda t: t.replace("uses: [layernorm]", "uses: [layer]", 1), "uses", "there is no module 'layer'"),
        (lambda t: t.replace("uses: [layernorm]", "uses: [decoder]", 1), "uses", "must come before"),
        (
            lambda t: t.replace("layer_norm_backward: [layer_norm]", "layer_norm_backward: [x]"),
            "functions",
            "'x' is not a function",
        ),
        (lambda t: t.replace("\nfeedback: full", "\nfeedback: all", 1), "feedback", "'full', 'diagnosis' or 'score'"),
        (lambda t: t.replace("visibility: after_published", "visibility: never", 1), "visibility", "'visible'"),
        (
            lambda t: t.replace("agents_file: true", "agents_file: some", 1),
            "agents_file",
            "'some' must be true or false; for example agents_file: false",
        ),
        (
            lambda t: t.replace("points: 20", "points: -20", 1),
            "modules.layernorm.points",
            "-20 must be above 0; for example points: 3",
        ),
        (
            lambda t: t.replace("call_seconds: 3", "call_seconds: soon"),
            "limits.call_seconds",
            "'soon' must be a number; for example call_seconds: 4",
        ),
        (
            lambda t: t.replace("call_seconds: 3", "wall_factor: 0.5"),
            "wall_factor",
            "0.5 must be at least 1; for example wall_factor: 8",
        ),
        (
            lambda t: t.replace("    uses: []", "    uses: layernorm", 1),
            "uses",
            "'layernorm' must be a list; for example uses: [first_module]",
        ),
        (
            lambda t: t.replace("    title: Layer norm\n", "", 1),
            "modules.layernorm.title",
            "missing; for example title: Layer norm",
        ),
        (lambda t: t.replace('about: "the worked', 'abut: "the worked', 1), "abut", "known here: points, about"),
        (lambda t: t.replace("      rms_norm: []", "      rms_norm: []\n      rms_norm: []", 1), "rms_norm", "twice"),
        (lambda t: t.replace("  layernorm:", "\tlayernorm:", 1), "", "not YAML"),
        (lambda t: t.replace("\nlimits:", "\nlate: {percent_a_day: 5}\nlimits:", 1), "late", "needs the key due"),
        (
            lambda t: t.replace("\nlimits:", "\ndue: 2026-11-20T23:59\nlimits:", 1),
            "due",
            "needs a time zone; for example due: 2026-11-20T23:59+01:00",
        ),
        (
            lambda t: t.replace("\nlimits:", "\ndue: tomorrow\nlimits:", 1),
            "due",
            "'tomorrow' must be a date and time; for example due: 2026",
        ),
        (
            lambda t: t.replace("\nlimits:", "\ndue: 20261120\nlimits:", 1),
            "due",
            "20261120 must be a date and time; for example due: 2026",
        ),
        (
            lambda t: t.replace("\nlimits:", "\ndue: 2026-11-20T23:59Z\nlate: {per_day: 5}\nlimits:", 1),
            "late.per_day",
            "known here: grace_minutes",
        ),
        (
            lambda t: t.replace("statistics: {points: 3", "statistics: {counts: full, points: 3"),
            "counts",
            "add the key why",
        ),
        (
            lambda t: f"{t}tests: {{points: 2, criteria: {{first: {{points: 2, about: tests}}}}}}",
            "points",
            "the modules, the integration and the tests add up to 102",
        ),
        (
            lambda t: f"{t}tests: {{points: 2, criteria: {{first: {{points: 1, about: tests}}}}}}",
            "tests.points",
            "the criteria add up to 1",
        ),
        (
            lambda t: f"{t}tests: {{points: 2, criteria: {{first: {{points: 2, about: tests, grades: [softmax]}}}}}}",
            "tests.criteria.first.grades",
            "students choose what they test; remove this key",
        ),
        (
            lambda t: f"{t}tests: {{points: 2, criteria: {{first: {{points: 2, about: tests, visibility: visible}}}}}}",
            "tests.criteria.first.visibility",
            "their results are shown later, for example after_published",
        ),
        (lambda _: "", "", "must be keys with values; rubric.yaml has title"),
    ],
)
def test_mistake_is_named(tmp_path: Path, edit: Edit, where: str, said: str) -> None:
    text = kit.rubric_file().read_text()
    path = tmp_path / "rubric.yaml"
    path.write_text(edit(text))
    assert path.read_text() != text
    with pytest.raises(RubricError) as caught:
        rubric.load(path)
    assert str(path) in str(caught.value)
    assert where in str(caught.value)
    assert said in str(caught.value)


def test_the_lines_that_switch_the_tests_on_are_right(tmp_path: Path) -> None:
    text, _, more = kit.rubric_file().read_text().replace("points: 100", "points: 106", 1).partition("# tests:")
    path = tmp_path / "rubric.yaml"
    path.write_text(text + "tests:" + more.replace("\n# ", "\n"))
    own = rubric.load(path)
    assert [criterion.id for criterion in own.of("tests")] == ["tests.first", "tests.second", "tests.third"]
    assert (
        "".join(f"       {line}\n" for line in ["tests:", *more.replace("\n# ", "\n").splitlines()[1:]])
        in (kit.PACKAGE / "docs" / "how-to" / "student-tests.md").read_text()
    )


def test_line_is_the_right_one(tmp_path: Path) -> None:
    path = tmp_path / "rubric.yaml"
    lines = kit.rubric_file().read_text().splitlines()
    number = next(n for n, line in enumerate(lines) if "call_seconds" in line)
    lines[number] = "  call_secnods: 3"
    path.write_text("\n".join(lines))
    with pytest.raises(RubricError, match=f":{number + 1}: limits.call_secnods: unknown key"):
        rubric.load(path)


def test_no_file_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(RubricError, match=r"cannot be read .*Give the path of a rubric\.yaml"):
        rubric.load(tmp_path / "rubric.yaml")


def changed(tmp_path: Path, old: str, new: str) -> rubric.Rubric:
    path = tmp_path / "rubric.yaml"
    path.write_text(kit.rubric_file().read_text().replace(old, new))
    return rubric.load(path)


def test_criterion_without_a_test_is_refused(tmp_path: Path) -> None:
    more = changed(
        tmp_path,
        "statistics: {points: 3",
        "again: {points: 1, grades: [rms_norm], about: more}\n      statistics: {points: 2",
    )
    with pytest.raises(RubricError, match=r"rubric\.yaml:\d+: modules\.layernorm\.criteria\.again: no test names"):
        record(more)


def test_renamed_criterion_is_refused_with_its_line_and_the_name_that_the_tests_use(tmp_path: Path) -> None:
    fewer = changed(tmp_path, "statistics: {", "statistic: {")
    line = 1 + kit.rubric_file().read_text().split("statistics: {")[0].count("\n")
    with pytest.raises(RubricError, match=rf"rubric\.yaml:{line}: .*statistic: .*tests name 'layernorm\.statistics'"):
        record(fewer)


def test_removed_criterion_is_refused_with_the_test_that_names_it(tmp_path: Path) -> None:
    lines = kit.rubric_file().read_text().splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if "statistics: {" in line)
    path = tmp_path / "rubric.yaml"
    path.write_text("".join(lines[:at] + lines[at + 1 :]).replace("points: 20", "points: 17", 1).replace("100", "97"))
    with pytest.raises(RubricError, match=r"test_layernorm.*names the criterion 'layernorm\.statistics', which"):
        record(rubric.load(path))


def test_helpers_are_found_through_helpers() -> None:
    found = rubric.current().helpers("scaled_attention", ("multi_head_attention",))
    assert set(found) == {"softmax", "scaled_dot_product_attention", "split_heads", "merge_heads"}


def test_points_add_up() -> None:
    assert sum(c.points for c in rubric.current().criteria.values()) == rubric.current().points
