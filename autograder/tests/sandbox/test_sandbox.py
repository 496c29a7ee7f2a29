"""A sandbox goes on whatever a submission does, keeps its processes apart, and leaves nothing."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from autograder.faults import SandboxFault
from autograder.sandbox import box
from autograder.sandbox import sandbox as module
from autograder.sandbox.messages import Ended, Reply, prepared
from autograder.sandbox.process import StudentProcess
from autograder.sandbox.sandbox import MAX_PROCESSES, Sandbox
from autograder.tests.running import HOLDING, LIMITS, as_root, forked, linux, opened, said

LOOKING = """
import importlib.util, os
SHARED = [__file__, os.path.dirname(__file__), importlib.util.find_spec("this").origin]  # the last is the interpreter's
def write(name): return open(name, "w").write("mark")
def look():
    found = []
    for place in (".", "..", os.path.dirname(__file__)):
        try:
            found += os.listdir(place)
        except OSError:
            pass
    return sorted(found)
def read(path): return open(path).read()
def times(): return [os.stat(".").st_ctime_ns, os.stat(".").st_mtime_ns]
def marks(): return [os.stat(path).st_atime_ns for path in SHARED]
def read_shared(): return [len(os.listdir(path) if os.path.isdir(path) else read(path)) for path in SHARED]
def who(): return [os.getpid(), os.getuid()]
"""


def call(process: StudentProcess, function: str, *args: object) -> Reply:
    return process.play([prepared("m", "m", function, args)])[0]


def two(source: str, sandbox: Sandbox) -> tuple[StudentProcess, StudentProcess]:
    sandbox.place({"m.py": source.encode()})
    both = sandbox.start(), sandbox.start()
    for process in both:
        assert process.load("m", ["m"]) == Reply()
    return both


def slot_of(process: StudentProcess, sandbox: Sandbox) -> int:
    return next(slot for slot, other in sandbox.processes.items() if other is process)


@pytest.mark.parametrize("without", [(), ("fork",)], ids=["forked", "alone"])
def test_processes_alive_at_once_do_not_meet(without: tuple[str, ...]) -> None:
    with Sandbox(LIMITS, without=without) as sandbox:
        first, second = two(LOOKING, sandbox)
        assert call(first, "write", "left").value == 4
        assert "left" not in call(second, "look").value
        inside = sandbox._slot(slot_of(first, sandbox))
        if "user" in HOLDING or "landlock" in HOLDING:
            reply = call(second, "read", os.path.join(inside.temporary, "left"))
            assert reply.error is not None and "OSError" in reply.error.kinds
        assert call(first, "read", "left").value == "mark"
        first.close()
        assert call(second, "look").ended is None


@linux
def test_later_processes_find_nothing_of_earlier_ones() -> None:
    with opened("") as (sandbox, _):
        first, second = two(LOOKING, sandbox)
        assert call(first, "write", "left").value == 4
        times, slot = call(first, "times").value, slot_of(first, sandbox)
        first.close()
        third = sandbox.start()
        third.load("m", ["m"])
        assert slot_of(third, sandbox) == slot
        assert "left" not in call(third, "look").value
        assert all(later > before for later, before in zip(call(third, "times").value, times, strict=True))
        assert call(second, "write", "here").value == 4


@linux
def test_no_process_sees_what_another_one_has_read() -> None:
    """The files of the submission, and where mounts can be had also those of the interpreter."""
    with opened("") as (sandbox, _):
        first, second = two(LOOKING, sandbox)
        before = call(first, "marks").value
        assert min(call(second, "read_shared").value) > 0
        own = None if "mounts" in HOLDING else -1
        assert call(first, "marks").value[:own] == before[:own]


@as_root
def test_each_process_has_a_user_of_its_own() -> None:
    with opened("") as (sandbox, _):
        users = {call(process, "who").value[1] for process in two(LOOKING, sandbox)}
        assert len(users) == 2 and 0 not in users


def test_there_is_an_end_to_processes() -> None:
    with opened("") as (sandbox, _):
        for _ in range(MAX_PROCESSES - len(sandbox.processes)):
            sandbox.start()
        with pytest.raises(SandboxFault, match="at once"):
            sandbox.start()


def test_a_new_submission_ends_the_processes_of_the_one_before() -> None:
    with opened("") as (sandbox, process):
        sandbox.place({"m.py": b"x = 1"})
        assert sandbox.processes == {} and not psutil.pid_exists(process.pid)
        assert sandbox.start().load("m", ["m"]) == Reply()


def test_the_time_of_processes_that_have_ended_counts() -> None:
    busy = "import time\nend = time.process_time() + 0.2\nwhile time.process_time() < end: pass\n"
    with opened(busy) as (sandbox, process):
        process.load("m", ["m"])
        process.close()
        assert sandbox.processor_seconds > 0.15
        sandbox.place({})
        assert sandbox.processor_seconds < 0.05


@forked
def test_the_time_of_the_fork_server_counts() -> None:
    with opened("import os\nfor n in range(1_000): os.mkdir(str(n))\n") as (sandbox, process):
        assert process.load("m", ["m"]) == Reply()
        before = sandbox.budget.own_seconds
        process.close()
        assert sandbox.budget.own_seconds > before


@forked
def test_a_fork_server_that_was_killed_is_started_again() -> None:
    with Sandbox(LIMITS) as sandbox:
        sandbox.place({"m.py": b"def f(): return 1\n"})
        for _ in range(2):
            process = sandbox.start()
            assert process.load("m", ["m"]) == Reply()
            assert sandbox._server is not None
            sandbox._server.send_signal(signal.SIGKILL)
            sandbox._server.wait()
            assert process.play([prepared("m", "m", "f")])[0].ended is not None
            process.close()
        assert sandbox.start().load("m", ["m"]) == Reply()


ESCAPE = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    while os.fork() == 0: pass\n    time.sleep(60)\n"


@linux
@pytest.mark.parametrize(
    "without", [("seccomp",), ("seccomp", "user"), ("seccomp", "user", "fork", "not_dumpable")], ids=str
)
def test_processes_that_escape_are_found(without: tuple[str, ...]) -> None:
    with Sandbox(LIMITS, without=without) as sandbox:
        sandbox.place({"m.py": ESCAPE.encode()})
        staying, process = sandbox.start(), sandbox.start()
        process.load("m", ["m"])
        process.close()
        if "fork" not in without:
            assert staying.load("n", ["os"]) == Reply()
        path = str(sandbox.folder.path)
        staying.close()
        mine = {os.getpid(), sandbox._server.pid if sandbox._server is not None else 0}
        assert [p for p in psutil.pids() if p not in mine and path in box._environment(p).get("TMPDIR", "")] == []


@linux
def test_a_grader_that_was_killed_leaves_nothing() -> None:
    code = (
        "import os, signal; from autograder.sandbox.budget import Limits; from autograder.sandbox.sandbox import Sandbox\n"
        "s = Sandbox(Limits()); s.place({'m.py': b''}); s.start()\n"
        "print(s.folder.path, s.folder.slots, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    folders = [Path(path) for path in done.stdout.split()]
    assert len(folders) == 2 and all("autograder-" in str(folder) for folder in folders), done.stderr
    for _ in range(200):
        if not any(folder.exists() for folder in folders):
            break
        time.sleep(0.05)
    assert [folder for folder in folders if folder.exists()] == []


@linux
def test_a_sandbox_that_nobody_has_closed_ends_quietly_with_the_interpreter() -> None:
    code = (
        "import sys; from autograder.sandbox.budget import Limits; from autograder.sandbox.sandbox import Sandbox\n"
        "def held():\n    with Sandbox(Limits()) as s:\n        yield s\n"
        "sys.held = held(); s = next(sys.held); s.answerer.running()\n"
        "print(s.folder.path, flush=True); raise KeyboardInterrupt"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "Exception ignored" not in done.stderr and "KeyboardInterrupt" in done.stderr
    assert not Path(done.stdout.strip()).exists()


@as_root
def test_what_others_could_read_is_not_used_where_nothing_would_hide_it(tmp_path: Path) -> None:
    secret = Path("/tmp") / f"secret-{os.getpid()}"
    secret.mkdir(mode=0o755)
    secret.chmod(0o755)
    try:
        with pytest.raises(SandboxFault, match=f"chmod o-rwx {secret}"):
            Sandbox(LIMITS, without=("landlock", "mounts"), secret=[secret])
        for closed, without in ((False, ("landlock",)), (False, ("mounts",)), (True, ("landlock", "mounts"))):
            secret.chmod(0o700 if closed else 0o755)
            (secret / "solution.py").write_text("x")
            if {"landlock", "mounts"} - set(without) <= set(HOLDING):
                with Sandbox(LIMITS, without=without, secret=[secret]) as sandbox:
                    sandbox.place({"m.py": f"open({str(secret / 'solution.py')!r}).read()".encode()})
                    reply = sandbox.start().load("m", ["m"])
                    assert reply.error is not None and "OSError" in reply.error.kinds
    finally:
        (secret / "solution.py").unlink(missing_ok=True)
        secret.rmdir()


@forked
def test_a_disk_without_room_is_tried_again_once_the_submission_holds_none_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "ROOM_SECONDS", 0.01)
    with opened("") as (sandbox, process):
        real, answers = sandbox._ask, [{"no_room": "full"}] * 3
        monkeypatch.setattr(sandbox, "_ask", lambda request, *d: answers.pop() if answers else real(request, *d))
        assert sandbox.start().load("n", ["os"]) == Reply()
        assert process.ended == Ended("disk")
        answers += [{"no_room": "full"}] * 99
        with pytest.raises(SandboxFault, match="full"):
            sandbox.start()
        answers.clear()


NOT_CONFINED = """
from autograder.sandbox import layers

