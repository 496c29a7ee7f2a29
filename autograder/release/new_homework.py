"""A starter homework: `autograder new --homework DIR` writes one outside the package.

It has one module, the draft of new_module.py with real text, and everything that a homework needs: it builds, grades and passes the
audit. The files that run the public checks are copies of the package's own.
"""

import json
from pathlib import Path

from autograder.exceptions import ArgumentsError, of_system
from autograder.feedback.results import write_atomically
from autograder.homework import kit, rubric
from autograder.release import handout, new_module

MODULE = "centred_rows"  # default name of its module
TEXTS = {
    "purpose": "subtract the mean of every row.",
    "source": "Source: the first step of principal component analysis.",
    "story": "Many methods expect data whose mean is zero. You write the function that centres it.",
}

FILES = {
    "home/rubric.yaml": """\
# The only place for points, criteria, visibility, feedback and limits.
title: $title
points: 2
visibility: after_published
agents_file: false # true: students get solutions/AGENTS.md, which tells coding assistants how to help

limits: # for one submission; seconds are processor time
  call_seconds: 3
  submission_seconds: 60
  memory_mb: 512

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

NOTEBOOK = "homework.ipynb"
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
    ok_format: false
python_version: "3.11\""""
HEAD = (("raw", CONFIG), ("markdown", "# $title"))
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def write(folder: Path, name: str = MODULE) -> Path:
    """Write a homework with the module `name` to a new folder, and return the folder.

    Raises ArgumentsError for a folder that is not empty and for an invalid name; then nothing is written.
    """
    new_module.refuse_name(name)
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise ArgumentsError(f"{folder} exists and is not an empty folder; give a new one")
    values = new_module.titled(name) | TEXTS
    grading = folder / kit.GRADING
    places = {part: grading / part for part in ("suites", "misconceptions", "alternatives")}
    places |= {"home": folder, "solutions": folder / "solutions"}
    texts = new_module.filled(FILES | new_module.FILES, values, places)
    texts[folder / "rubric.yaml"] += new_module.entry(values)
    texts[folder / "solutions" / NOTEBOOK] = _notebook(values)
    try:
        for path, text in texts.items():
            write_atomically(path, text)
        _copy_checks(folder / "solutions", rubric.load(folder / "rubric.yaml"))
    except OSError as error:
        raise of_system(error, folder) from error
    return folder


def _copy_checks(solutions: Path, rules: rubric.Rubric) -> None:
    """Copy the files that run the public checks, for the modules of this rubric."""
    own = kit.packaged() / "solutions"
    checks = [path for path in own.glob("checks/**/*.py") if not path.name.startswith(("test_", "my_tests"))]
    for path in (own / "conftest.py", own / "pytest.ini", *checks):
        text = path.read_text(encoding="utf-8")
        place = path.relative_to(own).as_posix()
        write_atomically(solutions / place, handout.ordered_checks(text, rules) if place == handout.CHECKS else text)


def _notebook(values: dict[str, str]) -> str:
    cells = new_module.cells((*HEAD, *new_module.CELLS), values)
    notebook = {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 4}
    return json.dumps(notebook, indent=1) + "\n"
