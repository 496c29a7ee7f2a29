"""The sample class for the benchmarks, in a file that worker processes can import."""

from pathlib import Path
from typing import Any

from autograder.audit import cases
from autograder.gradebook import pool
from autograder.submissions.submission import Submission
from autograder.tests.files import HOMEWORK


def mixed_class(size: int, first: int = 0) -> list[Submission]:
    """A class of unique uploads that never reach a deadline; `first` is the number of the first one.

    Two thirds are correct, in the styles of audit/alternatives. Nearly all others have one misconception in such a
    style, each a different one. One upload in 24 ends its process at import, and one in 24 is empty. Every file has a
    unique line.
    """
    styles, misconceptions = right_styles(), [case for case in cases.cases(HOMEWORK) if case.kind == "mistake"]
    made = []
    for number in range(first, first + size):
        files = dict(styles[number % len(styles)].files)
        if number % 3 == 0:
            case = misconceptions[number * 7 % len(misconceptions)]
            files[f"{case.module}.py"] = cases.submission(HOMEWORK, case).files[f"{case.module}.py"]
        if number % 24 == 6:
            files |= {"softmax.py": b"", "scaled_attention.py": b"import os; os._exit(1)\n"}
        own = {name: b"# upload %d\n" % number + text for name, text in files.items() if name.endswith(".py")}
        made.append(Submission(f"{number:05}", {} if number % 24 == 12 else files | own))
    return made


def right_styles() -> list[Submission]:
    """A correct submission in each style of audit/alternatives."""
    return [cases.submission(HOMEWORK, case) for case in cases.alternatives(HOMEWORK)]


def without_repair(submission: Submission, kit: str, folder: Path | None) -> Any:
    """Grade a submission in a worker, without single-edit repair."""
    sandbox = pool.warm(folder).sandbox
    sandbox.limits, limits = sandbox.limits.model_copy(update={"repairs": 0}), sandbox.limits
    try:
        return pool.grade(submission, kit, folder)
    finally:
        sandbox.limits = limits
