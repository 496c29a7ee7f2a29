"""`autograder audit --repairs`: does one edit of the text repair what stands in no list, at its line, and two mistakes seldom?

Machine-made mistakes in the references take the place of mistakes that nobody has listed: those count that no known mistake
explains. Two known mistakes in one function are to stay two: where one edit repairs both they are charged as one.
"""

import ast
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Literal

import click

from autograder.grading.grader import Grader
from autograder.grading.judge import judged
from autograder.grading.player import Player
from autograder.grading.repair import Repairs
from autograder.homework import reference as references
from autograder.homework import rubric as rubrics
from autograder.intake.submission import Submission
from autograder.proof import cases, mutants
from autograder.proof.cases import Case
from autograder.proof.rows import each

EACH = 6  # mutants and pairs of a function; all of them would take hours
What = Literal["right", "explained", "at its line", "elsewhere", "not told", "not repaired"]


def run(jobs: int | None = None, only: Sequence[str] = (), number: int = EACH) -> Iterator[tuple[Case, What]]:
    """Try to repair so many mutants and pairs of each function, in `jobs` processes: each, and what came of it."""
    modules = only or tuple(rubrics.current().modules)
    known = mutants.equivalent()
    made = [case for module in modules for case in mutants.mutants(module) if case.name not in known]
    chosen = cases.sample([*made, *cases.pairs(modules)], number)
    yield from each(_try, chosen, jobs, sandbox=True)


def _try(grader: Grader, case: Case) -> tuple[Case, What]:
    text, line = _text(case)
    submission = Submission(case.name, references.files() | {f"{case.module}.py": text.encode()})
    steps = (*grader.script.shown(case.module), *grader.script.hidden.get(case.module, ()))
    with Player.in_sandbox(grader.sandbox, grader.script, submission, grader.known) as player:
        replies = player.shown((case.module,)) | player.hidden(0)
        records = judged(steps, [replies[step] for step in steps])
        explanation = grader.diagnoser.explain(case.module, records).get(case.function)
        if explanation is None:
            return case, "right"
        if explanation.empty or (case.kind == "mutant" and explanation.complete):
            return case, "explained"
        repair = Repairs(player).search(0, case.module, case.function, (), records)
    if repair is None:
        return case, "not repaired"
    if not repair.told:
        return case, "not told"
    return case, "at its line" if any(line in lines for lines in repair.told) else "elsewhere"


def _text(case: Case) -> tuple[str, int]:
    """The module with the wrong function in place of the right one, and the first line that is wrong."""
    tree = ast.parse(references.files()[f"{case.module}.py"])
    [function] = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == case.function)
    mutants.undress(function)  # as in a mutant
    place = tree.body.index(function)
    right = ast.unparse(tree)
    tree.body[place : place + 1] = ast.parse(case.source).body
    wrong = ast.unparse(tree)
    pairs = enumerate(zip_longest(right.splitlines(), wrong.splitlines()), 1)
    return wrong, next((line for line, (one, other) in pairs if one != other), 0)


def report(jobs: int | None = None, only: Sequence[str] = ()) -> int:
    """Print both shares, and what is repaired elsewhere than where it is wrong."""
    tried = list(run(jobs, only))
    for case, what in tried:
        if what == "elsewhere" and case.kind == "mutant":
            click.echo(f"another line: {case.name}")
    for kind, said in (("mutant", "mutants that no known mistake explains"), ("pair", "pairs of known mistakes")):
        own = [what for case, what in tried if case.kind == kind and what not in ("right", "explained")]
        repaired = [what for what in own if what != "not repaired"]
        click.echo(f"{len(repaired)} of {len(own)} {said} are repaired by one edit")
        if kind == "mutant":
            count = {what: repaired.count(what) for what in ("at its line", "elsewhere", "not told")}
            click.echo("of these " + ", ".join(f"{number} {what}" for what, number in count.items()))
    return 0
