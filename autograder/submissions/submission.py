"""One submission: its students and location in an export, and its files as data, with a note for each unusable file."""

import ast
import codecs
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from pathlib import Path, PurePosixPath

from autograder.exceptions import CommandError, UnusableError
from autograder.homework.rubric import Rubric
from autograder.shared.source import codec, declared_encoding, is_stub, parsed, rename_advice, resembles
from autograder.submissions import tree as trees
from autograder.submissions.text import as_code
from autograder.submissions.tree import Source, Tree

MOST_BYTES = 100_000  # of a file that the grader parses; a syntax tree takes up to 500 times as much
NOTES_SHOWN = 20  # notes shown per upload
ARCHIVES = {".7z", ".bz2", ".gz", ".rar", ".tar", ".tbz", ".tbz2", ".tgz", ".txz", ".xz", ".zipx", ".zst"}  # not opened
CODE = {".py", ".txt", ".pyw", ".py~", ""}  # suffixes of a file that may be a module
KEPT = {".py", ".txt", ".json", ".csv", ".npy", ".npz", ".yaml", ".yml"}
COMPILED = {".pyc", ".pyo"}  # skipped without a note
LISTED_FACTOR = 20  # names per allowed file
ZIP_FACTOR = 2  # bytes of a zip per allowed byte
ZIP_DEPTH = 2  # zips in one another
NAME_BYTES = 200  # of a path, and of each part of it
MB = 2**20
Identity = tuple[str, str]  # a kind, and a value

TEXTS = {
    "outside": "{file} was not used: its path points outside the upload.",
    "name": "{file} was not used: its name is too long or contains unprintable characters.",
    "encrypted": "{file} was not used: it is encrypted.",
    "compression": "{file} was not used: it is compressed in an unusual way.",
    "folder": "{file} was not used: it is a folder, not a file.",
    "link": "{file} was not used: it is a link or a device, not a file.",
    "large": "{file} was not used: it is too large ({number} MB).",
    "damaged": "{file} was not used: it is damaged.",
    "deep": "{file} was not used: it is nested too deeply.",
    "many": "The upload has too many files; at most {number} are graded. Upload only your .py files.",
    "zip_large": "The zip is larger than {number} MB. Upload only your .py files.",
    "zip_many": "The zip contains too many files; at most {number} are graded. Upload only your .py files.",
    "no_zip": "{file} is not a zip file that can be opened. Create it again, or upload the .py files themselves.",
    "zip_deep": "{file} was not opened: it is inside a zip within a zip. Upload the .py files themselves.",
    "absent": "There is no file {name} in the upload. Upload it under exactly this name.",
    "blank": "{file} is blank, so it counts as missing. Save your work in it, and upload it again.",
    "encoding": (
        "{file} was not used: it declares the encoding {target}. The grader reads UTF-8 and Latin-1: "
        "delete that line and save the file as UTF-8."
    ),
    "archive": "{file} was not opened: the only archive format supported is .zip. Upload the .py files themselves.",
    "suffix": "{file} was not used: only files whose names end in .py are graded.",
    "other": "{file} was not used: its name is not that of a module of this homework.",
    "second": "{file} was not used: the upload has another {target}, which was graded.",
    "accepted": "There was no file {target}; {file} was graded as {target}.",
    "replaced": "{target} contains no finished function; {file} was graded as {target}.",
    "beside": "{file} was not used: notebooks are not graded.",
    "notebook": (
        "There is no .py file in the upload, only {file}. Notebooks are not graded and never run: put "
        "{target} into the .py files, and upload those."
    ),
    "unwritten": "{target} contains no finished function, but {file} does: {rename} and upload again.",
    "misnamed": "There is no file {target}, but there is {file}: {rename} and upload again.",
}

UNUSED = TEXTS.keys() - {"absent", "accepted", "beside", "many", "misnamed", "notebook", "replaced", "unwritten"}


