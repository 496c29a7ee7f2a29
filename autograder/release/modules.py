"""Adds, removes and selects the modules of a homework, and starts a new homework.

A section of the notebook begins at a heading `## `, or at the `# BEGIN QUESTION` right before it, and belongs to the
modules of its questions. A part of a section begins at a heading `### `. `needs` in the metadata of a heading lists
other modules that the section or part requires. Cells before the first section always remain. In the metadata of the
first cell, `needs` lists the modules that each student file requires.
"""

import contextlib
import json
import keyword
import re
import shutil
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

import yaml

from autograder.exceptions import ArgumentsError, CommandError, of_system
from autograder.files import write_atomically
from autograder.homework import kit
from autograder.homework import rubric as rubrics
from autograder.homework.rubric import INTEGRATION, TESTS
from autograder.release import drafts, handout, packing
from autograder.submissions import exports
from autograder.submissions.text import number

Cell = dict[str, Any]  # of a notebook
BEGIN = "# BEGIN QUESTION"
NOT_COPIED = (".*", "__pycache__", "tests", "benchmarks", "docs")
# Names that a file would shadow: packages, and the files and folders next to the students' files.
RESERVED = {"np", "numpy", "pytest", "matplotlib", "ipywidgets", "checks", "tour", "train", "autograder", "otter"}
RESERVED |= {"conftest", "integration", "readme", "test", "tests", "total", *exports.RESERVED, *sys.stdlib_module_names}


# New modules and homeworks


def add(name: str) -> list[Path]:
    """Write a draft module and insert it before the last module of the rubric; returns the changed files.

    Before any change, raises ArgumentsError for an invalid or existing name, and CommandError without a clone.
    """
    _check_name(name)
    packing.tree()  # raises CommandError if there is no tree to change
    current = rubrics.current()
    folders = {"solutions": kit.solutions(), "suites": kit.suites(), "misconceptions": kit.misconceptions()}
    values = _titled(name) | drafts.PLACEHOLDERS
    texts = _filled(drafts.MODULE, values, folders)
    taken = [path for path in texts if path.exists()]
    if taken or any(name in module.functions for module in current.modules.values()):
        raise ArgumentsError(f"{name!r} is taken{f': there is {taken[0]}' if taken else ', by a function'}")
    last = list(current.modules)[-1]
    text = kit.rubric_file().read_text(encoding="utf-8")
    lines = _with_points(text, current.points + drafts.POINTS).splitlines(keepends=True)
    lines.insert(rubrics.line_of(yaml.compose(text), f"modules.{last}") - 1, Template(drafts.ENTRY).substitute(values))
    texts[kit.rubric_file()] = "".join(lines)
    path = kit.solutions() / kit.notebook()
    notebook = _notebook(path)
    sections = _split(notebook["cells"], "## ")
    place = next(place for place, section in enumerate(sections) if last in map(_question, section))
    at = sum(map(len, sections[:place]))
    notebook["cells"][at:at] = _cells(drafts.CELLS, values)
    texts[path] = _as_text(notebook)
    for path, text in texts.items():
        write_atomically(path, text)
    return list(texts)


def new_homework(folder: Path, name: str) -> Path:
    """Write a homework with the module `name` to a new folder, and return the folder.

    Before writing, raises ArgumentsError for a folder that is not empty and for an invalid name.
    """
    _check_name(name)
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise ArgumentsError(f"{folder} exists and is not an empty folder; give a new one")
    values, solutions = _titled(name) | drafts.TEXTS, folder / "solutions"
    places = {part: folder / kit.GRADING / part for part in ("suites", "misconceptions", "alternatives")}
    texts = _filled(drafts.HOMEWORK | drafts.MODULE, values, places | {"home": folder, "solutions": solutions})
    texts[folder / "rubric.yaml"] += Template(drafts.ENTRY).substitute(values)
    cells = _cells((("raw", drafts.CONFIG), ("markdown", "# $title"), *drafts.CELLS), values)
    texts[solutions / drafts.NOTEBOOK] = _as_text(packing.notebook(cells))
    own = kit.packaged() / "solutions"  # the files that run the public checks
    checks = [path for path in own.glob("checks/**/*.py") if not path.name.startswith(("test_", "my_tests"))]
    try:
        for path, text in texts.items():
            write_atomically(path, text)
        for path in (own / "conftest.py", own / "pytest.ini", *checks):
            write_atomically(solutions / path.relative_to(own), path.read_text(encoding="utf-8"))
        text = (solutions / handout.CHECKS).read_text(encoding="utf-8")
        ordered = handout.ordered_checks(text, rubrics.load(folder / "rubric.yaml"))
        write_atomically(solutions / handout.CHECKS, ordered)
    except OSError as error:
        raise of_system(error, folder) from error
    return folder


