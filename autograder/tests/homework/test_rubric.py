"""An invalid rubric is rejected with file, line, key and advice."""

import errno
import os
import re
from pathlib import Path

import pytest

from autograder.exceptions import CommandError
from autograder.grading.plan import record
from autograder.homework import rubric
from autograder.homework.homework import PACKAGE
from autograder.tests.files import HOMEWORK
from autograder.tests.making import homework_with

TEXT = HOMEWORK.rubric_file.read_text()


def loaded(tmp_path: Path, text: str) -> rubric.Rubric:
    path = tmp_path / "rubric.yaml"
    path.write_text(text)
    return rubric.load(path)


END = "\n# end\n"  # appended to the rubric
ALL = HOMEWORK.rubric.points
MODULE = HOMEWORK.rubric.modules["layernorm"].points
STATISTICS = HOMEWORK.rubric.criteria["layernorm.statistics"].points
WRONG = [  # old and new text in the rubric, the key in the message, and the problem
    (f"points: {ALL:g}", f"points: {ALL - 1:g}", "points", f"add up to {ALL:g}"),
    ("statistics: {points: ", "statistics: {points: 1", "modules.layernorm.points", "add up to"),
    ("about:", "abuot:", "abuot", "unknown key; did you mean 'about'? known here: points, about"),
    ("statistics: {", "statistics: {id: layernorm.statistics, ",
     "statistics.id", "unknown key; known here: points, about"),
    ("grades: [rms_norm]", "grades: [rmsnorm]", "grades", "'rmsnorm' is not a function"),
    ("uses: [layernorm]", "uses: [layer]", "uses", "'layer' is not a module above this one: layernorm"),
    ("uses: [layernorm]", "uses: [decoder]", "uses", "'decoder' is not a module above this one: layernorm"),
    ("layer_norm_backward: [layer_norm]", "layer_norm_backward: [x]",
     "functions", "'x' is not a function above this one: layer_norm, rms_norm"),
    ("\nfeedback: full", "\nfeedback: all", "feedback", "'full', 'diagnosis' or 'score'"),
    ("agents_file: true", "agents_file: some",
     "agents_file", "should be a valid boolean (it is 'some')"),
    ("title: Layer norm\n    points: ", "title: Layer norm\n    points: -",
     "modules.layernorm.points", f"should be greater than 0 (it is -{MODULE:g})"),
    ("call_seconds: 3", "wall_factor: 0.5", "limits.wall_factor", "should be greater than or equal to 1 (it is 0.5)"),
    ("    uses: []", "    uses: layernorm",
     "uses", "should be a valid list (it is 'layernorm'); for example uses: [first_module]"),
    ("    title: Layer norm\n", "", "modules.layernorm.title", "Field required"),
    ("      rms_norm: []", "      rms_norm: []\n      rms_norm: []", "rms_norm", "twice"),
    ("  layernorm:", "\tlayernorm:", "", "not YAML"),
    ("\nlimits:", "\nlate: {percent_a_day: 5}\nlimits:", "late", "needs the key due"),
    ("\nlimits:", "\ndue: 2026-11-20T23:59\nlimits:",
     "due", "should have timezone info (it is '2026-11-20T23:59'); for example due: 2026-11-20T23:59+01:00"),
    ("\nlimits:", "\ndue: 20261120\nlimits:", "due", "should be a valid datetime (it is 20261120); for example due: 2026"),
    ("\nlimits:", "\ndue: 2026-11-20T23:59Z\nlate: {per_day: 5}\nlimits:",
     "late.per_day", "known here: grace_minutes"),
    ("statistics: {", "statistics: {counts: full, ", "counts", "add the key why"),
    (END, "tests: {points: 2, criteria: {first: {points: 2, about: tests}}}",
     "points", f"the modules, the integration and the tests add up to {ALL + 2:g}"),
    (END, "tests: {points: 2, criteria: {first: {points: 2, about: tests, grades: [softmax]}}}",
     "tests.criteria.first.grades", "students choose what they test; remove this key"),
    ("limits:", 'python: "3.10"\nlimits:', "python", "'3.13', '3.14' or '3.15' (it is '3.10')"),
    ("limits:", "python: 3.10\nlimits:", "python", "'3.13', '3.14' or '3.15' (it is '3.1')"),
    (END, "tests: {points: 2, criteria: {first: {points: 2, about: tests, visibility: visible}}}",
     "tests.criteria.first.visibility", "their results are shown later, for example after_published"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "where", "said"), WRONG)
