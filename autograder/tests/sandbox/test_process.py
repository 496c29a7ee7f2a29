"""One student process: what it replies, how it ends, and that it runs only while its turn lasts."""

import time
from typing import Any

import numpy as np
import psutil
import pytest

from autograder.sandbox.budget import Limits
from autograder.sandbox.connection import Connection
from autograder.sandbox.messages import Ended, Reply, prepared, prepared_changes, prepared_look, prepared_write
from autograder.sandbox.process import SPENT
from autograder.sandbox.wire import Kept
from autograder.tests.running import HOLDING, STAND_INS, TIGHT, linux, opened, replied
from autograder.values.kinds import Opaque

BUSY = """
import time

def f(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return 1
"""
IDLE = "import time\ndef f(seconds):\n    time.sleep(seconds)\n    return 1\n"
ONE = np.ones(2)


def why(reply: Reply) -> str:
    assert reply.ended is not None, reply
    return reply.ended.why


def test_replies_come_in_the_order_of_the_calls() -> None:
    with opened("def f(x):\n    return 1 / x\n") as (_, process):
        process.load("m", ["m"])
        replies = process.play([prepared("m", "m", "f", [x]) for x in (1.0, 0.0, 4.0)])
        assert [reply.value for reply in replies] == [1, None, 0.25]
        assert replies[1].error is not None and replies[1].error.kinds[:2] == ("ZeroDivisionError", "ArithmeticError")
        assert (replies[1].error.file, replies[1].error.line) == ("m.py", 2)


def test_all_is_sent_before_the_answering_process_has_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who sends something large changes how a socket blocks, for all who have it: the grader would wait there without a clock."""
    done: list[str] = []
    send, give = Connection.send, Connection.give
    with opened("def f(x):\n    return x\n") as (_, process):
        process.load("m", ["m"], STAND_INS)

        def noted(connection: Connection, *payloads: bytes, **options: Any) -> None:
            done.extend(["sent"] * (connection is process.connection))
            send(connection, *payloads, **options)

        def given(connection: Connection, *other: Any) -> None:
            done.append("given")
            give(connection, *other)

        monkeypatch.setattr(Connection, "send", noted)
        monkeypatch.setattr(Connection, "give", given)
        process.play([prepared("m", "m", "f", [x]) for x in (1.0, 2.0)])
    assert done == ["sent", "given"]


ASKING = """
import gc
def f(x):
    ask = next(thing for thing in gc.get_objects() if type(thing).__name__ == "Questions")
    return ask.function("layernorm.layer_norm", [["x"]])(x)
def same(x):
    return x
"""


def test_a_process_that_was_given_nothing_to_ask_for_speaks_with_the_grader_alone() -> None:
    with opened(ASKING) as (sandbox, process):
        sandbox.answerer.kill()
        process.load("m", ["m"])
        assert process.play([prepared("m", "m", "same", [1.0])])[0].value == 1.0
        assert why(process.play([prepared("m", "m", "f", [ONE])])[0]) == "protocol"
        assert sandbox.answerer.connection is None
        process = sandbox.start()
        process.load("m", ["m"], STAND_INS)
        assert sandbox.answerer.connection is not None


KEEPING = """
last = []
def f(x):
    last.append(x)
    return x
def same(x):
    return x is last[0]
def spoil():
    last[0][0] = 9
