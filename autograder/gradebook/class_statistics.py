"""Class statistics beyond points: wrong functions that no misconception explains, and predictions.

The same mistake gives the same wrong results, however the code is written. The result of an unexplained function
includes a digest of its wrong responses, its source without comments, docstrings and error messages, and a failing
public example. From these an instructor can see a mistake that several students share, and draft a misconception
(audit/learning.py).
"""

import ast
import copy
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from autograder.feedback.counterexamples import lines
from autograder.feedback.results import Guess, Unexplained
from autograder.grading.call_results import CallResult, wrong_in_value
from autograder.grading.grader import ModuleResult, Result
from autograder.homework.homework import Homework
from autograder.homework.rubric import Module, Rubric
from autograder.shared.bindings import bound_names
from autograder.shared.compare import magnitude
from autograder.shared.display import literal
from autograder.shared.source import UNREADABLE, parsed
from autograder.shared.tree import leaves
from autograder.submissions.submission import Student, Submission

LONGEST = 6000  # longest source to store, in characters
# The rounding step, in tolerances. It is not a round number, because simple fractions would then be halfway between two
# multiples, as 2 ** -7 is between two of 1e-6, and the last bit would decide.
STEP = 123.456789


# Submissions with the same digest for one function, by key, shortest source first.
Group = Mapping[str, Unexplained]


def shortest(group: Group) -> Unexplained:
    """Return the member with the shortest source."""
    return next(iter(group.values()))


def unexplained(result: Result) -> Iterator[Unexplained]:
    """Yield the functions of one submission whose wrong results no misconception explains."""
    for module in result.modules:
        text = result.submission.text(f"{module.module}.py")
        for function, call_results in module.unexplained.items():
            failing = [call_result for call_result in call_results if wrong_in_value(call_result)]
            lost = {graded.criterion.id for graded in module.graded if not graded.passed}
            calls = Counter(r.test_call.criterion for r in failing if r.test_call.criterion in lost)
            rubric, about = result.homework.rubric, result.homework.rubric.criteria
            criteria = sorted(calls, key=lambda name: (about[name].looks_at != "values", -calls[name]))
            source, example = standalone(text, function, rubric), _example(module, function, rubric)
            yield Unexplained(function, digest_of(failing), criteria, source, example)


def groups(submissions: Mapping[str, Iterable[Unexplained]], people: Iterable[Student] = ()) -> list[Group]:
    """Group unexplained functions with equal digests, largest group first; variables named after `people` are renamed."""
    words = {word for p in people for word in _words(f"{p.name} {p.sid} {p.email.partition('@')[0]}")}
    alike: dict[tuple[str, str], list[tuple[str, Unexplained]]] = {}
    for key, every in submissions.items():
        for entry in every:
            alike.setdefault((entry.function, entry.responses), []).append((key, entry))
    alike_groups = []
    for pairs in alike.values():
        pairs.sort(key=lambda pair: (not pair[1].source, len(pair[1].source), pair[0]))
        alike_groups.append({key: replace(entry, source=_without(words, entry.source)) for key, entry in pairs})
    return sorted(alike_groups, key=lambda group: (-len(group), shortest(group).function, shortest(group).responses))


def digest_of(call_results: Sequence[CallResult]) -> str:
    """Return the digest of the wrong responses of a function.

    Two digests are equal if the same calls fail, with the same errors or with values that are equal up to rounding.
    """
    total = hashlib.sha256()
    for call_result in call_results:
        test_call = call_result.test_call
        numbers = map(np.asarray, filter(_is_number, leaves(test_call.expected)))
        sizes = [magnitude(array) for array in numbers if array.dtype.kind in "biuf"]
        step = STEP * test_call.allowed * max(sizes, default=1.0)
        error = call_result.response.error
        response = error.kind if error is not None else _rounded(call_result.response.value, step)
        total.update(repr((test_call.number, response)).encode())
    return total.hexdigest()[:16]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.ndarray | np.generic)


def _rounded(value: Any, step: float) -> Any:
    """Remove differences that the comparison ignores: list or tuple, dtype, rounding."""
    if isinstance(value, list | tuple):
        return [_rounded(item, step) for item in value]
    if isinstance(value, dict):
        return [(key, _rounded(item, step)) for key, item in value.items()]
    array = np.asarray(value) if _is_number(value) else None
    if array is None or array.dtype.kind not in "biuf":
        return literal(value)
    if array.dtype.kind != "b":
        with np.errstate(over="ignore"):
            array = np.rint(array.astype(np.float64) / (step or 1.0)) + 0.0  # + 0.0: no negative zero
        array = np.where(np.isnan(array), np.nan, array)  # one sign for nan
    return array.dtype.kind, array.shape, array.tobytes()


def _example(module: ModuleResult, function: str, rubric: Rubric) -> str:
    """Return the public example that an instructor sees, without imports."""
    examples = (graded.example for graded in module.graded)
    call_result = next((r for r in examples if r is not None and r.target.function == function), None)
    if call_result is None:
        return ""
    if (error := call_result.response.error) is not None:  # the student may have written its text
        response = replace(call_result.response, error=replace(error, text=""))
        call_result = replace(call_result, response=response)
    return lines(call_result, rubric, "theirs:", imports=False)


# The text of a function


def standalone(text: bytes, function: str, rubric: Rubric) -> str:
    """Return the source of a function, with everything it uses from its file inside. The file is not run.

    Comments, docstrings, annotations, error messages and prints are removed, since they could identify a person. "" if
    the definition is too complicated or too long.
    """
    try:
        tree = parsed(text)
        plain = _standalone(tree, function, rubric.modules[rubric.module_of(function)]) if tree else None
        source = ast.unparse(ast.fix_missing_locations(plain)) + "\n" if plain else ""
    except UNREADABLE:
        return ""
    return source if len(source) <= LONGEST and parsed(source) else ""


