"""What is said with a student's process that may ask, while its requests are answered, in the answering process.

The student's process writes its replies and its questions into one connection, whose reader this process is: replies are passed on
to the grader as they are, questions are answered here, where the functions are. So a question costs one exchange between two
processes, and what a student's code sends as a question is never read in the grader.
"""

import inspect
import types
import typing
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from autograder.sandbox import wire
from autograder.sandbox.connection import Connection
from autograder.sandbox.wire import Handle
from autograder.values.kinds import Opaque

MAX_QUESTIONS = 25_000  # in one request: as often as the contract allows a lent function and a neighbour together
MAX_NESTED = 3  # calls of the student's functions, each in the midst of a question of the one before
QUESTIONS_TOLD = 50  # together
# What the grader is told: the first byte of each message. A reply follows its byte; the last three end the conversation.
REPLY, ASKED, GONE, PROTOCOL, TOO_MANY = (bytes([number]) for number in range(5))
# What may be asked: functions by "<module>.<function>", and lent ones by the number of their handle.
Answers = Mapping[Any, Callable[..., Any]]


class Refusal(Exception):
    """A question that is not answered; kind and text go to the student's code."""

    def __init__(self, kind: str, text: str):
        super().__init__(text)
        self.kind = kind


class TooManyQuestions(Exception):
    """One request has led to more than MAX_QUESTIONS."""


class Conversation:
    """Answers the questions of one student's process, one within the other, and passes on its replies."""

    def __init__(self, student: Connection, answers: Answers, tell: Callable[..., None], max_answer: int):
        """`tell` sends messages to the grader; an answer has at most `max_answer` bytes."""
        self.student, self.answers, self.tell, self.max_answer = student, answers, tell, max_answer
        self.allowed: Container[str | int] = ()  # what the present request may ask for, as in Answers
        self.questions = 0  # of the present request
        self.nested = 0
        self._held: list[bytes] = []  # not told yet

    def run(self, requests: Iterable[Container[str | int]]) -> None:
        """Until each request, of which is said what it may ask for, has its reply; the grader is told if something else comes."""
        try:
            for self.allowed in requests:
                self.questions = 0
                reply = self._reply()
                self._held.append(REPLY + reply)
        except wire.Gone:
            self._held.append(GONE)
        except wire.WireError:
            self._held.append(PROTOCOL)
        except TooManyQuestions:
            self._held.append(TOO_MANY)
        self._tell()

    def _reply(self) -> bytes:
        """The next message that is no question, after all questions before it are answered."""
        while True:
            if self.student.is_empty:
                self._tell()
            message = self.student.receive()
            if wire.kind(message) != "ask":
                return message
            self.questions += 1
            if self.questions > MAX_QUESTIONS:
                raise TooManyQuestions
            if self.questions % QUESTIONS_TOLD == 0:
                self._held.append(ASKED)
            self._tell()  # an answer may take long, which is no time of the requests before
            self.student.send(self.answer(message))

    def _tell(self) -> None:
        if self._held:
            self.tell(*self._held)
            self._held = []

    def answer(self, question: bytes) -> bytes:
        """The answer to one question, encoded; WireError where it is none."""
        match wire.message_of(question):
            case ["ask", str() | Handle() as target, list() as args, dict() as named] if all(
                isinstance(name, str) for name in named
            ):
                pass
            case _:
                raise wire.WireError("not a question")
        try:
            value = self._value(target, args, named)
        except Refusal as refusal:
            return wire.encode(("refused", refusal.kind, str(refusal)))
        same = [number for number, argument in enumerate(args) if argument is value]
        try:
            answer = wire.encode(("same", same[0]) if same else ("answer", value))
        except wire.WireError:
            return wire.encode(("refused", "TypeError", "the arguments or the answer cannot be sent"))
        except MemoryError:  # the value has room, its copy on the wire has none
            return wire.encode(("refused", "MemoryError", "the answer needs more than a submission has"))
        if len(answer) > self.max_answer:
            return wire.encode(("refused", "ValueError", "the answer is larger than anything that grading uses"))
        return answer

    def _value(self, target: str | Handle, args: list[Any], named: dict[str, Any]) -> Any:
        known = target if isinstance(target, str) else target.id
        function = self.answers.get(known) if known in self.allowed else None
        if function is None:
            # Two processes of one submission must not be able to ask for one another.
            raise Refusal("ValueError", "this function is not available here")
        checked = isinstance(target, str)
        name = getattr(function, "__name__", "") if checked else "the function argument"
        try:
            fitted, kwargs = fitting(function, args, named) if checked else (args, named)
        except TypeError as error:
            raise Refusal("TypeError", str(error)) from None
        try:
            return function(*map(self._called_back, fitted), **{k: self._called_back(v) for k, v in kwargs.items()})
        except (Refusal, wire.WireError, TooManyQuestions):
            raise
        except MemoryError:
            raise Refusal("MemoryError", f"{name}: these arguments need more memory than a submission has") from None
        except ValueError:
            raise Refusal("ValueError", f"{name} does not allow these arguments") from None
        except Exception:
            raise Refusal("TypeError", f"{name} does not allow these arguments") from None

    def _called_back(self, value: Any) -> Any:
        """A function of the student's among the arguments, as a function that only ever returns an array."""
        if not isinstance(value, Handle):
            return value

        def call(*args: Any) -> Any:
            result = self._invoked(value, args)
            if not isinstance(result, np.ndarray):
                raise Refusal("TypeError", "the function that was passed did not return an array")
            return result

        return call

    def _invoked(self, handle: Handle, args: tuple[Any, ...]) -> Any:
        """What a function of the student's returns; what it asks in the meantime is answered."""
        if self.nested >= MAX_NESTED:
            raise Refusal("ValueError", "functions are nested too deeply")
        self.nested += 1
        try:
            self.student.send(wire.encode(("invoke", handle, args)))
            message = self._reply()
        finally:
            self.nested -= 1
        match wire.message_of(message):
            case ["returned", value, *_]:
                return value
            case ["raised", *_]:
                raise Refusal("ValueError", "the function that was passed raised an error")
            case _:
                raise wire.WireError("a reply of another form")


