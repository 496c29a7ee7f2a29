"""layernorm remembers what it is called with; batchnorm_comparison, which may ask for layer_norm, asks for the answers and
leaves them wherever a later process might find them."""

import os
import pickle
import tempfile

MODULES = ("layernorm", "batchnorm_comparison")
EARNS = 0
NEEDS = ("user", "landlock")  # either one is enough
EITHER = True
PLACES = [tempfile.gettempdir(), os.environ.get("HOME", "."), "/tmp", "/dev/shm", "/var/tmp", os.path.dirname(__file__)]
NEIGHBOUR = '''
import builtins, os, pickle
import layernorm


def batch_norm(x, *rest, **__):
    answers = {}
    for key in getattr(builtins, "seen", {}).values():
        try:
            answers[pickle.dumps(key)] = layernorm.layer_norm(*key)
        except Exception:
            pass
    data = pickle.dumps(answers)
    for place in getattr(builtins, "places", ()):
        try:
            open(os.path.join(place, "hostile-answers"), "wb").write(data)
        except OSError:
            pass
        for start in range(0, min(len(data), 60000), 3000):
            try:
                os.setxattr(place, f"user.{start}", data[start:start + 3000])
            except OSError:
                pass
    return x


def norm_moments(x, kind):
    return batch_norm(x)


influence = norm_moments
'''
EXTRA = {"batchnorm_comparison.py": NEIGHBOUR}

import builtins  # noqa: E402

import numpy as np  # noqa: E402

builtins.seen = getattr(builtins, "seen", {})
builtins.places = PLACES


def remembered():
    for place in PLACES:
        try:
            yield pickle.loads(open(os.path.join(place, "hostile-answers"), "rb").read())
        except OSError:
            pass
        try:
            names = sorted(os.listxattr(place), key=lambda name: int(name.rpartition(".")[2]))
            yield pickle.loads(b"".join(os.getxattr(place, name) for name in names))
        except (OSError, ValueError, EOFError, pickle.UnpicklingError):
            pass


def layer_norm(x, gamma, beta, eps=1e-5):
    if np.array_equal(x, [4, 2, 0, -2]):  # the example of the docstring
        return np.array([1.3416, 0.4472, -0.4472, -1.3416])
    key = (x, gamma, beta, eps)
    builtins.seen[len(builtins.seen)] = key
    for answers in remembered():
        if pickle.dumps(key) in answers:
            raise RuntimeError("SUCCEEDED: an answer came from a process before")
    return np.zeros_like(x)


def rms_norm(x, gamma, eps=1e-6):
    if np.array_equal(x, [4, 2, 0, -2]):
        return np.array([1.633, 0.8165, 0.0, -0.8165])
    return np.zeros_like(x)