"""


def test_objects_stay_the_same_between_calls_and_plays() -> None:
    with opened(KEEPING) as (_, process):
        process.load("m", ["m"])
        first = prepared("m", "m", "f", [np.zeros(2)], {}, ["pure"], 1)
        process.play([first, prepared("m", "m", "spoil")])
        replies = process.play(
            [
                prepared("m", "m", "same", [Kept(1, ("result",))]),
                prepared_changes("m", 1, first),
                prepared_look("m", Kept(1, (0,))),
                prepared_write("m", Kept(1, (0,)), np.array([5.0, 6.0])),
                prepared_look("m", Kept(1, ("result",))),
            ]
        )
        assert replies[0].value is True
        assert [(change.argument, change.how) for change in replies[1].changed] == [(0, "entry written")]
        assert [replies[2].value.tolist(), replies[3], replies[4].value.tolist()] == [[9, 0], Reply(), [5, 6]]


def test_a_call_of_one_module_is_not_taken_for_one_of_another_with_the_same_number() -> None:
    with opened(KEEPING, files={"other.py": b""}) as (_, process):
        process.load("m", ["m"])
        process.load("other", ["other"])
        missing = prepared("other", "other", "f", [np.zeros(2)], {}, ["pure"], 1)
        process.play([prepared("m", "m", "f", [np.zeros(2)], {}, ["pure"], 1), prepared("m", "m", "spoil"), missing])
        changes, look = process.play([prepared_changes("other", 1, missing), prepared_look("other", Kept(1, (0,)))])
        assert changes == Reply() and look.error is not None


def test_what_is_kept_ends_with_the_process() -> None:
    with opened(KEEPING) as (sandbox, process):
        process.load("m", ["m"])
        process.play([prepared("m", "m", "f", [ONE], {}, (), 1)])
        other = sandbox.start()
        other.load("m", ["m"])
        reply = other.play([prepared("m", "m", "f", [Kept(1, (0,))])])[0]
        assert reply.error is not None and reply.error.hint == "absent"


def test_a_play_ends_with_the_process() -> None:
    with opened("import os, time\ndef f(x):\n    time.sleep(0.1)\n    x or os._exit(3)\n    return x\n") as (
        _,
        process,
    ):
        process.load("m", ["m"])
        replies = process.play([prepared("m", "m", "f", [x]) for x in (1, 2, 0, 3)])
        assert [reply.value for reply in replies] == [1, 2, None]
        assert replies[-1].ended == process.ended == Ended("crash")
        assert process.play([prepared("m", "m", "f", [1])]) == [Reply(ended=Ended("crash"))]
        assert process.play([]) == []


def test_processor_time_ends_a_call() -> None:
    began = time.monotonic()
    assert why(replied(BUSY, 60.0, limits=TIGHT)) == "deadline"
    assert time.monotonic() - began < 20


def test_waiting_costs_less_than_computing() -> None:
    assert replied(IDLE, 0.7, limits=TIGHT).value == 1
    assert why(replied(IDLE, 60.0, limits=TIGHT)) == "deadline"


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("def f(x):\n    y = 0\n    while x:\n        y += 1\n        y -= 1\n", 3),
        (
            "def f(x):\n    for n in range(3):\n        g(x)\ndef g(x):\n    while x:\n        for k in range(9): pass\n",
            5,
        ),
        ("def f(x):\n    while x:\n        try:\n            x += 1\n        except Exception: pass\n", 2),
        pytest.param("import time\ndef f(x):\n    for n in range(x): time.sleep(0.1)\n", 3, marks=pytest.mark.slow),
        pytest.param("import time\ndef f(x):\n    time.sleep(99)\n", 0, marks=pytest.mark.slow),
        ("def f(x):\n    while x:\n        try:\n            x += 1\n        except: pass\n", 2),
    ],
)
def test_a_call_that_takes_too_long_says_in_which_loop(source: str, line: int) -> None:
    ended = replied(source, 99, limits=TIGHT).ended
    assert ended == Ended("deadline", "m.py" if line else "", line)


def test_the_loop_of_an_import_that_does_not_end() -> None:
    with opened("x = 1\nwhile x:\n    x = 2\n", TIGHT) as (_, process):
        assert process.load("m", ["m"]).ended == Ended("deadline", "m.py", 2)


@pytest.mark.slow
def test_a_loop_that_asks_is_found_behind_its_questions() -> None:
    source = "import neighbour, numpy as np\ndef f(x):\n    while True:\n        neighbour.plus(x)\n        x = x + 1\n"
    with opened(source, TIGHT) as (_, process):
        process.load("m", ["m"], STAND_INS)
        ended = process.play([prepared("m", "m", "f", [np.ones(1000)])])[0].ended
        assert ended == Ended("deadline", "m.py", 3)


def test_replies_that_were_held_back_do_not_hide_the_loop() -> None:
    with opened("def f(x):\n    while x: pass\n", TIGHT) as (_, process):
        process.load("m", ["m"])
        replies = process.play([prepared("m", "m", "f", [x]) for x in (0, 0, 1, 1)])
        assert replies[-1].ended == Ended("deadline", "m.py", 2)


def test_who_was_interrupted_in_a_loop_may_be_endless_and_nobody_else() -> None:
    source = "def f(x):\n    while x: pass\ndef g(x):\n    return x\n"
    calls = [prepared("m", "m", function, [x]) for function, x in (("g", 1), ("f", 0), ("f", 1), ("g", 2))]
    with opened(source, TIGHT.model_copy(update={"wall_factor": 99})) as (sandbox, process):
        process.load("m", ["m"])
        assert process.play(calls)[-1].ended == Ended("deadline", "m.py", 2)
        assert process.budget.endless == {"m.f"}
        again = sandbox.start()
        again.load("m", ["m"])
        assert [reply.value for reply in again.play([calls[0], calls[1], calls[3]])] == [1, None, 2]
        assert [len(part) for part in again._parts([calls[0], calls[3], *calls])] == [3, 1, 1, 1]


def test_the_time_of_one_call_is_not_that_of_all() -> None:
    with opened(BUSY, TIGHT) as (_, process):
        process.load("m", ["m"])
        assert [reply.value for reply in process.play([prepared("m", "m", "f", [0.15])] * 8)] == [1] * 8


def test_a_submission_has_deadlines_as_a_whole() -> None:
    for limits, source, seconds in (
        (TIGHT.model_copy(update={"submission_seconds": 0.5, "wall_factor": 1}), IDLE, 0.25),
        (TIGHT.model_copy(update={"submission_seconds": 0.5, "wall_factor": 99}), BUSY, 0.25),
    ):
        with opened(source, limits) as (sandbox, _):
            replies = []
            for _ in range(5):
                process = sandbox.start()
                process.load("all", ["m"])
                replies += process.play([prepared("all", "m", "f", [seconds])])
            assert replies[0].value == 1
            assert why(replies[-1]) in ("deadline", "spent")
            sandbox.place({"m.py": source.encode()})
            process = sandbox.start()
            process.load("all", ["m"])
            assert process.play([prepared("all", "m", "f", [0.01])])[0].value == 1


def test_a_module_that_has_used_its_share_is_not_called_any_more_and_others_are() -> None:
    limits = TIGHT.model_copy(update={"submission_seconds": 1, "wall_factor": 99})
    with opened(BUSY, limits, files={"n.py": BUSY.encode()}) as (_, process):
        for module in ("m", "n"):
            process.load(module, [module])
        first, *others = process.play([prepared("m", "m", "f", [seconds]) for seconds in (0.01, 0.3, 0.3, 0.3, 0.3)])
        assert first.value == 1 and others[-1] == SPENT and process.ended is not None
    with opened(BUSY, limits, files={"n.py": BUSY.encode()}) as (_, process):
        for module in ("m", "n"):
            process.load(module, [module])
        process.budget.module_seconds["m"] = 0.5
        replies = process.play([prepared(module, module, "f", [0.01]) for module in ("m", "n", "m", "n")])
        assert replies == [SPENT, Reply(value=1), SPENT, Reply(value=1)] and process.ended is None


def test_a_process_that_fills_the_disk_is_told_from_one_that_crashes() -> None:
    fill = "def f():\n    for n in range(500):\n        open(f'{n}', 'w').write('x' * 10**5)\n    import time; time.sleep(9)\n"
    assert why(replied(fill, limits=TIGHT, without=("mounts",))) == "disk"
    if "mounts" in HOLDING:
        reply = replied(fill, limits=TIGHT)
        assert reply.error is not None and reply.error.text == "[Errno 28] No space left on device"
    assert why(replied("import os\ndef f(): os._exit(3)", limits=TIGHT)) == "crash"
    assert why(replied("import os\ndef f(): os.write(3, b'x' * 99)", limits=TIGHT)) == "protocol"


COUNTING = """
import threading, time
ticks = [0]
def count():
    while True:
        ticks[0] += 1
        time.sleep(0.001)
