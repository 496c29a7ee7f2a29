"""decoder asks for causal_mask, in advance and at import, and leaves the answers wherever causal_mask, which is graded in the
same run, may find them: in memory, in modules of Python, in files, in the code around them."""

MODULES = ("causal_mask", "decoder")
EARNS = 0
NEEDS = ("user", "landlock")  # either one is enough: else there are files that both may use
EITHER = True
ASKING = '''
import builtins, os, pickle, sys, tempfile
import numpy
import causal_mask as neighbour

answers = {}
for t in range(1, 12):
    answers[t] = neighbour.causal_mask(t)
builtins.left_answers = numpy.left_answers = os.left_answers = answers
sys.modules["left_answers"] = answers
for place in (tempfile.gettempdir(), "/tmp", "/dev/shm", "/var/tmp", "/run/lock", os.path.dirname(__file__)):
    try:
        with open(os.path.join(place, "hostile-masks"), "wb") as file:
            pickle.dump(answers, file)
    except OSError:
        pass


def positional_encoding(t, d_model): ...
def embed(tokens, table): ...
def decoder_logits(tokens, params, n_heads): ...
def sequence_log_prob(tokens, params, n_heads): ...
def generate(tokens, params, n_heads, max_new_tokens, eos=None): ...
'''
EXTRA = {"decoder.py": ASKING}

import builtins  # noqa: E402
import os  # noqa: E402
import pickle  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402

import numpy  # noqa: E402


def found():
    for holder in (builtins, numpy, os):
        yield getattr(holder, "left_answers", {})
    yield sys.modules.get("left_answers", {})
    for place in (tempfile.gettempdir(), "/tmp", "/dev/shm", "/var/tmp", "/run/lock", os.path.dirname(__file__)):
        try:
            with open(os.path.join(place, "hostile-masks"), "rb") as file:
                yield pickle.load(file)
        except OSError:
            pass


def causal_mask(t):
    for answers in found():
        if t in answers:
            raise RuntimeError("SUCCEEDED: the answers of a process that may ask were found")


padding_mask = apply_mask = dependency_matrix = is_autoregressive = causal_mask
