"""Questions from the student's process to the grader: functions of other modules, and functions that a test has lent.

The wire is in strict order: one question at a time, and nothing else is sent until it is answered. In the midst of a question
the grader may call a function of the student's that was an argument of it; that call may ask in its turn.
"""

import inspect
import itertools
import threading
from collections.abc import Callable
from typing import Any

from autograder.sandbox import wire
from autograder.sandbox.student.calls import ErrorTuple, Refused
from autograder.sandbox.student.values import sendable
from autograder.sandbox.wire import Handle, Parameters
from autograder.values.tree import mapped

MAX_REMEMBERED = 8 * 2**20  # bytes of questions and their answers
MARGIN_BYTES = 16  # around a message
_REFUSALS: dict[str, type[Exception]] = {kind.__name__: kind for kind in (ValueError, TypeError, MemoryError)}
_EITHER, _EMPTY = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
Target = str | Handle


class Questions:
    """Asks the grader, for whichever thread of the student's code, but only while a call is under way."""

    def __init__(
        self,
        send: Callable[[bytes], None],
        receive: Callable[[], bytes],
        describe: Callable[[BaseException], ErrorTuple],
        limit: int,
    ):
        self._send, self._receive, self._describe, self._limit = send, receive, describe, limit
        self.lock = threading.Lock()  # held by the thread that may use the connection
        self._returned = threading.Condition(self.lock)
        self._answers: dict[bytes, bytes] = {}  # by question. The functions are pure: it always has the same answer.
        self._room = MAX_REMEMBERED
        self._own: dict[int, Callable[..., Any]] = {}  # the student's functions that the present questions hold
        self._numbers = itertools.count(1)
        self._calls = 0  # calls of the student's code that are under way, one within the other
        self._depth = 0  # those of them that the grader has asked for in the midst of a question

    def forget(self) -> None:
        """Remember no answer any more."""
        self._answers, self._room = {}, MAX_REMEMBERED

    def begin_call(self) -> None:
        """From here on a call of the student's code is under way, and may ask."""
        with self.lock:
            self._calls += 1

    def end_call(self) -> None:
        with self.lock:
            self._calls -= 1

    def function(self, target: Target, parameters: Parameters = ()) -> Callable[..., Any]:
        """A function that asks the grader, with the signature that `parameters` give.

        Arguments by keyword are made positional, and defaults filled in, so that equal questions have equal bytes.
        """

        def ask(*args: Any, **kwargs: Any) -> Any:
            for name, *default in parameters[len(args) :]:
                if name not in kwargs and not default:
                    break
                args = (*args, kwargs.pop(name, *default))
            kwargs = dict(sorted(kwargs.items()))
            with self.lock:
                if not self._calls:
                    # Between two calls the grader listens to nobody: a question now would be taken for the next reply.
                    raise RuntimeError("this function was used after the call that it belonged to")
                return self._ask(target, args, kwargs)

        if isinstance(target, str):
            ask.__module__, _, ask.__name__ = target.rpartition(".")
            ask.__qualname__ = ask.__name__
        if parameters:
            ask.__defaults__ = tuple(default for _, *defaults in parameters for default in defaults) or None
            declared = (inspect.Parameter(n, _EITHER, default=d[0] if d else _EMPTY) for n, *d in parameters)
            vars(ask)["__signature__"] = inspect.Signature(list(declared))
        return ask

    def _ask(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Ask one question and wait for its answer; the caller holds the lock."""
        numbers: list[int] = []
        question = wire.encode(("ask", target, self._outgoing(args, numbers), self._outgoing(kwargs, numbers)))
        if len(question) > self._limit - MARGIN_BYTES:  # the grader would take a longer message for an attack
            raise ValueError("the arguments are larger than anything that grading uses")
        answer = self._answers.get(question)
        if answer is not None:
            # Decoded each time anew: every caller gets an array of its own.
            kind, value = wire.decode(answer, from_grader=True)
            return args[value] if kind == "same" else value
        self._send(question)
        try:
            return self._answer(b"" if numbers else question, args)
        finally:
            for number in numbers:
                del self._own[number]

    def _answer(self, question: bytes, args: tuple[Any, ...]) -> Any:
        """The answer to what was sent, after whatever is asked of the student's functions before; remembered by `question`."""
        while True:
            message = self._receive()
            match wire.decode(message, from_grader=True):
                case ["answer" | "same" as kind, value]:
                    if question and self._room > len(question) + len(message):
                        self._room -= len(question) + len(message)
                        self._answers[question] = message
                    # "same": the answer is an argument itself, by number, and stays the same object here
                    return args[value] if kind == "same" else value
                case ["refused", kind, text]:
                    raise _REFUSALS.get(kind, Refused)(text)
                case ["invoke", handle, values]:
                    self._send(wire.encode(self._invoked(self._own[handle.id], values)))
                case _:
                    raise wire.WireError("not an answer")

    def _invoked(self, function: Callable[..., Any], values: list[Any]) -> tuple[Any, ...]:
        """Call a function of the student's in the midst of a question.

        Meanwhile the lock is free, for this call and for other threads may ask. Their questions are within this one: all of
        them must be answered before the result of this call is sent, or the grader would take one for the other.
        """
        self._depth += 1
        self._calls += 1
        depth = self._depth
        self.lock.release()
        outcome: tuple[Any, ...]
        try:
            outcome = ("returned", sendable(function(*values), self._limit), [], False)
        except BaseException as error:
            outcome = ("raised", self._describe(error))
        finally:
            self.lock.acquire()
            self._calls -= 1
            self._returned.wait_for(lambda: self._depth == depth)
            self._depth -= 1
            self._returned.notify_all()
        return outcome

    def _outgoing(self, value: Any, numbers: list[int]) -> Any:
        """Arguments for the grader: functions become handles, whose `numbers` are noted, everything else plain data.

        One array may fill the whole question, whose own limit comes later.
        """

        def plain(leaf: Any) -> Any:
            if not callable(leaf) or isinstance(leaf, type):
                return sendable(leaf, 2 * self._limit)
            numbers.append(next(self._numbers))
            self._own[numbers[-1]] = leaf
            return Handle(numbers[-1])

        return mapped(plain, value)
