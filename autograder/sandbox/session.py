"""The student's end of the connection: answers requests (protocol.py) in the order in which the grader sends them.

The grader sends a message with the number of requests, and then the requests, since a round trip costs more than a call.
Only exceptions that importing or calling the submission raises are "raised". Any other one is a fault: ["fault", text].
"""

import signal
import socket
import sys
import time
from collections.abc import Sequence
from types import FrameType
from typing import Any

from autograder.exceptions import Disconnected, Raised
from autograder.sandbox import wire
from autograder.sandbox.loading import StudentModules
from autograder.sandbox.protocol import REQUESTS, Calls, described
from autograder.sandbox.wire import Connection
from autograder.shared.bindings import bound_names
from autograder.shared.errors import location, loop, text_of

KIT = {name: sys.modules[name] for name in (bound_names.__module__, Calls.__module__, Raised.__module__)}
HELD_SECONDS, HELD_BYTES = 0.05, 65_536  # responses are sent together, at most this late or this large


class Session:
    """Serves one connection; `folder` contains the submission."""

    def __init__(self, own_end: socket.socket, folder: str, limit: int, essential: frozenset[str]):
        self.connection, self.folder = Connection(own_end, limit), folder
        self.submission = StudentModules(folder, essential)
        self.calls = Calls(min(limit, wire.MAX_FROM_STUDENT))
        self.requests = dict(REQUESTS)
        self.kit = KIT  # modules that the code of further requests may import
        self.editor: Any = None  # of edit_runner.py, in a process that received it
        self.calling: tuple[Any, ...] = ()  # the function of the current request and its arguments
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._sent = time.monotonic()

    def serve(self) -> None:
        """Answer requests until the grader disconnects."""
        while True:
            try:
                count = wire.decode(self.connection.receive())
                # Read all of them before answering the first: two sides that only write would block.
                requests = [self.connection.receive() for _ in range(count)]
            except Disconnected:
                return
            self._sent = time.monotonic()
            for number, request in enumerate(requests, 1):
                self.hold(self.response(request), last=number == count)

    def response(self, request: bytes) -> bytes:
        """Return the response to one request."""
        try:
            try:
                parts = ["answered", *self.answer(request)]
            except Raised as raised:
                parts = ["raised", described(raised.error, self.folder, *self.calling)]
            response = wire.encode(parts)
        except BaseException as error:
            file, line = location(error.__traceback__, lambda name: True)
            response = wire.encode(["fault", f"{type(error).__name__}: {text_of(error)} ({file}:{line})"])
        self.calling = ()
        return response

    def answer(self, request: bytes) -> Sequence[Any]:
        """Return the parts of the response; raises the exceptions of the student's code."""
        kind, *parts = wire.decode(request)
        asked = self.requests[kind]
        try:
            return asked.answer(self, *parts)
        except BaseException as error:
            if kind in REQUESTS or isinstance(error, Raised):
                raise
            raise Raised(error) from error  # requests of extensions run code of the submission

    def function(self, module: str, name: str) -> Any:
        """Return the function of a loaded module, None if there is none."""
        return getattr(sys.modules.get(module), name, None)

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
        file, line = loop(frame, lambda name: name.startswith(self.folder))
        self.flush(wire.encode(["raised", [["KeyboardInterrupt"], "", file, line, "", []]]))


def run(own_end: socket.socket, folder: str, limit: int, essential: frozenset[str]) -> None:
    """Serve as the student's process until the grader disconnects; SIGINT requests the running loop."""
    session = Session(own_end, folder, limit, essential)
    signal.signal(signal.SIGINT, session.interrupted)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    session.serve()
