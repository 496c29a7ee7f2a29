"""One module of one submission on trial: the Caller that brings a suite's calls to the student's process.

A process that is gone (endless loop, crash) is started again for the other functions; the function that ended it is not
called any more.
"""

from collections.abc import Callable
from typing import Any

from autograder import reference
from autograder.rubric import INTEGRATION, Rubric
from autograder.sandbox import wire
from autograder.sandbox.process import Ended, Error, Reply, Sandbox, Student
from autograder.stand_ins import answerer
from autograder.submission import Submission
from autograder.suite import Check, Log, Rules, Target

RESTARTS = 40


class Trial:
    """`module` alone with correct neighbours, or the whole submission together; `replaced` functions are answered too.

    With `shared`, a process that several trials use one after another, nothing is started again.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        rubric: Rubric,
        module: str,
        submission: Submission,
        replaced: tuple[str, ...] = (),
        shared: Student | None = None,
    ):
        self.sandbox, self.module, self.replaced, self.shared = sandbox, module, replaced, shared
        self.together = tuple(rubric.modules) if module == INTEGRATION else ()
        self.functions = {name: tuple(entry.functions) for name, entry in rubric.modules.items()}
        self.stand_ins = {} if self.together else rubric.stand_ins(module)
        allowed = {f"{name}.{function}" for name, functions in self.stand_ins.items() for function in functions}
        self.answer = answerer(frozenset(allowed | {f"{module}.{function}" for function in replaced}))
        self.log = Log()
        self.student: Student | None = None
        missing = [name for name in self.together or (module,) if f"{name}.py" not in submission.files]
        self.broken = Reply(error=Error(("ModuleNotFoundError",), "", "", 0, "missing")) if missing else None
        self.dead: dict[str, Ended] = {}
        self.starts = 0

    def check(self) -> Check:
        """The object behind the fixture `check`."""
        module = "" if self.together else self.module
        return Check(self, self.functions, module, self.log, Rules())

    def student_object(self) -> Check:
        """The object behind the fixture `student`: form is checked, values are not."""
        module = "" if self.together else self.module
        return Check(self, self.functions, module, self.log, Rules(values=False))

    # as a Caller

    def call(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any], checks: list[str]) -> Reply:
        if target.function in self.dead:
            return Reply(ended=self.dead[target.function])
        student = self._running()
        if student is None or self.broken is not None:
            return self.broken or Reply(ended=Ended("crash"))
        reply = student.call(self.module, target.module, target.function, args, kwargs, checks, self.answer)
        if reply.ended is not None:
            self.dead[target.function] = reply.ended
            self._stop()
        return reply

    def again(self, target: Target) -> Reply:
        return self.student.again() if self.student is not None else Reply(ended=Ended("crash"))

    def expected(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return expected(target.function, args, kwargs)

    # the process

    def load(self) -> Reply | None:
        """Import the module now; the failure, if it fails."""
        self._running()
        return self.broken

    def _running(self) -> Student | None:
        if self.student is None and self.broken is None:
            if self.starts >= RESTARTS:
                self.broken = Reply(ended=Ended("crash"))
                return None
            self.starts += 1
            self.student = self.shared or self.sandbox.start()
            names = self.together or (self.module,)
            reply = self.student.load(self.module, names, self.stand_ins, self.answer, self.replaced)
            if reply.error is not None or reply.ended is not None:
                self.broken = reply if self.starts == 1 else Reply(ended=Ended("crash"))  # no words after hidden inputs
        return self.student

    def _stop(self) -> None:
        if self.student is not None and self.shared is None:
            self.student.close()
            self.student = None

    def close(self) -> None:
        self._stop()


_expected: dict[bytes, Any] = {}


def expected(function: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The reference's answer, remembered for arguments that are plain data: suites ask the same of every submission."""
    right: Callable[..., Any] = reference.functions()[function]
    try:
        key = wire.encode((function, args, kwargs))
    except wire.WireError:
        return right(*args, **kwargs)
    if key not in _expected:
        _expected[key] = right(*args, **kwargs)
    return _expected[key]
