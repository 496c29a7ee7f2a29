"""A small sample class: folders as students submit them, made from the solutions and misconceptions.

The misconceptions are chosen by their order, so the sample follows changes of the homework.
"""

from collections.abc import Mapping
from pathlib import Path

from autograder.homework import kit, rubric
from autograder.homework import library as known
from autograder.homework.library import Misconception
from autograder.release import handout

Files = dict[str, str]


def references() -> Files:
    """A perfect submission."""
    return {f"{name}.py": _solution(name) for name in rubric.current().modules}


def stubs() -> Files:
    """The files that a student starts with."""
    modules = rubric.current().modules
    return {f"{name}.py": handout.stub(_solution(name), tuple(modules[name].functions)) for name in modules}


def _solution(name: str) -> str:
    return (kit.solutions() / f"{name}.py").read_text(encoding="utf-8")


def wrong(files: Mapping[str, str], *mistakes: Misconception) -> Files:
    """The files with misconceptions, as if the student had written the wrong version last."""
    changed = dict(files)
    for mistake in mistakes:
        changed[f"{rubric.current().module_of(mistake.function)}.py"] += f"\n\n{mistake.source}"
    return changed


def mistakes(number: int) -> list[Misconception]:
    """The `number`-th misconception of each module, cyclically."""
    pools = [known.of_module(name) for name in rubric.current().modules]
    return [pool[number % len(pool)] for pool in pools if pool]


def students() -> dict[str, Files]:
    """The class: one perfect submission, one unchanged, and five between."""
    right, empty = references(), stubs()
    names = list(right)
    second = names[:2][-1]  # a homework may have one module
    emil = wrong(right, *mistakes(3)[2:])
    return {
        "ada": right,
        "bela": wrong(right, mistakes(0)[0]),
        "chidi": wrong(right, *mistakes(1)[1:3]),
        "dana": {**wrong(right, *mistakes(2)[:2]), **{name: empty[name] for name in names[-3:]}},
        # The first module under another name than it must have.
        "emil": {name.title().replace("_", "") if name == names[0] else name: text for name, text in emil.items()},
        "fatima": {**wrong(right, *mistakes(4)), second: right[second] + "\ndef unfinished(:\n"},
        "nobody-yet": empty,
    }


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """Write a submission to its own folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return folder


def make(folder: Path) -> list[Path]:
    """Write the class as folders of `folder`."""
    return [write(folder / name, files) for name, files in students().items()]
