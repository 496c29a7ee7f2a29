"""Spoils its process for whatever is graded in it next: NumPy, builtins, modules, import hooks, warnings, streams, limits."""

import atexit
import builtins
import resource
import sys
import time
import warnings

import numpy as np

MODULES = ("layernorm", "causal_mask")
EARNS = 14  # causal_mask is right, and layernorm does not spoil it
EXTRA_REFERENCE = ("causal_mask",)


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