@dataclass(frozen=True)
class Student:
    """A person as the export names them; unknown parts are "". `login` is the name of an account, for example on GitHub."""

    name: str = ""
    sid: str = ""
    email: str = ""
    canvas: str = ""
    moodle: str = ""
    brightspace: str = ""
    login: str = ""

    @property
    def identities(self) -> list[Identity]:
        """The ids of a student, the most reliable first. Names are not ids, since two people may share one."""
        ids = [("email", self.email.lower()), ("sid", self.sid), ("login", self.login.lower())]
        ids += [("canvas", self.canvas), ("moodle", self.moodle), ("brightspace", self.brightspace)]
        return [identity for identity in ids if identity[1]]

    def __str__(self) -> str:
        """Return the name, with the most reliable id."""
        ids = [f"({value})" for _, value in self.identities[:1] if value != self.name]
        return " ".join(filter(None, (self.name, *ids))) or "nobody"


@dataclass(frozen=True)
class Upload:
    """A submission to grade. `remark` is a note.

    `upload` is None if there is nothing to read, and `problem` is the reason. `version` orders the uploads of a student
    without a time. `section` is the path of the upload if a command was given several paths.
    """

    key: str
    upload: Tree | None = None
    students: tuple[Student, ...] = ()
    late: bool = False
    created_at: str = ""
    problem: str = ""
    remark: str = ""
    version: int = 0
    section: str = ""


@dataclass(frozen=True)
class Note:
    """A note on an upload for its student. `path` is a name that the student chose, "" for the whole upload.

    `number` is a size in MB or a count; `target` the correct name of a file, the functions in a notebook, or an
    encoding.
    """

    kind: str
    path: str = ""
    number: int = 0
    target: str = ""

    def __str__(self) -> str:
        """Return the sentence for the student."""
        name = as_code(self.path)
        is_moved = PurePosixPath(self.path).name == self.target
        return TEXTS[self.kind].format(
            name=name,
            file=f"`{name}`" if name else "The upload",
            number=self.number,
            target=self.target or "your functions",
            rename="move it to your other files" if is_moved else rename_advice(self.path, self.target),
        )


@dataclass(frozen=True)
class Submission:
    """Files by path, relative to the folder that has the modules, and notes on the rest."""

    name: str
    files: dict[str, bytes]
    refused: tuple[Note, ...] = ()

    def text(self, name: str) -> bytes:
        """Return a file that the grader reads itself; b"" if it is missing, or so long that parsing it takes too much."""
        content = self.files.get(name, b"")
        return content if len(content) <= MOST_BYTES else b""

    def imports(self, module: str) -> set[str]:
        """Return the modules that a module imports, directly or through other files of the submission."""
        names, waiting = set[str](), [module]
        while waiting:
            new = imported(self.text(f"{waiting.pop()}.py")) - names
            names |= new
            waiting += new
        return names

    @property
    def notes(self) -> tuple[Note, ...]:
        """The first rejected files, as notes for the student; notebooks are mentioned only if a file is missing."""
        return tuple(note for note in self.refused if note.kind != "beside")[:NOTES_SHOWN]

    def missing(self, module: str, rubric: Rubric) -> Note | None:
        """Return the likely reason why the file of a module is missing; None if it is not."""
        file = f"{module}.py"
        if file in self.files:
            return None
        for note in self.refused:
            if PurePosixPath(note.path).name == file:
                return note
        notebooks = [note.path for note in self.refused if note.kind == "beside" and resembles(note.path, module)]
        near, finished = self._copies(module, rubric)
        similar = [*(finished or near), *notebooks]
        return Note("misnamed", similar[0], target=file) if similar else Note("absent", file)

    def with_notes(self, rubric: Rubric) -> "Submission":
        """Remove blank modules, with notes.

        Other notes name a file that was probably meant to be a module, and another finished version of a module.
        """
        files, notes = dict(self.files), []
        for module, entry in rubric.modules.items():
            name = f"{module}.py"
            if name not in self.files:
                continue
            _, finished = self._copies(module, rubric)
            used = {f"{imported}.py" for imported in self.imports(module)} - {name} if finished else set()
            different = [path for path in finished if self.files[path] != self.files[name] and path not in used]
            if finished and has_written(self.files[name], entry.functions) is False:
                notes.append(Note("unwritten", finished[0], target=name))
            elif _is_blank(self.files[name]):
                notes.append(Note("blank", name))
            elif different:
                notes.append(Note("second", different[0], target=name))
            if _is_blank(self.files[name]):
                del files[name]
        return replace(self, files=files, refused=(*notes, *self.refused))

    def accepting_names(self, rubric: Rubric) -> "Submission":
        """Take each missing or unimplemented module from the one file that was probably meant to be it, with a note.

        If two different files are possible, neither is used.
        """
        files, notes = dict(self.files), []
        unwritten = {note.target for note in self.refused if note.kind == "unwritten"}
        for module in rubric.modules:
            name, (near, finished) = f"{module}.py", self._copies(module, rubric)
            copies = finished or near
            if (name in unwritten or name not in files) and len({files[copy] for copy in copies}) == 1:
                files[name] = files[copies[0]]
                notes.append(Note("replaced" if name in unwritten else "accepted", copies[0], target=name))
        taken = {note.target for note in notes}
        rest = (note for note in self.refused if note.kind != "unwritten" or note.target not in taken)
        return replace(self, files=files, refused=(*notes, *rest))

    def _copies(self, module: str, rubric: Rubric) -> tuple[list[str], list[str]]:
        """Return the files with a name like that of a module, and those of them that implement one of its functions.

        The total size of the files that are parsed is limited to that of one file.
        """
        names = (name for name in self.files if name not in rubric.files and is_likely_code(name))
        near = [name for name in names if resembles(name, module) and not _is_blank(self.files[name])]
        sizes = accumulate(len(self.text(name)) for name in near)
        short = [name for name, size in zip(near, sizes, strict=True) if size <= MOST_BYTES]
        return near, [name for name in short if has_written(self.files[name], rubric.modules[module].functions)]


