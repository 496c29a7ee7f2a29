"""Hostile uploads: each function makes one in a folder and returns its path. Its docstring says what it tries."""

import copy
import importlib.util
import io
import marshal
import os
import struct
import warnings
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

HONEST = "def causal_mask(t):\n    import numpy as np\n\n    return np.tri(t, dtype=bool)\n"
Upload = Callable[[Path], Path]
UPLOADS: dict[str, Upload] = {}
EARNS: dict[str, float] = {}  # 1 where HONEST is found among the rest


def upload(earns: float) -> Callable[[Callable[[Path], Path | None]], None]:
    """Enter an upload: the zip that is returned, or else the folder, to which HONEST is added."""

    def enter(make: Callable[[Path], Path | None]) -> None:
        def made(path: Path) -> Path:
            zipped = make(path)
            if zipped is None and earns:
                (path / "causal_mask.py").write_text(HONEST)
            return zipped or path

        UPLOADS[make.__name__], EARNS[make.__name__] = made, earns

    return enter


def _zip(path: Path, entries: Iterable[tuple["str | zipfile.ZipInfo", "str | bytes"]], honest: bool = True) -> Path:
    with zipfile.ZipFile(path / "upload.zip", "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names that stand twice
        for name, content in [*entries, *[("causal_mask.py", HONEST)] * honest]:
            archive.writestr(name, content)
    return path / "upload.zip"


def _repeated(path: Path, content: bytes, names: Iterable[str]) -> Path:
    """A zip in which every name is another entry for the same bytes, so that it is made quickly."""
    with zipfile.ZipFile(path / "upload.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("layernorm.py", content)
        for name in names:
            entry = copy.copy(archive.filelist[0])
            entry.filename = name
            archive.filelist.append(entry)
    return path / "upload.zip"


@upload(earns=0)
def zip_bomb(path: Path) -> Path:
    """Five gigabytes of nothing in a few kilobytes, under names that are graded."""
    return _repeated(path, bytes(50 * 2**20), (f"layernorm{n}.py" for n in range(100)))


@upload(earns=0)
def zip_bomb_of_damaged_entries(path: Path) -> Path:
    """Entries whose checksums are wrong, so that each is unpacked in vain: the allowance must still shrink."""
    zipped = _zip(path, ((f"layernorm{n}.py", bytes(9 * 2**20)) for n in range(12)), honest=False)
    data = bytearray(zipped.read_bytes())
    at = -1
    while (at := data.find(b"PK\1\2", at + 1)) >= 0:
        data[at + 16 : at + 20] = b"evil"
    zipped.write_bytes(data)
    return zipped


@upload(earns=0)
def zip_with_hundred_thousand_files(path: Path) -> Path:
    """More files than anybody needs."""
    return _repeated(path, b"", (f"{n}.py" for n in range(100_000)))


@upload(earns=1)
def zip_in_zip_in_zip(path: Path) -> Path:
    """Zips in zips, each of which would be opened by a grader that looks for more."""
    inner = b"x = 1\n" * 100
    for level in range(20):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for copy in range(3):
                archive.writestr(f"{level}-{copy}.zip", inner)
        inner = buffer.getvalue()[:200_000]
    return _zip(path, [("inner.zip", inner)])


@upload(earns=1)
def zip_with_ways_out(path: Path) -> Path:
    """Absolute paths, paths upwards, with drive letters and backslashes."""
    names = ("/tmp/hostile-zip.py", "../../hostile-zip.py", "..\\..\\hostile-zip.py", "C:\\hostile-zip.py", "a/../../x.py", "//x.py")
    return _zip(path, ((name, "x = 1\n") for name in names))


@upload(earns=1)
def zip_with_links_and_devices(path: Path) -> Path:
    """Links to the machine's accounts, a pipe and a device, as file types of a zip."""
    kinds = {"layernorm.py": 0o120777, "decoder.py": 0o010666, "concept_check.py": 0o020666, "scaled_attention.py": 0o060666}
    entries = [zipfile.ZipInfo(name) for name in kinds]
    for entry in entries:
        entry.external_attr = kinds[entry.filename] << 16
    return _zip(path, ((entry, "/etc/passwd") for entry in entries))


@upload(earns=1)
def zip_with_a_name_twice(path: Path) -> Path:
    """The same name several times, also as a folder and with other letters."""
    names = ("layernorm.py", "layernorm.py", "./layernorm.py", "layernorm.py/x.py", "LAYERNORM.py/y.py", "layernorm.py/")
    return _zip(path, ((name, "x = 1\n") for name in names))


@upload(earns=0)
def zip_encrypted(path: Path) -> Path:
    """Entries that say that they are encrypted."""
    zipped = _zip(path, [("layernorm.py", "x = 1\n"), ("decoder.py", "x = 1\n")], honest=False)
    data = zipped.read_bytes().replace(b"PK\1\2\x14\x03\x14\x00\x00", b"PK\1\2\x14\x03\x14\x00\x01")
    zipped.write_bytes(data)
    return zipped


@upload(earns=1)
def zip_with_evil_names(path: Path) -> Path:
    """Names with line breaks, escapes, markup, text from right to left, and hundreds of characters."""
    names = ("a\nb.py", "\x1b[31mred.py", "<script>alert(1)</script>.py", "\u202eyp.mronreyal.py", "`x` | y | **z**.py",
             "layernorm" + "é" * 150 + ".py", "[here](http://evil.example).py", "-rf.py", "con.py", " .py", "..py")  # fmt: skip
    return _zip(path, ((name, "x = 1\n") for name in names))


@upload(earns=1)
def zip_of_lies(path: Path) -> Path:
    """A central directory whose sizes and offsets are impossible."""
    zipped = _zip(path, [("layernorm.py", "x = 1\n" * 100)])
    data = bytearray(zipped.read_bytes())
    at = data.find(b"PK\1\2")
    data[at + 20 : at + 28] = struct.pack("<II", 0xFFFFFFF0, 7)
    data[at + 42 : at + 46] = struct.pack("<I", 0xFFFFFF00)
    zipped.write_bytes(data)
    return zipped


@upload(earns=0)
def half_a_zip(path: Path) -> Path:
    """The first half of a zip."""
    zipped = _zip(path, [("layernorm.py", os.urandom(10_000))])
    zipped.write_bytes(zipped.read_bytes()[:5000])
    return zipped


@upload(earns=1)
def fifty_megabyte_module(path: Path) -> None:
    """A module that is too large to be compiled."""
    (path / "layernorm.py").write_bytes(b"x = 1\n" * (50 * 2**20 // 6))


@upload(earns=1)
def dear_to_compile(path: Path) -> None:
    """A small module that takes the compiler for ever, and one that overflows its stack."""
    (path / "layernorm.py").write_text("x = " + "(" * 90 + "1" + ")" * 90 + "\n" + "y = (" + "-" * 400_000 + "1)\n")
    (path / "decoder.py").write_text("x = " + "[" * 100_000 + "\n")
    (path / "concept_check.py").write_text("x = 1 << (1 << 40)\n" * 3)


@upload(earns=1)
def not_text(path: Path) -> None:
    """Sources that are no UTF-8, that name odd encodings, or that contain zeros."""
    (path / "layernorm.py").write_bytes(b"# \xff\xfe\x80\nx = 1\n")
    (path / "decoder.py").write_bytes(b"# coding: utf-7\n+AGE-\n")
    (path / "concept_check.py").write_bytes(b"x = 1\0\n")
    (path / "scaled_attention.py").write_bytes(b"# coding: hostile\n")


@upload(earns=1)
def folders_called_as_modules(path: Path) -> None:
    """Folders where files should be, one of them a package."""
    (path / "layernorm.py").mkdir()
    (path / "layernorm.py" / "__init__.py").write_text("raise SystemExit")
    (path / "decoder").mkdir()
    (path / "decoder" / "__init__.py").write_text("raise SystemExit")


@upload(earns=1)
def links(path: Path) -> None:
    """Symbolic links to files and folders outside, to itself, and a pipe."""
    (path / "layernorm.py").symlink_to("/etc/passwd")
    (path / "decoder.py").symlink_to("decoder.py")
    (path / "all").symlink_to("/")
    (path / "again").symlink_to(path)
    os.mkfifo(path / "concept_check.py")


@upload(earns=1)
def deep_folders(path: Path) -> None:
    """A thousand folders in each other, more than Python's recursion allows."""
    here = os.open(path, os.O_RDONLY)
    for _ in range(1100):
        os.mkdir("d", dir_fd=here)
        here, before = os.open("d", os.O_RDONLY, dir_fd=here), here
        os.close(before)
    os.close(here)


@upload(earns=1)
def names_that_are_no_text(path: Path) -> None:
    """File names with bytes that no encoding has."""
    for name in (b"\xff\xfe.py", b"layer\nnorm.py", b"\xf0\x28\x8c\x28.py", b"layernorm.py\xff"):
        with open(os.path.join(os.fsencode(path), name), "wb") as file:
            file.write(b"x = 1\n")


@upload(earns=1)
def compiled_caches(path: Path) -> None:
    """Compiled files and libraries beside the sources, which Python would prefer if it believed their dates."""
    code = compile("raise RuntimeError('SUCCEEDED: the compiled file was used')", "layernorm.py", "exec")
    pyc = importlib.util.MAGIC_NUMBER + struct.pack("<III", 0b01, 0, 0) + marshal.dumps(code)
    (path / "__pycache__").mkdir()
    tag = importlib.util.cache_from_source("causal_mask.py")
    for name in (tag, "causal_mask.pyc", "layernorm.pyc", "causal_mask.so", "layernorm.cpython-311-x86_64-linux-gnu.so"):
        (path / name).write_bytes(pyc)


@upload(earns=1)
def expressions_in_one_another(path: Path) -> None:
    """Text that Python compiles, and that is nested too deeply for whoever reads it again to say what is wrong with it."""
    deep = "**".join(["1", *["-1"] * 260])
    bodies = {"rms_norm": f"return x * {deep}", "layer_norm": f"raise ValueError({deep})", "batch_norm": f"return {deep}"}
    text = "".join(f"def {name}(x, gamma, beta=0, eps=1e-6):\n    {body}\n" for name, body in bodies.items())
    (path / "layernorm.py").write_text(text)


@upload(earns=0)
def too_many_files(path: Path) -> None:
    """More files and folders than are looked at; the test lowers the limit, since disks are slow."""
    for number in range(2000):
        (path / f"{number}.py").touch()
        if number % 4 == 0:
            (path / f"folder{number}").mkdir()
