"""Counts what a maintainer has to read: the files and functions that run in the grader from a submission to its JSON.

    python -m autograder.benchmarks.reach FOLDER

FOLDER is a submission. The grader opens first, so recording the test plan is not counted, nor is code of other packages.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType

from autograder.feedback.results import Grade
from autograder.grading.grader import open_grader
from autograder.homework.homework import Homework
from autograder.submissions.submission import read

HOMEWORK = Homework()

PACKAGE = Path(__file__).parents[1]


def reached(folder: Path) -> Counter[str]:
    """The number of functions that run, by file; a nested function, a lambda or a comprehension counts for the one around it."""
    codes = set[CodeType]()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            codes.add(frame.f_code)

    with open_grader(HOMEWORK) as grader:
        sys.setprofile(note)
        try:
            json.dumps(Grade.of(grader.grade(read(folder, grader.rubric))).to_gradescope())
        finally:
            sys.setprofile(None)
    names = {(code.co_filename, code.co_qualname.partition(".<locals>")[0]) for code in codes}
    own = [(Path(file), name) for file, name in names if Path(file).is_relative_to(PACKAGE)]
    return Counter(str(file.relative_to(PACKAGE)) for file, name in own if not name.startswith("<"))


if __name__ == "__main__":
    found = reached(Path(sys.argv[1]))
    print(*(f"{count:4} {file}" for file, count in sorted(found.items())), sep="\n")
    print(f"{sum(found.values())} functions in {len(found)} files")
