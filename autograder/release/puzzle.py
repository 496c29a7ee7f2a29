"""`autograder puzzle`: a decoder with one or two wrong lines, and its output as the symptom.

The functions come from the misconception library, with the signatures and docstrings of the reference, so a wrong one looks
like the others. The model of names (solutions/tour) runs on them: only misconceptions that change its output become puzzles.
"""

import ast
import operator
import random
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from autograder.exceptions import ArgumentsError, of_system
from autograder.homework import reference
from autograder.homework.homework import Homework, module_at
from autograder.homework.library import Misconception
from autograder.release.packing import temporary_folder

LEVELS = {1: 1, 2: 1, 3: 2}  # mistakes in a puzzle; level 1 also names the function
WRITTEN, TEMPERATURE = 12, 0.8  # names that are sampled
VOWELS = set("aeiouy")


Symptom = tuple[tuple[str, ...], float]  # the output of a decoder with the trained weights, and its loss


@dataclass(frozen=True)
class Edit:
    """A wrong line of a puzzle, and its correction."""

    file: str
    line: int
    wrong: str
    right: str


@dataclass(frozen=True)
class Puzzle:
    """A decoder with mistakes: its files, the wrong lines, its symptom, and the output of a correct decoder."""

    level: int
    misconceptions: tuple[Misconception, ...]
    files: Mapping[str, str]
    edits: tuple[Edit, ...]
    symptom: Symptom
    right: Symptom


def make(homework: Homework, level: int, seed: int) -> Puzzle:
    """The puzzle for a level and a seed; the same arguments give the same puzzle.

    Raises ArgumentsError for an unknown level, and for a homework without a decoder or without a model of names.
    """
    if level not in LEVELS:
        raise ArgumentsError(f"there is no level {level}; choose among {', '.join(map(str, LEVELS))}")
    missing = [name for name in modules_of_model(homework) if name not in homework.rubric.modules]
    if missing:
        raise ArgumentsError(f"a puzzle is a whole decoder, but rubric.yaml has no module {missing[0]}")
    rng, right = random.Random(f"{level} {seed}"), _symptom(homework)
    assert right is not None
    every = [misconception for name in modules_of_model(homework) for misconception in homework.of_module(name)]
    candidates = []
    for m in every:
        right_lines, wrong_lines = (
            text.splitlines() for text in (homework.correct(m.module, m.function).source, m.source)
        )
        is_one_line = len(wrong_lines) == len(right_lines) and sum(map(operator.ne, wrong_lines, right_lines)) == 1
        if is_one_line and m.edits and not m.memory and not m.inexact:
            candidates.append(m)
    while True:
        chosen = tuple(rng.sample(candidates, LEVELS[level]))
        if len({misconception.function for misconception in chosen}) < len(chosen):
            continue
        symptom = _symptom(homework, *chosen)
        each = (_symptom(homework, one) for one in chosen)  # every mistake must be visible alone
        if symptom and all(one and one[0] != right[0] for one in (symptom, *each)):
            files = _files(homework, *chosen)
            return Puzzle(level, chosen, files, tuple(_edits(homework, files)), symptom, right)


def write(puzzle: Puzzle, folder: Path) -> None:
    """Write the modules and task.md. Raises ArgumentsError if the folder is not empty."""
    try:
        if folder.is_dir() and any(folder.iterdir()):
            raise ArgumentsError(f"{folder} is not empty; give a new folder with -o")
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in {**puzzle.files, "task.md": task(puzzle)}.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise of_system(error, folder) from error


def task(puzzle: Puzzle) -> str:
    """The task for students, in Markdown."""
    (right, right_loss), (wrong, wrong_loss) = puzzle.right, puzzle.symptom
    lines = "One line of it is wrong." if len(puzzle.edits) == 1 else "Two lines of it are wrong."
    first = puzzle.misconceptions[0]
    named = f"The wrong line is in `{first.function}`, in `{first.module}.py`.\n\n" if puzzle.level == 1 else ""
    facts = "".join(f"- {fact}\n" for fact in _facts(right, wrong))
    return (
        f"# Debug this decoder (level {puzzle.level})\n\n"
        f"The modules in this folder are a complete decoder. {lines} Find and fix what is wrong.\n\n"
        f"{named}"
        "With the trained weights of the homework, a correct decoder writes:\n\n"
        f"> {' '.join(right)}\n\nThis one writes:\n\n> {' '.join(name or '(nothing)' for name in wrong)}\n\n"
        f"- Its loss on held-out names is {wrong_loss:.2f} nats per character; a correct decoder has {right_loss:.2f}.\n"
        f"{facts}\n"
        "Do not rewrite functions: the puzzle is solved by changing as few lines as are wrong. The docstrings are correct. "
        "Submit the `.py` files as they are otherwise.\n"
    )


