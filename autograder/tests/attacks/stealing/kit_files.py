"""Reads the kit: it knows where the fork server lies, and goes up and down from there."""

import os
import sys

NEEDS = ("landlock",)
KIT = os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[0])))
for name in ("homework/suites/test_layernorm.py", "homework/misconceptions/layernorm.py", "homework/reference.py", "../solutions/layernorm.py",
             "kit/solutions/layernorm.py", "../rubric.yaml", "../.git/HEAD", "sandbox/server.py"):  # fmt: skip
    for read in (lambda p: open(p).read(), os.listdir, lambda p: os.readlink(p)):
        try:
            text = read(os.path.join(KIT, name))
        except OSError:
            continue
        raise RuntimeError(f"SUCCEEDED: read {name}: {text[:80]}")


def layer_norm(x, *_, **__):
    return x


rms_norm = layer_norm_backward = layer_norm
