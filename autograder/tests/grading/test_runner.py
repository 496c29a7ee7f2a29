"""The order of processes and calls, tested with fake processes that record events."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import pytest

from autograder.audit.cases import DirectProcess
from autograder.grading import thresholds
from autograder.grading.call_results import Target, TestCall, with_needed
from autograder.grading.diagnosis import Diagnoser
from autograder.grading.grader import graded_with
from autograder.grading.runner.processes import Runner
from autograder.homework.rubric import INTEGRATION
from autograder.sandbox.protocol import Ended, Error, Reference, Request, Response
from autograder.submissions.submission import Submission
from autograder.tests.files import HOMEWORK
from autograder.tests.running import the_plan

Event = tuple[str, int, Any]
COMPLETE = Submission("complete", HOMEWORK.files)
MODULES = tuple(HOMEWORK.rubric.modules)
USING = tuple(name for name in MODULES if HOMEWORK.rubric.modules[name].uses)
BROKEN = Response(error=Error(("ImportError",), "the text of a reference", "layernorm.py", 1, ""))


Load = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]  # modules, references, and functions with a reference


@cache
def by_request() -> dict[int, TestCall]:
    groups = (the_plan().visible, the_plan().examples, the_plan().hidden)
    return {id(test_call.call): test_call for group in groups for found in group.values() for test_call in found}


class Process(DirectProcess):
    """Runs the kit's own code, and records the order of loads and calls; a call of a function in `ends` ends it."""

    def __init__(self, number: int, of: "Processes"):
        super().__init__(of.submission, HOMEWORK)
        self.number, self.of = number, of

    def load(
        self, modules: Sequence[str], references: Sequence[Reference], helpers: Reference | None, *_: Any
    ) -> Response:
        replaced = tuple(one.module for one in references), helpers.functions if helpers is not None else ()
        self.of.events.append(("load", self.number, load := (tuple(modules), *replaced)))
        return BROKEN if self.of.broken(load) else super().load(modules, references, helpers)

    def run(self, calls: Iterable[Request], account: str = "") -> list[Response]:
        responses: list[Response] = []
        for call in calls:
            if (test_call := by_request().get(id(call))) is not None:  # none for a probe
                self.of.events.append(("run", self.number, test_call))
                if test_call.target.function in self.of.ends:
                    self.ended = Ended("deadline")
                    return [*responses, Response(ended=self.ended)]
            responses += super().run([call])
        return responses

    def close(self) -> None:
        self.of.events.append(("close", self.number, None))


class Processes:
    """Starts fake processes of a submission, of which only one may be alive at a time."""

    def __init__(
        self,
        ends: Sequence[str] = (),
        broken: Callable[[Load], bool] = lambda load: False,
        submission: Submission = COMPLETE,
    ):
        self.events: list[Event] = []
        self.started, self.ends, self.broken, self.submission = 0, ends, broken, submission

    def __call__(self) -> Any:
        closed = {number for kind, number, _ in self.events if kind == "close"}
        assert set(range(1, self.started + 1)) == closed, "two processes alive at once"
        self.started += 1
        return Process(self.started, self)

    def runner(self) -> Runner:
        return Runner(self, the_plan(), self.submission)

    def loads(self) -> list[Load]:
        return [what for kind, _, what in self.events if kind == "load"]


def run_everything(processes: Processes) -> Mapping[TestCall, Response]:
    """Run everything that grading runs, except retries; returns the responses that count."""
    responses: dict[TestCall, Response] = {}
    with processes.runner() as runner:
        runner.preview(MODULES)
        for module in MODULES:
            found = runner.public(module) | runner.hidden(module)
            responses |= {test_call: call_result.response for test_call, call_result in found.items()}
        for criterion in HOMEWORK.rubric.of(INTEGRATION):
            responses |= runner.integration(criterion.id)[0]
    return responses


def graded(processes: Processes) -> None:
    with processes.runner() as runner:
        graded_with(runner, Diagnoser(the_plan()), tuple(HOMEWORK.rubric.groups))


def is_hidden(test_call: TestCall) -> bool:
    return bool(test_call.criterion) and test_call not in the_plan().public[test_call.target.module]


def test_correct_submission_uses_one_process_for_all_files_and_one_per_module_with_hidden_calls() -> None:
    processes = Processes()
    graded(processes)
    hidden = [module for module in MODULES if the_plan().hidden.get(module)]
    assert processes.started == 1 + len(hidden)
    assert [modules for modules, _, _ in processes.loads()[-len(hidden) :]] == [(module,) for module in hidden]
    closed = [number for kind, number, _ in processes.events if kind == "close"]
    assert set(closed) == set(range(1, processes.started + 1))


def is_secret(kind: str, what: Any) -> bool:
    """Whether an event sends reference code, or a hidden call other than the integration's."""
    if kind == "load":
        return any(what[1:])
    return kind == "run" and is_hidden(what) and not what.criterion.startswith(INTEGRATION)


