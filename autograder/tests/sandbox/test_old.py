"""The sandbox piece by piece: the wire, what is refused, what stays legal, deadlines, and what is left behind."""

import math
import os
import random
import re
import signal
import socket
import struct
import sys
import tempfile
import threading
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import psutil
import pytest

from autograder.grading import stand_ins
from autograder.homework import reference
from autograder.homework import rubric as rubrics
from autograder.sandbox import budget, confine, process, sweep, wire
from autograder.sandbox.messages import NO_ANSWERS, Refusal, Reply
from autograder.sandbox.process import Sandbox, SandboxFault, layers
from autograder.sandbox.wire import Handle, Oddity, WireError

LIMITS = rubrics.current().limits
TIGHT = LIMITS.model_copy(update={"call_seconds": 0.4, "wall_factor": 3, "disk_mb": 4})
linux = pytest.mark.skipif(not confine.LINUX, reason="needs Linux")
sealed = pytest.mark.skipif("seccomp" not in layers(), reason="needs seccomp")
locked = pytest.mark.skipif("landlock" not in layers(), reason="needs Landlock")


# The wire

MESSAGES: list[Any] = [
    None, True, -7, 2**63 - 1, -(2**63), 1.5, math.inf, "text", "", [], {}, [1, [2, [3, {"a": None}]]], {"k": 1, 2: "v"},
    np.arange(6.0).reshape(2, 3), np.zeros((0, 3)), np.array(True), np.float32(2.5), np.int8(-1), Handle(3),
    *(Oddity(kind) for kind in wire.ODDITIES), *(np.ones((2, 1), dtype) for dtype in wire.DTYPES),
    ["returned", np.ones((2, 2)), [0, 1], False], ["ask", "layernorm.layer_norm", [np.ones(3)], {"eps": 1e-5}],
]  # fmt: skip


@pytest.mark.parametrize("message", MESSAGES, ids=repr)
def test_messages_arrive_as_they_were_sent(message: Any) -> None:
    arrived = wire.decode(wire.encode(message))
    assert repr(arrived) == repr(message)
    assert getattr(arrived, "dtype", None) == getattr(message, "dtype", None)


