"""One student process: what it replies, and how it ends."""

import marshal
import time
from dataclasses import replace
from typing import Any

import numpy as np
import psutil
import pytest

from autograder.sandbox.budget import Limits
from autograder.sandbox.messages import (
    Ended,
    Reference,
    Response,
    prepared,
    prepared_changes,
    prepared_extension,
    prepared_look,
    prepared_request,
    prepared_write,
)
from autograder.sandbox.process import SPENT
from autograder.sandbox.wire import Kept
from autograder.tests.running import TIGHT, linux, opened, replied
from autograder.values.tree import Opaque

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


def why(response: Response) -> str:
    assert response.ended is not None, response
    return response.ended.why


def test_replies_come_in_the_order_of_the_calls() -> None:
    with opened("def f(x):\n    return 1 / x\n") as (_, process):
        process.load(["m"])
        responses = process.run([prepared("m", "f", [x]) for x in (1.0, 0.0, 4.0)])
        assert [response.value for response in responses] == [1, None, 0.25]
        assert responses[1].error is not None and responses[1].error.kinds[:2] == (
            "ZeroDivisionError",
            "ArithmeticError",
        )
        assert (responses[1].error.file, responses[1].error.line) == ("m.py", 2)


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
        process.load(["m"])
        first = prepared("m", "f", [np.zeros(2)], {}, ["pure"], 1)
        process.run([first, prepared("m", "spoil")])
        responses = process.run(
            [
                prepared("m", "same", [Kept(1, ("result",))]),
                prepared_changes(1, first),
                prepared_look(Kept(1, (0,))),
                prepared_write(Kept(1, (0,)), np.array([5.0, 6.0])),
                prepared_look(Kept(1, ("result",))),
            ]
        )
        assert responses[0].value is True
        assert [(change.argument, change.how) for change in responses[1].changed] == [(0, "entry written")]
        assert [responses[2].value.tolist(), responses[3], responses[4].value.tolist()] == [[9, 0], Response(), [5, 6]]


def test_what_is_kept_ends_with_the_process() -> None:
    with opened(KEEPING) as (sandbox, process):
        process.load(["m"])
        process.run([prepared("m", "f", [ONE], {}, (), 1)])
        other = sandbox.start()
        other.load(["m"])
        response = other.run([prepared("m", "f", [Kept(1, (0,))])])[0]
        assert response.error is not None and response.error.hint == "absent"


def test_a_play_ends_with_the_process() -> None:
    with opened("import os, time\ndef f(x):\n    time.sleep(0.1)\n    x or os._exit(3)\n    return x\n") as (
        _,
        process,
    ):
        process.load(["m"])
        responses = process.run([prepared("m", "f", [x]) for x in (1, 2, 0, 3)])
        assert [response.value for response in responses] == [1, 2, None]
        assert responses[-1].ended == process.ended == Ended("crash")
        assert process.run([prepared("m", "f", [1])]) == [Response(ended=Ended("crash"))]
        assert process.run([]) == []


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
        assert process.load(["m"]).ended == Ended("deadline", "m.py", 2)


def test_replies_that_were_held_back_do_not_hide_the_loop() -> None:
    with opened("def f(x):\n    while x: pass\n", TIGHT) as (_, process):
        process.load(["m"])
        responses = process.run([prepared("m", "f", [x]) for x in (0, 0, 1, 1)])
        assert responses[-1].ended == Ended("deadline", "m.py", 2)


def test_who_was_interrupted_in_a_loop_may_be_endless_and_nobody_else() -> None:
    source = "def f(x):\n    while x: pass\ndef g(x):\n    return x\n"
    calls = [prepared("m", function, [x]) for function, x in (("g", 1), ("f", 0), ("f", 1), ("g", 2))]
    with opened(source, TIGHT.model_copy(update={"wall_factor": 99})) as (sandbox, process):
        process.load(["m"])
        assert process.run(calls)[-1].ended == Ended("deadline", "m.py", 2)
        assert process.budget.endless == {"m.f"}
        again = sandbox.start()
        again.load(["m"])
        assert [response.value for response in again.run([calls[0], calls[1], calls[3]])] == [1, None, 2]
        assert [len(part) for part in again._parts([calls[0], calls[3], *calls])] == [3, 1, 1, 1]


def test_the_time_of_one_call_is_not_that_of_all() -> None:
    with opened(BUSY, TIGHT) as (_, process):
        process.load(["m"])
        assert [response.value for response in process.run([prepared("m", "f", [0.15])] * 8)] == [1] * 8


def test_a_submission_has_deadlines_as_a_whole() -> None:
    for limits, source, seconds in (
        (TIGHT.model_copy(update={"submission_seconds": 0.5, "wall_factor": 1}), IDLE, 0.25),
        (TIGHT.model_copy(update={"submission_seconds": 0.5, "wall_factor": 99}), BUSY, 0.25),
    ):
        with opened(source, limits) as (sandbox, _):
            responses = []
            for _ in range(5):
                process = sandbox.start()
                process.load(["m"])
                responses += process.run([prepared("m", "f", [seconds])])
            assert responses[0].value == 1
            assert why(responses[-1]) in ("deadline", "spent")
            sandbox.place({"m.py": source.encode()})
            process = sandbox.start()
            process.load(["m"])
            assert process.run([prepared("m", "f", [0.01])])[0].value == 1


