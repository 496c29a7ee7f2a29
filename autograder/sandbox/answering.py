"""The answering process: reference functions, and functions that a test lends, for questions from student processes.

It runs trusted code on whatever a student's code sends, so it is confined like a student's process: no files, no network,
bounded memory, and its processor time counts for the submission. It is not the grader, so it needs no guess about the work that
a question will cause, and cannot take the grader with it. It knows nothing of submissions and remembers nothing. What it says with
a student's process: conversation.py.
"""

import contextlib
import gc
import os
import pickle
import signal
import socket
import struct
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from autograder.sandbox import layers, wire
from autograder.sandbox.connection import Connection
from autograder.sandbox.conversation import Answers, Conversation, signature_of
from autograder.sandbox.layers import Confinement, landlock, resources

MAX_REQUEST = 65_536  # bytes
END, ANSWER = b"end", struct.Struct("<d")
PATIENCE = 86_400  # seconds: the grader, which shares the connections, watches over the time


def serve(grader: Connection, answers: Answers, limit: int, max_seconds: float) -> None:
    """Hold one conversation after the other, with who the grader says, until it hangs up.

    For each it sends a student's connection; what each context may ask for; and for each request its context and the handles
    that it lends. A message has at most `limit` bytes.
    """
    while True:
        try:
            own_end = grader.take()
            allowed, requests = wire.decode(grader.receive(), from_grader=True)
        except wire.Gone:
            return
        with own_end:
            # The grader kills this process at a deadline; if the grader itself is killed, this ends it.
            _ends_after(max_seconds)
            student = Connection(own_end, min(limit, wire.MAX_FROM_STUDENT), PATIENCE)
            conversation = Conversation(student, answers, grader.send, limit - wire.MAX_NESTING)
            conversation.run({*allowed.get(context, ()), *lent} for context, *lent in requests)
            _ends_after(0)


def _ends_after(seconds: float) -> None:
    """End this process after so many seconds of processor time; 0: do not."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def run(own_end: socket.socket, answers: Callable[[], Answers], confinement: Confinement, seconds: float) -> None:
    """Be the answering process, in a process that was started for it. Never returns."""
    status = 1
    try:
        warnings.simplefilter("ignore")
        functions = answers()
        confinement = replace(confinement, memory=_address_space() + confinement.memory)
        rules = landlock.nothing() if confinement.has("landlock") else -1
        resources.close_all_but(own_end.fileno(), rules)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)  # not what the grader does on them
        layers.apply(confinement, rules)
        with np.errstate(all="ignore"):
            connection = Connection(own_end, confinement.message)
            connection.send(b"ready")
            serve(connection, functions, confinement.message, seconds)
        status = 0
    finally:
        os._exit(status)  # whatever happens, the grader's own code is not run twice


def fork_on_request(control: socket.socket, answers: Callable[[], Answers]) -> None:
    """Fork one answering process at a time, in a process that was forked from the grader once. Never returns.

    The grader does not fork them itself: after a fork a process copies every page of its memory that it writes to, and the
    grader is large. What `run` needs besides, with a descriptor, is answered with the number of a new process; END, after it
    has ended the present one, with the processor time that this has used. Until then it was this process's child.
    """
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)  # it ends with the grader
        resources.close_all_but(control.fileno())
        functions = answers()
        for name, function in functions.items():
            if isinstance(name, str):
                signature_of(function)
        gc.freeze()
        child, charged = 0, time.process_time()
        while True:
            request, own_ends, _, _ = socket.recv_fds(control, MAX_REQUEST, 1)
            if request == END:
                os.kill(child, signal.SIGKILL)
                used = os.wait4(child, 0)[2]
                now = time.process_time()  # what this process has spent on forking belongs to the submission too
                control.sendall(ANSWER.pack(used.ru_utime + used.ru_stime + now - charged))
                charged = now
            elif own_ends:
                child = os.fork()
                if child == 0:
                    run(socket.socket(fileno=own_ends[0]), lambda: functions, *pickle.loads(request))
                os.close(own_ends[0])
                control.sendall(ANSWER.pack(child))
            else:
                break
    finally:
        os._exit(0)  # whatever happens, the grader's own code is not run twice


def main() -> None:
    """Be the answering process where forking is unsafe: started anew, with the arguments of `run` on standard input."""
    run(socket.socket(fileno=int(sys.argv[2])), *pickle.load(sys.stdin.buffer))


def _address_space() -> int:
    """Bytes of address space that this process has already, 0 where the platform does not say."""
    with contextlib.suppress(OSError, ValueError):
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return 0
