"""Which public example is shown of a lost criterion: one that shows what it was lost to."""

import pytest

from autograder.grading import script
from autograder.grading.grader import Graded
from autograder.homework import mistakes
from autograder.proof.cases import Case, submission
from autograder.proof.in_process import InProcess


@pytest.fixture(scope="module")
def grader() -> InProcess:
    return InProcess(script.current())


def graded(grader: InProcess, module: str, function: str, *names: str) -> dict[str, Graded]:
    known = {m.name: m for m in reversed(mistakes.of_function(module, function))}
    case = Case("pair", " + ".join(names), module, function, tuple(known[name] for name in names))
    return {one.criterion.id: one for one in grader.grade(submission(case), module, function).graded}


def test_each_criterion_is_shown_an_example_of_its_own_mistake(grader: InProcess) -> None:
    found = graded(grader, "transformer_block", "transformer_stack", "reversed", "unknown_norm_accepted")
    order, names = found["transformer_block.stack"].shown, found["transformer_block.norm_names"].shown
    assert order is not None and isinstance(order.step.expected, type(order.reply.value))
    assert names is not None and names.step.rules.error


def test_the_first_wrong_call_is_one_that_shows_the_mistake(grader: InProcess) -> None:
    found = graded(grader, "layernorm", "layer_norm_backward", "axes_kept", "no_gamma")
    record = found["layernorm.backward_x"].record
    assert record is not None and record.fault is not None and record.fault.kind != "shape"


def test_no_example_that_shows_another_mistake(grader: InProcess) -> None:
    alone = graded(grader, "layernorm", "layer_norm", "default_eps")["layernorm.epsilon"]
    beside = graded(grader, "layernorm", "layer_norm", "default_eps", "no_beta")["layernorm.epsilon"]
    assert alone.shown is not None and beside.shown is not None
    assert alone.shown.step.number == beside.shown.step.number


@pytest.mark.parametrize("name", ["statistics_kept", "float64_result"])
def test_what_is_kept_and_what_is_only_of_form_is_tried_alone(grader: InProcess, name: str) -> None:
    lost = [one for one in graded(grader, "layernorm", "layer_norm", name).values() if not one.passed]
    assert lost and all(one.shown is None or one.shown.step.test == "" for one in lost)