@lru_cache(64)
def imported(content: bytes) -> frozenset[str]:
    """Return the modules that a source imports, none if it is not Python."""
    tree = parsed(content)
    nodes = list(ast.walk(tree)) if tree is not None else []
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return frozenset([*names, *(node.module or "" for node in nodes if isinstance(node, ast.ImportFrom))])


def has_written(content: bytes, functions: Collection[str]) -> bool | None:
    """Return whether a source implements one of the functions, beyond the stub; None if it is not Python, or too long to parse."""
    tree = parsed(content) if len(content) <= MOST_BYTES else None
    if tree is None:
        return None
    defined = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in functions)
    return any(not is_stub(node) for node in defined)


def _is_blank(content: bytes) -> bool:
    return not content.removeprefix(codecs.BOM_UTF8).strip()


def is_likely_code(name: str) -> bool:
    """Return whether a file with a similar name may be a module; `test_layernorm.py` is a public check."""
    last = PurePosixPath(name.lower())
    return last.suffix in CODE and not last.name.startswith("test_")


# Reading: an upload of any form becomes a Submission in memory; nothing is written to disk.
#
# Reading never fails because of a student: unusable files become notes, and the rest is graded. CommandError is raised only if
# the grader cannot read (no such path, permission, a failing disk, a damaged export).


def read(path: Path, rubric: Rubric) -> Submission:
    """Return the submission at `path`: a folder, a zip or a single file. A link is followed only if it is `path` itself.

    Raises CommandError if there is nothing at `path` or it cannot be read.
    """
    try:
        upload = trees.of_folder(path) if path.is_dir() else trees.of_file(path)
    except FileNotFoundError as error:
        raise CommandError(f"{path}: there is no such file or folder") from error
    except OSError as error:
        raise CommandError(f"{path}: cannot be read ({error.strerror or error})") from error
    return read_tree(upload, rubric, upload.name)


