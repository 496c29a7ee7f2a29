"""`autograder learn`: a mistake from a class becomes a draft, is completed by hand, and is named in the next run."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.audit import audit, cases, learning
from autograder.exceptions import ArgumentsError
from autograder.feedback.results import Unexplained
from autograder.gradebook.class_statistics import unexplained
from autograder.grading.grader import Grader, Result, open_grader
from autograder.homework.homework import Homework
from autograder.submissions.submission import Submission
from autograder.tests.files import kmeans

LARGEST = "\n\ndef nearest(x, centres):\n    return np.abs(x[:, np.newaxis] - centres).max(axis=-1).argmin(axis=1)\n"


@pytest.fixture
def homework(tmp_path: Path) -> Homework:
    return Homework(kmeans(tmp_path / "homework"))


@pytest.fixture
def grader(homework: Homework) -> Iterator[Grader]:
    with open_grader(homework) as opened:
        yield opened


def graded(grader: Grader, text: str = LARGEST) -> Result:
    return grader.grade(Submission("s", {"kmeans.py": grader.plan.homework.files["kmeans.py"] + text.encode()}))


def test_draft_is_the_first_source_that_gives_the_responses_alone(grader: Grader) -> None:
    (found,) = unexplained(graded(grader))
    assert (found.function, found.criteria, found.source) == ("nearest", ["kmeans.nearest"], LARGEST[2:])
    name = f"learned_{found.responses[:8]}"
    group = {"a": replace(found, source=""), "b": replace(found, source=LARGEST[2:].replace("max", "min")), "c": found}
    assert learning.draft(grader, group) == (name, f'''\
# A draft of a misconception that 3 submissions of a class share. Their calls fail in nearest.
#
# No public example fails.
#
# Read the code: once accepted, it runs outside the sandbox. You may replace the name {name} (in both places).
# Write one sentence on what the code does and one on what is right, and check the criterion it costs. Then:
#
#     autograder learn --accept THIS_FILE
#     autograder build
#     autograder audit --only kmeans
#
# The audit lists the misconceptions it cannot be distinguished from.


@nearest.instead("{name}", "nearest",
    does="", right="")
{LARGEST[2:].replace("nearest", f"nearest__{name}", 1)}''')  # fmt: skip
    assert learning.draft(grader, {"a": group["a"], "b": group["b"]}) == (name, "")
    unlisted = Unexplained("nearest", found.responses, [], found.source, "nearest(x)\n# expected: 1")
    text = learning.draft(grader, {"a": unlisted})[1]
    assert "\n# nearest(x)\n# # expected: 1\n#\n" in text and '.instead("' + name + '", "",\n' in text


def test_accepted_draft_is_named_in_the_next_run_and_passes_the_audit(grader: Grader, tmp_path: Path) -> None:
    homework = grader.plan.homework
    draft = tmp_path / "draft.txt"
    draft.write_text(learning.draft(grader, {"a": next(unexplained(graded(grader)))})[1])
    path = homework.misconceptions / "kmeans" / "nearest.py"
    before = path.read_text()
    with pytest.raises(ArgumentsError, match=r"^.*draft\.txt: .*nearest\.learned_\w+: `does` must be a sentence"):
        learning.accept(homework, draft)
    assert path.read_text() == before
    text = draft.read_text().replace('does=""', 'does="Your code compares the largest difference."')
    draft.write_text(text.replace('right=""', 'right="Compare the sum of the squares."'))
    assert learning.accept(homework, draft) == path
    assert path.read_text() == f"{before.rstrip()}\n\n\n{draft.read_text()[draft.read_text().index('@nearest') :]}"
    learned = Homework(homework.folder)
    with open_grader(learned) as opened:
        result = graded(opened)
    (named,) = {m for score in result.graded for m in score.misconceptions}
    assert named.id.startswith("nearest.learned_") and named.does == "Your code compares the largest difference."
    rows = list(audit.run(learned, cases.cases(learned, [named.id]), 1))
    assert audit.problems(learned, rows, complete=False) == [] and len(rows) == 1


@pytest.mark.parametrize(("text", "why"), [
    (None, "FileNotFoundError"), ("", "ValueError"), ("import os\n", "StopIteration"), ("def f(:", "SyntaxError"),
    ("import os\n\n\ndef rms_norm__x(x):\n    pass\n", "ValueError"), ("def nearest(x):\n    pass\n", "StopIteration"),
])  # fmt: skip
def test_file_that_is_not_a_draft_is_rejected(homework: Homework, tmp_path: Path, text: str | None, why: str) -> None:
    if text is not None:
        (tmp_path / "draft.txt").write_text(text)
    said = rf"draft\.txt: not a draft; it must be one function, as `autograder learn` wrote it \({why}\)$"
    with pytest.raises(ArgumentsError, match=said):
        learning.accept(homework, tmp_path / "draft.txt")
