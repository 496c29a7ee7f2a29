"""Writes the draft of a module, or of a homework with one module, from the folder template/.

The template is a homework of one module, `centred_rows`, that builds and passes the audit. A draft has another name and
title, and the draft of a module has placeholders in place of the sentences that students read.
"""

import json
import keyword
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from autograder.exceptions import ArgumentsError, CommandError, of_system
from autograder.files import write_atomically
from autograder.homework import rubric as rubrics
from autograder.homework.homework import GRADING, Homework
from autograder.release import handout, packing
from autograder.submissions import exports
from autograder.submissions.text import number

TEMPLATE = Path(__file__).with_name("template")
NAME, TITLE = "centred_rows", "Centred rows"  # of the module in the template
HOMEWORK_TITLE = "Preparing data"
NOTEBOOK = "homework.ipynb"
# Folders of the template, and where they are in a homework. A wheel of another homework has no folder named as on the right.
FOLDERS = {"hidden_tests": "suites", "known_mistakes": "misconceptions", "other_styles": "alternatives"}
# In the draft of a module, placeholders replace these sentences of the template. `build` rejects them.
PLACEHOLDERS = {
    "subtract the mean of every row.": "one sentence on what the module does and why it is needed.",
    "Source: the first step of principal component analysis.": "Source: the paper or book of the formula.",
    "Many methods expect data whose mean is zero. You write the function that centres it.": (
        "What the module does, and what fails without it."
    ),
}
# What students read about the template's module. `build` rejects it in a homework without that module.
SENTENCES = [*PLACEHOLDERS, "every row has its own mean"]
BEGIN, END = "# BEGIN QUESTION", "# END QUESTION"
# Names that a file would shadow: packages, and the files and folders next to the students' files.
RESERVED = {"np", "numpy", "pytest", "matplotlib", "ipywidgets", "checks", "tour", "train", "autograder", "otter"}
RESERVED |= {"conftest", "integration", "readme", "test", "tests", "total", *exports.RESERVED, *sys.stdlib_module_names}


def add(homework: Homework, name: str) -> list[Path]:
    """Write a draft module after the others, but before a last one that has only questions; return the changed files.

    Before any change, raises ArgumentsError for an invalid or existing name, and CommandError without a clone.
    """
    _check_name(name)
    packing.tree(homework)  # raises CommandError if there is no tree to change
    modules, rules, solutions = homework.rubric.modules, homework.rubric_file, homework.solutions
    folders = {"home": homework.folder, "solutions": solutions}
    folders |= {"hidden_tests": homework.suites, "known_mistakes": homework.misconceptions}
    template = _template(name, folders, PLACEHOLDERS)
    texts = {path: text for path, text in template.items() if path.stem in (name, f"test_{name}")}
    taken = [path for path in texts if path.exists()]
    if taken or any(name in module.functions for module in modules.values()):
        raise ArgumentsError(f"{name!r} is taken{f': there is {taken[0]}' if taken else ', by a function'}")
    last, path = [*modules][-1], solutions / homework.notebook
    is_after = homework.rubric.explains(last)
    texts[rules] = _with_draft(rules.read_text(encoding="utf-8"), last, is_after, template[rules], name)
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CommandError(f"{path}: not a notebook: {error}") from error
    cells, draft = notebook["cells"], json.loads(template[solutions / NOTEBOOK])
    question = {BEGIN, f"name: {last}"}
    at = next(index for index, cell in enumerate(cells) if question <= {*"".join(cell["source"]).splitlines()})
    while is_after and "".join(cells[at - 1]["source"]) != END:
        at += 1
    sources = ["".join(cell["source"]) for cell in draft["cells"]]
    cells[at:at] = draft["cells"][sources.index(f"{BEGIN}\nname: {name}") : sources.index(END) + 1]
    texts[path] = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    for path, text in texts.items():
        write_atomically(path, text)
    return list(texts)


def new_homework(folder: Path, name: str, title: str = "") -> Path:
    """Write a homework with the module `name` to a new folder, and return the folder.

    The title of the homework, which students read, is that of the module if there is none.
    Before writing, raises ArgumentsError for a folder that is not empty and for an invalid name.
    """
    _check_name(name)
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise ArgumentsError(f"{folder} exists and is not an empty folder; give a new one")
    folders = {"home": folder, "solutions": folder / "solutions"}
    folders |= {top: folder / GRADING / FOLDERS[top] for top in FOLDERS}
    try:
        for path, text in _template(name, folders, {}, title).items():
            write_atomically(path, text)
        update_checks(Homework(folder))
    except OSError as error:
        raise of_system(error, folder) from error
    return folder


