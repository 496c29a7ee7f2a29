"""What a class teaches beside its points: functions that are wrong in a way that no known mistake explains, and guesses.

Whoever made the same mistake got the same wrong results, however the code was written. What is kept of such a function is a
digest of its wrong replies, its text without comments, docstrings and texts of errors, and a public example on which it is wrong:
enough to show a teacher what a class has in common, and for a draft of a known mistake (audit/learning.py).
"""

import ast
import contextlib
import copy
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

import numpy as np

from autograder.feedback.counterexamples import lines
from autograder.grading.call_results import CallResult
from autograder.grading.grader import ModuleResult, Result
from autograder.grading.known_responses import wrong_in_value
from autograder.homework import kit, rubric
from autograder.submissions.submission import Submission
from autograder.submissions.uploads import Student
from autograder.values.compare import magnitude
from autograder.values.source import UNREADABLE, decoded, parsed
from autograder.values.tree import leaves

LONGEST = 6000  # characters of a function that are kept
# The step to which values are rounded, in tolerances. With a round number simple fractions would lie just between two multiples, as
# 2 ** -7 between two of 1e-6, and the last bit would decide.
STEP = 123.456789


@dataclass(frozen=True)
class Unexplained:
    """A function of one submission.

    `responses` is the digest of what it replied where it is wrong, `criteria` are those with such calls, first the one of value
    that has the most. `source` is "" where the function cannot stand alone, `example` where no public example shows it.
    """

    function: str
    responses: str
    criteria: tuple[str, ...]
    source: str
    example: str


# Submissions in which one function replies alike, by key, those with the shortest text first.
Group = Mapping[str, Unexplained]


def shortest(group: Group) -> Unexplained:
    """The one with the shortest text."""
    return next(iter(group.values()))


def unexplained(result: Result) -> Iterator[Unexplained]:
    """The functions of one submission whose wrong results no known mistake explains."""
    for module in result.modules:
        text = result.submission.text(f"{module.module}.py")
        for function, call_results in module.unexplained.items():
            wrong = [call_result for call_result in call_results if wrong_in_value(call_result)]
            calls = Counter(call_result.test_call.criterion for call_result in wrong if call_result.test_call.criterion)
            about = rubric.current().criteria
            criteria = sorted(calls, key=lambda name: (about[name].looks_at != "values", -calls[name]))
            yield Unexplained(
                function, digest_of(wrong), tuple(criteria), standalone(text, function), _example(module, function)
            )


def groups(submissions: Mapping[str, Iterable[Unexplained]], people: Iterable[Student] = ()) -> list[Group]:
    """Those of all submissions, by key, that reply alike: the largest group first; no variable has a name or id of `people`."""
    words = {word for p in people for word in _words(f"{p.name} {p.sid} {p.email.partition('@')[0]}")}
    alike: dict[tuple[str, str], list[tuple[str, Unexplained]]] = {}
    for key, every in submissions.items():
        for entry in every:
            alike.setdefault((entry.function, entry.responses), []).append((key, entry))
    made = []
    for pairs in alike.values():
        pairs.sort(key=lambda pair: (not pair[1].source, len(pair[1].source), pair[0]))
        made.append({key: replace(entry, source=_without(words, entry.source)) for key, entry in pairs})
    return sorted(made, key=lambda group: (-len(group), shortest(group).function, shortest(group).responses))


def digest_of(wrong: Sequence[CallResult]) -> str:
    """Over the wrong replies of a function.

    Two functions have the same one if they are wrong in the same calls, and raise the same there or give values that are equal
    up to rounding.
    """
    total = hashlib.sha256()
    for call_result in wrong:
        test_call = call_result.test_call
        most = max(
            (magnitude(np.asarray(leaf)) for leaf in leaves(test_call.expected) if _is_number(leaf)), default=1.0
        )
        error = call_result.response.error
        response = (
            error.kind if error is not None else _rounded(call_result.response.value, STEP * test_call.allowed * most)
        )
        total.update(repr((test_call.number, response)).encode())
    return total.hexdigest()[:16]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.ndarray | np.generic)


def _rounded(value: Any, test_call: float) -> Any:
    """A value in which what the comparison accepts alike is the same: lists and tuples, dtypes, numbers up to rounding."""
    if isinstance(value, list | tuple):
        return [_rounded(part, test_call) for part in value]
    if isinstance(value, dict):
        return [(key, _rounded(part, test_call)) for key, part in value.items()]
    array = np.asarray(value) if _is_number(value) else np.asarray(None)
    if array.dtype.kind not in "biuf":
        return type(value).__name__
    if array.dtype.kind != "b":
        with np.errstate(over="ignore"):
            array = np.rint(array.astype(np.float64) / (test_call or 1.0)) + 0.0  # + 0.0: no negative zero
        array = np.where(np.isnan(array), np.nan, array)  # nan has signs too
    return array.dtype.kind, array.shape, array.tobytes()


def _example(module: ModuleResult, function: str) -> str:
    """The public example that is shown of it, without imports, for a teacher to read."""
    shown = (graded.shown for graded in module.graded)
    call_result = next((r for r in shown if r is not None and r.target.function == function), None)
    if call_result is None:
        return ""
    if call_result.response.error is not None:  # its text is the student's
        call_result = replace(
            call_result, response=replace(call_result.response, error=replace(call_result.response.error, text=""))
        )
    return lines(call_result).partition("\n\n")[2].replace("\n# yours: ", "\n# theirs:")


# The text of a function


def standalone(text: bytes, function: str) -> str:
    """A function of a file as text that needs nothing of the file: what it uses of it stands inside.

    Nothing in it is about a person: there are no comments, docstrings, annotations, messages of errors, prints. "" where it is not
    defined so simply, or too long. Nothing of the file is run.
    """
    try:
        plain = _standalone(_tree(text), function)
        source = ast.unparse(ast.fix_missing_locations(plain)) + "\n" if plain is not None else ""
    except UNREADABLE:
        return ""
    return source if len(source) <= LONGEST and parsed(source) else ""


