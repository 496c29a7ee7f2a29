"""A smaller homework: a temporary copy of the tree with some of the modules, which builds like the whole.

Of every other module, the rubric entry, solution, public checks, suite, misconceptions, alternatives and notebook section are
removed, and so is the integration. The rest must not need them: a module may only `use` modules that remain.

A section of the notebook begins at a heading `## `, or at the `# BEGIN QUESTION` right before it, and belongs to the modules of its
questions; a part of it begins at a heading `### `. `needs` in the metadata of a heading lists the other modules that the section or
part requires. Cells before the first section always remain. In the metadata of the first cell, `needs` lists for each
student file the modules that it requires.
"""

import contextlib
import json
import re
import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import yaml

from autograder.exceptions import ArgumentsError
from autograder.feedback.text import number
from autograder.homework import kit
from autograder.homework import rubric as rubrics
from autograder.homework.rubric import INTEGRATION, TESTS, Rubric
from autograder.release import packing
from autograder.release.prerequisites import temporary_folder, tree

Cell = dict[str, Any]  # of a notebook
BEGIN = "# BEGIN QUESTION"
NOT_COPIED = (".*", "__pycache__", "tests", "benchmarks", "docs")


def modules(only: Sequence[str], rubric: Rubric) -> tuple[str, ...]:
    """The selected modules in the rubric's order.

    Raises ArgumentsError for an unknown name, and for a module that uses one that is not selected.
    """
    all_modules = list(rubric.modules)
    for name in only:
        if name not in all_modules:
            raise ArgumentsError(f"rubric.yaml has no module {name!r}; choose among {', '.join(all_modules)}")
    needed = with_all_used(only, rubric)
    for name in only:
        missing = [used for used in rubric.modules[name].uses if used not in only]
        if missing:
            advice = ",".join(module for module in all_modules if module in needed)
            raise ArgumentsError(f"{name} uses {', '.join(missing)}; add the missing modules: --only {advice}")
    return tuple(name for name in all_modules if name in only)


def with_all_used(names: Iterable[str], rubric: Rubric) -> set[str]:
    """The modules and all their dependencies."""
    wanted = list(names)
    for name in wanted:
        wanted += [used for used in rubric.modules[name].uses if used not in wanted]
    return set(wanted)


@contextlib.contextmanager
def selected(only: Sequence[str]) -> Iterator[Path]:
    """A temporary copy of this kit's tree with only some modules.

    Raises ArgumentsError for modules that cannot stand alone, CommandError if the copy fails.
    """
    home, retained = tree(), modules(only, rubrics.current())
    with temporary_folder("autograder-selection-") as root:
        packing.copy_parts(home, root, packing.OUTSIDE if kit.outside() else packing.PARTS, NOT_COPIED)
        left_out = [group for group in rubrics.current().groups if group not in retained]
        _leave_out_files(root, left_out)
        # Of each correct alternative the modules that stay and helper files are kept; it goes where no module is left. The audit of
        # the smaller kit would otherwise try files that no criterion grades, and count them as right.
        everywhere = set(rubrics.current().modules)
        alternatives = root / _below(kit.alternatives())
        for alternative in alternatives.glob("*/"):
            there = {path.stem for path in alternative.glob("*.py")}
            for name in there & everywhere - set(retained):
                (alternative / f"{name}.py").unlink()
            if not there & set(retained):
                shutil.rmtree(alternative)
        rubric, notebook = root / _below(kit.rubric_file()), root / _below(kit.solutions()) / kit.notebook()
        document = smaller_rubric(rubric.read_text(encoding="utf-8"), retained)
        smaller = yaml.safe_dump(document, sort_keys=False, width=120)
        head = f"# Part of a larger homework: autograder build --only {','.join(retained)}\n"
        rubric.write_text(head + smaller, encoding="utf-8")
        whole = json.loads(notebook.read_text(encoding="utf-8"))
        given = _given(whole["cells"], left_out)
        for file in given:
            (notebook.parent / file).unlink(missing_ok=True)
        whole["cells"] = [_adapted(cell, retained, left_out, given) for cell in without(whole["cells"], left_out)]
        notebook.write_text(json.dumps(whole, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        yield root


def _below(path: Path) -> Path:
    """A path of the kit, relative to the folder of the kit."""
    return path.relative_to(kit.home())


def _leave_out_files(root: Path, left_out: Sequence[str]) -> None:
    solutions, suites, misconceptions = (
        _below(place) for place in (kit.solutions(), kit.suites(), kit.misconceptions())
    )
    for name in left_out:
        for path in (
            solutions / f"{name}.py",
            solutions / "checks" / f"test_{name}.py",
            suites / f"test_{name}.py",
        ):
            (root / path).unlink(missing_ok=True)
        shutil.rmtree(root / misconceptions / name, ignore_errors=True)


def _given(cells: list[Cell], left_out: Collection[str]) -> list[str]:
    """The student files that need a removed module, according to `needs` of the first cell."""
    needs: dict[str, list[str]] = cells[0]["metadata"].get("needs", {})
    return [file for file, modules in needs.items() if set(modules) & set(left_out)]


def smaller_rubric(text: str, retained: Sequence[str]) -> dict[str, Any]:
    """The rubric with some of its modules, without the integration and the tests; the points are the remaining ones."""
    document: dict[str, Any] = yaml.safe_load(text)
    document["modules"] = {name: entry for name, entry in document["modules"].items() if name in retained}
    for group in (INTEGRATION, TESTS):
        document.pop(group, None)
    document["points"] = number(sum(entry["points"] for entry in document["modules"].values()))
    return document


def without(cells: list[Cell], left_out: Collection[str]) -> list[Cell]:
    """The cells of a notebook without the sections and parts that need removed modules.

    Raises ArgumentsError for a section with questions of remaining and removed modules.
    """
    retained, *sections = _split(cells, "## ")
    for section in sections:
        questions = {_question(cell) for cell in section} - {""}
        goes = questions & set(left_out)
        if goes and goes != questions:
            title = next(source(cell).splitlines()[0] for cell in section if _is_heading(cell, "## "))
            names = ", ".join(sorted(questions))
            raise ArgumentsError(
                f"the notebook's section {title!r} has the questions {names}; give each its own heading ##"
            )
        if not goes and not _needs(section, "## ") & set(left_out):
            parts = (part for part in _split(section, "### ") if not _needs(part, "### ") & set(left_out))
            retained += chain.from_iterable(parts)
    return retained


def _split(cells: list[Cell], heading: str) -> list[list[Cell]]:
    """The cells in groups, each but the first from a heading, or the question before it, to the next."""
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
    """The name of the question that begins with this cell, "" if none does."""
    if cell["cell_type"] != "raw" or not source(cell).startswith(BEGIN):
        return ""
    return str((yaml.safe_load(source(cell).removeprefix(BEGIN)) or {}).get("name", ""))


def _is_heading(cell: Cell, heading: str) -> bool:
    return cell["cell_type"] == "markdown" and source(cell).startswith(heading)


def _adapted(cell: Cell, retained: Sequence[str], left_out: Sequence[str], given: Sequence[str]) -> Cell:
    """A remaining cell: without the list of files to submit, which comes from the rubric, and without names of removed files."""
    text = re.sub(r"^student_files:\n( +- .*\n)*", "", source(cell), flags=re.MULTILINE)
    for file in given:
        text = re.sub(rf"^ +- {re.escape(file)}\n", "", text, flags=re.MULTILINE)
    for name in left_out:
        text = text.replace(f"checks/test_{name}.py", f"checks/test_{retained[0]}.py")
    return cell | {"source": text}
