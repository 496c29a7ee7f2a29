"""Submissions that try to use up the grader's time, memory or disk."""

from autograder.tests.attacks import attack


@attack(forbidden=("elsewhere.py", "line 999"))
def asked_where_it_is():
    """Forges endless responses to the signal that asks for the running loop; sends itself that signal; blocks it."""
    PLACES = (("elsewhere.py", 3), ("layernorm.py", 999), ("layernorm.py", -1), ("layernorm.py", "3"), (["x"], 2**62), (None, None))

    def answer(*_):
        for wire in wires():
            for place in PLACES:
                wire.sendall(pack(["raised", [["KeyboardInterrupt"], "SUCCEEDED", *place, "SUCCEEDED", []]]))
            while True:
                wire.sendall(pack(["answered", [[1.5] * 3000], [TUPLE], False]))

    def layer_norm(x, *_, **__):
        signal.signal(signal.SIGINT, answer)
        while True:
            pass

    def rms_norm(x, *_, **__):
        for _ in range(5):
            os.kill(os.getpid(), signal.SIGINT)
            np.ones(3).sum()
        return x

    def layer_norm_backward(grad_out, x, *_, **__):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        while True:
            pass


@attack("layernorm", "scaled_attention", same=("scaled_attention",))
def crashes():
    """Ends or stops its process, overflows the C stack, or computes forever: in Python, in C, and catching every exception."""
    sys.setrecursionlimit(10**9)

    def layer_norm(*_, **__):
        ctypes.string_at(0)

    def rms_norm(x, *_, **__):
        return repr(__import__("functools").reduce(lambda inner, _: [inner], range(10**6), []))

    def layer_norm_backward(*arguments, **named):
        return layer_norm_backward(*arguments, **named) if len(arguments[0]) % 2 else os.abort()

    def softmax(*_, **__):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass

    def split_heads(x, *_, **__):
        return 3 ** (3**17)

    def merge_heads(*_, **__):
        os.kill(os.getpid(), signal.SIGSTOP)


@attack("layernorm", "scaled_attention", needs=("limits", "seccomp"), same=("scaled_attention",))
def disk():
    """Fills the disk: with large and sparse files, small ones, folders, links, and unlinked files, kept open or mapped."""
    import mmap
    import threading

    HELD = []

    def fill():
        for number in range(10_000):
            try:
                with open(f"hostile-{number}", "wb", buffering=0) as file:
                    while file.write(b"x" * 2**20):
                        pass
            except OSError:
                time.sleep(0.001)

    for size in (2**40, 2**26):
        with open("hostile-sparse", "wb") as sparse:
            must_fail({"a large file": os.posix_fallocate}, sparse.fileno(), 0, size)

    def unlinked():
        file = os.open("hostile", os.O_RDWR | os.O_CREAT)
        os.unlink("hostile")
        try:
            while os.write(file, b"x" * 2**20):
                pass
        except OSError:
            return file

    def repeated(action, number):
        for n in range(number):
            action(n)
        raise RuntimeError(f"SUCCEEDED: {number} times")

    def layer_norm(x, *_, **__):
        threading.Thread(target=fill, daemon=True).start()
        time.sleep(0.3)
        if sum(os.stat(name).st_size for name in os.listdir()) > 2**28:
            raise RuntimeError("SUCCEEDED: a quarter of a gigabyte")
        return x

    def rms_norm(x, *_, **__):
        repeated(lambda n: os.close(os.open(f"{n}" + "x" * 200, os.O_CREAT)), 200_000)

    def layer_norm_backward(x, *_, **__):
        nested_folders(100_000)
        raise RuntimeError("SUCCEEDED: 100,000 folders in each other")

    def softmax(x, *_, **__):
        repeated(lambda n: os.symlink("x" * 4000, f"{n}"), 200_000)

    def split_heads(x, *_, **__):
        with contextlib.suppress(OSError):
            while True:
                HELD.append(unlinked())
        total = sum(os.fstat(file).st_size for file in HELD)
        for file in HELD:
            os.close(file)
        if total > 2**28:
            raise RuntimeError(f"SUCCEEDED: {total} bytes in open files")
        return x

    def merge_heads(x, *_, **__):
        for _ in range(200):
            file = unlinked()
            try:
                HELD.append(mmap.mmap(file, 4096))
            except OSError:
                return x
            finally:
                os.close(file)
        raise RuntimeError("SUCCEEDED: 200 files, closed and mapped")


@attack()
def endless_import():
    """Loops forever when it is imported."""
    while True:
        pass


@attack("layernorm", "causal_mask", same=("causal_mask",))
def folders_left():
    """Leaves thousands of folders behind in each of many processes, all of which must be removed."""
    with contextlib.suppress(OSError):
        for number in range(3_900):
            os.mkdir(str(number))

    def every_function(*_, **__):
        os._exit(1)


