"""A sandbox survives whatever a submission does, isolates its processes, and leaves nothing behind."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from autograder.exceptions import SandboxError
from autograder.sandbox import sandbox as module
from autograder.sandbox import workspace
from autograder.sandbox.process import StudentProcess
from autograder.sandbox.protocol import Call, Ended, Response
from autograder.sandbox.sandbox import Folder, Sandbox, reachable, readable_by_others
from autograder.tests.running import HOLDING, LIMITS, TIGHT, as_root, forked, linux, opened

LOOKING = """
import contextlib, os
def write(name): return open(name, "w").write("mark")
def look():
    found = []
    for place in (".", "..", os.path.dirname(__file__)):
        with contextlib.suppress(OSError): found += os.listdir(place)
    return found
def read(path): return open(path).read()
def times(): return [os.stat(".").st_ctime_ns, os.stat(".").st_mtime_ns]
def who(): return os.getuid()
"""


def call(process: StudentProcess, function: str, *args: object) -> Response:
    return process.run([Call("m", function, args)])[0]


def started(sandbox: Sandbox, source: str = "") -> StudentProcess:
    """A process that has loaded m.py, with this source if it is given."""
    if source:
        sandbox.write({"m.py": source.encode()})
    process = sandbox.start()
    assert process.load(["m"]) == Response()
    return process


def python(code: str) -> "subprocess.CompletedProcess[str]":
    imports = "from autograder.sandbox.process import Limits; from autograder.sandbox.sandbox import Sandbox\n"
    return subprocess.run([sys.executable, "-c", imports + code], capture_output=True, text=True)


@pytest.mark.parametrize("without", [(), ("fork",)], ids=["forked", "alone"])
def test_one_process_is_alive_at_a_time_and_finds_no_traces_of_the_previous_one(without: tuple[str, ...]) -> None:
    with Sandbox(LIMITS, without=without) as sandbox:
        first = started(sandbox, LOOKING)
        assert call(first, "write", "left").value == 4 and call(first, "read", "left").value == "mark"
        times = call(first, "times").value
        second = started(sandbox)
        assert first.ended == Ended("crash") and not psutil.pid_exists(first.pid)
        assert "left" not in call(second, "look").value
        assert all(later > before for later, before in zip(call(second, "times").value, times, strict=True))
        with second:
            assert second.ended is None
        assert second.ended is not None and not psutil.pid_exists(second.pid)


@linux
def test_processes_of_two_sandboxes_are_isolated() -> None:
    with Sandbox(LIMITS) as first, Sandbox(LIMITS) as second:
        one, other = started(first, LOOKING), started(second, LOOKING)
        assert call(one, "write", "left").value == 4
        if "user" in HOLDING:
            assert len({0, call(one, "who").value, call(other, "who").value}) == 3
        if "user" in HOLDING or "landlock" in HOLDING:
            for path in (first.folder.writable / "own" / "left", first.folder.submission / "m.py"):
                response = call(other, "read", str(path))
                assert response.error is not None and "OSError" in response.error.kinds


def test_time_of_ended_processes_counts_until_the_next_submission() -> None:
    busy = "import time\nend = time.process_time() + 0.2\nwhile time.process_time() < end: pass\n"
    with opened(busy) as (sandbox, process):
        process.load(["m"])
        process.close()
        assert sandbox.budget.processor_seconds > 0.15
        process = sandbox.start()
        sandbox.write({"m.py": b"x = 1"})
        assert not psutil.pid_exists(process.pid) and sandbox.budget.processor_seconds < 0.05
        assert sandbox.start().load(["m"]) == Response()


@linux
@forked
def test_interruption_reaches_a_process_of_a_grader_that_delays_it() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with Sandbox(TIGHT) as sandbox:
            assert call(started(sandbox, "def f():\n    while True: pass\n"), "f").ended == Ended("deadline", "m.py", 2)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


@linux
@forked
def test_killed_fork_server_is_restarted() -> None:
    with Sandbox(LIMITS) as sandbox:
        for _ in range(2):
            process = started(sandbox, "def f(): return 1\n")
            assert sandbox._server is not None
            sandbox._server.send_signal(signal.SIGKILL)
            sandbox._server.wait()
            assert call(process, "f").ended is not None
            process.close()
        started(sandbox)


INTERPRETER = """#!/bin/sh
[ "$LD_LIBRARY_PATH" ] || {{ echo "first line"; echo "error while loading shared libraries: libpython"; exit 127; }} >&2
exec {} "$@"
"""


@linux
@forked
def test_interpreter_that_needs_a_library_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "python3"
    script.write_text(INTERPRETER.format(sys.executable))
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    with Sandbox(LIMITS) as sandbox, pytest.raises(SandboxError, match=r"answer: error while loading .*: libpython$"):
        sandbox.start()
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    with Sandbox(LIMITS) as sandbox:
        process = started(sandbox, "import os\ndef f(): return 'LD_LIBRARY_PATH' in os.environ\n")
        assert call(process, "f").value is False
    monkeypatch.setattr(sys, "version", "3.99.7 (main)")
    with (
        Sandbox(LIMITS) as sandbox,
        pytest.raises(SandboxError, match=r"of Python 3\.\d+\.\S+, not of 3\.99\.7; set LD"),
    ):
        sandbox.start()


@pytest.mark.parametrize("step", ["__init__", "write"])
def test_full_temporary_folder_is_reported_with_advice(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Folder, step, full)
    said = f": {os.strerror(errno.ENOSPC)}; free some space and run it again, or set TMPDIR to "
    with pytest.raises(SandboxError, match=said), Sandbox(LIMITS) as sandbox:
        sandbox.write({})


# Chains of processes, each started by the previous one. They end after twenty seconds even if this test is killed.
ESCAPE = """
import os, time
end = time.time() + 20
if any([os.fork() == 0 for _ in range(3)]):
    os.setsid()
    while time.time() < end and os.fork() == 0:
        pass
