"""The misconception library: invalid entries, combinations, and every misconception as part of a submitted module."""

import marshal
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.exceptions import CommandError
from autograder.grading.call_results import alike, alike_in_form
from autograder.homework.homework import PACKAGE, Homework
from autograder.homework.library import Written
from autograder.tests import running
from autograder.tests.files import HOMEWORK, kmeans, put

MODULES = [module for module in HOMEWORK.rubric.modules if HOMEWORK.of_module(module)]
FUNCTIONS = [(module, function) for module in MODULES for function in HOMEWORK.library[module]]


def wrong(
    table: Written, criterion: str = "rms", does: str = "Your code.", right: str = "Do that.", **edits: str
) -> None:
    """Add the misconception "a"; the keys of `edits` are texts or names in TEXTS."""
    table.wrong("a", criterion, {TEXTS.get(old, old): new for old, new in edits.items()}, does=does, right=right)


def twice(table: Written) -> None:
    wrong(table, root="(")
    wrong(table, eps="0")


def another(table: Written) -> None:
    table.instead("a", "rms", does="Your code.", right="Do that.")(np.mean)


TEXTS = {"root": "np.sqrt(", "cube": "np.cbrt("}
LIBRARY = "from autograder.homework.library import written\n\n\n"


@pytest.fixture
def rms() -> Written:
    """An empty table for `rms_norm` that belongs to no file."""

    def rms_norm(x, gamma, eps=1e-6):  # type: ignore[no-untyped-def]
        square = np.mean(x**2, axis=-1, keepdims=True)
        return gamma * x / np.sqrt(square + eps)

    return Written(rms_norm, HOMEWORK)


REJECTED: dict[str, tuple[Callable[[Written], None], str]] = {
    "text that is not there": (lambda f: wrong(f, cube="("), "does not occur in rms_norm"),
    "nothing changed": (lambda f: wrong(f, root="np.sqrt("), "changes nothing"),
    "letters changed twice": (lambda f: wrong(f, root="(", sqrt="cbrt"), "the same text twice"),
    "no Python": (lambda f: wrong(f, root="(("), "is not Python"),
    "unknown criterion": (lambda f: wrong(f, "roots", root="("),
        "'roots' does not grade rms_norm; those that do: example, rms"),
    "criterion of others": (lambda f: wrong(f, "affine", root="("), "does not grade rms_norm"),
    "no first half": (lambda f: wrong(f, does="", root="("), "`does` must be"),
    "no second half": (lambda f: wrong(f, right="do", root="("), "`right` must be"),
    "name twice": (twice, "already a misconception"),
    "another function": (another, "call the function rms_norm__a"),
}  # fmt: skip


@pytest.mark.parametrize("case", REJECTED)
def test_invalid_misconception_is_rejected_with_its_id(rms: Written, case: str) -> None:
    enter, reason = REJECTED[case]
    with pytest.raises(CommandError, match=r"^rms_norm\.a: ") as rejection:
        enter(rms)
    assert reason in str(rejection.value)


def test_misconceptions_can_be_combined_unless_their_edits_overlap() -> None:
    found = {m.name: m for m in HOMEWORK.of_function("layernorm", "layer_norm")}
    both = HOMEWORK.version("layernorm", "layer_norm", (found["sample_variance"], found["no_beta"]))
    assert both is not None and "(count - 1)" in both.source and "+ beta" not in both.source
    assert HOMEWORK.version("layernorm", "layer_norm", (found["eps_missing"], found["eps_squared"])) is None
    kept = HOMEWORK.version("layernorm", "layer_norm", (found["statistics_kept"], found["no_beta"]))
    assert kept is not None and kept.memory and not both.memory
    whole = next(m for module in MODULES for m in HOMEWORK.of_module(module) if not m.edits)
    beside = next(m for m in HOMEWORK.of_function(whole.module, whole.function) if m != whole)
    alone = HOMEWORK.version(whole.module, whole.function, (whole,))
    assert alone is not None and alone.source == whole.source
    assert HOMEWORK.version(whole.module, whole.function, (whole, beside)) is None
    assert found["no_beta"].sentence == f"{found['no_beta'].does} {found['no_beta'].right}"


@pytest.mark.parametrize(("name", "does", "right", "read"), [
    ("changes_x", "Your code changes the argument `x`.", "Do not change the arguments: work on copies.",
     "the NumPy user guide, Copies and views"),
    ("float64_result", "Your result is float64 for float32 arguments.", "Results keep the dtype of the arguments. Convert float64 "
     "values such as np.zeros(3) or np.sqrt(8); math.sqrt(8) keeps the dtype.",
     "the docstring of `rms_norm`; the NumPy reference, Data type promotion in NumPy"),
    ("float32_result", "Your result is float32 for float64 arguments.", "Results keep the dtype of the arguments.",
     "numpy.ndarray.astype"),
    ("other", "Your code ignores the argument eps and uses a fixed number.", "Use the argument eps.",
     "the docstring of `rms_norm`"),
])  # fmt: skip
def test_built_in_sentences_of_a_misconception(rms: Written, name: str, does: str, right: str, read: str) -> None:
    about = {"ignores": "eps"} if name == "other" else {}
    rms.wrong(name, "rms", {"np.sqrt(": "("}, {" + eps": ""}, **about)
    first, second = rms.misconceptions
    assert (first.does, first.right, first.read, first.id) == (does, right, read, f"rms_norm.{name}")
    assert (first.way, second.way, first.changes) == (0, 1, "x" if name == "changes_x" else "")
    assert first.edits == (("np.sqrt(", "("),) and first.criteria == ("layernorm.rms",)
    assert not first.is_observed and first.same == (name, does)