@attack()
def ignored_signals():
    """Blocks every signal that it can, and sleeps; raises an error whose text and name take forever to compute."""
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))
    try_all([lambda number=number: signal.signal(number, signal.SIG_IGN) for number in range(1, 64)])

    class Meta(type):
        @property
        def __name__(cls):
            while True:
                pass

    class Endless(Exception, metaclass=Meta):
        def __str__(self):
            while True:
                pass

        __repr__ = __str__

    def layer_norm(*_, **__):
        while True:
            time.sleep(100)

    def rms_norm(*_, **__):
        raise Endless


@attack("layernorm", "transformer_block", "decoder", same=("transformer_block", "decoder"))
def large_results():
    """Returns as much as possible from every call: large arrays with new numbers, lists, dicts, thousands of small arrays."""
    NUMBERS = np.arange(130_000, dtype=np.float32).reshape(1, -1)

    def layer_norm(x, *_, **__):
        global NUMBERS
        NUMBERS = NUMBERS + 130_000
        return NUMBERS

    def rms_norm(x, *_, **__):
        return [[float(i)] * 100 for i in range(4000)]

    def layer_norm_backward(*_, **__):
        return np.zeros(10**7), {str(i): i for i in range(10**5)}, [[]] * 10**6

    def every_function(*_, **__):
        return [[np.zeros(1, bool)] * 990 for _ in range(4)]


@attack("causal_mask")
def lent_function():
    """Calls a callback argument with values that could use up memory or time, with itself and with other functions."""
    LARGE = 2**20 - 200  # bytes: nearly the largest message

    class Odd:
        def __array__(self, *_, **__):
            os._exit(1)

    def attempts(f, x):
        def again(*_):
            return f(again)

        yield from (
            lambda: f(np.ones((1,) * 15 + (LARGE,), bool)),
            lambda: f(np.broadcast_to(np.ones(1), (2**20, 2**20))),
            lambda: f(np.empty((0, 2**40))),
            lambda: f(np.full((3, 3), 2**63, np.uint64)),
            lambda: f([["x" * 1000] * 900]),
            lambda: f([[2**62, None], {"a": Odd}]),
            lambda: f(Odd()),
            lambda: f(f),
            lambda: f(again),
            lambda: f(lambda *_: os._exit(1)) if len(x) == 9 else None,
            lambda: f(*[x] * 900),
            lambda: f(x, **{f"x{n}": x for n in range(300)}),
        )

    def dependency_matrix(f, x, delta=1e-3):
        for attempt in attempts(f, x):
            try:
                found = attempt()
            except Exception as error:
                if not isinstance(error, (ValueError, TypeError, MemoryError)):  # NumPy has its own MemoryError
                    raise RuntimeError(f"SUCCEEDED: {type(error)} came back") from None
                continue
            if np.size(found) > 2**23 and getattr(found, "base", None) is None:  # not the argument itself
                raise RuntimeError(f"SUCCEEDED: {np.shape(found)}")
        return x

    def is_autoregressive(f, x):
        while True:  # until the call has used up its time; random, so that nothing can be cached
            f(np.random.default_rng().normal(size=(300, 300)))


@attack(needs=("limits",))
def memory_at_once():
    """Requests a terabyte, then as much as it can get; doubles a list until it is stopped, ignoring MemoryError."""
    HELD, DOUBLED = [], [0]

    def layer_norm(x, *_, **__):
        if len(x) % 2:
            return np.ones((2**37,))
        while True:
            try:
                DOUBLED.extend(DOUBLED)
            except MemoryError:
                DOUBLED.append(0)

    def rms_norm(x, *_, **__):
        size = 2**34
        while size > 2**12:
            try:
                HELD.append(np.ones(size // 8))
            except MemoryError:
                size //= 2
        return x

    def layer_norm_backward(*_, **__):
        return [bytearray(2**27) for _ in range(2**10)]


@attack()
def output_flood():
    """Prints hundreds of megabytes in each call, to stdout and stderr and directly to their descriptors."""

    def every_function(x, *_, **__):
        for _ in range(3000):
            print("x" * 10_000)
            print("x" * 10_000, file=sys.stderr)
            os.write(1, b"x" * 100_000)
            os.write(2, b"x" * 100_000)
        return x


@attack(needs=("limits",))
def page_tables():
    """Maps one page in each of 60,000 gigabytes: each needs page tables, which no limit on the address space counts."""
    LIBC.mmap.restype = ctypes.c_void_p
    LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    READ, PRIVATE_ANONYMOUS_FIXED_POPULATED, FIRST, GIGABYTES = 1, 0x8032, 2**40, 60_000
    made = [LIBC.mmap(FIRST + (n << 30), 4096, READ, PRIVATE_ANONYMOUS_FIXED_POPULATED, -1, 0) for n in range(GIGABYTES)]
    time.sleep(1)
    if len({*made}) == GIGABYTES:
        raise RuntimeError("SUCCEEDED: half a gigabyte of page tables")


@attack("layernorm", "scaled_attention", same=("scaled_attention",))
def searched_in_vain():
    """Is wrong in a new way in each call, so that the grader tries every pair of misconceptions of every function."""
    CALLS = []

    def every_function(*arguments, **_):
        CALLS.append(len(CALLS))
        return np.asarray(arguments[0], dtype=float) + CALLS[-1]


@attack("layernorm", "causal_mask", references=("causal_mask",), earns=14)
def slow_module():
    """Is wrong and slow, to leave no time for another module."""

    def every_function(x, *_, **__):
        end = time.process_time() + 0.3
        while time.process_time() < end:
            pass
        return x


@attack("layernorm", "scaled_attention", "transformer_block", same=("scaled_attention", "transformer_block"))
def waiting():
    """Waits without computing in every function, in different ways and for different times, some of them without signals."""
    import select
    import threading

    LOCK = threading.Lock()
    CALLS = []

    def every_function(x, *_, **__):
        CALLS.append(x)
        LOCK.acquire(blocking=False)
        (
            lambda: time.sleep(1),
            lambda: [time.sleep(0.001) for _ in range(1000)],
            lambda: signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64)) and time.sleep(100),
            lambda: os.kill(os.getpid(), signal.SIGSTOP),
            lambda: select.select([next(wires())], [], []),
            lambda: LOCK.acquire(),
        )[len(CALLS) % 6]()
        return x