def _check_name(name: str) -> None:
    """Raise ArgumentsError for an invalid module name."""
    if not name.isidentifier() or name != name.lower() or keyword.iskeyword(name) or name.startswith(("_", "test_")):
        raise ArgumentsError(f"{name!r} cannot be a module's name; use lower-case letters, digits and underscores")
    if name in RESERVED:
        raise ArgumentsError(f"{name!r} is the name of another module that students import; choose another name")


def _titled(name: str) -> dict[str, str]:
    return {"name": name, "title": name.replace("_", " ").capitalize()}


def _filled(files: Mapping[str, str], values: Mapping[str, str], folders: Mapping[str, Path]) -> dict[Path, str]:
    """Fill in the drafts; the first part of each path is the name of a folder."""
    texts = {}
    for place, text in files.items():
        folder, _, rest = Template(place).substitute(values).partition("/")
        texts[folders[folder] / rest] = Template(text).substitute(values)
    return texts


def _cells(templates: Iterable[tuple[str, str]], values: Mapping[str, str]) -> list[Cell]:
    """Notebook cells from pairs of a cell type and a template."""
    cells = []
    for kind, text in templates:
        lines = Template(text).substitute(values).splitlines(keepends=True)
        of_code: Cell = {"execution_count": None, "outputs": []} if kind == "code" else {}
        cells.append({"cell_type": kind, "metadata": {}, "source": lines, **of_code})
    return cells


def refuse_placeholders(home: Path) -> None:
    """Raise CommandError if a placeholder of a draft has not been replaced."""
    for path in [*sorted((home / "solutions").glob("*.py")), home / "solutions" / kit.notebook()]:
        for place, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for text in drafts.PLACEHOLDERS.values():
                if text in line:
                    raise CommandError(f"{path}:{place}: replace the text of the draft: {text!r}")


# Fewer modules


def remove(name: str) -> list[Path]:
    """Remove a module, the reverse of `add`; returns the changed and removed files.

    Before any change, raises ArgumentsError for an unknown module, or one that others use.
    """
    home, modules = packing.tree(), rubrics.current().modules
    if name not in modules:
        raise ArgumentsError(f"there is no module {name!r}; known modules: {', '.join(modules)}")
    using = [other for other, module in modules.items() if name in module.uses]
    if using or len(modules) == 1:
        raise ArgumentsError(f"{name} is used by {', '.join(using)}" if using else f"{name} is the only module")
    return _leave_out(home, [name])


@contextlib.contextmanager
def selected(only: Sequence[str]) -> Iterator[Path]:
    """A temporary copy of this kit's tree with only some modules, and without the integration and the students' tests.

    Raises ArgumentsError if a module uses others that are not selected, CommandError if the copy fails.
    """
    home, current = packing.tree(), rubrics.current()
    for name in only:
        if name not in current.modules:
            raise ArgumentsError(f"rubric.yaml has no module {name!r}; choose among {', '.join(current.modules)}")
    needed = set(only).union(*map(current.below, only))
    for name in only:
        if missing := [used for used in current.modules[name].uses if used not in only]:
            advice = ",".join(module for module in current.modules if module in needed)
            raise ArgumentsError(f"{name} uses {', '.join(missing)}; add the missing modules: --only {advice}")
    with packing.temporary_folder("autograder-selection-") as root:
        packing.copy_parts(home, root, packing.OUTSIDE if kit.outside() else packing.PARTS, NOT_COPIED)
        _leave_out(root, [group for group in current.groups if group not in only])
        yield root


def _leave_out(root: Path, names: Collection[str]) -> list[Path]:
    """Remove modules and other groups of criteria from `root`, the homework in use or a copy; returns the affected
    files.

    Before any change, raises ArgumentsError if a section of the notebook cannot be divided.
    """
    solutions, suites, misconceptions, alternatives, rules = (
        root / place.relative_to(kit.home())
        for place in (kit.solutions(), kit.suites(), kit.misconceptions(), kit.alternatives(), kit.rubric_file())
    )
    remaining = [module for module in rubrics.current().modules if module not in names]
    path = solutions / kit.notebook()
    notebook = _notebook(path)
    needs: dict[str, list[str]] = notebook["cells"][0]["metadata"].get("needs", {})
    given = [file for file, needed in needs.items() if set(needed) & set(names)]
    cells = without(notebook["cells"], names)
    notebook["cells"] = [_adapted(cell, [*given, *(f"{name}.py" for name in names)], remaining[0]) for cell in cells]
    texts = {rules: _without_entries(rules.read_text(encoding="utf-8"), names), path: _as_text(notebook)}
    removed = [solutions / file for file in given]
    for name in names:
        removed += [solutions / f"{name}.py", solutions / "checks" / f"test_{name}.py", misconceptions / name]
        removed += [suites / f"test_{name}.py", *alternatives.glob(f"*/{name}.py")]
    # The audit would count an alternative without a module as correct.
    for folder in alternatives.glob("[!_.]*/"):
        if not any((folder / f"{module}.py").is_file() for module in remaining):
            removed.append(folder)
    removed = [path for path in removed if path.exists()]
    for path, text in texts.items():
        write_atomically(path, text)
    for path in removed:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return [*texts, *removed]


