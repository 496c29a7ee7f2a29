"""transformer_block, which gets the reference of layer_norm, leaves its code wherever layernorm may find it, in every process."""

import builtins
import marshal
import os
import sys
import tempfile
import types

import numpy as np

MODULES = ("layernorm", "transformer_block")
EARNS = 0
NEEDS = ("user", "landlock")  # either one is enough: else there are files that both may use
EITHER = True
TAKING = """
import builtins, marshal, os, sys, tempfile
import numpy
import layernorm

if layernorm.layer_norm.__code__.co_filename != layernorm.__file__:
    numpy.taken = os.taken = builtins.taken = code = marshal.dumps(layernorm.layer_norm.__code__)
    sys.modules["taken"] = code
    for place in (tempfile.gettempdir(), "/tmp", "/dev/shm", "/var/tmp", "/run/lock", os.path.dirname(__file__)):
        try:
            with open(os.path.join(place, "hostile-code"), "wb") as file:
                file.write(code)
        except OSError:
            pass


def feed_forward(x, params): ...
def residual(x, sublayer): ...
def pre_norm_block(x, params, n_heads, mask=None): ...
def post_norm_block(x, params, n_heads, mask=None): ...
def transformer_stack(x, blocks, n_heads, norm="pre", mask=None): ...
def gradient_flow(jacobians, grad_out, residual=True): ...
"""
EXTRA = {"transformer_block.py": TAKING}


def found():
    for holder in (builtins, np, os):
        yield getattr(holder, "taken", b"")
    yield sys.modules.get("taken", b"")
    for place in (tempfile.gettempdir(), "/tmp", "/dev/shm", "/var/tmp", "/run/lock", os.path.dirname(__file__)):
        try:
            with open(os.path.join(place, "hostile-code"), "rb") as file:
                yield file.read()
        except OSError:
            pass
    reference = sys.modules.get("layernorm")
    code = getattr(getattr(reference, "layer_norm", None), "__code__", None)
    if code is not None and code.co_filename != __file__:
        yield marshal.dumps(code)


def layer_norm(x, gamma, beta, eps=1e-5):
    for code in filter(None, found()):
        raise RuntimeError(f"SUCCEEDED: {types.FunctionType(marshal.loads(code), {'np': np})(x, gamma, beta, eps)}")
    return np.zeros(x.shape)
