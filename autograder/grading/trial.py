"""One module of one submission on trial: the Caller that brings a suite's calls to the student's process.

A process that is gone (endless loop, crash) is started again for the other functions; the function that ended it is not
called any more. A message costs more than a call, so calls that are known beforehand (`Planned`) can be made together; the
suite that runs afterwards finds the replies to its calls already there.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.grading.stand_ins import answerer
from autograder.grading.suite import Check, Log, Rules, Target
from autograder.homework import reference
from autograder.homework.rubric import INTEGRATION, Rubric
from autograder.intake.submission import Submission
from autograder.sandbox import wire
from autograder.sandbox.messages import Call, Ended, Error, Reply
from autograder.sandbox.process import Sandbox, Student

RESTARTS = 40
AHEAD = 2**20  # bytes of calls in one message


@dataclass(frozen=True)
class Planned:
    """A call that a test is known to make; `again` if it asks afterwards whether the arguments have changed."""

    target: Target
    key: bytes
    checks: list[str]
    call: Call
    again: bool = False


@dataclass
class Ahead:
    """A planned call that has been made, with its replies."""

    planned: Planned
    reply: Reply
    later: Reply | None = None


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
        self.made: dict[str, list[Ahead]] = {}
        self.current: Ahead | None = None

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
        self.current = self._already(target, args, kwargs, checks)
        if self.current is not None:
            return self.current.reply
        if target.function in self.dead:
            return Reply(ended=self.dead[target.function])
        student = self._running()
        if student is None or self.broken is not None:
            return self.broken or Reply(ended=Ended("crash"))
        reply = student.call(self.module, target.module, target.function, args, kwargs, checks, self.answer)
        return self._noted(target, reply)

    def again(self, target: Target) -> Reply:
        if self.current is not None and self.current.later is not None:
            return self.current.later
        if self.student is None:
            return Reply(ended=Ended("crash"))
        return self._noted(target, self.student.again([self.student.calls])[0])

    def ahead(self, plans: Mapping[str, Sequence[Planned]]) -> None:
        """Make the planned calls of these tests now, with one message; what is not answered then is asked by the tests."""
        named = [(test, planned) for test, plan in plans.items() for planned in plan]
        student = self._running()
        if not named or student is None or self.broken or sum(len(p.call.payload) for _, p in named) > AHEAD:
            return
        first = student.calls + 1
        replies = student.call_all([planned.call for _, planned in named], self.answer)
        found = [Ahead(p, reply) for (_, p), reply in zip(named, replies, strict=False) if reply.ended is None]
        pure = [number for number, ahead in enumerate(found) if ahead.planned.again]
        for number, reply in zip(pure, student.again([first + n for n in pure]), strict=False):
            found[number].later = reply
        self.made = {}
        for (test, _), ahead in zip(named, found, strict=False):
            self.made.setdefault(test, []).append(ahead)
        if student.ended is not None:  # which call ended it is not known, since replies come a little late
            self._stop()

    def _already(
        self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any], checks: list[str]
    ) -> Ahead | None:
        """The next call of this test, if it has been made already and is the one that was planned."""
        made = self.made.get(self.log.test)
        if made:
            planned = made[0].planned
            if (planned.target, planned.checks, planned.key) == (target, checks, memo.key(args, kwargs)):
                return made.pop(0)
            del self.made[self.log.test]
        return None

    def _noted(self, target: Target, reply: Reply) -> Reply:
        """Remember the function that ended the process."""
        if reply.ended is not None:
            self.dead[target.function] = reply.ended
            self._stop()
        return reply

    def expected(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return memo.expected(target.function, args, kwargs)

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


class Memo:
    """The reference's answers, remembered: suites ask the same of every submission."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, bytes], Any] = {}
        self.last: tuple[Any, Any, bytes | None] = ((), {}, None)

    def expected(self, function: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        right: Callable[..., Any] = reference.functions()[function]
        known = self.key(args, kwargs)
        if known is None:
            return right(*args, **kwargs)
        if (function, known) not in self.answers:
            self.answers[function, known] = right(*args, **kwargs)
        return self.answers[function, known]

    def key(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bytes | None:
        """Bytes that are the same for the same arguments only; None where that cannot be promised."""
        if args is not self.last[0] or kwargs is not self.last[1]:
            try:
                found = wire.encode((args, kwargs), _told)
            except (wire.WireError, ValueError):
                found = None
            self.last = (args, kwargs, found)
        return self.last[2]


def _told(value: Any) -> Any:
    """A function by its code and by what it closes over."""
    code = getattr(value, "__code__", None)
    if code is None:
        raise ValueError
    cells = [cell.cell_contents for cell in value.__closure__ or ()]
    given = [value.__defaults__ or (), value.__kwdefaults__ or {}, cells]
    return [code.co_filename, code.co_firstlineno, code.co_code, str(code.co_consts), given]


memo = Memo()
