"""Runs the hidden suites on one submission with pytest: `pytest SUITES --submission FOLDER`, with all of pytest's options.

Each call runs in the student's process as soon as the test makes it, so pytest shows the line of the test that fails.
"""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from autograder.exceptions import CommandError
from autograder.grading.call_results import CallResult, TestCall, compared, outcome, reason
from autograder.grading.plan import Plan
from autograder.grading.recorder import HOMEWORK, Recorder
from autograder.grading.runner.processes import Runner
from autograder.sandbox.protocol import Response
from autograder.sandbox.sandbox import Sandbox
from autograder.sandbox.wire import Handle
from autograder.shared.display import display
from autograder.shared.tree import mapped
from autograder.submissions.submission import Submission, read

__tracebackhide__ = True  # pytest shows the line of the test instead


def pytest_addoption(parser: pytest.Parser) -> None:
    about = "the submission (folder, zip or file) that the hidden suites are run on"
    parser.addoption("--submission", type=Path, help=about)


@pytest.fixture(scope="session")
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Start a sandbox with the submission."""
    path, homework = request.config.getoption("--submission"), request.config.stash[HOMEWORK]
    if path is None:
        pytest.exit("no submission to grade; run: pytest SUITES --submission FOLDER", returncode=2)
    try:
        files = read(path, homework.rubric).files
    except CommandError as error:
        pytest.exit(str(error), returncode=2)
    with Sandbox(homework.rubric.limits, (), homework.secret) as opened:
        opened.write(files)
        yield opened


@pytest.fixture(autouse=True)
def process(request: pytest.FixtureRequest, sandbox: Sandbox, recorder: Recorder) -> Iterator[None]:
    """Start the process of a test and run each new call in it; raises AssertionError if one fails."""
    homework = request.config.stash[HOMEWORK]
    entries, responses = homework.rubric.modules, list[Response]()
    entry = entries.get(recorder.module)
    modules, references = ((recorder.module,), entry.uses) if entry else (tuple(entries), ())
    runner = Runner(sandbox.start, Plan(homework, {}, {}, {}), Submission("", {}))
    with contextlib.closing(sandbox.start()) as process:
        if why := reason(runner.load(process, modules, references=references)):
            pytest.fail(f"{' or '.join(modules)} could not be imported: {why}")

        def run(test_call: TestCall) -> None:
            responses.extend(runner.responses(process, [test_call]))
            call_results = compared(recorder.test_calls, responses)
            if call_results[-1].failed:
                raise AssertionError("\n".join(_failure(call_results, recorder)))

        recorder.on_step = run
        yield


def _failure(call_results: Sequence[CallResult], recorder: Recorder) -> Iterator[str]:
    """Describe the last call, which fails, for an instructor: the kind of failure, the values, the arguments."""
    arguments = {origin: value for value, origin in recorder.objects.values() if origin.path[0] != "result"}
    by_number = {call_result.test_call.number: call_result for call_result in call_results}
    call_result = call_results[-1]
    test_call, response = call_result.test_call, call_result.response
    why = reason(response)
    yield f"{test_call.target.function}: {call_result.kind}{why and f' ({why})'}"
    yield from outcome(call_result)
    if test_call.kind == "look":
        yield f"returned: {display(by_number[test_call.about].response.value)}"
        yield f"now:      {display(response.value)}"

    def value(leaf: Any) -> Any:
        """Return the student's result, or the argument with the caller's changes, that the test passes again."""
        if not isinstance(leaf, Handle) or leaf in arguments:
            return arguments.get(leaf) if isinstance(leaf, Handle) else leaf
        earlier, (first, *rest) = by_number[leaf.call], leaf.path
        argument = (*earlier.test_call.args, *earlier.test_call.kwargs.values())
        item = earlier.response.value if first == "result" else mapped(value, argument[int(first)])
        for key in rest:
            item = item[key]
        return item

    call = by_number[test_call.about or test_call.number].test_call
    yield f"called with {mapped(value, call.args)} {mapped(value, call.kwargs)}"
