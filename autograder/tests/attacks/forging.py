"""Submissions that try to earn points without solving the homework."""

from autograder.tests.files import HOMEWORK
from autograder.tests.attacks import attack

RIGHT = (HOMEWORK.solutions / "layernorm.py").read_text()


@attack()
def agreeing_values():
    """Returns an object that claims to equal every array, and arrays of a subclass that are close to everything."""

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


@attack(earns=19, extra={"right.py": RIGHT})  # all but the points for unchanged arguments
def changed_later():
    """Is correct, but a thread writes to the arguments after the call."""
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
    """Claims that a nonexistent edit fixes layer_norm, and is correct in the process that verifies the edit."""
    import right

    SESSION = next(thing for thing in gc.get_objects() if type(thing).__name__ == "Session")
    RIGHT = [bool(SESSION.imports.edited)]  # whether this process was told to make an edit

    class Edits:
        @staticmethod
        def answer(*_):
            return [np.array([[10**6, 1, 5]], dtype=np.int64)]

    class Edited:
        @staticmethod
        def answer(session, number, call):
            RIGHT[0] = True
            try:
                return session.answer(call)
            finally:
                RIGHT[0] = False

    SESSION.requests |= {"edits": Edits, "edited": Edited}

    def layer_norm(x, gamma, beta, eps=1e-5):
        return right.layer_norm(x, gamma, beta, eps) if RIGHT[0] else x * gamma + beta + np.tanh(x)


@attack()
def edits_forged():
    """Forges the list of possible edits, and raises SystemExit when its functions are inspected."""
    NUMBERS = [-1, 0, 2**62, -(2**62)]

    class Edits:
        @staticmethod
        def answer(*_):
            return [np.array([[n, 1, 2**40] for n in NUMBERS * 400], dtype=np.int64)]

    class Edit:
        @staticmethod
        def answer(*_):
            return [(2**40,)]

    def forge():
        for found in gc.get_objects():
            if type(found).__name__ == "Session":
                found.requests |= {"edits": Edits, "edit": Edit}

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


@attack("layernorm", "causal_mask", extra={"causal_mask.py": "os._exit(0)"})
def ended_calls():
    """Ends calls and an import in ways that might count as passed: exit status 0, and exceptions like those of skipped tests."""
    import itertools

    class Skipped(BaseException):
        """Like pytest.skip.Exception."""

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


@attack(earns=4, extra={"right.py": RIGHT})  # rms_norm is correct
def forged_change_report():
    """Writes to its arguments, and patches the kit's code to report that nothing has changed.

    This cannot be detected, since the process reports on its own memory. It earns no more than a copy of the arguments.
    """
    import right

    for namespace in list(surrounding()):
        if "differences" in namespace:
            namespace["differences"] = lambda *_: []

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
    """Sends forged responses to the grader before the calls that they belong to, through every socket that it finds."""
    send(["answered"], *[["answered", True, [TUPLE], False]] * 50, ["passed"], ["score", 100], ["answered", [TUPLE]])


@attack("transformer_block")
def neighbour_replaced():
    """Replaces its dependencies with modules of its own, and edits the functions of a dependency."""
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
    """Makes every comparison of NumPy and the builtins succeed, in case the grader compares in this process."""

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
    """Searches the calls after the running one for expected values, and answers them before they are made."""

    def layer_norm(x, gamma, beta, eps=1e-5):
        for payload in waiting_requests():
            kind, *parts = msgpack.unpackb(payload, strict_map_key=False)
            if kind not in ("call", "changes", "look", "write") or len(parts) not in (1, 2, 6):
                raise RuntimeError("SUCCEEDED")
        return x

    def rms_norm(x, gamma, eps=1e-6):
        send(*[["answered", msgpack.ExtType(0, b"\x0b\x00" + b"\0" * 8), [TUPLE], False]] * len(list(waiting_requests())))
        return x


@attack("causal_mask")
def read_mask():
    """Measures no dependencies, but looks for a mask in the variables, defaults and code of its callback."""

    def inside(f):
        """The values that a Python function refers to."""
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
    """transformer_block, which gets the reference of layer_norm, leaves its code wherever layernorm might find it."""
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
    """Searches its process for the reference of the graded module itself, besides those of its dependencies."""
    import types

    NAMES = ("positional_encoding", "embed", "decoder_logits", "sequence_log_prob", "generate")

    def foreign(names):
        """Functions and code objects with these names that are not from this file."""
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

    # When decoder_logits is retried, the reference implementations of the two functions that it calls are present.
    positional_encoding, decoder_logits = looking(*NAMES), looking(*NAMES[2:])


@attack(earns=5)  # rms_norm keeps one criterion beside its known mistake, and layer_norm uses gamma and beta correctly
def repaired():
    """Tries to be repaired: each function seems to be one edit from correct, or is correct in some of its runs.

    The first counts its runs, to be correct in the edited copies. The second reads the edited constants from its own
    code. The third is one edit away from an endless loop, and reverses the stored list of edits.
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
    """Searches the stack and all Python objects for expected values, references and records."""
    WANTED = ("expected", "reference", "record", "suite", "criterion", "tolerance", "solution")

    def layer_norm(*args, **kwargs):
        frame = sys._getframe()
        while frame is not None:
            for name, value in {**frame.f_globals, **frame.f_locals}.items():
                if isinstance(value, type) or frame.f_globals is globals():
                    continue
                if any(word in name.lower() for word in WANTED):
                    raise RuntimeError(f"SUCCEEDED: found {name} = {value!r}"[:200])
            frame = frame.f_back
        return args[0]

    def found(x, *known):
        """The first other array of this shape, which may be the expected value."""
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
