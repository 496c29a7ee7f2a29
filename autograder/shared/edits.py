"""Generates small edits of a function's source, one of which may fix it.

Edits use only the source: its names, numbers and operators, and the order of its parts. The same source gives the same
edits in the same order in every process, so a number identifies an edit. The size of an edit is the number of syntax
tree nodes that it adds or removes; smaller edits come first. Among edits of one size, those of the top-level
statements alternate, so that a long function with too many edits does not crowd out those of its short helpers.
"""

import ast
import copy
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import combinations, product
from operator import itemgetter
from types import FrameType
from typing import Any

from .bindings import bound_names
from .slips import called, slips

MOST_BYTES, MOST_NODES = 100_000, 5_000  # of the source
MOST_EDITS = 1_200  # tried for one function
LARGEST = 10  # size of an edit
MOST_PLACES = 6  # places of one edit
MOST_CONSTANTS = 12  # numbers from the source, and as many strings, to try for a constant

ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.FloorDiv, ast.Mod, ast.MatMult)
BITS = (ast.BitAnd, ast.BitOr, ast.BitXor)
ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
OTHERS = {ast.In: (ast.NotIn, ast.Eq), ast.NotIn: (ast.In, ast.NotEq), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,)}
# Names that are easily confused.
ALIKE = (
    ("mean", "sum", "max", "min", "var", "std", "prod", "median"),
    ("any", "all"),
    ("sin", "cos"),
    ("tril", "triu"),
    ("maximum", "minimum"),
    ("ones", "zeros", "eye"),
    ("exp", "log", "expm1", "log1p", "log2", "log10"),
    ("sqrt", "isqrt", "square", "abs", "cbrt"),
    ("argmax", "argmin"),
    ("float64", "float32"),
    ("zeros_like", "ones_like"),
    ("matmul", "multiply"),
    ("less", "less_equal", "greater", "greater_equal"),
)
REDUCTIONS = (*ALIKE[0], *ALIKE[1], *ALIKE[8], "norm", "cumsum", "squeeze")
KEYWORDS: tuple[dict[str, Any], ...] = (
    *({"axis": axis} for axis in (-1, 0, 1)),
    *({"axis": axis, "keepdims": True} for axis in (-1, 0, 1)),
    *({"keepdims": True}, {"keepdims": None}, {"ddof": None}),
)
WITHOUT_EDITS = ("ctx", "annotation", "returns", "decorator_list", "type_comment")


@dataclass(frozen=True)
class Location:
    """The position of a node: a field of its parent, and an index if the field is a list."""

    parent: ast.AST
    field: str
    index: int | None = None

    def put(self, node: Any) -> None:
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node

    @property
    def node(self) -> Any:
        child = getattr(self.parent, self.field)
        return child if self.index is None else child[self.index]

    @property
    def is_called(self) -> bool:
        return isinstance(self.parent, ast.Call) and self.field == "func"