def _standalone(tree: ast.Module, function: str, module: Module) -> ast.stmt | None:
    """Return a copy of the last definition, with everything it uses at the start of its body; None if too long."""
    bound = {name: node for node in tree.body for name in bound_names([node])}
    target, needed, names = bound.get(function), set[ast.stmt](), 0
    if not isinstance(target, ast.FunctionDef):
        return None
    waiting: list[ast.AST] = [target]
    while waiting:
        used = [node.id for node in ast.walk(waiting.pop()) if isinstance(node, ast.Name)]
        names += len(used)
        if names > LONGEST:  # the source is too long as well
            return None
        for name in used:
            definition = bound.get(name, target)
            if name not in ("np", *module.functions) and definition not in (target, *needed):
                # Functions imported from other modules under their original names are always available.
                imported = isinstance(definition, ast.ImportFrom) and definition.module in module.uses
                if not (imported and all(alias.asname is None for alias in definition.names)):  # type: ignore[attr-defined]
                    needed.add(definition)
                    waiting.append(definition)
    target, inner = copy.deepcopy((target, [node for node in tree.body if node in needed]))
    target.decorator_list = []
    target.body = [*inner, *target.body]
    for node in ast.walk(target):  # remove code that has no effect and text that could identify a person
        match node:
            case ast.FunctionDef():
                node.returns = None
            case ast.arg():
                node.annotation = None
            case ast.Raise(exc=ast.Call(func=error)):
                node.exc = error
            case ast.Assert():
                node.msg = None
        for block in ("body", "orelse", "finalbody"):
            if isinstance(statements := getattr(node, block, None), list) and statements:
                texts = [one for one in statements if isinstance(one, ast.Expr) and _is_text(one.value)]
                setattr(node, block, [one for one in statements if one not in texts] or [ast.Pass()])
    return target


def _is_text(value: ast.expr) -> bool:
    """Return whether an expression is a docstring or a print."""
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Call) and ast.unparse(value.func) == "print")


def _without(words: Set[str], source: str) -> str:
    """Rename everything in a function, except its arguments, whose name has one of these words; "" for invalid source."""
    if words.isdisjoint(_words(source)):
        return source
    tree = parsed(source)
    function = tree.body[0] if tree and tree.body else None
    if not isinstance(function, ast.FunctionDef):
        return ""
    outer = {function.name, *(argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg))}
    statements = [node for node in ast.walk(function) if isinstance(node, ast.stmt)]
    arguments = (node.arg for node in ast.walk(function) if isinstance(node, ast.arg))
    defined = {*bound_names(statements), *arguments}
    spoken = sorted(name for name in defined - outer if not words.isdisjoint(_words(name)))
    for number, name in enumerate(spoken, 1):
        source = re.sub(rf"(?<![\w.]){name}(?!\w)", f"name_{number}", source)
    return source


def _words(text: str) -> set[str]:
    """Return the words of two or more characters in a name or an identifier, in lower case."""
    return {word.lower() for word in re.findall(r"\d\d+|[^\W\d_A-Z]{2,}|[A-Z][^\W\d_A-Z]+|[A-Z]{2,}", text)}


# Predictions that students made before they saw the figures of the notebook: guesses.json, uploaded but not graded.
#
# A student can write anything into it, so only questions and answers of the notebook are shown.

FILE = "guesses.json"


def guesses(homework: Homework, submission: Submission) -> list[Guess]:
    """Return the predictions of a submission, in the order of the notebook; none if the file is not in its format."""
    try:
        document = json.loads(submission.text(FILE) or b"{}")
        written = [
            {"question": text, "answer": str(prediction["guess"]), "right": prediction["right"] is True}
            for text, prediction in document.items()
        ]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return []
    places = _texts(homework.solutions)
    of_notebook = [guess for guess in written if {guess["question"], guess["answer"]} <= places.keys()]
    return sorted(of_notebook, key=lambda guess: places[guess["question"]])


def questions(homework: Homework, every: Iterable[Iterable[Guess]]) -> list[dict[str, Any]]:
    """Return the predictions of a class by question, in the order of the notebook.

    Each has the question's `text`, the number of students as `count`, and its `answers`, most frequent first: text, number of
    students, whether it is right.
    """
    every_guess = [guess for one in every for guess in one]
    correct = {(guess["question"], guess["answer"]) for guess in every_guess if guess["right"]}
    places, by_question = _texts(homework.solutions), []
    for text in sorted({guess["question"] for guess in every_guess}, key=lambda text: places.get(text, 0)):
        counts = Counter(guess["answer"] for guess in every_guess if guess["question"] == text)
        answers = [(answer, count, (text, answer) in correct) for answer, count in counts.most_common()]
        by_question.append({"text": text, "count": counts.total(), "answers": answers})
    return by_question


@cache
def _texts(solutions: Path) -> dict[str, int]:
    """Return the strings in the code of the notebook, with their positions."""
    places: dict[str, int] = {}
    for path in solutions.glob("*.ipynb"):
        for cell in json.loads(path.read_bytes())["cells"]:
            tree = parsed("".join(cell["source"])) if cell["cell_type"] == "code" else None  # None also for magics
            for node in ast.walk(tree) if tree else ():
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    places.setdefault(node.value, len(places))
    return places