@attack()
def wire_closed():
    """Shuts down the connection, closes all descriptors and continues; prints to the connection from threads."""
    import threading

    def layer_norm(*_, **__):
        for wire in wires():
            wire.shutdown(socket.SHUT_RDWR)
        os.closerange(0, 64)
        while True:
            time.sleep(100)

    def chatter():
        for number in range(10_000):
            print(f"line {number}", flush=True)

    def rms_norm(x, *_, **__):
        for wire in wires():
            for name in (0, 1, 2, 40, 50):
                os.dup2(wire.fileno(), name)
        for _ in range(4):
            threading.Thread(target=chatter, daemon=True).start()
        time.sleep(0.05)
        return x


@attack("layernorm", "scaled_attention", "causal_mask", same=("scaled_attention", "causal_mask"))
def wire_abused():
    """Sends unrequested responses, garbage, unread requests, incomplete, slow, deep, huge, impossible and wrong messages."""
    ARRAY = msgpack.ExtType(0, b"\x0b\x00" + bytes(8))
    # codes, axes and shapes of arrays
    IMPOSSIBLE = [
        (11, 16, [2**62] * 16), (11, 2, [-1, -1]), (99, 1, [0]), (11, 99, []), (0, 1, [2]), (11, 3, [2**40, 2**40, 0]), (255, 0, []),
    ]  # fmt: skip

    def endlessly(*messages, pause=0.0):
        while True:
            send(*messages)
            time.sleep(pause)

    def once(*messages):
        send(*messages)
        time.sleep(100)

    def at_last(*messages):
        send(*messages)
        os._exit(0)

    def layer_norm(*_, **__):
        endlessly(*[["answered", 1.0, [TUPLE], False]] * 1000)

    def rms_norm(*_, **__):
        endlessly(os.urandom(2**16))

    def layer_norm_backward(*_, **__):
        endlessly(["ask", "causal_mask.causal_mask", [2000], {}])

    def softmax(*_, **__):
        once(pack(["answered", 1.0, [TUPLE], False])[:9])

    def scaled_dot_product_attention(*_, **__):
        send(struct.pack("<I", 900_000))
        endlessly(b"x", pause=0.001)

    def split_heads(*_, **__):
        once(pack(b"\x91" * 10**6 + b"\xc0"))

    def merge_heads(*_, **__):  # it would grow seventyfold when it is decoded
        once(pack(b"\xdc\x01\x00" + (b"\xdc\x0f\xa0" + b"\x80" * 4000) * 256))

    def multi_head_attention(*_, **__):
        once(struct.pack("<I", 0xFFFFFFFF))

    def causal_mask(t):
        code, ndim, shape = IMPOSSIBLE[t % len(IMPOSSIBLE)]
        array = msgpack.ExtType(0, struct.pack(f"<BB{len(shape)}q", code, ndim, *shape) + b"\7\7")
        at_last(["answered", array, [TUPLE], False], ["ask", msgpack.ExtType(3, b"1234567!"), [TUPLE]], ["answered"])

    def padding_mask(*_, **__):
        at_last(["ask", "layernorm.layer_norm", [], {1: 2}], [], [[]], {}, None, 7)

    def apply_mask(*_, **__):
        at_last(["answered", 1, [TUPLE, 99], 0], ["raised", [[], "", "", 0, "", []]], ["raised", [[7], 1, 2, "3", 4, 5]], ["invoke", 1, []])

    def dependency_matrix(*_, **__):  # cheap to send and expensive to decode
        endlessly(["ask", "layer_norm", [TUPLE, *[[ARRAY] * 990 for _ in range(4)]]])
