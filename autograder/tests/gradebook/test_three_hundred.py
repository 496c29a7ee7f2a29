"""A class of 300 on the evening after the deadline ends in tables that need no hand.

Two exports, Gradescope's and Moodle's; extensions, excused, late work, second uploads, files that a browser has renamed, people who
have handed in nothing. What each row must say is reckoned here a second time, from who the people are.
"""

import csv
import math
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from autograder.gradebook import sample
from autograder.gradebook.sample import Files
from autograder.homework import kit
from autograder.tests.files import put
from autograder.tests.forked import command

pytestmark = pytest.mark.slow

PEOPLE, IN_GRADESCOPE = 300, 200
DUE = datetime(2026, 11, 20, 23, 0, tzinfo=UTC)
RULES = """
due: 2026-11-20T23:00+00:00
uploads: best
late: {percent_a_day: 10, floor_percent: 50}
"""
NAMES = ("Ada Weiß", "Zoë O'Neil", "José Ñandú", "=Bela Brandt", "Kofi, Lena", "Øyvind Å")
RIGHT = sample.references()
FIRST, LAST = next(iter(RIGHT)), list(RIGHT)[-2]
WRONG = "\n\ndef layer_norm(x, gamma, beta, eps=1e-5):\n    mean = x.mean(axis=-1, keepdims=True)\n"
WRONG += "    return gamma * (x - mean) / (x.std(axis=-1, keepdims=True, ddof=1) + eps) + beta\n"
KINDS: dict[str, Files] = {
    "right": RIGHT,
    "wrong": RIGHT | {FIRST: RIGHT[FIRST] + WRONG},
    "unfinished": {name: text for name, text in RIGHT.items() if name != LAST},
    "browser": {name.replace(FIRST, FIRST.replace(".py", " (1).py")): text for name, text in RIGHT.items()},
}


def person(number: int) -> SimpleNamespace:
    """Somebody of the class, with the uploads they have made: the kind, and how many hours after the due date."""
    in_moodle, is_absent = number >= IN_GRADESCOPE, number % 30 == 7
    uploads = [(("right", "wrong", "unfinished", "browser")[number % 4], 30 if number % 6 == 5 else -5)]
    uploads += [("wrong", 60)] if number % 20 == 0 and not in_moodle else []
    return SimpleNamespace(
        number=number,
        name=f"{NAMES[number % len(NAMES)]} {number}",
        email=f"p{number}@example.org",
        sid=f"{3_000_000 + number}",
        in_moodle=in_moodle,
        excused=number % 25 == 3,
        extension=48 if number % 12 == 5 else 0,
        uploads=[] if is_absent else uploads,
    )


CLASS = [person(number) for number in range(PEOPLE)]


def write_exports(place: Path) -> list[Path]:
    """Gradescope's export as a zip, Moodle's download as a folder."""
    about, files = {}, dict[str, str]()
    for one in CLASS:
        for again, (kind, hours) in enumerate(one.uploads):
            if one.in_moodle:
                put(place / "moodle" / f"{one.name}_{700_000 + one.number}_assignsubmission_file", KINDS[kind])
                continue
            folder = f"submission_{1000 + 2 * one.number + again}"
            who = {":name": one.name, ":sid": one.sid, ":email": one.email}
            about[folder] = {":submitters": [who], ":created_at": (DUE + timedelta(hours=hours)).isoformat()}
            files |= {f"assignment_77_export/{folder}/{name}": text for name, text in KINDS[kind].items()}
    files["assignment_77_export/submission_metadata.yml"] = yaml.safe_dump(about, allow_unicode=True)
    return [put(place / "gradescope.zip", files), place / "moodle"]


def write_roster(path: Path) -> Path:
    """As Excel saves it in Germany."""
    lines = ["Identifier;Full name;SID;Email address;Section;extension_hours;excused"]
    for one in CLASS:
        identifier = f"Participant {700_000 + one.number}" if one.in_moodle else ""
        hours, excused = one.extension or "", "yes" if one.excused else ""
        lines.append(f'{identifier};"{one.name}";{one.sid};{one.email};{"ABC"[one.number % 3]};{hours};{excused}')
    path.write_bytes("\r\n".join(lines).encode("cp1252"))
    return path


def table(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


@pytest.fixture(scope="module")
def scores(grade: Callable[..., dict[str, Any]]) -> dict[str, float]:
    """What each kind of upload earns, graded alone."""
    replaced = {"right": {}, "wrong": {FIRST: KINDS["wrong"][FIRST]}, "unfinished": {LAST: None}, "browser": {}}
    return {kind: grade(files)["score"] for kind, files in replaced.items()}


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run over the whole class, by a copy of the kit whose rubric has a due date."""
    place = tmp_path_factory.mktemp("class")
    shutil.copytree(kit.home(), place / "kit", ignore=shutil.ignore_patterns(".*", "__pycache__", "tests", "dist"))
    with (place / "kit" / "rubric.yaml").open("a", encoding="utf-8") as file:
        file.write(RULES)
    paths = map(str, write_exports(place))
    options = ["--accept-names", "--roster", str(write_roster(place / "roster.csv")), "-o", str(place / "out")]
    done = command(place / "kit", "grade", *paths, *options)
    assert done.returncode == 0, done.stderr
    return place / "out"


def total(one: SimpleNamespace, scores: dict[str, float]) -> float | None:
    """What a person's best upload is worth after lateness, rounded as tables are; Moodle's download has no times."""
    if one.excused or not one.uploads:
        return None
    worth = []
    for kind, hours in one.uploads:
        late = 0 if one.in_moodle else max(0, math.ceil((hours - one.extension) / 24))
        worth.append(scores[kind] * max(0.5, 1 - 0.1 * late))
    return round(max(worth), 6)


def test_every_person_has_one_row_and_every_cell_of_it_is_right(out: Path, scores: dict[str, float]) -> None:
    rows = {row["Email"]: row for row in table(out / "grades.csv")}
    assert len(rows) == PEOPLE and len(list(table(out / "grades.csv"))) == PEOPLE
    for one in CLASS:
        row, wanted = rows[one.email], total(one, scores)
        assert (row["Student"].removeprefix("'"), row["SID"]) == (one.name, one.sid)
        assert row["Section"] == "ABC"[one.number % 3]
        assert row["Total Score"] == ("" if wanted is None else f"{wanted:g}"), one
        assert row["Status"] == ("Excused" if one.excused else "Graded" if one.uploads else "Missing")
        assert row["Due"] == ((DUE + timedelta(hours=48)).isoformat() if one.extension else "")
        accepted = any(kind == "browser" for kind, _ in one.uploads)
        assert (FIRST.replace(".py", " (1).py") in row["Remark"]) == accepted
        assert bool(row["Other Submissions"]) == (len(one.uploads) > 1)


def test_canvas_and_moodle_have_who_has_a_score_or_is_excused(out: Path, scores: dict[str, float]) -> None:
    rows = {row["SIS User ID"]: list(row.values())[-1] for row in table(out / "canvas.csv")}
    wanted = {one.sid: "EX" if one.excused else total(one, scores) for one in CLASS}
    assert rows == {sid: one if one == "EX" else f"{one:g}" for sid, one in wanted.items() if one is not None}
    rows = {row["Identifier"]: row["Grade"] for row in table(out / "moodle.csv")}
    in_moodle = {f"Participant {700_000 + one.number}": total(one, scores) for one in CLASS if one.in_moodle}
    assert rows == {who: f"{score:g}" for who, score in in_moodle.items() if score is not None}
