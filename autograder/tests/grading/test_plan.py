"""The test plan: every criterion has test calls, recordings are identical, and errors in the suites are reported."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from autograder.grading import plan
from autograder.homework.rubric import INTEGRATION
from autograder.tests.files import HOMEWORK
from autograder.tests.running import the_plan


def test_every_criterion_has_test_calls_with_unique_numbers() -> None:
    found = the_plan()
    test_calls = [test_call for group in (found.visible, found.hidden) for own in group.values() for test_call in own]
    assert {test_call.criterion for test_call in test_calls} == set(HOMEWORK.rubric.criteria)
    for module in (*HOMEWORK.rubric.modules, INTEGRATION):
        own = (*found.public[module], *found.hidden.get(module, ()))
        assert len({test_call.number for test_call in own}) == len(own) > 0


@pytest.mark.slow
def test_recordings_are_identical_whatever_the_users_pytest_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    one, other = the_plan(), plan.record(HOMEWORK)
    assert one.hidden.keys() == other.hidden.keys()
    for module in HOMEWORK.rubric.modules:
        first, second = one.hidden.get(module, ()), other.hidden.get(module, ())
        assert [test_call.call.payload for test_call in first] == [test_call.call.payload for test_call in second]


CONTRACT: dict[str, Callable[[Any], Any]] = {
    "layer_norm": lambda x: HOMEWORK.functions["layer_norm"](x, 1.0, 0.0),
    "rms_norm": lambda x: HOMEWORK.functions["rms_norm"](x, 1.0),
    "batch_norm": lambda x: HOMEWORK.functions["batch_norm"](x, 1.0, 0.0, 0.0, 1.0, True)[0],
    "softmax": lambda x: HOMEWORK.functions["softmax"](x),
    "softmax of columns": lambda x: HOMEWORK.functions["softmax"](x, 0),
}


def callback_arguments() -> Iterator[tuple[Callable[..., Any], tuple[int, ...]]]:
    """The callback arguments of test calls, each with the shape of the first array argument."""
    found = the_plan()
    for own in (*found.visible.values(), *found.hidden.values(), *found.examples.values()):
        for test_call in own:
            given = (*test_call.args, *test_call.kwargs.values())
            shapes = [value.shape for value in given if isinstance(value, np.ndarray)]
            for shape in (shape for shape in shapes[:1] if len(shape) == 2 and min(shape) > 1):
                yield from ((value, shape) for value in given if callable(value))


def test_no_callback_sent_to_the_process_implements_a_contract_function() -> None:
    rng, sent = np.random.default_rng(0), list(callback_arguments())
    assert sent
    for function, shape in sent:
        x = rng.normal(size=shape)
        y = np.asarray(function(x))
        assert [name for name, asked in CONTRACT.items() if y.shape == shape and np.allclose(y, asked(x))] == []


def test_only_visible_criteria_and_examples_are_shown() -> None:
    found, criteria = the_plan(), HOMEWORK.rubric.criteria
    for module in HOMEWORK.rubric.modules:
        for test_call in found.public[module]:
            assert not test_call.criterion or criteria[test_call.criterion].visible or test_call.rules.question
        assert not [test_call for test_call in found.hidden.get(module, ()) if criteria[test_call.criterion].visible]


def arrays(value: Any) -> set[tuple[Any, ...]]:
    """The arrays in a value that have at least two different entries."""
    if isinstance(value, np.ndarray):
        told = value.size > 1 and bool((value != value.flat[0]).any())
        return {(value.shape, (np.round(value.astype(float), 6) + 0.0).tobytes())} if told else set()
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return {found for part in parts for found in arrays(part)}


def test_arguments_of_later_calls_do_not_give_away_expected_values() -> None:
    """Those arguments are already in the memory of the student's process."""
    found, rubric = the_plan(), HOMEWORK.rubric
    for module in [name for name in rubric.modules if found.hidden[name]]:
        waiting, given, told = set[Any](), dict[str, int](), dict[str, int]()
        for test_call in reversed(found.hidden[module]):
            expected = arrays(test_call.expected)
            told[test_call.criterion] = told.get(test_call.criterion, 0) + bool(expected)
            given[test_call.criterion] = given.get(test_call.criterion, 0) + bool(expected and expected <= waiting)
            waiting |= arrays([test_call.args, dict(test_call.kwargs)])
        assert told
        assert [name for name in told if given[name] > told[name] / 2] == []
