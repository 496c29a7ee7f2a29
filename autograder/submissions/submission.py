"""A submission as data: files, and a note for each thing that could not be used."""

import ast
import codecs
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, islice
from pathlib import Path, PurePosixPath

from autograder.exceptions import CommandError
from autograder.homework import rubric as rubrics
from autograder.sandbox.budget import Limits
from autograder.submissions import tree as trees
from autograder.submissions.text import shown
from autograder.submissions.tree import Source, Tree, UnusableError
from autograder.values.names import mend, resembles
from autograder.values.source import declared_encoding, is_readable_encoding, parsed

MOST_BYTES = 100_000  # of a file that the grader parses; a syntax tree takes up to 500 times as much
NOTES_SHOWN = 20  # notes shown per upload

_TEXTS: dict[str, Callable[["Note"], str]] = {
    "outside": lambda note: f"{note.shown} was not used: its path points outside the upload.",
    "name": lambda note: f"{note.shown} was not used: its name is too long or contains unprintable characters.",
    "encrypted": lambda note: f"{note.shown} was not used: it is encrypted.",
    "compression": lambda note: f"{note.shown} was not used: it is compressed in an unusual way.",
    "folder": lambda note: f"{note.shown} was not used: it is a folder, not a file.",
    "link": lambda note: f"{note.shown} was not used: it is a link or a device, not a file.",
    "large": lambda note: f"{note.shown} was not used: it is too large ({note.number} MB).",
    "damaged": lambda note: f"{note.shown} was not used: it is damaged.",
    "deep": lambda note: f"{note.shown} was not used: it is nested too deeply.",
    "many": lambda note: (
        f"The upload has too many files; at most {note.number} are graded. Upload only your .py files."
    ),
    "zip_large": lambda note: f"The zip is larger than {note.number} MB. Upload only your .py files.",
    "zip_many": lambda note: (
        f"The zip contains too many files; at most {note.number} are graded. Upload only your .py files."
    ),
    "zip_overlaps": lambda note: (
        "The upload is a zip whose files overlap, which no normal program produces. Upload the .py files themselves."
    ),
    "no_zip": lambda note: (
        f"{note.shown or 'The upload'} is not a zip file that can be opened. "
        "Create it again, or upload the .py files themselves."
    ),
    "zip_deep": lambda note: (
        f"{note.shown} was not opened: it is inside a zip within a zip. Upload the .py files themselves."
    ),
    "absent": lambda note: f"There is no file {shown(note.path)} in the upload. Upload it under exactly this name.",
    "blank": lambda note: f"{note.shown} is blank, so it counts as missing. Save your work in it, and upload it again.",
    "encoding": lambda note: (
        f"{note.shown} was not used: it declares the encoding {shown(note.wanted)}. The grader reads UTF-8 and Latin-1: "
        "delete that line and save the file as UTF-8."
    ),
    "archive": lambda note: (
        f"{note.shown} was not opened: the only archive format supported is .zip. Upload the .py files themselves."
    ),
    "second": lambda note: f"{note.shown} was not used: the upload has another {note.wanted}, which was graded.",
    "accepted": lambda note: f"There was no file {note.wanted}; {note.shown} was graded as {note.wanted}.",
    "replaced": lambda note: f"{note.wanted} contains no finished function; {note.shown} was graded as {note.wanted}.",
    "beside": lambda note: f"{note.shown} was not used: notebooks are not graded.",
    "notebook": lambda note: (
        f"There is no .py file in the upload, only {note.shown}. Notebooks are not graded and never run: put "
        f"{note.wanted or 'your functions'} into the .py files, and upload those."
    ),
    "unwritten": lambda note: (
        f"{note.wanted} contains no finished function, but {note.shown} does: {_mend(note)} and upload again."
    ),
    "misnamed": lambda note: (
        f"There is no file {note.wanted}, but there is {note.shown}: {_mend(note)} and upload again."
    ),
}


