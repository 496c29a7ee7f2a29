"""Sentences about one failing call, in words that the student's code cannot choose; and about misconceptions.

A sentence about a hidden call has the kind of failure, what the docstring says instead, and the built-in name of an error and its
line. Results are shown for public examples only.
"""

import inspect
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from autograder.grading.call_results import CallResult, Target
from autograder.homework import reference, rubric
from autograder.homework.library import Misconception
from autograder.sandbox.messages import Ended, Error
from autograder.submissions.submission import Submission
from autograder.values.changes import WORK_ON_COPIES, in_words
from autograder.values.differences import FORMS, KEEP_DTYPE, form, kind_of, what_returns
from autograder.values.errors import advice, missing, no_such_call
from autograder.values.source import definitions, is_stub, twice

# Of "call" and "import".
ENDED = {
    "deadline": "The {what} took too long and was stopped{where}.",
    "crash": "Python itself stopped during the {what} (os._exit, a crash in C code, or very deep recursion).",
    "disk": "The {what} wrote more to its temporary folder than the limit allows.",
    "memory": "The {what} needed more memory than the limit allows. Look for an array that is far larger than the result.",
    "spent": "The {what} was skipped: earlier ones used up the time limit of this module or of the submission, or stopped "
    "Python too often. First fix the code that is too slow or stops Python.",
    "protocol": "The {what} returned far more data than any result here needs, or data that could not be read.",
}
FAULTS = {
    "value": "It returned wrong values.",
    "no_error": "It returned a result instead of raising the ValueError that the docstring requires.",
    "changed": "It modified one of its arguments. Work on a copy instead.",
    "changed_later": "One of its arguments was modified after the call.",
    "unsteady": "The same call returned a different result the second time: the function keeps state between calls.",
    "overwritten": "An array it returned earlier changed later, because it shares memory with another array. Return a new array.",
    "shared": "The result shares memory with an argument; the docstring requires a new array.",
}


def sentence(call_result: CallResult, place: bool = True, files: tuple[str, ...] = ()) -> str:
    """What is wrong with one call, hidden or not, as a sentence that begins with "It" or "The".

    `place`: whether to name the line of an error, in the module's own file or in `files`.
    """
    assert call_result.failure is not None
    own = (f"{call_result.target.module}.py", *files) if place else ()
    if call_result.response.ended is not None:
        return ended(call_result.response.ended, own)
    if call_result.response.error is not None and call_result.failure.kind == "raised":
        return _raised(call_result.response.error, call_result, own)
    if call_result.failure.kind in FORMS:
        said = f"the docstring says {returns(call_result.target) or kind_of(call_result.test_call.expected)}"
        kind = call_result.failure.kind
        return f"{FORMS[kind]}{_part(call_result)}; {KEEP_DTYPE if kind == 'dtype' else said}."
    if call_result.failure.kind in ("changed", "changed_later") and call_result.response.changed:
        return _changed(call_result)
    return FAULTS[call_result.failure.kind]


def about_call(function: str, said: str) -> str:
    """A sentence of `sentence` that names the called function."""
    return f"{function}{said[2:]}" if said.startswith("It ") else f"{function} was called. {said}"


def lowered(said: str) -> str:
    """A sentence as the continuation of another one."""
    return said[:1].lower() + said[1:]


def _part(call_result: CallResult) -> str:
    """ " for `var`" if only that part of a tuple is wrong; "" for the whole result."""
    found = re.match(r"part \[(\d+)\]", call_result.failure.text if call_result.failure else "")
    names = call_result.test_call.parts
    return f" for {f'`{names[int(found[1])]}`' if names else found[0]}" if found else ""


def form_of_example(call_result: CallResult) -> str:
    """What is wrong with the type, shape or dtype of a public example's result, which is shown; "" if nothing."""
    test_call = call_result.test_call
    if call_result.failure is None or call_result.failure.kind not in FORMS:
        return ""
    returned = returns(call_result.target)
    return form(
        test_call.expected,
        test_call.counted(call_result.response.value),
        test_call.allowed,
        test_call.rules.dtype,
        returned,
        test_call.parts,
    )


def ended(end: Ended, files: tuple[str, ...] = (), what: str = "call") -> str:
    """How a call, or an import, ended the student's process; `files` are those whose lines may be named."""
    loop = where(end.file, end.line, files, "in the loop on line")
    loop += ": look for an infinite loop" * bool(end.line)
    return ENDED.get(end.why, ENDED["crash"]).format(what=what, where=loop)


def unwritten(call_result: CallResult | None, submission: Submission) -> str:
    """A sentence about a function that computes nothing, according to its source; "" for others."""
    if call_result is None or (
        call_result.response.error is not None and call_result.response.error.hint == "signature"
    ):
        return ""
    return _stubs(submission.text(f"{call_result.target.module}.py")).get(call_result.target.function, "")


@lru_cache(8)
def _stubs(text: bytes) -> dict[str, str]:
    """The sentences about all functions of a file that compute nothing, read once for all criteria."""
    every = definitions(text).items()
    return {name: f"`{name}` is not written yet. {twice(name, own)}".strip() for name, own in every if is_stub(own[-1])}


def lacking(call_result: CallResult) -> str:
    """The unimplemented or missing contract function of the same module that a call needs; "" if none."""
    error = call_result.response.error
    if error is None or error.kind not in ("NotImplementedError", "NameError"):
        return ""
    name = next(iter(error.passed), "")
    others = set(rubric.current().modules[call_result.target.module].functions) - {call_result.target.function}
    return name if name in others else ""


