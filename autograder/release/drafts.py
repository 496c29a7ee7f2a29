"""Templates for `autograder new`: a small module, and a homework with this module.

Both are complete: they build, grade and pass the audit unchanged. Names after $ are filled in. The first part of a path
is the name of a folder.
"""

NAME, NOTEBOOK = "centred_rows", "homework.ipynb"  # of a new homework
POINTS = 2  # of a new module

# Placeholders that students must not see. A new homework has real sentences.
PLACEHOLDERS = {
    "purpose": "one sentence on what the module does and why it is needed.",
    "source": "Source: the paper or book of the formula.",
    "story": "What the module does, and what fails without it.",
}
TEXTS = {
    "purpose": "subtract the mean of every row.",
    "source": "Source: the first step of principal component analysis.",
    "story": "Many methods expect data whose mean is zero. You write the function that centres it.",
}

MODULE = {
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

ENTRY = """\
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

HOMEWORK = {
    "home/rubric.yaml": """\
# The only place for points, criteria, visibility, feedback and limits.
title: $title
points: 2
visibility: after_published
agents_file: false # true: students get solutions/AGENTS.md, which tells coding assistants how to help

limits: # for one submission; seconds are processor time
  call_seconds: 3
  submission_seconds: 60
  memory_mb: 384

modules:
""",
    "solutions/README.md": """\
# $title

You write small NumPy modules, one file each.

<!-- modules -->

## Set up

You need Python 3.11 or newer. Open a terminal in this folder:

    python3 -m venv .venv
    source .venv/bin/activate
    python -m pip install -r requirements.txt

## Work on a module

Open `{module}.py`. Replace `raise NotImplementedError(...)` with your code. Do not change the names of functions and arguments.
Then run the checks:

    pytest --only {function}
    pytest

If a check fails, `pytest --hint` shows what your code probably does wrong.

## Upload

Upload the `.py` files of the table, or the zip that the last cell of the notebook makes. The tests of {visible} of the
{points} points are the examples in the docstrings, and you see their results at once. The other tests are hidden.

<!-- grading table -->
""",
    "solutions/requirements.txt": "numpy>=2.0\npytest>=8.0\njupyterlab>=4.0\n",
    "suites/pytest.ini": "[pytest]\n# an ini file of its own, so that no other one changes how the hidden suites are run\n",
    "suites/conftest.py": '''\
"""Fixtures of the hidden suites, and the option `--submission`."""

from pathlib import Path

from autograder.homework import kit

kit.use(Path(__file__).resolve().parents[2])
pytest_plugins = ["autograder.grading.recorder", "autograder.grading.manual"]
''',
    "alternatives/loops/$name.py": '''\
"""One row after the other, with the mean as a sum."""

import numpy as np


def $name(x):
    out = np.empty_like(x)
    for place in np.ndindex(x.shape[:-1]):
        out[place] = x[place] - sum(x[place]) / x.shape[-1]
    return out
''',
}

CONFIG = """\
# ASSIGNMENT CONFIG
name: homework
plugins:
    - autograder.release.otter_plugin.HomeworkPlugin
files:
    - checks
    - pytest.ini
    - README.md
    - requirements.txt
export_cell:
    pdf: false
    run_tests: false
    ignore_log: true
    instructions: Upload homework.zip as it is. Your `.py` files are graded.
generate:
    print_summary: false
    logo: false
tests:
    ok_format: false"""
