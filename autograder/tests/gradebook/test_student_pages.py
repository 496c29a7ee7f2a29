"""A student's page says what the json says, and nothing that a student chose is markup."""

import html
import re
from dataclasses import replace
from typing import Any

from autograder.gradebook import outputs
from autograder.gradebook.inputs import Override
from autograder.gradebook.rows import StudentRow
from autograder.homework import rubric as rubrics
from autograder.submissions.uploads import Student, Upload
from autograder.tests.making import grade_of_points

RUBRIC = rubrics.current()
FIRST, SECOND, *_ = RUBRIC.criteria.values()
EARNED = f"{RUBRIC.points - FIRST.points:g} of {RUBRIC.points:g} points"
EVIL = "[x](http://evil) <script>alert(1)</script> \\[y](http://evil)"


def document(**first: Any) -> dict[str, Any]:
    empty = {"score": 0, "output": ""}
    tests = [
        {**empty, "max_score": one.points, "visibility": one.visibility, "extra_data": {"criterion": one.id}}
        for one in RUBRIC.criteria.values()
    ]
    tests[0] |= first
    return {"score": 0, "output": "**0 of the 1 points.**\n\n- a note on top\n", "tests": tests}


def page(row: StudentRow, one: dict[str, Any]) -> tuple[str, str]:
    text = outputs.student_page(row, one, RUBRIC)
    return text, outputs.as_html(text, row, RUBRIC)


def row(**more: Any) -> StudentRow:
    made = StudentRow(Student("Ada Abel"), Upload("s1"), grade_of_points("s1", RUBRIC.points, 1))
    return replace(made, **more)


def test_page_has_the_score_the_note_and_every_message() -> None:
    output = "**Probably:** it divides by d - 1.\n\n```python\nf(np.array([1.0]))\n```\n"
    text, markup = page(row(), document(output=output))
    assert f"**{EARNED}: points were lost in `{FIRST.module}.py`.**" in text
    for part in ("For Ada Abel", "- a note on top", output.strip(), f": 0 of {FIRST.points:g}"):
        assert part in text
    plain = html.unescape(re.sub(r"<[^>]+>", "", markup))
    for part in ("a note on top", "Probably: it divides by d - 1.", "f(np.array([1.0]))", SECOND.about):
        assert part in plain
    assert "default-src 'none'" in markup
    assert "src=" not in markup.replace("-src ", "")


def test_what_was_lost_comes_first_and_the_rest_is_a_list() -> None:
    text, markup = page(row(), document(output="**Probably:** it divides by d - 1.\n"))
    line = f"`{FIRST.id}`: {FIRST.about}: 0 of {FIRST.points:g}"
    listed = f"Lost points, explained below:\n\n- 0 of {FIRST.points:g} points: `{FIRST.id}`: {FIRST.about}\n"
    assert listed in text.replace("\\", "")
    assert f"### {line}" in text.replace("\\", "")
    assert text.index("Probably") < text.index("## Everything else") < text.replace("\\", "").index(f"- `{SECOND.id}`")
    assert markup.count("<h3") == 1
    assert markup.index("Probably") < markup.index("<details>") < markup.index(f'<li id="{SECOND.id}">')


def test_a_file_that_could_not_be_used_is_one_line_and_one_message() -> None:
    own = [one for one in RUBRIC.criteria.values() if one.module == FIRST.module]
    one, said = document(), f"`{FIRST.module}.py` could not be used: see the message at the top.\n"
    for test in one["tests"][: len(own)]:
        test["output"] = said
    grade = grade_of_points("s1", RUBRIC.points, len(own) + 1)
    text, markup = page(row(grade=grade), one)
    most = sum(criterion.points for criterion in own)
    what = f"`{FIRST.module}.py`, all {len(own)} criteria"
    assert text.count(said.strip()) == 1 and markup.count("<h3") == 2
    assert f"- 0 of {most:g} points: {what}\n- 0 of " in text and f"### {what}: 0 of {most:g}\n" in text
    one["tests"][1]["output"] = "Another reason."
    assert page(row(grade=grade), one)[0].count(said.strip()) == len(own) - 1


def test_the_first_sentence_names_what_the_points_were_lost_to() -> None:
    named = {"criterion": FIRST.id, "misconceptions": ["layer_norm.eps_outside"]}
    text, _ = page(row(), document(extra_data=named))
    assert f"**{EARNED}: one mistake, in `layer_norm`.**" in text


def test_an_id_in_a_message_leads_to_its_criterion() -> None:
    _, markup = page(row(), document(output=f"Lost as `{FIRST.id}`, see `{SECOND.id}`; `layer_norm` was called.\n"))
    for one in (FIRST, SECOND):
        assert markup.count(f'id="{one.id}"') == 1
        assert f'<a href="#{one.id}"><code>{one.id}</code></a>' in markup
    assert "<code>layer_norm</code>" in markup


def test_what_a_student_chose_is_text() -> None:
    _, markup = page(row(student=Student(EVIL)), document(output=EVIL))
    assert "<script" not in markup
    assert all(link[1:] in RUBRIC.criteria for link in re.findall(r'href="([^"]*)"', markup))
    assert "evil)" in markup


def test_hidden_criteria_are_left_out() -> None:
    text, _ = page(row(), document(visibility="hidden", output="nobody may see this"))
    assert "nobody may see this" not in text


def test_lateness_and_what_was_set_by_hand_are_said() -> None:
    override = Override("s1", "total", 50.0, "seen in the office")
    text, _ = page(row(late="5 h 0 min late", deduction=7.5, overrides=(override,), total=50.0), document())
    assert "7.5 were deducted because it was 5 h 0 min late" in text
    assert "Manual override: total set to 50: seen in the office" in text
    assert f"**50 of {RUBRIC.points:g} points:" in text


def test_each_member_of_a_group_has_a_page() -> None:
    assert outputs.page_names([row(), row(student=Student("Bela")), row(grade=None)]) == ["s1", "s1-2", ""]
