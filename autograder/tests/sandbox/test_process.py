"""One student process: its responses, and how it ends."""

import marshal
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest

from autograder.sandbox.process import SPENT, Limits
from autograder.sandbox.protocol import (
    Call,
    Changes,
    Define,
    Ended,
    Look,
    Reference,
    Request,
    Response,
    Write,
)
from autograder.sandbox.wire import Handle
from autograder.shared.tree import Opaque
from autograder.tests.running import DEPENDENCY, TIGHT, linux, opened, replied, responses

BUSY = """
import time
def f(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
    return 1
"""


def why(response: Response) -> str:
    assert response.ended is not None, response
    return response.ended.why


def values(found: list[Response]) -> list[Any]:
    return [response.value for response in found]


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


def test_kept_objects_persist_between_batches_and_end_with_the_process() -> None:
    with opened(KEEPING) as (sandbox, process):
        process.load(["m"])
        first = Call("m", "f", [np.zeros(2)], {}, ["pure"], 1)
        process.run([first, Call("m", "spoil")])
        same, changes, argument, written, result = process.run(
            [
                Call("m", "same", [Handle(1, ("result",))]),
                Changes(1, first),
                Look(Handle(1, (0,))),
                Write(Handle(1, (0,)), np.array([5.0, 6.0])),
                Look(Handle(1, ("result",))),
            ]
        )
        assert same.value is True and written == Response()
        assert [(change.argument, change.how) for change in changes.changed] == [(0, "entry written")]
        assert [argument.value.tolist(), result.value.tolist()] == [[9, 0], [5, 6]]
        other = sandbox.start()
        other.load(["m"])
        (response,) = other.run([Call("m", "f", [Handle(1, (0,))])])
        assert response.error is not None and response.error.hint == "absent"


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("def f(x):\n    y = 0\n    while x:\n        y += 1\n        y -= 1\n", 3),
        ("def f(x):\n    while x:\n        try:\n            x += 1\n        except: pass\n", 2),
        ("def f(x, n=0):\n    for k in range(9**6): pass\n    if n < 900: f(x, n + 1)\n    f(x, n)\n", 0),
    ],
)  # fmt: skip
def test_call_that_takes_too_long_reports_its_loop(source: str, line: int) -> None:
    assert replied(source, 99, limits=TIGHT).ended == Ended("deadline", "m.py" if line else "", line)


WAITING = {
    "sleep": "import time\ndef f(x): time.sleep(99)\n",
    "short sleeps": "import time\ndef f(x):\n    for n in range(x): time.sleep(0.01)\n",
    "stopped": "import os, signal\ndef f(x): os.kill(os.getpid(), signal.SIGSTOP)\n",
    "lock": "import threading\nlock = threading.Lock()\ndef f(x):\n    lock.acquire()\n    lock.acquire()\n",
    "thread": "import threading\nt = threading.Thread(target=threading.Event().wait)\ndef f(x): t.start() or t.join()\n",
    "signals": "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))\ndef f(x): signal.pause()\n",
    "select": "import select\ndef f(x): select.select([], [], [])\n",
}


@linux
@pytest.mark.parametrize("name", WAITING)
def test_call_that_waits_is_ended_and_its_function_not_called_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.sandbox.process.IDLE_SECONDS", 0.5)
    with opened(WAITING[name] + "def g(x): return x\n", Limits()) as (sandbox, process):
        process.load(["m"])
        calls = [Call("m", function, [x]) for function, x in (("g", 1), ("f", 999), ("g", 2))]
        line = 3 if name == "short sleeps" else 0
        assert process.run(calls)[-1].ended == Ended("idle", "m.py" if line else "", line)
        if not sandbox.budget.idle:  # not reported, so it was not clear which of the calls waits
            alone = sandbox.start()
            alone.load(["m"])
            assert why(alone.run(calls[1:2])[0]) == "idle"
        again = sandbox.start()
        again.load(["m"])
        skipped = Response(ended=Ended("idle", *next(iter(sandbox.budget.idle.values()))))
        assert again.run(calls) == [Response(value=1), skipped, Response(value=2)]
        # In another module's process, with a reference in its place, it may be right.
        beside = sandbox.start()
        beside.load(["m"], [DEPENDENCY])
        assert why(beside.run(calls[1:2])[0]) == "idle"


BUSY_MACHINE = """
import threading, time
def f(x):
    threads = [threading.Thread(target=sum, args=(range(100_000),)) for _ in range(9)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return x
def g(x):
    time.sleep(1)
    return x
"""


@linux
@pytest.mark.slow
def test_only_waiting_counts_on_a_busy_machine() -> None:
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(10)]
    try:
        with opened(BUSY_MACHINE, Limits()) as (sandbox, process):
            process.load(["m"])
            found = process.run([Call("m", "f", [x]) for x in range(20)])
            assert values(found) == list(range(20)) and sandbox.budget.waited == {}
            began = time.monotonic()
            assert why(process.run([Call("m", "g", [1])] * 9)[-1]) == "idle"
            assert time.monotonic() - began < 6
    finally:
        for other in busy:
            other.kill()
            other.wait()