def _mend(note: "Note") -> str:
    if PurePosixPath(note.path).name == note.wanted:
        return "move it to your other files"
    return mend(note.path, note.wanted)


@dataclass(frozen=True)
class Note:
    """A note on an upload for its student. `path` is a name that the student chose, "" for the whole upload.

    `number` is a size in MB or a count; `wanted` the right name of a file, the functions of a notebook, or an encoding.
    """

    kind: str
    path: str = ""
    number: int = 0
    wanted: str = ""

    @property
    def shown(self) -> str:
        return f"`{shown(self.path)}`" * bool(self.path)

    def __str__(self) -> str:
        """The sentence for the student."""
        return _TEXTS[self.kind](self)


@dataclass(frozen=True)
class Submission:
    """Files by path, relative to the folder that has the modules, and what could not be used."""

    name: str
    files: dict[str, bytes]
    refused: tuple[Note, ...] = ()

    def text(self, name: str) -> bytes:
        """A file that the grader reads itself; b"" if it is missing, or so long that parsing it takes seconds and gigabytes."""
        content = self.files.get(name, b"")
        return content if len(content) <= MOST_BYTES else b""

    @property
    def notes(self) -> tuple[Note, ...]:
        """The first rejected files, as notes for the student; notebooks are mentioned only if a file is missing."""
        return tuple(note for note in self.refused if note.kind != "beside")[:NOTES_SHOWN]

    @cached_property
    def _by_name(self) -> dict[str, Note]:
        return {PurePosixPath(note.path).name: note for note in reversed(self.refused) if note.path}

    def missing(self, module: str, modules: Collection[str]) -> Note | None:
        """The likely reason why the file of a module is missing; None if it is not. `modules`: names with a use."""
        wanted = f"{module}.py"
        if wanted in self.files:
            return None
        if wanted in self._by_name:
            return self._by_name[wanted]
        close = self._close(module, modules)
        return Note("misnamed", close[0], wanted=wanted) if close else Note("absent", wanted)

    def _close(self, module: str, modules: Collection[str]) -> list[str]:
        """Nonblank files that were probably meant to be a module; those with functions, if there are any."""
        near = self._near(module, modules)
        return self._written(near, module) or near

    def _near(self, module: str, modules: Collection[str]) -> list[str]:
        """Nonblank files whose name resembles a module's."""
        notebooks = (note.path for note in self.refused if note.kind == "beside")
        close = [name for name in (*self.files, *notebooks) if resembles(name, module) and name not in modules]
        return [name for name in close if name not in self.files or not _is_blank(self.files[name])]

    def _written(self, names: Collection[str], module: str) -> list[str]:
        """The files that implement a function of a module, within the size limit of one file."""
        sizes = accumulate(len(self.text(name)) for name in names)
        read = [name for name, size in zip(names, sizes, strict=True) if size <= MOST_BYTES]
        return [name for name in read if self._is_written(name, module)]

    def _is_written(self, name: str, module: str) -> bool | None:
        """Whether a file implements a function of a module; None if unknown."""
        content, entry = self.files.get(name, b""), rubrics.current().modules.get(module)
        return has_written(content, entry.functions) if entry is not None and len(content) <= MOST_BYTES else None

    def decodable(self) -> "Submission":
        """The submission without files that declare an encoding other than UTF-8 or Latin-1, with a note on each.

        A file must not choose the codec that decodes it in the grader or Python.
        """
        code = {name: content for name, content in self.files.items() if name.lower().endswith((".py", ".txt"))}
        declared = {name: declared_encoding(content) for name, content in code.items()}
        other = {name: encoding for name, encoding in declared.items() if not is_readable_encoding(encoding)}
        notes = (Note("encoding", name, wanted=encoding) for name, encoding in other.items())
        files = {name: content for name, content in self.files.items() if name not in other}
        return replace(self, files=files, refused=(*notes, *self.refused))

    def with_notes(self) -> "Submission":
        """The submission without blank modules, with notes.

        A note also names a file that was probably meant to be a module, and a finished file of the same name in another folder.
        """
        names = {f"{module}.py": module for module in rubrics.current().modules if f"{module}.py" in self.files}
        blank = [name for name in names if _is_blank(self.files[name])]
        notes = []
        for name, module in names.items():
            close = self._written([*filter(is_likely_code, self._near(module, names))], module)
            if close and self._is_written(name, module) is False:
                notes.append(Note("unwritten", close[0], wanted=name))
            elif name in blank:
                notes.append(Note("blank", name))
            else:
                same = (path for path in close if PurePosixPath(path).name == name)
                others = [path for path in same if self.files[path] != self.files[name]]
                notes += [Note("second", path, wanted=name) for path in others[:1]]
        files = {name: content for name, content in self.files.items() if name not in blank}
        return replace(self, files=files, refused=(*notes, *self.refused))

    def accepting_names(self, modules: Collection[str]) -> "Submission":
        """The submission with each missing or unimplemented module taken from the one file that was probably meant to be it,
        with a note.

        If two different files are possible, neither is used.
        """
        files, notes = dict(self.files), []
        names = {f"{module}.py" for module in modules}
        unwritten = {note.wanted for note in self.refused if note.kind == "unwritten"}
        for module in modules:
            wanted = f"{module}.py"
            close = [name for name in self._close(module, names) if is_likely_code(name)]
            if (wanted in unwritten or wanted not in files) and len({files[name] for name in close}) == 1:
                files[wanted] = files[close[0]]
                notes.append(Note("replaced" if wanted in unwritten else "accepted", close[0], wanted=wanted))
        taken = {note.wanted for note in notes}
        left = (note for note in self.refused if note.kind != "unwritten" or note.wanted not in taken)
        return replace(self, files=files, refused=(*notes, *left))

    def trouble(self, module: str, modules: Collection[str]) -> str:
        """The sentence of `missing`, "" if the file exists."""
        return str(self.missing(module, modules) or "")


