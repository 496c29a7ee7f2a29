"""The message on top of a student's page, which is shown at once: what is wrong with the upload, and what is no answer.

Each line is data as well (`notes`), so that nothing is ever read back out of the text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from autograder.feedback.sentences import ended, sentence, unwritten
from autograder.feedback.text import said
from autograder.grading.grader import ModuleResult, Result
from autograder.grading.record import Record
from autograder.homework import reference, rubric
from autograder.homework.rubric import INTEGRATION
from autograder.intake.submission import Submission
from autograder.intake.text import shown
from autograder.values.source import instead_of_python

ALONE = (
    "Every module is graded alone, next to correct versions of the others. A mistake that is recognised costs the criterion that "
    "it belongs to, any other each criterion whose calls it makes wrong; and the point of the worked examples, if one of them "
    "shows it."
)
OWN_FILES = "Only NumPy, the standard library and your own files can be imported; delete the line if nothing uses it."
NO_INPUT = "Nobody answers `input()` while a submission is graded: delete the call."
NO_LINE = "EOF when reading a line"  # what Python says where nobody answers `input()`
UTF8 = "The file is not saved as UTF-8. Save it again in this encoding."


@dataclass(frozen=True)
class TopNote:
    """A line on top: its kind, the file that it is about ("" for the whole upload), its text in Markdown, and the module
    that it stands under, if one.
    """

    kind: str
    path: str
    text: str
    module: str = ""

    @property
    def line(self) -> str:
        return f"- **{self.module}**: {self.text}" if self.module else f"- {self.text}"

    @property
    def plain(self) -> str:
        """The same for tables, which show no Markdown."""
        text = self.text.replace("`", "")
        return text if self.module in text else f"{self.module}: {text}"


def summary(result: Result) -> str:
    """The message on top: what could not be used, and what the criteria are."""
    lines = [note.line for note in notes(result)]
    return "\n".join([*lines, "", ALONE]).strip() + "\n"


def notes(result: Result) -> tuple[TopNote, ...]:
    """Notes on the upload, on modules that could not be used, and on answers that are none."""
    upload = [TopNote(note.kind, note.path, str(note)) for note in result.submission.notes]
    known = {note.path for note in upload}
    modules = [
        note for module in result.modules for note in _of_module(module, result.submission) if note.path not in known
    ]
    return (*upload, *modules)


def _of_module(module: ModuleResult, submission: Submission) -> Iterator[TopNote]:
    file = f"{module.module}.py"
    if module.module == INTEGRATION:
        return
    if module.broken is not None:
        missing = submission.missing(module.module, _names())
        kind, path = (missing.kind, missing.path) if missing is not None else ("import", file)
        yield TopNote(kind, path, not_imported(module, submission), file)
        return
    reasons: dict[str, list[str]] = {}
    for record in module.records:
        reason = _reason(record)
        if reason:
            reasons.setdefault(reason, []).append(record.step.rules.question)
    for reason, questions in reasons.items():
        yield TopNote("answer", file, _filled(reason, questions), file)


def not_imported(module: ModuleResult, submission: Submission) -> str:
    """Why a module could not be used, as a sentence or two."""
    trouble = submission.trouble(module.module, _names())
    if trouble:
        return trouble
    reply = module.broken
    assert reply is not None
    if reply.ended is not None:
        return f"`{module.module}.py` could not be imported. {ended(reply.ended, (f'{module.module}.py',), 'import')}"
    error = reply.error
    assert error is not None
    file = shown(error.file) or f"{module.module}.py"
    place = f" (line {error.line} of `{file}`)" if error.line else ""
    line = error.line if "SyntaxError" in error.kinds else 0
    other = instead_of_python(submission.text(error.file or file), error.file or file, line)
    if other:
        return f"`{module.module}.py` could not be imported: {said(other)}."
    advice = ""
    if error.kind in ("ModuleNotFoundError", "ImportError"):
        advice = f" {OWN_FILES}"
    elif error.kind == "EOFError" and error.text == NO_LINE:
        advice = f" {NO_INPUT}"
    elif not _is_utf8(submission.text(f"{module.module}.py")):
        advice = f" {UTF8}"
    elif "SyntaxError" in error.kinds:
        advice = f" Python cannot read the file; run `python {module.module}.py` at home to see the place."
    text = said(error.text)
    return f"`{module.module}.py` could not be imported: {error.kind}{': ' + text if text else ''}{place}.{advice}"


def _is_utf8(content: bytes) -> bool:
    """Whether it is text in UTF-8; no text holds null bytes, which UTF-16 is full of."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in content


def no_answer(record: Record | None) -> str:
    """Why a question has no answer at all; "" where there is one, right or wrong. Says nothing of which letter it is.

    The function that answers questions has no arguments, so nothing that is said here can come from a hidden input.
    """
    reason = _reason(record) if record is not None else ""
    return _filled(reason, [record.step.rules.question]) if reason and record is not None else ""


def _reason(record: Record) -> str:
    """The same, with {questions} where they are to be named."""
    if not record.step.rules.question or record.fault is None:
        return ""
    function, question = f"`{record.target.function}`", record.step.rules.question
    if unwritten(record):
        return f"{function} is not written yet, so no question is answered."
    if record.reply.error is not None or record.reply.ended is not None:
        return f"{function} was called. {sentence(record)} So no question is answered."
    value = record.reply.value
    if not isinstance(value, dict):
        return f"{function} must return a dict from question id to a letter, so no question is answered."
    if question not in value:
        return f"There is no answer to {{questions}} in what {function} returns."
    given = value[question]
    if not isinstance(given, str) or len(given.strip()) != 1 or not given.strip().isalpha():
        return "The answer to {questions} is not one letter."
    letters = _offered(record.target.module)
    if letters and given.strip().lower() not in letters:
        return f"The answer to {{questions}} is not one of the letters {', '.join(letters)}."
    return ""


def _offered(module: str) -> list[str]:
    """The letters before the answers in the docstring of a module with questions; none where it has no such lines."""
    text = reference.modules()[module].__doc__ or ""
    return sorted(set(re.findall(r"^ *([a-z])\) ", text, re.MULTILINE)))


def _filled(reason: str, questions: list[str]) -> str:
    names = [f"`{question}`" for question in questions]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return reason.format(questions=listed)


def _names() -> tuple[str, ...]:
    return tuple(f"{name}.py" for name in rubric.current().modules)