@dataclass(frozen=True)
class Edit:
    """Replaces the node `old` in some places of one top-level statement (`unit`) with `new`.

    An edit of size 0 corrects a slip (slips.py), which `sentence` names.
    """

    unit: ast.stmt
    locations: tuple[Location, ...]
    old: ast.AST
    new: tuple[ast.AST, ...]
    lines: tuple[int, ...]
    size: int
    sentence: str = ""

    def put(self, nodes: Sequence[Any] = ()) -> None:
        for location, node in zip(self.locations, nodes or self.new, strict=True):
            location.put(node)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Apply the edit to the tree while the context is open."""
        before = [location.node for location in self.locations]
        try:
            self.put()
            yield
        finally:
            self.put(before)


class Text:
    """The part of a module's source that one function uses: the function, private functions and constants.

    `unedited` are functions that are not edited, and `docstring` is that of the reference. Raises ValueError if the source is
    too large, SyntaxError if it is invalid.
    """

    def __init__(self, source: bytes, function: str, unedited: Iterable[str], docstring: str = ""):
        if len(source) > MOST_BYTES:
            raise ValueError("the source is too large to be edited")
        self.tree, self.docstring = ast.parse(source), docstring
        every = list(ast.walk(self.tree))
        if len(every) > MOST_NODES:
            raise ValueError("the source has too many nodes to be edited")
        self.units = list(units(self.tree, function, set(unedited)))
        self.functions = list(bound_names([s for s in self.tree.body if not isinstance(s, ast.Assign)]))
        strings = [node.value for node in every if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        names = dict.fromkeys(string for string in strings if string.isidentifier())  # such as keys
        self.numbers, self.words = _numbers(every), list(names)[:MOST_CONSTANTS]
        ranked: list[tuple[int, int, Edit]] = []  # with the size, and the rank among those of its size and unit
        for unit in self.units:
            ranks = Counter[int]()
            for edit in self._distinct(unit):
                ranked.append((edit.size, ranks[edit.size], edit))
                ranks[edit.size] += 1
        self.edits = [edit for *_, edit in sorted(ranked, key=itemgetter(0, 1))]

    def reached(self, lines: Iterable[int]) -> Iterator[tuple[int, Edit]]:
        """Return the edits, with their numbers, of the statements to which some of these lines belong."""
        nodes = (node for unit in self.units for node in ast.walk(unit) if isinstance(node, ast.stmt))
        of_line: dict[int, ast.stmt] = {}
        for node in nodes:  # outer statements first
            of_line |= dict.fromkeys(range(node.lineno, (node.end_lineno or node.lineno) + 1), node)
        run = {of_line.get(line) for line in lines}
        return ((n, edit) for n, edit in enumerate(self.edits) if any(of_line[line] in run for line in edit.lines))

    def dependents(self, unit: ast.stmt) -> list[ast.stmt]:
        """Return a unit, and the later units that use it when they are defined or that rebind its name."""
        below = (unit_below for unit_below in self.units if unit_below.lineno > unit.lineno)
        bound = set(bound_names([unit]))
        return [
            unit,
            *(
                u
                for u in below
                if not isinstance(u, ast.FunctionDef) or u.decorator_list or bound & set(bound_names([u]))
            ),
        ]

    def _distinct(self, unit: ast.stmt) -> Iterator[Edit]:
        tried = set()
        for edit in self._edits(unit):
            location = edit.locations[0]
            new = "\n".join(dict.fromkeys(map(_text, edit.new)))
            key = (id(location.parent), location.field, location.index, len(edit.locations), new)
            if edit.size <= LARGEST and key not in tried and _text(edit.old) != key[-1]:
                tried.add(key)
                yield edit

    def _edits(self, unit: ast.stmt) -> Iterator[Edit]:
        for group in slips(self.tree, unit, self.docstring) if isinstance(unit, ast.FunctionDef) else ():
            locations = tuple(Location(unit, "body", slip.position) for slip in group)
            lines = tuple(sorted({line for slip in group for line in slip.lines}))
            statements = tuple(slip.statement for slip in group)
            yield Edit(unit, locations, locations[0].node, statements, lines, 0, group[0].sentence)
        bound = _names(unit)
        read = {node.id for node in ast.walk(unit) if isinstance(node, ast.Name) and not _stored(node)}
        same: dict[tuple[str, str], list[Edit]] = defaultdict(list)
        for location in locations_in(unit):
            names = _names_at(location, bound)
            for new in (*self._replacements(location, names), *self._extensions(location, names, read)):
                edit = edit_at(unit, location, new)
                yield edit
                if isinstance(location.node, ast.expr):
                    same[_text(location.node), _text(new)].append(edit)
        yield from (_together(group) for group in same.values() if 1 < len(group) <= MOST_PLACES)
        yield from map(_together, _reductions(unit))

    def replacements(self, unit: ast.stmt) -> Iterator[Edit]:
        """Yield the edits of one place of a unit that replace or remove something and add no operation."""
        bound = _names(unit)
        for location in locations_in(unit):
            for new in self._replacements(location, _names_at(location, bound)):
                yield edit_at(unit, location, new)

    def _replacements(self, location: Location, names: list[str]) -> Iterator[ast.AST]:
        node = location.node
        match node:
            case ast.Constant(value=value):
                yield from map(_constant, self._constants(value))
                if type(value) in (int, float):
                    yield from map(_name, names)
                    infinity = _attribute(_name("np"), "inf")
                    yield from (infinity, ast.UnaryOp(ast.USub(), infinity))
                if location.field == "args":  # an omitted bound
                    yield _constant(None)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                yield from map(_constant, self._constants(-value))
            case ast.Name(id=name, ctx=ast.Load()):
                choices = self.functions if location.is_called and name in self.functions else names
                yield from (_name(choice) for choice in choices if choice != name and name in choices)
                yield from map(_name, _alike(name))
        if isinstance(node, ast.Slice):
            yield from _slices(node)
        elif isinstance(node, ast.expr) and not _stored(node):
            yield from _operation(node)

    def _extensions(self, location: Location, names: list[str], read: Set[str]) -> Iterator[ast.AST]:
        node = location.node
        if not isinstance(node, ast.expr) or isinstance(node, ast.Slice) or _stored(node):
            return
        if not location.is_called:
            yield from (_name(name) for name in names if name not in read)  # a value that is never used
            yield from _around(node, location)
            yield from _exchanged(node)

    def _constants(self, value: Any) -> list[Any]:
        """Other constants to try for `value`."""
        values: list[Any] = []
        match value:
            case bool():
                values = [not value]
            case int():
                integers = [number for number in self.numbers if type(number) is int]
                values = [value + 1, value - 1, -value, 0, 1, -1, 2, 2 * value, *integers]
            case float():
                near = [-value, 0.0, 1.0, 2 * value, value / 2, float(f"{value * 10:g}"), float(f"{value / 10:g}")]
                values = [*near, *self.numbers]
            case str() if value in self.words:
                values = self.words
            case None:
                values = [True, 0, -1]
        return [choice for choice in dict.fromkeys(values) if choice != value]


def line_names(lines: Sequence[int]) -> str:
    """Return "line 3", or "lines 3, 4 and 7"."""
    return f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(map(str, lines[:-1]))} and {lines[-1]}"


@contextmanager
def redefined(
    units: Iterable[ast.stmt], names: dict[str, Any], file: str, limited: Callable[[], AbstractContextManager[None]]
) -> Iterator[None]:
    """Redefine units in the namespace of their module while the context is open; `limited` bounds its time."""
    ordered = sorted(units, key=lambda unit: unit.lineno)
    before = {name: names[name] for name in bound_names(ordered) if name in names}
    code = compile(ast.Module(ordered, []), file, "exec", dont_inherit=True)
    try:
        with limited():
            exec(code, names)  # noqa: S102 - in a process of the submission, or at home
            yield
    finally:
        names.update(before)


@contextmanager
def executed(file: str) -> Iterator[set[int]]:
    """Collect the numbers of the lines of a file that run while the context is open."""
    lines = set[int]()

    def trace(frame: FrameType, *_: Any) -> Any:
        if frame.f_code.co_filename != file:
            return None
        lines.add(frame.f_lineno)
        return trace

    sys.settrace(trace)
    try:
        yield lines
    finally:
        sys.settrace(None)


def units(tree: ast.Module, function: str, excluded: set[str]) -> Iterator[ast.stmt]:
    """Yield the top-level statements that bind a function, and those that bind the names they use."""
    bound = [(set(bound_names([statement])), statement) for statement in tree.body]
    pending, visited = [function], {function, *excluded}
    while pending:
        name = pending.pop(0)
        for names, statement in bound:
            if name in names and not isinstance(statement, ast.Import | ast.ImportFrom):
                yield statement
                used = (node.id for node in ast.walk(statement) if isinstance(node, ast.Name))
                new = [n for n in dict.fromkeys(used) if n not in visited and any(n in targets for targets, _ in bound)]
                visited.update(new, names)
                pending += new


def _numbers(nodes: Sequence[ast.AST]) -> list[Any]:
    """Return the numbers in the source with their signs, including those in docstrings."""
    values = [node.value for node in nodes if isinstance(node, ast.Constant)]
    operands = [node.operand for node in nodes if isinstance(node, ast.UnaryOp)]
    signed: list[Any] = [operand.value for operand in operands if isinstance(operand, ast.Constant)]
    texts = (value[:2000] for value in values if isinstance(value, str))
    written = [float(digits) for text in texts for digits in re.findall(r"\b\d+(?:\.\d+)?(?:e-?\d+)?\b", text)]
    numbers = (
        *(value for value in values if type(value) in (int, float)),
        *(-value for value in signed if type(value) in (int, float)),
        *(int(number) if number.is_integer() and number < 1e15 else number for number in written),
    )
    return list(dict.fromkeys(number for number in numbers if number == number))[:MOST_CONSTANTS]


def _names(unit: ast.stmt) -> dict[str, int]:
    """Return the arguments and variables of a unit, each with the line that binds it first."""
    names: dict[str, int] = {}
    for node in ast.walk(unit):
        if isinstance(node, ast.arg):
            names.setdefault(node.arg, node.lineno)
        elif isinstance(node, ast.Name) and _stored(node) and node.id != "_":
            names[node.id] = min(names.get(node.id, node.lineno), node.lineno)
    return names


def _names_at(location: Location, bound: Mapping[str, int]) -> list[str]:
    """Return the names that are bound before a place."""
    return [name for name, line in bound.items() if line <= getattr(location.node, "lineno", line)]


def locations_in(node: ast.AST) -> Iterator[Location]:
    """Yield every place of a unit whose node may be replaced."""
    if isinstance(node, ast.Raise | ast.JoinedStr):
        return
    for name, value in ast.iter_fields(node):
        if name in WITHOUT_EDITS:
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST):
                yield Location(node, name, index)
                if not (isinstance(child, ast.UnaryOp) and isinstance(child.operand, ast.Constant)):
                    yield from locations_in(child)


def edit_at(unit: ast.stmt, location: Location, new: ast.AST) -> Edit:
    old = location.node
    where = old if hasattr(old, "lineno") else location.parent
    _locate(new, where)
    gone, come = ({id(getattr(n, "moved", n)) for n in ast.walk(tree) if _is_counted(n)} for tree in (old, new))
    lines = (getattr(where, "lineno", unit.lineno),)
    return Edit(unit, (location,), old, (new,), lines, len(gone ^ come) or 2)


_UNCOUNTED = (ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)


def _is_counted(node: ast.AST) -> bool:
    """Return whether a node counts in the size of an edit; a negative number is one node."""
    is_sign = isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)
    return not isinstance(node, _UNCOUNTED) and not is_sign


def _locate(node: ast.AST, where: ast.AST) -> None:
    """Give new nodes the line of an old one; nodes with a line keep it, and so do their children."""
    if "lineno" in node._attributes and hasattr(node, "lineno"):
        return
    ast.copy_location(node, where)
    for child in ast.iter_child_nodes(node):
        _locate(child, where)


def _together(group: Sequence[Edit]) -> Edit:
    """Return the same edit in several places as one edit."""
    first, lines = group[0], tuple(sorted({edit.lines[0] for edit in group}))
    locations, new = tuple(edit.locations[0] for edit in group), tuple(edit.new[0] for edit in group)
    return Edit(first.unit, locations, first.old, new, lines, first.size + 1)


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return repr(node.value) if isinstance(node, ast.Constant) else ast.unparse(node)


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _attribute(value: ast.expr, name: str) -> ast.expr:
    return ast.Attribute(value, name, ast.Load())


def _constant(value: Any) -> ast.expr:
    negative = type(value) in (int, float) and value < 0
    return ast.UnaryOp(ast.USub(), ast.Constant(-value)) if negative else ast.Constant(value)


def _alike(name: str) -> Iterator[str]:
    yield from (similar for names in ALIKE if name in names for similar in names if similar != name)


def swapped(parts: Sequence[Any]) -> Iterator[list[Any]]:
    """Yield the parts with two of them swapped; three parts are also rotated."""
    for i, j in combinations(range(len(parts)), 2):
        order = list(parts)
        order[i], order[j] = order[j], order[i]
        yield order
    if len(parts) == 3:
        yield from ([*parts[1:], parts[0]], [parts[2], *parts[:2]])


def shorter(parts: Sequence[Any]) -> Iterator[list[Any]]:
    """Return the parts without one of them."""
    return ([*parts[:i], *parts[i + 1 :]] for i in range(len(parts)))


def _operation(node: ast.expr) -> Iterator[ast.AST]:
    """Another operation on the same operands, or on some of them."""
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            group = ARITHMETIC if isinstance(op, ARITHMETIC) else BITS
            yield from (left, right, ast.BinOp(right, op, left))
            yield from (ast.BinOp(left, operator(), right) for operator in group if not isinstance(op, operator))
            if isinstance(left, ast.BinOp):
                yield ast.BinOp(left.left, left.op, ast.BinOp(left.right, op, right))
            if isinstance(right, ast.BinOp):
                yield ast.BinOp(ast.BinOp(left, op, right.left), right.op, right.right)
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.BoolOp(op=op, values=values):
            yield ast.BoolOp(ast.And() if isinstance(op, ast.Or) else ast.Or(), values)
            yield from (operands[0] if len(operands) == 1 else ast.BoolOp(op, operands) for operands in shorter(values))
        case ast.Compare(left=left, ops=ops, comparators=parts):
            for i, compares in enumerate(ops):
                replacements: tuple[Any, ...] = ORDER if isinstance(compares, ORDER) else OTHERS[type(compares)]
                exchanged = [
                    [*ops[:i], replacement(), *ops[i + 1 :]]
                    for replacement in replacements
                    if not isinstance(compares, replacement)
                ]
                yield from (ast.Compare(left, operators, parts) for operators in exchanged)
            if len(ops) > 1:
                yield from (ast.Compare(left, ops[:-1], parts[:-1]), ast.Compare(parts[0], ops[1:], parts[1:]))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield from (body, orelse, ast.IfExp(test, orelse, body))
        case ast.Attribute(value=value, attr=attr):
            yield from (_attribute(value, similar) for similar in _alike(attr))
            yield value
        case ast.Call():
            yield from _call(node)
        case ast.Subscript(value=value, slice=index):
            yield value
            orders = (*swapped(index.elts), *shorter(index.elts)) if isinstance(index, ast.Tuple) else ()
            yield from (ast.Subscript(value, ast.Tuple(order, ast.Load()), node.ctx) for order in orders)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            yield from (type(node)(order, ast.Load()) for order in (*swapped(parts), *shorter(parts)))
            yield from parts
        case ast.Dict(keys=keys, values=values):
            yield from (ast.Dict(keys, order) for order in swapped(values))


def _call(node: ast.Call) -> Iterator[ast.AST]:
    """Arguments reordered or dropped, other keywords, and the call dropped."""
    orders = (*swapped(node.args), *shorter(node.args))
    yield from (ast.Call(node.func, order, node.keywords) for order in orders)
    yield from (ast.Call(node.func, node.args, fewer) for fewer in shorter(node.keywords))
    yield from (arg.value if isinstance(arg, ast.Starred) else arg for arg in node.args)
    if isinstance(node.func, ast.Attribute):
        yield node.func.value
    if called(node) in REDUCTIONS:
        yield from (_with(node, keywords) for keywords in (*KEYWORDS[:-2], {"axis": -2}, {"ddof": 1}))


def _with(node: ast.Call, keywords: dict[str, Any]) -> ast.Call:
    """Return a call with other keywords; None drops a keyword."""
    unchanged = [keyword for keyword in node.keywords if keyword.arg not in keywords]
    new = [ast.keyword(name, _constant(value)) for name, value in keywords.items() if value is not None]
    return ast.Call(node.func, node.args, unchanged + new)


def _slices(node: ast.Slice) -> Iterator[ast.AST]:
    lower, upper, step = node.lower, node.upper, node.step
    one, last = _constant(1), _constant(-1)
    yield from (ast.Slice(None, upper, step), ast.Slice(lower, None, step), ast.Slice(lower, upper, None))
    yield from (ast.Slice(one, upper, step), ast.Slice(lower, last, step), ast.Slice(lower, upper, last))
    yield from (ast.Slice(one, None, None), ast.Slice(None, last, None), _constant(0), last)
    yield from (bound for bound in (lower, upper) if bound is not None)


def _around(node: ast.expr, location: Location) -> Iterator[ast.AST]:
    """Yield the node with one more operation applied."""
    if isinstance(location.parent, ast.Assign | ast.keyword):
        yield from map(_constant, (-1, 0, 1, None))
    if location.field == "test" or isinstance(node, ast.Compare | ast.BoolOp):
        yield from (ast.UnaryOp(ast.Not(), node), ast.UnaryOp(ast.Invert(), node), _constant(True), _constant(False))
    elif isinstance(node, ast.Name | ast.BinOp | ast.Call | ast.Subscript | ast.Attribute):
        yield ast.UnaryOp(ast.USub(), node)
        if (
            isinstance(location.parent, ast.Slice | ast.Compare | ast.Call | ast.Subscript)
            and location.field != "value"
        ):
            yield from (ast.BinOp(node, op(), _constant(1)) for op in (ast.Add, ast.Sub))
        if not isinstance(location.parent, ast.Attribute | ast.Subscript | ast.Starred | ast.keyword):
            yield from (_attribute(node, "T"), ast.Call(_attribute(node, "copy"), [], []))
            index = ast.Tuple([_constant(...), _constant(None)], ast.Load())
            yield from (ast.Subscript(node, key, ast.Load()) for key in (index, _constant(None)))
            names = ("sqrt", "square", "abs", "exp")
            yield from (ast.Call(_attribute(_name("np"), name), [node], []) for name in names)


def _stored(node: ast.AST) -> bool:
    return not isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def _exchanged(node: ast.expr) -> Iterator[ast.AST]:
    """P(Q(x)) as Q(P(x)): two operations in reverse order."""
    for outer in _operands(node):
        inner = outer.node
        for location in _operands(inner):
            lowered, raised = copy.copy(node), copy.copy(inner)
            lowered.moved, raised.moved = node, inner  # type: ignore[attr-defined]
            operand = location.node
            _set(raised, location, lowered)
            _set(lowered, outer, operand)
            yield raised


def _operands(node: ast.AST) -> list[Location]:
    match node:
        case ast.BinOp():
            return [Location(node, "left"), Location(node, "right")]
        case ast.UnaryOp():
            return [Location(node, "operand")]
        case ast.Subscript(ctx=ast.Load()) | ast.Attribute(ctx=ast.Load()):
            return [Location(node, "value")]
        case ast.Call(args=args):
            return [Location(node, "args", i) for i, arg in enumerate(args) if not isinstance(arg, ast.Starred)]
    return []


def _set(node: ast.AST, location: Location, value: ast.AST) -> None:
    """Replace one operand in a copy of the node of a place."""
    if location.index is not None:
        setattr(node, location.field, list(getattr(node, location.field)))
    Location(node, location.field, location.index).put(value)


def _reductions(unit: ast.stmt) -> Iterator[list[Edit]]:
    """Yield the same keywords in all reductions of a unit, in those of one name, or in those with the same keywords."""
    groups: dict[Any, list[Location]] = defaultdict(list)
    for location in locations_in(unit):
        if isinstance(location.node, ast.Call) and called(location.node) in REDUCTIONS:
            present = tuple(keyword.arg for keyword in location.node.keywords)
            for key in ("", called(location.node), present, (called(location.node), present)):
                groups[key].append(location)
    for group, keywords in product(groups.values(), KEYWORDS):
        if len(group) > 1:
            yield [edit_at(unit, location, _with(location.node, keywords)) for location in group]
