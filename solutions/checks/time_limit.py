"""Stops a call of the student's code that takes too long.

    with limit():
        ...

raises TooLong in the student's code after SECONDS: a trace function looks at the clock at every line of that code. It needs
neither threads nor signals, which some platforms do not have. There is no limit if a debugger is already tracing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType
from typing import Any

from student_errors import TooLong, is_students
from student_values.errors import loop

SECONDS = 10
Clock = Callable[[], float]


@contextmanager
def limit(seconds: float = SECONDS, clock: Clock = monotonic) -> Iterator[None]:
    """Raise TooLong in the student's code if the body takes longer than that by this clock."""
    if sys.gettrace() is not None:
        yield
        return
    end, running = clock() + seconds, True

    def watch(frame: FrameType, event: str, arg: Any) -> Any:
        if not is_students(frame.f_code.co_filename):
            return None
        if clock() > end:
            raise TooLong(*loop(frame, is_students), deleted=watch_again)
        return watch

    def watch_again() -> None:
        """The code has caught TooLong and continues. Python removes a trace function that raises; put it back."""
        frame: FrameType | None = sys._getframe()
        while running and frame is not None:
            if is_students(frame.f_code.co_filename):
                frame.f_trace = watch
                sys.settrace(watch)
            frame = frame.f_back

    sys.settrace(watch)
    try:
        yield
    finally:
        running = False
        sys.settrace(None)