# The rubric


def _with_points(text: str, points: float) -> str:
    return re.sub(r"^points: *[\d.]+", f"points: {number(points)}", text, count=1, flags=re.MULTILINE)


def _without_entries(text: str, names: Collection[str]) -> str:
    """Remove modules and groups, and their points, from the rubric; other comments remain."""
    root: Any = yaml.compose(text)
    current = rubrics.current()
    groups = {key.value: (key, value) for key, value in root.value if key.value in ("modules", INTEGRATION, TESTS)}
    _, modules = groups.pop("modules")
    entries = [(key, value) for key, value in (*modules.value, *groups.values()) if key.value in names]
    lines = text.splitlines(keepends=True)
    for key, value in sorted(entries, key=lambda entry: entry[0].start_mark.line, reverse=True):
        end = value.end_mark.line + value.flow_style
        while lines[end - 1].lstrip().startswith("#"):
            end -= 1
        del lines[key.start_mark.line : end]
    gone = sum(criterion.points for name in names for criterion in current.of(name))
    return _with_points("".join(lines), current.points - gone)


# The notebook


def _notebook(path: Path) -> Any:
    """The content of a notebook. Raises CommandError if it is not JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CommandError(f"{path}: not a notebook: {error}") from error


def _as_text(notebook: Any) -> str:
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def without(cells: list[Cell], left_out: Collection[str]) -> list[Cell]:
    """The cells of a notebook without the sections and parts that need removed modules.

    Raises ArgumentsError for a section with questions of remaining and removed modules.
    """
    retained, *sections = _split(cells, "## ")
    for section in sections:
        questions = {_question(cell) for cell in section} - {""}
        gone = questions & set(left_out)
        if gone and gone != questions:
            title = next(source(cell).splitlines()[0] for cell in section if _is_heading(cell, "## "))
            names = ", ".join(sorted(questions))
            raise ArgumentsError(
                f"the notebook's section {title!r} has the questions {names}; give each its own heading ##"
            )
        if not gone and not _needs(section, "## ") & set(left_out):
            for part in _split(section, "### "):
                retained += part if not _needs(part, "### ") & set(left_out) else []
    return retained


def _split(cells: list[Cell], heading: str) -> list[list[Cell]]:
    """Split cells before each heading, or before the question that precedes it."""
    groups: list[list[Cell]] = [[]]
    for cell in cells:
        if _is_heading(cell, heading):
            groups.append([groups[-1].pop()] if groups[-1] and _question(groups[-1][-1]) else [])
        groups[-1].append(cell)
    return groups


def _needs(cells: list[Cell], heading: str) -> set[str]:
    return {module for cell in cells if _is_heading(cell, heading) for module in cell["metadata"].get("needs", ())}


def source(cell: Cell) -> str:
    """The text of a cell."""
    return "".join(cell["source"])


def _question(cell: Cell) -> str:
    """The name of the question that begins with this cell, or ""."""
    if cell["cell_type"] != "raw" or not source(cell).startswith(BEGIN):
        return ""
    return str((yaml.safe_load(source(cell).removeprefix(BEGIN)) or {}).get("name", ""))


def _is_heading(cell: Cell, heading: str) -> bool:
    return cell["cell_type"] == "markdown" and source(cell).startswith(heading)


def _adapted(cell: Cell, gone: Iterable[str], module: str) -> Cell:
    """Remove the names of removed files from a cell; a command that runs their checks runs those of `module` instead."""
    text = source(cell)
    for file in gone:
        text = re.sub(rf"^ +- {re.escape(file)}\n", "", text, flags=re.MULTILINE)
        text = text.replace(f"checks/test_{file}", f"checks/test_{module}.py")
    return cell | {"source": text.splitlines(keepends=True)}
