"""Generates mutants of the reference functions, each with one small change, and grades them.

In addition to the usual changes (another operator, another constant), mutants have mistakes of array code: another
axis, no `keepdims`, `sum` instead of `mean`, no `.copy()`, another array of the same shape.

A mutant is killed if a call of any criterion fails, even if it costs no points there. A survivor must be equivalent,
that is, still satisfy the contract: equivalent_mutants.yaml lists all survivors, each with the reason.

cosmic-ray and mutmut start a test command for each mutant and generate no mistakes of array code. Here, mutants run in
the sandbox of a warm grader, since some never end or request too much memory.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import click
import yaml

from autograder.audit.cases import Case, each, submission
from autograder.grading.grader import Grader
from autograder.grading.runner.processes import Runner
from autograder.homework import kit
from autograder.homework import reference as references
from autograder.homework import rubric as rubrics
from autograder.homework.library import is_python

Killed = tuple[Case, frozenset[int]]  # a mutant and the numbers of its failing test calls; none for a survivor


def run(jobs: int | None = None, chosen: Iterable[Case] | None = None) -> Iterator[Killed]:
    """Grade mutants, in order, in `jobs` processes; by default all of them."""
    every = [m for module in rubrics.current().modules for m in mutants(module)] if chosen is None else chosen
    yield from each(_grade, every, jobs, sandbox=True)


def _grade(grader: Grader, mutant: Case) -> Killed:
    """Count every failing call, even if it costs points in another criterion."""
    with Runner.in_sandbox(grader.sandbox, grader.plan, submission(mutant)) as runner:
        call_results = runner.public(mutant.module) | runner.hidden(mutant.module)
    return mutant, frozenset(
        test_call.number
        for test_call, call_result in call_results.items()
        if test_call.criterion and call_result.failure is not None
    )


def equivalent() -> dict[str, str]:
    """The reasons in equivalent_mutants.yaml, by mutant; empty without this file."""
    path, reasons = kit.suites() / "equivalent_mutants.yaml", {}
    known = (yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else None) or {}
    for function, entries in known.items():
        for entry in entries:
            changed = entry["after"] if isinstance(entry["after"], list) else [entry["after"]]
            reasons.update({named(function, entry["before"], after): entry["why"] for after in changed})
    return reasons


def problems(graded: Iterable[Killed]) -> list[str]:
    """Survivors that are not recorded as equivalent, and recorded ones that lose a criterion."""
    excused, lines = equivalent(), []
    for mutant, wrong in graded:
        if not wrong and mutant.name not in excused:
            lines.append(f"survives: {mutant.name}")
        elif wrong and mutant.name in excused:
            lines.append(f"recorded as equivalent, but loses a criterion: {mutant.name}")
    return lines


def report(jobs: int | None = None) -> int:
    """Grade all mutants and print the survivors; the exit status is 1 if one is unexpected."""
    graded = list(run(jobs))
    wrong = problems(graded)
    for line in wrong:
        click.echo(f"PROBLEM {line}")
    killed = sum(bool(numbers) for _, numbers in graded)
    click.echo(f"{len(graded)} mutants, {killed} killed, {len(equivalent())} recorded as equivalent.")
    return 1 if wrong else 0


# The mutants


def mutants(module: str) -> list[Case]:
    """Every mutant of the contract functions of a reference module, without duplicates."""
    by_name: dict[str, Case] = {}
    for mutant in of_text(module, references.files()[f"{module}.py"].decode()):
        by_name.setdefault(mutant.name, mutant)
    return list(by_name.values())


def of_text(module: str, text: str) -> Iterator[Case]:
    """Every mutant of the contract functions in a version of a module, each appended to the text."""
    for function in ast.parse(text).body:
        graded = rubrics.current().modules[module].functions
        if not isinstance(function, ast.FunctionDef) or function.name not in graded or function.decorator_list:
            continue
        if ast.get_docstring(function) is not None:
            del function.body[0]
        function.returns = None
        for argument in function.args.args:
            argument.annotation = None
        right = ast.unparse(function)
        for wrong in _changed(function):
            if wrong != right and is_python(wrong):
                name = named(function.name, *_differing(right, wrong))
                yield Case("mutant", name, module, function.name, text=f"{text}\n\n{wrong}")


def named(function: str, before: str, after: str) -> str:
    """The name of a mutant, which depends only on the lines it changes; several lines are joined by "; "."""
    return f"{function}: {before}  ->  {after}"


def _changed(function: ast.FunctionDef) -> Iterator[str]:
    """The source of the function with each possible change."""
    sites = list(_sites(function))
    replacements = _replacements(function, [node for _, _, node in sites])
    for container, key, node in sites:
        for change in replacements(node):
            container[key] = ast.copy_location(change, node)
            yield ast.unparse(function)
            container[key] = node


def _sites(node: ast.AST) -> Iterator[tuple[Any, Any, ast.AST]]:
    """Every replaceable node below `node`, with its container and key there; error messages are left out."""
    for name, value in [] if isinstance(node, ast.Raise) else ast.iter_fields(node):
        container: Any = value if isinstance(value, list) else vars(node)
        for key in range(len(value)) if isinstance(value, list) else [name]:
            part = container[key]
            if isinstance(part, ast.AST):
                yield container, key, part
                if not (isinstance(part, ast.UnaryOp) and isinstance(part.operand, ast.Constant)):  # a negative number
                    yield from _sites(part)


def _differing(right: str, wrong: str) -> tuple[str, str]:
    """The lines of two texts without their common beginning and end."""
    before, after = right.splitlines(), wrong.splitlines()
    for end in (0, -1):
        while before and after and before[end] == after[end]:
            del before[end], after[end]
    return "; ".join(map(str.strip, before)), "; ".join(map(str.strip, after))


# The changes


def _operator(symbol: str) -> type[Any]:
    """The class of an operator in a syntax tree."""
    node: Any = ast.parse(f"left {symbol} right", mode="eval").body
    return type(node.op if isinstance(node, ast.BinOp) else node.ops[0])


OTHERS = {
    "+": "-, *", "-": "+", "*": "/, +", "/": "*, -", "//": "/, *", "%": "//", "**": "*, /", "@": "*", "|": "&, ^",
    "<": "<=, >", "<=": "<, >=", ">": ">=, <", ">=": ">, <=", "==": "!=, >=, <=", "!=": "==, >, <",
    "in": "not in", "not in": "in", "is": "is not", "is not": "is",
}  # fmt: skip
OPERATORS = {_operator(symbol): [_operator(other) for other in others.split(", ")] for symbol, others in OTHERS.items()}
COMMUTATIVE = (ast.Add, ast.Mult, ast.BitOr)
# Names that are easily confused.
ALIKE = (
    "mean sum max min", "var std", "sin cos", "tril triu", "maximum minimum", "any all", "ones zeros eye", "exp log expm1",
    "log log1p log2", "sqrt square", "argmax argmin", "float64 float32", "int64 float64", "bool float",
    "pre_norm_block post_norm_block",
)  # fmt: skip


def _replacements(function: ast.FunctionDef, nodes: Sequence[ast.AST]) -> Callable[[ast.AST], Iterable[ast.AST]]:
    """A function that returns every replacement of a node of `function`; some use its other names and strings."""
    arguments = [argument.arg for argument in function.args.args]
    stored = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id != "_"]
    variables = list(dict.fromkeys(arguments + stored))
    texts = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    next_text = dict(pairwise([*dict.fromkeys(texts), *texts[:1]]))

    def replacements(node: ast.AST) -> Iterable[ast.AST]:
        match node:
            case ast.Constant(value=str(text)):
                return map(ast.Constant, (next_text[text], text + "_"))
            case ast.Constant(value=value):
                return map(ast.Constant, _numbers(value))
            case ast.Name(id=name, ctx=ast.Load()):
                others = [variable for variable in variables if variable != name and name in variables]
                return map(ast.Name, (*others, *_alike(name)))
            case ast.Return():
                return map(ast.Return, [ast.Constant(None), *map(ast.Name, arguments)])
            case ast.stmt():
                return _statement(node)
            case ast.expr():
                return _expression(node)
            case ast.Slice(lower=lower, upper=upper, step=step):
                bounds = [(None, upper, step), (lower, None, step), (lower, upper, None)]
                bounds += [(ast.Constant(1), upper, step)] * (lower is None)
                bounds += [(lower, ast.Constant(-1), step)] * (upper is None)
                return [ast.Slice(*three) for three in bounds]
        return ()

    return replacements


def _numbers(value: Any) -> Iterable[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return dict.fromkeys((value + 1, value - 1, -value, 0, 1))
    if isinstance(value, float):
        scaled = [float(f"{value * 10:g}"), float(f"{value / 10:g}"), -value, 0.0]
        return [*scaled, int(value)] if value.is_integer() else scaled
    return ()


def _statement(node: ast.stmt) -> Iterable[ast.AST]:
    match node:
        case ast.If(test=test, body=body, orelse=orelse):
            tests = [ast.Constant(True), ast.Constant(False), ast.UnaryOp(ast.Not(), test)]
            return [ast.If(condition, body, orelse) for condition in tests]
        case ast.For(target=target, iter=source, body=body):
            blocks: list[list[ast.stmt]] = [[ast.Pass()], [*body, ast.Break()]]
            return [ast.For(target, source, block, []) for block in blocks]
        case ast.Raise():
            return [ast.Pass(), ast.Raise(ast.Name("TypeError"))]
        case ast.Assign(targets=[target], value=ast.BinOp(left=left, op=op, right=right)):
            sides = {ast.unparse(right): left, ast.unparse(left): right}
            operand = sides.get(ast.unparse(target))
            return [ast.Pass(), *([ast.AugAssign(target, op, operand)] if operand else [])]  # type: ignore[arg-type]
        case ast.AugAssign(target=target, op=op, value=value):
            others = [ast.AugAssign(target, operator(), value) for operator in OPERATORS.get(type(op), ())]
            return [ast.Pass(), ast.Assign([target], value), *others]
        case ast.Break():
            return [ast.Pass(), ast.Continue()]
        case ast.Assign() | ast.Expr():
            return [ast.Pass()]
    return ()


def _expression(node: ast.expr) -> Iterable[ast.AST]:
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            others = [ast.BinOp(left, operator(), right) for operator in OPERATORS.get(type(op), ())]
            swapped = [] if isinstance(op, COMMUTATIVE) else [ast.BinOp(right, op, left)]
            return [*others, left, right, *swapped]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            numbers = (value + 1, value - 1)
            return [*(ast.UnaryOp(ast.USub(), ast.Constant(number)) for number in numbers), ast.Constant(value)]
        case ast.UnaryOp(operand=operand):
            return [operand]
        case ast.BoolOp(op=op, values=values):
            return [ast.BoolOp(ast.And() if isinstance(op, ast.Or) else ast.Or(), values), *values]
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            is_text = isinstance(right, ast.Constant) and isinstance(right.value, str)
            operators = OPERATORS[type(op)][: 1 if is_text else None]  # strings are not ordered
            return [ast.Compare(left, [operator()], [right]) for operator in operators]
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return [body, orelse, ast.IfExp(test, orelse, body)]
        case ast.Attribute(value=value, attr=attr):
            return [*(ast.Attribute(value, similar) for similar in _alike(attr)), value]
        case ast.Call(func=function, args=args, keywords=keywords):
            orders = [ast.Call(function, order, keywords) for order in (*_swapped(args), *_shorter(args))]
            fewer = [ast.Call(function, args, some) for some in _shorter(keywords)]
            return [*orders, *fewer, *args[:1], *([function.value] if isinstance(function, ast.Attribute) else [])]
        case ast.Subscript(value=value):
            return [value]
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return [type(node)(order) for order in (*_swapped(parts), *_shorter(parts))]
        case ast.Dict(keys=keys, values=values):
            return [ast.Dict(keys, order) for order in _swapped(values)]
    return ()


def _alike(name: str) -> list[str]:
    return [similar for names in map(str.split, ALIKE) if name in names for similar in names if similar != name]


def _swapped(parts: list[Any]) -> list[list[Any]]:
    """The parts with two adjacent ones swapped."""
    return [[*parts[:n], parts[n + 1], parts[n], *parts[n + 2 :]] for n in range(len(parts) - 1)]


def _shorter(parts: list[Any]) -> list[list[Any]]:
    """The parts without one of them."""
    return [parts[:n] + parts[n + 1 :] for n in range(len(parts))]
