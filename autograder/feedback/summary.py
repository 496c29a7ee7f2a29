"""The message at the top of a student's page, shown immediately: problems with the upload, and missing answers.

Each line is also available as data (`notes`), so nothing is parsed back from the text.
"""

import ast
import html
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from autograder.feedback.sentences import answer_problem, line
from autograder.grading.call_results import CallResult
from autograder.grading.grader import ModuleResult, Result
from autograder.homework import rubric
from autograder.sandbox.protocol import Response
from autograder.submissions.submission import Submission
from autograder.submissions.text import cleaned, counted, listed, number, printable, shown
from autograder.values import errors
from autograder.values.source import instead_of_python, parsed, text_lines

RULE = (
    "A mistake costs one criterion if it is recognised and explains every wrong result, or if the grader finds one small edit "
    "of your code that fixes it. Any other mistake costs every criterion in which a call fails. The worked examples are a "
    "criterion of their own, lost if any of them fails."
)
RULE_OF_CRITERIA = "A criterion is lost if any of its calls fails."
RELATIVE = "Your files are not a package: import without the dot."
VERSION = f"Python {sys.version_info[0]}.{sys.version_info[1]}"
NO_FILE = (
    'The grader has no such file. Delete the code that needs it, or move it under `if __name__ == "__main__":`, which the '
    "grader does not run."
)
_ESCAPED = re.compile(r"\\([\\`*_\[\]|#~])")


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
    rule = RULE if rubric.current().charge == "mistakes" else RULE_OF_CRITERIA
    return f"{_standing(result)}\n\n" + "\n".join([*lines, "", rule]).strip() + "\n"


def _standing(result: Result) -> str:
    """The points that are visible now, and the causes of lost points."""
    seen = [graded for graded in result.graded if graded.criterion.visible]
    points, most = sum(graded.points for graded in seen), sum(graded.criterion.most for graded in seen)
    lost = [graded for graded in seen if graded.points < graded.criterion.most]
    cause = reason((g.criterion.module, [m.id for m in g.misconceptions if m.right]) for g in lost)
    rest = sum(graded.criterion.most for graded in result.graded) - most
    visible, later = (" visible now", f" Not shown yet: {counted(number(rest), 'point')}.") if rest else ("", "")
    return f"**{number(points)} of {counted(number(most), 'point')}{visible}{cause}.**{later}"


def reason(lost: Iterable[tuple[str, Sequence[str]]]) -> str:
    """The cause of a loss, as the end of a sentence; `lost` are the module and the named misconceptions of each criterion."""
    criteria = list(lost)
    mistakes = sorted({misconception for _, named in criteria for misconception in named})
    if mistakes and all(named for _, named in criteria):
        functions = listed(list(dict.fromkeys(f"`{mistake.partition('.')[0]}`" for mistake in mistakes)))
        return f": {'a mistake' if len(mistakes) == 1 else 'mistakes'} in {functions}"
    files = [f"`{file}`" for module, _ in criteria if (file := rubric.current().file_of(module))]
    return f"; points lost in {listed(files)}" if files else ""


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
        if missing := submission.missing(module.module):
            yield TopNote(missing.kind, missing.path, str(missing), file)
        else:
            text = f"`{file}` could not be imported{_why(module.broken, file, submission)}"
            yield TopNote("import", file, text, file)
        return
    lacking = [name for name in rubric.current().below(module.module) if f"{name}.py" not in submission.files]
    files = sorted(f"`{name}.py`" for name in submission.imports(module.module).intersection(lacking))
    if files and any(r.error is not None and "ImportError" in r.error.kinds for r in module.at_home):
        text = (
            f"`{file}` imports {listed(files)}, which this upload lacks: its examples are shown without your results."
        )
        yield TopNote("dependency", file, text, file)
    reasons: dict[str, list[CallResult]] = {}
    for call_result in module.call_results:
        if problem := answer_problem(call_result):
            reasons.setdefault(problem, []).append(call_result)
    for call_results in reasons.values():
        questions = listed([f"`{call_result.test_call.rules.question}`" for call_result in call_results])
        yield TopNote("answer", file, line("no_answer", call_results[0], questions), file)


def _why(broken: Response, own: str, submission: Submission) -> str:
    """Why a file could not be imported, as the end of a sentence, and what to do."""
    if broken.ended is not None:
        return f". {line('ended', broken.ended, 'import')}"
    error = broken.error
    assert error is not None
    file = error.file or own
    content = submission.text(file)
    code = "".join(text_lines(content)[error.line - 1 : error.line]).strip()
    is_syntax = "SyntaxError" in error.kinds
    if not_python := instead_of_python(content, file, error.line if is_syntax else 0):
        return f": {cleaned(not_python)}."
    text = f": {cleaned(error.text)}" if error.text else ""
    place = f" (line {error.line} of `{shown(file)}`)" if error.line else ""
    if is_syntax and code and parsed(content) is None:
        quoted = printable(code, " ", 100).replace("`", "'")
        advice = f"The grader runs {VERSION}, which cannot read this line: `{quoted}`."
    elif "ImportError" in error.kinds and _is_relative(content, error.line):
        advice = RELATIVE
    else:
        known = errors.advice(error.kind, error.text, error.hint == "circular")
        advice = NO_FILE if error.kind == "FileNotFoundError" else known
    return f": {error.kind}{text}{place}. {advice}".strip()


def _is_relative(content: bytes, line: int) -> bool:
    """Whether this line is an import with a dot."""
    tree = parsed(content)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)] if tree else []
    return any(node.level and node.lineno <= line <= (node.end_lineno or 0) for node in imports)
