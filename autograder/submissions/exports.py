"""Finds the submissions in the paths given to a command: one submission, a class, or the download of a platform; folder or zip.

The form is recognized by names alone, in this order, because a later form may look like an earlier one:

1. "gradescope": a `submission_metadata.yml` next to folders that Gradescope has named. With several paths, every one must be the
   download of a platform, or have Gradescope's own name: else they may be uploads of students, who can write such a file;
2. "moodle": most entries are named as Moodle names submissions;
3. "brightspace": most folders are named as Brightspace names them;
4. "submission": a module of the rubric directly inside;
5. "canvas": most files are named as Canvas names them;
6. "class": several folders, zips or other archives with work in them;
7. "submission": everything else.

In every form, each file and folder of a class is a submission or is listed in a note.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Literal

from autograder.exceptions import ArgumentsError
from autograder.homework import rubric
from autograder.submissions import platforms
from autograder.submissions import tree as trees
from autograder.submissions.submission import ARCHIVES, is_likely_code
from autograder.submissions.tree import Tree, UnusableError
from autograder.submissions.uploads import Student, Upload, keyed
from autograder.values.names import resembles

Kind = Literal["gradescope", "moodle", "brightspace", "submission", "canvas", "class"]
DOWNLOADS = ("gradescope", "moodle", "brightspace", "canvas")
KIT_FOLDERS = {"assignments", "solutions", "checks"}
LOOKED_AT = 2000  # files that decide what a folder is
NAMED = 20  # files named in one note
_LINK = "is a link or a device, which is never followed"
_NO_ZIP = {
    "link": "is no regular file",
    "no_zip": "is not a zip that can be opened; download it again",
    "zip_many": "has more files than the zip of a class; unpack it and give its folders",
    "zip_overlaps": "is a malformed zip (its files overlap) and was not opened",
}


@dataclass(frozen=True)
class Listing:
    """The submissions, the form of each path, and notes for the instructor."""

    entries: tuple[Upload, ...]
    forms: tuple[str, ...]
    problems: tuple[str, ...]


def listing(paths: Sequence[Path], out: Path | None = None) -> Listing:
    """Everything to grade at `paths`; the output folder `out` must be elsewhere.

    Raises ArgumentsError for a path that does not exist, is unreadable, has no submission, or contains `out`.
    """
    paths = list({path.absolute(): path for path in paths}.values())
    modules = [path for path in paths if path.suffix.lower() == ".py" and path.is_file()]
    others = [path for path in paths if path not in modules]
    looked = [(path, _look(path, out)) for path in others]
    downloads = not modules and {_unwrapped(tree)[1] for _, tree in looked} <= set(DOWNLOADS)
    listings = [_recognised(tree, path, downloads or platforms.is_export_name(path.stem)) for path, tree in looked]
    if len(others) > 1:
        # The name of the path is that of the section.
        listings = [
            replace(part, entries=tuple(replace(entry, section=path.stem) for entry in part.entries))
            for part, path in zip(listings, others, strict=True)
        ]
    if modules:
        listings.append(_files(modules))
    entries = keyed(entry for part in listings for entry in part.entries)
    if not entries:
        raise ArgumentsError(f"{', '.join(map(str, paths))}: there is no submission in it")
    forms = tuple(form for part in listings for form in part.forms)
    return Listing(tuple(entries), forms, tuple(problem for part in listings for problem in part.problems))


def _found(form: str, entries: Iterable[Upload], problems: Iterable[str] = ()) -> Listing:
    """The listing of one path."""
    return Listing(tuple(entries), (form,), tuple(problems))


def _look(path: Path, out: Path | None) -> Tree:
    try:
        if out is not None and path.is_dir() and path.resolve() in (out / "x").resolve().parents:
            raise ArgumentsError(f"-o {out} is inside {path}, which is graded; use a folder outside it")
        if path.is_dir():
            tree = trees.of_folder(path)
            if not tree.readable:
                tree.sources[""].read(0)
            if tree.sources[""].problem == "many":
                raise ArgumentsError(f"{path}: has too many files; give the folders of one class")
            return tree
        if path.suffix.lower() == ".zip" and path.is_file():
            return trees.of_zip(path)
        path.lstat()
    except UnusableError as error:
        raise ArgumentsError(f"{path}: {_NO_ZIP[error.kind]}") from None
    except OSError as error:
        raise ArgumentsError(f"{path}: {error.strerror or error}") from error
    raise ArgumentsError(f"{path}: neither a folder nor a .zip nor a .py file")


def _recognised(outer: Tree, path: Path, believed: bool) -> Listing:
    """The listing of a path; `believed`: it may be an export of Gradescope."""
    tree, form = _unwrapped(outer, believed)
    entries: list[Upload]
    match form:
        case "gradescope":
            what, (entries, problems) = "a Gradescope export", platforms.gradescope_entries(tree)
            problems += _left_out(tree, path, platforms.is_export_part, "not part of a Gradescope export")
        case "moodle":
            what, entries = "a Moodle download", platforms.moodle_entries(tree)
            problems = _left_out(tree, path, platforms.is_moodle_name, "not named as Moodle names submissions")
        case "brightspace":
            what, entries = "a Brightspace download", platforms.brightspace_entries(tree)
            problems = _left_out(
                tree, path, platforms.is_brightspace_name, "not named as Brightspace names submissions"
            )
        case "canvas":
            what, entries = "a Canvas download", platforms.canvas_entries(dict(tree.walk()), tree.place)
            problems = _left_out(tree, path, _is_canvas_part, "not named as Canvas names files")
        case "class":
            what, (entries, problems) = "a folder", _class(tree, path)
        case "submission":
            if next(outer.walk(), None) is None:
                raise ArgumentsError(f"{path}: it is empty")
            # Damage in a student's zip becomes a note.
            upload = trees.of_file(path) if outer.zipped else outer
            problems = [*_misplaced(outer, path), *_several(outer, path)]
            return _found(f"{path}: one submission", [_entry(outer.name, upload)], problems)
    around = [
        note
        for wrapper in _wrapped_by(outer, tree)
        for note in _left_out(wrapper, path, {*filter(_is_unit, wrapper.folders)}.__contains__)
    ]
    return _found(f"{path}: {what} of {_counted(len(entries), 'submission')}", entries, around + problems)


def _files(paths: list[Path]) -> Listing:
    """Single .py files: together one submission, unless Canvas named them."""
    folder = paths[0].absolute().parent
    sources = {path.name: trees.of_file(path).files[path.name] for path in paths}
    if all(map(platforms.is_canvas_name, sources)):
        entries = platforms.canvas_entries(sources, folder)
        return _found(f"{_counted(len(entries), 'submission')} downloaded from Canvas", entries)
    names = [path.name.lower() for path in paths]
    twice = next((name for name in names if names.count(name) > 1), "")
    if twice:
        raise ArgumentsError(f"there are several files called {twice}; give their folders instead")
    together = {path.absolute().parent for path in paths} == {folder}
    key = paths[0].stem if len(paths) == 1 else folder.name if together else "submission"
    return _found(f"{_counted(len(paths), 'file')}: one submission", [_entry(key, Tree(key, folder, sources))])


def _entry(key: str, upload: Tree) -> Upload:
    return Upload(key, upload, (Student(name=key),))


# A class


def _class(tree: Tree, path: Path) -> tuple[list[Upload], list[str]]:
    entries = [_entry(name, unit) for name, unit in tree.folders.items() if _is_students(name)]
    for name in filter(_is_archive, tree.files):  # an archive is a submission by itself
        place, stem = tree.place if tree.zipped else tree.place / name, _stem(name)
        entry, linked = _entry(stem, Tree(stem, place, {name: tree.files[name]})), tree.files[name].problem == "link"
        entries.append(replace(entry, upload=None, problem=f"{name} {_LINK}") if linked else entry)
    used = {*filter(_is_students, tree.folders), *filter(_is_archive, tree.files)}
    problems = _left_out(tree, path, used.__contains__)
    uploads = [entry.upload for entry in entries if entry.upload is not None]
    return entries, problems + [problem for upload in [tree, *uploads] for problem in _misplaced(upload, path)]


def _left_out(tree: Tree, path: Path, is_used: Callable[[str], bool], why: str = "") -> list[str]:
    """Notes on the files and folders of a class that are not submissions; `why` is the default reason."""
    names: dict[str, list[str]] = {}
    for name in (*tree.folders, *tree.files):
        if not is_used(name) and not trees.is_litter(name):
            source = tree.files.get(name)
            if source is not None and source.problem == "link":
                reason = "a link or a device, which is never followed"
            elif name in tree.folders and name in KIT_FOLDERS | trees.JUNK:
                reason = "a folder of the homework or of a tool"
            elif name in tree.folders and name.startswith("."):
                reason = "its name starts with a dot"
            else:
                reason = why or "neither a folder nor an archive"
            names.setdefault(reason, []).append(name)
    return [f"{path}: not graded: {_few(found)} ({reason})" for reason, found in names.items()]


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _several(outer: Tree, path: Path) -> list[str]:
    """A note on a submission that may belong to several students, if one has the files."""
    *_, inner = _wrapped(outer)
    parts = [*filter(_is_students, inner.folders), *filter(_is_archive, inner.files)]
    if _has_module(inner.files) or len(parts) < 2:
        return []
    advice = "if they belong to different students, give each as a PATH of its own"
    return [f"{path}: read as one submission, with {_few(parts)} in it; {advice}"]


def _misplaced(tree: Tree, path: Path) -> list[str]:
    if not tree.readable or platforms.METADATA not in tree.files:
        return []
    advice = "if this folder is a Gradescope export, give it as the only PATH, or keep the name that Gradescope gave it"
    return [f"{path}: {platforms.METADATA} in {tree.name} was ignored, so no names are taken from it; {advice}"]


# The form of a tree


def _unwrapped(outer: Tree, believed: bool = True) -> tuple[Tree, Kind]:
    """Follow folders that contain only one folder, if they lead to a class."""
    for depth, inner in enumerate(_wrapped(outer)):
        form = kind(inner, depth > 0, believed)
        one_folder = form == "class" and sum(map(_is_unit, inner.folders)) == 1
        if form in DOWNLOADS or (form == "class" and not one_folder):
            return inner, form
    return outer, kind(outer, believed=believed)


def _wrapped_by(outer: Tree, tree: Tree) -> Iterator[Tree]:
    """The folders around a class, outermost first."""
    for wrapper in _wrapped(outer):
        if wrapper is tree:
            return
        yield wrapper


def _wrapped(outer: Tree) -> Iterator[Tree]:
    yield outer
    for _ in range(trees.DEPTH):
        units = [unit for name, unit in outer.folders.items() if _is_unit(name)]
        if len(units) != 1 or not units[0].readable or any(map(_is_code, outer.files)):
            return
        outer = units[0]
        yield outer


def kind(tree: Tree, inside: bool = False, believed: bool = True) -> Kind:
    """The form of a folder. `inside`: it is inside the given path; `believed`: it may be an export."""
    if believed and platforms.is_export(tree, inside):
        return "gradescope"
    if platforms.is_moodle(tree):
        return "moodle"
    if platforms.is_brightspace(tree):
        return "brightspace"
    if _has_module(tree.files):
        return "submission"
    if platforms.is_canvas(tree):
        return "canvas"
    return "class" if _is_class(tree) else "submission"


def _is_class(tree: Tree) -> bool:
    units = [unit for name, unit in tree.folders.items() if _is_students(name)]
    archives = [name for name in tree.files if _is_archive(name)]
    if KIT_FOLDERS.intersection(tree.folders):
        # A copy of the kit or of the student folder is one submission.
        return sum(_has_module(_names(unit)) for unit in units) > 1
    if len(archives) + sum(map(_is_handed_in, units)) > 1:
        return True
    # No folder has the right names, or there is only one: then all must look like work, without loose files.
    loose = any(name.endswith(".py") for name in tree.files)
    return (
        bool(units or archives) and not loose and not tree.zipped and all(any(map(_is_work, _names(u))) for u in units)
    )


def _is_handed_in(unit: Tree) -> bool:
    """Whether a folder is certainly a submission; an unreadable one must not be skipped."""
    modules = rubric.current().modules
    return not unit.readable or any(
        # Similar names count too: a whole class may have downloaded its files twice.
        _is_archive(name) or (is_likely_code(name) and any(resembles(name, module) for module in modules))
        for name in _names(unit)
    )


def _names(unit: Tree) -> list[str]:
    """Names of files at any depth, up to a limit."""
    return [path.rpartition("/")[2] for path, _ in islice(unit.walk(), LOOKED_AT)]


def _has_module(names: Iterable[str]) -> bool:
    return not set(rubric.current().files).isdisjoint(names)


def _is_unit(name: str) -> bool:
    """Whether a folder can be a submission, or contain one."""
    return not name.startswith(".") and (name not in trees.JUNK or name == "checks")


def _is_students(name: str) -> bool:
    """Whether a folder of a class is a student's."""
    return _is_unit(name) and name not in KIT_FOLDERS


def _is_archive(name: str) -> bool:
    """Whether a file is a zip, or an archive that is not opened."""
    return PurePosixPath(name).suffix.lower() in {".zip", *ARCHIVES} and not trees.is_litter(name)


def _stem(name: str) -> str:
    """The name without the suffixes of an archive: "bob" for bob.tar.gz."""
    while _is_archive(name) and PurePosixPath(name).stem:
        name = PurePosixPath(name).stem
    return name


def _is_code(name: str) -> bool:
    return name.lower().endswith((".py", ".zip")) and not trees.is_litter(name)


def _is_work(name: str) -> bool:
    return _is_code(name) or _is_archive(name) or name.lower().endswith(".ipynb")


def _is_canvas_part(name: str) -> bool:
    return platforms.is_canvas_name(name) or platforms.is_canvas_name(f"{name}/")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
