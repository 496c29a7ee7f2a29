"""Submissions that try to disturb the grader, other submissions or the machine, or to leave something behind."""

from autograder.tests.attacks import attack


@attack()
def daemon():
    """Leaves a process behind: forks twice, starts a new session, closes all descriptors, ignores every signal."""
    with contextlib.suppress(OSError):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                try_all([lambda number=number: signal.signal(number, signal.SIG_IGN) for number in range(1, 65)])
                os.closerange(0, 64)
                while True:
                    time.sleep(1)
            os._exit(0)


@attack()
def faults():
    """Reports errors of the kit, which no student may cause, and breaks the kit's code in its process."""

    def broken(*_, **__):
        raise RuntimeError("an error of the kit")

    def break_kit():
        for namespace in surrounding():
            for name in ("described", "location", "sendable", "text_of", "differences"):
                if name in namespace:
                    namespace[name] = broken

    def layer_norm(*_, **__):
        response("fault", "RuntimeError: an error of the kit")

    def rms_norm(x, *_, **__):
        break_kit()
        return x

    def layer_norm_backward(*_, **__):
        break_kit()
        raise ValueError


@attack(needs=("landlock",))
def files_everywhere():
    """Writes files to temporary and system folders, the kit, the interpreter, NumPy, the submission and root's home."""
    FOLDERS = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock", "/", "/home", os.path.expanduser("~root"),
               os.path.dirname(__file__), os.path.dirname(os.path.dirname(__file__)), os.path.dirname(np.__file__),
               os.path.dirname(os.__file__), kit_folder() or "/", sys.prefix)
    for folder in FOLDERS:
        must_fail({
            "file": lambda p: open(p, "w").close(),
            "folder": os.mkdir,
            "link": lambda p: os.symlink("/etc", p),
            "hard link": lambda p: os.link(__file__, p),
            "rename": lambda p: os.rename(os.path.abspath(__file__), p),
            "pipe": os.mkfifo,
        }, os.path.join(folder, "hostile-file"))


@attack(needs=("user", "landlock"), either=True)
def files_in_open_folders():
    """Leaves files, folders and links in every world-writable folder; they must be gone afterwards."""
    for top in ("/", "/run", "/var", "/dev", "/var/lib", "/var/spool", "/mnt", "/srv", "/opt", "/home", "/media"):
        try:
            inside = [top, *(os.path.join(top, name) for name in os.listdir(top))]
        except OSError:
            inside = [top, "/run/lock", "/dev/shm", "/dev/mqueue", "/tmp", "/var/tmp"]
        for place in inside:
            try_all([
                lambda p: os.makedirs(p + "-folder/a"),
                lambda p: open(p + "-folder/a/file", "w").close(),
                lambda p: open(p + "-file", "w").close(),
                lambda p: os.symlink("/etc", p + "-link"),
                lambda p: os.chmod(p + "-folder", 0),
            ], os.path.join(place, "hostile"))


@attack(needs=("user", "landlock", "seccomp"), either=True)
def killed_processes():
    """Kills, stops and interrupts the fork server, the grader, its group, anything it may signal, and finally itself."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGSTOP, signal.SIGKILL):
        for pid in (ABOVE, -ABOVE, *range(ABOVE - 5, ABOVE), 1):
            try_all([
                lambda: os.kill(pid, number),
                lambda: LIBC.syscall(234, pid, pid, number),
                lambda: LIBC.syscall(200, pid, number),
                lambda: LIBC.sigqueue(pid, number, None),
                lambda: signal.pidfd_send_signal(os.pidfd_open(pid), number),
            ])

    def every_function(*_, **__):
        try_all([lambda: os.kill(0, 9), lambda: os.kill(-1, 9), lambda: os.kill(os.getpid(), 9)])


@attack()
def own_folder_closed():
    """Makes its own folders inaccessible to the next process, and removes or replaces the temporary one."""
    here = os.getcwd()
    above = os.path.dirname(here)
    try_all([
        lambda: os.chmod(here, 0),
        lambda: os.rename(here, here + "-hostile"),
        lambda: os.symlink("/etc", here),
        lambda: os.rmdir(here),
        lambda: open(here, "w").close(),
        lambda: os.mkdir(here, 0),
        lambda: open(os.path.join(above, "hostile-above"), "w").close(),
        lambda: os.mkdir(os.path.join(above, "hostile-folder"), 0),
        lambda: os.chmod(above, 0),
        lambda: os.chmod(os.path.dirname(__file__), 0),
    ])


@attack(needs=("landlock",))
def pickled():
    """Returns objects that run code when they are unpickled, compared, printed, hashed, iterated over or deleted."""

    def leave_mark():
        open("/tmp/hostile-mark", "w").close()

    class Trap(dict):
        def __reduce__(self):
            return leave_mark, ()

        def run(self, *_, **__):
            leave_mark()

        __eq__ = __hash__ = __repr__ = __str__ = __iter__ = __len__ = __float__ = __array__ = __del__ = keys = items = run

    def layer_norm(x, *_, **__):
        return Trap()

    def rms_norm(x, *_, **__):
        return np.array([Trap()], dtype=object)

    def layer_norm_backward(*_, **__):
        return [Trap(), (Trap(), {1: Trap()})], Trap, Trap().run


@attack("layernorm", "causal_mask", earns=14, references=("causal_mask",))  # causal_mask is correct
def poisoned_process():
    """Breaks its process for the module graded next: NumPy, builtins, import hooks, warnings, streams, limits."""
    import atexit
    import resource
    import warnings

    class Poison:
        def find_spec(self, *_):
            raise ImportError("poisoned")

        def __del__(self):
            time.sleep(100)

    if "causal_mask" not in sys.modules:
        atexit.register(time.sleep, 100)
        sys.meta_path.insert(0, Poison())
        for name in ("where", "tril", "ones", "arange", "any", "array", "zeros", "abs"):
            setattr(np, name, lambda *_, **__: None)
        builtins.len = builtins.isinstance = lambda *_: 7
        np.seterr(all="raise")
        warnings.simplefilter("error")
        sys.stdout.close()
        sys.stderr.detach()
        sys.setrecursionlimit(60)
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))


MARK = """
try:
    open("/tmp/hostile-shadow", "w").close()