"""
ESCAPES = {"and sleep": ESCAPE + "    time.sleep(20)\n", "and end": ESCAPE + "    os._exit(0)\n"}


@linux
@pytest.mark.parametrize("then", ESCAPES)
@pytest.mark.parametrize(
    "without", [("seccomp",), ("seccomp", "user"), ("seccomp", "user", "fork", "not_dumpable")], ids=str
)
def test_escaped_processes_are_killed(without: tuple[str, ...], then: str) -> None:
    with Sandbox(LIMITS, without=without) as sandbox:
        sandbox.write({"m.py": ESCAPES[then].encode()})
        process = sandbox.start()
        process.load(["m"])
        path = str(sandbox.folder.path)
        process.close()
        mine = {os.getpid(), sandbox._server.pid if sandbox._server is not None else 0}
        for _ in range(10):  # repeated, because a process that forks and exits is mostly gone before it is examined
            others = [pid for pid in psutil.pids() if pid not in mine]
            assert [pid for pid in others if path in workspace._environment(pid).get("TMPDIR", "")] == []


@linux
def test_killed_grader_leaves_nothing_behind() -> None:
    done = python(
        "import os, signal; s = Sandbox(Limits()); s.write({'m.py': b''}); s.start()\n"
        "print(s.folder.path, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    folder = Path(done.stdout.strip())
    assert "autograder-" in str(folder), done.stderr
    end = time.monotonic() + 10
    while folder.exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not folder.exists()


@linux
def test_unclosed_sandbox_ends_quietly_with_the_interpreter() -> None:
    done = python(
        "import sys\ndef held():\n    with Sandbox(Limits()) as s:\n        yield s\n"
        "sys.held = held(); s = next(sys.held); s.write({}); s.start()\n"
        "print(s.folder.path, flush=True); raise KeyboardInterrupt"
    )
    assert "Exception ignored" not in done.stderr and "KeyboardInterrupt" in done.stderr
    assert not Path(done.stdout.strip()).exists()


@as_root
def test_secret_that_others_can_read_is_rejected_without_landlock(tmp_path: Path) -> None:
    secret = Path("/tmp") / f"secret-{os.getpid()}"
    secret.mkdir(mode=0o755)
    secret.chmod(0o755)
    try:
        with pytest.raises(SandboxError, match=f"chmod o-rwx {secret}"):
            Sandbox(LIMITS, without=("landlock",), secret=[secret])
        for closed, without in ((False, ()), (True, ("landlock",))):
            secret.chmod(0o700 if closed else 0o755)
            (secret / "solution.py").write_text("x")
            if {"landlock"} - set(without) <= set(HOLDING):
                with Sandbox(LIMITS, without=without, secret=[secret]) as sandbox:
                    sandbox.write({"m.py": f"open({str(secret / 'solution.py')!r}).read()".encode()})
                    response = sandbox.start().load(["m"])
                    assert response.error is not None and "OSError" in response.error.kinds
    finally:
        (secret / "solution.py").unlink(missing_ok=True)
        secret.rmdir()


@forked
def test_start_is_retried_while_the_disk_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROOM_SECONDS", 0.01)
    with opened("") as (sandbox, process):
        process.close()
        real, answers = sandbox._ask, [{"no_room": "full"}] * 3
        monkeypatch.setattr(sandbox, "_ask", lambda request, *d: answers.pop() if answers else real(request, *d))
        assert sandbox.start().load(["os"]) == Response()
        assert sandbox.process is not None
        sandbox.process.close()
        answers += [{"no_room": "full"}] * 99
        with pytest.raises(SandboxError, match=r"full; .*TMPDIR"):
            sandbox.start()
        answers.clear()


NOT_CONFINED = """
from autograder.sandbox import layers