def _facts(right: Sequence[str], wrong: Sequence[str]) -> Iterator[str]:
    """Conspicuous properties of the names, each a sentence."""
    (vowels, length, twice), (vowels_right, length_right, twice_right) = map(_statistics, (wrong, right))
    if vowels < 0.5 * vowels_right:
        yield "Its names have hardly any vowels."
    if vowels > 1.5 * vowels_right:
        yield "Its names consist mostly of vowels."
    if length > 1.5 * length_right:
        yield "Its names do not end in time."
    if length < 0.6 * length_right:
        yield "Its names end too early."
    if twice > 2 * twice_right + 0.05:
        yield "It often repeats a letter."


def _statistics(names: Sequence[str]) -> tuple[float, float, float]:
    """The share of vowels, the mean length of a name, and the share of letters that repeat the one before."""
    letters = "".join(names)
    twice = sum(a == b for name in names for a, b in pairwise(name))
    total = max(1, len(letters))
    return sum(letter in VOWELS for letter in letters) / total, len(letters) / len(names), twice / total


# The text of a puzzle


def _files(homework: Homework, *chosen: Misconception) -> dict[str, str]:
    return {f"{name}.py": _text(homework, name, *chosen) for name in modules_of_model(homework)}


def _text(homework: Homework, module: str, *chosen: Misconception) -> str:
    """A module with the library's functions in place of the reference's, some with a misconception."""
    wrong = {misconception.function: misconception for misconception in chosen}
    text = homework.files[f"{module}.py"].decode()
    lines = text.splitlines()
    for node in reversed(ast.parse(text).body):
        if isinstance(node, ast.FunctionDef) and node.name in homework.rubric.modules[module].functions:
            source = (wrong.get(node.name) or homework.correct(module, node.name)).source
            docstring, (function,) = node.body[0], ast.parse(source).body
            assert isinstance(function, ast.FunctionDef) and node.end_lineno
            head, body = function.body[0].lineno - 1, source.rstrip("\n").split("\n")
            body[head:head] = lines[docstring.lineno - 1 : docstring.end_lineno]
            marked = lines[node.end_lineno : node.end_lineno + 1] == ["    # END SOLUTION"]
            lines[node.lineno - 1 : node.end_lineno + marked] = body
    return "\n".join(lines) + "\n"


def _edits(homework: Homework, wrong: Mapping[str, str]) -> Iterator[Edit]:
    """The lines that differ from the correct files."""
    for file, text in _files(homework).items():
        for number, (new, old) in enumerate(zip(wrong[file].split("\n"), text.split("\n"), strict=True), 1):
            if new != old:
                yield Edit(file, number, new, old)


# The symptom


@cache
def _symptom(homework: Homework, *chosen: Misconception) -> Symptom | None:
    """The output of a decoder with the trained weights, and its loss on held-out names; None if it raises an error."""
    names, rng = _tour(homework), np.random.default_rng(1)
    with temporary_folder("autograder-puzzle-") as folder:
        for file, text in _files(homework, *chosen).items():
            (folder / file).write_text(text, encoding="utf-8")
        modules = names.Modules(**reference.load(folder, modules_of_model(homework)))
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        try:
            written = tuple(names.sample(modules, rng, TEMPERATURE, params=names.model()) for _ in range(WRITTEN))
            return written, float(np.mean([names.nats(modules, name) for name in names.census()[1]]))
        except Exception:
            return None


@cache
def _tour(homework: Homework) -> Any:
    """The model of names."""
    path = homework.solutions / "tour" / "names.py"
    if not path.is_file():
        raise ArgumentsError(f"a puzzle needs the trained model of the Transformer homework, but there is no {path}")
    return module_at(path)


def modules_of_model(homework: Homework) -> tuple[str, ...]:
    """The modules that the model of names uses."""
    fields: tuple[str, ...] = _tour(homework).Modules._fields
    return fields
