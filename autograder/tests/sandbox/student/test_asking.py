"""Questions go out one at a time and in order, whatever threads and nested calls ask them."""

import inspect
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autograder.sandbox import wire
from autograder.sandbox.student.asking import Questions
from autograder.sandbox.student.calls import Refused, described
from autograder.sandbox.wire import Handle


class Grader:
    """A grader that answers each question by a function, in strict order."""

    def __init__(self, answer: Callable[..., Any]):
        self.answer, self.sent, self.waiting = answer, list[Any](), deque[Any]()
        self.questions = Questions(self.take, self.give, lambda error: described(error, "/"), 2**20)

    def take(self, message: bytes) -> None:
        kind, *parts = wire.decode(message)
        self.sent.append((kind, *parts))
        self.waiting.append(self.answer(kind, *parts))

    def give(self) -> bytes:
        return wire.encode(self.waiting.popleft())

    def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self.questions.begin_call()
        try:
            return function(*args, **kwargs)
        finally:
            self.questions.end_call()


def double(kind: str, target: Any, args: Any, kwargs: Any) -> Any:
    return ("answer", 2 * args[0])


def test_a_question_is_answered() -> None:
    grader = Grader(double)
    ask = grader.questions.function("layernorm.double")
    assert grader.call(ask, 4) == 8
    assert grader.sent == [("ask", "layernorm.double", [4], {})]
    assert (ask.__module__, ask.__name__, ask.__qualname__) == ("layernorm", "double", "double")


def test_a_stand_in_has_the_signature_of_the_function() -> None:
    ask = Grader(double).questions.function("layernorm.layer_norm", [["x"], ["gamma"], ["eps", 1e-5], ["mask", None]])
    assert str(inspect.signature(ask)) == "(x, gamma, eps=1e-05, mask=None)"
    assert ask.__defaults__ == (1e-5, None)
    assert Grader(double).questions.function("m.f", [["x"]]).__defaults__ is None


def test_equal_questions_have_equal_bytes_and_are_asked_once() -> None:
    grader = Grader(double)
    ask = grader.questions.function("m.f", [["x"], ["gamma"], ["eps", 3]])
    for args, kwargs in (
        ((1, 2, 3), {}),
        ((1, 2), {}),
        ((1, 2), {"eps": 3}),
        ((), {"eps": 3, "gamma": 2, "x": 1}),
        ((1,), {"gamma": 2, "eps": 3}),
    ):
        assert grader.call(ask, *args, **kwargs) == 2
    assert grader.sent == [("ask", "m.f", [1, 2, 3], {})]
    grader.call(ask, 1, mask=0, eps=4)
    grader.call(ask, 1, eps=4, mask=0)
    assert grader.sent[1:] == [("ask", "m.f", [1], {"eps": 4, "mask": 0})]


def test_remembered_arrays_are_not_shared() -> None:
    grader = Grader(lambda kind, target, args, kwargs: ("answer", np.zeros(2)))
    ask = grader.questions.function("m.f")
    grader.call(ask, 1)[:] = 5
    assert grader.call(ask, 1).tolist() == [0, 0]
    assert len(grader.sent) == 1


def test_an_argument_that_is_the_answer_stays_the_same_object() -> None:
    grader = Grader(lambda kind, target, args, kwargs: ("same", 1))
    x = np.ones(2)
    assert grader.call(grader.questions.function(Handle(3)), 0, x) is x
    ask = grader.questions.function("m.f")
    assert grader.call(ask, 0, x) is x
    y = x.copy()
    assert grader.call(ask, 0, y) is y
    assert len(grader.sent) == 2


@pytest.mark.parametrize(
    ("kind", "error"),
    [("ValueError", ValueError), ("TypeError", TypeError), ("MemoryError", MemoryError), ("x", Refused)],
)
def test_refusals_are_raised(kind: str, error: type[Exception]) -> None:
    grader = Grader(lambda *_: ("refused", kind, "no"))
    with pytest.raises(error, match="no"):
        grader.call(grader.questions.function("m.f"), 1)


def test_between_calls_nothing_is_asked() -> None:
    grader = Grader(double)
    ask = grader.questions.function("m.f")
    with pytest.raises(RuntimeError, match="after the call"):
        ask(1)
    grader.call(ask, 1)
    with pytest.raises(RuntimeError):
        ask(2)
    assert len(grader.sent) == 1


def test_a_function_in_a_question_is_called_back_and_may_ask_itself() -> None:
    def answer(kind: str, *parts: Any) -> Any:
        if kind == "ask" and parts[0] == "m.apply":
            return ("invoke", parts[1][0], [10])
        if kind == "returned":
            return ("answer", parts[0] + 1)
        return ("answer", parts[1][0] * 2)

    grader = Grader(answer)
    apply, inner = grader.questions.function("m.apply"), grader.questions.function("m.double")
    assert grader.call(apply, lambda x: inner(x) + 5) == 26
    assert [kind for kind, *_ in grader.sent] == ["ask", "ask", "returned"]


def test_what_a_function_raises_when_called_back_is_told() -> None:
    def answer(kind: str, *parts: Any) -> Any:
        return ("invoke", parts[1][0], []) if kind == "ask" else ("refused", "ValueError", parts[0][0][0])

    grader = Grader(answer)
    with pytest.raises(ValueError, match="ZeroDivisionError"):
        grader.call(grader.questions.function("m.apply"), lambda: 1 / 0)


def test_a_question_over_the_limit_is_not_sent() -> None:
    grader = Grader(double)
    ask = grader.questions.function("m.f")
    with pytest.raises(ValueError, match="larger than anything"):
        grader.call(ask, [np.ones(60_000), np.ones(60_000), np.ones(60_000)])
    assert grader.sent == []


def test_one_array_may_fill_a_question() -> None:
    grader = Grader(lambda kind, target, args, kwargs: ("answer", args[0].nbytes))
    assert grader.call(grader.questions.function("m.f"), np.ones(1_000_000, bool)) == 1_000_000


def test_functions_are_forgotten_after_their_question() -> None:
    grader = Grader(lambda kind, target, args, kwargs: ("answer", args[0].id))
    ask = grader.questions.function("m.f")
    assert [grader.call(ask, print), grader.call(ask, print)] == [1, 2]
    assert grader.questions._own == {}


def test_threads_ask_one_after_another() -> None:
    grader = Grader(double)
    ask = grader.questions.function("m.f")
    found: list[int] = []

    def work(number: int) -> None:
        found.extend(ask(number * 1000 + n) for n in range(50))

    def all_threads() -> None:
        threads = [threading.Thread(target=work, args=[n]) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    grader.call(all_threads)
    assert sorted(found) == sorted(2 * (number * 1000 + n) for number in range(8) for n in range(50))


def test_a_thread_may_ask_while_a_function_is_called_back() -> None:
    def answer(kind: str, *parts: Any) -> Any:
        if kind == "ask" and parts[0] == "m.apply":
            return ("invoke", parts[1][0], [])
        return ("answer", parts[0] if kind == "returned" else 2 * parts[1][0])

    grader = Grader(answer)
    apply, inner = grader.questions.function("m.apply"), grader.questions.function("m.double")

    def with_thread() -> int:
        found: list[int] = []
        thread = threading.Thread(target=lambda: found.append(inner(21)))
        thread.start()
        thread.join()
        return found[0]

    assert grader.call(apply, with_thread) == 42
