"""Generates mutants of the reference functions, each with one small change, and grades them.

The changes are the edits of the repair (shared/edits.py) that replace or remove something, such as an operator,
an axis or `.copy()`, and changes of whole statements, which the repair does not make. Since a repair undoes most
mutants, they say nothing about how often it succeeds.

A mutant is killed if a call of any criterion fails, even if it costs no points there. A survivor must be equivalent,
that is, still satisfy the contract: equivalent_mutants.yaml lists all survivors, each with the reason.

Mutants run in the sandbox of a warm grader, since some never end or request too much memory. cosmic-ray and mutmut start
a test command for each mutant and generate no mistakes of array code.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence

import click
import yaml

from autograder.audit.cases import Case, each, submission
from autograder.grading.grader import Grader
from autograder.grading.runner.processes import Runner
from autograder.homework.homework import Homework
from autograder.shared.edits import ARITHMETIC, Text, edit_at, locations_in, swapped
from autograder.shared.source import parsed

COMMUTATIVE = (ast.Add, ast.Mult, ast.BitOr)

Killed = tuple[Case, frozenset[int]]  # a mutant and the numbers of its failing test calls; none for a survivor


def _grade(grader: Grader, mutant: Case) -> Killed:
    """Count every failing call, even if it costs points in another criterion."""
    with Runner.in_sandbox(grader.sandbox, grader.plan, submission(grader.plan.homework, mutant)) as runner:
        call_results = runner.public(mutant.module) | runner.hidden(mutant.module)
    return mutant, frozenset(
        test_call.number
        for test_call, call_result in call_results.items()
        if test_call.criterion and call_result.failure is not None
    )


def equivalent(homework: Homework) -> dict[str, str]:
    """Return the reasons in equivalent_mutants.yaml, by mutant; empty without this file."""
    path, reasons = homework.suites / "equivalent_mutants.yaml", {}
    recorded = (yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else None) or {}
    for function, entries in recorded.items():
        for entry in entries:
            changed = entry["after"] if isinstance(entry["after"], list) else [entry["after"]]
            reasons.update({named(function, entry["before"], after): entry["why"] for after in changed})
    return reasons


def problems(homework: Homework, graded: Iterable[Killed]) -> list[str]:
    """Survivors that are not recorded as equivalent, and recorded ones that lose a criterion."""
    excused, lines = equivalent(homework), []
    for mutant, failing in graded:
        if not failing and mutant.name not in excused:
            lines.append(f"survives: {mutant.name}")
        elif failing and mutant.name in excused:
            lines.append(f"recorded as equivalent, but loses a criterion: {mutant.name}")
    return lines


def report(homework: Homework, jobs: int | None = None) -> int:
    """Grade all mutants and print the survivors; the exit status is 1 if one is unexpected."""
    every = [mutant for module in homework.rubric.modules for mutant in mutants(homework, module)]
    graded = list(each(homework, _grade, every, jobs, sandbox=True))
    lines = problems(homework, graded)
    for line in lines:
        click.echo(f"PROBLEM {line}")
    killed = sum(bool(numbers) for _, numbers in graded)
    click.echo(f"{len(graded)} mutants, {killed} killed, {len(equivalent(homework))} recorded as equivalent.")
    return 1 if lines else 0


# The mutants


def mutants(homework: Homework, module: str) -> list[Case]:
    """Return every mutant of the contract functions of a reference module, without duplicates, each appended to its text."""
    text, by_name = homework.files[f"{module}.py"].decode(), dict[str, Case]()
    for function in ast.parse(text).body:
        graded = homework.rubric.modules[module].functions
        if not isinstance(function, ast.FunctionDef) or function.name not in graded or function.decorator_list:
            continue
        if ast.get_docstring(function) is not None:
            del function.body[0]
        function.returns = None
        for argument in function.args.args:
            argument.annotation = None
        source = ast.unparse(function)
        for mutant in _changed(source, function):
            if mutant != source and parsed(mutant) is not None:
                name = named(function.name, *_differing(source, mutant))
                case = Case("mutant", name, module, function.name, text=f"{text}\n\n{mutant}")
                by_name.setdefault(name, case)
    return list(by_name.values())


def named(function: str, before: str, after: str) -> str:
    """Return the name of a mutant, which depends only on the lines it changes; several lines are joined by "; "."""
    return f"{function}: {before}  ->  {after}"


def _changed(source: str, function: ast.FunctionDef) -> Iterator[str]:
    """Yield the source of a function with each change."""
    text = Text(source.encode(), function.name, ())
    [unit] = text.units
    arguments = [argument.arg for argument in function.args.args]
    statements = ((location, new) for location in locations_in(unit) for new in _statements(location.node, arguments))
    for edit in (*text.replacements(unit), *(edit_at(unit, location, new) for location, new in statements)):
        if not _is_exchanged(edit.old, edit.new[0]):
            with edit.applied():
                yield ast.unparse(unit)


def _is_exchanged(old: ast.AST, new: ast.AST) -> bool:
    """Return whether an edit exchanges the operands of a commutative operator."""
    if not (isinstance(old, ast.BinOp) and isinstance(new, ast.BinOp) and isinstance(old.op, COMMUTATIVE)):
        return False
    return (new.left, new.op, new.right) == (old.right, old.op, old.left)


def _differing(source: str, mutant: str) -> tuple[str, str]:
    """Return the lines of two texts without their common beginning and end."""
    before, after = source.splitlines(), mutant.splitlines()
    for end in (0, -1):
        while before and after and before[end] == after[end]:
            del before[end], after[end]
    return "; ".join(map(str.strip, before)), "; ".join(map(str.strip, after))


def _statements(node: ast.AST, arguments: Sequence[str]) -> Iterable[ast.stmt]:
    """Statements to put in place of `node`; none if it is not a statement."""
    match node:
        case ast.Return():
            return map(ast.Return, [ast.Constant(None), *(ast.Name(name, ast.Load()) for name in arguments)])
        case ast.If(test=test, body=body, orelse=orelse):
            tests = [ast.Constant(True), ast.Constant(False), ast.UnaryOp(ast.Not(), test)]
            return [ast.If(condition, body, orelse) for condition in tests]
        case ast.For(target=target, iter=source, body=body):
            blocks: list[list[ast.stmt]] = [[ast.Pass()], [*body, ast.Break()]]
            return [ast.For(target, source, block, []) for block in blocks]
        case ast.Raise():
            return [ast.Pass(), ast.Raise(ast.Name("TypeError", ast.Load()))]
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
            return [ast.Pass(), *(ast.Assign([ast.Tuple(order, ast.Store())], value) for order in swapped(targets))]
        case ast.Assign(targets=[target], value=ast.BinOp(left=left, op=op, right=right)):
            operands = {ast.unparse(right): left, ast.unparse(left): right}
            operand = operands.get(ast.unparse(target))
            return [ast.Pass(), *([ast.AugAssign(target, op, operand)] if operand else [])]  # type: ignore[arg-type]
        case ast.AugAssign(target=target, op=op, value=value):
            operators = [kind for kind in ARITHMETIC if isinstance(op, ARITHMETIC) and not isinstance(op, kind)]
            return [
                ast.Pass(),
                ast.Assign([target], value),
                *(ast.AugAssign(target, operator(), value) for operator in operators),
            ]
        case ast.Break():
            return [ast.Pass(), ast.Continue()]
        case ast.Assign() | ast.Expr():
            return [ast.Pass()]
    return ()
