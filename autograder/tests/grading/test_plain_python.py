"""A homework without NumPy: values are shown as Python shows them, and no message speaks of arrays."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.feedback.results import Grade
from autograder.grading.grader import Grader, open_grader
from autograder.homework.homework import Homework
from autograder.release import drafts
from autograder.submissions.submission import Submission

SOLUTION = '''"""Plain Python."""


def oldest(people):
    """Sort people by age, the oldest first.

    Returns: a list.
    """
    people.sort(key=lambda person: -person[1])
    return people


def counted(words):
    return {word: words.count(word) for word in words}


def initials(name):
    return "".join(part[0] for part in name.split())


def power(n):
    return 2**n


def unique(words):
    """Returns: a set of strings."""
    return set(words)


def mirrored(tree):
    return tree and (mirrored(tree[2]), tree[1], mirrored(tree[0]))


def tripled(x):
    """Returns: a new list."""
    return 3 * x
'''
ARGUMENTS = {
    "oldest": ('[("F", 19), ("M", 23)]', '[("M", 7), ("F", 70), ("M", 17)]'),
    "counted": ('["a", "b", "a"]', '["x"]'),
    "initials": ('"Ada Lovelace"', '"Alan Mathison Turing"'),
    "power": ("70", "3"),
    "unique": ('["a", "b", "a"]', "[]"),
    "mirrored": ('((None, 1, (((None, 5, None), 4, None), 3, None)), 2, None)', "(None, 1, None)"),
    "tripled": ("[1, 2]", "[5]"),
}  # fmt: skip
RUBRIC = """title: Plain
points: {points}
modules:
  plain:
    title: Plain
    points: {points}
    uses: []
    functions: {{{functions}}}
    criteria:
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = drafts.new_homework(tmp_path_factory.mktemp("plain") / "homework", "plain")
    (folder / "solutions/plain.py").write_text(SOLUTION)
    suite = ["from autograder.homework.suite import criterion, leaves_no_trace"]
    rubric = RUBRIC.format(points=len(ARGUMENTS) + 1, functions=", ".join(f"{name}: []" for name in ARGUMENTS))
    examples, checks = "EXAMPLES = {\n", ""
    for name, arguments in ARGUMENTS.items():
        rubric += f"      {name}: {{points: 1, grades: [{name}], about: values}}\n"
        calls = "\n".join(f"    check.{name}({argument})" for argument in arguments)
        suite.append(f'@criterion("plain.{name}")\ndef test_{name}(check):\n{calls}')
        examples += f'    "{name}": [{", ".join(f"(({argument},), {{}})" for argument in arguments)}],\n'
        in_place = ".in_place()" * (name == "oldest")
        namespace: dict[str, object] = {}
        exec(f"{SOLUTION}\nresult = {name}({arguments[0]})", namespace)
        checks += (
            f"\n\ndef test_{name}(call):\n    call.{name}({arguments[0]}){in_place}.gives({namespace['result']!r})\n"
        )
    rubric += "      effects: {points: 1, grades: [tripled], about: side effects, looks_at: form}\n"
    suite.append(
        '@criterion("plain.effects")\ndef test_effects(check):\n    leaves_no_trace(check, "tripled", ([1],), ([2],))'
    )
    (folder / "rubric.yaml").write_text(rubric)
    (folder / "grading/suites/test_plain.py").write_text("\n\n\n".join(suite))
    (folder / "grading/misconceptions/plain/plain.py").write_text(examples + "}\n")
    (folder / "solutions/checks/test_plain.py").write_text(checks)
    return folder


@pytest.fixture(scope="module")
def plain(folder: Path) -> Iterator[Grader]:
    with open_grader(Homework(folder)) as grader:
        yield grader


WRONG = {  # the new body of a function, and lines of the message
    "the wrong order": ("oldest", "return sorted(people)",
        ["# expected: [('M', 23), ('F', 19)]",
         "# yours:    [('F', 19), ('M', 23)]",
         "All elements are correct, but they are in the wrong order."]),
    "a tuple": ("oldest", "return tuple(people)",
        ["# yours:    (('F', 19), ('M', 23))", "It returned a tuple of 2; the docstring says a list."]),
    "too short": ("oldest", "return people[1:]",
        ["It returned a list of length 1 instead of 2."]),
    "a part is a string": ("oldest", "return [(sex, str(age)) for sex, age in people][::-1]",
        ["Part [0][1] is a string; it should be an int."]),
    "a dict": ("counted", "return {word: 1 for word in words}",
        ["# expected: {'a': 2, 'b': 1}", "# yours:    {'a': 1, 'b': 1}"]),
    "float counts": ("counted", "return {w: float(words.count(w)) for w in words}",
        ["# yours:    {'a': 2.0, 'b': 1.0}"]),
    "a string": ("initials", "return name[0]",
        ["# expected: 'AL'", "# yours:    'A'"]),
    "lower case": ("initials", "return ''.join(p[0] for p in name.split()).lower()",
        ["Only upper and lower case differ."]),
    "None": ("initials", "print(name)",
        ["# yours:    None", "Does every path through the function return a value?"]),
    "a big integer": ("power", "return 2**n - 1",
        ["# expected: 1180591620717411303424", "# yours:    1180591620717411303423"]),
    "a float": ("power", "return 2.0**n if n < 9 else 2**n",
        ["# yours:    8.0", "It returned a float; it should return an int."]),
    "a set": ("unique", "return {*words, 'c'}",
        ["# yours:    {'a', 'b', 'c'}"]),
    "an empty dict": ("unique", "return {w: w for w in words} or {}",
        ["# yours:    {'a': 'a', 'b': 'b'}", "It returned a dict; the docstring says a set of strings."]),
    "deeply nested": ("mirrored", "return tree and (tree[2], tree[1], tree[0])",
        ["# expected: (None, 2, ((None, 3, (None, 4, (None, 5, None))), 1, None))", "Only part [2] is wrong."]),
    "an argument changed": ("tripled", "x *= 3\n    return list(x)",
        ["Your code changes the argument `x`: the length of `x` changed.", "Do not change the arguments: work on copies."]),
    "results kept": ("tripled", "kept.extend(x)\n    return kept",
        ["plain.effects"]),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_message_shows_values_as_python_does(plain: Grader, name: str) -> None:
    function, body, lines = WRONG[name]
    parameter = re.search(rf"def {function}\((\w+)\)", SOLUTION)
    assert parameter is not None
    source = f"{SOLUTION}\nkept = []\n\n\ndef {function}({parameter[1]}):\n    {body}\n"
    grade = Grade.of(plain.grade(Submission("s", {"plain.py": source.encode()})))
    lost = {mark.criterion: mark for mark in grade.marks if mark.score < mark.max_score}
    text = "\n".join(f"{criterion}\n{mark.output}" for criterion, mark in lost.items())
    assert {f"plain.{function}", "plain.effects"} >= lost.keys() > set()
    assert [line for line in lines if line not in text] == [], text
    assert re.search(r"\b(arrays?|shapes?|dtype|axis|np|numpy|NumPy)\b", text) is None, text


def test_correct_solution_keeps_all_points_and_passes_the_public_checks(plain: Grader, folder: Path) -> None:
    assert Grade.of(plain.grade(Submission("s", {"plain.py": SOLUTION.encode()}))).score == len(ARGUMENTS) + 1
    done = subprocess.run([sys.executable, "-m", "pytest"], cwd=folder / "solutions", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
