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
from autograder.submissions.platforms import EXPORT_PART, GRADESCOPE, METADATA, NAMED, Matches
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


def listing(paths: Sequence[Path], rubric: Rubric, out: Path | None = None, one_submission: bool = False) -> Listing:
    """Everything to grade at `paths`; the output folder `out` must be elsewhere.

    If `one_submission`, each path is one submission, whatever it looks like. Raises ArgumentsError for a path that does not
    exist, is unreadable, has no submission, contains `out`, or may be the work of several students in an unknown form.
    """
    paths = list({path.absolute(): path for path in paths}.values())
    modules = [path for path in paths if path.suffix.lower() == ".py" and path.is_file()]
    opened = {path: _opened(path, out) for path in paths if path not in modules}
    are_downloads = not modules and all(_unwrapped(rubric, tree, is_trusted=True)[1] for tree in opened.values())
    parts = [
        _read(
            rubric,
            tree,
            path,
            is_trusted=are_downloads or platforms.is_export_name(path.stem),
            one_submission=one_submission,
            section=path.stem if len(opened) > 1 else "",
        )
        for path, tree in opened.items()
    ]
    if modules:
        parts.append(_read(rubric, _together(modules), Path(counted(len(modules), "file")), False, one_submission))
    entries = keyed(entry for each in parts for entry in each.entries)
    if not entries:
        raise ArgumentsError(f"{', '.join(map(str, paths))}: there is no submission in it")
    problems = tuple(problem for each in parts for problem in each.problems)
    return Listing(tuple(entries), tuple(form for each in parts for form in each.forms), problems)


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


def _read(
    rubric: Rubric, outer: Tree, path: Path, is_trusted: bool, one_submission: bool, section: str = ""
) -> Listing:
    chain, downloads = ([outer], {}) if one_submission else _unwrapped(rubric, outer, is_trusted)
    tree, versions = chain[-1], _versions(chain[-1], is_top=True)
    entries, whats, problems = list[Upload](), list[str](), list[str]()
    for wrapper in chain[:-1]:
        problems += _left_out(wrapper, path, {*filter(_is_unit, wrapper.folders)})
    if downloads:
        for what, matches in downloads.items():
            uploads, notes = platforms.uploads(what, tree, matches, rubric.due)
            entries += uploads
            whats.append(f"{what} of {counted(len(uploads), 'submission')}")
            problems += [f"{path}: {note}" for note in notes]
        used = {name for matches in downloads.values() for name in matches} | platforms.PAGES
        problems += _left_out(tree, path, used, f"not part of {' or '.join(downloads)}")
    elif not one_submission and (versions or _is_class(rubric, tree)):
        entries = _uploads(tree.name, tree) if versions else _class(tree)
        problems += [] if versions else _left_out(tree, path, _units(tree))
        problems += _sections(rubric, tree, path)
        whats = [f"a folder of {counted(len(entries), 'submission')}"]
    elif next(outer.walk(), None) is None:
        raise ArgumentsError(f"{path}: it is empty")
    else:
        if not one_submission and (groups := _several(rubric, _chain(outer)[-1])):
            _reject(path, groups)
        upload = trees.of_file(path) if outer.zipped else outer  # a student's damaged zip becomes a note
        entries, whats = [Upload(outer.name, upload, (Student(outer.name),))], ["one submission"]
    if not downloads:
        # Metadata that is not that of a download claims the work of others.
        inside = dict.fromkeys([tree, *(entry.upload for entry in entries if entry.upload)])
        about = "was ignored, so no names are taken from it; if this folder is a Gradescope export, give it as the only PATH"
        about += ", or keep the name that Gradescope gave it"
        problems += [f"{path}: {METADATA} in {one.name} {about}" for one in inside if METADATA in one.files]
    entries = [replace(entry, section=section) for entry in entries]
    return Listing(tuple(entries), (f"{path}: {' and '.join(whats)}",), tuple(problems))


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


def _class(tree: Tree) -> list[Upload]:
    units = {name: unit for name, unit in tree.folders.items() if _is_student(name)}
    logins = platforms.logins(units)
    entries = [upload for name, unit in units.items() for upload in _uploads(name, unit, logins.get(name, ""))]
    for name in filter(_is_archive, tree.files):  # an archive is a submission by itself
        stem = name
        while _is_archive(stem) and PurePosixPath(stem).stem:  # "bob" for bob.tar.gz
            stem = PurePosixPath(stem).stem
        if tree.files[name].problem == "link":
            entries.append(Upload(stem, None, (Student(stem),), problem=f"{name} is {_LINK}"))
            continue
        upload = trees.of_sources(stem, tree.path if tree.zipped else tree.path / name, {name: tree.files[name]}.items)
        entries.append(Upload(stem, upload, (Student(stem),)))
    return entries


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
    """Return what makes a folder look like the work of several students, a line for each group of names, and all other names.

    A file is meant to be a module if it has a similar name, unless it has code but none of the module's functions, or if it
    defines most of the functions.
    """
    modules, affixes, unnamed = dict[str, list[str]](), dict[str, list[str]](), list[str]()
    for name, source in _files(tree):
        stem, defined, meant = PurePosixPath(name).name.lower(), set[str](), ""
        if is_likely_code(name) and ".py" in stem:
            with suppress(OSError, UnusableError):
                text = source.read(MOST_BYTES).decode("utf-8", "replace")
                defined = set(re.findall(r"^def (\w+)", text, re.M))
            for module, entry in rubric.modules.items():
                number, is_similar = len(defined & {*entry.functions}), resembles(name, module)
                if meant or not ((is_similar and (number or not defined)) or 2 * number > len(entry.functions)):
                    continue
                meant = module
                if is_similar:  # what the name has besides that of the module
                    stem = re.sub(r"[\W_]*".join(module.split("_")), "", stem.partition(".py")[0], count=1)
                modules.setdefault(module, []).append(name)
                affixes.setdefault(_COPY.sub("", stem), []).append(name)
        if not meant and platforms.is_work(name) and (is_likely_code(name) or not stem.endswith(".py")):
            unnamed.append(name)
    affixes.pop("", None)
    named = ((what, [*platforms.named(tree, pattern)]) for what, pattern in platforms.PATTERNS.items())
    groups = {f"named as in {what}": names for what, names in named if names}
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


