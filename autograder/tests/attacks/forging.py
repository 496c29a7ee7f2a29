"""Submissions that try to earn points without solving the homework."""

from autograder.homework import kit
from autograder.tests.attacks import attack

RIGHT = (kit.solutions() / "layernorm.py").read_text()


@attack()
def agreeing_values():
    """Returns an object that claims to be an array equal to all others, and arrays of a subclass that is close to everything."""

    class Anything:
        __class__ = np.ndarray
        shape, dtype, ndim, size = (2, 4), np.dtype(float), 2, 8
        __eq__ = __bool__ = lambda *_: True

        def __getattr__(self, name):
            return lambda *_, **__: True

        def __iter__(self):
            return iter([self, self, self])

        def __len__(self):
            return 3

    class Agreeing(np.ndarray):
        def __eq__(self, other):
            return np.ones(self.shape, bool)

        def __array_ufunc__(self, *_, **__):
            return np.zeros(self.shape)

        def __array_function__(self, *_, **__):
            return True

        def astype(self, *_, **__):
            return self

    def layer_norm(*_, **__):
        return Anything()

    def rms_norm(x, gamma, eps=1e-6):
        return np.zeros_like(x).view(Agreeing)

    def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
        return Anything(), np.zeros_like(gamma).view(Agreeing), np.zeros_like(gamma).view(Agreeing)


@attack(earns=19, extra={"right.py": RIGHT})  # all but the purity of the arguments
def changed_later():
    """Right, but a thread writes into the arguments when the call is over."""
    import threading

    import right

    SPOILED = []

    def run():
        while True:
            for array in SPOILED:
                array += 1
            time.sleep(0.0001)

    threading.Thread(target=run, daemon=True).start()

    def spoiling(function):
        def spoil(*arrays, **rest):
            result = function(*arrays, **rest)
            arrays = [array for array in arrays if isinstance(array, np.ndarray)]
            if all(array.dtype == np.float64 for array in arrays):
                SPOILED.extend(arrays[:2] if function is right.layer_norm_backward else arrays[:1])
            return result

        return spoil

    layer_norm, rms_norm, layer_norm_backward = map(spoiling, (right.layer_norm, right.rms_norm, right.layer_norm_backward))


@attack(extra={"right.py": RIGHT})
def edit_of_nothing():
    """Says of an edit that does not exist that it makes layer_norm right, and is right in the process that shall show it."""
    import right

    SESSION = next(thing for thing in gc.get_objects() if type(thing).__name__ == "Session")
    RUNNER = getattr(SESSION._handlers.get("edit"), "__self__", None)
    RIGHT = [bool(RUNNER and RUNNER.module)]  # this process was told to make an edit before it imports this

    def edited(number, call):
        RIGHT[0] = True
        try:
            return SESSION._answer(call)
        finally:
            RIGHT[0] = False

    SESSION._handlers["edits"] = lambda *_: ("answered", np.array([[10**6, 1, 5]], dtype=np.int64))
    SESSION._handlers["edited"] = edited

    def layer_norm(x, gamma, beta, eps=1e-5):
        return right.layer_norm(x, gamma, beta, eps) if RIGHT[0] else x * gamma + beta + np.tanh(x)


@attack()
def edits_forged():
    """Says itself which edits of its text there are, and ends whoever looks at its functions for what it is built on."""
    NUMBERS = [-1, 0, 2**62, -(2**62)]

    def forge():
        for found in gc.get_objects():
            if type(found).__name__ == "EditRunner":
                type(found).edits = lambda *_: ("answered", np.array([[n, 1, 2**40] for n in NUMBERS * 400], dtype=np.int64))
                type(found).edit = lambda *_: ("answered", [2**40])
                handlers = next(thing for thing in gc.get_objects() if type(thing).__name__ == "Session")._handlers
                handlers |= {"edits": found.edits, "edit": found.edit}

    def layer_norm(x, gamma, beta, eps=1e-5):
        forge()
        return x * gamma + beta

    class Odd:
        def __call__(self, x, *_, **__):
            return layer_norm(x, 2, 1)

        def __getattr__(self, name):
            raise SystemExit

    every_function = Odd()
    forge()


@attack()
def ended_calls():
    """Ends calls in ways that might count as passed: exits with status 0, and what pytest takes for a skipped or passed test."""
    import itertools

    class Skipped(BaseException):
        """As pytest.skip.Exception."""

        msg, allow_module_level = "passed", True

    class Mismatch(AssertionError):
        record = None

    ENDS = itertools.cycle([SystemExit(0), KeyboardInterrupt(), GeneratorExit(), Skipped("passed"), Mismatch("passed")])

    def layer_norm(*_, **__):
        raise next(ENDS)

    def rms_norm(*_, **__):
        os._exit(0)

    def layer_norm_backward(*_, **__):
        return NotImplemented


