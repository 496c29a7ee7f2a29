"""A small sample class: folders as students submit them, made from the solutions and misconceptions.

The misconceptions are chosen by position, so the sample adapts to changes of the homework.
"""

from collections.abc import Mapping
from pathlib import Path

from autograder.homework import kit, library, rubric
from autograder.homework.library import Misconception
from autograder.release import handout

Files = dict[str, str]


def references() -> Files:
    """A perfect submission."""
    return {name: (kit.solutions() / name).read_text(encoding="utf-8") for name in rubric.current().files}


def stubs() -> Files:
    """The files that a student starts with."""
    modules = zip(references().items(), rubric.current().modules.values(), strict=True)
    return {name: handout.stub(text, tuple(module.functions)) for (name, text), module in modules}


def wrong(files: Mapping[str, str], *mistakes: Misconception) -> Files:
    """The files with misconceptions, as if the student had written the wrong version last."""
    changed = dict(files)
    for mistake in mistakes:
        changed[f"{mistake.module}.py"] += f"\n\n{mistake.source}"
    return changed


def mistakes(number: int) -> list[Misconception]:
    """The `number`-th misconception of each module, cyclically."""
    pools = [library.of_module(name) for name in rubric.current().modules]
    return [pool[number % len(pool)] for pool in pools if pool]


def students() -> dict[str, Files]:
    """The class: one perfect submission, one unchanged, and five in between."""
    right, empty = references(), stubs()
    names = list(right)
    second = names[:2][-1]  # a homework may have one module
    emil = wrong(right, *mistakes(3)[2:])
    return {
        "ada": right,
        "bela": wrong(right, mistakes(0)[0]),
        "chidi": wrong(right, *mistakes(1)[1:3]),
        "dana": {**wrong(right, *mistakes(2)[:2]), **{name: empty[name] for name in names[-3:]}},
        # The first module has a wrong file name.
        "emil": {name.title().replace("_", "") if name == names[0] else name: text for name, text in emil.items()},
        "fatima": {**wrong(right, *mistakes(4)), second: right[second] + "\ndef unfinished(:\n"},
        "nobody-yet": empty,
    }


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write a submission to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def make(folder: Path) -> None:
    """Write the class as folders of `folder`."""
    for name, files in students().items():
        write(folder / name, files)