except OSError:
    pass
"""
NAMES = ("random", "numpy", "json", "socket", "wire", "child", "server", "autograder", "autograder/__init__", "typing",
         "autograder/sandbox/wire", "conftest", "sitecustomize", "usercustomize", "pytest", "_pytest", "otter", "yaml",
         "psutil", "struct", "encodings", "encodings/utf_8", "msgpack", "site", "os", "posixpath", "test_layernorm")


@attack(extra={f"{name}.py": MARK for name in NAMES}, needs=("landlock",))
def shadow_modules():
    """Contains files named like modules that the grader or Python imports. They leave a mark outside a sandbox."""
    import random

    random.random()


@attack()
def stubborn_tree():
    """Leaves a tree that is hard to remove: no permissions, very long paths, odd names, links to other folders."""

    def every_function(x, *_, **__):
        for name in ("line\nbreak", "-rf", "*", " ", "..a", b"\xff\xfe\x80", "\u202e", "x" * 255):
            os.mkdir(name)
        for number, target in enumerate(("..", "../..", "../../submission", "../../view", "/", "/tmp", __file__)):
            os.symlink(target, f"link{number}")
        nested_folders(400, 0o700)
        for number in range(50):
            os.mkdir(f"closed{number}", 0o700)
            os.mkdir(f"closed{number}/inner", 0)
            os.close(os.open(f"closed{number}/file", os.O_CREAT, 0))
        os.mkdir("closed", 0)
        return x


@attack(needs=("seccomp", "limits"))
def system_calls():
    """Makes system calls that are allowed, but not with these arguments: processes, locks, signals, limits."""
    LOCK, TEXT = struct.pack("hhqqi", 0, 0, 0, 0, 0), ctypes.create_string_buffer(4096)
    PROGRAM = ctypes.create_string_buffer(struct.pack("<HBBI", 6, 0, 0, 0x7FFF0000) * 4096)
    FILTER = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", 4096, ctypes.addressof(PROGRAM)))
    CLOCK = ~ABOVE << 3 | 2
    CALLS = {
        # processes, sockets, memory, tracing and filters
        "clone": (56, 17, 0, 0, 0, 0), "kill": (62, ABOVE, 0), "open files of its own": (436, 4000, 4001, 2),
        "peer": (55, 3, 1, 77, TEXT, TEXT), "shared pages": (9, 0, 2**26, 3, 0x21, -1, 0), "merge": (28, 0, 0, 12),
        "dumpable": (157, 4, 1), "death signal": (157, 1, 0), "tracer": (157, 0x59616D61, -1), "memory map": (157, 35, 1, 0),
        "pages in common": (157, 67, 1, 0, 0, 0), "futex hash": (157, 78, 1, 2**23, 0, 0), "filter": (157, 22, 2, FILTER, 0, 0),
        "futex on shared pages": (202, id(None), 1, 1),
        # locks, leases and notifications that could inform another process, and signals sent by the kernel
        "F_GETLK": (72, 0, 5, LOCK), "F_SETLK": (72, 0, 6, LOCK), "F_OFD_SETLK": (72, 0, 37, LOCK), "F_GETLEASE": (72, 0, 1025),
        "hint": (72, 0, 1036, TEXT), "F_SETOWN": (72, 0, 8, ABOVE), "F_SETSIG": (72, 0, 10, 9), "F_SETOWN_EX": (72, 0, 15, TEXT),
        "F_NOTIFY": (72, 0, 1026, 0x80000004), "FIOSETOWN": (16, 3, 0x8901, TEXT), "SIOCSPGRP": (16, 3, 0x8902, TEXT),
        # other processes and limits
        "getpgid": (121, ABOVE), "getsid": (124, ABOVE), "getpriority": (140, 0, ABOVE), "affinity": (204, ABOVE, 8, TEXT),
        "scheduler": (145, ABOVE), "getparam": (143, ABOVE, TEXT), "clock": (228, CLOCK, TEXT), "resolution": (229, CLOCK, TEXT),
        "prlimit": (302, ABOVE, 7, b"\3" * 16, 0),
    }
    # some of the same calls through the x32 ABI
    CALLS |= {f"x32 {number}": (0x40000000 + number, 0, 0, 0) for number in (41, 57, 101, 62)}
    for name, (number, *args) in CALLS.items() if os.uname().machine == "x86_64" else ():
        ctypes.set_errno(0)
        arguments = [ctypes.c_long(one) if isinstance(one, int) else one for one in args]
        if LIBC.syscall(ctypes.c_long(number), *arguments) >= 0 or ctypes.get_errno() not in (1, 38):
            raise RuntimeError(f"SUCCEEDED: {name}: {os.strerror(ctypes.get_errno())}")
