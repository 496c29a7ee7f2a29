"""A made-up class of any size as a Gradescope export: `python -m autograder.tests.synthetic_class N
FOLDER_OR_ZIP`.

Perfect and empty submissions, known mistakes, correct alternatives, work that is not finished, not Python,
never ends or crashes; groups, second submissions, and names that try to be markup, formulas, paths or escape
codes. The same N and seed make the same class.
"""

import random
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from autograder.cohort import sample
from autograder.cohort.sample import Files
from autograder.homework import kit, mistakes, rubric

ALTERNATIVES = kit.PACKAGE / "proof" / "alternatives"
KINDS = {
    "perfect": 20,
    "alternative": 12,
    "mistakes": 45,
    "unfinished": 12,
    "empty": 4,
    "broken": 5,
    "slow": 1,
    "crash": 1,
}
AWKWARD = (
    '=HYPERLINK("http://example.org")', "<script>document.title = 'broken'</script>", "O'Neil, \"Pat\"", "+1 Jones",
    "@import", "-2+3", "José Ñandú", "李 小龍", "محمد علي", "Zoë\tTab", "A" * 120, "../../etc/passwd", "\u202enosredna", "No",
    "null", "Ann & Bob <ann@example.org>", "{{ 7 * 7 }}", "%s %d", "🧮 Emoji", "'quoted'", "\x1b[31mred", "  spaced  ",
)  # fmt: skip
FIRST = (
    "Ada",
    "Bela",
    "Chidi",
    "Dana",
    "Emil",
    "Fatima",
    "Goran",
    "Hana",
    "Ivo",
    "Jia",
    "Kofi",
    "Lena",
    "Mei",
    "Nils",
)
LAST = (
    "Abel",
    "Brandt",
    "Costa",
    "Dvorak",
    "Eriksen",
    "Farah",
    "Gupta",
    "Haas",
    "Ito",
    "Jansen",
    "Kaya",
    "Lopez",
)
SLOW = "\n\ndef {function}(*args, **kwargs):\n    while True:\n        pass\n"
CRASH = "\n\ndef {function}(*args, **kwargs):\n    import os\n    os._exit(3)\n"


@dataclass(frozen=True)
class Made:
    """One submission of the class: its folder's name, its kind, its submitters and its files."""

    folder: str
    kind: str
    submitters: tuple[dict[str, str], ...]
    created_at: str
    files: Files


def submissions(number: int, seed: int = 0) -> Iterator[Made]:
    """The class, one submission after the other."""
    chance = random.Random(seed)
    again: tuple[dict[str, str], ...] | None = None
    for i in range(number):
        kind = chance.choices(list(KINDS), list(KINDS.values()))[0]
        people = again or tuple(_person(2 * i + k, chance) for k in range(2 if i % 11 == 5 else 1))
        again = people if i % 40 == 7 else None
        yield Made(
            f"submission_{1000 + i}",
            kind,
            people,
            f"2025-11-{1 + i % 20:02d} {i % 24:02d}:00:00 -0800",
            _files(kind, chance),
        )


def _person(number: int, chance: random.Random) -> dict[str, str]:
    awkward = number % 9 == 4
    name = AWKWARD[number // 9 % len(AWKWARD)] if awkward else f"{chance.choice(FIRST)} {chance.choice(LAST)}"
    person = {":name": name, ":sid": f"{3_000_000 + number}", ":email": f"student{number}@example.org"}
    if number % 23 == 3:
        del person[":sid"]
    return person


def _files(kind: str, chance: random.Random) -> Files:
    right, modules = _references(), list(rubric.current().modules)
    match kind:
        case "alternative":
            return right | chance.choice(_alternatives())
        case "mistakes":
            return _wrong(right, chance, chance.randint(1, 4))
        case "unfinished":
            left = modules[chance.randint(1, len(modules) - 1) :]
            return _wrong(right, chance, chance.randint(0, 2)) | {f"{name}.py": _stubs()[f"{name}.py"] for name in left}
        case "empty":
            return dict(_stubs())
        case "broken":
            return _broken(dict(right), chance)
        case "slow" | "crash":
            function = chance.choice(list(rubric.current().modules[modules[0]].functions))
            text = (SLOW if kind == "slow" else CRASH).format(function=function)
            return right | {f"{modules[0]}.py": right[f"{modules[0]}.py"] + text}
    return dict(right)


@cache
def _references() -> Files:
    return sample.references()


@cache
def _stubs() -> Files:
    return sample.stubs()


@cache
def _alternatives() -> list[Files]:
    folders = sorted(path for path in ALTERNATIVES.iterdir() if path.is_dir() and not path.name.startswith(("_", ".")))
    return [{path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.py")} for folder in folders]


def _wrong(files: Files, chance: random.Random, number: int) -> Files:
    """Some mistakes are made far more often than others, as in life."""
    pools = [pool for name in rubric.current().modules if (pool := mistakes.of_module(name))]
    chosen = [
        pool[min(int(chance.expovariate(0.25)), len(pool) - 1)]
        for pool in chance.sample(pools, min(number, len(pools)))
    ]
    return sample.wrong(files, *chosen)


def _broken(files: Files, chance: random.Random) -> Files:
    name = chance.choice(list(files))
    text = files.pop(name)
    match chance.randrange(4):
        case 0:
            files[name] = text + "\ndef unfinished(:\n"
        case 1:
            files[name.title()] = text
        case 2:
            return {}
    return files


# Writing it down


def metadata(made: list[Made]) -> str:
    """submission_metadata.yml as Gradescope writes it."""
    document = {
        one.folder: {
            ":submitters": [dict(person) for person in one.submitters],
            ":created_at": one.created_at,
            ":score": 0.0,
            ":status": "processed",
            ":results": {"tests": []},
            ":history": [],
        }
        for one in made
    }
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True)


def make(place: Path, number: int, seed: int = 0) -> Path:
    """Write the class to a folder, or to a zip if the name ends so."""
    made = list(submissions(number, seed))
    texts = {f"{one.folder}/{name}": text for one in made for name, text in one.files.items()}
    texts["submission_metadata.yml"] = metadata(made)
    if place.suffix == ".zip":
        with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
            for one in made:
                archive.writestr(f"{place.stem}/{one.folder}/", "")
            for name, text in texts.items():
                archive.writestr(f"{place.stem}/{name}", text)
        return place
    for one in made:
        (place / one.folder).mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (place / name).write_text(text, encoding="utf-8", newline="\n")
    return place


if __name__ == "__main__":
    make(Path(sys.argv[2]), int(sys.argv[1]))
