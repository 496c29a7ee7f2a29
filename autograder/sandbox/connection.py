"""Messages over a socket between the grader and an untrusted process."""

import socket
import struct
import time
from collections.abc import Callable

from autograder.sandbox.wire import Disconnected, WireError

PIECE = 65_536  # bytes read at once; longer messages may have to wait for the other side
_SIZE = struct.Struct("<I")


def within(seconds: float) -> Callable[[], None]:
    """A check for `Connection.receive` that raises TimeoutError after this many seconds."""
    end = time.monotonic() + seconds

    def check() -> None:
        if time.monotonic() > end:
            raise TimeoutError

    return check


class Connection:
    """One end of a connection: messages over a socket, each preceded by its size."""

    def __init__(self, own_end: socket.socket, limit: int, look: float | None = None):
        """Messages have at most `limit` bytes. After every `look` seconds of silence, `receive` calls its check."""
        self.socket, self.limit, self.look = own_end, limit, look
        self.buffer, self.at = b"", 0  # received bytes, and how many of them are consumed
        own_end.settimeout(look)

    def send(self, *payloads: bytes, patience: float | None = None) -> None:
        """Send messages. Raises Disconnected if the other side is gone, TimeoutError after `patience` seconds."""
        data = b"".join([part for payload in payloads for part in (_SIZE.pack(len(payload)), payload)])
        large = len(data) > PIECE
        try:
            if large:
                self.socket.settimeout(patience)
            self.socket.sendall(data)
        except TimeoutError:
            raise
        except OSError as error:
            raise Disconnected(str(error)) from None
        finally:
            if large:
                self.socket.settimeout(self.look)

    def receive(self, check: Callable[[], None] | None = None) -> bytes:
        """One message. Raises Disconnected or WireError if there is none.

        `check` is called after silence, and whenever a message comes in pieces. It may raise TimeoutError.
        """
        self._fill(_SIZE.size, check)
        size = _SIZE.unpack_from(self.buffer, self.at)[0]
        if _SIZE.size + size > self.limit:
            raise WireError("a message over the size limit")  # before it takes up memory
        self._fill(_SIZE.size + size, check)
        start, self.at = self.at + _SIZE.size, self.at + _SIZE.size + size
        return self.buffer[start : self.at]

    def _fill(self, size: int, check: Callable[[], None] | None) -> None:
        """Read until there are at least `size` unread bytes."""
        got = len(self.buffer) - self.at
        if got >= size:
            return
        pieces = [self.buffer[self.at :]]
        while got < size:
            try:
                piece = self.socket.recv(max(PIECE, size - got))
                if not piece:
                    raise Disconnected("closed")
                pieces.append(piece)
                got += len(piece)
            except TimeoutError:
                pass
            except OSError as error:
                raise Disconnected(str(error)) from None
            if got < size and check is not None:
                check()
        self.buffer, self.at = b"".join(pieces), 0

    def close(self) -> None:
        self.socket.close()
