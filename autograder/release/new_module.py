"""A starter module: `autograder new NAME` writes the files that docs/how-to/add-a-module.md describes.

It is complete, so it builds and grades at once: one small function, two criteria, three misconceptions, to be replaced by the
real content.
"""

import json
import keyword
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from string import Template
from typing import Any

from autograder.exceptions import ArgumentsError, CommandError
from autograder.feedback.results import write_atomically
from autograder.feedback.text import number
from autograder.homework import kit, rubric
from autograder.release import prerequisites
from autograder.submissions import uploads

POINTS = 2  # of the new module

FILES = {
    "solutions/$name.py": '''\
"""$title: $purpose

$source
"""

import numpy as np


def $name(x: np.ndarray) -> np.ndarray:
    """Subtract its mean from every row.

        y = x - mean(x)

    Arguments: x (..., d).
    Returns: (..., d), in the dtype of x.

    >>> $name(np.array([1.0, 2.0, 6.0]))
    array([-2., -1.,  3.])
    """
    # BEGIN SOLUTION
    return x - x.mean(axis=-1, keepdims=True)
    # END SOLUTION
''',
    "suites/test_$name.py": '''\
"""Hidden tests of $name.py. The inputs of `example` are those in the docstrings."""

import numpy as np

from autograder.homework.suite import criterion


@criterion("$name.example")
def test_the_worked_examples(check):
    check.$name(np.array([1.0, 2.0, 6.0]))


@criterion("$name.rows")
def test_every_row_has_its_own_mean(check, rng):
    check.$name(rng.normal(3, 1, 5))
    check.$name(rng.normal(3, 1, (3, 4)))
    check.$name(rng.normal(3, 1, (2, 3, 4)))
''',
    "misconceptions/$name/$name.py": '''\
"""Misconceptions about `$name`."""

import numpy as np

from autograder.homework.library import written


@written
def $name(x):
    mean = x.mean(axis=-1, keepdims=True)
    return x - mean


$name.wrong("first_axis", "rows", {"axis=-1": "axis=0"},
    does="Your code averages over the first axis.", right="Average over the last axis: every row has its own mean.")
$name.wrong("one_mean", "rows", {"axis=-1, keepdims=True": ""},
    does="Your code subtracts the mean of the whole array.", right="Every row has its own mean.")
$name.wrong("mean_returned", "rows", {"x - mean": "mean + 0 * x"},
    does="Your code returns the mean.", right="Return x minus the mean.")

EXAMPLES = {
    "$name": [
        ((np.array([1.0, 5.0]),), {}),
        ((np.array([[1.0, 5.0], [2.0, 8.0]]),), {}),
    ],
}
''',
    "solutions/checks/test_$name.py": '''\
"""Public checks of $name.py."""

import numpy as np
from student_calls import Caller


def test_the_mean_is_subtracted(call: Caller) -> None:
    call.$name(np.array([1.0, 5.0])).gives(np.array([-2.0, 2.0]))
''',
}

RUBRIC = """\
  $name:
    title: $title
    points: 2
    uses: []
    functions:
      $name: []
    criteria:
      example:
        points: 1
        grades: [$name]
        looks_at: examples
        visibility: visible
        about: "the worked examples of the docstrings"
      rows: {points: 1, grades: [$name], about: "every row has its own mean"}
"""

CELLS = (
    ("raw", "# BEGIN QUESTION\nname: $name"),
    ("markdown", "## $title: `$name.py`\n\n$story"),
    ("raw", "# BEGIN TESTS"),
    (
        "code",
        '''\
def test_$name():
    import subprocess
    import sys

    command = [sys.executable, "-m", "pytest", "checks/test_$name.py"]
    checks = subprocess.run(command, capture_output=True, text=True, errors="replace")
    print(checks.stdout + checks.stderr)
    assert checks.returncode == 0, "see above"''',
    ),
    ("raw", "# END TESTS"),
    ("raw", "# END QUESTION"),
)


# Names that a file would shadow: packages, and the files and folders next to the students' files.
RESERVED = {
    "np",
    "numpy",
    "pytest",
    "matplotlib",
    "ipywidgets",
    "checks",
    "tour",
    "train",
    "autograder",
    "otter",
    "tests",
}
RESERVED |= {"conftest", "integration", "readme", "test", "total", *uploads.RESERVED}
# Placeholder text of a draft.
PLACEHOLDERS = {
    "purpose": "one sentence on what the module does and why it is needed.",
    "source": "Source: the paper or book of the formula.",
    "story": "What the module does, and what fails without it.",
}


def write(name: str) -> list[Path]:
    """Write a new module, before the last one of the rubric; returns what was written or changed.

    Raises ArgumentsError for an invalid or existing name, and CommandError without a clone; then nothing is changed.
    """
    refuse_name(name)
    prerequisites.tree()  # raises where there is no tree to change
    current = rubric.current()
    last = list(current.modules)[-1]
    values = titled(name) | PLACEHOLDERS
    texts = filled(FILES, values, places())
    taken = [path for path in texts if path.exists()]
    if taken or any(name in module.functions for module in current.modules.values()):
        raise ArgumentsError(f"{name!r} is taken{f': there is {taken[0]}' if taken else ', by a function'}")
    rules, notebook = kit.rubric_file(), kit.solutions() / kit.notebook()
    texts[rules] = _with_entry(rules.read_text(encoding="utf-8"), last, values)
    texts[notebook] = _with_cells(notebook.read_text(encoding="utf-8"), last, values)
    for path, text in texts.items():
        write_atomically(path, text)
    return list(texts)


