"""A Result as Gradescope's results.json: one entry of `tests` per criterion, in Otter and in `grade`.

Source: Gradescope, Autograder specifications, "Output format".
"""

from typing import Any

from autograder import __version__
from autograder.feedback.messages import message
from autograder.feedback.summary import notes, summary
from autograder.grading.grader import Result
from autograder.grading.scoring import CriterionScore
from autograder.submissions.text import number


def gradescope(result: Result) -> dict[str, Any]:
    """The document for one submission; the same submission, kit and layers give the same document."""
    return {
        "score": number(result.points),
        "output": summary(result),
        "output_format": "md",
        "stdout_visibility": "hidden",
        "tests": [_entry(graded, result) for graded in result.graded],
        "extra_data": {
            "version": __version__,
            "layers": list(result.layers),
            "notes": [{"kind": note.kind, "path": note.path, "text": note.plain} for note in notes(result)],
        },
    }


def _entry(graded: CriterionScore, result: Result) -> dict[str, Any]:
    criterion = graded.criterion
    earned = graded.points == criterion.most
    return {
        "name": f"{criterion.id}: {criterion.about}",
        "score": number(graded.points),
        "max_score": number(criterion.most),
        "status": "passed" if earned else "failed",
        "visibility": criterion.visibility,
        "output": message(graded, result),
        "output_format": "md",
        "extra_data": {
            "criterion": criterion.id,
            # Those that cost points; an earned criterion has none.
            "misconceptions": [] if earned else list(dict.fromkeys(m.id for m in graded.misconceptions if m.right)),
        },
    }
