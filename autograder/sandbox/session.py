"""The student's end of the connection: answers requests (protocol.py) in the order in which the grader sends them.

The grader sends a message with the number of requests, and then the requests, since a round trip costs more than a call.
Only exceptions that importing or calling the submission raises are "raised". Any other one is a fault: ["fault", text].
"""

import signal
import socket
import sys
import time
from types import FrameType

from autograder.exceptions import Disconnected, Raised
from autograder.sandbox import wire
from autograder.sandbox.loading import StudentModules
from autograder.sandbox.protocol import Session, described
from autograder.sandbox.wire import Connection
from autograder.shared.bindings import bound_names
from autograder.shared.errors import location, loop, text_of

KIT = {name: sys.modules[name] for name in (bound_names.__module__, Session.__module__, Raised.__module__)}
HELD_SECONDS, HELD_BYTES = 0.05, 65_536  # responses are sent together, at most this late or this large


def run(own_end: socket.socket, folder: str, limit: int, essential: frozenset[str]) -> None:
    """Serve as the student's process until the grader disconnects; `folder` contains the submission.

    SIGINT requests the running loop.
    """
    connection, session = Connection(own_end, limit), Session(min(limit, wire.MAX_FROM_STUDENT))
    session.imports, session.kit = StudentModules(folder, essential), KIT
    held, size, sent = list[bytes](), 0, 0.0

    def flush(*more: bytes) -> None:
        nonlocal size, sent
        connection.send(*held, *more)
        held.clear()
        size, sent = 0, time.monotonic()

    def interrupted(_: int, frame: FrameType | None) -> None:
        """Report the running loop; student code might catch an exception."""
        file, line = loop(frame, lambda name: name.startswith(folder))
        flush(wire.encode(["raised", [["KeyboardInterrupt"], "", file, line, "", []]]))

    session.flush = flush
    signal.signal(signal.SIGINT, interrupted)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    while True:
        try:
            # Read all of them before answering the first: two sides that only write would block.
            requests = [connection.receive() for _ in range(wire.decode(connection.receive()))]
        except Disconnected:
            return
        sent = time.monotonic()
        for number, request in enumerate(requests, 1):
            held.append(_response(session, request, folder))
            size += len(held[-1])
            if number == len(requests) or time.monotonic() - sent > HELD_SECONDS or size > HELD_BYTES:
                flush()


def _response(session: Session, request: bytes, folder: str) -> bytes:
    try:
        try:
            parts = ["answered", *session.answer(request)]
        except Raised as raised:
            parts = ["raised", described(raised.__cause__ or raised, folder, *session.calling)]
        response = wire.encode(parts)
    except BaseException as error:
        file, line = location(error.__traceback__, lambda name: True)
        response = wire.encode(["fault", f"{type(error).__name__}: {text_of(error)} ({file}:{line})"])
    session.calling = ()
    return response
