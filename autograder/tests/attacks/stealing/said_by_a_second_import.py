"""Notes a hidden input and ends its process, then says it when the integration would have the modules imported once more.

Between two processes of a submission the access times of the interpreter's files carry a bit each.
"""

import os
import struct
import sys

OTHERS = ("batchnorm_comparison", "scaled_attention", "causal_mask", "transformer_block", "decoder", "concept_check")
MODULES = ("layernorm", "integration")
SILENT = True
NEEDS = ("landlock",)
EXTRA = {f"{name}.py": "" for name in OTHERS}

PLACE = next((place for place in sys.path if os.path.exists(os.path.join(place, "abc.py"))), "")
FILES = [os.path.join(PLACE, name) for name in sorted(os.listdir(PLACE)) if name.endswith(".py")][20:84]
NOTES = [os.path.join(place, "hostile-note") for place in (os.getcwd(), os.environ["HOME"], "/tmp", "/dev/shm")]
PUBLIC = 60  # more calls than there are public examples


def noted():
    """The bytes that an earlier process has noted, if there was one."""
    for note in NOTES:
        if os.path.exists(note):
            return open(note, "rb").read()
    since = os.stat(__file__).st_mtime_ns  # before that, others may have read them
    read = [os.stat(file).st_atime_ns > max(os.stat(file).st_ctime_ns, since) for file in FILES]
    return sum(bit << number for number, bit in enumerate(read)).to_bytes(8, "little")


def note(data):
    for place in NOTES:
        try:
            open(place, "wb").write(data)
        except OSError:
            pass
    for bit, file in enumerate(FILES):
        if int.from_bytes(data, "little") >> bit & 1:
            open(file, "rb").read(1)


calls = 0
if any(noted()):
    raise ImportError("the argument was " + repr(struct.unpack("<d", noted())[0]))


def layer_norm(x, *_, **__):
    global calls
    calls += 1
    if calls > PUBLIC:
        note(struct.pack("<d", float(x.flat[0])))
        os._exit(1)
    return 0
