"""Ends what takes too long, also where the student's code catches every exception.

    with limit(give_up):
        ...

raises TooLong in the student's code after SECONDS. Only the main thread can be interrupted, as by Ctrl-C, which
goes on working. If the code swallows TooLong, tracing raises it again at the next line, in the handler itself; and if
nothing of that helps for as long again, give_up is called in another thread, to say so and to end the process.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from student_errors import TooLong, is_students
from student_values.errors import loop

SECONDS = 10
TICK = 0.05


class _Watch:
    """One limit: `expired` is set when the time is over, `done` when there is nothing to end any more."""

    def __init__(self, give_up: Callable[[str], None]) -> None:
        self.give_up = give_up
        self.expired, self.done = False, threading.Event()
        self.thread = threading.Thread(target=self._wait, daemon=True)

    def _wait(self) -> None:
        if self.done.wait(SECONDS):
            return
        self.expired = True
        place, attempts = "", 0
        while attempts < max(20, SECONDS / TICK):
            place = now_at(threading.main_thread())
            attempts += bool(place)
            _thread.interrupt_main()
            if self.done.wait(TICK):
                return
        self.give_up(place)

    def interrupted(self, number: int, frame: FrameType | None) -> None:
        """What Ctrl-C does: stop everything, unless it was this watch that asked for the interruption."""
        if not self.expired:
            signal.default_int_handler(number, frame)
        own = list(students_frames(frame))
        if self.done.is_set() or not own or sys.gettrace() is insist:
            return  # too late, not in the student's code, or TooLong is on its way already
        for one in own:
            one.f_trace = insist
        sys.settrace(insist)
        raise TooLong(*loop(frame, is_students))


def now_at(thread: threading.Thread) -> str:
    """The line of the student's code at which a thread stands, the outermost one; empty if at none."""
    own = list(students_frames(sys._current_frames().get(thread.ident or 0)))
    return f"{Path(own[-1].f_code.co_filename).name}, line {own[-1].f_lineno}" if own else ""


def students_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames of the student's code from here outwards."""
    while frame is not None:
        if is_students(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


def insist(frame: FrameType, event: str, arg: Any) -> Any:
    """Raise TooLong again at the next line of the student's code, which is there only if it was swallowed."""
    if not is_students(frame.f_code.co_filename):
        return None
    if event == "line":
        raise TooLong
    return insist


@contextmanager
def limit(give_up: Callable[[str], None]) -> Any:
    """Raise TooLong in the student's code if what is done in here takes longer."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    watch, tracing = _Watch(give_up), sys.gettrace()
    before = signal.signal(signal.SIGINT, watch.interrupted)
    watch.thread.start()
    try:
        yield
    finally:
        watch.done.set()
        watch.thread.join()  # an interruption that is on its way arrives here, and is ignored
        sys.settrace(tracing)
        signal.signal(signal.SIGINT, before or signal.default_int_handler)
