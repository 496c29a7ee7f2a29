"""A small sample class: folders as students submit them, made from the solutions and misconceptions.

The misconceptions are chosen by position, so the sample adapts to changes of the homework.
"""

from collections.abc import Mapping
from pathlib import Path

from autograder.homework.homework import Homework
from autograder.homework.library import Misconception
from autograder.release import handout

Files = dict[str, str]


def references(homework: Homework) -> Files:
    """Return a perfect submission."""
    return {name: (homework.solutions / name).read_text(encoding="utf-8") for name in homework.rubric.files}


def stubs(homework: Homework) -> Files:
    """Return the files that a student starts with."""
    modules = zip(references(homework).items(), homework.rubric.modules.values(), strict=True)
    return {name: handout.stub(text, tuple(module.functions)) for (name, text), module in modules}


def with_mistakes(files: Mapping[str, str], *mistakes: Misconception) -> Files:
    """Return the files with misconceptions, as if the student had written the wrong version last."""
    changed = dict(files)
    for mistake in mistakes:
        changed[f"{mistake.module}.py"] += f"\n\n{mistake.source}"
    return changed


def mistakes(homework: Homework, number: int) -> list[Misconception]:
    """Return the `number`-th misconception of each module, cyclically."""
    pools = [homework.of_module(name) for name in homework.rubric.modules]
    return [pool[number % len(pool)] for pool in pools if pool]


def students(homework: Homework) -> dict[str, Files]:
    """Return the class: one perfect submission, one unchanged, and five in between."""
    correct, empty = references(homework), stubs(homework)
    names = list(correct)
    second = names[:2][-1]  # a homework may have one module
    emil = with_mistakes(correct, *mistakes(homework, 3)[2:])
    return {
        "ada": correct,
        "bela": with_mistakes(correct, mistakes(homework, 0)[0]),
        "chidi": with_mistakes(correct, *mistakes(homework, 1)[1:3]),
        "dana": {**with_mistakes(correct, *mistakes(homework, 2)[:2]), **{name: empty[name] for name in names[-3:]}},
        # The first module has a wrong file name.
        "emil": {name.title().replace("_", "") if name == names[0] else name: text for name, text in emil.items()},
        "fatima": {**with_mistakes(correct, *mistakes(homework, 4)), second: correct[second] + "\ndef unfinished(:\n"},
        "nobody-yet": empty,
    }


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write a submission to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def make(homework: Homework, folder: Path) -> None:
    """Write the class as folders of `folder`."""
    for name, files in students(homework).items():
        write(folder / name, files)
