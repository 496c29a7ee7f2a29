"""The two pictures in README.md, drawn from real output: a student's feedback and an instructor's report.

`python -m autograder.docs.pictures` grades a few submissions and writes student.svg and instructor.svg. A test draws them
again and fails if they are out of date.
"""

import textwrap
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from autograder.feedback.results import Grade, Mark
from autograder.gradebook import report, sample
from autograder.grading.grader import Grader, open_grader
from autograder.homework.homework import Homework
from autograder.submissions.submission import Submission

HOMEWORK = Homework()

DOCS = Path(__file__).parent
STUDENT, INSTRUCTOR = DOCS / "student.svg", DOCS / "instructor.svg"
MISTAKE = "layer_norm.sample_variance"
# The class: its size, the distance between the mistakes of two students in the library, and the most modules not begun.
STUDENTS, STEP, UNFINISHED = 30, 37, 7
COLUMNS, LINE, WIDTH = 96, 18, 760  # characters per line; line height and picture width in pixels
SHOWN = 5  # mistakes listed below the class
COLOURS = {"named": "#b5532a", "lost": "#7fa6cf", "unwritten": "#c3c7cf"}  # as in the report


def student(grader: Grader) -> str:
    """The entries of a module with one mistake, as Gradescope lists them, and the message of the first lost criterion."""
    made = sample.wrong(sample.references(HOMEWORK), *filter(None, [HOMEWORK.misconception(MISTAKE)]))
    marks = [mark for mark in _graded(grader, made).marks if mark.criterion.startswith("layernorm.")]
    told = next(mark for mark in marks if MISTAKE in mark.misconceptions)
    lines = [(f"{_points(mark)}   {mark.name}", _colour(mark)) for mark in marks]
    lines += [("", ""), (f"{_points(told)}   {told.name}", _colour(told))]
    lines += [(line, "") for line in _wrapped(told.output)]
    return _svg(LINE * (len(lines) + 1), "".join(_text(12, LINE * (at + 1), *line) for at, line in enumerate(lines)))


def instructor(grader: Grader) -> str:
    """The class as report.html draws it, and its most frequent mistakes."""
    picture = report.picture(list(_class(grader)), {}, lambda name: name)
    assert picture is not None
    width, height = picture["width"], picture["height"]
    shapes = "".join(f'<path d="{path}" fill="{COLOURS[style]}"/>' for style, _, path in picture["paths"])
    left, high = 190, 6 * height
    across = (WIDTH - left - 12) / width
    body = [
        _text(12, LINE, f"{width} submissions, best on the left; one row per criterion"),
        f'<g transform="translate({left} {LINE + 10}) scale({across:.4f} 6)">'
        f'<rect width="{width}" height="{height}" fill="#e8edf4"/>{shapes}</g>',
    ]
    row = 0
    for module, count in picture["groups"]:
        body.append(_text(12, LINE + 14 + 6 * (row + count / 2), module))
        row += count
    lines = [
        "orange: lost to a recognised misconception; blue: cause not identified; grey: not written",
        "",
        *_frequent(picture["data"]),
    ]
    body += [_text(12, high + LINE * (at + 3), line) for at, line in enumerate(lines)]
    return _svg(high + LINE * (len(lines) + 3), "".join(body))


def _class(grader: Grader) -> Iterator[Grade]:
    right, empty = sample.references(HOMEWORK), sample.stubs(HOMEWORK)
    known = [mistake for module in right for mistake in HOMEWORK.of_module(module.removesuffix(".py"))]
    for number in range(STUDENTS):
        chosen = [known[(number * STEP + part * len(known) // 4) % len(known)] for part in range(number % 4)]
        not_begun = list(right)[-(number % UNFINISHED) :] if number % 5 == 4 else []
        files = sample.wrong(right, *chosen) | {name: empty[name] for name in not_begun}
        yield _graded(grader, files, str(number))


def _graded(grader: Grader, files: Mapping[str, str], key: str = "") -> Grade:
    return Grade.of(grader.grade(Submission(key, {name: text.encode() for name, text in files.items()})))


def _frequent(data: Mapping[str, Any]) -> Iterator[str]:
    counts: dict[int, int] = {}
    for number in (one for row in data["cells"] for found in row.values() for one in found):
        counts[number] = counts.get(number, 0) + 1
    for number, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:SHOWN]:
        found = HOMEWORK.misconception(data["mistakes"][number])
        yield from textwrap.wrap(
            f"{count} x  {found.sentence if found else ''}".replace("`", ""), COLUMNS, subsequent_indent="     "
        )


def _wrapped(markdown: str) -> Iterator[str]:
    for line in markdown.replace("**", "").splitlines():
        if not line.startswith("```"):
            yield from textwrap.wrap(
                line.replace("`", ""), COLUMNS, subsequent_indent=" " * (len(line) - len(line.lstrip()))
            ) or [""]


def _points(mark: Mark) -> str:
    return f"{mark.score:g} of {mark.max_score:g}"


def _colour(mark: Mark) -> str:
    return COLOURS["named"] if mark.lost else "#1a7f37"


def _text(x: float, y: float, text: str, colour: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="{colour or "#1c2333"}" xml:space="preserve">{escape(text, quote=False)}</text>\n'


def _svg(height: int, body: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="12">\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{body}</svg>\n'
    )


def main() -> None:
    with open_grader(HOMEWORK) as grader:
        STUDENT.write_text(student(grader), encoding="utf-8", newline="\n")
        INSTRUCTOR.write_text(instructor(grader), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
