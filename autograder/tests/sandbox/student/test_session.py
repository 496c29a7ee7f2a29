"""The student's end of the connection, spoken to directly."""

import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.sandbox import wire
from autograder.sandbox.student import session
from autograder.sandbox.student.session import Session, warm_up
from autograder.sandbox.wire import Connection

LIMIT = 2**22


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Session, Connection]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Session(theirs, str(tmp_path), LIMIT, frozenset(sys.modules)), Connection(ours, LIMIT, 5)


def call(function: str, args: Any, checks: Any = (), number: int = 0) -> bytes:
    return wire.encode(("call", "numpy", function, args, {}, checks, number))


def served(pair: tuple[Session, Connection], messages: list[bytes]) -> threading.Thread:
    pair[1].send(wire.encode(len(messages)), *messages)
    thread = threading.Thread(target=pair[0].serve, daemon=True)
    thread.start()
    return thread


def test_replies_come_in_order_and_it_ends_with_the_grader(pair: tuple[Session, Connection]) -> None:
    thread = served(pair, [call("negative", [float(n)]) for n in range(500)])
    assert [float(wire.decode(pair[1].receive())[1]) for _ in range(500)] == [-float(n) for n in range(500)]
    pair[1].socket.shutdown(socket.SHUT_RDWR)
    thread.join(10)
    assert not thread.is_alive()


def test_replies_are_held_back_only_for_a_while(
    pair: tuple[Session, Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "HELD_SECONDS", 0.01)
    slow = wire.encode(("call", "time", "sleep", [0.02], {}, [], 0))
    stuck = wire.encode(("call", "time", "sleep", [1.0], {}, [], 0))
    thread = served(pair, [call("negative", [1.0]), slow, stuck])
    first, second = wire.decode(pair[1].receive()), wire.decode(pair[1].receive())
    assert (float(first[1]), second[1]) == (-1, None)
    assert thread.is_alive()
    assert wire.decode(pair[1].receive())[0] == "returned"


def test_large_replies_are_not_held_back(pair: tuple[Session, Connection]) -> None:
    large = np.zeros(session.HELD_BYTES // 8 + 1)
    thread = served(pair, [call("negative", [large]), wire.encode(("call", "time", "sleep", [1.0], {}, [], 0))])
    assert wire.decode(pair[1].receive())[1].shape == large.shape
    assert thread.is_alive()
    pair[1].receive()


def test_warming_up_leaves_nothing_behind() -> None:
    before = set(sys.modules)
    warm_up(frozenset(sys.modules))
    assert set(sys.modules) == before
