"""The test plan: every criterion has test calls, recordings are identical, and errors in the suites are reported."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.exceptions import CommandError
from autograder.grading import plan
from autograder.homework.homework import Homework
from autograder.homework.rubric import INTEGRATION
from autograder.tests.files import HOMEWORK, kmeans, python_says
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


# Mistakes of authors in a homework with one module: a file, a text in it, what replaces it, and the error

SUITE, RUBRIC, LIBRARY = "grading/suites/test_kmeans.py", "rubric.yaml", "grading/misconceptions/kmeans/nearest.py"
FIRST = "    check.squared_distances(rng.normal(0, 2, (6, 3)), rng.normal(0, 2, (4, 3)))\n"
LIST = '"nearest": ['
NO_EXAMPLES = "its docstring has an example, which no criterion with `looks_at: examples` grades"
UNKNOWN = "which rubric.yaml does not have"
MISTAKES = {
    "no criterion": (SUITE, "@criterion(", "@pytest.mark.skipif(False, reason=",
        "\n".join(f"{SUITE}:{n}: the test has no @criterion" for n in (9, 14, 21))),
    "an empty criterion": (SUITE, '@criterion("kmeans.example")', "@pytest.mark.criterion()",
        f"{SUITE}:9: the test has no @criterion"),
    "a misspelt criterion": (SUITE, "kmeans.nearest", "kmeans.nearst",
        f"{SUITE}:21: the test names the criterion 'kmeans.nearst', {UNKNOWN}; did you mean 'kmeans.nearest'?"),
    "another criterion": (SUITE, "kmeans.nearest", "zzz", f"{SUITE}:21: the test names the criterion 'zzz', {UNKNOWN}"),
    "a criterion without a test": (SUITE, "kmeans.empty", "kmeans.means",
        f"{RUBRIC}:25: modules.kmeans.criteria.empty: no test of this criterion calls check.f(...); add one in grading/suites"),
    "a function that is not graded": (RUBRIC, "nearest, new_centres]", "nearest]",
        f"{RUBRIC}:18: modules.kmeans.criteria.example.grades: add new_centres: the tests of this criterion call it"),
    "functions that are not called": (RUBRIC, "grades: [nearest]", "grades: [nearest, new_centres, squared_distances]",
        f"{RUBRIC}:23: modules.kmeans.criteria.nearest.grades: no test of this criterion calls new_centres, squared_distances"),
    "examples that are not graded": (RUBRIC, "        looks_at: examples\n", "", "\n".join(
        f"{RUBRIC}:{12 + n}: modules.kmeans.functions.{name}: {NO_EXAMPLES}"
        for n, name in enumerate(("squared_distances", "nearest", "new_centres")))),
    "a misspelt function": (SUITE, "check.nearest(", "check.nearst(",
        f"{SUITE}:23: rubric.yaml has no function 'nearst' in kmeans; did you mean 'nearest'?"),
    "another function": (SUITE, "check.nearest(", "check.zzz(", f"{SUITE}:23: rubric.yaml has no function 'zzz' in kmeans"),
    "a private function": (SUITE, "check.nearest(", "check._nearest(", f"{SUITE}:23: AttributeError: _nearest"),
    "no tolerance": (SUITE, "check.squared", "check.within(8e-16).squared",
        f"{SUITE}:16: within(8e-16) must be more than the rounding of these results, 9e-16"),
    "a skipped test": (SUITE, FIRST, "    pytest.skip('later')\n",
        "test_kmeans.py::test_every_point_and_every_centre is skipped: a hidden test must run on the reference"),
    "a skipped file": (SUITE, "import numpy as np", "import numpy as np\npytest.skip('', allow_module_level=True)",
        "test_kmeans.py is skipped: a hidden test must run on the reference"),
    "a test that ends pytest": (SUITE, FIRST, "    pytest.exit('enough')\n", "grading/suites: a test ends pytest: enough"),
    "a failing test": (SUITE, FIRST, "    raise AssertionError('wrong')\n", f"{SUITE}:16: AssertionError: wrong"),
    "a failing import": (SUITE, "import numpy as np", "1 / 0", f"{SUITE}:4: ZeroDivisionError: division by zero"),
    "a further argument": (SUITE, "check.nearest(", "check.nearest(3, ", f"{SUITE}:23: TypeError: too many positional arguments"),
    "no test": (SUITE, "def test_", "def trial_", "pytest cannot run grading/suites: run it there to see why"),
    "an example that is no tuple": (LIBRARY, LIST, f"{LIST}((np.eye(1)), {{}}), ",
        f"{LIBRARY}:22: EXAMPLES['nearest'][0] must be a tuple of arguments and a dict, such as ((2,), {{}}), "
        "not (np.array([[1.0]]), {})"),
    "an example that raises an error": (LIBRARY, LIST, f"{LIST}((np.eye(1),), {{'centre': 2}}), ",
        f"{LIBRARY}:22: EXAMPLES['nearest'][0]: nearest(np.array([[1.0]]), centre=2) raises TypeError: "
        + python_says("def nearest(x, centres): ...\nnearest(1, centre=2)")),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_of_an_author_is_reported_with_its_place(tmp_path: Path, name: str) -> None:
    folder = kmeans(tmp_path / "homework")
    file, before, after, error = MISTAKES[name]
    text = (folder / file).read_text(encoding="utf-8")
    (folder / file).write_text("import pytest\n" * (file == SUITE) + text.replace(before, after), encoding="utf-8")
    with pytest.raises(CommandError) as raised:
        plan.record(Homework(folder))
    assert str(raised.value).replace(f"{folder}/", "") == error


def test_interrupted_suite_is_no_error_of_the_suite(tmp_path: Path) -> None:
    folder = kmeans(tmp_path / "homework")
    text = (folder / SUITE).read_text(encoding="utf-8")
    (folder / SUITE).write_text(text.replace(FIRST, "    raise KeyboardInterrupt\n"), encoding="utf-8")
    with pytest.raises(KeyboardInterrupt):
        plan.record(Homework(folder))
