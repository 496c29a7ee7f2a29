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
from autograder.tests.making import homework_with, rubric_with

TEXT = HOMEWORK.rubric_file.read_text()


def loaded(tmp_path: Path, text: str) -> rubric.Rubric:
    path = tmp_path / "rubric.yaml"
    path.write_text(text)
    return rubric.load(path)


END = "\n# end\n"  # appended to the rubric
ALL = HOMEWORK.rubric.points
MODULE = HOMEWORK.rubric.modules["layernorm"].points
STATISTICS = HOMEWORK.rubric.criteria["layernorm.statistics"].points
KNOWN = "known here: points, about, grades, looks_at, credit, visibility, feedback, counts, why"
DUE = "for example due: 2026-11-20T23:59+01:00"
PYTHONS = "python: should be '3.11', '3.12', '3.13', '3.14' or '3.15' (it is "
NAMES = "layer_norm, rms_norm, layer_norm_backward"
CRITERION = "tests: {points: 2, criteria: {first: {points: 2, about: tests"
RMS = "modules.layernorm.criteria.rms"
WRONG = [  # old and new text in the rubric, and the last line of the message without the place
    (f"points: {ALL:g}", f"points: {ALL - 1:g}",
     f"points: is {ALL - 1:g}, but the modules and the integration add up to {ALL:g}"),
    (f"points: {MODULE:g}", f"points: {MODULE + 1:g}",
     f"modules.layernorm.points: is {MODULE + 1:g}, but the criteria add up to {MODULE:g}"),
    ("about:", "abuot:", f"modules.layernorm.criteria.example.abuot: unknown key; did you mean 'about'? {KNOWN}"),
    ("statistics: {", "statistics: {id: layernorm.statistics, ",
     f"modules.layernorm.criteria.statistics.id: unknown key; {KNOWN}"),
    ("grades: [rms_norm]", "grades: [rmsnorm]", f"{RMS}.grades: 'rmsnorm' is not a function of this module: {NAMES}"),
    ("grades: [rms_norm], ", "", f"{RMS}: grades: list the functions it tests; known: {NAMES}"),
    ("norms: {", "norms: {grades: [rms_norm], ",
     "integration.criteria.norms.grades: the integration runs all functions; remove this key"),
    *(("uses: [layernorm]", f"uses: [{name}]",
       f"modules.batchnorm_comparison.uses: {name!r} is not a module above this one: layernorm")
      for name in ("layer", "batchnorm_comparison", "decoder")),
    *(("layer_norm_backward: [layer_norm]", f"layer_norm_backward: [{name}]",
       f"modules.layernorm.functions.layer_norm_backward: {name!r} is not a function above this one: layer_norm, rms_norm")
      for name in ("x", "layer_norm_backward")),
    ("answers: []", "answers: []\n      layer_norm: []",
     "modules.concept_check.functions.layer_norm: the module layernorm already has this function"),
    ("answers: []", "answers: []\n      others: []", "modules.concept_check.functions.others: no criterion grades this function"),
    *(("  concept_check:", f"  {name}:", f"modules.{name}: a module's name must be a Python name other than integration "
       "and tests") for name in ("concept-check", "tests")),
    ("\nfeedback: full", "\nfeedback: all", "feedback: should be 'full', 'diagnosis' or 'score' (it is 'all')"),
    ("agents_file: true", "agents_file: some", "agents_file: should be a valid boolean (it is 'some')"),
    ("title: Layer norm\n    points: ", "title: Layer norm\n    points: -",
     f"modules.layernorm.points: should be greater than 0 (it is -{MODULE:g})"),
    ("call_seconds: 3", "wall_factor: 0.5", "limits.wall_factor: should be greater than or equal to 1 (it is 0.5)"),
    ("    uses: []", "    uses: layernorm",
     "modules.layernorm.uses: should be a valid list (it is 'layernorm'); for example uses: [first_module]"),
    ("    title: Layer norm\n", "", "modules.layernorm.title: Field required"),
    ("      rms_norm: []", "      rms_norm: []\n      rms_norm: []",
     "modules.layernorm.functions.rms_norm: this key occurs twice"),
    ("  layernorm:", "\tlayernorm:",
     "not YAML: found character '\\t' that cannot start any token. Indent with spaces, two for each level."),
    ("title: A", "title: [A", "not YAML: expected ',' or ']', but got ':'. Look at this line and the one above."),
    ("\nlimits:", "\nlate: {percent_a_day: 5}\nlimits:", f"late: the late policy needs the key due, {DUE}"),
    ("\nlimits:", "\nuploads: last_on_time\nlimits:", f"uploads: last_on_time needs the key due, {DUE}"),
    ("\nlimits:", "\ndue: 2026-11-20T23:59Z\nlate: {percent_a_day: 5, points_a_day: 2}\nlimits:",
     "late.points_a_day: give either points_a_day or percent_a_day"),
    ("\nlimits:", "\ndue: 2026-11-20T23:59\nlimits:", f"due: should have timezone info (it is '2026-11-20T23:59'); {DUE}"),
    ("\nlimits:", "\ndue: 20261120\nlimits:", f"due: should be a valid datetime (it is 20261120); {DUE}"),
    ("\nlimits:", "\ndue: 2026-11-20T23:59Z\nlate: {per_day: 5}\nlimits:", "late.per_day: unknown key; did you mean "
     "'percent_a_day'? known here: grace_minutes, points_a_day, percent_a_day, floor_percent"),
    ("statistics: {", "statistics: {counts: full, ",
     "modules.layernorm.criteria.statistics.counts: add the key why: the reason is shown to students"),
    (END, f"{CRITERION}}}}}}}", f"points: is {ALL:g}, but the modules, the integration and the tests add up to {ALL + 2:g}"),
    (END, f"{CRITERION}, grades: [softmax]}}}}}}",
     "tests.criteria.first.grades: students choose what they test; remove this key"),
    (END, f"{CRITERION}, visibility: visible}}}}}}", "tests.criteria.first.visibility: the tests run on correct code, so their "
     "results are shown later, for example after_published"),
    ("limits:", 'python: "3.10"\nlimits:', f"{PYTHONS}'3.10')"),
    ("limits:", "python: 3.10\nlimits:", f"{PYTHONS}'3.1')"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "said"), WRONG)