@attack()
def exit_on_import():
    """Ends the process with status 0 while it is imported."""
    os._exit(0)


@attack(earns=3, extra={"right.py": RIGHT})  # rms_norm is right
def forged_change_report():
    """Writes into its arguments and patches the code around it to say that nothing has changed.

    Nobody can see into a process that lies about its own memory. What it may gain is what a copy of the arguments gains, too.
    """
    import right

    for namespace in list(surrounding()):
        if "differences" in namespace:
            namespace["differences"] = lambda *_: []
        if "shares" in namespace:
            namespace["shares"] = lambda *_: False

    def rms_norm(x, gamma, eps=1e-6):
        result = right.rms_norm(x, gamma, eps)
        x *= 0
        return result

    def layer_norm(x, *_, **__):
        x *= 0
        return x

    def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
        x *= 0
        return x, gamma, gamma


@attack()
def forged_replies():
    """Writes replies to the grader itself, ahead of the calls that they belong to, through every descriptor that it finds."""
    send(["loaded"], *[["returned", True, [], False]] * 50, ["passed"], ["score", 100], ["changed", []])


@attack("transformer_block")
def neighbour_replaced():
    """Puts a module of its own in the place of a neighbour, and edits the functions that the neighbour shows."""
    import types

    for name in ("layernorm", "scaled_attention"):
        module = types.ModuleType(name)
        module.layer_norm = module.multi_head_attention = lambda x, *_, **__: x
        sys.modules[name] = module

    import layernorm

    layernorm.layer_norm.__code__ = (lambda *a, **k: a[0]).__code__

    def gradient_flow(jacobians, grad_out, residual=True):
        return np.ones(len(jacobians) + 1)

    def every_function(x, *_, **__):
        return layernorm.layer_norm(x)


@attack()
def patched_comparisons():
    """Makes every comparison of NumPy and of the builtins say yes, hoping that the grader compares in this process."""

    def yes(*_, **__):
        return np.True_

    for place in (np, np.testing, np.linalg, np.ma):
        for name in ("allclose", "isclose", "array_equal", "abs", "max", "isfinite", "all", "assert_allclose", "norm"):
            if hasattr(place, name):
                setattr(place, name, yes)
    builtins.all = builtins.any = builtins.isinstance = builtins.issubclass = lambda *_: True
    builtins.abs = builtins.max = builtins.min = lambda *_, **__: 0
    builtins.len = lambda _: 1


@attack()
def read_ahead():
    """Looks at the calls that wait behind the one that runs for what the tests expect, and answers them before they are made."""

    def layer_norm(x, gamma, beta, eps=1e-5):
        for payload in waiting_requests():
            kind, *parts = msgpack.unpackb(payload, strict_map_key=False)
            if kind not in ("call", "changes", "look", "write") or len(parts) not in (1, 2, 6):
                raise RuntimeError("SUCCEEDED")
        return x

    def rms_norm(x, gamma, eps=1e-6):
        send(*[["returned", msgpack.ExtType(0, b"\x0b\x00" + b"\0" * 8), [], False]] * len(list(waiting_requests())))
        return x


@attack("causal_mask")
def read_mask():
    """Does not measure what depends on what, but looks for a mask in the variables, defaults and code of its callback."""

    def inside(f):
        """What a function of Python holds."""
        yield from (cell.cell_contents for cell in f.__closure__ or ())
        yield from (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values(), *vars(f).values(), *f.__globals__.values())
        codes = [f.__code__]
        for code in codes:
            yield from (part for part in code.co_consts if isinstance(part, tuple))
            codes += [part for part in code.co_consts if hasattr(part, "co_consts")]

    def dependency_matrix(f, x, delta=1e-3):
        for value in inside(f):
            if isinstance(value, (np.ndarray, list, tuple)) and np.shape(value) == (len(x), len(x)):
                raise RuntimeError(f"SUCCEEDED: {value}")
        return np.tri(len(x), dtype=bool)

    def is_autoregressive(f, x):
        dependency_matrix(f, x)
        return True


TAKING = """
import marshal
import layernorm

if layernorm.layer_norm.__code__.co_filename != layernorm.__file__:
    leave(marshal.dumps(layernorm.layer_norm.__code__))
"""


