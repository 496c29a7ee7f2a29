"""A graded submission in words: one object for tables, reports and students' pages, stored as Gradescope's results.json.

Source: Gradescope, Autograder specifications, "Output format".
"""

import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal, Self

from autograder import __version__
from autograder.feedback.messages import causes, message, varies
from autograder.feedback.sentences import answer_problem, lacking, line, stubs, unwritten
from autograder.grading.call_results import CallResult
from autograder.grading.grader import ModuleResult, Result
from autograder.grading.scoring import CriterionScore
from autograder.homework.rubric import Rubric, file_of
from autograder.sandbox.protocol import Response
from autograder.shared import errors
from autograder.shared.source import no_python, parsed, text_lines
from autograder.submissions.text import as_code, counted, listed, markdown, number, printable, unlinked, without_places

RULE = "A mistake that the grader can name or locate costs one criterion; any other costs every criterion that it makes fail."
RULE_OF_CRITERIA = "A criterion is lost if any of its calls fails."
RELATIVE = "Your files are not a package: import without the dot."
VERSION = f"Python {sys.version_info[0]}.{sys.version_info[1]}"
# Syntax that some supported Python does not read: type aliases, type parameters, nested quotes, except without parentheses.
NEWER = re.compile(r"type\s+\w+.*=|(async\s+)?(def|class)\s+\w+\s*\[|except\s*\*?\s*\w[^()]*,|.*\b[fFtT][rR]?['\"]")
NO_FILE = (
    'The grader has no such file. Delete the code that needs it, or move it under `if __name__ == "__main__":`, which the '
    "grader does not run."
)
# Kinds of notes: on the whole upload; on usable files; notes that are merged into one sentence for all files.
WHOLE = {"archive", "no_zip", "notebook", "zip_large", "zip_many"}
USABLE = {"accepted", "answer", "dependency", "import", "misnamed", "replaced", "second", "unwritten"}
TOGETHER = {
    "absent": "no file {} in the upload",
    "blank": "nothing in {}: blank",
    "misnamed": "not graded because of the file name: {}",
    "accepted": "graded despite the file name: {}",
}
REMARK = 500  # characters of a remark in a table
SHOWN = ("name", "score", "max_score", "visibility", "output")  # the facts of a mark that are Gradescope's


@dataclass(frozen=True)
class TopNote:
    """A note on the upload: its kind, its file ("" for the whole upload) and module, its text, and the text in Markdown."""

    kind: str
    path: str
    text: str
    markdown: str = ""
    module: str = ""

    @classmethod
    def of(cls, kind: str, path: str, text: str, quoted: str = "", more: str = "", module: str = "") -> Self:
        """Make a note from our own words in Markdown with a student's text `said` between them."""
        quoted, file = without_places(quoted), f"{module}.py" if module else ""
        plain = text.replace("`", "") + unlinked(quoted) + more.replace("`", "")
        start, plain = ("", plain) if file in plain else (f"**{file}**: ", f"{file}: {plain}")
        return cls(kind, path, plain, f"{start}{text}{markdown(quoted)}{more}", module)


# Why a criterion was lost; "" if it was not, "other" if no cause was found.
Cause = Literal[
    "", "misconception", "line", "varies", "unwritten", "missing", "import", "answer", "tests", "manual", "other"
]


@dataclass(frozen=True)
class Mark:
    """The points and the message of one criterion, `name` as Gradescope shows it, and the misconceptions that cost points."""

    criterion: str
    name: str
    score: float
    max_score: float
    misconceptions: tuple[str, ...] = ()
    visibility: str = "visible"
    output: str = ""
    cause: Cause = ""

    @classmethod
    def of(cls, graded: CriterionScore, module: ModuleResult, result: Result) -> Self:
        criterion, cause = graded.criterion, _cause(graded, module, result)
        ids = dict.fromkeys(m.id for m in graded.misconceptions if m.right and cause)
        return cls(
            criterion.id,
            f"{criterion.id}: {criterion.about}",
            number(graded.points),
            number(criterion.most),
            tuple(ids),
            criterion.visibility,
            message(graded, result),
            cause,
        )

    @property
    def lost(self) -> bool:
        return self.score < self.max_score


