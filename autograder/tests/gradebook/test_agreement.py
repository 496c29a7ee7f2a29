"""Page, JSON, tables and report of a class agree, whatever the form of the export and whatever is adjusted afterwards."""

import csv
import html
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import pytest
from click.testing import CliRunner

from autograder.cli.main import main
from autograder.gradebook import pool, sample
from autograder.gradebook.pool import Pool
from autograder.homework.homework import Homework
from autograder.submissions.text import number
from autograder.tests.files import HOMEWORK, put, table_of
from autograder.tests.making import rubric_with

SIZE = 60  # the last two: an empty upload, and no upload
FIRST, SECOND, *_ = HOMEWORK.rubric.criteria.values()
FILE = f"{FIRST.module}.py"
OVERRIDES = f"""\
student,criterion,points,reason
4@x.org,total,12.5,oral exam
5@x.org,{FIRST.id},{FIRST.points:g},was right
6@x.org,total,EX,ill
7@x.org,total,withheld,under review
8@x.org,{SECOND.id},0,copied
8@x.org,total,3,copied
9@x.org,{SECOND.id},0,copied
"""
COMMENTS = f"student,about,comment\n10@x.org,{FIRST.id},see me\n11@x.org,total,very good\n"
DAYS = "student,days\n12@x.org,1\n13@x.org,3\n"


@pytest.fixture(autouse=True)
def in_a_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Makes the command grade in this process, with a due date."""
    rules = rubric_with(due="2026-11-20T23:00+00:00", late={"percent_a_day": 10})
    monkeypatch.setattr(Homework, "rubric", rules)
    monkeypatch.setattr(pool, "local", lambda jobs: Pool(lambda _: ThreadPoolExecutor(1), 1, is_local=True))
    yield
    pool.cool()


def texts() -> list[dict[str, str]]:
    """The files of each student: correct ones, mistakes, stubs, broken and misnamed files."""
    right, stub = sample.references(HOMEWORK)[FILE], sample.stubs(HOMEWORK)[FILE]
    known = HOMEWORK.of_module(FIRST.module)
    wrong = [f"{right}\n\n{known[7 * number % len(known)].source}" for number in range(8)]
    variants = [{FILE: text} for text in (right, *wrong, stub, right + "\ndef f((:\n")] + [
        {f"{FILE[:-3]} (1).py": right}
    ]
    return [variants[number % len(variants)] for number in range(SIZE - 2)] + [{"notes.txt": "sorry"}]


# The start of the names of a student's files in each form.
FORMS = {
    "Gradescope": "assignment_5_export/submission_{n}/", "Canvas": "student{n}{late}_{id}_9{id}_",
    "Moodle": "Student {n}_{id}_assignsubmission_file/",
}  # fmt: skip


def export_of(form: str, files: list[dict[str, str]]) -> dict[str, str]:
    export, about = dict[str, str](), {}
    for n, work in enumerate(files):
        who = {":name": f"Student {n}", ":sid": f"{n}", ":email": f"{n}@x.org"}
        about[f"submission_{n}"] = {":submitters": [who], ":created_at": f"2026-11-{19 + n % 4}T22:00:00Z"}
        start = FORMS[form].format(n=n, id=700 + n, late="_LATE" * (n % 4 > 1))
        export |= {f"{start}{name}": text for name, text in work.items()}
    return export | ({"assignment_5_export/submission_metadata.yml": json.dumps(about)} if form == "Gradescope" else {})


def plain(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.partition("<header>")[2])).split())


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_page_json_tables_and_report_agree(form: str, tmp_path: Path) -> None:
    head = "Identifier,name,sid,email,id,section\n"
    people = "".join(f"Participant {700 + n},Student {n},{n},{n}@x.org,{700 + n},A\n" for n in range(SIZE))
    put(tmp_path, {"roster.csv": head + people, "o.csv": OVERRIDES, "c.csv": COMMENTS, "d.csv": DAYS})
    export, out = put(tmp_path / "export.zip", export_of(form, texts())), tmp_path / "out"
    tables = zip(("roster", "overrides", "comments", "late-days"), ("roster", "o", "c", "d"), strict=True)
    words = [word for option, name in tables for word in (f"--{option}", str(tmp_path / f"{name}.csv"))]
    done = CliRunner().invoke(main, ["grade", str(export), "-o", str(out), "--feedback", *words])
    assert done.exit_code == 0, done.output
    table, report = table_of(out / "grades.csv", "Email"), (out / "report.html").read_text(encoding="utf-8")
    in_canvas, mail = table_of(out / "canvas.csv", "SIS Login ID"), table_of(out / "mail.csv", "Email")
    outcomes = {
        one["student"]["email"]: one["total"] for one in json.loads((out / "run.json").read_bytes())["outcomes"]
    }
    assert outcomes.keys() == table.keys() == {f"{n}@x.org" for n in range(SIZE)}
    in_report = dict(
        re.findall(r'<tr id="s\d+".*?<bdi>([^<]*)</bdi>.*?<td class="n total" data-value="([^"]*)"', report, re.DOTALL)
    )
    finals = []
    for email, row in table.items():
        total, status = row["Total Score"], row["Status"]
        assert outcomes[email] == (pytest.approx(float(total)) if total else None)
        assert float(in_report[row["Name"]] or 0) == pytest.approx(float(total or 0))
        given = {"Graded": total, "Excused": "EX"}.get(status, "")
        assert list(in_canvas.get(email, {"": ""}).values())[-1] == given
        if status == "Missing":
            continue
        document = json.loads((out / "results" / f"{row['Submission ID']}.json").read_bytes())
        scores = {test["extra_data"]["criterion"]: test["score"] for test in document["tests"]}
        manual = {one["criterion"]: float(one["points"]) for one in csv.DictReader(OVERRIDES.splitlines())
                  if one["student"] == email and one["criterion"] != "total"}  # fmt: skip
        assert {name: float(row[name]) for name in scores} == pytest.approx(scores | manual)
        raw = sum((scores | manual).values())
        assert (float(row["Raw Score"]), document["score"]) == pytest.approx((raw, sum(scores.values())))
        page = plain((out / mail[email]["Feedback"]).read_text(encoding="utf-8"))
        assert f"For {row['Name']} " in page and mail[email]["Score"] == total
        if status in ("Excused", "Withheld"):
            assert total == "" and not re.search(r"\d of \d", page.partition(row["Name"])[2])
            continue
        by_hand = email in ("4@x.org", "8@x.org")
        automatic = raw - float(row["Late Deduction"])
        assert float(total) == pytest.approx({"4@x.org": 12.5, "8@x.org": 3.0}.get(email, automatic))
        shown = f"{number(round(float(total), 2))} of {row['Max Points']}"
        assert f"Score {shown} " in page and f"{number(float(total))} of {row['Max Points']} points" in page
        assert ("were deducted" in page) == (float(row["Late Deduction"]) > 0 and not by_hand)
        assert (f"Earned {number(document['score'])}, set to {total}" in page) == by_hand
        extra = document["extra_data"]
        if extra["submitted"] or any(note["kind"] == "misnamed" for note in extra["notes"]):
            finals.append(float(total))
    assert "see me" in plain((out / mail["10@x.org"]["Feedback"]).read_text(encoding="utf-8"))
    assert {row["Status"] for row in table.values()} == {"Graded", "Excused", "Withheld", "Missing"}
    if form == "Gradescope":
        assert any(float(row["Late Deduction"] or 0) for row in table.values())
    middle = re.search(r"<dt>Median</dt><dd>([^ <]*)", report)
    assert middle is not None and float(middle[1]) == pytest.approx(round(median(finals), 1))
