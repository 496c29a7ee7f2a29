"""Finds the submissions in the paths given to a command: one submission, a class, or a platform's download, as folder or zip.

The form is recognized by names alone, in this order, because a later form may look like an earlier one:

1. Gradescope: a `submission_metadata.yml` next to folders with Gradescope's names. With several paths, all must be platform
   downloads unless this one has Gradescope's name, since a student's upload may contain such a file.
2. Moodle: most files and folders have Moodle's names for submissions.
3. Brightspace: most folders have Brightspace's names.
4. One submission: a module of the rubric at the top level.
5. Canvas: most files have Canvas's names.
6. A class: several folders, zips or other archives that contain work.
7. One submission: everything else.

Each file and folder of a class is a submission or is listed in a note.
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from autograder.exceptions import ArgumentsError
from autograder.homework import rubric
from autograder.submissions import platforms
from autograder.submissions import tree as trees
from autograder.submissions.platforms import GRADESCOPE, METADATA, PLATFORMS, Platform
from autograder.submissions.submission import ARCHIVES, Student, Upload, is_likely_code
from autograder.submissions.text import counted, few
from autograder.submissions.tree import Tree, UnusableError
from autograder.values.source import resembles

KIT_FOLDERS = {"assignments", "solutions", "checks"}
# Names that Windows reserves for devices: a result of that name could not be written there.
RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
LOOKED_AT = 2000  # names inspected to classify a folder
NAMED = 20  # files named in one note
_LINK = "a link or a device, which is never followed"


@dataclass(frozen=True)
class Listing:
    """The submissions, the form of each path, and notes for the instructor."""

    entries: tuple[Upload, ...]
    forms: tuple[str, ...]
    problems: tuple[str, ...]


Part = tuple[str, list[Upload], list[str]]  # the form of one path, its submissions, and notes


def listing(paths: Sequence[Path], out: Path | None = None) -> Listing:
    """Everything to grade at `paths`; the output folder `out` must be elsewhere.

    Raises ArgumentsError for a path that does not exist, is unreadable, has no submission, or contains `out`.
    """
    paths = list({path.absolute(): path for path in paths}.values())
    modules = [path for path in paths if path.suffix.lower() == ".py" and path.is_file()]
    others = [path for path in paths if path not in modules]
    opened = [_opened(path, out) for path in others]
    are_downloads = not modules and all(_unwrapped(tree, is_trusted=True)[1] for tree in opened)
    parts: list[Part] = []
    for tree, path in zip(opened, others, strict=True):
        form, entries, problems = _part(tree, path, are_downloads or platforms.is_export_name(path.stem))
        section = path.stem if len(others) > 1 else ""
        parts.append((form, [replace(entry, section=section) for entry in entries], problems))
    if modules:
        parts.append(_files(modules))
    entries = keyed(entry for _, entries, _ in parts for entry in entries)
    if not entries:
        raise ArgumentsError(f"{', '.join(map(str, paths))}: there is no submission in it")
    problems = [problem for _, _, problems in parts for problem in problems]
    return Listing(tuple(entries), tuple(form for form, _, _ in parts), tuple(problems))


def _opened(path: Path, out: Path | None) -> Tree:
    try:
        if path.is_dir():
            if out is not None and path.resolve() in (out / "x").resolve().parents:
                raise ArgumentsError(f"-o {out} is inside {path}, which is graded; use a folder outside it")
            tree = trees.whole(trees.of_folder(path))
            if tree.itself.error:
                raise tree.itself.error
            return tree
        if path.suffix.lower() == ".zip" and path.is_file():
            return trees.whole(trees.of_zip(path))
        path.lstat()
    except UnusableError:
        raise ArgumentsError(f"{path}: is not a zip that can be opened; download it again") from None
    except OSError as error:
        raise ArgumentsError(f"{path}: {error.strerror or error}") from error
    raise ArgumentsError(f"{path}: neither a folder nor a .zip nor a .py file")


def _part(outer: Tree, path: Path, is_trusted: bool) -> Part:
    chain, platform = _unwrapped(outer, is_trusted)
    tree = chain[-1]
    if platform is not None:
        entries, problems = platform.uploads(tree)
        used = set(filter(platform.part.fullmatch, (*tree.folders, *tree.files)))
        problems += _left_out(tree, path, used, platform.not_part)
    elif _is_class(tree):
        entries, problems = _class(tree, path)
    elif next(outer.walk(), None) is None:
        raise ArgumentsError(f"{path}: it is empty")
    else:
        # A student's damaged zip becomes a note.
        entry = _entry(outer.name, trees.of_file(path) if outer.zipped else outer)
        return f"{path}: one submission", [entry], [*_ignored_metadata(outer, path), *_several_students(outer, path)]
    around = [note for wrapper in chain[:-1] for note in _left_out(wrapper, path, {*filter(_is_unit, wrapper.folders)})]
    what = platform.what if platform else "a folder"
    return f"{path}: {what} of {counted(len(entries), 'submission')}", entries, around + problems


def _files(paths: list[Path]) -> Part:
    """Single .py files: together one submission, unless Canvas named them."""
    folder = paths[0].absolute().parent
    sources = {path.name: trees.of_file(path).files[path.name] for path in paths}
    if all(map(platforms.CANVAS_NAME.fullmatch, sources)):
        entries, _ = platforms.canvas_uploads(trees.of_sources("", folder, sources))
        return f"{counted(len(entries), 'submission')} downloaded from Canvas", entries, []
    names = [path.name.lower() for path in paths]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentsError(f"there are several files called {name}; give their folders instead")
    together = {path.absolute().parent for path in paths} == {folder}
    key = paths[0].stem if len(paths) == 1 else folder.name if together else "submission"
    return f"{counted(len(paths), 'file')}: one submission", [_entry(key, trees.of_sources(key, folder, sources))], []


def _entry(key: str, upload: Tree) -> Upload:
    return Upload(key, upload, (Student(name=key),))


# Keys: names for result files


def keyed(entries: Iterable[Upload]) -> list[Upload]:
    """The uploads with unique keys that are safe file names, even on case-insensitive file systems."""
    entries = list(entries)
    keys = [safe_key(entry.key) for entry in entries]
    counts, taken = Counter(map(str.lower, keys)), set[str]()
    for number, (entry, key) in enumerate(zip(entries, keys, strict=True)):
        unique = key
        if counts[key.lower()] > 1:
            place = entry.upload.place.absolute() if entry.upload else Path()
            unique += f"-{_digest(f'{place.parent.name}/{place.name}/{entry.key}')}"
        while unique.lower() in taken:
            unique += "x"
        taken.add(unique.lower())
        entries[number] = replace(entry, key=unique)
    return entries


def safe_key(name: str) -> str:
    """A name that every file system accepts; a digest is added if the name had to change."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^A-Za-z0-9._-]+", "_", plain).strip("._-")[:90].rstrip("._-")
    if slug.lower().split(".")[0] in RESERVED:
        slug = slug.replace(".", "_")  # con.txt-1a2b3c4d would still be the device
    elif slug and slug == name:
        return slug
    return f"{slug or 'submission'}-{_digest(name)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


