"""Submissions that try to read secrets, or to reveal the inputs of hidden calls."""

from autograder.tests.attacks import attack


@attack(needs=("user",))
def account_secrets():
    """Reads files that only root may read. The promise also holds without Landlock."""
    for path in ("/etc/shadow", "/root/.bashrc", "/root/.profile", "/proc/1/environ", "/proc/1/mem", "/dev/mem", "/dev/kmsg"):
        must_fail({f"read {path}": lambda: open(path, "rb").read(1)})


@attack()
def flooded_message():
    """Returns values for the public examples that would take megabytes to display."""

    def layer_norm(x, *_, **__):
        return np.full((2,) * 14, 1234.56789)

    def rms_norm(x, *_, **__):
        return [[[np.arange(60.0) + i for i in range(8)]] * 8] * 4

    def layer_norm_backward(grad_out, x, gamma, *_, **__):
        raise RuntimeError("x" * 10**7)


@attack(needs=("landlock",))
def kit_files():
    """Reads the kit at the path of the running code, next to NumPy, as a wheel, and in Gradescope's folders."""
    for name in ("homework/suites/test_layernorm.py", "homework/misconceptions/layernorm/layer_norm.py", "homework/reference.py",
                 "homework/misconceptions", "../solutions/layernorm.py", "../solutions", "kit/solutions/layernorm.py",
                 "../rubric.yaml", "../.git/HEAD", "sandbox/server.py"):
        for read in (lambda p: open(p).read(), os.listdir, lambda p: os.readlink(p)):
            try:
                text = read(os.path.join(kit_folder(), name))
            except OSError:
                continue
            if text:  # a closed place may look empty
                raise RuntimeError(f"SUCCEEDED: read {name}: {text[:80]}")
    FOLDERS = {os.path.dirname(os.path.dirname(np.__file__)), "/autograder", "/autograder/source", "/autograder/submission"}
    FOLDERS |= {os.path.join(prefix, "lib") for prefix in (sys.prefix, sys.base_prefix)}
    for path in (sys.argv[0], sys.executable, os.__file__):
        FOLDERS |= {os.path.dirname(path), os.path.dirname(os.path.dirname(path)), os.path.abspath(path + "/../../..")}
    for folder in FOLDERS:
        if glob.glob(folder + "/autograder*") + glob.glob(folder + "/*.whl"):
            raise RuntimeError(f"SUCCEEDED: found the kit in {folder}")


@attack(needs=("landlock",))
def kit_imported():
    """Imports the kit and its suites from every folder that the interpreter knows."""
    import importlib
    import json
    import sysconfig

    sys.path += sysconfig.get_paths().values()
    with contextlib.suppress(IndexError, ValueError):  # the worker's arguments, if it still has them
        sys.path += [*json.loads(sys.argv[1])["imports"], *json.loads(sys.argv[1])["holes"]]
    for name in ("autograder.homework.reference", "autograder.homework.suites.test_layernorm", "reference", "test_layernorm",
                 "suites.test_layernorm", "otter", "autograder.homework.misconceptions.layernorm", "yaml", "pytest"):
        must_fail({f"imported {name}": lambda: importlib.import_module(name)}, errors=ImportError)


@attack(needs=("landlock",))
def linked_files():
    """Reads forbidden files through hard and symbolic links; opens a parent folder by descriptor."""

    def linked(link, wanted, name):
        link(wanted, name)
        os.listdir(name) if os.path.isdir(name) else open(name).read()

    for number, wanted in enumerate((kit_folder() + "/homework", "/etc/passwd", "/etc", "/", "/proc/1")):
        for link in (os.link, os.symlink):
            must_fail({"read through a link": linked}, link, wanted, f"{link.__name__}{number}")
    must_fail({"listed the folder of all temporary folders": lambda: os.listdir(os.open("../../..", os.O_RDONLY))})


@attack(forbidden=("<script", "<img", "<h1", "<table", "href=", "\u202e", "\x1b", "www.evil", "a@evil", "://"))
def markup_in_texts():
    """Fails to import with an error text that would end its code block and add markup to the page."""
    raise RuntimeError(
        "```\n# Full points\n<script>alert(1)</script><img src=x onerror=alert(1)> [here](http://evil.example)"
        " www.evil.example a@evil.example | a | b |\n|---|---|\x1b[31m\u202e\u2028\n\n```\n# Full points"
    )