def apply(confinement, rules, seconds, real=layers.apply):
    import os
    if os.path.exists("{mark}"):
        {fault}
    real(confinement, rules, seconds)

layers.apply = apply
"""


@linux
@pytest.mark.parametrize("without", [(), ("fork",)], ids=["forked", "alone"])
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (
            "raise OSError(524, 'no filters left')",
            "before any student code: it cannot be confined: OSError.*no filters left",
        ),
        ("os._exit(1)", "before any student code"),
    ],
)
def test_process_that_cannot_be_confined_is_a_sandbox_error_and_not_a_crash(
    fault: str, said: str, without: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "from_now_on"
    patch = NOT_CONFINED.format(mark=mark, fault=fault)
    monkeypatch.setattr(module, "_START", module._START.replace("session = main", f"{patch}session = main"))
    with Sandbox(LIMITS, without=without) as sandbox:
        started(sandbox, "def f(): return 1\n")
        mark.touch()
        process = sandbox.start()
        with pytest.raises(SandboxError, match=said):
            process.load(["m"])
        mark.unlink()
        started(sandbox)


# Its folder, and the memory of a process


def test_submission_is_readable_only_by_the_grader_and_its_processes() -> None:
    folder = Folder("user" in HOLDING)
    folder.write({"m.py": b"a\nb\n", "folder/n.py": b"a", "other/m.py": b"a\n" * 9})
    assert folder.lines == {"m.py": 10, "n.py": 1}
    assert folder.submission.stat().st_mode & 0o777 == 0o750
    assert folder.submission.stat().st_gid == ((folder.uid and folder.uid + 1) or os.getgid())
    assert {path.stat().st_mode & 0o777 for path in folder.submission.rglob("*.py")} == {0o640}
    assert folder.path.stat().st_mode & 0o777 == (0o711 if "user" in HOLDING else 0o700)
    folder.write({"x.py": b""})
    assert os.listdir(folder.submission) == ["x.py"] and folder.lines == {"x.py": 1}
    folder.remove()
    folder.remove()
    assert not folder.path.exists()


@as_root
def test_temporary_folder_that_other_users_cannot_reach_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(closed))
    folder = Folder(True)
    assert closed not in folder.path.parents
    folder.remove()
    monkeypatch.setattr(module, "reachable", lambda path: False)
    with pytest.raises(OSError, match="set TMPDIR"):
        Folder(True)


@linux
def test_paths_that_others_can_reach_and_read() -> None:
    place = Path(tempfile.mkdtemp(dir="/tmp"))
    inner = place / "inner"
    inner.mkdir(mode=0o700)
    for outer_mode, inner_mode, may_reach, may_read in (
        (0o711, 0o700, False, False), (0o711, 0o711, True, True), (0o700, 0o755, False, False), (0o755, 0o704, False, True),
    ):  # fmt: skip
        place.chmod(outer_mode)
        inner.chmod(inner_mode)
        assert (reachable(inner), readable_by_others(inner)) == (may_reach, may_read)
    shutil.rmtree(place)