# A class


def _class(tree: Tree, path: Path) -> tuple[list[Upload], list[str]]:
    entries = [_entry(name, unit) for name, unit in tree.folders.items() if _is_student(name)]
    for name in filter(_is_archive, tree.files):  # an archive is a submission by itself
        stem = name
        while _is_archive(stem) and PurePosixPath(stem).stem:  # "bob" for bob.tar.gz
            stem = PurePosixPath(stem).stem
        place = tree.place if tree.zipped else tree.place / name
        entry = _entry(stem, trees.of_sources(stem, place, {name: tree.files[name]}))
        if tree.files[name].problem == "link":
            entry = replace(entry, upload=None, problem=f"{name} is {_LINK}")
        entries.append(entry)
    uploads = [entry.upload for entry in entries if entry.upload is not None]
    ignored = [note for upload in [tree, *uploads] for note in _ignored_metadata(upload, path)]
    return entries, _left_out(tree, path, _units(tree)) + ignored


def _left_out(
    tree: Tree, path: Path, used: Collection[str], default: str = "neither a folder nor an archive"
) -> list[str]:
    """Notes on the files and folders of a class that are not submissions, by reason."""
    names: dict[str, list[str]] = {}
    for name in (*tree.folders, *tree.files):
        if name not in used and not trees.is_litter(name):
            reason = default
            if name in tree.files and tree.files[name].problem == "link":
                reason = _LINK
            elif name in tree.folders and name in KIT_FOLDERS | trees.JUNK:
                reason = "a folder of the homework or of a tool"
            elif name in tree.folders and name.startswith("."):
                reason = "its name starts with a dot"
            names.setdefault(reason, []).append(name)
    return [f"{path}: not graded: {few(found, NAMED)} ({reason})" for reason, found in names.items()]