def _is_blank(content: bytes) -> bool:
    return not content.removeprefix(codecs.BOM_UTF8).strip()


def has_written(content: bytes, functions: Collection[str]) -> bool | None:
    """Whether a source implements one of the functions, beyond the stub; None if it is not Python."""
    tree = parsed(content)
    if tree is None:
        return None
    defined = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in functions]
    return any(not _is_nothing(statement) for node in defined for statement in node.body)


def _is_nothing(statement: ast.stmt) -> bool:
    """A docstring, `pass`, `...`, `return None`, `raise NotImplementedError(...)`."""
    if isinstance(statement, ast.Raise):
        error = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
        return isinstance(error, ast.Name) and error.id == "NotImplementedError"
    value = getattr(statement, "value", None)
    return isinstance(statement, ast.Pass | ast.Expr | ast.Return) and isinstance(value, ast.Constant | None)


def is_likely_code(name: str) -> bool:
    """Whether a file with a similar name may be a module; `test_layernorm.py` is a public check."""
    last = PurePosixPath(name).name.lower()
    return last.endswith((".py", ".txt")) and not last.startswith("test_")


# Reading: an upload of any form becomes a Submission in memory; nothing is written to disk.
#
# Reading never fails because of a student: unusable files become notes, and the rest is graded. CommandError is raised only if
# the grader cannot read (no such path, permission, a failing disk, a damaged export). All parts of an upload share one Room, so
# its limits apply to the total.

ARCHIVES = {".7z", ".bz2", ".gz", ".rar", ".tar", ".tbz", ".tbz2", ".tgz", ".txz", ".xz", ".zipx", ".zst"}  # not opened
KEPT = {".py", ".txt", ".json", ".csv", ".npy", ".npz", ".yaml", ".yml"}
LISTED_FACTOR = 20  # names per allowed file
ZIP_FACTOR = 2  # bytes of a zip per allowed byte
ZIP_DEPTH = 2  # zips in one another
NAME_BYTES = 200  # of a path, and of each part of it
MB = 2**20
# Files from one place (the folder, or one zip in it), and notes on the others.
Part = tuple[dict[str, bytes], list[Note]]


