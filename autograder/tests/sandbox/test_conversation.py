"""The answering process answers, refuses with reasons, calls back, passes on replies, and says how a conversation has ended."""

import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from autograder.sandbox import conversation, wire
from autograder.sandbox.connection import Connection
from autograder.sandbox.conversation import (
    ASKED,
    GONE,
    PROTOCOL,
    QUESTIONS_TOLD,
    REPLY,
    TOO_MANY,
    Answers,
    Conversation,
)
from autograder.sandbox.wire import Handle
from autograder.tests.running import applied, identity, plus, times_ten, twice

LIMIT = 2**20


def hungry(x: np.ndarray) -> np.ndarray:
    raise MemoryError


def broken(x: np.ndarray) -> np.ndarray:
    raise KeyError("a mistake of ours")


def odd(x: np.ndarray) -> Any:
    return {1, 2}


def large(n: int) -> np.ndarray:
    return np.zeros(n)


ANSWERS: Answers = {f"m.{f.__name__}": f for f in (plus, identity, applied, twice, hungry, broken, odd, large)} | {
    7: times_ten
}
Ask = Callable[..., Any]


class Student:
    """The other end of a conversation, which goes on in a thread; `told` is what the grader has been told."""

    def __init__(self, requests: list[set[Any]]):
        ours, theirs = socket.socketpair()
        self.connection, self.told = Connection(ours, LIMIT, 5), list[bytes]()
        conversation = Conversation(Connection(theirs, LIMIT), ANSWERS, lambda *said: self.told.extend(said), LIMIT)
        self.thread = threading.Thread(target=conversation.run, args=[requests], daemon=True)
        self.thread.start()

    def says(self, *messages: Any) -> None:
        self.connection.send(*map(wire.encode, messages))

    def hears(self) -> Any:
        return wire.decode(self.connection.receive())

    def all_told(self) -> list[bytes]:
        self.thread.join(5)
        return self.told


@pytest.fixture
def ask() -> Iterator[Ask]:
    """Asks; `returns` are the replies to what is called back."""
    student = Student([{*ANSWERS, 8}])

    def asked(target: Any, args: Any, kwargs: Any = None, returns: Any = ()) -> Any:
        student.says(("ask", target, args, kwargs or {}))
        for reply in returns:
            assert student.hears()[0] == "invoke"
            student.says(reply)
        return student.hears()

    yield asked
    student.connection.close()
    assert student.all_told() == [GONE]


def test_answers(ask: Ask) -> None:
    kind, value = ask("m.plus", [np.ones(2)], {"y": 2})
    assert (kind, value.tolist()) == ("answer", [3, 3])
    assert ask("m.plus", [[1, 2]])[1].tolist() == [2, 3]  # a list of numbers counts as an array
    assert ask("m.identity", [np.ones(2)]) == ["same", 0]
    assert ask(Handle(7), [4]) == ["answer", 40]


@pytest.mark.parametrize(
    ("target", "args", "kind", "text"),
    [
        ("m.nothing", [], "ValueError", "this function is not available here"),
        (Handle(8), [], "ValueError", "this function is not available here"),
        ("m.plus", [np.ones(1), -1.0], "ValueError", "plus does not allow these arguments"),
        ("m.plus", [], "TypeError", "plus: missing a required argument: 'x'"),
        ("m.plus", ["text"], "TypeError", "plus: the contract does not allow this kind of x"),
        ("m.broken", [np.ones(1)], "TypeError", "broken does not allow these arguments"),
        ("m.hungry", [np.ones(1)], "MemoryError", "hungry: these arguments need more memory than a submission has"),
        ("m.odd", [np.ones(1)], "TypeError", "the arguments or the answer cannot be sent"),
        ("m.large", [LIMIT], "ValueError", "the answer is larger than anything that grading uses"),
        (Handle(7), [], "TypeError", "the function argument does not allow these arguments"),
    ],
)
def test_refusals_say_why(ask: Ask, target: Any, args: Any, kind: str, text: str) -> None:
    assert ask(target, args) == ["refused", kind, text]


def test_functions_are_called_back(ask: Ask) -> None:
    two: Any = ("returned", np.full(1, 2.0), [], False)
    assert ask("m.twice", [Handle(1), np.ones(1)], {}, [two, two])[1].tolist() == [2]
    assert ask("m.applied", [Handle(1), np.ones(1)], {}, [("returned", "text", [], False)])[:2] == [
        "refused",
        "TypeError",
    ]
    assert ask("m.applied", [Handle(1), np.ones(1)], {}, [("raised", [["KeyError"], "", "", 0, ""])])[:2] == [
        "refused",
        "ValueError",
    ]


def test_a_question_in_the_midst_of_an_answer_is_answered_first() -> None:
    student = Student([{"m.applied", "m.plus"}])
    student.says(("ask", "m.applied", [Handle(1), np.ones(1)], {}))
    assert student.hears()[0] == "invoke"
    student.says(("ask", "m.plus", [np.ones(1)], {}))
    assert student.hears()[1].tolist() == [2]
    student.says(("returned", np.full(1, 9.0), [], False))
    assert student.hears()[1].tolist() == [9]


PLUS: tuple[Any, ...] = ("ask", "m.plus", [np.ones(1)], {})


def test_replies_are_passed_on_as_they_are_each_with_its_own_questions() -> None:
    student = Student([set(), {"m.plus"}, set()])
    student.says(("any reply",), PLUS)
    assert student.hears()[1].tolist() == [2]
    assert student.told == [REPLY + wire.encode(("any reply",))]  # an answer may take long
    student.says(("second",), PLUS)
    assert student.hears() == ["refused", "ValueError", "this function is not available here"]
    student.connection.send(b"no message at all")
    assert student.all_told()[1:] == [REPLY + wire.encode(("second",)), REPLY + b"no message at all"]


def test_who_ends_the_conversation_and_how_is_told() -> None:
    for end, messages in (
        (PROTOCOL, [("ask", "m.plus", 3, {})]),
        (PROTOCOL, [("ask", "m.plus", [np.ones(1)], {}, "more")]),
        (PROTOCOL, [("ask", "m.applied", [Handle(1), np.ones(1)], {}), ("neither returned nor raised",)]),
        (PROTOCOL, [("ask", "m.applied", [Handle(1), np.ones(1)], {}), (np.ones(2), 1, [], False)]),
        (TOO_MANY, [PLUS] * (2 * QUESTIONS_TOLD)),
    ):
        student = Student([set(ANSWERS)])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(conversation, "MAX_QUESTIONS", QUESTIONS_TOLD + 1)
            student.says(*messages)
            told = student.all_told()
        assert told[-1] == end
        assert told[:-1] == ([ASKED] if end == TOO_MANY else [])
    student = Student([set()])
    student.connection.socket.sendall(b"\xff\xff\xff\xff")  # a size that none has
    assert student.all_told() == [PROTOCOL]
