"""The misconception library: invalid entries, combinations, and every misconception as part of a submitted module."""

import warnings
from collections.abc import Callable

import numpy as np
import pytest

from autograder.exceptions import CommandError
from autograder.grading.call_results import alike, alike_in_form
from autograder.homework.library import Written
from autograder.tests import running
from autograder.tests.files import HOMEWORK

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


def test_fresh_versions_share_no_state() -> None:
    kept = HOMEWORK.misconception("layer_norm.statistics_kept")
    assert kept is not None
    x, ones, zeros = np.array([1.0, 2.0, 6.0]), np.ones(3), np.zeros(3)
    first = HOMEWORK.alone(kept).fresh()
    assert np.allclose(first(x, ones, zeros), HOMEWORK.alone(kept).fresh()(x, ones, zeros))
    assert not np.allclose(first(x + 1, ones, zeros), HOMEWORK.alone(kept).fresh()(x + 1, ones, zeros))


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
