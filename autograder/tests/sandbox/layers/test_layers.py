"""What a confined process can and cannot do, with all layers applied."""

import importlib
import json
import os
import stat
import struct
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from autograder.sandbox import layers
from autograder.sandbox.layers import kernel, landlock
from autograder.sandbox.process import container_memory
from autograder.sandbox.protocol import Response
from autograder.sandbox.sandbox import Sandbox
from autograder.sandbox.server import LIBRARIES
from autograder.tests.refusing import LANDLOCK_REFUSED, NO_LANDLOCK, NO_SECCOMP, Refused, filters, refusing
from autograder.tests.running import LIMITS, as_root, linux, loaded, said, shared

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
    assert [float(x[0]) for x in pool.map(lambda n: neighbour.plus(np.array([float(n)])), range(20))] == list(range(1, 21))
threads = [threading.Thread(target=np.linalg.inv, args=[np.eye(50)]) for _ in range(5)]
[t.start() for t in threads], [t.join() for t in threads]
with contextlib.redirect_stdout(io.StringIO()):
    print(np.ones(3) @ np.ones(3), np.fft.fft(np.ones(8)), np.linalg.svd(np.ones((3, 3))), sorted(range(10**5))[0])
"""


def test_legitimate_code_runs() -> None:
    assert loaded(LEGAL) == Response()


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
NUMPY = (
    "ctypeslib", "char", "core", "dtypes", "exceptions", "fft", "lib", "linalg", "ma", "matlib", "polynomial", "random", "rec",
    "strings", "testing", "typing",
)  # fmt: skip
NOT_TRIED = {
    "antigravity", "this", "idlelib", "turtledemo", "test", "lib2to3", "imp", "asynchat", "asyncore", "smtpd", "distutils",
}  # fmt: skip


def test_all_modules_of_the_standard_library_and_numpy_can_be_imported() -> None:
    names = [f"numpy.{name}" for name in NUMPY]
    for name in sorted(sys.stdlib_module_names - NOT_TRIED):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                importlib.import_module(name)
        except (ImportError, RuntimeError):
            continue
        names.append(name)
    assert said(loaded(IMPORTS.replace("NAMES", repr(names)))) == "0 []"


def test_readable_roots_are_expanded_around_closed_places(tmp_path: Path) -> None:
    for name in ("a/b/hole", "a/c", "d"):
        (tmp_path / name).mkdir(parents=True)
    roots = [str(tmp_path / name) for name in ("a", "d", "nothing")]
    assert set(landlock.without(roots, [tmp_path / "a/b/hole"])) == {tmp_path / "a/c", tmp_path / "d"}
    assert list(landlock.without([str(tmp_path / "a" / "b")], [tmp_path / "a"])) == []


@pytest.mark.parametrize(("version", "files", "rest"), [
    (1, (1 << 13) - 1, ()), (2, (1 << 14) - 1, ()), (3, (1 << 15) - 1, ()), (4, (1 << 15) - 1, (3,)), (5, (1 << 16) - 1, (3,)),
    (6, (1 << 16) - 1, (3, 3)), (7, (1 << 16) - 1, (3, 3)),
])  # fmt: skip
def test_landlock_restricts_what_the_kernel_knows(
    version: int, files: int, rest: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[Any, ...]] = []

    def syscall(number: int, *arguments: Any) -> int:
        calls.append((number, *arguments))
        return version if arguments == (None, 0, 1) else 9

    monkeypatch.setattr(landlock, "LINUX", True)
    monkeypatch.setattr(landlock, "libc", lambda: SimpleNamespace(syscall=syscall))
    assert landlock.abi() == version and landlock.nothing() == 9
    attributes = struct.pack(f"<{1 + len(rest)}Q", files, *rest)
    assert calls[-1] == (444, attributes, len(attributes), 0)
    (tmp_path / "file").write_text("")
    calls.clear()
    assert landlock.rules([tmp_path, tmp_path / "file", tmp_path / "gone"], tmp_path) == 9
    rights = [struct.unpack("<Qi", arguments[2])[0] for number, *arguments in calls if number == 445]
    written = files & ~(1 | 1 << 6 | 0b111 << 9)  # no devices, sockets or pipes, nothing executed
    assert rights == [0b1100, 0b100, *4 * [0b110], written]


CONFINED = """
import ctypes, gc, os, resource as r, sys, threading
kinds = ("AS", "DATA", "FSIZE", "NOFILE", "CORE", "MSGQUEUE", "NPROC", "CPU")
limits = [r.getrlimit(getattr(r, "RLIMIT_" + kind)) for kind in kinds]
own = [threading.stack_size(), os.umask(0), os.getsid(0) == os.getpid(), gc.get_freeze_count() > 10**4, gc.get_threshold()[0]]
own += [os.getcwd()[-8:], len(set(os.getresuid())), ctypes.CDLL(None).prctl(3), [os.path.basename(path) for path in sys.path]]
raise RuntimeError(repr([soft for soft, hard in limits if soft == hard] + own))  # asyncio
"""


@as_root
@pytest.mark.parametrize("without", [(), ("user",)], ids=str)
def test_limits_of_a_process(without: tuple[str, ...]) -> None:
    memory = min(LIMITS.memory_mb, container_memory() // 2) * 2**20
    found = json.loads(said(loaded(CONFINED, without=without)).replace("'", '"').replace("True", "true"))
    assert found[:6] == [memory, memory, 2 * 2**20, 64, 0, 0]
    assert without or found[6] == 128  # the kernel counts threads by user
    assert found[-10:-1] == [61, 2 * 2**20, 0o077, True, True, 100_000, "/tmp/own", 1, 0]
    assert found[-1] == ["submission", "stdlib"] or not shared(LIMITS, without).folder.view
    assert kernel.libc().prctl(3, 0, 0, 0, 0) == 0  # this process can be dumped no more


DESCRIPTORS = """
import os, stat
kinds = []
for number in range(4096):
    try:
        kinds.append((number, stat.S_IFMT(os.fstat(number).st_mode)))
    except OSError:
        pass
