"""Writes files completely or not at all. Text that a student may have chosen is safe to open in a terminal or an editor."""

import os
import re
import tempfile
from pathlib import Path

_UNSEEN = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file completely or not at all, even if the machine stops.

    In text, control, bidirectional and invisible characters become question marks.
    """
    data, name = _UNSEEN.sub("?", content).encode() if isinstance(content, str) else content, ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException as error:
        if name:
            os.unlink(name)
        if isinstance(error, OSError):
            error.filename, error.filename2 = str(path), None  # it names the temporary file, or none
        raise
