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
| 4, by function| one edit at a time; then new calls like public ones, and calls of relations | as in step 3              |
| 5             | the integration, second try                                                 | wrong modules             |

1. A reference never comes before the calls that it could answer: `Runner.outstanding` holds the modules and functions that have
   unanswered graded calls, and no process receives reference code of these (`load`).
2. Every value that a student reads was computed in step 1. Later steps contribute only verdicts and diagnoses.
3. Public calls come before hidden ones, in every process and in step 1.

When a process ends, only its unanswered calls are made again, in a new process of the same kind.
"""

import contextlib
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from inspect import Signature
from typing import Any

from autograder.exceptions import Absent, Missing, Raised
from autograder.grading.call_results import CallResult, Target, TestCall, compared, with_needed
from autograder.grading.plan import Plan
from autograder.grading.thresholds import MOST_PROBES_SPENT, RESTARTS
from autograder.homework.library import Misconception
from autograder.sandbox.process import PREVIEW, SPENT, StudentProcess
from autograder.sandbox.protocol import Call, Error, Request, Response, Session
from autograder.sandbox.sandbox import Sandbox
from autograder.sandbox.wire import MAX_FROM_STUDENT
from autograder.shared.errors import builtin_kinds, passed, text_of
from autograder.shared.signatures import accepts, adapted, misfit
from autograder.shared.tree import copied
from autograder.submissions.submission import Submission

PROBES_AT_ONCE = 32
_signature = cache(inspect.signature)  # of reference functions
Run = Callable[[Sequence[TestCall | Request]], list[Response]]
MISSING = Response(error=Error(("ModuleNotFoundError",), "", "", 0, "missing"))


class Direct(Session):
    """Makes calls, in order, on functions in this process: references, known misconceptions, and other trusted code."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]]):
        super().__init__(MAX_FROM_STUDENT)
        self.functions = functions

    def function(self, module: str, name: str) -> Callable[..., Any] | None:
        return self.functions.get(name)

    def run(self, calls: Iterable[Request], account: str = "") -> list[Response]:
        """Return the responses of a student's process with these functions."""
        return list(map(self._response, calls))

    def _response(self, request: Request) -> Response:
        try:
            # Copies, since a later call may write into an argument or a result; arrays keep their memory layout.
            return request.check(*copied(request.answer(self, *copied(request.parts))))
        except Raised as raised:
            error = raised.__cause__ or raised
            if not isinstance(error, Exception):  # such as Ctrl-C
                raise error from None
            hint = type(error).__name__.lower() if isinstance(error, Absent | Missing) else ""
            names = () if hint else tuple(passed(error, lambda name: True))
            return Response(error=Error(tuple(builtin_kinds(error)), text_of(error), "", 0, hint, names))


