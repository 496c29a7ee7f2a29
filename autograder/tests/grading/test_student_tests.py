"""Students' tests are graded by the misconceptions they detect, and must pass on correct code in any style."""

import ast
import importlib
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from autograder.feedback.results import Grade
from autograder.feedback.sentences import paragraphs
from autograder.grading import student_tests
from autograder.grading.grader import Grader
from autograder.grading.student_tests import PASSED, FunctionTests, Outcome, Version, by_function, graded_tests
from autograder.homework.homework import Homework
from autograder.homework.rubric import TESTS_FILE
from autograder.release.home_table import importable_checks
from autograder.sandbox.sandbox import Sandbox
from autograder.submissions.submission import Submission
from autograder.tests.attacks import calling_nothing
from autograder.tests.conftest import QUICK
from autograder.tests.files import HOMEWORK
from autograder.tests.making import homework_with, rubric_with

NAMES = ("first", "second", "third")
TESTS = {"points": 6, "criteria": {name: {"points": 2, "about": f"tests of the {name} function"} for name in NAMES}}
IMPORTS = """
import numpy as np
import pytest
from causal_mask import causal_mask
from layernorm import layer_norm
from scaled_attention import scaled_dot_product_attention, split_heads
"""
SMALL = """
def test_layer_norm_of_one_row():
    x, ones = np.array([4.0, 2.0, 1.0, -3.0]), np.ones(4)
    np.testing.assert_allclose(layer_norm(x, ones, 0 * ones).mean(), 0, atol=1e-12)
    np.testing.assert_allclose(layer_norm(x, 2 * ones, 0 * ones).std(), 2, atol=1e-5)
"""
Outcomes = tuple[FunctionTests, ...]


@pytest.fixture(scope="module")
def homework() -> Homework:
    return homework_with(rubric_with(tests=TESTS))


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(QUICK, (), HOMEWORK.secret, ("numpy.testing",)) as opened:
        yield opened


@pytest.fixture(scope="module")
def graded(sandbox: Sandbox, homework: Homework) -> Callable[[str], Outcomes]:
    """Grades a file with the given tests; returns the outcomes of its three criteria."""

    def run(text: str) -> Outcomes:
        every = graded_tests(sandbox, homework, Submission("x", {TESTS_FILE: (IMPORTS + text).encode()}))
        return tuple(one.tests for one in every if one.tests is not None)

    return run


def message(tests: FunctionTests) -> str:
    return paragraphs("students_tests", tests, rubric=HOMEWORK.rubric)


def public_checks(module: str, function: str) -> str:
    """The public checks of a function, as a student would write them."""
    with importable_checks(HOMEWORK.solutions):
        calls = importlib.import_module("student_calls")
        whole = [call for call in calls.calls_in(module) if not call.part and call.expected is not None]
        own = [call for call in whole if call.function == function]
        pairs = [(call.key, calls.source(call.expected)) for call in own]
    return "".join(
        f"def test_{function}_{number}():\n    np.testing.assert_allclose({call}, {expected}, atol=5e-6)\n\n"
        for number, (call, expected) in enumerate(pairs)
    )


FUNCTIONS = {"layer_norm": "layernorm", "causal_mask": "causal_mask", "split_heads": "scaled_attention"}


def test_the_public_checks_detect_most_misconceptions_but_not_all(graded: Callable[[str], Outcomes]) -> None:
    outcomes = graded("".join(public_checks(module, function) for function, module in FUNCTIONS.items()))
    assert [one.function for one in outcomes] == list(FUNCTIONS)
    assert not any(one.problem for one in outcomes), "the checks accept every correct style"
    assert all(0.5 < one.share < 1 for one in outcomes)


def test_a_version_shows_no_sign_of_what_was_edited(sandbox: Sandbox, graded: Callable[[str], Outcomes]) -> None:
    if "fork" not in sandbox.layers:
        pytest.skip("without fork, all versions share a process")
    outcomes = graded(calling_nothing.tests(FUNCTIONS))
    assert [(one.function, one.problem, one.detected) for one in outcomes] == [(name, "", 0) for name in FUNCTIONS]
    assert "detect 0 of " in message(outcomes[0])


