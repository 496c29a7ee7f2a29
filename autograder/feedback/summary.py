"""The message at the top of a student's page, shown immediately: problems with the upload, and missing answers.

Each line is also available as data (`notes`), so nothing is parsed back from the text.
"""

import html
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from autograder.feedback.sentences import answer_problem, line
from autograder.grading.call_results import CallResult
from autograder.grading.grader import ModuleResult, Result
from autograder.homework import rubric
from autograder.sandbox.messages import Error
from autograder.submissions.submission import Submission
from autograder.submissions.text import cleaned, listed, number, printable, shown
from autograder.values.errors import advice
from autograder.values.source import decoded, instead_of_python, newer_syntax, parsed, text_lines

RULE = (
    "A recognised mistake costs only its own criterion. An unrecognised one costs every criterion in which a call fails. Either "
    "kind also costs the worked-examples point if a worked example fails."
)
UTF8 = "The file is not saved as UTF-8. Save it again with that encoding."
VERSION = f"Python {sys.version_info[0]}.{sys.version_info[1]}"
NO_FILE = (
    'The grader has no such file. Delete the call that opens it, or move it under `if __name__ == "__main__":`, which the '
    "grader does not run."
)
_ESCAPED = re.compile(r"\\([\\`*_\[\]|#~])")
RELATIVE = "Your files are not a package: import without the dot."


@dataclass(frozen=True)
class TopNote:
    """A line of the message: its kind, its file ("" for the whole upload), its text in Markdown, and its module, if any."""

    kind: str
    path: str
    text: str
    module: str = ""

    @property
    def line(self) -> str:
        return f"- **{self.module}**: {self.text}" if self.module else f"- {self.text}"

    @property
    def plain(self) -> str:
        """The text for tables, without Markdown."""
        parts = self.text.split("`")
        parts[::2] = [_ESCAPED.sub(r"\1", html.unescape(part)) for part in parts[::2]]  # nothing is escaped in code
        text = "".join(parts)
        return text if self.module in text else f"{self.module}: {text}"


def summary(result: Result) -> str:
    """The message: the points, the causes of lost points, the notes, and the scoring rule."""
    lines = [note.line for note in notes(result)]
    return f"{_standing(result)}\n\n" + "\n".join([*lines, "", RULE]).strip() + "\n"


def _standing(result: Result) -> str:
    """The points that are visible now, and the causes of lost points."""
    seen = [graded for graded in result.graded if graded.criterion.visible]
    points, most = sum(graded.points for graded in seen), sum(graded.criterion.most for graded in seen)
    lost = [graded for graded in seen if graded.points < graded.criterion.most]
    cause = reason((g.criterion.module, [m.id for m in g.misconceptions if m.right]) for g in lost)
    rest = sum(graded.criterion.most for graded in result.graded) - most
    of = "1 point" if most == 1 else f"the {number(most)} points"
    at_once = f" that {'is' if most == 1 else 'are'} visible now" if rest else ""
    others = "point is" if rest == 1 else f"{number(rest)} are"
    later = f" The other {others} not shown yet." if rest else ""
    return f"**{number(points)} of {of}{at_once}{cause}.**{later}"


def reason(lost: Iterable[tuple[str, Sequence[str]]]) -> str:
    """The cause of a loss, as the end of a sentence; `lost` are the module and the named misconceptions of each criterion."""
    criteria = list(lost)
    mistakes = sorted({misconception for _, named in criteria for misconception in named})
    if mistakes and all(named for _, named in criteria):
        functions = listed([f"`{mistake.partition('.')[0]}`" for mistake in mistakes])
        return f": {'one mistake' if len(mistakes) == 1 else f'{len(mistakes)} mistakes'}, in {functions}"
    files = [f"`{file}`" for module, _ in criteria if (file := rubric.current().file_of(module))]
    return f": points were lost in {listed(files)}" if files else ""


