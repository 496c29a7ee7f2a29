"""Finds the submissions in the paths given to a command: one submission, a class, or a platform's download, as folder or zip.

The form is recognized by names alone, in this order, because a later form may look like an earlier one:

1. Gradescope: a `submission_metadata.yml` next to folders with Gradescope's names. With several paths, all must be platform
   downloads unless this one has Gradescope's name, since a student's upload may contain such a file.
2. The platforms of platforms.py: at least half of the files and folders have their names.
3. A class: several folders, zips or other archives that contain work. A folder of numbered versions is several uploads.
4. One submission: everything else, unless it may be the work of several students. Such a path is rejected.

Each file and folder of a class is a submission or is listed in a note.
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from autograder.exceptions import ArgumentsError, UnusableError
from autograder.homework.rubric import Rubric
from autograder.shared.source import resembles
from autograder.submissions import platforms
from autograder.submissions import tree as trees
from autograder.submissions.platforms import GRADESCOPE, METADATA, NAMED, Platform
from autograder.submissions.submission import ARCHIVES, MOST_BYTES, ZIP_DEPTH, Student, Upload, is_likely_code
from autograder.submissions.text import counted, few
from autograder.submissions.tree import Source, Tree

KIT_FOLDERS = {"assignments", "solutions", "checks"}
# Names that Windows reserves for devices: a result of that name could not be written there.
RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
LOOKED_AT = 2000  # names inspected to classify a folder
MOST_ZIPPED = 2**26  # bytes of a zip that is opened to classify a folder
_LINK = "a link or a device, which is never followed"
_VERSION = re.compile(r"(?i:(?P<word>revision|attempt|version|v)[ _-]*)?(?P<number>\d{1,3})(?: - (?P<state>.*))?")
_COPY = re.compile(r"^(copy of|kopie von) |( -)? ?(\(\d+\)|copy|kopie)$")  # what a file manager adds to a name


@dataclass(frozen=True)
class Listing:
    """The submissions, the form of each path, and notes for the instructor."""

    entries: tuple[Upload, ...]
    forms: tuple[str, ...]
    problems: tuple[str, ...]


Found = list[tuple[Platform, platforms.Matches]]
Part = tuple[str, list[Upload], list[str]]  # the form of one path, its submissions, and notes


def listing(paths: Sequence[Path], rubric: Rubric, out: Path | None = None, one_submission: bool = False) -> Listing:
    """Everything to grade at `paths`; the output folder `out` must be elsewhere.

    If `one_submission`, each path is one submission, whatever it looks like. Raises ArgumentsError for a path that does not
    exist, is unreadable, has no submission, contains `out`, or may be the work of several students in an unknown form.
    """
    paths = list({path.absolute(): path for path in paths}.values())
    modules = [path for path in paths if path.suffix.lower() == ".py" and path.is_file()]
    folders = [path for path in paths if path not in modules]
    opened = [_opened(path, out) for path in folders]
    are_downloads = not modules and all(_unwrapped(rubric, tree, is_trusted=True)[1] for tree in opened)
    parts: list[Part] = []
    for tree, path in zip(opened, folders, strict=True):
        is_trusted = are_downloads or platforms.is_export_name(path.stem)
        form, entries, problems = _read(rubric, tree, path, is_trusted, one_submission)
        section = path.stem if len(folders) > 1 else ""
        parts.append((form, [replace(entry, section=section) for entry in entries], problems))
    if modules:
        parts.append(_read(rubric, _together(modules), Path(counted(len(modules), "file")), False, one_submission))
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
            tree = replace(trees.of_folder(path), most=None)
            if tree.itself.error:
                raise tree.itself.error
            return tree
        if path.suffix.lower() == ".zip" and path.is_file():
            return replace(trees.of_zip(path), most=None)
        path.lstat()
    except UnusableError:
        raise ArgumentsError(f"{path}: is not a zip that can be opened; download it again") from None
    except OSError as error:
        raise ArgumentsError(f"{path}: {error.strerror or error}") from error
    raise ArgumentsError(f"{path}: neither a folder nor a .zip nor a .py file")


def _together(paths: list[Path]) -> Tree:
    """Single .py files as one folder."""
    folder = paths[0].absolute().parent
    names = [path.name.lower() for path in paths]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentsError(f"there are several files called {name}; give their folders instead")
    is_folder = {path.absolute().parent for path in paths} == {folder}
    key = paths[0].stem if len(paths) == 1 else folder.name if is_folder else "submission"
    return trees.of_sources(key, folder, {path.name: trees.of_file(path).files[path.name] for path in paths}.items)


def _read(rubric: Rubric, outer: Tree, path: Path, is_trusted: bool, one_submission: bool) -> Part:
    chain, downloads = ([outer], []) if one_submission else _unwrapped(rubric, outer, is_trusted)
    tree, whats, entries, problems = chain[-1], list[str](), list[Upload](), list[str]()
    for platform, matches in downloads:
        uploads, notes = platform.uploads(tree, matches, rubric.due)
        entries += uploads
        whats.append(f"{platform.what} of {counted(len(uploads), 'submission')}")
        problems += [f"{path}: {note}" for note in notes]
    if downloads:
        used = {name for _, matches in downloads for name in matches} | platforms.PAGES
        problems += _left_out(
            tree, path, used, f"not part of {' or '.join(platform.what for platform, _ in downloads)}"
        )
    elif not one_submission and (_is_class(rubric, tree) or _versions(tree, is_top=True)):
        entries, problems = (
            (_uploads(tree.name, tree), []) if _versions(tree, is_top=True) else _class(rubric, tree, path)
        )
        _reject_sections(rubric, tree, path)
        whats = [f"a folder of {counted(len(entries), 'submission')}"]
    elif next(outer.walk(), None) is None:
        raise ArgumentsError(f"{path}: it is empty")
    else:
        if not one_submission and (groups := _several(rubric, _chain(outer)[-1])):
            _reject(path, groups)
        # A student's damaged zip becomes a note.
        entries = [_entry(outer.name, trees.of_file(path) if outer.zipped else outer)]
        return f"{path}: one submission", entries, _ignored_metadata(outer, path)
    around = [note for wrapper in chain[:-1] for note in _left_out(wrapper, path, {*filter(_is_unit, wrapper.folders)})]
    return f"{path}: {' and '.join(whats)}", entries, around + problems


def _entry(key: str, upload: Tree) -> Upload:
    return Upload(key, upload, (Student(name=key),))


# Keys: names for result files


def keyed(entries: Iterable[Upload]) -> list[Upload]:
    """Return the uploads with unique keys that are safe file names, even on case-insensitive file systems."""
    entries = list(entries)
    keys = [safe_key(entry.key) for entry in entries]
    counts, taken = Counter(map(str.lower, keys)), set[str]()
    for number, (entry, key) in enumerate(zip(entries, keys, strict=True)):
        unique = key
        if counts[key.lower()] > 1:
            path = entry.upload.path.absolute() if entry.upload else Path()
            unique += f"-{_digest(f'{path.parent.name}/{path.name}/{entry.key}')}"
        while unique.lower() in taken:
            unique += "x"
        taken.add(unique.lower())
        entries[number] = replace(entry, key=unique)
    return entries


def safe_key(name: str) -> str:
    """Return a name that every file system accepts; a digest is added if the name had to change."""
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


def _class(rubric: Rubric, tree: Tree, path: Path) -> tuple[list[Upload], list[str]]:
    units = {name: unit for name, unit in tree.folders.items() if _is_student(name)}
    logins = platforms.logins(units)
    entries = [upload for name, unit in units.items() for upload in _uploads(name, unit, logins.get(name, ""))]
    for name in filter(_is_archive, tree.files):  # an archive is a submission by itself
        stem = name
        while _is_archive(stem) and PurePosixPath(stem).stem:  # "bob" for bob.tar.gz
            stem = PurePosixPath(stem).stem
        path_of_file = tree.path if tree.zipped else tree.path / name
        entry = _entry(stem, trees.of_sources(stem, path_of_file, {name: tree.files[name]}.items))
        if tree.files[name].problem == "link":
            entry = replace(entry, upload=None, problem=f"{name} is {_LINK}")
        entries.append(entry)
    uploads = [entry.upload for entry in entries if entry.upload is not None]
    ignored = [note for upload in [tree, *uploads] for note in _ignored_metadata(upload, path)]
    several = [
        f"{path}: {name} looks like the work of several students, {few(_units(unit), NAMED)}; give it as a PATH of its own"
        for name, unit in units.items()
        if _is_section(rubric, unit)
    ]
    return entries, [*_left_out(tree, path, _units(tree)), *several, *ignored]


def _uploads(name: str, unit: Tree, login: str = "") -> list[Upload]:
    """Return the upload in a student's folder, or each of its versions."""
    inner = next((folder for folder in _chain(unit) if _versions(folder)), None)
    if inner is None:
        return [Upload(name, unit, (Student(name=name, login=login),))]
    student = Student(name=name, login=login or name.rpartition(" - ")[2])
    return [
        Upload(f"{name}_{match['number']}", folder, (student,), is_late, version=int(match["number"]))
        for match in _versions(inner)
        for folder in [replace(inner.folders[match.string], name=name)]
        for is_late in ["late" in (match["state"] or "").lower()]
    ]