def read_tree(upload: Tree, rubric: Rubric, name: str) -> Submission:
    """Return the submission in a tree. Zips in it are opened too; loose files take precedence.

    Raises CommandError.
    """
    limits, notes = rubric.limits, list[Note]()
    allowance = {
        "files": limits.upload_files,
        "zips": limits.upload_files,
        "names": LISTED_FACTOR * limits.upload_files,
    }
    allowance |= {"bytes": limits.upload_mb * MB, "zip_bytes": ZIP_FACTOR * limits.upload_mb * MB}
    try:
        parts = _parts(upload, rubric, allowance, notes)
    except UnusableError as error:
        raise CommandError(f"{upload.path}: {error}; download it again") from error
    except OSError as error:
        raise CommandError(f"{upload.path}: cannot be read ({error.strerror or error})") from error
    merged = {path: content for files in parts for path, content in _flattened(files, rubric).items()}
    gathered = _gathered(merged, rubric)
    taken = {path.casefold() for path in gathered}
    files, undecodable = dict[str, bytes](), list[Note]()
    for path, content in gathered.items():
        if any(str(parent) in taken for parent in PurePosixPath(path.casefold()).parents):
            continue  # below a path that is itself a file, as can happen in a zip
        # A file must not choose the codec that decodes it in the grader or Python.
        if path.lower().endswith((".py", ".txt")) and not codec(encoding := declared_encoding(content)):
            undecodable.append(Note("encoding", path, target=as_code(encoding)))
        else:
            files[path] = content
    return Submission(name, files, (*undecodable, *notes)).with_notes(rubric)


def load(entry: Upload, rubric: Rubric, accept_names: bool = False) -> Submission:
    """Read the submission of an upload; with misnamed files, if `accept_names`.

    Raises CommandError if the grader cannot read it.
    """
    if entry.upload is None:
        raise CommandError(entry.problem or f"{entry.key}: there is nothing to read")
    submission = read_tree(entry.upload, rubric, entry.key)
    if accept_names:
        submission = submission.accepting_names(rubric)
    code = [name for name in submission.files if name.lower().endswith(".py")]
    notes = [replace(note, kind="notebook") for note in submission.refused if note.kind == "beside"][:1]
    if code:
        reasons = [submission.missing(module, rubric) for module in rubric.modules]
        is_other = all(reason is not None and reason.kind == "absent" for reason in reasons)
        notes = [Note("other", name) for name in code] if is_other else []
    return replace(submission, refused=(*notes, *submission.refused))


