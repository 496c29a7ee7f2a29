"""Machine-made mutants: each reference function with one small change, graded by the suites.

In addition to the usual changes (another operator, another constant) these are the mistakes of array code: another axis, no
`keepdims`, `sum` instead of `mean`, no `.copy()`, another array of the same shape.

A mutant is killed when a call of any criterion fails, whatever it costs. A survivor must be equivalent, that is, still right
by the contract; equivalent_mutants.yaml says why, one line each, and nothing else may survive.

Why our own, on `ast`: cosmic-ray writes each mutant over the module and starts a test command for it; mutmut builds a package
with all mutants, and forks its own pytest. Here a mutant is a case like any other, run in the sandbox of a warm grader, since
some never end or request too much memory. Neither tool makes the mistakes of array code.
"""

import ast
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import click

from autograder.audit.cases import Case, each, recorded, submission
from autograder.grading.grader import Grader
from autograder.grading.runner import Runner
from autograder.homework import kit
from autograder.homework import rubric as rubrics

RECORD = "equivalent_mutants.yaml"  # in the folder of the suites
# A mutant and the numbers of its failing test calls; none for a survivor.
CriterionScore = tuple[Case, frozenset[int]]


def run(jobs: int | None = None, chosen: Iterable[Case] | None = None) -> Iterator[CriterionScore]:
    """Grade mutants, in order, in `jobs` processes; by default all of them."""
    every = [m for module in rubrics.current().modules for m in mutants(module)] if chosen is None else list(chosen)
    yield from each(_grade, every, jobs, sandbox=True)


def _grade(grader: Grader, mutant: Case) -> CriterionScore:
    """With the plain rule: a failing call counts even if it costs points elsewhere."""
    plan, module = grader.plan, mutant.module
    test_calls = (*plan.visible.get(module, ()), *plan.hidden.get(module, ()))
    with Runner.in_sandbox(grader.sandbox, plan, submission(mutant)) as runner:
        call_results = runner.public(module) | runner.hidden(module)
    return mutant, frozenset(
        test_call.number for test_call in test_calls if call_results[test_call].failure is not None
    )


def equivalent() -> dict[str, str]:
    """Why each recorded mutant is equivalent, by name."""
    reasons = {}
    for function, entries in recorded(RECORD).items():
        for entry in entries:
            changed = entry["after"] if isinstance(entry["after"], list) else [entry["after"]]
            reasons.update({named(function, entry["before"], after): entry["why"] for after in changed})
    return reasons


def problems(graded: Iterable[CriterionScore]) -> list[str]:
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
    killed = sum(bool(wrong) for _, wrong in graded)
    click.echo(f"{len(graded)} mutants, {killed} killed, {len(equivalent())} recorded as equivalent.")
    return 1 if wrong else 0


# The mutants


def mutants(module: str) -> list[Case]:
    """Every mutant of the contract functions of a reference module, without duplicates."""
    tree = ast.parse((kit.solutions() / f"{module}.py").read_text(encoding="utf-8"))
    functions = rubrics.current().modules[module].functions
    by_name: dict[str, Case] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in functions:
            for mutant in of_function(module, node):
                by_name.setdefault(mutant.name, mutant)
    return list(by_name.values())


def of_function(module: str, function: ast.FunctionDef) -> Iterator[Case]:
    undress(function)
    right, scope = ast.unparse(function), Scope.of(function)
    for parent, name, place, node in list(_sites(function)):
        for change in scope.changes(node):
            _put(parent, name, place, ast.copy_location(change, node))
            wrong = ast.unparse(function)
            _put(parent, name, place, node)
            if wrong != right and _is_python(wrong):
                differing = named(function.name, *_differing(right, wrong))
                yield Case("mutant", differing, module, function.name, changed=wrong)


def named(function: str, before: str, after: str) -> str:
    """The name of a mutant, which depends only on the lines it changes; several lines are joined by "; "."""
    return f"{function}: {before}  ->  {after}"


def _is_python(source: str) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):  # of what is wrong, and Python may see
            compile(source, "<mutant>", "exec")
    except SyntaxError:
        return False
    return True