def _versions(unit: Tree, is_top: bool = False) -> list[re.Match[str]]:
    """Return the folders with the versions of one upload, such as 1 and 2, or "Revision 1 - On Time"; none if it has other work.

    Folders with mere numbers may also be the parts of one upload, so then they must have files in common. At the top of a
    path they may be students.
    """
    folders = {name: folder for name, folder in unit.folders.items() if not trees.is_junk(name)}
    matches = [match for match in map(_VERSION.fullmatch, folders) if match]
    if len(matches) < len(folders) or _work(unit):
        return []
    is_repeated = _has_repeated(unit) or len(folders) == 1
    return matches if (is_repeated and not is_top) or all(match["word"] for match in matches) else []


def _has_repeated(unit: Tree) -> bool:
    """Return whether two folders have work of the same name in them."""
    folders = (folder for name, folder in unit.folders.items() if _is_student(name))
    counts = Counter(name for folder in folders for name in {*filter(platforms.is_work, _names(folder))})
    return any(count > 1 for count in counts.values())


def _left_out(
    tree: Tree, path: Path, used: Collection[str], default: str = "neither a folder nor an archive"
) -> list[str]:
    """Return notes on the files and folders of a class that are not submissions, by reason."""
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
    return [f"{path}: not graded: {few(listed, NAMED)} ({reason})" for reason, listed in names.items()]


