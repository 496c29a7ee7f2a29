"""Messages about students' tests: how many misconceptions they detect, one that they miss, or why they earn nothing.

The code that ran chooses nothing here: names and lines are those of the student's own file.
"""

from autograder.feedback.sentences import ended
from autograder.grading.student_tests import FunctionTests
from autograder.homework import reference
from autograder.homework.rubric import TESTS_FILE
from autograder.sandbox.messages import Response
from autograder.submissions.submission import Submission
from autograder.submissions.text import printable
from autograder.values.source import text_lines

MISSING = f"There is no `{TESTS_FILE}`, or it is blank."
FEW = f"`{TESTS_FILE}` tests no further function. A test counts for the function that its name begins with, such as"
CORRECT = "Tests must pass on every correct solution."


def told(tests: FunctionTests, submission: Submission) -> str:
    """The message of one criterion, in Markdown."""
    function, outcome = f"`{tests.function}`", tests.outcome
    match tests.problem:
        case "missing":
            return f"{MISSING}\n"
        case "few":
            return f"{FEW} `test_{next(iter(reference.functions()))}_of_one_row`.\n"
        case "time":
            return f"No points: the tests of {function} take too long on correct solutions.\n"
        case "import":
            return f"No points: `{TESTS_FILE}` cannot be imported beside correct solutions. {_why(outcome.response)}\n"
        case "rejects":
            return f"No points: a test rejects a correct `{tests.function}`. {CORRECT}\n\n{_rejection(tests, submission)}\n"
    if tests.undetected is None and not tests.not_run:
        return f"Your tests of {function} detect all {tests.known} known misconceptions.\n"
    said = f"Your tests of {function} detect {tests.detected} of {tests.known} known misconceptions."
    if tests.undetected is not None:
        said += f"\n\nThey accept code about which the feedback would say: *{tests.undetected.does}*"
    if tests.not_run:
        said += "\n\nSome misconceptions were not tried, because the tests took too long."
    return f"{said}\n"


def _why(response: Response) -> str:
    """Why the file cannot be imported."""
    if response.ended is not None:
        return ended(response.ended, (TESTS_FILE,), "import")
    assert response.error is not None
    return f"It raises {response.error.kind}" + (f" in line {response.error.line}." if response.error.line else ".")


def _rejection(tests: FunctionTests, submission: Submission) -> str:
    """Which test fails where, on which kind of correct solution."""
    outcome = tests.outcome
    style = f"a correct solution in this style: {tests.style}" if tests.style else "the reference solution"
    if outcome.response.ended is not None:
        return f"{ended(outcome.response.ended, (TESTS_FILE,), f'`{outcome.test}`')}\n\nThis was {style}"
    lines = text_lines(submission.text(TESTS_FILE))
    if not 0 < outcome.line <= len(lines):
        return f"`{outcome.test}` fails on {style}"
    code = printable(lines[outcome.line - 1].strip(), " ", 100).replace("`", "'")
    return f"`{outcome.test}` fails in line {outcome.line}, `{code}`, on {style}"