@lru_cache(1)  # for all functions of a file
def _tree(text: bytes) -> ast.Module:
    return ast.parse(decoded(text))


def _standalone(tree: ast.Module, function: str) -> ast.stmt | None:
    """A copy of the last definition, with what defines what it uses, directly or not, as its first statements; None if too long."""
    bound = {name: node for node in tree.body for name in _bound(node)}
    wanted, needed, names = bound.get(function), set[ast.stmt](), 0
    if not isinstance(wanted, ast.FunctionDef):
        return None
    module = rubric.current().modules[rubric.current().module_of(function)]
    given = {"np", *module.functions}
    waiting: list[ast.AST] = [wanted]
    while waiting:
        used = [node.id for node in ast.walk(waiting.pop()) if isinstance(node, ast.Name)]
        names += len(used)
        if names > LONGEST:  # and so is its text
            return None
        for definition in (bound[name] for name in used if name in bound and name not in given):
            # Functions of other modules that are imported by their own names: every version of a function finds those.
            if (
                isinstance(definition, ast.ImportFrom)
                and definition.module in module.uses
                and not any(alias.asname for alias in definition.names)
            ):
                continue
            if definition is not wanted and definition not in needed:
                needed.add(definition)
                waiting.append(definition)
    wanted, inner = copy.deepcopy((wanted, [node for node in tree.body if node in needed]))
    wanted.decorator_list = []
    wanted.body = [*inner, *wanted.body]
    plain: ast.stmt = _Plain().visit(wanted)
    return plain


def _without(words: Set[str], source: str) -> str:
    """A function's text in which nothing that it defines, but its arguments, has one of these words in its name.

    "" for a text that cannot be read: it may have been kept by an earlier version.
    """
    if words.isdisjoint(_words(source)):
        return source
    tree = parsed(source)
    function = tree.body[0] if tree and tree.body else None
    if not isinstance(function, ast.FunctionDef):
        return ""
    outer = {function.name, *(argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg))}
    inner = list(ast.walk(function))
    defined = {node.id for node in inner if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    defined |= {node.arg for node in inner if isinstance(node, ast.arg)}
    defined |= {node.name for node in inner if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    spoken = sorted(name for name in defined - outer if not words.isdisjoint(_words(name)))
    for number, name in enumerate(spoken, 1):
        source = re.sub(rf"(?<![\w.]){name}(?!\w)", f"name_{number}", source)
    return source


def _words(text: str) -> set[str]:
    """The words of a name or an identifier, of two letters or digits or more, in lower case."""
    return {word.lower() for word in re.findall(r"\d\d+|[^\W\d_A-Z]{2,}|[A-Z][^\W\d_A-Z]+|[A-Z]{2,}", text)}


def _bound(node: ast.stmt) -> list[str]:
    """The names that a statement of the top level defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]


class _Plain(ast.NodeTransformer):
    """Leaves out what says nothing to Python, and everything in which a person could be named."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        filled = [name for name, value in ast.iter_fields(node) if isinstance(value, list) and value]
        super().generic_visit(node)
        for name in filled:
            if not getattr(node, name):  # only statements are left out
                setattr(node, name, [ast.Pass()])
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        """Docstrings and prints change no result."""
        printed = isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") == "print"
        return None if printed or isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        node.exc = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        node.msg = None
        return self.generic_visit(node)


# What students guessed before they saw the pictures of the notebook: guesses.json, which travels with an upload and is not graded.
#
# A student can write anything into it. So nothing of it is shown but questions and answers that stand in the notebook as texts.

FILE = "guesses.json"


@dataclass(frozen=True)
class Guess:
    """One student's first answer to one question."""

    question: str
    answer: str
    right: bool


def guesses(submission: Submission) -> list[Guess]:
    """The guesses of a submission, in the order of the notebook; none of a file that is not as the notebook writes it."""
    try:
        document = json.loads(submission.text(FILE) or b"{}")
        given = [Guess(text, str(own["guess"]), own["right"] is True) for text, own in document.items()]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return []
    places = _texts()
    return sorted((g for g in given if {g.question, g.answer} <= places.keys()), key=lambda g: places[g.question])


def questions(every: Iterable[Iterable[Guess]]) -> list[dict[str, Any]]:
    """The guesses of a class by question, in the order of the notebook.

    Each has the question's `text`, the number of students as `count`, and its `answers`, the most frequent first: text, number of
    students, whether it is right.
    """
    counts: dict[str, Counter[str]] = {}
    right = set()
    for guess in (guess for own in every for guess in own):
        counts.setdefault(guess.question, Counter())[guess.answer] += 1
        right |= {(guess.question, guess.answer)} if guess.right else set()
    places = _texts()
    return [
        {
            "text": text,
            "count": counts[text].total(),
            "answers": [(answer, count, (text, answer) in right) for answer, count in counts[text].most_common()],
        }
        for text in sorted(counts, key=lambda text: places.get(text, 0))
    ]


@cache
def _texts() -> dict[str, int]:
    """The texts that the code of the notebook holds, with their places in it."""
    places: dict[str, int] = {}
    for path in kit.solutions().glob("*.ipynb"):
        for cell in json.loads(path.read_bytes())["cells"]:
            with contextlib.suppress(SyntaxError):  # a cell for Jupyter alone
                tree = ast.parse("".join(cell["source"]) if cell["cell_type"] == "code" else "")
                texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
                for text in (text for text in texts if isinstance(text, str)):
                    places.setdefault(text, len(places))
    return places