def early_references(events: Sequence[Event]) -> set[str]:
    """The modules and functions whose reference code was sent before the last graded call that it could answer."""
    rubric, problems = HOMEWORK.rubric, set[str]()
    sent: dict[str, int] = {}  # the first process with a reference
    answering: dict[int, set[str]] = {}  # the references of each process
    for kind, process, what in events:
        if kind == "load":
            modules, replaced, helpers = what
            below = rubric.helpers(modules[0], helpers) if helpers else ()
            answering[process] = {*replaced, *helpers, *below}
            for name in answering[process]:
                sent.setdefault(name, process)
        elif kind == "run":
            of = {what.target.module, what.target.function} - answering.get(process, set())
            is_integration = what.criterion.startswith(INTEGRATION)
            problems |= {name for name in of if sent.get(name, process) != process and not is_integration}
    return problems


def hidden_before_public(events: Sequence[Event]) -> bool:
    """Whether a process makes a public call after a hidden one."""
    calls = [(process, is_hidden(what)) for kind, process, what in events if kind == "run"]
    return any(calls[i][0] == calls[i + 1][0] and calls[i][1] > calls[i + 1][1] for i in range(len(calls) - 1))


WRONG = [
    (m, name) for m in MODULES for f in HOMEWORK.rubric.modules[m].functions for name in HOMEWORK.of_function(m, f)
]


@pytest.mark.parametrize("number", range(3))
def test_references_come_after_the_calls_that_they_could_answer(number: int) -> None:
    """Submissions with one, two and three wrong functions of different modules, drawn from the library."""
    draw = random.Random(number)
    for _ in range(6):
        chosen = draw.sample(WRONG, 1 + number)
        files = dict(HOMEWORK.files)
        for module, misconception in chosen:
            version = HOMEWORK.version(module, misconception.function, (misconception,))
            if version is not None:
                files[f"{module}.py"] += f"\n\n{version.source}".encode()
        processes = Processes(submission=Submission("wrong", files))
        graded(processes)
        events = processes.events
        assert early_references(events) == set() and not hidden_before_public(events), [m.id for _, m in chosen]


def test_a_reference_before_its_calls_is_an_error_of_the_grader() -> None:
    with Processes().runner() as runner:
        runner.outstanding = {"layernorm"}
        with pytest.raises(AssertionError, match="layernorm"):
            runner.public("batchnorm_comparison")
        runner.outstanding = {Target("layernorm", "layer_norm")}
        with pytest.raises(AssertionError, match="layer_norm"):
            runner.with_helpers("layernorm", ("layer_norm",), the_plan().hidden["layernorm"])


@pytest.mark.parametrize("ends", [(), ("rms_norm",)])
def test_step_one_has_no_references_and_every_public_call_comes_first(ends: tuple[str, ...]) -> None:
    processes = Processes(ends)
    graded(processes)
    events = processes.events
    first = next(i for i, (kind, _, what) in enumerate(events) if is_secret(kind, what))
    shown = {test_call for module in MODULES for test_call in the_plan().public[module]}
    answered = {test_call for test_call in shown if test_call.target.function not in ends}
    assert answered <= {what for kind, _, what in events[:first] if kind == "run"}
    assert early_references(events) == set() and not hidden_before_public(events)


@pytest.mark.parametrize("module", MODULES)
def test_reference_helpers_do_not_include_the_functions_that_use_them(module: str) -> None:
    functions = HOMEWORK.rubric.modules[module].functions
    for function in functions:
        helpers = HOMEWORK.rubric.helpers(module, (function,))
        if helpers:
            code = HOMEWORK.helpers(module, helpers)
            above = [name for name in functions if name not in {*helpers, *HOMEWORK.rubric.helpers(module, helpers)}]
            assert function in above and code.functions == helpers
            assert not [name for name in above for end in (b"\\x00", b"(") if name.encode() + end in code.code]


def test_calls_without_a_response_are_retried_a_limited_number_of_times() -> None:
    processes = Processes(ends=("rms_norm",))
    responses = run_everything(processes)
    ended = {test_call.target.function for test_call, response in responses.items() if response.ended is not None}
    assert ended == {"rms_norm"}
    made = [what for kind, _, what in processes.events if kind == "run" and what.target.function == "rms_norm"]
    assert len(made) < 12  # twice per kind of process, and as a dependency of later calls
    processes = Processes(ends=list(HOMEWORK.rubric.modules["layernorm"].functions))
    responses = run_everything(processes)
    assert {s.target.module for s, r in responses.items() if r.ended is not None} == {"layernorm"}
    assert processes.started < 2 * thresholds.RESTARTS


def test_replacement_process_makes_only_the_calls_that_a_test_call_depends_on() -> None:
    hidden = the_plan().hidden["scaled_attention"]
    every = [test_call for test_call in hidden if test_call.test == "test_calls_leave_no_trace"]
    test_call = next(test_call for test_call in every if test_call.target.function == "split_heads" and test_call.needs)
    needed = with_needed(every, [test_call])
    assert needed[-1] is test_call and len(needed) < len(every)
    numbers = {one.number for one in needed}
    assert all(one.needs <= numbers for one in needed)
    writes = [one for one in every if one.kind == "write" and one.about in numbers and one.number < test_call.number]
    assert {one.number for one in writes} <= numbers


@pytest.mark.parametrize("module", USING)
def test_import_error_with_references_has_no_text_unless_the_preview_has_the_same(module: str) -> None:
    for broken, text in ((lambda load: bool(load[1]), ""), (lambda load: True, "the text of a reference")):
        with Processes(broken=broken).runner() as runner:
            runner.preview((module,))
            runner.public(module)
            error = runner.broken[module].error
            assert error is not None and error.text == text