def test_the_order_of_the_versions_is_shuffled_and_depends_on_the_file(
    graded: Callable[[str], Outcomes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def order(text: str) -> list[Version]:
        versions = list[Version]()

        def outcome(_: Sandbox, homework: Homework, version: Version, tests: list[str]) -> Outcome:
            versions.append(version)
            return PASSED

        monkeypatch.setattr(student_tests, "outcome_of", outcome)
        graded(text)
        return versions

    first, same, other = order(SMALL), order(SMALL), order(f"{SMALL}\n")
    assert first == same != other and {*first} == {*other}
    correct = [number for number, version in enumerate(first) if version[1] is None]
    assert min(correct) > 0 and max(correct) - min(correct) > len(correct)


def test_feedback_describes_one_undetected_misconception(graded: Callable[[str], Outcomes]) -> None:
    outcome = graded(SMALL)[0]
    assert 0 < outcome.detected < outcome.total
    said = message(outcome)
    assert outcome.undetected is not None and said.endswith(f"for example: *{outcome.undetected.does}*")
    assert outcome.undetected.right not in said and "array" not in said


REJECTS = "def test_{}:\n    {}\n"
STYLE = "a correct solution in this style: Classes: norms"


@pytest.mark.parametrize(
    ("text", "problem", "said"),
    [
        (
            REJECTS.format("layer_norm_takes_four()", "assert layer_norm.__code__.co_argcount == 4"), "rejects",
            f"`test_layer_norm_takes_four` fails on line 8 for {STYLE}",
        ),
        (
            REJECTS.format("causal_mask_of_three()", "assert causal_mask(3)[0, 1]"), "rejects",
            "No points: a test rejects a correct `causal_mask`.",
        ),
        (
            REJECTS.format("split_heads_refuses()", "with pytest.raises(TypeError):\n        split_heads(np.ones((2, 5)), 2)"),
            "rejects", "fails on line 9 for ",
        ),
        (REJECTS.format("causal_mask_ends()", "exit(0)"), "rejects", "fails on line 8 for "),
        (REJECTS.format("causal_mask_endless()", "while True: pass"), "rejects", "for a correct solution.\n\nThe test took"),
        ("import scipy\n" + SMALL, "import", "with correct solutions. It raises ModuleNotFoundError on line 7 of"),
        ("from concept_check import answers\n" + SMALL, "import", "It raises ModuleNotFoundError on line 7 of"),
        ("while True:\n    pass\n" + SMALL, "import", "in a loop on line 7 of `test_decoder_parts.py`"),
        ("def test_something():\n    pass\n", "few", "tests no other function"),
        ("def test_layer_norm(:\n", "few", "tests no other function"),
    ],
)  # fmt: skip
def test_feedback_explains_why_tests_earn_nothing(
    graded: Callable[[str], Outcomes], text: str, problem: str, said: str
) -> None:
    outcome = graded(text)[0]
    assert (outcome.problem, outcome.share) == (problem, 0)
    assert said in message(outcome)


def test_wrong_tests_cost_points_only_for_their_own_function(graded: Callable[[str], Outcomes]) -> None:
    first, second, third = graded(SMALL + "def test_causal_mask_wrong():\n    assert False\n")
    assert first.share > 0 and third.problem == "few"
    assert (second.function, second.problem) == ("causal_mask", "rejects")


def test_unchanged_and_missing_files_earn_nothing_but_the_example_earns_points(
    sandbox: Sandbox, homework: Homework, graded: Callable[[str], Outcomes]
) -> None:
    given = (HOMEWORK.solutions / TESTS_FILE).read_bytes()
    assert all(one.points == 0 for one in graded_tests(sandbox, homework, Submission("x", {TESTS_FILE: given})))
    without = graded_tests(sandbox, homework, Submission("x", {}))
    assert [(one.criterion.id, one.points) for one in without] == [(f"tests.{name}", 0) for name in NAMES]
    for one in without:
        text = paragraphs("students_tests", one.tests, rubric=HOMEWORK.rubric)
        assert "no `test_decoder_parts.py`" in text
    docstring = ast.get_docstring(ast.parse(given)) or ""
    example = docstring.partition("An example:\n\n")[2].partition("\n\n")[0]
    assert 0 < graded(textwrap.dedent(example))[0].share < 0.5


def test_tests_belong_to_the_longest_function_name_and_three_functions_count(homework: Homework) -> None:
    names = ["layer_norm_backward_x", "layer_norm", "softmax_of_rows", "layer_norms", "causal_mask", "layer_norm_b"]
    text = "".join(f"def test_{name}():\n    pass\n" for name in names)
    assert by_function(text.encode(), homework, 3) == {
        "layer_norm_backward": ["test_layer_norm_backward_x"],
        "layer_norm": ["test_layer_norm", "test_layer_norm_b"],
        "softmax": ["test_softmax_of_rows"],
    }


def test_criteria_of_student_tests_come_last_and_only_if_the_rubric_has_them(
    grader: Grader, homework: Homework, references: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    submission = Submission("x", {**references, TESTS_FILE: (IMPORTS + SMALL).encode()})
    without = Grade.of(grader.grade(submission, ["concept_check", "tests"])).to_gradescope()
    monkeypatch.setattr(grader, "rubric", homework.rubric)
    monkeypatch.setattr(grader, "plan", replace(grader.plan, homework=homework))
    having = Grade.of(grader.grade(submission, ["concept_check", "tests"])).to_gradescope()
    assert having["tests"][: -len(NAMES)] == without["tests"]
    first, second, third = having["tests"][-len(NAMES) :]
    assert first["name"] == "tests.first: tests of the first function"
    assert (first["status"], first["visibility"]) == ("failed", "after_published")
    assert 0 < first["score"] < first["max_score"] == 2 and second["score"] == third["score"] == 0
