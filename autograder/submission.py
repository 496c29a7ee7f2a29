"""What a student handed in, whatever its form: a folder, a zip, a single file.

`read` never fails for what a student sent; what is unusable becomes a note that says why, and grading goes on with the rest.
It raises UnreadableError only where the grader itself cannot read (no such path, permission, a failing disk).
"""

import os
import stat
import unicodedata
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from autograder.rubric import Limits

JUNK = {"__MACOSX", "__pycache__", ".ipynb_checkpoints", ".git", ".DS_Store", ".pytest_cache", ".venv", "venv", "checks"}
KEPT = {".py", ".txt", ".json", ".csv", ".npy", ".npz", ".yaml", ".yml"}


class UnreadableError(Exception):
    """The grader cannot read a submission: its own fault or the machine's, never a student's."""


@dataclass(frozen=True)
class Submission:
    """Files by relative path, flattened to the folder that holds the modules, and notes for the student."""

    name: str
    files: dict[str, bytes]
    notes: tuple[str, ...] = ()
    refused: dict[str, str] = field(default_factory=dict)

    def trouble(self, module: str, known: tuple[str, ...]) -> str:
        """Why the file of a module is not there, as far as one can tell; "" if it is."""
        wanted = f"{module}.py"
        if wanted in self.refused:
            return self.refused[wanted]
        if wanted in self.files:
            return ""
        close = [name for name in self.files if _resembles(name, module) and name not in known]
        if close:
            return f"There is no file {wanted}, but {shown(close[0])}: rename it to {wanted} and upload again."
        return f"There is no file {wanted} in the upload. Upload it under exactly this name."


def shown(name: str) -> str:
    """A student's file name as it may be printed: short, one line, no markup, no control characters."""
    clean = "".join(c if c.isprintable() and c not in "`<>|*_[]" or c == "_" else "?" for c in name)
    return clean if len(clean) <= 60 else clean[:57] + "..."


def _resembles(name: str, module: str) -> bool:
    """`LayerNorm.py`, `layernorm (1).py`, `layer-norm.py.txt`, `layernorm_final.py` for layernorm."""
    stem = PurePosixPath(name).name.lower().split(".")[0]
    letters = "".join(c for c in unicodedata.normalize("NFKD", stem) if c.isalpha())
    wanted = module.replace("_", "")
    return bool(letters) and (letters == wanted or letters.startswith(wanted) or letters.endswith(wanted))


def read(path: Path, limits: Limits, name: str | None = None) -> Submission:
    """The submission at `path`.

    Raises UnreadableError if there is nothing at `path` or it cannot be read.
    """
    name = name or (path.name if path.is_dir() else path.stem)
    try:
        if path.is_dir():
            gathered = _gather(_walk(path), limits)
        elif not path.exists():
            raise UnreadableError(f"{path}: there is no such file or folder")
        elif path.suffix.lower() == ".zip":
            gathered = _from_zip(path, limits)
        else:
            gathered = _gather([(path.name, path.stat().st_size, path)], limits)
    except OSError as error:
        raise UnreadableError(f"{path}: cannot be read ({error.strerror or error})") from error
    files, notes, refused = gathered
    return Submission(name, _flattened(files), tuple(notes), {PurePosixPath(n).name: why for n, why in refused.items()})


Source = tuple[str, int, "Path | tuple[zipfile.ZipFile, zipfile.ZipInfo]"]
Gathered = tuple[dict[str, bytes], list[str], dict[str, str]]


def _walk(folder: Path) -> Iterator[Source]:
    for place, folders, names in os.walk(folder, onerror=_raise):
        folders[:] = sorted(f for f in folders if f not in JUNK and not os.path.islink(os.path.join(place, f)))
        for name in (*sorted(names), *(f for f in folders if f.endswith(".py"))):
            target = Path(place, name)
            yield target.relative_to(folder).as_posix(), target.lstat().st_size, target


def _raise(error: OSError) -> None:
    raise error


def _from_zip(path: Path, limits: Limits) -> Gathered:
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > 20 * limits.upload_files:
                return {}, [f"The zip holds {len(entries)} files; at most {limits.upload_files} are graded. Upload only your .py files."], {}
            return _gather(((e.filename, e.file_size, (archive, e)) for e in entries if not e.is_dir()), limits)
    except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError):
        return {}, ["The upload is not a zip file that can be opened. Make it again, or upload the .py files themselves."], {}


def _gather(sources: "Iterator[Source] | list[Source]", limits: Limits) -> Gathered:
    files: dict[str, bytes] = {}
    notes: list[str] = []
    refused: dict[str, str] = {}
    room = limits.upload_mb * 2**20
    for seen, (name, size, source) in enumerate(sources):
        if len(files) >= limits.upload_files or seen > 20 * limits.upload_files:
            notes.append(f"The upload has too many files; at most {limits.upload_files} are graded. Upload only your .py files.")
            break
        why = _unusable(name, size, source, min(room, limits.upload_mb * 2**19))
        if why == "skip":
            continue
        content = b"" if why else _content(source, size)
        if content is None:
            why = "it is damaged"
        if why:
            notes.append(f"{shown(name)} was not used: {why}.")
            refused[name] = f"The file {shown(PurePosixPath(name).name)} was not used: {why}."
            continue
        room -= size
        files[name] = content or b""
    return files, notes[:20], refused


def _unusable(name: str, size: int, source: "Path | tuple[zipfile.ZipFile, zipfile.ZipInfo]", room: int) -> str:
    """Why a file is not taken: "skip" for what is simply not needed, "" when it is taken."""
    path = PurePosixPath(name.replace("\\", "/"))
    if any(part in JUNK or part.startswith("._") for part in path.parts) or path.suffix.lower() not in KEPT:
        return "skip"
    if path.is_absolute() or ".." in path.parts or ":" in name:
        return "its path leads out of the upload"
    if any(not c.isprintable() for c in name) or len(name) > 200:
        return "its name is too long or has characters that cannot be printed"
    if isinstance(source, Path):
        mode = source.lstat().st_mode
    else:
        mode = source[1].external_attr >> 16
        if source[1].flag_bits & 1:
            return "it is encrypted"
    if stat.S_ISDIR(mode):
        return "it is a folder, not a file"
    if stat.S_IFMT(mode) and not stat.S_ISREG(mode):
        return "it is a link or a device, not a file"
    return f"it is too large ({size // 2**20} MB)" if size > room else ""


def _content(source: "Path | tuple[zipfile.ZipFile, zipfile.ZipInfo]", size: int) -> bytes | None:
    """The bytes of a file, no more than it claims to have; None if it is damaged."""
    if isinstance(source, Path):
        return source.read_bytes()
    try:
        with source[0].open(source[1]) as stream:
            data = stream.read(size + 1)
        return data if len(data) == size else None
    except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError, RuntimeError, OSError):
        return None
    except Exception:  # zlib.error and its like, which are no common class
        return None


def _flattened(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files seen from the folder that holds most Python files, the shallowest of equals."""
    if not files:
        return {}
    counts: dict[PurePosixPath, int] = {}
    for name in files:
        if name.endswith(".py"):
            counts[PurePosixPath(name).parent] = counts.get(PurePosixPath(name).parent, 0) + 1
    if not counts:
        return files
    root = min(counts, key=lambda folder: (-counts[folder], len(folder.parts), folder.as_posix()))
    below = {PurePosixPath(n): c for n, c in files.items() if PurePosixPath(n).is_relative_to(root)}
    return {path.relative_to(root).as_posix(): content for path, content in below.items()}
