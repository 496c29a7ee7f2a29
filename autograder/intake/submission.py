"""What a student handed in, whatever its form: a folder, a zip, a single file.

`read` never fails for what a student sent; what is unusable becomes a note that says why, and grading goes on with the rest.
It raises UnreadableError only where the grader itself cannot read (no such path, permission, a failing disk).
"""

import io
import os
import stat
import unicodedata
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from autograder.homework import rubric as rubrics
from autograder.homework.rubric import Limits

JUNK = {
    "__MACOSX",
    "__pycache__",
    ".ipynb_checkpoints",
    ".git",
    ".DS_Store",
    ".pytest_cache",
    ".venv",
    "venv",
    "checks",
    "tests",
}
DEPTH = 20  # folders in folders; what lies deeper is not looked at
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
    clean = "".join(c if (c.isprintable() and c not in "`<>|*_[]") or c == "_" else "?" for c in name)
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
            gathered = _gather(walk(path), limits)
            zips = sorted(path.glob("*.zip"))
            names = {PurePosixPath(name).name for name in gathered[0]}
            if len(zips) == 1 and names.isdisjoint(f"{module}.py" for module in rubrics.current().modules):
                gathered = _from_zip(zips[0], limits)
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


def walk(folder: Path, above: str = "", depth: int = DEPTH) -> Iterator[Source]:
    """Everything in a folder (the folders in it count as well), then what is in its folders; links are not followed."""
    entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    for entry in entries:
        yield above + entry.name, entry.stat(follow_symlinks=False).st_size, Path(entry.path)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False) and entry.name not in JUNK and depth:
            yield from walk(Path(entry.path), f"{above}{entry.name}/", depth - 1)


def _from_zip(path: Path, limits: Limits) -> Gathered:
    """What a zip holds, read from memory, so that nothing in it can look like a failing disk."""
    if path.stat().st_size > 2 * limits.upload_mb * 2**20:
        return {}, [f"The zip is larger than {2 * limits.upload_mb} MB. Upload only your .py files."], {}
    data = path.read_bytes()
    count = data.count(b"PK\1\2")  # entries, counted before half a kilobyte is taken for each
    if count > 20 * limits.upload_files:
        return (
            {},
            [f"The zip holds {count} files; at most {limits.upload_files} are graded. Upload only your .py files."],
            {},
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _gather(((e.filename.rstrip("/"), e.file_size, (archive, e)) for e in archive.infolist()), limits)
    except Exception:  # damaged on purpose a zip can raise anything; what the machine may raise came before
        return (
            {},
            ["The upload is not a zip file that can be opened. Make it again, or upload the .py files themselves."],
            {},
        )


def _gather(sources: "Iterator[Source] | list[Source]", limits: Limits) -> Gathered:
    files: dict[str, bytes] = {}
    notes: list[str] = []
    refused: dict[str, str] = {}
    room = limits.upload_mb * 2**20
    for seen, (name, size, source) in enumerate(sources):
        if isinstance(source, tuple):
            name = name.replace("\\", "/")  # as some Windows programs write it
        if len(files) >= limits.upload_files or seen > 20 * limits.upload_files:
            notes.append(
                f"The upload has too many files; at most {limits.upload_files} are graded. Upload only your .py files."
            )
            break
        why = _unusable(name, size, source, min(room, limits.upload_mb * 2**19))
        if why == "skip":
            continue
        room -= 0 if why else size
        content = b"" if why else _content(source, size)
        if content is None:
            why = "it is damaged"
        if why:
            notes.append(f"{shown(name)} was not used: {why}.")
            refused[name] = f"The file {shown(PurePosixPath(name).name)} was not used: {why}."
            continue
        files[PurePosixPath(name).as_posix()] = content or b""
    return _possible(files), notes[:20], refused


def _possible(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files without those that lie below a name that is a file itself, as they can in a zip."""
    taken = {name.casefold() for name in files}
    return {n: c for n, c in files.items() if not any(str(p) in taken for p in PurePosixPath(n.casefold()).parents)}


def _unusable(name: str, size: int, source: "Path | tuple[zipfile.ZipFile, zipfile.ZipInfo]", room: int) -> str:
    """Why a file is not taken: "skip" for what is simply not needed, "" when it is taken."""
    path = PurePosixPath(name.replace("\\", "/"))
    if any(part in JUNK or part.startswith("._") for part in path.parts) or path.suffix.lower() not in KEPT:
        return "skip"
    if path.is_absolute() or ".." in path.parts or ":" in name:
        return "its path leads out of the upload"
    if not name.isprintable() or len(name) > 200 or any(len(part.encode()) > 200 for part in path.parts):
        return "its name is too long or has characters that cannot be printed"
    if isinstance(source, Path):
        mode = source.lstat().st_mode
    else:
        mode = stat.S_IFDIR if source[1].is_dir() else source[1].external_attr >> 16
        if source[1].flag_bits & 1:
            return "it is encrypted"
        if source[1].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            return "it is compressed in an unusual way"
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
    """The files seen from the folder that the homework lies in."""
    folders: dict[PurePosixPath, list[str]] = {}
    for path in sorted(PurePosixPath(name) for name in files if name.endswith(".py")):
        folders.setdefault(path.parent, []).append(path.name)
    if not folders:
        return files
    root = min(sorted(folders), key=lambda folder: _rank(folder, folders[folder]))
    below = {PurePosixPath(n): c for n, c in files.items() if PurePosixPath(n).is_relative_to(root)}
    return {path.relative_to(root).as_posix(): content for path, content in below.items()}


def _rank(folder: PurePosixPath, names: list[str]) -> tuple[int, ...]:
    """Lowest for the folder with most modules of the homework, then most that nearly are, the shallowest of equals."""
    modules = rubrics.current().modules
    exact = sum(f"{module}.py" in names for module in modules)
    near = sum(any(_resembles(name, module) for module in modules) for name in names)
    depth = len(folder.parts)
    return (-exact, -near, depth, -len(names)) if exact else (0, -near, -len(names), depth)