def test_fresh_versions_share_no_state() -> None:
    kept = HOMEWORK.misconception("layer_norm.statistics_kept")
    assert kept is not None
    x, ones, zeros = np.array([1.0, 2.0, 6.0]), np.ones(3), np.zeros(3)
    first = HOMEWORK.alone(kept).fresh()
    assert np.allclose(first(x, ones, zeros), HOMEWORK.alone(kept).fresh()(x, ones, zeros))
    assert not np.allclose(first(x + 1, ones, zeros), HOMEWORK.alone(kept).fresh()(x + 1, ones, zeros))


def test_homework_of_a_folder_is_its_own_if_it_is_complete(tmp_path: Path) -> None:
    own = Homework.at(kmeans(tmp_path / "k"))
    assert (own.is_packaged, own.own_folder, own.notebook) == (False, own.folder, "homework.ipynb")
    assert [own.suites, own.misconceptions, own.alternatives] == [
        own.folder / "grading" / name for name in ("suites", "misconceptions", "alternatives")
    ]
    assert (HOMEWORK.own_folder, HOMEWORK.suites, HOMEWORK.alternatives) == (
        None, PACKAGE / "homework" / "suites", PACKAGE / "audit" / "alternatives",
    )  # fmt: skip
    assert own.files == {"kmeans.py": (own.solutions / "kmeans.py").read_bytes()}
    (own.solutions / "another.ipynb").touch()
    with pytest.raises(CommandError, match=f"^there must be exactly one notebook in {own.solutions}, not 2$"):
        assert own.notebook
    put(own.folder, {"grading/misconceptions/kmeans/b.py": LIBRARY + "@written\ndef near(x):\n    return x\n"})
    with pytest.raises(CommandError, match=r"^/.*/kmeans/b\.py:\d+: near is not a function in rubric\.yaml$"):
        assert Homework(own.folder).library
    put(own.folder, {"grading/misconceptions/kmeans/b.py": "1 / 0\n"})
    with pytest.raises(CommandError, match=r"^/.*/kmeans/b\.py:1: ZeroDivisionError: division by zero$"):
        assert Homework(own.folder).library
    put(own.folder, {"solutions/kmeans.py": "import nothing\n"})
    with pytest.raises(CommandError, match=r"^/.*/solutions/kmeans\.py:1: ModuleNotFoundError: "):
        assert Homework(own.folder).functions
    for part in ("grading/suites", "rubric.yaml"):
        (own.folder / part).rename(own.folder / "moved")
        assert Homework.at(own.folder).is_packaged
        (own.folder / "moved").rename(own.folder / part)


def test_references_of_replaced_modules_and_helpers() -> None:
    """Modules that a replaced module uses are sent without being replaced; helpers without the other functions."""
    sent = HOMEWORK.replacing(["decoder", "layernorm"])
    names = {one.module: one.functions for one in sent}
    functions = {name: tuple(entry.functions) for name, entry in HOMEWORK.rubric.modules.items()}
    below = dict.fromkeys(("scaled_attention", "causal_mask", "transformer_block"), ())
    assert names == below | {name: functions[name] for name in ("decoder", "layernorm")}
    assert [one.module for one in sent] == [name for name in HOMEWORK.rubric.modules if name in names]
    helper = HOMEWORK.helpers("scaled_attention", ("scaled_dot_product_attention",))
    assert (helper.module, helper.functions) == ("scaled_attention", ("scaled_dot_product_attention",))
    exec(marshal.loads(helper.code), loaded := dict[str, Any]())
    assert {name for name in functions["scaled_attention"] if name in loaded} == {
        "softmax",
        "scaled_dot_product_attention",
    }


@pytest.mark.parametrize("module", MODULES)
def test_correct_functions_of_the_library_pass_every_call(module: str) -> None:
    call_results = running.call_results(module, running.with_source(module))
    assert {call_result.target.function for call_result in call_results} >= set(HOMEWORK.library[module])
    assert [call_result for call_result in call_results if call_result.failure is not None] == []


@pytest.mark.parametrize(("module", "function"), FUNCTIONS)
def test_every_misconception_can_be_submitted_as_part_of_a_module(module: str, function: str) -> None:
    for misconception in HOMEWORK.of_function(module, function):
        with warnings.catch_warnings():
            warnings.simplefilter("error", SyntaxWarning)  # for example, `is` with a literal
            assert callable(running.with_source(module, misconception.source)[function])
        assert HOMEWORK.misconception(misconception.id) is not None


@pytest.mark.slow
@pytest.mark.parametrize(("module", "function"), FUNCTIONS)
def test_stateless_misconceptions_do_not_depend_on_earlier_calls(module: str, function: str) -> None:
    known_responses = running.diagnoser().known_responses(module, function)
    for misconception in HOMEWORK.of_function(module, function):
        version = HOMEWORK.version(module, function, (misconception,))
        assert version is not None
        if not version.memory:
            together = running.call_results(module, running.with_source(module, version.source))
            for result in together:
                if result.target.function == function:
                    alone = known_responses.response(version, result.test_call.number)
                    assert alike(result.test_call, alone, result.response), misconception.id
                    assert alike_in_form(result.test_call, alone, result.response), misconception.id
