"""The how-to guides on late work, adjusted grades and similar code, followed to the letter in a copy of the kit."""

import csv
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from autograder.gradebook import sample
from autograder.homework import kit, rubric

HOW_TO = kit.PACKAGE / "docs" / "how-to"
PAGES = [HOW_TO / f"{name}.md" for name in ("late-work", "adjust-grades", "find-similar")]
METADATA = """\
submission_1:
  :submitters: [{":name": Ada A, ":sid": "3000001", ":email": ada@example.org}]
  :created_at: 2026-11-21 10:00:00 +01:00
submission_2:
  :submitters: [{":name": Bela B, ":sid": "3000002", ":email": bela@example.org}]
  :created_at: 2026-11-22 10:00:00 +01:00
submission_3:
  :submitters: [{":name": Zoe Z, ":sid": "9", ":email": zoe@example.org}]
  :created_at: 2026-11-20 10:00:00 +01:00
"""


def blocks(language: str) -> list[str]:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def term(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which every instruction of the pages was followed."""
    root = tmp_path_factory.mktemp("term") / "kit"
    skipped = shutil.ignore_patterns("__pycache__", "tests", "docs", ".*")
    for part in ("autograder", "solutions"):
        shutil.copytree(kit.home() / part, root / part, ignore=skipped)
    shutil.copy(kit.home() / "pyproject.toml", root)
    rules = yaml.safe_load(kit.rubric_file().read_text(encoding="utf-8"))
    late, dropped = (yaml.safe_load(text) for text in blocks("yaml"))
    first = next(iter(rules["modules"].values()))["criteria"]
    first[next(iter(first))].update(dropped)
    (root / "rubric.yaml").write_text(yaml.safe_dump(rules | late, sort_keys=False), encoding="utf-8")
    names = ("roster.csv", "late-days.csv", "overrides.csv", "withheld.csv", "comments.csv")
    for name, text in zip(names, blocks("csv"), strict=True):
        (root / name).write_text(text, encoding="utf-8")
    with zipfile.ZipFile(root / "export.zip", "w") as archive:
        archive.writestr("assignment_5_export/submission_metadata.yml", METADATA)
        for number in (1, 2, 3):
            for name, text in sample.references().items():
                archive.writestr(f"assignment_5_export/submission_{number}/{name}", text + f"\n# {number}\n")
    for command in blocks("sh"):
        words = command.split()
        assert words[0] == "autograder"
        done = subprocess.run([sys.executable, "-m", *words], cwd=root, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return root / "results"


def rows(path: Path) -> dict[str, dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return {row["Student"]: row for row in csv.DictReader(file)}


@pytest.mark.slow
def test_late_work_points_set_by_hand_and_who_is_missing_stand_in_the_table(term: Path) -> None:
    found = rows(term / "grades.csv")
    first = next(iter(rubric.current().criteria.values()))
    most = rubric.current().points - first.points
    assert {name: row["Status"] for name, row in found.items()} == {
        "Ada Abel": "Graded", "Bela Brandt": "Graded", "Zoe Z": "Graded", "Chidi Costa": "Missing",
    }  # fmt: skip
    ada, bela, zoe = found["Ada Abel"], found["Bela Brandt"], found["Zoe Z"]
    assert float(ada["Total Score"]) == 90
    assert "oral exam" in ada["Remark"]
    assert float(bela["Raw Score"]) == float(bela["Max Points"]) == most
    assert float(bela["Total Score"]) == pytest.approx(most * 0.8)
    assert (zoe["Late"], float(zoe["Total Score"]), zoe["Section"]) == ("", most, "")
    assert bela["Section"] == "Tuesday"
    assert first.id not in bela


@pytest.mark.slow
def test_canvas_has_the_final_scores_for_the_assignment_that_exists(term: Path) -> None:
    found = rows(term / "canvas.csv")
    assert set(found) == {"Ada Abel", "Bela Brandt", "Zoe Z"}
    assert float(found["Ada Abel"][f"{rubric.current().title} (77)"]) == 90


@pytest.mark.slow
def test_every_student_has_a_page_and_the_class_one_without_names(term: Path) -> None:
    assert {path.name for path in (term / "feedback").iterdir()} == {
        f"submission_{number}.{end}" for number in (1, 2, 3) for end in ("md", "html")
    }
    page = (term / "feedback" / "submission_2.md").read_text(encoding="utf-8")
    assert "For Bela Brandt" in page
    assert "This criterion does not count: the sheet named the wrong axis" in page
    assert "Bela" not in (term / "report-anonymous.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_same_solution_three_times_is_three_pairs(term: Path) -> None:
    page = (term / "similar.html").read_text(encoding="utf-8")
    assert page.count("<summary>") == 3
    assert "<bdi>Ada Abel</bdi> and <bdi>Bela Brandt</bdi>" in page
