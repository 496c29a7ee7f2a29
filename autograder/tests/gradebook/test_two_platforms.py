"""On the evening after the deadline, the exports of two platforms end in tables that need no hand."""

import csv
import shutil
from pathlib import Path

import pytest

from autograder.gradebook import sample
from autograder.homework import kit
from autograder.tests.files import Files, put
from autograder.tests.forked import command

pytestmark = pytest.mark.slow  # a copy of the kit grades eight submissions

RULES = """
due: 2026-11-20T23:00+00:00
uploads: best
late: {percent_a_day: 10, floor_percent: 50}
"""
RIGHT = sample.references()
FIRST = next(iter(RIGHT))
RENAMED = FIRST.replace(".py", " (1).py")
BROWSER = {name.replace(FIRST, RENAMED): text for name, text in RIGHT.items()}
UNFINISHED = RIGHT | {FIRST: sample.stubs()[FIRST]}
METADATA = """\
submission_1:
  :submitters: [{":name": Ada Weiß, ":sid": "31", ":email": ada@example.org}]
  :created_at: 2026-11-22 05:00:00 Z
submission_2:
  :submitters: [{":name": "=Bela Brandt", ":sid": "32", ":email": bela@example.org}]
  :created_at: 2026-11-22 05:00:00 Z
submission_3:
  :submitters: [{":name": "Kofi, Lena", ":sid": "33", ":email": lena@example.org}]
  :created_at: 2026-11-20 18:00:00 Z
submission_4:
  :submitters: [{":name": "Kofi, Lena", ":sid": "33", ":email": lena@example.org}]
  :created_at: 2026-11-29 18:00:00 Z
submission_5:
  :submitters: [{":name": Øyvind Å, ":sid": "34", ":email": oyvind@example.org}]
  :created_at: 2026-11-20 18:00:00 Z
"""
GRADESCOPE = [RIGHT, RIGHT, UNFINISHED, RIGHT, BROWSER]
MOODLE = {"Zoë O'Neil_700112": BROWSER, "José Ñandú_700113": UNFINISHED, "Emil Erz_700114": RIGHT}
ROSTER = """\
Identifier;Full name;SID;Email address;Section;extension_hours;excused
;Ada Weiß;31;ada@example.org;A;;
;=Bela Brandt;32;bela@example.org;B;48;
;Kofi, Lena;33;lena@example.org;A;;
;Øyvind Å;34;oyvind@example.org;B;;
;Fatima;35;fatima@example.org;A;;
Participant 700112;Zoë O'Neil;36;zoe@example.org;M;;
Participant 700113;José Ñandú;37;jose@example.org;M;;
Participant 700114;Emil Erz;38;emil@example.org;M;;yes
"""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run over the class, by a copy of the kit whose rubric has a due date; the roster is as Excel saves it."""
    place = tmp_path_factory.mktemp("class")
    shutil.copytree(kit.home(), place / "kit", ignore=shutil.ignore_patterns(".*", "__pycache__", "tests", "dist"))
    with (place / "kit" / "rubric.yaml").open("a", encoding="utf-8") as file:
        file.write(RULES)
    export: Files = {"submission_metadata.yml": METADATA} | {
        f"submission_{number}/{name}": text
        for number, files in enumerate(GRADESCOPE, 1)
        for name, text in files.items()
    }
    put(place / "gradescope.zip", {f"assignment_77_export/{name}": text for name, text in export.items()})
    for name, files in MOODLE.items():
        put(place / "moodle" / f"{name}_assignsubmission_file", files)
    (place / "roster.csv").write_bytes(ROSTER.replace("\n", "\r\n").encode("cp1252"))
    options = ["--accept-names", "--roster", "../roster.csv", "-o", "../out"]
    done = command(place / "kit", "grade", "../gradescope.zip", "../moodle", *options)
    assert done.returncode == 0, done.stderr
    return place / "out"


def table(path: Path, key: str) -> dict[str, dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return {row[key]: row for row in csv.DictReader(file)}


def test_every_person_has_one_row_and_every_cell_of_it_is_right(out: Path) -> None:
    rows = table(out / "grades.csv", "Email")
    part = rows["lena@example.org"]["Raw Score"]  # on time; all of the points, nine days late, would be worth 50
    assert 50 < float(part) < 100
    columns = ("Student", "SID", "Section", "Total Score", "Status", "Due")
    assert [tuple(row[column] for column in columns) for row in sorted(rows.values(), key=lambda row: row["SID"])] == [
        ("Ada Weiß", "31", "A", "80", "Graded", ""),
        ("'=Bela Brandt", "32", "B", "100", "Graded", "2026-11-22T23:00:00+00:00"),
        ("Kofi, Lena", "33", "A", part, "Graded", ""),
        ("Øyvind Å", "34", "B", "100", "Graded", ""),
        ("Fatima", "35", "A", "", "Missing", ""),
        ("Zoë O'Neil", "36", "M", "100", "Graded", ""),
        ("José Ñandú", "37", "M", part, "Graded", ""),
        ("Emil Erz", "38", "M", "", "Excused", ""),
    ]
    assert {email for email, row in rows.items() if RENAMED in row["Remark"]} == {
        "oyvind@example.org",
        "zoe@example.org",
    }
    assert [email for email, row in rows.items() if row["Other Submissions"]] == ["lena@example.org"]


def test_canvas_and_moodle_have_who_has_a_score_or_is_excused(out: Path) -> None:
    part = table(out / "grades.csv", "SID")["33"]["Raw Score"]
    scores = {sid: [*row.values()][-1] for sid, row in table(out / "canvas.csv", "SIS User ID").items()}
    assert scores == {"31": "80", "32": "100", "33": part, "34": "100", "36": "100", "37": part, "38": "EX"}
    grades = {who: row["Grade"] for who, row in table(out / "moodle.csv", "Identifier").items()}
    assert grades == {"Participant 700112": "100", "Participant 700113": part}