@dataclass(frozen=True)
class Unexplained:
    """A function of one submission whose wrong results no misconception explains.

    `responses` is the digest of its wrong responses. `criteria` have failing calls, criteria on values first, then most
    calls first. `source` is "" if the function cannot be extracted, `example` if no public example fails.
    """

    function: str
    responses: str
    criteria: Sequence[str]
    source: str
    example: str


Guess = dict[str, Any]  # the first prediction for one question: "question", "answer", and whether it is "right"


@dataclass(frozen=True)
class Grade:
    """The result of one submission.

    `submitted` modules have a file, `guesses` are the predictions made in the notebook. `dropped` are the marks that do not count,
    `rule` says what a mistake costs, and `totals` are the points with each value of `charge`, before manual changes.
    """

    key: str
    score: float
    marks: tuple[Mark, ...]
    layers: tuple[str, ...]
    graded_at: float = 0.0
    notes: tuple[TopNote, ...] = ()
    submitted: tuple[str, ...] = ()
    unexplained: tuple[Unexplained, ...] = ()
    guesses: tuple[Guess, ...] = ()
    dropped: tuple[Mark, ...] = ()
    rule: str = ""
    totals: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, result: Result, unexplained: Sequence[Unexplained] = (), guesses: Sequence[Guess] = ()) -> Self:
        """Put a result into words; the same submission, kit and layers give the same grade."""
        submission, rubric = result.submission, result.homework.rubric
        marks = tuple(Mark.of(graded, module, result) for module in result.modules for graded in module.graded)
        return cls(
            submission.name,
            number(result.points),
            marks,
            result.layers,
            notes=notes(result),
            submitted=tuple(name for name in rubric.modules if f"{name}.py" in submission.files),
            unexplained=tuple(unexplained),
            guesses=tuple(guesses),
            rule=rule(rubric, [mark for mark in marks if mark.visibility == "visible"]),
            totals={charge: number(points) for charge, points in result.totals.items()},
        )

    def to_gradescope(self, **stamp: object) -> dict[str, Any]:
        """Return the document for Gradescope, with one entry of `tests` per criterion."""
        tests = [
            {name: getattr(mark, name) for name in SHOWN}
            | {"status": "failed" if mark.lost else "passed", "output_format": "md"}
            | {
                "extra_data": {
                    "criterion": mark.criterion,
                    "misconceptions": [*mark.misconceptions],
                    "cause": mark.cause,
                }
            }
            for mark in self.marks
        ]
        extra = {
            **stamp,
            "version": __version__,
            "layers": list(self.layers),
            "notes": [asdict(note) for note in self.notes],
            "submitted": list(self.submitted),
            "unexplained": [asdict(function) for function in self.unexplained],
            "guesses": list(self.guesses),
            "totals": dict(self.totals),
        }
        return {
            "score": self.score,
            "output": self.output,
            "output_format": "md",
            "stdout_visibility": "hidden",
            "tests": tests,
            "extra_data": extra,
        }

    @classmethod
    def from_gradescope(cls, key: str, document: Mapping[str, Any], graded_at: float) -> Self:
        """Read a document back. Raises KeyError, TypeError or ValueError for an invalid one."""
        marks = tuple(
            Mark(
                **test["extra_data"] | {"misconceptions": tuple(test["extra_data"]["misconceptions"])},
                **{name: test[name] for name in SHOWN if name in test},
            )
            for test in document["tests"]
        )
        if not marks:
            raise ValueError("a result without criteria")
        extra = document["extra_data"]
        return cls(
            key,
            document["score"],
            marks,
            tuple(extra["layers"]),
            graded_at,
            tuple(TopNote(**note) for note in extra.get("notes", ())),
            tuple(extra.get("submitted", dict.fromkeys(module_of(mark.criterion) for mark in marks))),
            tuple(Unexplained(**function) for function in extra.get("unexplained", ())),
            tuple(extra.get("guesses", ())),
            totals=extra.get("totals", {}),
        )

    @property
    def output(self) -> str:
        """The message at the top, shown immediately: the points, the causes of lost points, the notes, the scoring rule."""
        visible_marks = [mark for mark in self.marks if mark.visibility == "visible"]
        points, most = sum(mark.score for mark in visible_marks), sum(mark.max_score for mark in visible_marks)
        rest = sum(mark.max_score for mark in self.marks) - most
        visible, later = (" visible now", f" Not shown yet: {counted(number(rest), 'point')}.") if rest else ("", "")
        total = f"**{number(points)} of {counted(number(most), 'point')}{visible}{reason(visible_marks)}.**{later}"
        lines = [*(f"- {note.markdown}" for note in self.notes), "", self.rule]
        return f"{total}\n\n" + "\n".join(lines).strip() + "\n"

    @property
    def points(self) -> dict[str, float]:
        return {mark.criterion: mark.score for mark in self.marks}

    @property
    def missed(self) -> list[Mark]:
        """The lost criteria."""
        return [mark for mark in self.marks if mark.lost]

    @property
    def max_score(self) -> float:
        return sum(mark.max_score for mark in self.marks)

    @cached_property
    def subtotals(self) -> dict[str, tuple[float, float]]:
        """Points and maximum of each module."""
        subtotals: dict[str, tuple[float, float]] = {}
        for mark in self.marks:
            score, most = subtotals.get(module_of(mark.criterion), (0.0, 0.0))
            subtotals[module_of(mark.criterion)] = (score + mark.score, most + mark.max_score)
        return subtotals

    def paths(self, *kinds: str) -> tuple[str, ...]:
        """Return the files that the notes of these kinds name."""
        return tuple(note.path for note in self.notes if note.kind in kinds)

    @cached_property
    def remark(self) -> str:
        """The notes in one text for tables."""
        texts = [note.text for note in self.notes if note.kind not in TOGETHER]
        texts += [text.format(", ".join(self.paths(kind))) for kind, text in TOGETHER.items() if self.paths(kind)]
        return textwrap.shorten(" ".join(texts), REMARK, placeholder=" ...")

    @cached_property
    def empty(self) -> str:
        """Why there is nothing to grade, "" if there is something. Notes on the whole upload come first."""
        if self.submitted or self.misnamed:
            return ""
        for note in sorted(self.notes, key=lambda note: note.kind not in WHOLE):
            if note.kind not in USABLE and note.kind not in TOGETHER:
                return note.text if note.kind in WHOLE else f"None of its files can be used. {note.text}"
        return "Its homework files are blank." if self.paths("blank") else "It contains no homework files."

    @property
    def misnamed(self) -> tuple[str, ...]:
        """The files that were not graded because of their names."""
        return self.paths("misnamed", "unwritten")

    @property
    def accepted(self) -> tuple[str, ...]:
        """The files that were graded despite their names."""
        return self.paths("accepted", "replaced")


