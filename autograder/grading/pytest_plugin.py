"""The hidden suites under pytest: the marker and the fixtures.

A test runs on the reference and records its calls (recorder.py). Grading does that once for all submissions (script.py);
`--submission` plays each call at once (by_hand.py).
"""

import numpy as np
import pytest

from autograder.grading.recorder import Check, Recorder, Reference, rng_for
from autograder.homework import reference as references
from autograder.homework import rubric as rubrics
from autograder.homework.rubric import INTEGRATION

RECORDING = pytest.StashKey[bool]()  # set where the suites are only recorded, without a submission
RECORDERS = pytest.StashKey[list[Recorder]]()  # one for each test that has begun, in their order


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "criterion(id): the criterion of rubric.yaml that the test belongs to")
    config.stash[RECORDERS] = []


def criterion_of(item: pytest.Item) -> str:
    """The criterion that a test names, "" if it names none."""
    marker = item.get_closest_marker("criterion")
    return str(marker.args[0]) if marker is not None and marker.args else ""


@pytest.fixture
def recorder(request: pytest.FixtureRequest) -> Recorder:
    """What turns the calls of a test into steps."""
    criterion = rubrics.current().criteria.get(criterion_of(request.node))
    if criterion is None:
        raise pytest.UsageError(f"{request.node.nodeid} names no criterion of rubric.yaml")
    earlier = request.config.stash[RECORDERS]
    first = 1 + sum(len(recorder.steps) for recorder in earlier if recorder.module == criterion.module)
    earlier.append(Recorder(criterion.module, references.by_name(), request.node.name, criterion.id, first))
    return earlier[-1]


@pytest.fixture
def check(recorder: Recorder) -> Check:
    functions = {name: tuple(entry.functions) for name, entry in rubrics.current().modules.items()}
    return Check(recorder, functions, "" if recorder.module == INTEGRATION else recorder.module)


@pytest.fixture
def reference(recorder: Recorder) -> Reference:
    functions, modules = references.functions(), rubrics.current().modules
    if recorder.module == INTEGRATION:
        return Reference({name: Reference({f: functions[f] for f in modules[name].functions}) for name in modules})
    return Reference({name: functions[name] for name in modules[recorder.module].functions})


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    return rng_for(request.node.name)
