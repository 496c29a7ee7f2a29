"""The student's end of the connection: imports modules and makes calls, in the order in which the grader sends them.

The grader sends a message with the number of requests, and then the requests, since a round trip costs more than a call. The
responses come in the same order. A request:
    ["define", references, has_helpers]            -> ["defined"]
    ["load", modules]                              -> ["loaded"] or ["raised", error]
    ["call", module, function, args, kwargs, checks, number]
                                                   -> ["returned", value, changed, shared] or ["raised", error]
    ["changes", number]                            -> ["changed", changed]: how the arguments of that call differ now
    ["look", kept]                                 -> ["holds", value] or ["raised", error]
    ["write", kept, value]                         -> ["written"]
    ["extend", modules]                            -> ["extended"]: code of the grader that adds requests
                                                   -> ["answered", value] or ["raised", error] to an added request
Only what importing or calling the submission raises is "raised". Any other exception is a fault: ["fault", kind, text].
Callbacks (callbacks.py) come before the response to the call that makes them.
An error is [kinds, text, file, line, hint, passed] (calls.py); `changed` is a list of [argument, path, how] (changes.py).
"""

import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from autograder.sandbox import wire
from autograder.sandbox.callbacks import Remote
from autograder.sandbox.student.calls import Calls, Raised, described
from autograder.sandbox.student.loading import StudentModules
from autograder.sandbox.wire import Connection
from autograder.values.errors import loop, place, text_of

THREADS_SECONDS = 0.01  # time for other student threads before arguments are checked again
HELD_SECONDS, HELD_BYTES = 0.05, 65_536  # responses are sent together, at most this late or this large


class Session:
    """Serves one connection; `folder` contains the submission."""

    def __init__(self, own_end: socket.socket, folder: str, limit: int, essential: frozenset[str]):
        self.connection, self.folder = Connection(own_end, limit), folder
        self.submission = StudentModules(folder, essential)
        self.remote = Remote(self.flush, self.connection.receive)
        self.calls = Calls(min(limit, wire.MAX_FROM_STUDENT), self.remote.function)
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._sent = time.monotonic()
        self._handlers: dict[str, Callable[..., tuple[Any, ...]]] = {}  # of requests that extensions add

    def serve(self) -> None:
        """Answer requests until the grader disconnects."""
        while True:
            try:
                count = wire.decode(self.connection.receive())
                # Read all of them before answering the first: two sides that only write would block.
                requests = [self.connection.receive() for _ in range(count)]
            except wire.Disconnected:
                return
            self._sent = time.monotonic()
            for number, request in enumerate(requests, 1):
                self.hold(self.response(request), last=number == count)

    def response(self, request: bytes) -> bytes:
        """The response to one request."""
        self.remote.begin()
        try:
            response = wire.encode(self._answer(request))
        except BaseException as error:
            file, line = place(error.__traceback__, lambda name: True)
            response = wire.encode(("fault", type(error).__name__, f"{text_of(error)} ({file}:{line})"))
        self.remote.begin()
        return response

    def _answer(self, request: bytes) -> tuple[Any, ...]:
        kind, *parts = wire.decode(request, from_grader=True)
        try:
            return self._answered(kind, *parts)
        except Raised as raised:
            return ("raised", described(raised.error, self.folder))

    def _answered(self, kind: str, *parts: Any) -> tuple[Any, ...]:
        match kind:
            case "call":
                return self._call(*parts)
            case "define":
                self.submission.define(*parts)
                return ("defined",)
            case "load":
                self.flush()  # code of the submission could change earlier responses
                self.submission.load(*parts)
                return ("loaded",)
            case "changes":
                if threading.active_count() > 1:
                    time.sleep(THREADS_SECONDS)  # give other threads time to run
                return ("changed", self.calls.changes(*parts))
            case "look":
                return ("holds", wire.marked(self.calls.look(*parts)))
            case "write":
                self.calls.write(*parts)
                return ("written",)
            case "extend":  # `handlers` of the last module returns the requests that it adds
                self._handlers |= self.submission.defined(*parts)[-1]["handlers"](self.submission, self._answer)
                return ("extended",)
        handler = self._handlers[kind]
        try:
            return handler(*parts)  # runs code of the submission
        except BaseException as error:
            raise Raised(error) from error

    def hold(self, response: bytes, last: bool) -> None:
        """Send a response, together with those that follow soon."""
        self._held.append(response)
        self._held_bytes += len(response)
        if last or self._held_bytes > HELD_BYTES or time.monotonic() - self._sent > HELD_SECONDS:
            self.flush()

    def flush(self, *more: bytes) -> None:
        """Send the held responses, and then `more`."""
        self.connection.send(*self._held, *more)
        self._held, self._held_bytes, self._sent = [], 0, time.monotonic()

    def interrupted(self, _: int, frame: FrameType | None) -> None:
        """Report the running loop; student code might catch an exception."""
        place = loop(frame, lambda name: name.startswith(self.folder))
        self.flush(wire.encode(("raised", (["KeyboardInterrupt"], "", *place, "", []))))

    def _call(
        self, module: str, function: str, args: list[Any], kwargs: dict[str, Any], checks: list[str], number: int
    ) -> tuple[Any, ...]:
        target = getattr(sys.modules.get(module), function, None)
        if not callable(target):
            return ("raised", (["AttributeError"], "", "", 0, "missing", []))
        try:
            response = self.calls.call(target, args, kwargs, checks, number)
        except Raised as raised:
            return ("raised", described(raised.error, self.folder, target, args, kwargs))
        return ("returned", wire.marked(response.value), response.changed, response.shared)


def run(own_end: socket.socket, folder: str, limit: int, essential: frozenset[str]) -> None:
    """Serve as the student's process until the grader disconnects; SIGINT requests the running loop."""
    session = Session(own_end, folder, limit, essential)
    signal.signal(signal.SIGINT, session.interrupted)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    session.serve()