def test_a_module_that_has_used_its_share_is_not_called_any_more_and_others_are() -> None:
    limits = TIGHT.model_copy(update={"submission_seconds": 1, "wall_factor": 99})
    with opened(BUSY, limits) as (sandbox, process):
        process.load(["m"])
        calls = [prepared("m", "f", [seconds]) for seconds in (0.01, 0.3, 0.3, 0.3, 0.3)]
        first, *others = process.run(calls, "m")
        assert first.value == 1 and others[-1] == SPENT and process.ended is not None
        process = sandbox.start()
        assert process.load(["m"]) == Response() and process.run(calls[:1], "m") == [SPENT]
        assert process.run(calls[:1], "n") == [Response(value=1)] and process.ended is None


SHOUT = """
import os
def f():
    for number in range(3, 60):
        try:
            os.write(number, b"x" * 99)
        except OSError:
            pass
"""


def test_a_process_that_fills_the_disk_is_told_from_one_that_crashes() -> None:
    fill = "def f():\n    for n in range(500):\n        open(f'{n}', 'w').write('x' * 10**5)\n    import time; time.sleep(9)\n"
    assert why(replied(fill, limits=TIGHT)) == "disk"
    assert why(replied("import os\ndef f(): os._exit(3)", limits=TIGHT)) == "crash"
    assert why(replied(SHOUT, limits=TIGHT)) == "protocol"


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
        process.load(["m"])
        assert [response.value for response in process.run([prepared("m", "f", [100])] * 3)] == [100] * 3


@linux
def test_ever_more_threads_are_refused() -> None:
    response = replied(MANY_THREADS, 1000)
    assert response.ended is not None or (
        response.error is not None and response.error.text == "can't start new thread"
    )


def test_closing_ends_the_process() -> None:
    with opened("") as (_, process):
        assert psutil.pid_exists(process.pid)
        process.close()
        process.close()
        assert not psutil.pid_exists(process.pid)
        assert process.run([prepared("m", "f")]) == [Response(ended=Ended("crash"))]


def test_a_large_batch_does_not_block() -> None:
    with opened("def f(x): return x") as (_, process):
        process.load(["m"])
        x: Any = np.zeros(50_000)
        values = [response.value for response in process.run([prepared("m", "f", [x])] * 60)]
        assert len(values) == 60 and values[0].size == x.size
        assert values[-1] == Opaque("something too large to send")  # not kept: it would leave too little for others


@pytest.mark.parametrize(("size", "values"), [(2**20, 1), (100, 4000), (2**19, 4000)])
def test_large_replies_are_kept_until_they_would_leave_too_little_for_others(size: int, values: int) -> None:
    with opened("") as (_, process):
        kept = [process._keep(size, values) for _ in range(1000)]
        assert 0 < sum(kept) < 10 and kept == sorted(kept, reverse=True)
        assert all(process._keep(200, 13) for _ in range(500))  # more than any module is called


def test_the_reply_of_the_references_is_read_once_and_counted_each_time() -> None:
    right, fails = prepared("m", "f", [ONE]), prepared("m", "f", [None])
    responses, kept = [], [0]
    for is_reference in (True, False):
        with opened("def f(x): return x + 1\n") as (_, process):
            process.load(["m"])
            process.is_reference = is_reference
            responses.append(process.run([right, fails]))
            kept.append(process._kept_values)
    assert responses[0][0] is responses[1][0] and right.is_seen(responses[1][0])
    assert responses[0][1] is not responses[1][1] and not fails.seen  # a line of one submission is no line of another
    assert kept[1] == kept[2] > 0
    assert not replace(right, kind="extension").seen  # what is asked for in another form


TOOL = """
from a_helper import doubled
def handlers(submission, reply):
    return {"double": lambda value: ("answered", doubled(value)), "again": reply}
"""


def test_an_extension_adds_requests_to_one_process_only() -> None:
    texts = {"a_helper": "def doubled(x): return 2 * x", "a_tool": TOOL}
    code = {name: marshal.dumps(compile(text, name, "exec")) for name, text in texts.items()}
    sent = [Reference("a_helper", code["a_helper"]), Reference("a_tool", code["a_tool"], ("handlers",))]
    call = prepared("m", "f", [3])
    repeated = replace(call, payload=prepared_request("again", call.payload).payload)
    with opened("import sys\ndef f(x): return x + len({'a_helper', 'a_tool'} & {*sys.modules})\n") as (
        sandbox,
        process,
    ):
        assert process.run([prepared_extension(sent)]) == [Response()]
        process.load(["m"])
        assert [response.value for response in process.run([prepared_request("double", 4), repeated])] == [8, 3]
        other = sandbox.start()
        (response,) = other.run([prepared_request("double", 4)])
        assert response.error is not None and response.error.kind == "KeyError"