@attack(forbidden=("<script", "<img", "<h1", "href=", "\u202e", "\x1b"))
def markup_in_values():
    """Returns texts and raises errors on the public examples that would break out of the code block that shows them."""
    BREAK = "```\n# Full points\n~~~\n<script>alert(1)</script> [here](http://evil.example) \x1b[31m\u202e\u2028\n```\n# Full points"

    def layer_norm(x, *_, **__):
        raise RuntimeError(BREAK)

    def rms_norm(x, *_, **__):
        return BREAK

    def layer_norm_backward(grad_out, x, gamma, *_, **__):
        return {BREAK: np.array([BREAK])}, BREAK, np.array(BREAK)


@attack(needs=("user", "landlock"), either=True)
def other_submissions():
    """Searches the machine's temporary folders for submissions that are graded at the same time."""
    mine = os.path.dirname(os.path.realpath(os.path.dirname(__file__)))
    for place in ("/tmp", "/var/tmp", os.path.dirname(mine), "/autograder"):
        for path in glob.glob(place + "/autograder-*/submission/*") + glob.glob(place + "/autograder-*/tmp/own/*"):
            if not os.path.realpath(path).startswith(mine):
                must_fail({f"read {path}": lambda: open(path).read()})


@attack(needs=("user", "landlock", "not_dumpable"), either=True)
def parent_in_proc():
    """Reads the memory, environment and open files of its parent processes through /proc."""

    def parents():
        pid = ABOVE
        while pid > 1:
            yield pid
            try:
                pid = int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])
            except OSError:
                yield from range(max(2, pid - 200), pid)
                return

    READ = {"list": os.listdir, "open": lambda path: open(path, "rb").close(), "link": os.readlink}
    for number in parents():
        for name in ("mem", "environ", "maps", "auxv", "stack", "fd", "fdinfo", "cwd", "root", "exe", "map_files"):
            must_fail(READ, f"/proc/{number}/{name}")


@attack(needs=("user", "landlock", "seccomp", "not_dumpable"), either=True)
def parent_traced():
    """Attaches to its parent and other processes with ptrace, process_vm_readv and pidfd_getfd."""
    buffer = ctypes.create_string_buffer(64)
    local = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 64)
    remote = (ctypes.c_size_t * 2)(0x400000, 64)
    for pid in (ABOVE, *range(max(2, ABOVE - 100), ABOVE)):
        results = {
            "PTRACE_ATTACH": LIBC.ptrace(16, pid, 0, 0),
            "PTRACE_SEIZE": LIBC.ptrace(0x4206, pid, 0, 0),
            "process_vm_readv": -1 if LIBC.syscall(310, pid, local, 1, remote, 1, 0) <= 0 else 0,
        }
        watched = LIBC.syscall(434, pid, 0)
        if watched >= 0:
            results.update({f"pidfd_getfd {fd}": min(LIBC.syscall(438, watched, fd, 0), 0) for fd in range(9)})
        for name, result in results.items():
            if result == 0:
                raise RuntimeError(f"SUCCEEDED: {name} of {pid}")


OTHERS = ("batchnorm_comparison", "scaled_attention", "causal_mask", "transformer_block", "decoder", "concept_check")


@attack("layernorm", "integration", silent=True, needs=("landlock",), extra={f"{name}.py": "" for name in OTHERS})
def said_by_a_second_import():
    """Stores a hidden input and ends its process, then reveals it when the integration imports the modules again.

    The access times of the interpreter's files can carry one bit each from one process of a submission to the next.
    """
    PLACE = os.path.dirname(SHARED_FILE)
    FILES = [os.path.join(PLACE, name) for name in sorted(os.listdir(PLACE)) if name.endswith(".py")][20:84]
    PUBLIC = 60  # more calls than there are public examples

    def noted():
        """The bytes that an earlier process stored, if any."""
        for data in left():
            return data
        since = os.stat(__file__).st_mtime_ns  # earlier reads may be by other processes
        read = [os.stat(file).st_atime_ns > max(os.stat(file).st_ctime_ns, since) for file in FILES]
        return sum(bit << number for number, bit in enumerate(read)).to_bytes(8, "little")

    calls = 0
    if any(noted()):
        raise ImportError("the argument was " + repr(struct.unpack("<d", noted())[0]))

    def every_function(x, *_, **__):
        global calls
        calls += 1
        if calls > PUBLIC:
            data = struct.pack("<d", float(x.flat[0]))
            leave(data)
            for bit, file in enumerate(FILES):
                if int.from_bytes(data, "little") >> bit & 1:
                    open(file, "rb").read(1)
            os._exit(1)
        return 0


