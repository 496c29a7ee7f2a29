"""Drafts misconceptions from unexplained functions that several submissions share (gradebook/class_statistics.py).

A draft contains student code. Until a person has read it, it is not in the library and runs only in the sandbox, where
it must give the same responses as the original. Accepting it adds it to the library.
"""

import ast
from itertools import islice
from pathlib import Path

from autograder.exceptions import ArgumentsError, CommandError
from autograder.feedback.results import Unexplained
from autograder.files import write_atomically
from autograder.gradebook.class_statistics import Group, digest_of, shortest
from autograder.grading.call_results import compared, with_needed, wrong_in_value
from autograder.grading.grader import Grader
from autograder.grading.runner.processes import Runner
from autograder.homework.homework import Homework
from autograder.submissions.submission import Submission

TRIED = 5  # members of a group to try, shortest first

DRAFT = """\
# A draft of a misconception that {size} submissions of a class share. Their calls fail in {criteria}.
#
# {example}
#
# Read the code: once accepted, it runs outside the sandbox. You may replace the name {name} (in both places).
# Write one sentence on what the code does and one on what is right, and check the criterion it costs. Then:
#
#     autograder learn --accept THIS_FILE
#     autograder build
#     autograder audit --only {module}
#
# The audit lists the misconceptions it cannot be distinguished from.


@{function}.instead("{name}", "{criterion}",
    does="", right="")
{text}"""


def draft(grader: Grader, group: Group) -> tuple[str, str]:
    """Return name and text of a draft for a group; the text is "" if no member's function alone gives its responses."""
    name = f"learned_{shortest(group).responses[:8]}"
    for member in islice(group.values(), TRIED):
        if member.source and replies_alike(grader, member):
            function, criteria = member.function, [name.partition(".")[2] for name in member.criteria]
            return name, DRAFT.format(
                size=len(group),
                criteria=", ".join(criteria),
                criterion=criteria[0] if criteria else "",
                example="\n# ".join((member.example or "No public example fails.").splitlines()),
                name=name,
                module=grader.rubric.module_of(function),
                function=function,
                text=member.source.replace(f"def {function}(", f"def {function}__{name}(", 1),
            )
    return name, ""


def replies_alike(grader: Grader, member: Unexplained) -> bool:
    """Return whether a function, run in the sandbox with correct dependencies and helpers, gives the same wrong responses."""
    plan, rubric, function = grader.plan, grader.rubric, member.function
    module = rubric.module_of(function)
    helpers = tuple(name for name in rubric.modules[module].functions if name != function)
    every = (*plan.public[module], *plan.hidden.get(module, ()))
    test_calls = with_needed(every, [test_call for test_call in every if test_call.target.function == function])
    uses = rubric.modules[module].uses
    imports = [f"from {name} import {', '.join(rubric.modules[name].functions)}" for name in uses]
    lines = ["import numpy as np", *imports, *(f"{helper} = None" for helper in helpers), member.source]
    draft = Submission("a draft", {f"{module}.py": "\n".join(lines).encode()})
    with Runner.in_sandbox(grader.sandbox, plan, draft) as runner:
        responses = runner.with_helpers(module, helpers, test_calls)
    call_results = compared(test_calls, [responses[test_call] for test_call in test_calls])
    return (
        digest_of([r for r in call_results if r.target.function == function and wrong_in_value(r)]) == member.responses
    )


def accept(homework: Homework, file: Path) -> Path:
    """Add a completed draft to the library, and return the changed file.

    If the draft is invalid, for example without its two sentences, raises ArgumentsError and leaves the library
    unchanged.
    """
    try:
        text = file.read_text(encoding="utf-8")
        [entry] = ast.parse(text).body
        function = ast.unparse(entry).partition(".instead(")[0].removeprefix("@")
        path = homework.misconceptions / homework.rubric.module_of(function) / f"{function}.py"
        before = path.read_text(encoding="utf-8")
    except (OSError, ValueError, SyntaxError, StopIteration) as error:
        why = "not a draft; it must be one function, as `autograder learn` wrote it"
        raise ArgumentsError(f"{file}: {why} ({type(error).__name__})") from None
    write_atomically(path, f"{before.rstrip()}\n\n\n{text[text.index(f'@{function}.instead') :]}")
    try:
        Homework(homework.folder).library  # noqa: B018 - a new one, which reads the changed file
    except CommandError as error:
        write_atomically(path, before)
        raise ArgumentsError(f"{file}: {error}") from None
    return path
