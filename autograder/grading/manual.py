"""Runs the hidden suites on one submission with pytest: `pytest SUITES --submission FOLDER`, with all of pytest's options.

Each call runs in the student's process as soon as the test makes it, so pytest shows the line of the test that fails.
"""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder.grading.call_results import CallResult, TestCall, compared
from autograder.grading.recorder import RECORDING, Recorder
from autograder.grading.runner.processes import Imports, SandboxProcess
from autograder.homework import kit
from autograder.homework import rubric as rubrics
from autograder.sandbox.messages import Response
from autograder.sandbox.sandbox import Sandbox
from autograder.submissions.submission import read
from autograder.values.differences import difference
from autograder.values.display import display


class ManualRun(contextlib.ExitStack):
    """The submission at a path, with a process for the module whose tests run."""

    def __init__(self, path: Path):
        super().__init__()
        self.rubric = rubrics.current()
        self.sandbox = self.enter_context(Sandbox(self.rubric.limits, (), kit.secret()))
        self.sandbox.place(read(path, self.rubric.limits).files)
        self.process: SandboxProcess | None = None
        self.module = ""  # the module of the process

    def test(self, recorder: Recorder) -> Callable[[TestCall], None]:
        """A function that runs each new call of a test and raises AssertionError if it fails."""
        responses: list[Response] = []

        def run(test_call: TestCall) -> None:
            __tracebackhide__ = True
            responses.extend(self._process_of(recorder.module).run([test_call]))
            call_result = compared(recorder.test_calls, responses)[-1]
            if call_result.failed:
                raise AssertionError("\n".join(filter(None, _failure(call_result))))

        return run

    def _process_of(self, module: str) -> SandboxProcess:
        """The process of a module or of the integration, which replaces that of another module."""
        if self.process is None or self.process.ended is not None or self.module != module:
            self.process, self.module = SandboxProcess(self.sandbox.start()), module
            entry = self.rubric.modules.get(module)
            imports = Imports((module,), tuple(entry.uses)) if entry else Imports(tuple(self.rubric.modules))
            response = self.process.load(imports)
            if response.error is not None or response.ended is not None:
                raise AssertionError(
                    f"{' or '.join(imports.modules)} could not be imported: {response.error or response.ended}"
                )
        return self.process


def _failure(call_result: CallResult) -> Iterator[str]:
    """A failing call for an instructor: the kind of failure, the values, the arguments."""
    test_call, response = call_result.test_call, call_result.response
    error = response.error
    got = f"{error.kind}: {error.text}" if error else response.ended.why if response.ended else ""
    yield f"{test_call.target.function}: {call_result.kind}{got and f' ({got})'}"
    if test_call.kind == "call" and call_result.returned:
        value = test_call.counted(response.value)
        yield f"expected: {test_call.rules.error or display(test_call.expected)}"
        yield f"returned: {display(value)}"
        yield difference(test_call.expected, value, test_call.allowed, test_call.parts)
    yield f"called with {test_call.args} {test_call.kwargs}"


def pytest_addoption(parser: pytest.Parser) -> None:
    about = "the submission (folder, zip or file) that the hidden suites are run on"
    parser.addoption("--submission", type=Path, help=about)


@pytest.fixture(scope="session")
def submission(request: pytest.FixtureRequest) -> Iterator[ManualRun | None]:
    """The submission of `--submission`, in a sandbox that lasts for the session."""
    path = request.config.getoption("--submission")
    if path is None:
        if not request.config.stash.get(RECORDING, False):
            pytest.exit("no submission to grade; run: pytest SUITES --submission FOLDER", returncode=2)
        yield None
        return
    with ManualRun(path) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _played(recorder: Recorder, submission: ManualRun | None) -> None:
    if submission is not None:
        recorder.on_step = submission.test(recorder)