def _sections(rubric: Rubric, tree: Tree, path: Path) -> list[str]:
    """Return a note on each folder of a class that is a class or a download itself, in which a file occurs several times.

    Raises ArgumentsError if all its folders and zips are.
    """
    names = _units(tree)

    def is_section(unit: Tree | None) -> bool:
        if unit is None:
            return False
        chain, downloads = _unwrapped(rubric, unit, False)
        inner = chain[-1]
        is_class = len(inner.folders) <= LOOKED_AT and _is_class(rubric, inner) and not _versions(inner)
        is_zipped_class = len(names) == 1 and bool(_several(rubric, unit))  # a zip around the zip of a class
        return bool(downloads) or (is_class and _has_repeated(inner)) or is_zipped_class

    sections = [name for name in names if is_section(tree.folders.get(name))]
    if all(name in sections or is_section(_zip(name, tree.files.get(name))) for name in names):
        _reject(path, [f"{few(names, NAMED)}: each looks like the work of several students"])
    about = ((name, few(_units(tree.folders[name]), NAMED)) for name in sections)
    advice = "give it as a PATH of its own"
    return [f"{path}: {name} looks like the work of several students, {who}; {advice}" for name, who in about]


def _reject(path: Path, groups: Sequence[str]) -> None:
    lines = "\n  ".join([f"{path}: this looks like the work of several students:", *groups])
    advice = "Give one folder or zip for each student in one folder, or each student's files as a PATH of its own."
    raise ArgumentsError(f"{lines}\n{advice} If each PATH is one student's, add --one-submission.")


def _files(tree: Tree, above: str = "", depth: int = 0) -> Iterator[tuple[str, Source]]:
    """Yield the files at any depth, up to a limit; zips are opened."""
    for name, source in tree.walk(LOOKED_AT):
        inner = _zip(name, source) if depth < ZIP_DEPTH else None
        if inner is not None:
            yield from _files(inner, f"{above}{name}/", depth + 1)
        elif name:
            yield above + name, source


def _zip(name: str, source: Source | None) -> Tree | None:
    """Return the contents of a zip; None for anything else, and for a zip that is too large or cannot be opened."""
    if source and name.lower().endswith(".zip") and not source.problem and source.size <= MOST_ZIPPED:
        with suppress(OSError, UnusableError):
            return trees.of_zip(Path(PurePosixPath(name).name), source.read(source.size), trees.MOST_NAMES)
    return None


# The form of a tree


def _unwrapped(rubric: Rubric, outer: Tree, is_trusted: bool) -> tuple[list[Tree], dict[str, Matches]]:
    """Return the folders from `outer` to the class or download inside, and its platforms; only `outer` if there is none."""
    chain = _chain(outer)
    for depth, tree in enumerate(chain):
        # A student can submit metadata that claims other submissions, so an inner folder must have Gradescope's name.
        is_named = platforms.is_export_name(tree.name) or (tree.zipped and tree.name == tree.path.stem)
        downloads = platforms.recognized(tree)
        if is_trusted and platforms.is_export(tree) and (depth == 0 or is_named):
            downloads = {GRADESCOPE: platforms.named(tree, EXPORT_PART)}
        is_class = _is_class(rubric, tree) and sum(map(_is_unit, tree.folders)) != 1
        if downloads or is_class or _versions(tree, is_top=True):
            return chain[: depth + 1], downloads
    return [outer], {}


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

    def is_handed_in(unit: Tree) -> bool:
        """Return whether a folder is certainly a submission; one that cannot be listed must not be skipped."""
        return unit.itself.problem != "folder" or any(
            # Similar names count too: a whole class may have downloaded its files twice.
            _is_archive(name) or (is_likely_code(name) and any(resembles(name, module) for module in rubric.modules))
            for name in _names(unit)
        )

    if len(archives) + sum(map(is_handed_in, units)) > 1:
        return True
    # At most one folder has the right names, so all must look like work, without loose files.
    if tree.zipped or not (units or archives) or not {*_work(tree)} <= {*archives}:
        return False
    return all(any(platforms.is_work(name) and not name.startswith("._") for name in _names(unit)) for unit in units)


def _units(tree: Tree) -> list[str]:
    """Return the folders and archives of a class."""
    return [*filter(_is_student, tree.folders), *filter(_is_archive, tree.files)]


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
