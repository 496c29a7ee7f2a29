"""Questions reach the answering process only where the process whose turn it is may ask them."""

import time
from dataclasses import replace

import numpy as np
import pytest

from autograder.sandbox import conversation
from autograder.sandbox.messages import Ended, Reply, prepared
from autograder.sandbox.sandbox import Sandbox
from autograder.sandbox.wire import Handle
from autograder.tests.running import LIMITS, STAND_INS, TIGHT, answers, opened

ONE = np.ones(2)
ASKING = """
import neighbour
def f(name, *args): return getattr(neighbour, name)(*args)
def lent(g, x): return g(x)
def kept(g, x):
    global last
    last = g
    return g(x)
def late(x): return last(x)
def nested(x): return neighbour.applied(lambda y: neighbour.plus(y) * 2, x)
def deep(x, n): return x if n == 0 else neighbour.applied(lambda y: deep(y, n - 1) + 1, x)
def wrong(x): return neighbour.applied(lambda y: "text", x)
def failing(x): return neighbour.applied(lambda y: 1 / 0, x)
"""


def asked(function: str, *args: object, context: str = "m", stand_ins: object = STAND_INS) -> Reply:
    with opened(ASKING) as (_, process):
        assert process.load(context, ["m"], stand_ins) == Reply()  # type: ignore[arg-type]
        return process.play([prepared(context, "m", function, args)])[0]


def text(reply: Reply) -> str:
    assert reply.error is not None, reply
    return f"{reply.error.kind}: {reply.error.text}"


def test_neighbours_and_lent_functions_answer() -> None:
    assert asked("f", "plus", ONE).value.tolist() == [2, 2]
    assert asked("lent", Handle(7), ONE).value.tolist() == [10, 10]
    assert asked("nested", ONE).value.tolist() == [4, 4]


def test_a_context_may_ask_only_for_its_own() -> None:
    source = "import neighbour\nfrom neighbour import plus\nimport builtins\nbuiltins.found = plus\ndef f(x): return found(x)\n"
    with opened(source) as (_, process):
        process.load("a", ["m"], STAND_INS)
        assert process.play([prepared("a", "m", "f", [ONE])])[0].value.tolist() == [2, 2]
    taking = "import sys\nkept = sys.modules.setdefault('kept', {})\n"
    with opened(taking + "import neighbour\nkept['f'] = neighbour.plus\ndef f(x): return kept['f'](x)\n") as (
        _,
        process,
    ):
        # An object that is no module of the submission's is not put away with its context.
        process.load("a", ["m"], STAND_INS)
        process.load("b", ["m"], {"neighbour": {"plus": [["x"], ["y", 1.0]]}})
        assert process.play([prepared("b", "m", "f", [ONE])])[0].value.tolist() == [2, 2]


def test_what_the_process_may_not_ask_is_refused() -> None:
    source = "import neighbour\ndef f(x):\n    return neighbour.plus(x)\n"
    with opened(source) as (_, process):
        process.load("m", ["m"], STAND_INS)
        process._allowed["m"] = ["neighbour.identity"]
        assert (
            text(process.play([prepared("m", "m", "f", [ONE])])[0]) == "ValueError: this function is not available here"
        )


def test_a_function_is_lent_for_one_call() -> None:
    with opened(ASKING) as (_, process):
        process.load("m", ["m"], STAND_INS)
        first, second = process.play(
            [prepared("m", "m", "kept", [Handle(7), ONE]), prepared("m", "m", "late", [ONE * 2])]
        )
        assert first.value.tolist() == [10, 10]
        assert "not available" in text(second)
        assert "not available" in text(process.play([prepared("m", "m", "lent", [Handle(8), ONE])])[0])


def test_errors_of_the_answer_are_raised_in_the_students_code() -> None:
    assert text(asked("f", "plus", ONE, -1.0)) == "ValueError: plus does not allow these arguments"
    assert text(asked("f", "plus")) == "TypeError: plus: missing a required argument: 'x'"
    assert text(asked("f", "plus", "text")) == "TypeError: plus: the contract does not allow this kind of x"
    assert text(asked("wrong", ONE)) == "TypeError: the function that was passed did not return an array"
    assert text(asked("failing", ONE)) == "ValueError: the function that was passed raised an error"


