"""Which public example is shown of a lost criterion: one that shows what it was lost to."""

import pytest

from autograder.audit.cases import Case, InProcess, submission
from autograder.grading import plan
from autograder.grading.grader import shown
from autograder.grading.scoring import CriterionScore
from autograder.homework import library
from autograder.homework.rubric import current
from autograder.tests import running


@pytest.fixture(scope="module")
def grader() -> InProcess:
    return InProcess(plan.current())


def graded(grader: InProcess, module: str, function: str, *names: str) -> dict[str, CriterionScore]:
    known = {m.name: m for m in reversed(library.of_function(module, function))}
    case = Case("pair", " + ".join(names), module, function, tuple(known[name] for name in names))
    return {one.criterion.id: one for one in grader.grade(submission(case), (module,)).graded}


@pytest.mark.slow
def test_each_criterion_is_shown_an_example_of_its_own_mistake(grader: InProcess) -> None:
    found = graded(grader, "transformer_block", "transformer_stack", "reversed", "unknown_norm_accepted")
    order, names = found["transformer_block.stack"].shown, found["transformer_block.norm_names"].shown
    assert order is not None and isinstance(order.test_call.expected, type(order.response.value))
    assert names is not None and names.test_call.rules.error


@pytest.mark.slow
def test_the_call_that_a_message_begins_with_shows_the_mistake(grader: InProcess) -> None:
    call_result = graded(grader, "layernorm", "rms_norm", "centred", "eps_hard_coded")["layernorm.epsilon"].call_result
    assert (
        call_result is not None and call_result.test_call.kwargs
    )  # with the default eps the other mistake alone is seen


def test_no_example_that_shows_another_mistake(grader: InProcess) -> None:
    alone = graded(grader, "layernorm", "layer_norm", "default_eps")["layernorm.epsilon"]
    beside = graded(grader, "layernorm", "layer_norm", "default_eps", "no_beta")["layernorm.epsilon"]
    assert alone.shown is not None and beside.shown is not None
    assert alone.shown.test_call.number == beside.shown.test_call.number


@pytest.mark.slow
@pytest.mark.parametrize(("name", "alone"), [("statistics_kept", True), ("float64_result", True), ("no_beta", False)])
def test_what_is_kept_and_what_is_only_of_form_is_tried_alone(name: str, alone: bool) -> None:
    call_results = running.call_results("layernorm", running.with_mistakes("layernorm", f"layer_norm.{name}"))
    diagnoses = running.diagnoser().explain("layernorm", call_results)
    wrong = next(call_result for call_result in call_results if call_result.failure is not None)
    score = CriterionScore(current().of("layernorm")[0], "mistake", diagnoses["layer_norm"].named, call_result=wrong)
    assert shown(score, diagnoses, [], wrong) is (wrong if alone else None)