@attack("layernorm", "scaled_attention", silent=True, same=("scaled_attention",))
def said_in_responses():
    """Encodes hidden arguments in errors, their lines and files, in shapes, keys and types of results, and in forged responses."""

    def number(x):
        return int(abs(float(np.ravel(x)[0])) * 1e4) % 90_000 + 1000

    def digits(x):
        return [int(d) + 1 for d in str(number(x))]

    def layer_norm(x, *_, **__):
        error = type(f"Leak{number(x)}", (RuntimeError,), {})(repr(x))
        error.add_note(repr(x))
        exec(compile("\n" * number(x) + "raise error from ValueError(str(error))", __file__, "exec"), {"error": error})

    def rms_norm(x, *_, **__):
        print(x, flush=True)
        name = os.path.join(os.path.dirname(__file__), f"leak{number(x)}.py")
        exec(compile("raise KeyError(data)", name, "exec"), {"data": x.tobytes()})

    def layer_norm_backward(grad_out, x, *_, **__):
        raise SyntaxError("here", (__file__, number(x), 1, repr(x)))

    def softmax(x, *_, **__):
        return np.zeros(digits(x)[:4], "int8")

    def scaled_dot_product_attention(q, *_, **__):
        return {f"leak {q.flat[0]}": q, **{d: d for d in digits(q)}}, tuple([f"leak {q.flat[0]}"] * sum(digits(q)))

    def split_heads(x, *_, **__):
        n = number(x)
        response("raised", [["RuntimeError", f"Leak{n}"], f"leak {n}", f"leak{n}.py", n, f"leak {n}", [f"leak{n}"]])

    def merge_heads(x):
        response("raised", [["RuntimeError"], f"leak {number(x)}", "layernorm.py", number(x), f"l{number(x)}", []])

    def multi_head_attention(x, *_, **__):
        response("answered", f"leak {number(x)}", [TUPLE, *[number(x) % 32] * 20], True)


@attack(silent=True)
def said_in_values():
    """Remembers hidden arguments and returns them from the public examples, whose values are shown."""
    SEEN = [np.zeros(4)]

    def layer_norm(x, *_, **__):
        SEEN.append(x)
        return np.resize(SEEN[-2], np.shape(x)) + SEEN[0].sum()

    def rms_norm(x, *_, **__):
        SEEN.append(x)
        return np.resize(SEEN[-2], np.shape(x)) + 1

    def layer_norm_backward(grad_out, x, gamma, *_, **__):
        SEEN.append(grad_out)
        return np.resize(SEEN[-3], np.shape(x)), np.resize(SEEN[-2], np.shape(gamma)), np.resize(SEEN[-2], np.shape(gamma))


@attack()
def searched_texts():
    """Searches all strings in its memory for pieces of suites, solutions and messages from the fork server."""
    WORDS = ("@crit" + "erion", "BEGIN SOL" + "UTION", "@misconcep" + "tion", "check.pu" + "re.", "about" + ": the")
    for thing in gc.get_objects():
        for inner in gc.get_referents(thing):
            if isinstance(inner, str | bytes) and len(inner) > 20 and any(word in str(inner) for word in WORDS):
                raise RuntimeError(f"SUCCEEDED: {inner[:200]}")


@attack()
def server_settings():
    """Searches everything that frames, modules and the garbage collector reach for the kit's path and the sandbox's settings."""
    for thing in reachable():
        if isinstance(thing, str) and len(thing) < 4096 and kit_folder() in thing:
            raise RuntimeError(f"SUCCEEDED: found {thing!r}")
        if type(thing).__name__ in ("Confinement", "Server"):
            raise RuntimeError(f"SUCCEEDED: found {thing!r}")


@attack(needs=("landlock",))
def system_files():
    """Reads the machine's accounts, keys, logs and home folders."""
    WANTED = ("/etc/passwd", "/etc/shadow", "/etc/hostname", "/root", "/home", "/var/log", "/run/secrets", "/proc/cpuinfo",
              "/root/.ssh/id_rsa", "/root/.bash_history", "/proc/self/mounts", "/sys/class", "/dev/mem", "/dev/sda")
    for path in (*WANTED, *glob.glob("/home/*/*")):
        must_fail({"list": os.listdir, "read": lambda p: open(p, "rb").read(1)}, path)