@dataclass
class _Room:
    """The remaining limits of one upload: files, bytes, names, zips and their bytes."""

    limits: Limits

    def __post_init__(self) -> None:
        self.files = self.limits.upload_files
        self.bytes = self.limits.upload_mb * MB
        self.names = LISTED_FACTOR * self.limits.upload_files
        self.zips = self.limits.upload_files
        self.zip_bytes = ZIP_FACTOR * self.limits.upload_mb * MB

    @property
    def largest(self) -> int:
        """The size limit of the next file: at most half of the total."""
        return min(self.bytes, self.limits.upload_mb * MB // 2)


def read(path: Path, limits: Limits) -> Submission:
    """The submission at `path`: a folder, a zip or a single file. A link is followed only if it is `path` itself.

    Raises CommandError if there is nothing at `path` or it cannot be read.
    """
    try:
        names = LISTED_FACTOR * limits.upload_files
        upload = trees.of_folder(path, most=names) if path.is_dir() else trees.of_file(path)
    except FileNotFoundError as error:
        raise CommandError(f"{path}: there is no such file or folder") from error
    except OSError as error:
        raise CommandError(f"{path}: cannot be read ({error.strerror or error})") from error
    return read_tree(upload, limits, upload.name)


def read_tree(upload: Tree, limits: Limits, name: str) -> Submission:
    """The submission in a tree. Zips in it are opened too; loose files take precedence.

    Raises CommandError.
    """
    room = _Room(limits)
    try:
        # Loose files come first: a zip next to them must not use up their limits.
        loose = _part(upload.walk(), room)
        packed = list(_packed(upload, room))
    except UnusableError as error:
        raise CommandError(f"{upload.place}: {error}; download it again") from error
    except OSError as error:
        raise CommandError(f"{upload.place}: cannot be read ({error.strerror or error})") from error
    parts = [*packed, loose]
    files = {path: content for files, _ in parts for path, content in _flattened(files).items()}
    refused = tuple(note for _, notes in parts for note in notes)
    return Submission(name, _without_conflicts(_gathered(files)), refused).decodable().with_notes()


def _packed(tree: Tree, room: _Room, depth: int = 1) -> Iterator[Part]:
    """The parts of all zips in a tree, each preceded by those of the zips in it."""
    for path, source in islice(tree.walk(), LISTED_FACTOR * room.limits.upload_files):
        if path.lower().endswith(".zip") and source.problem not in ("folder", "deep", "closed", "many"):
            inside = _opened(path, source, room, depth)
            if isinstance(inside, Note):
                yield {}, [inside]
            else:
                yield from _packed(inside, room, depth + 1)
                yield _part(inside.walk(), room, damaged_is_a_note=True)


def _opened(path: str, source: Source, room: _Room, depth: int) -> Tree | Note:
    """A student's zip, read from memory, so that nothing in it can look like a failing disk; or a note why it is unusable."""
    room.zips -= 1
    if source.problem or depth > ZIP_DEPTH:
        return Note(source.problem or "zip_deep", path)
    if source.size > room.zip_bytes:
        return Note("zip_large", path, number=ZIP_FACTOR * room.limits.upload_mb)
    name = path if depth > 1 or "/" in path else ""  # a zip directly in the upload is the upload
    try:
        data = source.read(source.size)
    except (UnusableError, OSError) as error:
        kind = getattr(error, "kind", "damaged")
        if depth == 1 and kind == "damaged":  # the class's zip is damaged, or the disk
            raise
        return Note(kind, path)
    room.zip_bytes -= len(data)
    try:
        if room.zips < 0:
            raise UnusableError("zip_many")
        return trees.of_bytes(data, Path(path), LISTED_FACTOR * room.limits.upload_files)
    except (UnusableError, OSError) as error:
        return Note(getattr(error, "kind", "no_zip"), name, room.limits.upload_files)


def _part(sources: Iterable[tuple[str, Source]], room: _Room, damaged_is_a_note: bool = False) -> Part:
    """The usable files, within the limits, and notes on the others.

    Raises OSError, and UnusableError unless a damaged file becomes a note.
    """
    files, notes = dict[str, bytes](), list[Note]()
    for path, source in sources:
        room.names -= 1
        many = Note("many", number=room.limits.upload_files)
        if (room.names < 0 or room.files <= 0 or source.problem == "many") and many not in notes:
            notes.append(many)
        if room.names < 0 or room.files <= 0:
            break
        if source.problem == "closed":
            source.read(0)  # raises why
        suffix = PurePosixPath(path).suffix.lower()
        if source.problem not in ("deep", "folder") and suffix not in KEPT:
            notes += [Note("beside", path)] * (suffix == ".ipynb") + [Note("archive", path)] * (suffix in ARCHIVES)
            continue
        problem, content = _problem(path, source, room), b""
        if not problem:
            # Counted before it is read, and even if it is damaged: decompression costs the same.
            room.bytes -= source.size
            try:
                content = source.read(source.size)
            except UnusableError as error:
                problem = error.kind
                if problem == "damaged" and not damaged_is_a_note:
                    raise
        if problem:
            notes.append(Note(problem, path, number=source.size // MB))
        else:
            room.files -= 1
            files[path] = content
    return files, notes


def _problem(path: str, source: Source, room: _Room) -> str:
    """The kind of note if a file cannot be read, "" if it can."""
    if source.problem:
        return source.problem
    if ":" in path:  # a drive, or a second stream of a file
        return "outside"
    if not path.isprintable() or max(len(path), *(len(part.encode()) for part in path.split("/"))) > NAME_BYTES:
        return "name"
    return "large" if source.size > room.largest else ""


def _flattened(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files relative to the folder of the homework, and those of other folders with a module, by their paths."""
    folders: dict[PurePosixPath, list[str]] = {}
    for path in sorted(PurePosixPath(name) for name in files if name.endswith(".py")):
        folders.setdefault(path.parent, []).append(path.name)
    if not folders:
        return files
    root = min(sorted(folders), key=lambda folder: _rank(folder, folders[folder]))
    holding = {folder for folder, names in folders.items() if not set(rubrics.current().files).isdisjoint(names)}
    inside, outside = dict[str, bytes](), dict[str, bytes]()
    for name, content in files.items():
        path = PurePosixPath(name)
        if path.is_relative_to(root):
            inside[path.relative_to(root).as_posix()] = content
        elif path.parent in holding:
            outside[name] = content
    return outside | inside


def _rank(folder: PurePosixPath, names: list[str]) -> tuple[int, ...]:
    """Lowest for the folder with most modules, then with most similar names, then the shallowest."""
    modules = rubrics.current().modules
    exact = sum(f"{module}.py" in names for module in modules)
    near = sum(any(resembles(name, module) for module in modules) for name in names)
    depth = len(folder.parts)
    return (-exact, -near, depth, -len(names)) if exact else (0, -near, -len(names), depth)


def _gathered(files: dict[str, bytes]) -> dict[str, bytes]:
    """Add each module that exists only in another folder, with the files that it may import from there."""
    paths = sorted(map(PurePosixPath, files), key=lambda path: (len(path.parts), path))
    modules, found = rubrics.current().files, dict(files)
    for name in modules:
        same = [path for path in paths if path.name == name]
        if name not in files and len({files[str(path)] for path in same}) == 1:
            found[name] = files[str(same[0])]
            for path in paths:
                if path.parent == same[0].parent and path.name not in modules:
                    found.setdefault(path.name, files[str(path)])
    return found


def _without_conflicts(files: dict[str, bytes]) -> dict[str, bytes]:
    """Drop files below a path that is itself a file, as can happen in a zip."""
    taken = {name.casefold() for name in files}
    below = {n for n in files if any(str(parent) in taken for parent in PurePosixPath(n.casefold()).parents)}
    return {name: content for name, content in files.items() if name not in below}