def undress(function: ast.FunctionDef) -> None:
    """Remove the docstring and the annotations."""
    if ast.get_docstring(function) is not None:
        del function.body[0]
    function.returns = None
    for argument in function.args.args:
        argument.annotation = None


def _sites(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Every replaceable node below `node`, with its place; error messages are left out."""
    for name, value in [] if isinstance(node, ast.Raise) else ast.iter_fields(node):
        parts = enumerate(value) if isinstance(value, list) else [(None, value)]
        for place, part in parts:
            if isinstance(part, ast.AST):
                yield node, name, place, part
                if not (isinstance(part, ast.UnaryOp) and isinstance(part.operand, ast.Constant)):  # a negative number
                    yield from _sites(part)


def _put(parent: ast.AST, name: str, place: int | None, node: ast.AST) -> None:
    if place is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[place] = node


def _differing(right: str, wrong: str) -> tuple[str, str]:
    """The lines between the common beginning and the common end of two texts."""
    before, after = right.splitlines(), wrong.splitlines()
    while before and after and before[0] == after[0]:
        before, after = before[1:], after[1:]
    while before and after and before[-1] == after[-1]:
        before, after = before[:-1], after[:-1]
    return "; ".join(map(str.strip, before)), "; ".join(map(str.strip, after))


# The changes

ARITHMETIC: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult, ast.Sub),
    ast.FloorDiv: (ast.Div, ast.Mult),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult, ast.Div),
    ast.MatMult: (ast.Mult,),
    ast.BitOr: (ast.BitAnd, ast.BitXor),
}
COMMUTATIVE = (ast.Add, ast.Mult, ast.BitOr)
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq, ast.GtE, ast.LtE),
    ast.NotEq: (ast.Eq, ast.Gt, ast.Lt),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
# Names that are easily confused.
ALIKE = (
    ("mean", "sum", "max", "min"),
    ("var", "std"),
    ("sin", "cos"),
    ("tril", "triu"),
    ("maximum", "minimum"),
    ("any", "all"),
    ("ones", "zeros", "eye"),
    ("exp", "log", "expm1"),
    ("log", "log1p", "log2"),
    ("sqrt", "square"),
    ("argmax", "argmin"),
    ("float64", "float32"),
    ("int64", "float64"),
    ("bool", "float"),
    ("pre_norm_block", "post_norm_block"),
)


@dataclass(frozen=True)
class Scope:
    """The names and texts that changes within one function may use."""

    arguments: tuple[str, ...]
    variables: tuple[str, ...]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, function: ast.FunctionDef) -> "Scope":
        nodes = [node for _, _, _, node in _sites(function)]
        arguments = [arg.arg for arg in function.args.args]
        stored = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id != "_"]
        texts = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        return cls(tuple(arguments), tuple(dict.fromkeys(arguments + stored)), tuple(dict.fromkeys(texts)))

    def changes(self, node: ast.AST) -> Iterator[ast.AST]:
        """Every replacement of one node."""
        match node:
            case ast.stmt():
                yield from self._statement(node)
            case ast.Constant(value=value):
                yield from map(ast.Constant, self._constants(value))
            case ast.Name(id=name, ctx=ast.Load()):
                others = [variable for variable in self.variables if variable != name]
                yield from map(ast.Name, (*(others if name in self.variables else ()), *_alike(name)))
            case ast.expr():
                yield from _expression(node)
            case ast.Slice(lower=lower, upper=upper, step=step):
                yield from (
                    ast.Slice(None, upper, step),
                    ast.Slice(lower, None, step),
                    ast.Slice(lower, upper, None),
                )
                yield from [ast.Slice(ast.Constant(1), upper, step)] if lower is None else []
                yield from [ast.Slice(lower, ast.Constant(-1), step)] if upper is None else []

    def _statement(self, node: ast.stmt) -> Iterator[ast.AST]:
        match node:
            case ast.Return():
                yield from map(ast.Return, [ast.Constant(None), *map(ast.Name, self.arguments)])
            case ast.If(test=test, body=body, orelse=orelse):
                tests = [ast.Constant(True), ast.Constant(False), ast.UnaryOp(ast.Not(), test)]
                yield from (ast.If(condition, body, orelse) for condition in tests)
            case ast.For(target=target, iter=source, body=body):
                bodies: list[list[ast.stmt]] = [[ast.Pass()], [*body, ast.Break()]]
                yield from (ast.For(target, source, block, []) for block in bodies)
            case ast.Raise():
                yield from (ast.Pass(), ast.Raise(ast.Name("TypeError")))
            case ast.Assign(targets=[target], value=ast.BinOp(left=left, op=op, right=right)):
                yield ast.Pass()
                if ast.unparse(target) in (ast.unparse(left), ast.unparse(right)):
                    operand = right if ast.unparse(target) == ast.unparse(left) else left
                    yield ast.AugAssign(target, op, operand)  # type: ignore[arg-type]
            case ast.AugAssign(target=target, op=op, value=value):
                yield from (ast.Pass(), ast.Assign([target], value))
                yield from (ast.AugAssign(target, operator(), value) for operator in ARITHMETIC.get(type(op), ()))
            case ast.Break():
                yield from (ast.Pass(), ast.Continue())
            case ast.Assign() | ast.Expr():
                yield ast.Pass()

    def _constants(self, value: Any) -> Iterator[Any]:
        if isinstance(value, bool):
            yield not value
        elif isinstance(value, int):
            yield from dict.fromkeys((value + 1, value - 1, -value, 0, 1))
        elif isinstance(value, float):
            yield from (float(f"{value * 10:g}"), float(f"{value / 10:g}"), -value, 0.0)
            yield from [int(value)] if value.is_integer() else []
        elif isinstance(value, str):
            yield self.texts[(self.texts.index(value) + 1) % len(self.texts)]
            yield value + "_"


def _alike(name: str) -> Iterator[str]:
    yield from (similar for names in ALIKE if name in names for similar in names if similar != name)


def _expression(node: ast.expr) -> Iterator[ast.AST]:
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            yield from (ast.BinOp(left, operator(), right) for operator in ARITHMETIC.get(type(op), ()))
            yield from (left, right, *(() if isinstance(op, COMMUTATIVE) else (ast.BinOp(right, op, left),)))
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            yield from (ast.UnaryOp(ast.USub(), ast.Constant(number)) for number in (value + 1, value - 1))
            yield ast.Constant(value)
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.BoolOp(op=op, values=values):
            yield ast.BoolOp(ast.And() if isinstance(op, ast.Or) else ast.Or(), values)
            yield from values
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            text = isinstance(right, ast.Constant) and isinstance(right.value, str)
            others = COMPARISONS[type(op)][: 1 if text else None]  # texts are not ordered
            yield from (ast.Compare(left, [comparison()], [right]) for comparison in others)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield from (body, orelse, ast.IfExp(test, orelse, body))
        case ast.Attribute(value=value, attr=attr):
            yield from (ast.Attribute(value, similar) for similar in _alike(attr))
            yield value
        case ast.Call():
            yield from _call(node)
        case ast.Subscript(value=value):
            yield value
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            yield from (type(node)(order) for order in (*_swapped(parts), *_shorter(parts)))
        case ast.Dict(keys=keys, values=values):
            yield from (ast.Dict(keys, order) for order in _swapped(values))


def _call(node: ast.Call) -> Iterator[ast.AST]:
    """Arguments swapped or dropped, the call dropped."""
    yield from (ast.Call(node.func, order, node.keywords) for order in _swapped(node.args))
    yield from (ast.Call(node.func, fewer, node.keywords) for fewer in _shorter(node.args))
    yield from (ast.Call(node.func, node.args, fewer) for fewer in _shorter(node.keywords))
    yield from node.args[:1]
    if isinstance(node.func, ast.Attribute):
        yield node.func.value


def _swapped(parts: list[Any]) -> Iterator[list[Any]]:
    """The parts with two adjacent ones swapped."""
    for i, (left, right) in enumerate(pairwise(parts)):
        yield [*parts[:i], right, left, *parts[i + 2 :]]


def _shorter(parts: list[Any]) -> Iterator[list[Any]]:
    """The parts without one of them."""
    for i in range(len(parts)):
        yield parts[:i] + parts[i + 1 :]