# The work of several students in a form that is not known


def _several(rubric: Rubric, tree: Tree) -> list[str]:
    """Return what makes a folder look like the work of several students, a line for each group of names, and all other names."""
    modules, affixes, unnamed = dict[str, list[str]](), dict[str, list[str]](), list[str]()
    for name, source in _files(tree):
        meant = _meant(rubric, name, source)
        if meant:
            modules.setdefault(meant[0], []).append(name)
            affixes.setdefault(meant[1], []).append(name)
        elif platforms.is_work(name) and (is_likely_code(name) or not name.lower().endswith(".py")):
            unnamed.append(name)
    affixes.pop("", None)
    named = {one.what: [*one.matches(tree)] for one in platforms.PLATFORMS if one.is_distinctive}
    groups = {f"named as in {what}": names for what, names in named.items() if names}
    groups = groups or {f"each may be {module}.py": names for module, names in modules.items() if len(names) > 1}
    if not groups and len(affixes) > 1:
        groups = {f"the name has {affix!r} besides that of a module": names for affix, names in affixes.items()}
    if not groups and not _has_module(rubric, tree.files) and len(_units(tree)) > 1:
        groups = {"each may be a student's": _units(tree)}
    if not groups and not modules and len(unnamed) > 1:
        groups = {"none has the name of a module": unnamed}
    if not groups:
        return []
    listed = {name.split("/")[0] for names in groups.values() for name in names}
    rest = [name for name in (*tree.folders, *tree.files) if name not in listed and not trees.is_junk(name)]
    groups |= {"also there": rest} if rest else {}
    return [f"{few(names, NAMED)}: {why}" for why, names in groups.items()]


