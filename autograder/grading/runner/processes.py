"""Runs one submission in a sequence of short-lived processes, only one of which is alive at a time.

| step          | what runs                                                                   | references in the process |
|---------------|-----------------------------------------------------------------------------|---------------------------|
| 1a            | preview: all files of the submission, every public call                     | none                      |
| 1b            | a module that uses no other and failed a public call: the same calls, alone | none                      |
| 1c            | the public examples to show, with their probes                              | none                      |
| 1d            | the integration, first try                                                  | none                      |
| 2a, by module | a module that failed a public call: the same calls                          | the modules it uses       |
| 2b, by module | a new process: a public call of each function, then the hidden calls        | the modules it uses       |
| 3, by function| its calls again; then its pure calls again                                  | also its wrong helpers    |
| 4, by function| one edit at a time; then new calls like the public ones                     | as in step 3              |
| 5             | the integration, second try                                                 | wrong modules             |

1. A reference never comes before the calls that it could answer: `Runner.outstanding` holds the modules and functions that have
   unanswered graded calls, and no process receives reference code of these (`_checked`).
2. Every value that a student reads was computed in step 1. Later steps contribute only verdicts and diagnoses.
3. Public calls come before hidden ones, in every process and in step 1.

When a process ends, only its unanswered calls are made again, in a new process of the same kind.
"""

import contextlib
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import Signature
from typing import Any, Protocol

from autograder.exceptions import Absent, Missing, Raised
from autograder.grading.call_results import CallResult, Target, TestCall, compared, with_needed
from autograder.grading.plan import Plan
from autograder.grading.thresholds import MOST_PROBES_SPENT, RESTARTS
from autograder.homework.homework import Homework
from autograder.sandbox.process import PREVIEW, SPENT, StudentProcess
from autograder.sandbox.protocol import Call, Ended, Error, Request, Response, Session
from autograder.sandbox.sandbox import Sandbox
from autograder.sandbox.wire import MAX_FROM_STUDENT
from autograder.shared.errors import builtin_kinds, passed, text_of
from autograder.shared.signatures import accepts, adapted, misfit
from autograder.shared.tree import copied
from autograder.submissions.submission import Submission

PROBES_AT_ONCE = 32
MISSING = Response(error=Error(("ModuleNotFoundError",), "", "", 0, "missing"))


@dataclass(frozen=True)
class Imports:
    """The imports of a process: `modules` of the submission, and `references` in place of its other files.

    `helpers` are functions of the first module that the reference implementation replaces.
    """

    modules: tuple[str, ...]
    references: tuple[str, ...] = ()
    helpers: tuple[str, ...] = ()


class Process(Protocol):
    """Makes test calls on its imports: a process of the sandbox, or trusted code in this process."""

    @property
    def ended(self) -> Ended | None:
        """Why the process can make no more calls, None if it can."""

    def load(self, imports: Imports, account: str = "") -> Response: ...

    def run(self, test_calls: Sequence[TestCall], account: str = "") -> list[Response]:
        """Return the responses, up to the end of the process; the time counts for an account of the budget."""

    def close(self) -> object: ...


@dataclass(frozen=True)
class Refusal:
    """A student's function whose signature does not accept some calls of the contract, because of a `misfit`."""

    contract: Signature
    signature: Signature
    misfit: tuple[str, str]

    def refuses(self, test_call: TestCall) -> bool:
        return test_call.kind == "call" and not accepts(self.signature, test_call.args, test_call.kwargs)

    def call(self, test_call: TestCall) -> Request:
        """Return the request for a test call, in a form that the function accepts if there is one."""
        args, kwargs = adapted(self.contract, self.signature, test_call.args, test_call.kwargs)
        target, rules = test_call.target, test_call.rules
        return Call(target.module, target.function, args, kwargs, rules.checks, test_call.number)

    @classmethod
    def of(cls, contract: Signature, signatures: Iterable[Signature]) -> "Refusal | None":
        """Return the first of a function's signatures that is no fit; None if there is none."""
        misfits = ((signature, misfit(contract, signature)) for signature in signatures)
        return next((cls(contract, signature, problem) for signature, problem in misfits if problem is not None), None)