threading.Thread(target=count, daemon=True).start()
def f(): return ticks[0]
"""


@linux
def test_between_plays_a_process_stands_still() -> None:
    with opened(COUNTING) as (sandbox, process):
        process.load("m", ["m"])
        other = sandbox.start()
        other.load("m", ["m"])
        first = process.play([prepared("m", "m", "f")])[0].value
        time.sleep(0.3)
        assert psutil.Process(process.pid).status() == psutil.STATUS_STOPPED
        assert other.play([prepared("m", "m", "f")])[0].value < 100
        assert process.play([prepared("m", "m", "f")])[0].value - first < 100
        time.sleep(0.1)
        assert {psutil.Process(p.pid).status() for p in (process, other)} == {psutil.STATUS_STOPPED}


MANY_THREADS = """
import threading
def f(count):
    event, done = threading.Event(), []
    threads = [threading.Thread(target=lambda: event.wait() and done.append(sorted([[3], [2]]))) for _ in range(count)]
    for thread in threads: thread.start()
    event.set()
    for thread in threads: thread.join()
    return len(done)
"""


def test_a_hundred_threads_run_at_once() -> None:
    with opened(MANY_THREADS, Limits()) as (_, process):
        process.load("m", ["m"])
        assert [reply.value for reply in process.play([prepared("m", "m", "f", [100])] * 3)] == [100] * 3


@linux
def test_ever_more_threads_are_refused() -> None:
    reply = replied(MANY_THREADS, 1000)
    assert reply.ended is not None or (reply.error is not None and reply.error.text == "can't start new thread")


def test_closing_ends_the_process() -> None:
    with opened("") as (_, process):
        assert psutil.pid_exists(process.pid)
        process.close()
        process.close()
        assert not psutil.pid_exists(process.pid)
        assert process.play([prepared("m", "m", "f")]) == [Reply(ended=Ended("crash"))]


def test_a_large_batch_does_not_block() -> None:
    with opened("def f(x): return x") as (_, process):
        process.load("m", ["m"])
        x: Any = np.zeros(50_000)
        values = [reply.value for reply in process.play([prepared("m", "m", "f", [x])] * 60)]
        assert len(values) == 60 and values[0].size == x.size
        assert values[-1] == Opaque("something too large to send")  # not kept: it would leave too little for others


HOLDING_MEMORY = """
import time
held = []
def f():
    held.append(bytearray(b"x") * (100 * 2**20))
    time.sleep(0.3)
    return len(held)
"""


@linux
def test_together_processes_have_the_memory_of_one() -> None:
    with opened(HOLDING_MEMORY) as (sandbox, process):
        replies = []
        for one in (process, sandbox.start(), sandbox.start()):
            one.load("m", ["m"])
            replies += one.play([prepared("m", "m", "f")])
        assert replies[0].value == 1
        assert [reply.ended.why for reply in replies if reply.ended is not None] == ["memory"]