def test_only_a_function_that_was_interrupted_in_a_loop_counts_as_endless() -> None:
    source = "def f(x):\n    while x: pass\ndef g(x):\n    return x\n"
    calls = [Call("m", function, [x]) for function, x in (("g", 1), ("f", 0), ("f", 1), ("g", 2))]
    limits = TIGHT.model_copy(update={"wall_factor": 99, "call_seconds": 1})
    with opened(source, limits, files={"n.py": source.encode()}) as (sandbox, process):
        process.load(["m"])
        assert process.run(calls)[-1].ended == Ended("deadline", "m.py", 2)  # buffered responses do not hide the loop
        assert process.budget.endless == {"m.f"}
        again = sandbox.start()
        again.load(["m"])
        assert values(again.run([calls[0], calls[1], calls[3]])) == [1, None, 2]
        # Beside other modules, which may call it, every function has little time.
        beside = sandbox.start()
        beside.load(["m", "n"])
        used = sandbox.budget.processor_seconds
        assert why(beside.run([Call("n", "f", [1])])[0]) == "deadline" and sandbox.budget.processor_seconds - used < 0.9


@pytest.mark.parametrize(
    "deaf",
    ["signal(SIGINT, SIG_IGN)", "signal(SIGINT, lambda *_: None)", "pthread_sigmask(SIG_BLOCK, {SIGINT})"],
)  # fmt: skip
def test_loop_that_ignores_the_interruption_counts_as_endless_as_soon_as_it_is_called_alone(deaf: str) -> None:
    source = f"from signal import *\n{deaf}\ndef f(x):\n    while x: pass\ndef g(x):\n    return x\n"
    calls = [Call("m", function, [x]) for function, x in (("g", 1), ("f", 1))]
    with opened(source, TIGHT.model_copy(update={"wall_factor": 99})) as (sandbox, process):
        process.load(["m"])
        assert process.run(calls)[-1].ended == Ended("deadline") and process.budget.endless == set()
        alone = sandbox.start()
        alone.load(["m"])
        assert alone.run(calls[1:])[-1].ended == Ended("deadline") and process.budget.endless == {"m.f"}


def test_module_that_has_used_up_its_share_is_no_longer_called_but_others_are() -> None:
    limits = TIGHT.model_copy(update={"submission_seconds": 1, "wall_factor": 99})
    with opened(BUSY, limits) as (sandbox, process):
        process.load(["m"])
        calls = [Call("m", "f", [seconds]) for seconds in (0.01, 0.3, 0.3, 0.3, 0.3)]
        first, *others = process.run(calls, "m")
        assert first.value == 1 and others[-1] == SPENT and process.ended is not None
        process = sandbox.start()
        assert process.load(["m"]) == Response() and process.run(calls[:1], "m") == [SPENT]
        assert process.run(calls[:1], "n") == [Response(value=1)] and process.ended is None
        sandbox.budget.waited["m.f"] = 11
        assert process.run(calls[:1], "n") == [SPENT] and process.ended is None


FILL = "import time\ndef f():\n    for n in range(500): open(f'{n}', 'w').write('x' * 10**5)\n    time.sleep(9)\n"
# An error of the kit's code after code of the submission has run.
BREAK = """
import gc
[session] = [thing for thing in gc.get_objects() if type(thing).__name__ == "Session"]
session.function = None
def f(): pass
"""
SHOUT = """
import contextlib, os
def f():
    for number in range(3, 60):
        with contextlib.suppress(OSError): os.write(number, b"x" * 99)
"""


@pytest.mark.parametrize(("source", "ended", "without"), [
    (FILL, "disk", ()), (FILL, "disk", ("fork",)), ("import os\ndef f(): os._exit(3)", "crash", ()), (SHOUT, "protocol", ()),
    (BREAK, "protocol", ()),
])  # fmt: skip
def test_reason_for_the_end_is_reported(source: str, ended: str, without: tuple[str, ...]) -> None:
    assert why(responses(source, ("f",), limits=TIGHT, without=without)[0]) == ended


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


@linux
def test_a_hundred_threads_run_at_once_but_no_thousand() -> None:
    assert values(responses(MANY_THREADS, *[("f", 100)] * 3, limits=Limits())) == [100] * 3
    response = replied(MANY_THREADS, 1000)
    assert response.ended or (response.error is not None and response.error.kind == "RuntimeError")


@pytest.mark.parametrize("value", ["x", "[[1.0] * 990] * 4"])
def test_large_batch_does_not_block_and_is_kept_up_to_a_limit(value: str) -> None:
    first, *_, last = values(responses(f"def f(x): return {value}", *[("f", np.zeros(50_000))] * 60))
    assert len(first) in (50_000, 4)
    assert last == Opaque("something too large to send")


TOOL = """
from a_helper import doubled
from autograder.sandbox.protocol import Request
class Double(Request):
    kind = "double"
    answer = staticmethod(lambda session, call: [doubled(session.answer(call)[0])])
REQUESTS = (Double,)
"""


class Double(Request):
    """In the grader: the class of TOOL."""

    kind, returns = "double", (int,)


def test_an_extension_adds_requests_to_one_process_only() -> None:
    names = {"a_helper", "a_tool", "autograder.sandbox.protocol", "autograder.exceptions"}
    unseen = f"import sys\ndef f(x): return x + len({names} & {{*sys.modules}})\n"
    texts = {"a_helper": "def doubled(x): return 2 * x", "a_tool": TOOL}
    code = {name: marshal.dumps(compile(text, name, "exec")) for name, text in texts.items()}
    tool = Define([Reference("a_helper", code["a_helper"]), Reference("a_tool", code["a_tool"], ("REQUESTS",))])
    with opened(unseen) as (sandbox, process):
        process.load(["m"])
        assert values(process.run([tool, Double(Call("m", "f", [4]))])) == [None, 8]
        assert why(sandbox.start().run([Double(Call("m", "f", [4]))])[0]) == "protocol"
