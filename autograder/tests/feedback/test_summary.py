"""The message at the top of a student's page, as text and as data."""

import sys
from typing import Any

import pytest

from autograder.feedback.results import Grade, notes
from autograder.feedback.sentences import line
from autograder.grading.call_results import CallResult, Rules, Target, TestCall, compared
from autograder.grading.grader import Grader, ModuleResult
from autograder.grading.scoring import CriterionScore
from autograder.sandbox.protocol import Ended, Error, Response
from autograder.submissions.submission import Submission
from autograder.tests.files import HOMEWORK, python_says
from autograder.tests.making import NO_CALL, criterion, result

TARGET = Target("concept_check", "answers")
PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"
OLD = pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads it")


def answer(value: Any, question: str = "q3") -> CallResult:
    """The call result of a question in the concept check, whose correct answer is d."""
    response = value if isinstance(value, Response) else Response(value=value)
    rules, criterion = Rules(question=question), f"concept_check.{question}"
    of = TestCall(
        1, TARGET, NO_CALL, expected="d", rules=rules, criterion=criterion, reference=HOMEWORK.functions["answers"]
    )
    return compared([of], [response])[0]


@pytest.mark.parametrize(("value", "said"), [
    ({"q3": "a"}, ""),
    ({"q3": " D "}, ""),
    ({"q1": "a"}, "has no answer to `q3`."),
    *(({"q3": given}, "no valid answer to `q3`: an answer is one of the letters a, b, c, d.") for given in (4, "d)", "", "E")),
    (["a"], "must return a dict"),
    (Response(error=Error(("NotImplementedError",), "", "", 0, "", ("answers",))), "still raises NotImplementedError."),
    (Response(error=Error(("NameError",), "x", "concept_check.py", 9, "")), "raised NameError on line 9"),
    (Response(ended=Ended("deadline")), "took too long"),
])  # fmt: skip
def test_invalid_answer_is_reported_immediately_but_a_wrong_one_is_not(value: Any, said: str) -> None:
    text = line("no_answer", answer(value), rubric=HOMEWORK.rubric)
    assert said in text and bool(said) == bool(text)
    graded = CriterionScore(
        criterion("concept_check.q3"), "unexplained" if said else "right", call_result=answer(value)
    )
    top = Grade.of(result(ModuleResult("concept_check", (graded,), None, (answer(value),)))).output
    assert said in top
    assert "not right" not in top.lower()


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ([], ["`answers` must return a dict"]),
        ({"q1": "a", "q4": "b)"}, ["The dict returned by `answers` has no answer to `q2` and `q3`.", "no valid answer to `q4`"]),
    ],
)  # fmt: skip
def test_each_reason_for_an_invalid_answer_is_one_line(value: Any, lines: list[str]) -> None:
    call_results = tuple(answer(value, f"q{number}") for number in range(1, 5))
    found = notes(result(ModuleResult("concept_check", (), None, call_results)))
    assert {note.kind for note in found} == {"answer"} and len(found) == len(lines)
    assert all(line in note.markdown for note, line in zip(found, lines, strict=True))


def test_notes_on_modules_that_cannot_be_used() -> None:
    broken = Response(error=Error(("SyntaxError", "Exception"), "bad `x`", "layernorm.py", 3, ""))
    stopped = Response(ended=Ended("deadline"))
    missing = Response(error=Error(("ModuleNotFoundError",), "", "", 0, "missing"))
    found = notes(
        result(
            ModuleResult("layernorm", (), broken),
            ModuleResult("decoder", (), stopped),
            ModuleResult("causal_mask", (), missing),
            ModuleResult("integration", (), missing),
            files={"layernorm.py": b"", "decoder.py": b"", "CausalMask.py": b"x"},
        )
    )
    kinds = [("import", "layernorm.py"), ("import", "decoder.py"), ("misnamed", "CausalMask.py")]
    assert [(note.kind, note.path) for note in found] == kinds
    assert "SyntaxError: bad \\`x\\` (line 3 of `layernorm.py`)" in found[0].markdown
    assert "The import took too long" in found[1].markdown
    assert "rename it to causal_mask.py" in found[2].markdown


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        (b"name = input()\n", "`input()` does not work while your code is graded"),
        ("x = 'ä'\n".encode("latin-1"), "not saved as UTF-8"),
        (b"import torch\n", "The grader has only NumPy, the standard library and your own files"),
        (
            b"x = 1\ndef f(:\n",
            "(line 2 of `layernorm.py`). Python cannot read this line: `def f(:`.",
        ),
        (b"x = `1`\n", "Python cannot read this line: `x = '1'`."),
        (b"from .layernorm import rms_norm\n", "Your files are not a package: import without the dot."),
        (b"from scaled_attention import Attention\n", "ImportError: "),
        (b"from layernorm import rms_norm\n", "Modules import each other: import only from files that are higher up"),
        (b"open('weights.txt')\n", 'or move it under `if __name__ == "__main__":`, which the grader does not run.'),
        (b"eval('x = = 1')\n", f"could not be imported: SyntaxError: {python_says('x = = 1')}"),
        (b"while True: pass\n", "The import took too long"),
        (b"import os; os._exit(3)\n", "Python itself stopped"),
        (b"raise RuntimeError('<b>`no`</b>')\n", "RuntimeError: &lt;b&gt;"),
        pytest.param(
            b"import numpy as np\ntype V = np.ndarray\n",
            f"The grader runs {PYTHON}, which cannot read this line: `type V = np.ndarray`.",
            marks=OLD,
        ),
    ],
)
def test_import_error_comes_with_advice(grader: Grader, content: bytes, advice: str) -> None:
    module = next(iter(HOMEWORK.rubric.modules))
    files = {f"{module}.py": content, "scaled_attention.py": b"def softmax(scores):\n    return scores\n"}
    result = grader.grade(Submission("ada", files), [module])
    said = Grade.of(result).output
    assert advice in said and said.count("could not be imported") == 1
    assert "cannot read" not in said or "cannot read" in advice