def _reject_sections(rubric: Rubric, tree: Tree, path: Path) -> None:
    """Raise ArgumentsError if the upload of each student of a class would be a class or a download."""
    names = _units(tree)
    units = (tree.folders.get(name) or _zip(name, tree.files[name]) for name in names)
    is_alone = len(names) == 1  # a zip around the zip of a class
    if all(one is not None and (_is_section(rubric, one) or (is_alone and _several(rubric, one))) for one in units):
        _reject(path, [f"{few(names, NAMED)}: each looks like the work of several students"])


def _is_section(rubric: Rubric, unit: Tree) -> bool:
    """Return whether what may be a student's upload is a class or a download, in which the same file occurs several times."""
    chain, downloads = _unwrapped(rubric, unit, False)
    tree = chain[-1]
    is_small = len(tree.folders) <= LOOKED_AT
    return bool(downloads) or (is_small and _is_class(rubric, tree) and not _versions(tree) and _has_repeated(tree))


def _reject(path: Path, groups: Sequence[str]) -> None:
    advice = (
        "Give one folder or zip for each student in one folder, or each student's files as a PATH of its own. If each PATH "
        "is one student's, add --one-submission."
    )
    raise ArgumentsError(
        "\n  ".join([f"{path}: this looks like the work of several students:", *groups]) + f"\n{advice}"
    )


def _files(tree: Tree, above: str = "", depth: int = 0) -> Iterator[tuple[str, Source]]:
    """Yield the files at any depth, up to a limit; zips are opened."""
    for name, source in tree.walk(LOOKED_AT):
        inner = _zip(name, source) if depth < ZIP_DEPTH else None
        if inner is not None:
            yield from _files(inner, f"{above}{name}/", depth + 1)
        elif name:
            yield above + name, source


def _zip(name: str, source: Source) -> Tree | None:
    """Return the contents of a zip; None for anything else, and for a zip that is too large or cannot be opened."""
    if name.lower().endswith(".zip") and not source.problem and source.size <= MOST_ZIPPED:
        with suppress(OSError, UnusableError):
            return trees.of_zip(Path(PurePosixPath(name).name), source.read(source.size), trees.MOST_NAMES)
    return None


def _meant(rubric: Rubric, name: str, source: Source) -> tuple[str, str] | None:
    """Return the module that a file is meant to be, and what its name has besides the module's; None for any other file.

    A file is meant to be a module if it has a similar name, unless it has code but none of the module's functions, or if it
    defines most of the functions.
    """
    stem = PurePosixPath(name).name.lower()
    if not is_likely_code(name) or ".py" not in stem:
        return None
    try:
        text = source.read(MOST_BYTES).decode("utf-8", "replace")
    except (OSError, UnusableError):
        text = ""
    defined = set(re.findall(r"^def (\w+)", text, re.M))
    for module, entry in rubric.modules.items():
        ours = defined & {*entry.functions}
        if (resembles(name, module) and (ours or not defined)) or 2 * len(ours) > len(entry.functions):
            pattern = r"[\W_]*".join(module.split("_"))
            return module, _COPY.sub("", re.sub(pattern, "", stem.partition(".py")[0], count=1)) if resembles(
                name, module
            ) else stem
    return None


# Metadata


def _ignored_metadata(tree: Tree, path: Path) -> list[str]:
    if METADATA not in tree.files:
        return []
    advice = "if this folder is a Gradescope export, give it as the only PATH, or keep the name that Gradescope gave it"
    return [f"{path}: {METADATA} in {tree.name} was ignored, so no names are taken from it; {advice}"]