def test_nesting_has_an_end() -> None:
    assert asked("deep", ONE, conversation.MAX_NESTED).value.tolist() == [4, 4]
    assert "ValueError" in text(asked("deep", ONE, conversation.MAX_NESTED + 2))


def test_questions_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "MAX_QUESTIONS", 10)  # before the answering process is forked
    source = "import neighbour, numpy as np\ndef f(m):\n    for n in range(m): neighbour.plus(np.array([float(n)]))\n"
    with Sandbox(LIMITS, answers) as sandbox:
        sandbox.place({"m.py": source.encode()})
        process = sandbox.start()
        process.load("m", ["m"], STAND_INS)
        assert [reply.ended for reply in process.play([prepared("m", "m", "f", [10])] * 2)] == [None, None]
        assert process.play([prepared("m", "m", "f", [50])])[0].ended == Ended("deadline", "m.py", 3)


OFTEN = """
import neighbour, numpy as np
def near(n):
    for number in range(n): neighbour.plus(np.full((6, 8), float(number)))
    return n
def lent(g, n):
    for number in range(n): g(np.full((6, 8), float(number)))
    return n
"""


def test_what_questions_cost_does_not_end_their_call() -> None:
    with opened(OFTEN, LIMITS.model_copy(update={"call_seconds": 0.05})) as (_, process):
        process.load("m", ["m"], STAND_INS)
        assert process.play([prepared("m", "m", "near", [1500])])[0].value == 1500


@pytest.mark.slow
@pytest.mark.parametrize(("function", "args"), [("near", [5000]), ("lent", [Handle(7), 20_000])])
def test_a_call_may_ask_as_often_as_the_contract_says(function: str, args: list[object]) -> None:
    with opened(OFTEN) as (_, process):
        process.load("m", ["m"], STAND_INS)
        assert process.play([prepared("m", "m", function, args)])[0].value == args[-1]


def test_an_endless_answer_ends_at_the_deadline_of_the_call() -> None:
    with opened(ASKING, TIGHT) as (sandbox, process):
        process.load("m", ["m"], STAND_INS)
        began = time.monotonic()
        reply = process.play([prepared("m", "m", "f", ["endless", ONE])])[0]
        assert reply.ended is not None and reply.ended.why == "deadline"
        assert time.monotonic() - began < 20
        assert sandbox.processor_seconds > 0.1
        other = sandbox.start()
        other.load("m", ["m"], STAND_INS)
        assert other.play([prepared("m", "m", "f", ["plus", ONE])])[0].value.tolist() == [2, 2]


def test_the_reply_of_the_references_is_read_once_and_counted_each_time() -> None:
    plus, fails = (prepared("m", "m", "f", [name, ONE]) for name in ("plus", "nothing"))
    with opened(ASKING) as (sandbox, process):
        process.load("m", ["m"], STAND_INS)
        process.is_reference = True
        values = [sandbox.budget.kept["m", False][1]]
        replies = []
        for calls in ([plus, fails], [prepared("m", "m", "f", ["plus", ONE * 2])], [plus, fails]):
            replies.append(process.play(calls))
            values.append(sandbox.budget.kept["m", False][1])
            process.is_reference = False  # from the second submission on
    assert replies[0][0] is replies[2][0] and plus.is_seen(replies[2][0])
    assert replies[0][1] is not replies[2][1] and not fails.seen  # a line of one submission is no line of another
    assert values[1] - values[0] == values[3] - values[2] > 0
    assert not replace(plus, kind="edits").seen  # what is asked for in another form


def test_an_answering_process_that_ends_takes_only_who_has_asked_with_it() -> None:
    with opened(ASKING) as (sandbox, process):
        other = sandbox.start()
        for one in (process, other):
            one.load("m", ["m"], STAND_INS)
        replies = process.play([prepared("m", "m", "f", [name, ONE]) for name in ("plus", "ending", "plus")])
        assert len(replies) == 2, replies
        first, second = replies
        assert first.value.tolist() == [2, 2] and second.ended == Ended("memory")
        assert other.play([prepared("m", "m", "f", ["plus", ONE])])[0].value.tolist() == [2, 2]


def test_an_answer_may_be_large_but_not_endlessly() -> None:
    assert asked("f", "large", 500_000).value is not None
    assert "larger than anything" in text(asked("f", "large", 2**20))
    assert text(asked("f", "large", 2**40)).startswith("MemoryError")