def needed(call_result: CallResult) -> str:
    """What a call lacks, as "`softmax`, which is not written yet"; "" if nothing."""
    name, error = lacking(call_result), call_result.response.error
    if not name or error is None:
        return ""
    why = f"`{call_result.target.module}.py` does not have" if error.kind == "NameError" else "is not written yet"
    return f"`{name}`, which {why}"


def where(file: str, line: int, files: tuple[str, ...], place: str = "on line") -> str:
    """ " on line 3 of `file.py`", if the file is one of these and the line is known."""
    return f" {place} {line} of `{file}`" if file in files and line else ""


def _raised(error: Error, call_result: CallResult, files: tuple[str, ...]) -> str:
    function, module = call_result.target.function, call_result.target.module
    if error.hint == "missing":
        return missing(function, module)
    if error.hint == "signature":
        return no_such_call(function, ", ".join(inspect.signature(reference.functions()[function]).parameters))
    if call_result.unwritten:
        return f"It still raises NotImplementedError{where(error.file, error.line, files)}."
    if needed(call_result):
        return f"It needs {needed(call_result)}."
    raised = f"It raised {error.kind}{where(error.file, error.line, files)}"
    if call_result.test_call.rules.error:
        return f"{raised}, but the docstring requires a {call_result.test_call.rules.error}."
    return f"{raised}. {advice(error.kind, error.text)}".strip()


# What the docstring says


def returns(target: Target) -> str:
    """What the docstring of a function says about its result, as a clause; "" if nothing."""
    return what_returns(inspect.getdoc(reference.functions()[target.function]) or "")


# What has changed


def _changed(call_result: CallResult) -> str:
    names = list(inspect.signature(reference.functions()[call_result.target.function]).parameters)
    test_call = call_result.test_call
    if test_call.kind == "call":
        names = [*names[: len(test_call.args)], *test_call.kwargs]  # arguments by keyword are counted after the others
    # Positions and paths are those of the grader's arguments, so the student's code cannot choose them.
    said = in_words(names, call_result.response.changed)
    # A call may have changed them before it raised an error.
    seen = "After the call, its arguments were modified" if test_call.kind == "changes" else "It modified its arguments"
    return f"{seen}: {said}. {WORK_ON_COPIES}"


# Misconceptions in words: what the code does, and what it should do


def named(misconceptions: Sequence[Misconception], function: str = "", at_least: bool = False) -> str:
    """The full text of misconceptions, as paragraphs. Other functions than `function` are named.

    The same mistake in two functions is described once, and so is a common correction. For a repair (repair.py) only the line is
    known.
    """
    repairs = [misconception for misconception in misconceptions if not misconception.right]
    if repairs:
        others = [misconception for misconception in misconceptions if misconception.right]
        return "\n\n".join(([named(others, function, at_least)] if others else []) + [_does(repairs)])
    same: dict[tuple[str, str], list[Misconception]] = {}
    for misconception in misconceptions:
        same.setdefault(misconception.same, []).append(misconception)
    groups, right = (
        list(same.values()),
        " ".join(dict.fromkeys(misconception.right for misconception in misconceptions)),
    )
    if all(map(seen, misconceptions)) or len(groups) == 1:
        label = "Observed" if seen(misconceptions[0]) else f"Probably{' (not every result fits)' * at_least}"
        return f"**{label}{_inside(misconceptions, function)}:** {_does(own[0] for own in groups)}\n\n**Fix:** {right}"
    lines = []
    for number, own in enumerate(groups, 1):
        said = f"{'Observed: ' if seen(own[0]) else ''}{_placed(own, function)}"
        lines.append(f"{number}. {said}" + (f"  \n   **Fix:** {own[0].right}" if own[0].right != right else ""))
    listed = f"**Probably{' (not every result fits)' * at_least}:**\n\n" + "\n".join(lines)
    return listed if len({m.right for m in misconceptions}) > 1 else f"{listed}\n\n**Fix:** {right}"


def undecided(misconceptions: Sequence[Misconception]) -> str:
    """What several indistinguishable misconceptions have in common: a sentence, a clause, or ""."""
    does, right = (
        {misconception.does for misconception in misconceptions},
        {misconception.right for misconception in misconceptions},
    )
    said = [f"**Probably:** {does.pop()}"] if len(does) == 1 else []
    return "\n\n".join([*said, f"**Fix:** {right.pop()}"] if len(right) == 1 else said)


def analysis(misconceptions: Sequence[Misconception]) -> str:
    """What to read about mistakes, each once."""
    return "; ".join(dict.fromkeys(misconception.read for misconception in misconceptions))


def briefly(misconceptions: Sequence[Misconception], function: str = "") -> str:
    """What the code does, without the correction: for a line that refers to the full text. Other functions than `function` are
    named."""
    same: dict[str, list[Misconception]] = {}
    for misconception in misconceptions:
        same.setdefault(misconception.does, []).append(misconception)
    return " ".join(_placed(own, function or own[0].function) for does, own in same.items() if does)


def seen(misconception: Misconception) -> bool:
    """Whether a mistake was observed, rather than being a repair or a misconception that reproduces the results."""
    return not misconception.edits and not misconception.whole and bool(misconception.right)


def _does(misconceptions: Iterable[Misconception]) -> str:
    return " ".join(dict.fromkeys(misconception.does for misconception in misconceptions))


def _placed(misconceptions: Sequence[Misconception], function: str) -> str:
    return f"{misconceptions[0].does.removesuffix('.')}{_inside(misconceptions, function, ' (', ')')}."


def _inside(misconceptions: Sequence[Misconception], function: str, start: str = ", ", end: str = "") -> str:
    names = list(dict.fromkeys(misconception.function for misconception in misconceptions))
    return "" if names == [function] else f"{start}in {' and '.join(f'`{name}`' for name in names)}{end}"
