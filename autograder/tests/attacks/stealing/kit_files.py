"""Reads the kit: the code around this one tells where it lies, and from there it goes up and down."""

import os

from forge import kit_folder

NEEDS = ("landlock",)
for name in ("homework/suites/test_layernorm.py", "homework/misconceptions/layernorm/layer_norm.py", "homework/reference.py",
             "homework/misconceptions", "../solutions/layernorm.py", "../solutions", "kit/solutions/layernorm.py",
             "../rubric.yaml", "../.git/HEAD", "sandbox/server.py"):  # fmt: skip
    for read in (lambda p: open(p).read(), os.listdir, lambda p: os.readlink(p)):
        try:
            text = read(os.path.join(kit_folder(), name))
        except OSError:
            continue
        if text:  # what lies over a place that is closed is empty
            raise RuntimeError(f"SUCCEEDED: read {name}: {text[:80]}")