def _several_students(outer: Tree, path: Path) -> list[str]:
    """A note on a submission whose parts may belong to several students."""
    inner = _chain(outer)[-1]
    parts = _units(inner)
    if _has_module(inner.files) or len(parts) < 2:
        return []
    advice = "if they belong to different students, give each as a PATH of its own"
    return [f"{path}: read as one submission, with {few(parts, NAMED)} in it; {advice}"]


def _ignored_metadata(tree: Tree, path: Path) -> list[str]:
    if METADATA not in tree.files:
        return []
    advice = "if this folder is a Gradescope export, give it as the only PATH, or keep the name that Gradescope gave it"
    return [f"{path}: {METADATA} in {tree.name} was ignored, so no names are taken from it; {advice}"]


# The form of a tree


def _unwrapped(outer: Tree, is_trusted: bool) -> tuple[list[Tree], Platform | None]:
    """The folders from `outer` to the class or download inside, and its platform; only `outer` if there is none."""
    chain = _chain(outer)
    for depth, tree in enumerate(chain):
        # A student can submit metadata that claims other submissions, so an inner folder must have Gradescope's name.
        if is_trusted and GRADESCOPE.is_download(tree) and (depth == 0 or platforms.is_named_export(tree)):
            return chain[: depth + 1], GRADESCOPE
        platform = next((one for one in PLATFORMS if one.is_download(tree)), None)
        if platform is not None or (_is_class(tree) and sum(map(_is_unit, tree.folders)) != 1):
            return chain[: depth + 1], platform
    return [outer], None


def _chain(outer: Tree) -> list[Tree]:
    """A folder, the only folder in it, and so on."""
    chain = [outer]
    while len(chain) <= trees.DEPTH:
        units = [unit for name, unit in chain[-1].folders.items() if _is_unit(name)]
        code = [
            name for name in chain[-1].files if name.lower().endswith((".py", ".zip")) and not trees.is_litter(name)
        ]
        if len(units) != 1 or code:
            break
        chain.append(trees.whole(units[0]))
    return chain


def _is_class(tree: Tree) -> bool:
    if _has_module(tree.files):
        return False
    units = [unit for name, unit in tree.folders.items() if _is_student(name)]
    archives = [name for name in tree.files if _is_archive(name)]
    if KIT_FOLDERS.intersection(tree.folders):
        # A copy of the kit or of the student folder is one submission.
        return sum(_has_module(_names(unit)) for unit in units) > 1
    if len(archives) + sum(map(_is_handed_in, units)) > 1:
        return True
    # At most one folder has the right names, so all must look like work, without loose files.
    if tree.zipped or not (units or archives) or any(name.endswith(".py") for name in tree.files):
        return False
    return all(
        any(_is_archive(name) or name.lower().endswith((".py", ".ipynb")) for name in _names(unit)) for unit in units
    )


def _units(tree: Tree) -> list[str]:
    """The folders and archives of a class."""
    return [*filter(_is_student, tree.folders), *filter(_is_archive, tree.files)]


def _is_handed_in(unit: Tree) -> bool:
    """Whether a folder is certainly a submission; one that cannot be listed must not be skipped."""
    modules = rubric.current().modules
    return unit.itself.problem != "folder" or any(
        # Similar names count too: a whole class may have downloaded its files twice.
        _is_archive(name) or (is_likely_code(name) and any(resembles(name, module) for module in modules))
        for name in _names(unit)
    )


def _names(unit: Tree) -> list[str]:
    """Names of files at any depth, up to a limit."""
    return [path.rpartition("/")[2] for path, _ in unit.walk(LOOKED_AT)]


def _has_module(names: Iterable[str]) -> bool:
    return not set(rubric.current().files).isdisjoint(names)


def _is_unit(name: str) -> bool:
    """Whether a folder can be a submission, or contain one."""
    return not name.startswith(".") and (name not in trees.JUNK or name == "checks")


def _is_student(name: str) -> bool:
    """Whether a folder of a class is a student's."""
    return _is_unit(name) and name not in KIT_FOLDERS


def _is_archive(name: str) -> bool:
    """Whether a file is a zip, or an archive that is not opened."""
    return PurePosixPath(name).suffix.lower() in {".zip", *ARCHIVES} and not trees.is_litter(name)