raise RuntimeError(repr([kind for number, kind in kinds]))
"""


@pytest.mark.parametrize("without", [(), ("fork",)], ids=["forked", "alone"])
def test_only_the_connection_and_empty_standard_streams_are_open(without: tuple[str, ...]) -> None:
    assert said(loaded(DESCRIPTORS, without=without)) == repr([stat.S_IFCHR] * 3 + [stat.S_IFSOCK])


def test_environment_of_the_grader_is_not_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("A_SECRET_OF_THE_GRADER", *LIBRARIES):
        monkeypatch.setenv(name, "x")
    with Sandbox(LIMITS) as own:
        own.write({"m.py": b"import os\nraise RuntimeError(' '.join(sorted(os.environ)))"})
        text = said(own.start().load(["m"]))
    threads = {"MALLOC_ARENA_MAX", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"}
    assert set(text.split()) <= {"HOME", "LANG", "LC_CTYPE", "TMPDIR"} | threads


@pytest.mark.parametrize("umask", [0o077, 0])
def test_the_graders_umask_does_not_matter(umask: int) -> None:
    before = os.umask(umask)
    try:
        with Sandbox(LIMITS) as own:
            own.write({"m.py": b"import numpy, json\nopen('x', 'w').close()", "folder/data": b""})
            assert own.start().load(["m"]) == Response()
    finally:
        os.umask(before)


@linux
def test_landlock_and_seccomp_need_no_new_privileges() -> None:
    assert not {"landlock", "seccomp", "no_new_privileges"} & set(layers.holding(("no_new_privileges",)))


@linux
def test_user_ids_are_unused_elsewhere_and_released() -> None:
    import pwd  # POSIX systems only

    (first, mark), (second, other_mark) = kernel.claimed_users(), kernel.claimed_users()
    code = "from autograder.sandbox.layers import kernel; print(kernel.claimed_users()[0])"
    third = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    every = {number + n for number in (first, second, int(third)) for n in range(kernel.BLOCK)}
    assert len(every) == 3 * kernel.BLOCK and all(kernel.FIRST <= number <= kernel.LAST for number in every)
    assert every.isdisjoint(entry.pw_uid for entry in pwd.getpwall())
    mark.close()
    other_mark.close()
    again, mark = kernel.claimed_users()
    assert again == first
    mark.close()


@filters
@pytest.mark.parametrize(("refused", "lost"), [
    (NO_LANDLOCK, {"landlock"}), (LANDLOCK_REFUSED, {"landlock"}), (NO_SECCOMP, {"seccomp"}),
    ((*NO_SECCOMP, *LANDLOCK_REFUSED), {"landlock", "seccomp"}),
], ids=["no Landlock", "Landlock refused on use", "no seccomp", "both"])  # fmt: skip
def test_a_layer_that_the_container_refuses_is_missing(refused: Refused, lost: set[str]) -> None:
    code = "from autograder.sandbox import layers; print(*layers.holding())"
    done = subprocess.run([sys.executable, "-c", code], preexec_fn=refusing(*refused), capture_output=True, text=True)
    assert {*layers.holding()} - {*done.stdout.split()} == lost & {*layers.holding()}, done.stderr
