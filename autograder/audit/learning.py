"""Drafts misconceptions from unexplained functions that several submissions share (gradebook/class_statistics.py).

A draft contains student code. Until a person has read it, it is not in the library and runs only in the sandbox, where
it must give the same responses as the original. Accepting it adds it to the library.
"""

import ast
from itertools import islice
from pathlib import Path

from autograder.exceptions import ArgumentsError
from autograder.feedback.results import Unexplained
from autograder.files import write_atomically
from autograder.gradebook.class_statistics import Group, digest_of, shortest
from autograder.grading.call_results import compared, with_needed
from autograder.grading.grader import Grader
from autograder.grading.known_responses import wrong_in_value
from autograder.grading.runner.processes import Runner
from autograder.homework.homework import Homework
from autograder.homework.rubric import RubricError
from autograder.submissions.submission import Submission
from autograder.values.source import parsed

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
    """The name and text of a draft for a group; the text is "" if no member's function alone gives the group's responses."""
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
    """Whether a function's source, run in the sandbox with correct dependencies and helpers, gives the same wrong responses."""
    plan, rubric = grader.plan, grader.rubric
    module = rubric.module_of(member.function)
    tree = parsed(member.source)
    if tree is None:  # stored by an earlier version
        return False
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - {member.function}
    helpers = tuple(name for name in rubric.modules[module].functions if name in used)
    every = (*plan.shown(module), *plan.hidden.get(module, ()))
    test_calls = with_needed(every, [test_call for test_call in every if test_call.target.function == member.function])
    dependencies = rubric.dependencies(module).items()
    imports = [f"from {name} import {f}" for name, functions in dependencies for f in functions if f in used]
    lines = ["import numpy as np", *imports, *(f"{helper} = None" for helper in helpers), member.source]
    draft = Submission("a draft", {f"{module}.py": "\n".join(lines).encode()})
    with Runner.in_sandbox(grader.sandbox, plan, draft) as runner:
        responses = runner.with_helpers(module, helpers, test_calls)
    call_results = compared(test_calls, [responses[test_call] for test_call in test_calls])
    own = [call_result for call_result in call_results if call_result.target.function == member.function]
    return digest_of([call_result for call_result in own if wrong_in_value(call_result)]) == member.responses


# Accepting


def accept(homework: Homework, file: Path) -> Path:
    """Add a completed draft to the library; returns the changed file.

    If the draft is invalid, for example without its two sentences, raises ArgumentsError and leaves the library
    unchanged.
    """
    try:
        text = file.read_text(encoding="utf-8")
        body = ast.parse(text).body
    except (OSError, ValueError, SyntaxError) as error:
        raise ArgumentsError(f"{file}: not a draft ({error})") from None
    entry = body[0] if len(body) == 1 else None
    function = entry.name.partition("__")[0] if isinstance(entry, ast.FunctionDef) and entry.decorator_list else ""
    module = next((name for name, module in homework.rubric.modules.items() if function in module.functions), "")
    path = homework.misconceptions / module / f"{function}.py"
    if not module or not path.is_file():
        raise ArgumentsError(f"{file}: not a draft; it must be one function, as `autograder learn` wrote it")
    before = path.read_text(encoding="utf-8")
    entered = text[text.index(f"@{function}.instead") :]
    write_atomically(path, f"{before.rstrip()}\n\n\n{entered}")
    try:
        Homework(homework.folder).library  # noqa: B018 - a new one, which reads the changed file
    except RubricError as error:
        write_atomically(path, before)
        raise ArgumentsError(f"{file}: {error}") from None
    return path