def refuse_name(name: str) -> None:
    """Raises ArgumentsError for an invalid name of a module."""
    if not name.isidentifier() or name != name.lower() or keyword.iskeyword(name) or name.startswith(("_", "test_")):
        raise ArgumentsError(f"{name!r} cannot be a module's name; use lower-case letters, digits and underscores")
    if name in RESERVED or name in sys.stdlib_module_names:
        raise ArgumentsError(f"{name!r} is the name of another module that students import; choose another name")


def titled(name: str) -> dict[str, str]:
    """The name of a module and its title, for the templates."""
    return {"name": name, "title": name.replace("_", " ").capitalize()}


def places() -> dict[str, Path]:
    """The folders of the homework in use, by their names in FILES."""
    return {"solutions": kit.solutions(), "suites": kit.suites(), "misconceptions": kit.misconceptions()}


def filled(files: Mapping[str, str], values: Mapping[str, str], folders: Mapping[str, Path]) -> dict[Path, str]:
    """Templates with values; the first part of each path is the name of a folder."""
    texts = {}
    for place, text in files.items():
        folder, _, rest = Template(place).substitute(values).partition("/")
        texts[folders[folder] / rest] = Template(text).substitute(values)
    return texts


def refuse_placeholders(home: Path) -> None:
    """Raises CommandError if the text of a draft, which students would read, has not been replaced."""
    files = [*sorted((home / "solutions").glob("*.py")), home / "solutions" / kit.notebook()]
    for path in files:
        for place, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found = next((text for text in PLACEHOLDERS.values() if text in line), "")
            if found:
                raise CommandError(f"{path}:{place}: replace the text of the draft: {found!r}")


def remove(name: str) -> list[Path]:
    """Remove a module: the reverse of `write`. Returns what was removed or changed.

    Raises ArgumentsError for an unknown module, or one that others use; then nothing is changed.
    """
    prerequisites.tree()  # raises where there is no tree to change
    current = rubric.current()
    if name not in current.modules:
        raise ArgumentsError(f"there is no module {name!r}; known modules: {', '.join(current.modules)}")
    using = [other for other, module in current.modules.items() if name in module.uses]
    if using or len(current.modules) == 1:
        raise ArgumentsError(f"{name} is used by {', '.join(using)}" if using else f"{name} is the only module")
    rules, notebook = kit.rubric_file(), kit.solutions() / kit.notebook()
    solutions, suites = kit.solutions(), kit.suites()
    texts = {
        rules: _without_entry(rules.read_text(encoding="utf-8"), name),
        notebook: _without_cells(notebook.read_text(encoding="utf-8"), name),
    }
    for path, text in texts.items():
        write_atomically(path, text)
    own = [solutions / f"{name}.py", solutions / "checks" / f"test_{name}.py", suites / f"test_{name}.py"]
    own += [
        kit.misconceptions() / name,
        *kit.alternatives().glob(f"*/{name}.py"),
    ]
    removed = [path for path in own if path.exists()]
    for path in removed:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return [*texts, *removed]


def _without_entry(text: str, name: str) -> str:
    """The rubric without a module's entry and points; comments elsewhere stay."""
    current = rubric.current()
    left = current.points - current.modules[name].points
    text = re.sub(rf"^  {name}:\n(?:(?:    .*|\s*)\n)*", "", text, count=1, flags=re.MULTILINE)
    return text.replace(f"\npoints: {number(current.points)}\n", f"\npoints: {number(left)}\n", 1)


def _without_cells(text: str, name: str) -> str:
    """The notebook without the module's question."""
    notebook = json.loads(text)
    sources = ["".join(cell["source"]) for cell in notebook["cells"]]
    begin = next(
        (
            n
            for n, source in enumerate(sources)
            if source.startswith(f"# BEGIN QUESTION\nname: {name}\n") or source == f"# BEGIN QUESTION\nname: {name}"
        ),
        None,
    )
    if begin is None:
        return text
    end = sources.index("# END QUESTION", begin)
    del notebook["cells"][begin : end + 1]
    return json.dumps(notebook, indent=1) + "\n"


def _with_entry(text: str, last: str, values: dict[str, str]) -> str:
    """The rubric with the new module's entry and points; comments stay."""
    points = rubric.current().points
    total, before = f"\npoints: {number(points)}\n", f"\n  {last}:\n"
    if text.count(total) != 1 or text.count(before) != 1:
        raise ArgumentsError(f"rubric.yaml must have the lines {total.strip()!r} and {before.strip()!r}, once each")
    text = text.replace(total, f"\npoints: {number(points + POINTS)}\n")
    return text.replace(before, f"\n{entry(values)}  {last}:\n")


def entry(values: Mapping[str, str]) -> str:
    """The module in the rubric."""
    return Template(RUBRIC).substitute(values)


def _with_cells(text: str, last: str, values: dict[str, str]) -> str:
    """The notebook with the new module's question."""
    notebook = json.loads(text)
    begins = [f"# BEGIN QUESTION\nname: {last}" in "".join(cell["source"]) for cell in notebook["cells"]]
    at = begins.index(True)
    notebook["cells"][at:at] = cells(CELLS, values)
    return json.dumps(notebook, indent=1) + "\n"


def cells(templates: Iterable[tuple[str, str]], values: Mapping[str, str]) -> list[dict[str, Any]]:
    """Cells of a notebook from pairs of a kind and a template."""
    made = []
    for kind, source in templates:
        lines = Template(source).substitute(values).splitlines(keepends=True)
        of_code: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
        made.append({"cell_type": kind, "metadata": {}, "source": lines, **of_code})
    return made
