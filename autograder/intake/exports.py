"""What a path holds: a submission, a class, a Gradescope export, a Canvas download; as folder or zip.

Told apart by names alone, in this order: a `submission_metadata.yml` makes a Gradescope export; a module of
the rubric directly inside makes a single submission; names as Canvas writes them make a Canvas download;
several folders or zips with work in them make a class; all else is a single submission.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.homework import rubric
from autograder.intake import canvas, gradescope, tree
from autograder.intake.entries import Entry, Source, Student, keyed
from autograder.intake.tree import Tree

KIT_FOLDERS = {"assignments", "solutions", "checks"}


class UnusableError(ValueError):
    """Paths that name nothing to grade; the text says why."""


@dataclass(frozen=True)
class Listing:
    """The submissions, how each path was understood, and what an instructor should look at."""

    entries: tuple[Entry, ...]
    forms: tuple[str, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True)
class _Found:
    form: str
    entries: list[Entry]
    problems: list[str]


def listing(paths: Sequence[Path], out: Path | None = None) -> Listing:
    """Everything to be graded at `paths`, without the folder `out`, where results go.

    Raises UnusableError for a path that does not exist, cannot be read, or holds no form of submission.
    """
    paths = list({path.absolute(): path for path in paths}.values())
    modules = [path for path in paths if path.suffix.lower() == ".py" and os.path.isfile(path)]
    found = [_look(path, out) for path in paths if path not in modules]
    if modules:
        found.append(_files(modules))
    entries = keyed(entry for one in found for entry in one.entries)
    if not entries:
        raise UnusableError(f"{', '.join(map(str, paths))}: there is no submission in it")
    problems = tuple(problem for one in found for problem in one.problems)
    return Listing(tuple(entries), tuple(one.form for one in found), problems)


def _look(path: Path, out: Path | None) -> _Found:
    try:
        if path.is_dir():
            inside = _unwrapped(tree.of_folder(path, out))
            if kind(inside) == "submission" and out is not None and path.resolve() in (out / "x").resolve().parents:
                raise UnusableError(f"{path}: the results would go into the submission itself; give another -o")
            return _recognised(inside, path)
        if path.suffix.lower() == ".zip" and path.is_file():
            zipped = tree.of_zip(path)
            return _single(path) if zipped is None else _recognised(_unwrapped(zipped), path)
        path.lstat()
    except OSError as error:
        raise UnusableError(f"{path}: {error.strerror or error}") from error
    raise UnusableError(f"{path}: neither a folder nor a .zip nor a .py file")


def _files(paths: list[Path]) -> _Found:
    """Single .py files: together one submission, unless Canvas has named them."""
    pairs = [(path.name, Source(path, path.name)) for path in paths]
    if all(canvas.matches(name) for name, _ in pairs):
        entries, problems = canvas.entries(pairs)
        return _Found(f"{_counted(len(entries), 'submission')} downloaded from Canvas", entries, problems)
    names = [name.lower() for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), "")
    if twice:
        raise UnusableError(f"there are several files called {twice}; give the folders that they lie in instead")
    folders = {path.absolute().parent for path in paths}
    key = paths[0].stem if len(paths) == 1 else folders.pop().name if len(folders) == 1 else "submission"
    return _Found(f"{_counted(len(paths), 'file')}: one submission", [_entry(key, tuple(s for _, s in pairs))], [])


def _entry(key: str, sources: tuple[Source, ...], remark: str = "") -> Entry:
    return Entry(key, sources, (Student(name=key),), remark=remark)


def _recognised(inside: Tree, path: Path) -> _Found:
    match kind(inside):
        case "gradescope":
            entries, problems = gradescope.entries(inside)
            return _Found(f"{path}: a Gradescope export of {_counted(len(entries), 'submission')}", entries, problems)
        case "canvas":
            pairs = [(name, inside.source(name)) for name in inside.loose]
            entries, problems = canvas.entries(pairs)
            return _Found(f"{path}: a Canvas download of {_counted(len(entries), 'submission')}", entries, problems)
        case "class":
            return _class(inside, path)
    return _single(path)


def _single(path: Path) -> _Found:
    name = path.absolute().name if path.is_dir() else path.stem
    sources = tree.of_folder(path).work() if path.is_dir() else (Source(path),)
    return _Found(f"{path}: one submission", [_entry(name, sources)], [])


def _class(inside: Tree, path: Path) -> _Found:
    entries = [_entry(name, inside.below(name).work()) for name in inside.folders if name not in KIT_FOLDERS]
    zips = [name for name in inside.loose if name.lower().endswith(".zip")]
    entries += [_entry(Path(name).stem, (_whole(inside.source(name)),)) for name in zips]
    stray = [name for name in inside.loose if name.endswith(".py")]
    problems = [f"{path}: {name} lies beside the submissions and was not graded" for name in stray]
    return _Found(f"{path}: a folder of {_counted(len(entries), 'submission')}", entries, problems)


def _whole(source: Source) -> Source:
    """A zip that is a submission by itself: read where it lies if it lies in a folder."""
    return source if source.member else replace(source, name="")


# What kind of thing a tree is


def kind(inside: Tree) -> str:
    """ "gradescope", "canvas", "class" or "submission"."""
    if gradescope.METADATA in inside.files:
        return "gradescope"
    if has_module(inside.loose):
        return "submission"
    if canvas.is_download(inside.loose) and not any("/" in name for name in inside.files):
        return "canvas"
    return "class" if _is_class(inside) else "submission"


def has_module(names: Sequence[str]) -> bool:
    """Whether a file of the rubric is among the names, in whatever folder."""
    wanted = {f"{module}.py" for module in rubric.current().modules}
    return any(name.split("/")[-1] in wanted for name in names)


def _is_class(inside: Tree) -> bool:
    units = [inside.below(name) for name in inside.folders]
    if KIT_FOLDERS.intersection(inside.folders):
        units = [unit for unit in units if unit.name not in KIT_FOLDERS and has_module(tuple(unit.files))]
        return len(units) > 1
    zips = [name for name in inside.loose if name.lower().endswith(".zip")]
    strong = len(zips) + sum(unit.unreadable != frozenset() or _handed_in(unit) for unit in units)
    if strong > 1:
        return True
    loose = any(name.endswith(".py") for name in inside.loose)
    return bool(units or zips) and not loose and not inside.zipped and all(_some_work(unit) for unit in units)


def _handed_in(unit: Tree) -> bool:
    return has_module(tuple(unit.files)) or any(name.lower().endswith(".zip") for name in unit.loose)


def _some_work(unit: Tree) -> bool:
    return any(name.lower().endswith((".py", ".zip")) for name in unit.files)


def _unwrapped(outer: Tree) -> Tree:
    """Through folders that hold nothing but one folder, if that leads to a class."""
    for inner in _layers(outer):
        if kind(inner) in ("gradescope", "canvas") or (kind(inner) == "class" and len(inner.folders) != 1):
            return inner
    return outer


def _layers(outer: Tree) -> Iterator[Tree]:
    yield outer
    while len(outer.folders) == 1 and not any(name.endswith((".py", ".zip")) for name in outer.loose):
        outer = outer.below(outer.folders[0])
        yield outer


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