def _parts(
    tree: Tree, rubric: Rubric, allowance: dict[str, int], notes: list[Note], depth: int = 0
) -> list[dict[str, bytes]]:
    """Return the usable files of each zip in a tree, then its loose files; add notes on the others.

    `allowance` is what the limits of the upload still allow. Raises OSError, and UnusableError for a damaged file that is not
    in a student's zip.
    """
    files, zips, limits = dict[str, bytes](), list[tuple[str, Source]](), rubric.limits
    for path, source in tree.walk(LISTED_FACTOR * limits.upload_files):
        allowance["names"] -= 1
        is_full, many = allowance["names"] < 0 or allowance["files"] <= 0, Note("many", number=limits.upload_files)
        if (is_full or source.problem == "many") and many not in notes:
            notes.append(many)
        if is_full:
            break
        if source.error:
            raise source.error
        suffix, is_folder = PurePosixPath(path).suffix.lower(), source.problem in ("deep", "folder")
        is_similar = any(resembles(path, module) for module in rubric.modules)
        if not (is_folder or suffix in KEPT or (is_likely_code(path) and is_similar)):
            if suffix == ".zip":
                zips.append((path, source))
            elif suffix == ".ipynb":
                is_first = all(note.kind != "beside" for note in notes)
                notes.append(Note("beside", path, target=_functions(source, rubric) if is_first else ""))
            elif suffix in ARCHIVES:
                notes.append(Note("archive", path))
            elif is_similar and suffix not in COMPILED:
                notes.append(Note("suffix", path))
            continue
        try:
            longest = max(len(path), *(len(name.encode("utf-8", "replace")) for name in path.split("/")))
            if source.problem:
                raise UnusableError(source.problem)
            if ":" in path:  # a drive, or a second stream of a file
                raise UnusableError("outside")
            if not path.isprintable() or longest > NAME_BYTES:
                raise UnusableError("name")
            if source.size > min(allowance["bytes"], limits.upload_mb * MB // 2):
                raise UnusableError("large")
            # Counted before it is read, and even if it is damaged: decompression costs the same.
            allowance["bytes"] -= source.size
            files[path] = source.read(source.size)
            allowance["files"] -= 1
        except UnusableError as error:
            if error.kind == "damaged" and depth == 0:
                raise
            notes.append(Note(error.kind, path, number=source.size // MB))
    # Zips come last, so that they do not use up the limits of loose files. They are opened in memory, so that no error in
    # them looks like a failing disk.
    parts = list[dict[str, bytes]]()
    for path, source in zips:
        allowance["zips"] -= 1
        try:
            if source.problem or depth == ZIP_DEPTH:
                raise UnusableError(source.problem or "zip_deep")
            if source.size > allowance["zip_bytes"]:
                raise UnusableError("zip_large")
            data = source.read(source.size)
            allowance["zip_bytes"] -= len(data)
            if allowance["zips"] < 0:
                raise UnusableError("zip_many")
            inside = trees.of_zip(Path(path), data, LISTED_FACTOR * limits.upload_files)
        except UnusableError as error:
            if error.kind == "damaged" and depth == 0:  # the class's zip is damaged, or the disk
                raise
            is_upload = error.kind == "no_zip" and depth == 0 and "/" not in path
            number = {"zip_large": ZIP_FACTOR * limits.upload_mb, "zip_many": limits.upload_files}.get(error.kind, 0)
            notes.append(Note(error.kind, "" if is_upload else path, number))
        else:
            parts += _parts(inside, rubric, allowance, notes, depth + 1)
    return [*parts, files]


def _functions(notebook: Source, rubric: Rubric) -> str:
    """Return the functions of the homework that a notebook defines; no cell is run."""
    try:
        text = notebook.read(rubric.limits.upload_mb * MB).decode("utf-8", "replace")
    except (UnusableError, OSError):  # it would not have been graded
        return ""
    contract = {name for module in rubric.modules.values() for name in module.functions}
    defined = dict.fromkeys(re.findall(r"(?:^|\\n|\")def (\w+)\(", text))
    return ", ".join(name for name in defined if name in contract)


def _flattened(files: dict[str, bytes], rubric: Rubric) -> dict[str, bytes]:
    """Make paths relative to the folder of the homework; files in other folders with a module keep their paths."""
    folders: dict[PurePosixPath, list[str]] = {}
    for path in sorted(PurePosixPath(name) for name in files if name.endswith(".py")):
        folders.setdefault(path.parent, []).append(path.name)
    if not folders:
        return files

    def rank(folder: PurePosixPath) -> tuple[int, ...]:
        """Lowest for the folder with most modules, then with most similar names, then the shallowest."""
        names, depth = folders[folder], len(folder.parts)
        exact = len({*rubric.files} & {*names})
        near = sum(any(resembles(name, module) for module in rubric.modules) for name in names)
        return (-exact, -near, depth, -len(names)) if exact else (0, -near, -len(names), depth)

    root = min(sorted(folders), key=rank)
    holding = {folder for folder, names in folders.items() if not set(rubric.files).isdisjoint(names)}
    inside, outside = dict[str, bytes](), dict[str, bytes]()
    for name, content in files.items():
        path = PurePosixPath(name)
        if path.is_relative_to(root):
            inside[path.relative_to(root).as_posix()] = content
        elif path.parent in holding:
            outside[name] = content
    return outside | inside


def _gathered(files: dict[str, bytes], rubric: Rubric) -> dict[str, bytes]:
    """Add each module that exists only in another folder, with the files that it may import from there."""
    paths = sorted(map(PurePosixPath, files), key=lambda path: (len(path.parts), path))
    modules, gathered = rubric.files, dict(files)
    for name in modules:
        same = [path for path in paths if path.name == name]
        if name not in files and len({files[str(path)] for path in same}) == 1:
            gathered[name] = files[str(same[0])]
            for path in paths:
                if path.parent == same[0].parent and path.name not in modules:
                    gathered.setdefault(path.name, files[str(path)])
    return gathered
