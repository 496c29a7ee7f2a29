"""The answering process answers, refuses with reasons, calls back."""

import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from autograder.sandbox import wire
from autograder.sandbox.answering import AnsweringProcess
from autograder.sandbox.connection import Connection
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


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f"m.{f.__name__}": f for f in (plus, identity, applied, twice, hungry, broken, odd, large)
}
Ask = Callable[..., Any]


@pytest.fixture
def ask() -> Iterator[Ask]:
    """Asks a process in a thread; `returns` are the replies to what it has called back."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = AnsweringProcess(Connection(theirs, LIMIT), {**FUNCTIONS, 7: times_ten}, 9)
        grader = Connection(ours, LIMIT, 5)

        def asked(target: Any, args: Any, kwargs: Any = None, returns: Any = ()) -> Any:
            thread = threading.Thread(
                target=lambda: process.connection.send(
                    process.answer(wire.encode(("ask", target, args, kwargs or {})))
                ),
                daemon=True,
            )
            thread.start()
            for reply in returns:
                assert wire.decode(grader.receive())[0] == "invoke"
                grader.send(wire.encode(reply))
            answer = wire.decode(grader.receive())
            thread.join(5)
            return answer

        yield asked


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
    assert ask("m.applied", [Handle(1), np.ones(1)], {}, [("refused", "ValueError", "too deep")])[2] == "too deep"


def test_a_question_in_the_midst_of_an_answer_is_answered_first() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = AnsweringProcess(Connection(theirs, LIMIT), FUNCTIONS, 9)
        grader = Connection(ours, LIMIT, 5)
        threading.Thread(target=process.serve, daemon=True).start()
        grader.send(wire.encode(("ask", "m.applied", [Handle(1), np.ones(1)], {})))
        assert wire.decode(grader.receive())[0] == "invoke"
        grader.send(wire.encode(("ask", "m.plus", [np.ones(1)], {})))
        assert wire.decode(grader.receive())[1].tolist() == [2]
        grader.send(wire.encode(("returned", np.full(1, 9.0), [], False)))
        assert wire.decode(grader.receive())[1].tolist() == [9]
        grader.socket.shutdown(socket.SHUT_RDWR)