@attack("layernorm", "transformer_block", needs=("user", "landlock"), either=True, extra={"transformer_block.py": TAKING})
def reference_carried():
    """transformer_block, which gets the reference of layer_norm, leaves its code wherever layernorm may find it."""
    import marshal
    import types

    def layer_norm(x, gamma, beta, eps=1e-5):
        codes = [marshal.loads(data) for data in left()]
        codes += [code for code in [getattr(sys.modules["layernorm"].layer_norm, "__code__", None)] if code]
        for code in codes:
            if code.co_filename != __file__:
                raise RuntimeError(f"SUCCEEDED: {types.FunctionType(code, {'np': np})(x, gamma, beta, eps)}")
        return np.zeros(x.shape)


@attack("decoder")
def reference_of_itself():
    """Looks in its process for the reference implementation of the module that is graded, beside those of its dependencies."""
    import types

    NAMES = ("positional_encoding", "embed", "decoder_logits", "sequence_log_prob", "generate")

    def foreign(names):
        """Functions and code objects of these names that are not in this file."""
        spaces = [vars(module) for module in list(sys.modules.values()) if isinstance(module, types.ModuleType)]
        spaces += [thing.__globals__ for thing in gc.get_objects() if isinstance(thing, types.FunctionType)]
        for space in spaces:
            for name in names:
                thing = space.get(name) if isinstance(space, dict) else None
                if callable(thing) and getattr(getattr(thing, "__code__", None), "co_filename", __file__) != __file__:
                    yield thing
        for thing in gc.get_objects():
            for code in getattr(getattr(thing, "__code__", None), "co_consts", ()):
                if isinstance(code, types.CodeType) and code.co_name in names and code.co_filename != __file__:
                    yield code

    def looking(*names):
        def look(*args, **_):
            for thing in foreign(names):
                raise RuntimeError(f"SUCCEEDED: {thing}")
            return args[0]

        return look

    # Where decoder_logits is tried again, the reference implementations of the two that it calls are there.
    positional_encoding, decoder_logits = looking(*NAMES), looking(*NAMES[2:])


@attack()
def repaired():
    """Hopes to be repaired: each function is one edit from right by its own account, and right in some run of it.

    The first counts its runs, so that it is right in the copies that are tried; the second takes what it is edited to out of its
    own code; the third is an edit away from an endless loop, and reads all edits that are kept beside it.
    """
    RUNS = []

    def layer_norm(x, gamma, beta, eps=1e-5):
        RUNS.append(x)
        if len(RUNS) < 50:
            return x * gamma + beta
        centred = x - x.mean(-1, keepdims=True)
        return gamma * centred / (centred.std(-1, keepdims=True) + eps * len(RUNS)) + beta

    def rms_norm(x, gamma, eps=1e-6):
        constants = [value for value in rms_norm.__code__.co_consts if isinstance(value, float)]
        return gamma * x / (x * x + sum(constants, eps)).mean(-1, keepdims=True)

    def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
        for found in gc.get_objects():
            if type(found).__name__ == "Text" and hasattr(found, "edits"):
                found.edits.reverse()
        while eps < 0:
            pass
        return grad_out * gamma, grad_out.sum(0), grad_out.sum(0)


@attack()
def searched_memory():
    """Searches the stack and everything that Python knows for expected values, references and records."""
    WANTED = ("expected", "reference", "record", "suite", "criterion", "tolerance", "solution")

    def layer_norm(*args, **kwargs):
        frame = sys._getframe()
        while frame is not None:
            for name, value in {**frame.f_globals, **frame.f_locals}.items():
                if any(word in name.lower() for word in WANTED) and frame.f_globals is not globals():
                    raise RuntimeError(f"SUCCEEDED: found {name} = {value!r}"[:200])
            frame = frame.f_back
        return args[0]

    def found(x, *known):
        """The first array that fits, since it may be the expected one."""
        for thing in gc.get_objects():
            for inner in thing.values() if type(thing) is dict else [thing]:
                if type(inner) is np.ndarray and inner.shape == x.shape and not any(inner is k for k in known):
                    return inner
        return np.zeros_like(x)

    def rms_norm(x, gamma, eps=1e-6):
        return found(x, x)

    def layer_norm_backward(grad_out, x, gamma, eps=1e-5):
        return found(x, x, grad_out), found(gamma, gamma), found(gamma, gamma)


@attack(needs=("landlock",))
def written_results():
    """Writes results.json with full points wherever Gradescope or Otter might look for one."""
    GOOD = '{"score": 100, "tests": []}'
    PLACES = (".", "../..", "/autograder/results", "/autograder", "/autograder/submission", os.path.dirname(__file__))
    for place in PLACES:
        for name in ("results.json", "results.pkl", ".OTTER_LOG"):
            try:
                with open(os.path.join(place, name), "w") as file:
                    file.write(GOOD)
            except OSError:
                continue
            if place != ".":
                raise RuntimeError(f"SUCCEEDED: wrote {place}/{name}")
    print(GOOD, flush=True)