# The form of a tree


def _unwrapped(rubric: Rubric, outer: Tree, is_trusted: bool) -> tuple[list[Tree], Found]:
    """Return the folders from `outer` to the class or download inside, and its platforms; only `outer` if there is none."""
    chain = _chain(outer)
    for depth, tree in enumerate(chain):
        # A student can submit metadata that claims other submissions, so an inner folder must have Gradescope's name.
        is_named = platforms.is_export_name(tree.name) or (tree.zipped and tree.name == tree.path.stem)
        is_export = is_trusted and platforms.is_export(tree) and (depth == 0 or is_named)
        downloads: Found = [(GRADESCOPE, GRADESCOPE.matches(tree))] if is_export else platforms.recognized(tree)
        if (
            downloads
            or _versions(tree, is_top=True)
            or (_is_class(rubric, tree) and sum(map(_is_unit, tree.folders)) != 1)
        ):
            return chain[: depth + 1], downloads
    return [outer], []


def _chain(outer: Tree) -> list[Tree]:
    """Return a folder, the only folder in it, and so on."""
    chain = [outer]
    while len(chain) <= trees.DEPTH:
        units = [unit for name, unit in chain[-1].folders.items() if _is_unit(name)]
        if len(units) != 1 or any(name.lower().endswith((".py", ".ipynb", ".zip")) for name in _work(chain[-1])):
            break
        chain.append(replace(units[0], most=None))
    return chain


def _is_class(rubric: Rubric, tree: Tree) -> bool:
    if _has_module(rubric, tree.files):
        return False
    units = [unit for name, unit in tree.folders.items() if _is_student(name)]
    archives = [name for name in tree.files if _is_archive(name)]
    if KIT_FOLDERS.intersection(tree.folders):
        # A copy of the kit or of the student folder is one submission.
        return sum(_has_module(rubric, _names(unit)) for unit in units) > 1
    if len(archives) + sum(_is_handed_in(rubric, unit) for unit in units) > 1:
        return True
    # At most one folder has the right names, so all must look like work, without loose files.
    if tree.zipped or not (units or archives) or not {*_work(tree)} <= {*archives}:
        return False
    return all(
        any(_is_archive(name) or name.lower().endswith((".py", ".ipynb")) for name in _names(unit)) for unit in units
    )


def _units(tree: Tree) -> list[str]:
    """Return the folders and archives of a class."""
    return [*filter(_is_student, tree.folders), *filter(_is_archive, tree.files)]


def _is_handed_in(rubric: Rubric, unit: Tree) -> bool:
    """Return whether a folder is certainly a submission; one that cannot be listed must not be skipped."""
    modules = rubric.modules
    return unit.itself.problem != "folder" or any(
        # Similar names count too: a whole class may have downloaded its files twice.
        _is_archive(name) or (is_likely_code(name) and any(resembles(name, module) for module in modules))
        for name in _names(unit)
    )


def _names(unit: Tree) -> list[str]:
    """Names of files at any depth, up to a limit."""
    return [path.rpartition("/")[2] for path, _ in unit.walk(LOOKED_AT)]


def _work(tree: Tree) -> list[str]:
    """Return the files directly in a folder that are likely to have been handed in."""
    return [name for name in tree.files if platforms.is_work(name) and not trees.is_litter(name)]


def _has_module(rubric: Rubric, names: Iterable[str]) -> bool:
    return not set(rubric.files).isdisjoint(names)


def _is_unit(name: str) -> bool:
    """Return whether a folder can be a submission, or contain one."""
    return not name.startswith(".") and (name not in trees.JUNK or name == "checks")


def _is_student(name: str) -> bool:
    """Return whether a folder of a class is a student's."""
    return _is_unit(name) and name not in KIT_FOLDERS


def _is_archive(name: str) -> bool:
    """Return whether a file is a zip, or an archive that is not opened."""
    return PurePosixPath(name).suffix.lower() in {".zip", *ARCHIVES} and not trees.is_litter(name)
