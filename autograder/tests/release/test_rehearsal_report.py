"""What a rehearsal prints: who sees what, when; names of mistakes; nothing that steers a terminal."""

import re
from typing import Any

from autograder.release import rehearsal
from autograder.release.rehearsal import Rehearsal, Results


def printed(document: dict[str, Any], brief: bool = False) -> str:
    done = Rehearsal(document, "first\nlast\x1b[2J\n", 1.25, "somehow")
    return "\n".join(rehearsal.lines(done, Results.model_validate(document), brief))


def parts(output: str) -> list[str]:
    """What stands under each title."""
    return re.split(r"^What the .*\n-+$", output, flags=re.MULTILINE)[1:]


def test_visibility_decides_what_is_seen_when() -> None:
    names = ("visible", "after_due_date", "after_published", "hidden")
    tests = [{"name": f"{v} one", "score": 1, "max_score": 2, "visibility": v} for v in names] + [{"name": "silent"}]
    tests[3]["output"] = "line\x1b[2J\u202e"
    document = {"output": "on top", "visibility": "hidden", "tests": tests, "extra_data": {"layers": ["fork"]}}
    texts = parts(printed(document))
    assert [re.findall(r"(\w+) one", text) for text in texts] == [[name] for name in names]
    assert "on top" in texts[0]
    assert all("No total" in text for text in texts[:3])
    assert "total: 4 of 8" in texts[3] and "silent" in texts[3] and "line?[2J?" in texts[3]
    assert "Layers of the sandbox here: fork" in texts[3] and "    last?[2J" in texts[3]


def test_total_is_shown_once_nothing_is_hidden() -> None:
    tests = [{"score": 1, "max_score": 2, "visibility": "after_published"}, {"score": 2, "max_score": 2}]
    now, later, _ = parts(printed({"tests": tests}))
    assert "No total" in now and "Total: 3 of 4" in later


def test_brief_leaves_out_messages_and_says_so() -> None:
    tests = [{"name": name, "score": 0, "max_score": 1, "output": f"about {name}"} for name in "abc"]
    full, brief = printed({"tests": tests}), printed({"tests": tests}, brief=True)
    assert [f"about {name}" in full for name in "abc"] == [True] * 3
    assert [f"about {name}" in brief for name in "abc"] == [True, False, False]
    assert "(2 more with a message; omit --brief to print them)" in brief


def named(data: dict[str, Any]) -> list[str]:
    output = printed({"tests": [{"name": "a.b: about", "score": 0, "extra_data": data}]})
    return re.findall(r"^Misconception in (.*)$", output, re.MULTILINE)


def test_all_mistakes_of_a_criterion_are_named() -> None:
    assert named({"criterion": "a.b", "misconceptions": ["f.one", "f.two"]}) == ["a.b: f.one, f.two"]


def test_no_mistake_is_named_where_there_is_none() -> None:
    forms: list[dict[str, Any]] = [{}, {"misconceptions": []}, {"misconceptions": None}]
    assert [named({"criterion": "a.b", **data}) for data in forms] == [[]] * len(forms)


def test_extra_data_of_another_tool_does_no_harm() -> None:
    assert named({"misconceptions": "text"}) == [] and named({"misconceptions": 3}) == []