class Runner:
    """The processes of one submission. `start` returns the next one after the last has ended.

    `edits` limits those that the repair tries. `spent` is the share of the submission's processor time used so far.
    """

    def __init__(
        self,
        start: Callable[[], StudentProcess],
        plan: Plan,
        submission: Submission,
        edits: int = 0,
        spent: Callable[[], float] = float,
    ):
        self.start, self.plan, self.submission, self.edits, self.spent = start, plan, submission, edits, spent
        self.rubric, self.homework = plan.rubric, plan.homework
        # Modules, and functions, whose graded calls are not all answered.
        self.outstanding = set[str | Target]()
        self._process: StudentProcess | None = None
        self._is_shared = False  # whether the current process imports the submission's files together
        self._restarts = Counter[str]()  # by account
        self._probing = 0.0  # the share of the submission's processor time used for probes
        self.broken: dict[str, Response] = {}  # why modules cannot be imported with references
        self._together: dict[str, Response] = {}  # import errors in the preview
        # The signature of each imported function that does not accept every call of the contract; None if it does.
        self._signatures: dict[Target, Signature | None] = {}

    @classmethod
    def in_sandbox(cls, sandbox: Sandbox, plan: Plan, submission: Submission) -> "Runner":
        """Return a runner with processes of the sandbox, in which this submission is placed."""
        sandbox.write(submission.files)
        limits, spent = sandbox.limits, lambda: sandbox.budget.processor_seconds / sandbox.limits.submission_seconds
        return cls(sandbox.start, plan, submission, limits.repairs, spent)

    # One process

    def load(
        self,
        process: StudentProcess,
        modules: Sequence[str],
        account: str = "",
        references: Sequence[str] = (),
        helpers: tuple[str, ...] = (),
    ) -> Response:
        """Import modules of the submission into a process, with `references` in place of other files.

        `helpers` are functions of the first module that the reference replaces. Raises AssertionError if a reference would be
        sent while graded calls that it could answer are outstanding.
        """
        names = (*helpers, *self.rubric.helpers(modules[0], helpers)) if helpers else ()
        sent = {*references, *(Target(modules[0], name) for name in names)}.union(*map(self.rubric.below, references))
        if early := sent & self.outstanding:
            problem = "references before the graded calls that they could answer"
            raise AssertionError(f"{problem}: {sorted(map(str, early))}")
        replaced = self.homework.helpers(modules[0], helpers) if helpers else None
        new = {
            m: [f for f in self.rubric.modules[m].functions if Target(m, f) not in self._signatures] for m in modules
        }
        loaded = process.load(modules, self.homework.replacing(references), replaced, account, new)
        for (module, name), signatures in (loaded.value or {}).items():
            unfit = (one for one in signatures if misfit(self._contract(name), one) is not None)
            self._signatures[Target(module, name)] = next(unfit, None)
        return loaded

    def responses(
        self, process: StudentProcess, calls: Iterable[TestCall | Request], account: str = ""
    ) -> list[Response]:
        """Make test calls and other requests, up to the end of the process; the time counts for an account of the budget.

        Calls that a student's signature does not accept are adapted to it, so that it costs points only once.
        """
        return process.run([call if isinstance(call, Request) else self._request(call) for call in calls], account)

    @property
    def has_misfits(self) -> bool:
        """Whether a function of the submission does not accept every call of the contract."""
        return any(signature is not None for signature in self._signatures.values())

    def refuses(self, test_call: TestCall) -> bool:
        """Whether the student's signature does not accept a call of the contract."""
        signature = self._signatures.get(test_call.target) if test_call.kind == "call" else None
        return signature is not None and not accepts(signature, test_call.args, test_call.kwargs)

    def signature_of(self, target: Target, criterion: str) -> Misconception | None:
        """Return the mistake in the signature of a student's function, which costs a criterion; None if there is none."""
        (module, function), signature = target, self._signatures.get(target)
        problem = misfit(self._contract(function), signature) if signature is not None else None
        if problem is None:
            return None
        read, identity = f"the docstring of `{function}`", f"{function}: {problem[0]}"
        return Misconception(module, function, "signature", (criterion,), *problem, read, twice=identity)

    def _contract(self, function: str) -> Signature:
        return _signature(self.homework.functions[function])

    def _request(self, test_call: TestCall) -> Request:
        signature = self._signatures.get(test_call.target)
        if signature is None or not self.refuses(test_call):
            return test_call.call
        args, kwargs = adapted(self._contract(test_call.target.function), signature, test_call.args, test_call.kwargs)
        return Call(*test_call.target, args, kwargs, test_call.rules.checks, test_call.number)

    # The steps of grading

    def preview(self, modules: Iterable[str]) -> dict[TestCall, CallResult]:
        """Make the public calls of modules with all of the submission's files together."""
        call_results: dict[TestCall, CallResult] = {}
        for module in modules:
            test_calls = self.plan.public[module]
            responses, broken = self._run((module,), test_calls, PREVIEW, shared=True)
            if broken is not None:
                self._together[module] = broken
            call_results |= zip(test_calls, compared(test_calls, responses), strict=True)
        return call_results

    def public(self, module: str) -> dict[TestCall, CallResult]:
        """Make the public calls of a module again, with references for the modules it uses."""
        test_calls = self.plan.public[module]
        responses, broken = self._run((module,), test_calls, module, self.rubric.modules[module].uses)
        if broken is not None:
            if broken.error is not None and self.rubric.modules[module].uses:
                # Students see this immediately, so the text comes from the preview.
                preview, unseen = self._together.get(module), Response(error=replace(broken.error, text="", passed=()))
                broken = preview if preview is not None and preview.error is not None else unseen
            self.broken[module] = broken
        return dict(zip(test_calls, compared(test_calls, responses), strict=True))

    def hidden(self, module: str) -> dict[TestCall, CallResult]:
        """Make the hidden calls of a module in a new process with the same references, after a public call of each function.

        If the import fails only now, its error is the response to each call.
        """
        hidden, test_calls = self.plan.hidden[module], self.plan.second[module]
        if not hidden:
            return {}
        responses, _ = self._run((module,), test_calls, module, self.rubric.modules[module].uses)
        call_results = dict(zip(test_calls, compared(test_calls, responses), strict=True))
        return {test_call: call_results[test_call] for test_call in hidden}

    def alone(self, test_call: TestCall, probes: Sequence[TestCall]) -> list[Response]:
        """Make a public call first in a new process with the submission's own files, then its probes.

        There are fewer responses if the process ends, or if probes take long.
        """
        module, before = test_call.target.module, self.spent()
        responses, broken = self._run((module,), [test_call], module)
        for first in range(0, len(probes) if broken is None else 0, PROBES_AT_ONCE):
            used = self._probing + self.spent() - before
            if self._process is None or self._process.ended is not None or used > MOST_PROBES_SPENT:
                break
            responses += self.responses(self._process, probes[first : first + PROBES_AT_ONCE], module)
        self._probing += self.spent() - before
        return responses

    def integration(self, criterion: str, correct: tuple[str, ...] = ()) -> tuple[dict[TestCall, Response], bool]:
        """Run a criterion of the integration; returns the responses and whether the modules could be imported together.

        References replace `correct` modules. Consecutive criteria without references share one process, which may be the
        preview's. Visible criteria have separate processes.
        """
        test_calls = self.plan.together[criterion]
        called = dict.fromkeys(test_call.target.module for test_call in test_calls)
        modules = [module for module in called if module not in correct]
        shared = not correct and not self.rubric.criteria[criterion].visible
        responses, broken = self._run(modules, test_calls, references=correct, shared=shared)
        if broken is not None and shared:  # perhaps because of an earlier import
            responses, broken = self._run(modules, test_calls)
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
        self, module: str, helpers: tuple[str, ...], before: Sequence[Request] = (), first: Sequence[Request] = ()
    ) -> Iterator[Run]:
        """Prepare a separate process for a module, with some of the module's functions replaced by the reference.

        The process starts with the first call. It makes the calls `before` it imports the module, and the `first` ones
        after it; their responses come first. If another process has replaced it in the meantime, a new one repeats them.
        """
        process: StudentProcess | None = None
        is_loaded = False

        def run(calls: Sequence[TestCall | Request]) -> list[Response]:
            nonlocal process, is_loaded
            responses: list[Response] = []
            if process is None or self._process is not process:
                self.close()
                is_first, process = process is None, self.start()
                self._process = process
                prepared = process.run(before, module)
                loaded = self.load(process, (module,), module, self.rubric.modules[module].uses, helpers)
                is_loaded = loaded.error is None and loaded.ended is None
                prepared += process.run(first, module) if is_loaded else []
                responses = prepared if is_first else []
            return [*responses, *self.responses(process, calls, module)] if is_loaded else []

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

    def _load(
        self, modules: Sequence[str], account: str, references: Sequence[str], shared: bool = False
    ) -> Response | None:
        """Import into a new process, or into a `shared` one; returns the error, or None."""
        if any(f"{module}.py" not in self.submission.files for module in modules):
            return MISSING
        alive = self._process is not None and self._process.ended is None
        if not (alive and shared and self._is_shared):
            self.close()
        if self._process is None:
            self._process = self.start()
        self._is_shared = shared
        response = self.load(self._process, modules, account, references)
        return response if response.error is not None or response.ended is not None else None

    def _run(
        self,
        modules: Sequence[str],
        test_calls: Sequence[TestCall],
        account: str = "",
        references: Sequence[str] = (),
        shared: bool = False,
    ) -> tuple[list[Response], Response | None]:
        """Return the responses to test calls, and the import error, which is then also the response to each call.

        If the process ends, its unanswered calls are made one by one in new processes. A function that ends one of
        these is not called again.
        """
        broken = self._load(modules, account, references, shared)
        if broken is not None or self._process is None:
            return [broken or SPENT] * len(test_calls), broken
        outcome = zip(test_calls, self.responses(self._process, test_calls, account), strict=False)
        responses = {test_call: response for test_call, response in outcome if response.ended in (None, SPENT.ended)}
        dead: dict[str, Response] = {}
        for test_call in test_calls:
            if test_call not in responses:
                responses[test_call] = dead.get(test_call.target.function) or self._one(
                    modules, with_needed(test_calls, [test_call]), account, references
                )
                if responses[test_call].ended is not None:
                    dead[test_call.target.function] = responses[test_call]
        return [responses[test_call] for test_call in test_calls], None

    def _one(
        self, modules: Sequence[str], test_calls: Sequence[TestCall], account: str, references: Sequence[str]
    ) -> Response:
        """Return the response to the last of some test calls, in a new process if necessary; the others are its dependencies."""
        if self._process is None or self._process.ended is not None:
            self._restarts[account] += 1
            if self._restarts[account] > RESTARTS or self._load(modules, account, references) is not None:
                return SPENT
        return self.responses(self._process, test_calls, account)[-1] if self._process is not None else SPENT