def apply(confinement, rules, real=layers.apply):
    import os
    if os.path.exists("{mark}"):
        {fault}
    real(confinement, rules)

layers.apply = apply
main(essential)
"""


@linux
@pytest.mark.parametrize("without", [(), ("fork",)], ids=["forked", "alone"])
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("raise OSError(524, 'no filters left')", "cannot be confined.*no filters left"),
        ("os._exit(1)", "before it was"),
    ],
)
def test_a_process_that_cannot_be_confined_is_a_fault_and_no_crash_of_the_student(
    fault: str, said: str, without: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "from_now_on"
    patch = NOT_CONFINED.format(mark=mark, fault=fault)
    monkeypatch.setattr(module, "_START", module._START.replace("main(essential)\n", patch))
    with Sandbox(LIMITS, without=without) as sandbox:
        sandbox.place({"m.py": b"def f(): return 1\n"})
        assert sandbox.start().load("m", ["m"]) == Reply()
        mark.touch()
        process = sandbox.start()
        with pytest.raises(SandboxFault, match=said):
            process.load("m", ["m"])
        mark.unlink()
        assert sandbox.start().load("m", ["m"]) == Reply()


def test_without_questions_nothing_is_answered() -> None:
    with Sandbox(LIMITS) as sandbox:
        sandbox.place(
            {"m.py": b"import neighbour\ntry:\n    neighbour.f()\nexcept ValueError as e:\n    raise RuntimeError(e)"}
        )
        assert "not available" in said(sandbox.start().load("m", ["m"], {"neighbour": {"f": ()}}))