@pytest.mark.parametrize(
    "message",
    [
        2**64,
        object(),
        {1, 2},
        1j,
        np.ones(2, complex),
        np.array([None]),
        np.rec.fromarrays([[1.0]]),
        np.ma.array([1.0], mask=[True]),
        np.longdouble(1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_only_plain_data_is_sent(message: Any) -> None:
    with pytest.raises(WireError):
        wire.encode(message)


def test_garbage_is_refused_and_never_anything_else() -> None:
    rng = random.Random(0)
    samples = [wire.encode(message) for message in MESSAGES]
    for _ in range(20_000):
        data = bytearray(rng.choice(samples) if rng.random() < 0.9 else rng.randbytes(rng.randrange(40)))
        for _ in range(rng.randrange(4)):
            at = rng.randrange(len(data) + 1)
            data[at : at + rng.choice([0, 1, 8])] = rng.choice(
                [rng.randbytes(1), b"", b"\xdf\xff\xff\xff\xff", struct.pack("<q", rng.choice([-1, 2**62, 0])), b"\xc9"]
            )
        try:
            wire.decode(bytes(data))
        except WireError:
            continue


def many(item: bytes) -> bytes:
    """A message of a megabyte, full of small values."""
    inner = b"\xdc" + (4000).to_bytes(2, "big") + item * 4000
    count = wire.FROM_STUDENT // len(inner)
    return b"\xdc" + count.to_bytes(2, "big") + inner * count


@pytest.mark.parametrize(
    "data",
    [
        many(b"\x90"), many(b"\x80"), many(b"\xd4\x02\x00"), many(b"\xd6\xff\0\0\0\1"), many(b"\xc7\x03\x00\x01\x00\x01"),
        many(b"\xa2\xc3\xa9"), b"\x91" * 10**6 + b"\xc0", b"\xdd\xff\xff\xff\xff", b"\xc9\xff\xff\xff\xff\x00",
        b"\xc6\xff\xff\xff\xff",
    ],
    ids=["lists", "dicts", "oddities", "times", "arrays", "texts", "deep", "long list", "long array", "long bytes"],
)  # fmt: skip
def test_decoding_costs_a_bounded_amount(data: bytes) -> None:
    began = time.process_time()
    with pytest.raises(WireError):
        wire.decode(data)
    assert time.process_time() - began < 2
    tracemalloc.start()
    with pytest.raises(WireError):
        wire.decode(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 128 * 2**20


def array_message(code: int, ndim: int, shape: list[int], raw: bytes) -> bytes:
    return bytes(msgpack.packb(msgpack.ExtType(0, struct.pack(f"<BB{len(shape)}q", code, ndim, *shape) + raw)))


@pytest.mark.parametrize(
    ("code", "ndim", "shape", "raw"),
    [
        (11, 1, [2], b"short"), (11, 2, [-1, -1], b"x" * 8), (99, 0, [], b""), (11, 99, [], b""), (0, 1, [2], b"\1\7"),
        (11, 3, [2**62, 2**62, 0], b""), (11, 2, [2**32, 2**32], b""), (11, 3, [1], b"x" * 8),
    ],
)  # fmt: skip
def test_impossible_arrays_are_refused(code: int, ndim: int, shape: list[int], raw: bytes) -> None:
    with pytest.raises(WireError):
        wire.decode(array_message(code, ndim, shape, raw))


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, wire.Line]]:
    theirs, ours = socket.socketpair()
    yield theirs, wire.Line(ours, 1000, 0.01)
    theirs.close()
    ours.close()


def test_two_messages_in_one_piece_and_one_in_many_pieces(pair: tuple[socket.socket, wire.Line]) -> None:
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


def test_a_message_over_the_limit_is_refused_before_it_arrives(pair: tuple[socket.socket, wire.Line]) -> None:
    theirs, line = pair
    theirs.sendall(struct.pack("<I", 2**32 - 1))
    with pytest.raises(WireError, match="size limit"):
        line.receive()


def test_silence_and_half_messages_are_looked_at(pair: tuple[socket.socket, wire.Line]) -> None:
    theirs, line = pair
    theirs.sendall(b"\5\0\0\0half")
    looks = iter(range(3))

    def check() -> None:
        if next(looks, None) is None:
            raise TimeoutError("deadline")

    with pytest.raises(TimeoutError, match="deadline"):
        line.receive(check)


def test_a_closed_wire_is_gone(pair: tuple[socket.socket, wire.Line]) -> None:
    theirs, line = pair
    theirs.close()
    with pytest.raises(wire.Gone):
        line.receive()
    with pytest.raises(wire.Gone):
        line.send(b"x")


# What a student may do and may not


def load(source: str, limits: Any = LIMITS, without: tuple[str, ...] = (), answer: Any = NO_ANSWERS) -> Reply:
    """What importing a module in a sandbox comes to."""
    with Sandbox(limits, without) as sandbox:
        sandbox.place({"m.py": source.encode()})
        student = sandbox.start()
        try:
            return student.load("m", ("m",), {"neighbour": ("ask",)}, answer)
        finally:
            student.close()


def said(reply: Reply) -> str:
    """The text of the error that a module was made to raise."""
    assert reply.error is not None, reply
    return reply.error.text


LEGAL = """
import concurrent.futures, contextlib, io, logging, multiprocessing, random, tempfile, threading, time, warnings
import numpy as np
import neighbour

print("printed", flush=True)
warnings.warn("warned")
logging.warning("logged")
random.seed(1), random.random(), np.random.default_rng().normal(), time.sleep(0.01), time.time(), time.localtime()
with open("own.txt", "w+") as file:
    file.write("text")
with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile() as one, tempfile.TemporaryFile() as two:
    np.save(folder + "/a.npy", np.ones(3))
    assert np.load(folder + "/a.npy").sum() == 3
    one.write(b"x"), two.write(b"x")
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    assert sorted(pool.map(neighbour.ask, range(20))) == list(range(20))
threads = [threading.Thread(target=np.linalg.inv, args=[np.eye(50)]) for _ in range(5)]
[t.start() for t in threads], [t.join() for t in threads]
with contextlib.redirect_stdout(io.StringIO()):
    print(np.ones(3) @ np.ones(3), np.fft.fft(np.ones(8)), np.linalg.svd(np.ones((3, 3))))
"""


def test_what_is_legal_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.homework.reference.functions", lambda: {"ask": lambda x: x})
    assert load(LEGAL, answer=stand_ins.answerer(frozenset({"neighbour.ask"}))) == Reply()


IMPORTS = """
import importlib, warnings
warnings.simplefilter("ignore")
bad = []
for name in NAMES:
    try:
        importlib.import_module(name)
    except BaseException as error:
        bad.append(f"{name}: {error!r}")
raise RuntimeError(f"{len(bad)} {bad}")
"""
NUMPY = [
    "ctypeslib", "char", "core", "dtypes", "exceptions", "fft", "lib", "linalg", "ma", "matlib", "polynomial", "random", "rec",
    "strings", "testing", "typing",
]  # fmt: skip


def test_every_module_of_the_standard_library_and_of_numpy_can_be_imported() -> None:
    import importlib
    import warnings

    names = [f"numpy.{name}" for name in NUMPY]
    skipped = {
        "antigravity",
        "this",
        "idlelib",
        "turtledemo",
        "test",
        "lib2to3",
        "imp",
        "asynchat",
        "asyncore",
        "smtpd",
        "distutils",
    }
    for name in sorted(sys.stdlib_module_names - skipped):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                importlib.import_module(name)
        except (ImportError, RuntimeError):
            continue
        names.append(name)
    assert said(load(IMPORTS.replace("NAMES", repr(names)))) == "0 []"


@sealed
@pytest.mark.parametrize(
    "attempt",
    [
        "import subprocess; subprocess.run(['true'])", "import os; os.fork()", "import os; os.system('true') and 1 / 0",
        "import socket; socket.socket()", "import urllib.request; urllib.request.urlopen('http://127.0.0.1')",
        "import multiprocessing as m; m.get_context('fork').Process(target=print).start()", "import os; os.chmod('.', 0)",
        "import os; os.kill(os.getppid(), 9)", "import os; os.mkfifo('x')", "import os; os.setpriority(0, 0, 5)",
    ],
)  # fmt: skip
def test_what_is_refused_says_so(attempt: str) -> None:
    reply = load(attempt)
    assert reply.error is not None
    refused = {"PermissionError", "ZeroDivisionError", "URLError", "OSError"}
    assert refused & set(reply.error.kinds)


@locked
@pytest.mark.parametrize(
    "path", ["/etc/passwd", "/proc/self/status", "/tmp", str(Path(__file__).parent), sys.executable]
)
def test_other_files_cannot_be_read(path: str) -> None:
    reply = load(f"import os\nos.listdir({path!r}) if os.path.isdir({path!r}) else open({path!r})")
    assert reply.error is not None and reply.error.kind == "PermissionError"


DESCRIPTORS = """
import os, stat
kinds = []
for number in range(256):
    try:
        kinds.append((number, stat.S_IFMT(os.fstat(number).st_mode)))
    except OSError:
        pass
raise RuntimeError(repr([kind for number, kind in kinds]))
"""


def test_only_the_wire_and_empty_standard_streams_are_open() -> None:
    import stat

    assert said(load(DESCRIPTORS)) == repr([stat.S_IFCHR] * 3 + [stat.S_IFSOCK])


def test_the_environment_is_empty() -> None:
    os.environ["A_SECRET_OF_THE_GRADER"] = "x"
    text = said(load("import os\nraise RuntimeError(' '.join(sorted(os.environ)))"))
    assert "SECRET" not in text
    assert set(text.split()) <= {
        "HOME",
        "LANG",
        "LC_CTYPE",
        "MALLOC_ARENA_MAX",
        "MKL_NUM_THREADS",
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "TMPDIR",
    }


@pytest.mark.parametrize("umask", [0o077, 0o777, 0])
def test_the_graders_umask_does_not_matter(umask: int) -> None:
    before = os.umask(umask)
    try:
        assert load("import numpy, json\nopen('x', 'w').close()") == Reply()
    finally:
        os.umask(before)


@linux
@pytest.mark.parametrize(("machine", "column", "header"), [
    ("x86_64", 0, "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), ("aarch64", 1, "/usr/include/asm-generic/unistd.h"),
])  # fmt: skip
def test_system_calls_have_the_numbers_of_the_kernels_headers(machine: str, column: int, header: str) -> None:
    if not Path(header).is_file():
        pytest.skip("no headers of the kernel here")
    numbers = {m[1]: int(m[2]) for m in re.finditer(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", Path(header).read_text())}
    ours = {name: pair[column] for name, pair in confine._REFUSED.items()}
    newest = max(numbers.values())
    assert {n: (v, numbers.get(n)) for n, v in ours.items() if 0 <= v <= newest and numbers.get(n) != v} == {}
    assert [name for name, value in ours.items() if value < 0 and name in numbers] == []


@linux
def test_landlock_and_seccomp_go_when_no_new_privileges_is_left_out() -> None:
    assert not {"landlock", "seccomp", "no_new_privileges"} & set(layers(("no_new_privileges",)))


@sealed
def test_a_confinement_that_fails_is_the_machines_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    user = [name for name in layers() if name == "user"]
    monkeypatch.setattr(
        process, "layers", lambda _: ["fork", *user, "seccomp"]
    )  # not allowed without no_new_privileges
    with Sandbox(LIMITS) as sandbox, pytest.raises(SandboxFault, match=r"cannot be confined: .*Permission"):
        sandbox.start()


# Deadlines and other limits

BUSY = """
import time

def f(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return 1
"""
IDLE = "import time\ndef f(seconds):\n    time.sleep(seconds)\n    return 1\n"


def call(source: str, *args: Any, limits: Any = TIGHT) -> tuple[Reply, float]:
    """What f(*args) of a module comes to, and how long it took."""
    with Sandbox(limits) as sandbox:
        sandbox.place({"m.py": source.encode()})
        student = sandbox.start()
        try:
            assert student.load("m", ("m",), {}, NO_ANSWERS) == Reply()
            began = time.monotonic()
            return student.call("m", "m", "f", args, {}, [], NO_ANSWERS), time.monotonic() - began
        finally:
            student.close()


def test_processor_time_ends_a_call() -> None:
    reply, seconds = call(BUSY, 60.0)
    assert reply.ended is not None and reply.ended.why == "deadline"
    assert 0.3 < seconds < 5


def test_waiting_costs_less_than_computing() -> None:
    assert call(IDLE, 0.7)[0].value == 1
    reply, seconds = call(IDLE, 60.0)
    assert reply.ended is not None and reply.ended.why == "deadline"
    assert seconds >= 1.1


def test_a_submission_has_a_deadline_as_a_whole() -> None:
    limits = TIGHT.model_copy(update={"submission_seconds": 0.5, "wall_factor": 1})
    with Sandbox(limits) as sandbox:
        sandbox.place({"m.py": IDLE.encode()})
        replies = []
        for _ in range(5):
            student = sandbox.start()
            student.load("m", ("m",), {}, NO_ANSWERS)
            replies.append(student.call("m", "m", "f", (0.25,), {}, [], NO_ANSWERS))
            student.close()
        assert [reply.ended is None for reply in replies][:2] == [True, False] or replies[-1].ended is not None


def test_a_process_that_fills_the_disk_is_told_from_one_that_crashes() -> None:
    fill = "def f():\n    for n in range(500):\n        open(f'{n}', 'w').write('x' * 10**6)\n    import time; time.sleep(9)\n"
    reply, _ = call(fill)
    assert reply.ended is not None and reply.ended.why == "disk"
    reply, _ = call("import os\ndef f(): os._exit(3)")
    assert reply.ended is not None and reply.ended.why == "crash"


@pytest.mark.parametrize(
    ("text", "megabytes"), [("max", None), ("805306368", 768), ("9223372036854771712", None), ("", None)]
)
def test_memory_follows_the_container(
    text: str, megabytes: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "memory.max").write_text(text)
    monkeypatch.setattr(budget, "CGROUP", (str(tmp_path / "memory.max"), "/nowhere"))
    whole = psutil.virtual_memory().total // 2**20
    assert budget.container_memory() == min(whole, megabytes or whole)


# A grader that goes on


@linux
def test_a_fork_server_that_was_killed_is_started_again() -> None:
    with Sandbox(LIMITS) as sandbox:
        sandbox.place({"m.py": b"def f(): return 1\n"})
        for _ in range(2):
            student = sandbox.start()
            assert student.load("m", ("m",), {}, NO_ANSWERS) == Reply()
            assert sandbox._server is not None
            sandbox._server.send_signal(signal.SIGKILL)
            sandbox._server.wait()
            assert student.call("m", "m", "f", (), {}, [], NO_ANSWERS).ended is not None
            student.close()
        student = sandbox.start()
        assert student.load("m", ("m",), {}, NO_ANSWERS) == Reply()
        student.close()


@linux
def test_processes_that_escape_are_found_where_there_is_no_fork_server() -> None:
    escape = (
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    while os.fork() == 0: pass\n    time.sleep(60)\n"
    )
    reply = load(escape, without=("fork", "seccomp", "not_dumpable", "user"))
    assert reply.ended is None
    for found in psutil.process_iter():
        assert not (found.ppid() == 1 and "autograder-" in sweep._environment(found.pid).get("TMPDIR", ""))


@linux
def test_a_grader_that_was_killed_leaves_nothing() -> None:
    import subprocess

    code = (
        "import os, signal; from autograder.homework import rubric; from autograder.sandbox.process import Sandbox\n"
        "s = Sandbox(rubric.current().limits); s.place({'m.py': b''}); s.start()\n"
        "print(s.folder.path, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    folder = Path(done.stdout.strip())
    assert folder.name.startswith("autograder-"), done.stderr
    for _ in range(100):
        if not folder.exists():
            break
        time.sleep(0.05)
    assert not folder.exists()


def test_stubborn_trees_are_removed(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d" * 200, dir_fd=here)
        here, before = os.open("d" * 200, os.O_RDONLY, dir_fd=here), here
        os.close(before)
    os.close(here)
    (tmp_path / "link").symlink_to(Path(__file__).parent)
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "file").touch()
    (tmp_path / "closed").chmod(0)
    assert sweep.usage(str(tmp_path)) == math.inf
    assert sweep.empty(str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    assert Path(__file__).is_file()


def test_usage_counts_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(bytes(10**6))
    (tmp_path / "loop").symlink_to(tmp_path)
    assert 10**6 <= sweep.usage(str(tmp_path)) < 10**6 + 20_000
    for number in range(sweep.FILES):
        (tmp_path / str(number)).touch()
    assert sweep.usage(str(tmp_path)) == math.inf


# Questions from a student

FUNCTIONS = [name for name in reference.functions() if name != "answers"]
SIZES = [
    (),
    (1,),
    (512,),
    (128, 128),
    (1, 128, 128),
    (128, 1, 128),
    (1, 128, 1, 128),
    (128, 1, 128, 1),
    (1, 1, 512, 1),
    (0, 5),
]


def hostile(rng: random.Random, depth: int = 0) -> Any:
    """Any value that can arrive as an argument."""
    shape = rng.choice(SIZES)
    choices: list[Any] = [
        lambda: np.ones(shape), lambda: np.zeros(shape, rng.choice(wire.DTYPES)), lambda: rng.choice([0, 1, -1, 7, 2048, 10**9]),
        lambda: rng.choice([0.0, math.nan, 1e308, -1.0]), lambda: rng.choice(["pre", "layer", "batch", "", "x" * 999]),
        lambda: None, lambda: True, lambda: Oddity("text"), lambda: Handle(1), lambda: [[1, 2], [3]], lambda: [[0.5] * 9] * 9,
    ]  # fmt: skip
    if depth < 3:
        names = (
            "w_q",
            "w_k",
            "w_v",
            "w_o",
            "gamma",
            "beta",
            "w_1",
            "b_1",
            "w_2",
            "b_2",
            "ln_1",
            "ln_2",
            "attention",
            "ffn",
        )
        choices += [
            lambda: {name: hostile(rng, depth + 1) for name in names},
            lambda: [hostile(rng, depth + 1) for _ in range(3)],
        ]
    return rng.choice(choices)()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_hostile_questions_are_refused_or_cost_little(function: str) -> None:
    rng = random.Random(function)
    module = rubrics.current().module_of(function)
    answer = stand_ins.answerer(frozenset({f"{module}.{function}"}))
    shapes = iter(SIZES * 1000)
    count = len(stand_ins._signature(reference.functions()[function])[1])
    for _ in range(150):
        args = tuple(hostile(rng) for _ in range(rng.choice([count, count, count - 1, count + 1, 2, 3])))
        tracemalloc.start()
        began = time.process_time()
        try:
            with np.errstate(all="ignore"):
                wire.encode(answer(f"{module}.{function}", args, {}, lambda *_: np.ones(next(shapes))))
        except (Refusal, WireError):
            pass
        seconds, peak = time.process_time() - began, tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 300 * 2**20, args
        assert seconds < 5, args


def test_only_what_the_table_allows_is_answered() -> None:
    answer = stand_ins.answerer(frozenset({"layernorm.layer_norm"}))
    for name in ("layernorm.rms_norm", "layer_norm", "x.layer_norm", "", "layernorm.layer_norm.x"):
        with pytest.raises(Refusal, match="not available"):
            answer(name, (np.ones(3), np.ones(3), np.ones(3)), {}, lambda *_: None)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives students a user of their own"
)
def test_temporary_folder_that_other_users_cannot_reach_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(closed))
    with Sandbox(rubrics.current().limits) as sandbox:
        assert closed not in sandbox.folder.path.parents
        sandbox.place({"m.py": b"def f():\n    return 1\n"})
        student = sandbox.start()
        try:
            assert student.load("m", ("m",), {}, NO_ANSWERS).error is None
        finally:
            student.close()