def update_checks(homework: Homework) -> None:
    """Make the files that run the public checks those of this kit, in a homework outside the package."""
    packaged = Homework().solutions
    checks = [path for path in packaged.glob("checks/**/*.py") if not path.name.startswith(("test_", "my_tests"))]
    for path in () if homework.is_packaged else (packaged / "conftest.py", packaged / "pytest.ini", *checks):
        copy, text = homework.solutions / path.relative_to(packaged), path.read_text(encoding="utf-8")
        if copy == homework.solutions / handout.CHECKS:
            text = handout.ordered_checks(text, homework.rubric)
        if not copy.is_file() or copy.read_text(encoding="utf-8") != text:
            write_atomically(copy, text)


def refuse_placeholders(homework: Homework) -> None:
    """Raise CommandError with every placeholder or sentence of the template that has not been replaced.

    The sentences are true while one module has the code of the template.
    """
    files = [TEMPLATE / "solutions" / f"{NAME}.py", *(homework.solutions / f"{m}.py" for m in homework.rubric.modules)]
    code, *codes = (path.read_text(encoding="utf-8").partition("# BEGIN SOLUTION")[2].strip() for path in files)
    refused = [*PLACEHOLDERS.values(), *([] if code in codes else SENTENCES)]
    files = [*sorted(homework.solutions.glob("*.py")), homework.solutions / homework.notebook, homework.rubric_file]
    if problems := [
        f"{path}:{row}: replace the text of the draft: {text!r}"
        for path in files
        for row, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for text in refused
        if text in line
    ]:
        raise CommandError("\n".join(problems))


def _check_name(name: str) -> None:
    """Raise ArgumentsError for an invalid module name."""
    if not name.isidentifier() or name != name.lower() or keyword.iskeyword(name) or name.startswith(("_", "test_")):
        raise ArgumentsError(f"{name!r} cannot be a module's name; use lower-case letters, digits and underscores")
    if name in RESERVED:
        raise ArgumentsError(f"{name!r} is the name of another module that students import; choose another name")


def _template(name: str, folders: Mapping[str, Path], sentences: Mapping[str, str], title: str = "") -> dict[Path, str]:
    """Return the files of the template in these folders, with another name and title, and with some sentences replaced."""
    module = name.replace("_", " ").capitalize()
    texts = {}
    for top, folder in sorted(folders.items()):
        for path in sorted((TEMPLATE / top).rglob("*.*")):
            if "__pycache__" not in path.parts:
                # In YAML and JSON, the title is in double quotes.
                whole = (
                    title or module if path.suffix == ".md" else json.dumps(title or module, ensure_ascii=False)[1:-1]
                )
                text = path.read_text(encoding="utf-8")
                for before, after in {**sentences, NAME: name, TITLE: module, HOMEWORK_TITLE: whole}.items():
                    text = text.replace(before, after)
                texts[folder / path.relative_to(TEMPLATE / top).as_posix().replace(NAME, name)] = text
    return texts


def _with_draft(text: str, last: str, is_after: bool, draft: str, name: str) -> str:
    """Insert a module of the rubric `draft` before or after the last one of another, and add its points to the total."""
    root: Any = yaml.compose(text)
    lines = [f"{line}\n" for line in text.splitlines()]
    total = next(value for key, value in root.value if key.value == "points")
    points = number(float(total.value) + yaml.safe_load(draft)["points"])
    start, end = total.start_mark, total.end_mark
    lines[start.line] = f"{lines[start.line][: start.column]}{points}{lines[start.line][end.column :]}"
    entry = draft.splitlines(keepends=True)[rubrics.line_of(yaml.compose(draft), f"modules.{name}") - 1 :]
    at = rubrics.line_of(root, f"modules.{last}") - 1
    if is_after:
        at = next(value for key, value in root.value if key.value == "modules").end_mark.line
        while not lines[at - 1].partition("#")[0].strip():  # the next key may have comments before it
            at -= 1
    return "".join([*lines[:at], *entry, *lines[at:]])
