"""Texts for students and instructors are in idiomatic English: some words and constructions are banned.

Each source of text is one case. A failure lists the file, the line, the text found and what to write instead.
"""

import ast
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from autograder.tests.files import HOMEWORK

Texts = Iterator[tuple[int, str]]  # line and text
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef

# Patterns, and what to write instead. Only patterns that are always wrong belong here.
BANNED = {
    r"mend(s|ed|ing)?": "fix",
    r"reckon(s|ed|ing)?": "compute",
    r"stands?(?! (alone|out|for)\b)(?!-)": "is, are",
    r"l(ies|ie|ay) (in|at|on|outside|beside|under|above|below|there|here|nearest|within|near)": "is, are",
    r"(gradients?|derivatives?) (of (the )?\w+ )?by(?! (hand|finite|\w+ing)\b)": "with respect to",
    r"straight(?! lines?\b)": "directly",
    r"(take|takes|taken|took|taking) (\w+ )?off": "deduct",
    r"(draw|draws|drawn|drew) (\w+ )?by chance": "sample",
    r"kept apart": "held out",
    r"anew": "again",
    r"shall": "should, must, will",
    r"(last|first) (\w+ )?but one": "second-to-last, second",
    r"(all|everything|anything|nothing|something) that (you|it|they|we|he|she|your|the|a)": "drop 'that'",
    r"in the place of": "in place of",
    r"otherwise than": "different from",
    r"wants? to be": "must be, should be",
    r"in no list": "unlisted",
    r"(is|are|be|was) (told|said) of": "is reported",
    r"how many \w+ has": "how many ... does ... have",
    r"up to a transpose": "the transpose of",
    r"(the|a|this|that) way (through|of the gradient)": "path",
    r"refuses?": "rejects",
    r"exchanges?(?! information)|changed places": "swaps",
    r"hands? \w+ on": "passes",
    r"throughout": "all",
    r"whatever \w+ (is|says|passes)": "ignores the argument",
}
# Sentence openings with inverted word order or a joining word.
OPENINGS = {
    r"Of (these|those|which|the|all|each|several|what|this|that)\b": "put the subject first",
    r"So (?!far\b)[a-z]": "drop 'So'",
    r"Where (?!to\b)[^.?!:]*\.": "If, When",
}
RULES = [(re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), instead) for pattern, instead in BANNED.items()]
RULES += [(re.compile(rf"(?:^|(?<=[.!?;] )){pattern}"), instead) for pattern, instead in OPENINGS.items()]


def hits(text: str) -> Iterator[tuple[re.Match[str], str]]:
    return ((match, instead) for rule, instead in RULES for match in rule.finditer(text))


def in_markdown(text: str) -> Texts:
    """Every paragraph, heading and table cell, without code."""
    for token in MarkdownIt().enable("table").parse(text):
        parts = ("code" if part.type == "code_inline" else part.content or " " for part in token.children or [])
        yield (token.map or [0])[0] + 1, " ".join("".join(parts).split())


def prose(path: Path) -> Texts:
    return in_markdown(path.read_text("utf-8"))


def strings(path: Path) -> Texts:
    """Every string in Python code except docstrings. Those of commands count, since they are the help text."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        command = any("command" in ast.unparse(decorator) for decorator in getattr(node, "decorator_list", []))
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None and not command:
            del node.body[0]
    return constants(tree)


def public(path: Path) -> Texts:
    """Every string in a file that students receive, including docstrings."""
    return constants(ast.parse(path.read_text("utf-8")))


def constants(tree: ast.AST) -> Texts:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from ((node.lineno, " ".join(part.split())) for part in node.value.split("\n\n"))


def cells(path: Path) -> Texts:
    """The text of a notebook and the strings in its code. Lines are counted within each cell."""
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield from in_markdown(source)
        elif cell["cell_type"] == "code":
            yield from constants(ast.parse(re.sub("^%.*", "", source, flags=re.MULTILINE)))


def lines(path: Path) -> Texts:
    return enumerate(path.read_text("utf-8").splitlines(), 1)


SOURCES: dict[str, Callable[[Path], Texts]] = {
    "README.md": prose,
    "autograder/docs/**/*.md": prose,
    ".github/*.md": prose,
    ".github/ISSUE_TEMPLATE/*": lines,
    "rubric.yaml": lines,
    "solutions/*.md": prose,
    "solutions/*.py": public,
    "solutions/checks/*.py": public,
    "solutions/tour/**/*.py": public,
    "solutions/transformer.ipynb": cells,
    "autograder/homework/misconceptions/**/*.py": strings,
    "autograder/gradebook/templates/*": lines,
    "autograder/release/site/*.html": lines,
    "autograder/release/site/*.js": lines,
    "autograder/homework/suites/*.py": strings,
    "autograder/*/*.py": strings,
}


# Names of things are nouns and names of actions are verbs. These words say neither.
BANNED_NAMES = re.compile(
    "_*(own|others?|made|given|found|wanted|kept|left|told|said|shown|seen|known|right|wrong|place|part|beside|twice|again|"
    "way|here|there)_*"
)
# Except fields of misconceptions, of the API of test suites and of files that others read.
INTERFACES = {
    "autograder/gradebook/similar.py": {"other"},
    "autograder/grading/recorder.py": {"part"},
    "autograder/homework/library.py": {"right", "twice", "way", "wrong"},
    "autograder/shared/compare.py": {"part"},
}
NO_ENGINE = {"tests", "docs", "benchmarks", "alternatives", "misconceptions", "suites", "template"}


def bound_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every variable, parameter, attribute, function and class that the code defines, with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name


def test_identifiers_of_the_engine_are_nouns_and_verbs() -> None:
    root = HOMEWORK.folder
    paths = [path.relative_to(root) for path in (root / "autograder").rglob("*.py")]
    engine = [path for path in paths if not NO_ENGINE & set(path.parts)]
    banned = [
        f"{path}:{line}: {name}"
        for path in engine
        for line, name in bound_names(ast.parse((root / path).read_text("utf-8")))
        if BANNED_NAMES.fullmatch(name) and name not in INTERFACES.get(path.as_posix(), ())
    ]
    assert engine and banned == []


@pytest.mark.parametrize("source", SOURCES)
def test_no_banned_words(source: str) -> None:
    paths, found = sorted(HOMEWORK.folder.glob(source)), []
    assert paths, f"no file matches {source}"
    for path in paths:
        for line, text in SOURCES[source](path):
            for match, instead in hits(text):
                found.append(f"{path}:{line}: {match[0]!r} ({instead}) in: {text[max(match.start() - 30, 0) :][:90]}")
    assert found == []
