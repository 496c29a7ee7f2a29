"""Hostile uploads: files that do harm when they are read, compiled or displayed, and three created by functions."""

import copy
import importlib.util
import marshal
import os
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

from autograder.tests.files import put

Texts = dict[str, str | bytes]
HONEST: Texts = {"causal_mask.py": "def causal_mask(t):\n    import numpy as np\n\n    return np.tri(t, dtype=bool)\n"}

COMPILED = importlib.util.MAGIC_NUMBER + struct.pack("<III", 0b01, 0, 0) + marshal.dumps(
    compile("raise RuntimeError('SUCCEEDED: the compiled file was used')", "layernorm.py", "exec")
)  # fmt: skip
DEEP = "**".join(["1", *["-1"] * 260])
BODIES = {"rms_norm": f"return x * {DEEP}", "layer_norm": f"raise ValueError({DEEP})", "batch_norm": f"return {DEEP}"}
FILES: dict[str, Texts] = {
    "too large to be compiled": {"layernorm.py": b"x = 1\n" * (50 * 2**20 // 6)},
    "takes the compiler for ever, or overflows its stack": {
        "layernorm.py": "x = " + "(" * 90 + "1" + ")" * 90 + "\n" + "y = (" + "-" * 400_000 + "1)\n",
        "decoder.py": "x = " + "[" * 100_000 + "\n",
        "concept_check.py": "x = 1 << (1 << 40)\n" * 3,
    },
    "no UTF-8, odd encodings, zeros": {
        "layernorm.py": b"# \xff\xfe\x80\nx = 1\n",
        "decoder.py": b"# coding: utf-7\n+AGE-\n",
        "concept_check.py": b"x = 1\0\n",
        "scaled_attention.py": b"# coding: hostile\n",
    },
    "folders called as modules": {"layernorm.py/__init__.py": "raise SystemExit", "decoder/__init__.py": "raise SystemExit"},
    "compiled files, which Python would prefer if it believed their dates": dict.fromkeys(
        (importlib.util.cache_from_source("causal_mask.py"), "causal_mask.pyc", "layernorm.pyc", "causal_mask.so",
         "layernorm.cpython-311-x86_64-linux-gnu.so"), COMPILED,
    ),
    "compiles, but is nested too deeply to be read again": {
        "layernorm.py": "".join(f"def {name}(x, gamma, beta=0, eps=1e-6):\n    {body}\n" for name, body in BODIES.items())
    },
}  # fmt: skip
EVIL_NAMES = ("a\nb.py", "\x1b[31mred.py", "<script>alert(1)</script>.py", "\u202eyp.mronreyal.py", "`x` | y | **z**.py",
              "layernorm" + "é" * 150 + ".py", "[here](http://evil.example).py", "-rf.py", "con.py", " .py", "..py")  # fmt: skip


def zip_bomb(folder: Path) -> Path:
    """Five gigabytes of zeros in a few kilobytes, a graded file among them."""
    with zipfile.ZipFile(folder / "upload.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("layernorm.py", bytes(50 * 2**20))
        for number in range(100):  # more entries for the same bytes
            entry = copy.copy(archive.filelist[0])
            entry.filename = f"layernorm{number}.py"
            archive.filelist.append(entry)
    return folder / "upload.zip"


def links(folder: Path) -> Path:
    """Symbolic links to files and folders outside the upload, links to themselves, and a pipe."""
    for name, target in (("layernorm.py", "/etc/passwd"), ("decoder.py", "decoder.py"), ("all", "/"), ("again", folder)):
        (folder / name).symlink_to(target)
    os.mkfifo(folder / "concept_check.py")
    return put(folder, HONEST)


def names_that_are_no_text(folder: Path) -> Path:
    """File names with line breaks or bytes that are not valid UTF-8."""
    for name in (b"\xff\xfe.py", b"layer\nnorm.py", b"\xf0\x28\x8c\x28.py", b"layernorm.py\xff"):
        with open(os.path.join(os.fsencode(folder), name), "wb") as file:
            file.write(b"x = 1\n")
    return put(folder, HONEST)


def written(files: Texts, name: str = ".") -> Callable[[Path], Path]:
    return lambda folder: put(folder / name, files | HONEST)


UPLOADS: dict[str, Callable[[Path], Path]] = {
    "zip bomb": zip_bomb,
    "links": links,
    "more names than are listed": written({f"{number}.py": "" for number in range(10_001)}),
    "names that are no text": names_that_are_no_text,
    "names with markup": written(dict.fromkeys(EVIL_NAMES, "x = 1\n"), "upload.zip"),
    **{name: written(files) for name, files in FILES.items()},
}
EARNS = dict.fromkeys(UPLOADS, 1) | {"zip bomb": 0, "more names than are listed": 0}  # 1 point for HONEST, if it is found