class SandboxProcess:
    """A student's process that makes test calls.

    Calls that a student's signature does not accept are adapted to it, so that it costs points only once. `refusals` are
    those found in the processes of the submission so far.
    """

    def __init__(
        self, process: StudentProcess, homework: Homework, refusals: "dict[str, dict[str, Refusal]] | None" = None
    ):
        self._process, self.close, self._homework = process, process.close, homework
        self._refusals = {} if refusals is None else refusals

    @property
    def ended(self) -> Ended | None:
        return self._process.ended

    def load(self, imports: Imports, account: str = "") -> Response:
        helpers = self._homework.helpers(imports.modules[0], imports.helpers) if imports.helpers else None
        references = self._homework.replacing(imports.references)
        new = [module for module in imports.modules if module not in self._refusals]
        names = {module: [*self._homework.rubric.modules[module].functions] for module in new}
        loaded = self._process.load(imports.modules, references, helpers, account, names)
        for (module, name), signatures in (loaded.value or {}).items():
            refusals = self._refusals.setdefault(module, {})
            if refusal := Refusal.of(inspect.signature(self._homework.functions[name]), signatures):
                refusals[name] = refusal
        return loaded

    def run(self, test_calls: Sequence[TestCall], account: str = "") -> list[Response]:
        is_adapted = any(self._refusals.values())
        calls = list(map(self._request, test_calls)) if is_adapted else [t.call for t in test_calls]
        return self._process.run(calls, account)

    def _request(self, test_call: TestCall) -> Request:
        refusal = self._refusals.get(test_call.target.module, {}).get(test_call.target.function)
        return refusal.call(test_call) if refusal is not None and refusal.refuses(test_call) else test_call.call


class Direct(Session):
    """Makes test calls, in order, on functions in this process: references, known misconceptions, and other trusted code."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]]):
        super().__init__(MAX_FROM_STUDENT)
        self.functions = functions

    def function(self, module: str, name: str) -> Callable[..., Any] | None:
        return self.functions.get(name)

    def respond(self, test_call: TestCall) -> Response:
        """Return the response of a student's process with these functions."""
        request = test_call.call
        try:
            # Copies, since a later call may write into an argument or a result; arrays keep their memory layout.
            return request.check(*copied(request.answer(self, *copied(request.parts))))
        except Raised as raised:
            error = raised.error
            if not isinstance(error, Exception):  # such as Ctrl-C
                raise error from None
            hint = type(error).__name__.lower() if isinstance(error, Absent | Missing) else ""
            names = () if hint else tuple(passed(error, lambda name: True))
            return Response(error=Error(tuple(builtin_kinds(error)), text_of(error), "", 0, hint, names))


