"""Drafts misconceptions from unexplained functions that several submissions share (gradebook/class_statistics.py).

A draft is a text outside the library that contains student code: until a person has read it, it runs only in the sandbox, where it
must give the same responses as the original. Accepting it adds it to the library, as a misconception like any other.
"""

import ast
import subprocess
import sys
from itertools import islice
from pathlib import Path

from autograder.exceptions import ArgumentsError
from autograder.feedback.results import write_atomically
from autograder.gradebook.class_statistics import Group, Unexplained, digest_of, shortest
from autograder.grading.call_results import compared, with_needed
from autograder.grading.grader import Grader
from autograder.grading.known_responses import wrong_in_value
from autograder.grading.runner import Runner
from autograder.homework import kit, rubric
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
    """The name and the text of a draft for a group; the text is "" if no member's function, alone, gives the responses of the
    group."""
    members = islice(group.values(), TRIED)
    member = next((member for member in members if member.source and replies_alike(grader, member)), None)
    name = f"learned_{shortest(group).responses[:8]}"
    return name, _text(group, member, name) if member is not None else ""


def _text(group: Group, member: Unexplained, name: str) -> str:
    function, module = member.function, rubric.current().module_of(member.function)
    return DRAFT.format(
        size=len(group),
        criteria=", ".join(name.partition(".")[2] for name in member.criteria),
        criterion=member.criteria[0].partition(".")[2] if member.criteria else "",
        example="\n# ".join((member.example or "No public example fails.").splitlines()),
        name=name,
        module=module,
        function=function,
        text=member.source.replace(f"def {function}(", f"def {function}__{name}(", 1),
    )


def replies_alike(grader: Grader, member: Unexplained) -> bool:
    """Whether a function's source, run in the sandbox with correct dependencies and helpers, gives the same wrong responses."""
    plan, module = grader.plan, rubric.current().module_of(member.function)
    tree = parsed(member.source)
    if tree is None:  # kept by an earlier version
        return False
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    helpers = tuple(f for f in rubric.current().modules[module].functions if f in used and f != member.function)
    every = (*plan.shown(module), *plan.hidden.get(module, ()))
    test_calls = with_needed(every, [test_call for test_call in every if test_call.target.function == member.function])
    dependencies = rubric.current().dependencies(module).items()
    imports = [f"from {m} import {f}" for m, names in dependencies for f in names if f in used]
    lines = ["import numpy as np", *imports, *(f"{helper} = None" for helper in helpers), member.source]
    draft = Submission("a draft", {f"{module}.py": "\n".join(lines).encode()})
    with Runner.in_sandbox(grader.sandbox, plan, draft) as runner:
        responses = runner.with_helpers(module, helpers, test_calls)
    call_results = compared(test_calls, [responses[test_call] for test_call in test_calls])
    wrong = [
        call_result
        for call_result in call_results
        if call_result.target.function == member.function and wrong_in_value(call_result)
    ]
    return digest_of(wrong) == member.responses


# Accepting


def accept(file: Path) -> Path:
    """Add a completed draft to the library; returns its file.

    Raises ArgumentsError, and leaves the library unchanged, for an invalid text, such as one without its two sentences.
    """
    try:
        text = file.read_text(encoding="utf-8")
        body = ast.parse(text).body
    except (OSError, ValueError, SyntaxError) as error:
        raise ArgumentsError(f"{file}: not a draft ({error})") from None
    entry = body[0] if len(body) == 1 else None
    function = entry.name.partition("__")[0] if isinstance(entry, ast.FunctionDef) and entry.decorator_list else ""
    modules = [name for name, module in rubric.current().modules.items() if function in module.functions]
    path = kit.misconceptions() / "".join(modules) / f"{function}.py"
    if not modules or not path.is_file():
        raise ArgumentsError(f"{file}: not a draft; it must be one function, as `autograder learn` wrote it")
    before = path.read_text(encoding="utf-8")
    entered = text[text.index(f"@{function}.instead") :]
    write_atomically(path, f"{before.rstrip()}\n\n\n{entered}")
    loading = [sys.executable, "-c", f"from autograder.homework import library; library.known({modules[0]!r})"]
    done = subprocess.run(loading, capture_output=True, text=True)
    if done.returncode:
        write_atomically(path, before)
        raise ArgumentsError(f"{file}: {done.stderr.strip().rpartition(chr(10))[2].partition(': ')[2]}")
    return path