def module_of(criterion: str) -> str:
    return criterion.partition(".")[0]


def reason(marks: Sequence[Mark]) -> str:
    """Return the causes of the lost points, as the end of a sentence."""
    lost = [mark for mark in marks if mark.lost]
    mistakes = sorted({misconception for mark in lost for misconception in mark.misconceptions})
    if mistakes and all(mark.misconceptions for mark in lost):
        functions = listed([f"`{mistake.partition('.')[0]}`" for mistake in mistakes])
        return f": {'a mistake' if len(mistakes) == 1 else 'mistakes'} in {functions}"
    files = [f"`{file}`" for mark in lost if (file := file_of(module_of(mark.criterion)))]
    return f"; points lost in {listed(files)}" if files else ""


def _cause(graded: CriterionScore, module: ModuleResult, result: Result) -> Cause:
    submission, call, file = result.submission, graded.call_result, f"{module.module}.py"
    if graded.points == graded.criterion.most:
        return ""
    if any(m.right for m in graded.misconceptions):
        return "misconception"
    if graded.tests:
        return "tests"
    if module.broken is not None:
        return "import" if file in submission.files else "missing"
    if unusable := causes(graded, result):  # of the integration
        first = next(first for first in result.modules if first.module == unusable[0])
        return _cause(first.graded[0], first, result)
    if any(m.does for m in graded.misconceptions):  # a repair
        return "line"
    if call is None:
        unfinished = stubs(submission.text(file)).keys() & {*graded.criterion.grades}
        return "unwritten" if unfinished else "other"
    if call.test_call.rules.question and call.returned:
        return "answer"
    missing = call.error is not None and call.error.hint == "missing"
    if call.unwritten or missing or lacking(call, result.homework.rubric) or unwritten(call, submission) is not None:
        return "unwritten"
    if graded.depends or varies(module, graded.criterion, call.target.function):
        return "varies"
    return "line" if call.error or call.response.ended else "other"


