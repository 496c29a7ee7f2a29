"""Whole messages over a socket, in however many pieces they come."""

import socket
import struct
import threading
import time
from collections.abc import Iterator

import pytest

from autograder.sandbox import wire
from autograder.sandbox.wire import Connection, WireError


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, Connection]]:
    theirs, ours = socket.socketpair()
    yield theirs, Connection(ours, 1000, 0.01)
    theirs.close()
    ours.close()


def test_two_messages_in_one_piece_and_one_in_many_pieces(pair: tuple[socket.socket, Connection]) -> None:
    theirs, line = pair
    theirs.sendall(b"\1\0\0\0a\2\0\0\0bc")
    assert [line.receive(), line.receive()] == [b"a", b"bc"]

    def drip() -> None:
        for byte in b"\3\0\0\0xyz":
            theirs.sendall(bytes([byte]))
            time.sleep(0.003)

    thread = threading.Thread(target=drip)
    thread.start()
    assert line.receive(lambda: None) == b"xyz"
    thread.join()


def test_a_message_over_the_limit_is_refused_before_it_arrives(pair: tuple[socket.socket, Connection]) -> None:
    theirs, line = pair
    theirs.sendall(struct.pack("<I", 2**32 - 1))
    with pytest.raises(WireError, match="size limit"):
        line.receive()


def test_silence_and_half_messages_are_looked_at(pair: tuple[socket.socket, Connection]) -> None:
    theirs, line = pair
    theirs.sendall(b"\5\0\0\0half")
    looks = iter(range(3))

    def check() -> None:
        if next(looks, None) is None:
            raise TimeoutError("deadline")

    with pytest.raises(TimeoutError, match="deadline"):
        line.receive(check)


def test_a_closed_wire_is_gone(pair: tuple[socket.socket, Connection]) -> None:
    theirs, line = pair
    theirs.close()
    with pytest.raises(wire.Disconnected):
        line.receive()
    with pytest.raises(wire.Disconnected):
        line.send(b"x")