class Runner:
    """The processes of one submission. `start` returns the next one after the last has ended."""

    def __init__(self, start: Callable[[], Process], plan: Plan, submission: Submission):
        self.start, self.plan, self.submission = start, plan, submission
        self.rubric = plan.rubric
        self.edits = 0  # limit on the edits to try
        self.refusals: dict[
            str, dict[str, Refusal]
        ] = {}  # of the functions of imported modules, by module and function
        self.spent: Callable[[], float] = float  # the share of its processor time used so far
        # Modules, and functions, whose graded calls are not all answered.
        self.outstanding = set[str | Target]()
        self._process: Process | None = None
        self._is_shared = False  # whether the current process imports the submission's files together
        self._restarts = Counter[str]()  # by account
        self._probing = 0.0  # the share of the submission's processor time used for probes
        self._alone: dict[str, Response] = {}  # import errors with references
        self._together: dict[str, Response] = {}  # import errors in the preview

    @classmethod
    def in_sandbox(cls, sandbox: Sandbox, plan: Plan, submission: Submission) -> "Runner":
        """Return a runner with processes of the sandbox, in which this submission is placed."""
        sandbox.write(submission.files)
        runner = cls(lambda: SandboxProcess(sandbox.start(), plan.homework, runner.refusals), plan, submission)
        runner.edits = sandbox.limits.repairs
        runner.spent = lambda: sandbox.budget.processor_seconds / sandbox.limits.submission_seconds
        return runner

    def preview(self, modules: Iterable[str]) -> dict[TestCall, CallResult]:
        """Make the public calls of modules with all of the submission's files together."""
        call_results: dict[TestCall, CallResult] = {}
        for module in modules:
            test_calls = self.plan.public(module)
            responses, broken = self._run(Imports((module,)), test_calls, PREVIEW, shared=True)
            if broken is not None:
                self._together[module] = broken
            call_results |= zip(test_calls, compared(test_calls, responses), strict=True)
        return call_results

    def public(self, module: str) -> dict[TestCall, CallResult]:
        """Make the public calls of a module again, with references for the modules it uses."""
        test_calls = self.plan.public(module)
        responses, broken = self._run(self._beside_references(module), test_calls, module)
        if broken is not None:
            self._alone[module] = broken
        return dict(zip(test_calls, compared(test_calls, responses), strict=True))

    def hidden(self, module: str) -> dict[TestCall, CallResult]:
        """Make the hidden calls of a module in a new process with the same references, after a public call of each function.

        If the import fails only now, its error is the response to each call.
        """
        hidden, (_, test_calls) = self.plan.hidden.get(module, ()), self.plan.in_order(module)
        if not hidden:
            return {}
        responses, _ = self._run(self._beside_references(module), test_calls, module)
        call_results = dict(zip(test_calls, compared(test_calls, responses), strict=True))
        return {test_call: call_results[test_call] for test_call in hidden}

    def broken(self, module: str) -> Response | None:
        """Why a module cannot be imported with references; None if it can.

        Students see this immediately, so the text comes from the preview.
        """
        broken, preview = self._alone.get(module), self._together.get(module)
        if broken is None or broken.error is None or not self.rubric.modules[module].uses:
            return broken
        if preview is not None and preview.error is not None:
            return preview
        return Response(error=Error(broken.error.kinds, "", broken.error.file, broken.error.line, broken.error.hint))

    def alone(self, test_call: TestCall, probes: Sequence[TestCall]) -> list[Response]:
        """Make a public call first in a new process with the submission's own files, then its probes.

        There are fewer responses if the process ends, or if probes take long.
        """
        module, before = test_call.target.module, self.spent()
        responses, broken = self._run(Imports((module,)), [test_call], module)
        for first in range(0, len(probes) if broken is None else 0, PROBES_AT_ONCE):
            used = self._probing + self.spent() - before
            if self._process is None or self._process.ended is not None or used > MOST_PROBES_SPENT:
                break
            responses += self._process.run(probes[first : first + PROBES_AT_ONCE], module)
        self._probing += self.spent() - before
        return responses

    def integration(self, criterion: str, correct: tuple[str, ...] = ()) -> tuple[dict[TestCall, Response], bool]:
        """Run a criterion of the integration; returns the responses and whether the modules could be imported together.

        References replace `correct` modules. Consecutive criteria without references share one process, which may be the
        preview's. Visible criteria have separate processes.
        """
        test_calls = self.plan.together(criterion)
        called = dict.fromkeys(test_call.target.module for test_call in test_calls)
        imports = Imports(tuple(module for module in called if module not in correct), correct)
        shared = not correct and not self.rubric.criteria[criterion].visible
        responses, broken = self._run(imports, test_calls, shared=shared)
        if broken is not None and shared:  # perhaps because of an earlier import
            responses, broken = self._run(imports, test_calls)
        return dict(zip(test_calls, responses, strict=True)), broken is None

    def with_helpers(
        self, module: str, helpers: tuple[str, ...], test_calls: Sequence[TestCall]
    ) -> dict[TestCall, Response]:
        """Run test calls of a module again, with some of the module's functions replaced by the reference.

        If one ends the process, its response is also that of the calls after it.
        """
        with self.apart(module, helpers) as run:
            responses = run(test_calls) or [SPENT]
        last = responses[-1] if responses[-1].ended is not None else SPENT
        return dict(zip(test_calls, [*responses, *[last] * (len(test_calls) - len(responses))], strict=False))

    @contextlib.contextmanager
    def apart(
        self, module: str, helpers: tuple[str, ...], before: Sequence[TestCall] = (), first: Sequence[TestCall] = ()
    ) -> Iterator[Callable[[Sequence[TestCall]], list[Response]]]:
        """Prepare a separate process for a module, with some of the module's functions replaced by the reference.

        The process starts with the first call. It makes the calls `before` it imports the module, and the `first` ones
        after it; their responses come first. If another process has replaced it in the meantime, a new one repeats them.
        """
        process: Process | None = None
        is_loaded = False

        def run(test_calls: Sequence[TestCall]) -> list[Response]:
            nonlocal process, is_loaded
            responses: list[Response] = []
            if process is None or self._process is not process:
                self.close()
                is_first, process = process is None, self.start()
                self._process = process
                prepared = process.run(before, module)
                loaded = process.load(self._checked(self._beside_references(module, helpers)), module)
                is_loaded = loaded.error is None and loaded.ended is None
                prepared += process.run(first, module) if is_loaded else []
                responses = prepared if is_first else []
            return [*responses, *process.run(test_calls, module)] if is_loaded else []

        try:
            yield run
        finally:
            if self._process is process:
                self.close()

    def close(self) -> None:
        """End the process that is alive."""
        if self._process is not None:
            self._process.close()
        self._process = None

    def __enter__(self) -> "Runner":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _beside_references(self, module: str, helpers: tuple[str, ...] = ()) -> Imports:
        return Imports((module,), tuple(self.rubric.modules[module].uses), helpers)

    def _checked(self, imports: Imports) -> Imports:
        """Raise AssertionError if a reference would be sent while graded calls that it could answer are outstanding."""
        sent: set[str | Target] = {*imports.references}
        sent |= {below for name in imports.references for below in self.rubric.below(name)}
        if imports.helpers:
            module = imports.modules[0]
            names = (*imports.helpers, *self.rubric.helpers(module, imports.helpers))
            sent |= {Target(module, name) for name in names}
        if early := sent & self.outstanding:
            raise AssertionError(
                f"references before the graded calls that they could answer: {sorted(map(str, early))}"
            )
        return imports

    def _load(self, imports: Imports, account: str, shared: bool = False) -> Response | None:
        """Import into a new process, or into a `shared` one; returns the error, or None."""
        if any(f"{module}.py" not in self.submission.files for module in imports.modules):
            return MISSING
        alive = self._process is not None and self._process.ended is None
        if not (alive and shared and self._is_shared):
            self.close()
        if self._process is None:
            self._process = self.start()
        response = self._process.load(self._checked(imports), account)
        self._is_shared = shared
        return response if response.error is not None or response.ended is not None else None

    def _run(
        self, imports: Imports, test_calls: Sequence[TestCall], account: str = "", shared: bool = False
    ) -> tuple[list[Response], Response | None]:
        """Return the responses to test calls, and the import error, which is then also the response to each call.

        If the process ends, its unanswered calls are made one by one in new processes. A function that ends one of
        these is not called again.
        """
        broken = self._load(imports, account, shared)
        if broken is not None or self._process is None:
            return [broken or SPENT] * len(test_calls), broken
        outcome = zip(test_calls, self._process.run(test_calls, account), strict=False)
        responses = {test_call: response for test_call, response in outcome if response.ended in (None, SPENT.ended)}
        dead: dict[str, Response] = {}
        for test_call in test_calls:
            if test_call not in responses:
                responses[test_call] = dead.get(test_call.target.function) or self._one(
                    imports, with_needed(test_calls, [test_call]), account
                )
                if responses[test_call].ended is not None:
                    dead[test_call.target.function] = responses[test_call]
        return [responses[test_call] for test_call in test_calls], None

    def _one(self, imports: Imports, test_calls: Sequence[TestCall], account: str) -> Response:
        """Return the response to the last of some test calls, in a new process if necessary; the others are its dependencies."""
        if self._process is None or self._process.ended is not None:
            self._restarts[account] += 1
            if self._restarts[account] > RESTARTS or self._load(imports, account) is not None:
                return SPENT
        return self._process.run(test_calls, account)[-1] if self._process is not None else SPENT