def test_error_has_file_key_and_advice(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in TEXT + END
    with pytest.raises(CommandError) as caught:
        loaded(tmp_path, (TEXT + END).replace(old, new, 1))
    last = str(caught.value).splitlines()[-1]
    assert re.fullmatch(rf"{tmp_path}/rubric\.yaml:\d+(:\d+)?: {re.escape(said)}", last), last


CALLS = 1 + TEXT.split("call_seconds")[0].count("\n")


@pytest.mark.parametrize(("text", "said"), [
    (TEXT.replace("call_seconds", "call_secnods", 1), rf":{CALLS}: limits\.call_secnods: unknown key"),
    ("", r":1: the file: should be keys with values$"),
    ("title: x\nlimits: [\n  a: b\n\tc", r":4:1: not YAML: found character '\\t' that cannot start any token\. Indent with "),
    (None, rf": cannot be read: {os.strerror(errno.ENOENT)}$"),
], ids=["line", "empty", "column", "missing"])  # fmt: skip
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


def test_values_that_follow_from_the_rubric() -> None:
    tests = {"points": 2, "criteria": {"first": {"points": 2, "about": "tests", "feedback": "score"}}}
    about: dict[str, dict[str, str]] = {
        "layernorm.rms": {"counts": "dropped", "why": "a typo", "visibility": "hidden"},
        "layernorm.affine": {"counts": "full", "why": "old", "feedback": "diagnosis"},
    }
    own = rubric_with(about, tests=tests)
    rms, affine, first, norms = (own.criteria[name] for name in (*about, "tests.first", "integration.norms"))
    assert (rms.most, rms.counted, rms.visibility, rms.feedback) == (0, "does not count: a typo", "hidden", "full")
    assert (affine.most, affine.counted, affine.visibility) == (
        affine.points,
        "is given to all: old",
        "after_published",
    )
    assert (first.id, first.module, first.counted, affine.feedback) == ("tests.first", "tests", "", "diagnosis")
    assert (own.most, own.points) == (ALL + 2 - rms.points, ALL + 2)
    assert [*own.groups] == [*own.modules, "integration", "tests"] == [*own.titles]
    assert own.files == tuple(f"{name}.py" for name in own.modules) and own.of("integration")[0] == norms
    assert [*own.titles.values()][-3:] == ["Concept check", "The whole model", "Tests"]
    assert [rubric.file_of(name) for name in ("decoder", *[*own.groups][-2:])] == [
        "decoder.py",
        "",
        "test_decoder_parts.py",
    ]
    assert [name for name in own.groups if not own.explains(name)] == ["concept_check", "tests"]
    assert {name for name in own.modules if own.below(name)} == {"batchnorm_comparison", "transformer_block", "decoder"}
    assert own.below("decoder") == {"layernorm", "scaled_attention", "causal_mask", "transformer_block"}
    assert own.module_of("rms_norm") == "layernorm"
    line = 1 + TEXT.split("rms: {")[0].count("\n")
    assert (
        HOMEWORK.rubric.source_of("layernorm.rms") == f"{HOMEWORK.rubric_file}:{line}: modules.layernorm.criteria.rms"
    )
    assert re.fullmatch(
        r".*rubric\.yaml:\d+: integration\.criteria\.norms", HOMEWORK.rubric.source_of("integration.norms")
    )
