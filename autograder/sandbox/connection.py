"""Whole messages over a socket between the grader and a process that it does not trust."""

import socket
import struct
import sys
import time
from collections.abc import Callable

from autograder.sandbox.wire import Gone, WireError

PIECE = 65_536  # bytes that are read at once; longer messages may have to wait for the other side
_SIZE = struct.Struct("<I")


def within(seconds: float) -> Callable[[], None]:
    """A check for `Connection.receive` that raises TimeoutError once so many seconds have passed from now."""
    end = time.monotonic() + seconds

    def check() -> None:
        if time.monotonic() > end:
            raise TimeoutError

    return check


class Connection:
    """One end of a connection: whole messages over a socket, the size of each before it."""

    def __init__(self, own_end: socket.socket, limit: int, look: float | None = None):
        """Messages of at most `limit` bytes; after every `look` seconds of silence `receive` looks at the clock."""
        self.socket, self.limit, self.look = own_end, limit, look
        self.buffer, self.at = b"", 0  # what has arrived, and how far it is read
        own_end.settimeout(look)

    def send(self, *payloads: bytes, patience: float | None = None) -> None:
        """Send messages; Gone if nobody listens any more, TimeoutError after `patience` seconds."""
        data = b"".join([part for payload in payloads for part in (_SIZE.pack(len(payload)), payload)])
        large = len(data) > PIECE
        try:
            if large:
                self.socket.settimeout(patience)
            self.socket.sendall(data)
        except TimeoutError:
            raise
        except OSError as error:
            raise Gone(str(error)) from None
        finally:
            if large:
                self.socket.settimeout(self.look)

    def receive(self, check: Callable[[], None] | None = None) -> bytes:
        """One message; Gone or WireError where there is none.

        After silence, and every time that a message comes in pieces, `check` may raise TimeoutError.
        """
        self._fill(_SIZE.size, check)
        size = _SIZE.unpack_from(self.buffer, self.at)[0]
        if _SIZE.size + size > self.limit:
            raise WireError("a message over the size limit")  # before anything of it takes up memory
        self._fill(_SIZE.size + size, check)
        start, self.at = self.at + _SIZE.size, self.at + _SIZE.size + size
        return self.buffer[start : self.at]

    def _fill(self, size: int, check: Callable[[], None] | None) -> None:
        """Have at least `size` bytes that are not read yet."""
        got = len(self.buffer) - self.at
        if got >= size:
            return
        pieces = [self.buffer[self.at :]]
        while got < size:
            try:
                piece = self.socket.recv(max(PIECE, size - got))
                if not piece:
                    raise Gone("closed")
                pieces.append(piece)
                got += len(piece)
            except TimeoutError:
                pass
            except OSError as error:
                raise Gone(str(error)) from None
            if got < size and check is not None:
                check()
        self.buffer, self.at = b"".join(pieces), 0

    @property
    def is_empty(self) -> bool:
        """Whether the next message, or a part of it, has yet to arrive."""
        left = len(self.buffer) - self.at - _SIZE.size
        return left < 0 or left < _SIZE.unpack_from(self.buffer, self.at)[0]

    def give(self, other: socket.socket, pid: int) -> None:
        """Let the process on the other side, which has this number, use a socket as well; Gone if there is none."""
        try:
            if sys.platform == "win32":
                self.send(other.share(pid))
            else:
                socket.send_fds(self.socket, [b"\0"], [other.fileno()])
        except OSError as error:
            raise Gone(str(error)) from None

    def take(self) -> socket.socket:
        """The socket that the other side gives, before anything else that it sends; Gone where it has hung up."""
        if sys.platform == "win32":
            return socket.fromshare(self.receive())
        descriptors = socket.recv_fds(self.socket, 1, 1)[1]
        if not descriptors:
            raise Gone("closed")
        return socket.socket(fileno=descriptors[0])

    def close(self) -> None:
        self.socket.close()