def rule(rubric: Rubric, marks: Sequence[Mark]) -> str:
    """Return what a mistake costs, if one of these criteria was lost to a mistake in code."""
    if not any(mark.lost and mark.cause in ("misconception", "line", "varies", "other") for mark in marks):
        return ""
    return RULE if rubric.charge == "mistakes" else RULE_OF_CRITERIA


# Notes on the upload, on modules that could not be used, and on missing answers


def notes(result: Result) -> tuple[TopNote, ...]:
    upload = [TopNote.of(note.kind, note.path, str(note)) for note in result.submission.notes]
    paths = {note.path for note in upload}
    of_modules = (note for module in result.modules for note in _of_module(module, result))
    return (*upload, *(note for note in of_modules if note.path not in paths))


def _of_module(module: ModuleResult, result: Result) -> Iterator[TopNote]:
    name, file = module.module, f"{module.module}.py"
    rubric, submission = result.homework.rubric, result.submission
    if name not in rubric.modules:
        return
    if module.broken is not None:
        if missing := submission.missing(name, rubric):
            yield TopNote.of(missing.kind, missing.path, str(missing), module=name)
        else:
            yield TopNote.of("import", file, *_why(module.broken, file, result), module=name)
        return
    lacking = [name for name in rubric.below(name) if f"{name}.py" not in submission.files]
    files = sorted(f"`{name}.py`" for name in submission.imports(name).intersection(lacking))
    if files and any(r.error is not None and "ImportError" in r.error.kinds for r in module.at_home):
        text = (
            f"`{file}` imports {listed(files)}, which this upload lacks: its examples are shown without your results."
        )
        yield TopNote.of("dependency", file, text, module=name)
    reasons: dict[str, list[CallResult]] = {}
    for call_result in module.call_results:
        if problem := answer_problem(call_result):
            reasons.setdefault(problem, []).append(call_result)
    for call_results in reasons.values():
        questions = listed([f"`{call_result.test_call.rules.question}`" for call_result in call_results])
        yield TopNote.of("answer", file, line("no_answer", call_results[0], questions, rubric=rubric), module=name)


def _why(broken: Response, module_file: str, result: Result) -> tuple[str, str, str]:
    """Why a file could not be imported: our words, the text of the error, and what to do."""
    text = f"`{module_file}` could not be imported"
    if broken.ended is not None:
        return f"{text}. {line('ended', broken.ended, 'import', rubric=result.homework.rubric)}", "", ""
    error = broken.error
    assert error is not None
    file = error.file or module_file
    content = result.submission.text(file)
    code = "".join(text_lines(content)[error.line - 1 : error.line]).strip()
    is_syntax = "SyntaxError" in error.kinds
    if content and (problem := no_python(content, file)):
        return f"{text}: ", problem, "."
    location = f" (line {error.line} of `{as_code(file)}`)" if error.line else ""
    if is_syntax and code and parsed(content) is None:
        quoted = printable(code, " ", 100).replace("`", "'")
        reader = f"The grader runs {VERSION}, which" if NEWER.match(code) else "Python"
        advice = f"{reader} cannot read this line: `{quoted}`."
    elif error.text.startswith("attempted relative import"):
        advice = RELATIVE
    else:
        usual = errors.advice(error.kind, error.text, error.hint == "circular")
        advice = NO_FILE if error.kind == "FileNotFoundError" else usual
    return f"{text}: {error.kind}{': ' * bool(error.text)}", error.text, f"{location}. {advice}".rstrip()