# The arguments of a question are held to the signature of the trusted function that will answer it.


def fitting(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments, where the function's signature and annotations allow them; lists of numbers count as arrays.

    A Python number stays one: with a float32 array it gives float32, as a float64 array would not.
    Raises TypeError with a text for the student.
    """
    signature, kinds = signature_of(function)
    name = getattr(function, "__name__", "the function")
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
    for parameter, value in bound.arguments.items():
        if np.ndarray in kinds[parameter] and isinstance(value, list):
            value = bound.arguments[parameter] = _array(value)
        if not isinstance(value, kinds[parameter]):
            raise TypeError(f"{name}: the contract does not allow this kind of {parameter}")
    return bound.args, bound.kwargs


def _array(value: Any) -> Any:
    try:
        array = np.asarray(value)
    except ValueError:
        return None
    return array if array.dtype.kind in "biuf" else None


def parameters(function: Callable[..., Any]) -> list[list[Any]]:
    """What a stand-in of the function must know of it: the name of each parameter, and its default value if it has one."""
    declared = inspect.signature(function).parameters.values()
    return [[p.name] if p.default is p.empty else [p.name, p.default] for p in declared]


@cache
def signature_of(function: Callable[..., Any]) -> tuple[inspect.Signature, dict[str, tuple[type, ...]]]:
    """The signature of a function, and what its annotations allow."""
    signature = inspect.signature(function)
    hints = typing.get_type_hints(function)
    return signature, {name: _kinds(hints.get(name, object)) for name in signature.parameters}


def _kinds(hint: Any) -> tuple[type, ...]:
    """The wire types that an annotation allows."""
    origin = typing.get_origin(hint) or hint
    if origin in (typing.Union, types.UnionType):
        return tuple(kind for part in typing.get_args(hint) for kind in _kinds(part))
    table: dict[Any, tuple[type, ...]] = {
        np.ndarray: (np.ndarray, np.generic, int, float),
        Callable: (Handle,),
        int: (int, np.integer),
        float: (float, int, np.floating, np.integer),
        bool: (bool, np.bool_),
        list: (list, tuple),
        typing.Any: (object,),
    }
    return table.get(origin, (origin,) if isinstance(origin, type) and not issubclass(origin, Opaque) else (object,))