def notes(result: Result) -> tuple[TopNote, ...]:
    """Notes on the upload, on modules that could not be used, and on missing answers."""
    upload = [TopNote(note.kind, note.path, str(note)) for note in result.submission.notes]
    paths = {note.path for note in upload}
    of_modules = (note for module in result.modules for note in _of_module(module, result.submission))
    return (*upload, *(note for note in of_modules if note.path not in paths))


def _of_module(module: ModuleResult, submission: Submission) -> Iterator[TopNote]:
    file = f"{module.module}.py"
    if module.module not in rubric.current().modules:
        return
    if module.broken is not None:
        missing = submission.missing(module.module)
        kind, path = (missing.kind, missing.path) if missing is not None else ("import", file)
        yield TopNote(kind, path, not_imported(module, submission), file)
        return
    reasons: dict[str, list[CallResult]] = {}
    for call_result in module.call_results:
        if problem := answer_problem(call_result):
            reasons.setdefault(problem, []).append(call_result)
    for call_results in reasons.values():
        questions = listed([f"`{call_result.test_call.rules.question}`" for call_result in call_results])
        yield TopNote("answer", file, line("no_answer", call_results[0], questions), file)


def not_imported(module: ModuleResult, submission: Submission) -> str:
    """Why a module could not be used, in a sentence or two."""
    missing = submission.missing(module.module)
    if missing is not None:
        return str(missing)
    assert module.broken is not None
    own, error = f"{module.module}.py", module.broken.error
    if module.broken.ended is not None:
        return f"`{own}` could not be imported. {line('ended', module.broken.ended, (own,), 'import')}"
    assert error is not None
    file = error.file or own
    content = submission.text(file)
    if not_python := instead_of_python(content, file, error.line if "SyntaxError" in error.kinds else 0):
        return f"`{own}` could not be imported: {cleaned(not_python)}."
    lines = text_lines(content)
    code = lines[error.line - 1].strip() if 0 < error.line <= len(lines) else ""
    text = cleaned(error.text) if error.kind != "SystemExit" else ""
    place = f" (line {error.line} of `{shown(error.file) or own}`)" if error.line else ""
    problem = f"`{own}` could not be imported: {error.kind}{': ' + text if text else ''}{place}."
    return f"{problem} {_what_to_do(error, code, content)}".strip()


def _what_to_do(error: Error, code: str, content: bytes) -> str:
    """Advice on an import error, raised in the line `code` of a file."""
    if not _is_utf8(content):
        return UTF8
    if "SyntaxError" in error.kinds and code and parsed(content) is None:
        later = newer_syntax(code, error.text)
        needs = f" {later[0].upper()}{later[1:]}." if later else ""
        return f"The grader runs {VERSION}, which cannot read this line: {_code(code)}.{needs}"
    if error.kind == "FileNotFoundError":
        return NO_FILE
    if error.text.startswith("attempted relative import"):
        if found := re.match(r"from\s+\.+\s*(\w*)\s*import\s+(.+)", code):
            absolute = f"from {found[1]} import {found[2]}" if found[1] else f"import {found[2]}"
            return f"Your files are not a package: write {_code(absolute)}."
        return RELATIVE
    return _meant(error.text) or advice(error.kind, error.text)


def _code(line: str) -> str:
    """A line of a student's file as Markdown code, which it cannot end."""
    return f"`{printable(line, ' ', 100).replace('`', chr(39))}`"


def _meant(text: str) -> str:
    """The function that an import of an unknown name probably meant, as a question; "" if none."""
    found = re.match(r"cannot import name '(\w+)' from '(\w+)'", text)
    module = rubric.current().modules.get(found[2]) if found else None
    if found is None or module is None or found[1] in module.functions:
        return ""
    plain = {name.replace("_", ""): name for name in module.functions}
    close = get_close_matches(found[1].replace("_", "").lower(), plain, 1, 0.75)
    return f"Did you mean `{plain[close[0]]}`?" if close else ""


def _is_utf8(content: bytes) -> bool:
    """Whether a file is UTF-8, or declares its encoding."""
    try:
        decoded(content)
    except (UnicodeDecodeError, SyntaxError) as error:
        return isinstance(error, SyntaxError)
    return True