def test_error_has_file_key_and_advice(tmp_path: Path, old: str, new: str, where: str, said: str) -> None:
    assert old in TEXT + END
    with pytest.raises(CommandError) as caught:
        loaded(tmp_path, (TEXT + END).replace(old, new, 1))
    assert all(text in str(caught.value) for text in (str(tmp_path / "rubric.yaml"), where, said))


CALLS = 1 + TEXT.split("call_seconds")[0].count("\n")


@pytest.mark.parametrize(("text", "said"), [
    (TEXT.replace("call_seconds", "call_secnods", 1), rf":{CALLS}: limits\.call_secnods: unknown key"),
    ("", r":1: the file: should be keys with values$"),
    (None, rf": cannot be read: {os.strerror(errno.ENOENT)}$"),
], ids=["line", "empty", "missing"])  # fmt: skip
def test_error_has_the_line_if_there_is_one(tmp_path: Path, text: str | None, said: str) -> None:
    with pytest.raises(CommandError, match=rf"rubric\.yaml{said}"):
        rubric.load(tmp_path / "rubric.yaml") if text is None else loaded(tmp_path, text)


@pytest.mark.parametrize("text", ['"3.12"', "3.12"])
def test_python_of_the_image_may_be_written_without_quotes(tmp_path: Path, text: str) -> None:
    assert loaded(tmp_path, TEXT.replace("limits:", f"python: {text}\nlimits:", 1)).python == "3.12"


def test_commented_lines_for_student_tests_are_valid(tmp_path: Path) -> None:
    text, _, more = TEXT.replace(f"points: {ALL:g}", f"points: {ALL + 6:g}", 1).partition("# tests:")
    own = loaded(tmp_path, text + "tests:" + more.replace("\n# ", "\n"))
    assert [criterion.id for criterion in own.of("tests")] == ["tests.first", "tests.second", "tests.third"]
    lines = "".join(f"       {line}\n" for line in ["tests:", *more.replace("\n# ", "\n").splitlines()[1:]])
    assert lines in (PACKAGE / "docs" / "how-to" / "student-tests.md").read_text()


AGAIN = f"again: {{points: {STATISTICS / 2}, grades: [rms_norm], about: more}}\n      statistics: {{points: {STATISTICS / 2}"
LINE = 1 + TEXT.split("statistics: {")[0].count("\n")
FEWER = re.sub(r"\n *statistics: \{.*", "", TEXT)
for points in (ALL, MODULE):
    FEWER = FEWER.replace(f"points: {points:g}\n", f"points: {points - STATISTICS:g}\n", 1)


@pytest.mark.parametrize(("text", "said"), [
    (TEXT.replace(f"statistics: {{points: {STATISTICS:g}", AGAIN),
     rf"rubric\.yaml:{LINE}: modules\.layernorm\.criteria\.again: no test of this criterion"),
    (TEXT.replace("statistics: {", "statistic: {"),
     r"names the criterion 'layernorm\.statistics', which .* did you mean 'layernorm\.statistic'\?"),
    (FEWER, r"test_layernorm.*names the criterion 'layernorm\.statistics', which"),
], ids=["new", "renamed", "removed"])  # fmt: skip
def test_rubric_and_tests_must_name_the_same_criteria(tmp_path: Path, text: str, said: str) -> None:
    own = homework_with(loaded(tmp_path, text))
    with pytest.raises(CommandError, match=said):
        record(own)


def test_helpers_include_helpers_of_helpers() -> None:
    found = HOMEWORK.rubric.helpers("scaled_attention", ("multi_head_attention",))
    assert set(found) == {"softmax", "scaled_dot_product_attention", "split_heads", "merge_heads"}
