"""Turns the solutions into the student folder: functions become stubs, and tables are filled in from rubric.yaml.

A file that would reveal any part of a solution is rejected.
"""

import ast
import json
import re
import shutil
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from autograder.exceptions import CommandError
from autograder.homework.homework import PACKAGE, Homework
from autograder.homework.rubric import INTEGRATION, TESTS_FILE, Rubric
from autograder.release import home_table
from autograder.submissions.text import number

PAGES = ("README.md", "GRADING.md")  # the second may be part of the first
MARKER = "<!-- grading table -->"
MODULES = "<!-- modules -->"
CHECKS = "checks/conftest.py"
AGENTS = "AGENTS.md"
VALUES = "checks/student_values"  # a copy of autograder/shared, to which the solutions only refer
CHECK = 'grader.check("'  # begins the cell that Otter writes for a question
EXPORT = """import glob
import zipfile

given = {GIVEN}
files = sorted({*glob.glob("*.py"), *glob.glob("*.ipynb"), *glob.glob("guesses.json")} - given)
with zipfile.ZipFile("NAME", "w", zipfile.ZIP_DEFLATED) as archive:
    for file in files:
        archive.write(file)
print("NAME has:", *files, sep="\\n    ")"""
WHEN = {
    "visible": "immediately",
    "after_due_date": "after the due date",
    "after_published": "when grades are released",
    "hidden": "never",
}


def write(folder: Path, homework: Homework, notebook: str) -> None:
    """Complete the student folder: stubs, README, AGENTS.md, the order of the checks, and the export cell of the notebook."""
    solutions, rubric = homework.solutions, homework.rubric
    for module, entry in rubric.modules.items():
        path = solutions / f"{module}.py"
        if not path.is_file():
            raise CommandError(f"rubric.yaml has the module {module}, but there is no {path}")
        _rewrite(path, folder / path.name, stub, tuple(entry.functions), str(path))
    pages = [path for name in PAGES if (path := solutions / name).is_file()]
    if unknown := [problem for path in pages for problem in _unknown_names(path, rubric)]:
        raise CommandError("; ".join(unknown))
    texts = readme("\f".join(path.read_text(encoding="utf-8") for path in pages), rubric).split("\f")
    for path, text in zip(pages, texts, strict=True):
        (folder / path.name).write_text(text, encoding="utf-8", newline="\n")
    _rewrite(solutions / CHECKS, folder / CHECKS, ordered_checks, rubric)
    shutil.copy(solutions / "conftest.py", folder)
    if rubric.agents_file:
        shutil.copy(solutions / AGENTS, folder)
    if rubric.tests:
        shutil.copy(solutions / TESTS_FILE, folder)
    else:
        (folder / "checks" / "my_tests.py").unlink(missing_ok=True)
    shutil.copytree(PACKAGE / "shared", folder / VALUES, dirs_exist_ok=True)
    provided = sorted({path.name for path in folder.glob("*.py")} - {*rubric.files, TESTS_FILE})
    export = EXPORT.replace("NAME", f"{Path(notebook).stem}.zip").replace("GIVEN", json.dumps(provided)[1:-1])
    _rewrite(folder / notebook, folder / notebook, without_otter, export)
    # Remove files of the instructor's runs from the folders that Otter copied.
    for path in [*folder.rglob("__pycache__"), *folder.rglob(".*")]:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    if forgotten := list(_missing(folder, homework, notebook)):
        raise CommandError("; ".join(forgotten))
    (folder / home_table.MISTAKES).write_text(home_table.text(homework), encoding="utf-8", newline="\n")


def _rewrite(source: Path, target: Path, change: Callable[..., str], *arguments: Any) -> None:
    target.parent.mkdir(exist_ok=True)
    target.write_text(change(source.read_text(encoding="utf-8"), *arguments), encoding="utf-8", newline="\n")


def _missing(folder: Path, homework: Homework, notebook: str) -> Iterator[str]:
    """Yield a sentence for each missing part of a module: its public checks, its question in the notebook, or its EXAMPLES."""
    text = (folder / notebook).read_text(encoding="utf-8")
    solutions, rubric = homework.solutions, homework.rubric
    for module, entry in rubric.modules.items():
        checks = solutions / "checks" / f"test_{module}.py"
        if not checks.is_file():
            yield f"there are no public checks of {module}: {checks}"
        if f'check(\\"{module}\\")' not in text:
            yield f"{solutions / notebook} has no question named {module}"
        bare = [function for function in entry.functions if not homework.library[module][function].examples]
        if bare and rubric.explains(module):
            where, example = homework.misconceptions / module, "[((np.array([1.0, 2.0]),), {})]"
            advice = f'add {bare[0]}.py there, with public inputs: EXAMPLES = {{"{bare[0]}": {example}}}'
            yield f"{where} has no EXAMPLES for {', '.join(bare)}; {advice}"


def stub(source: str, functions: Collection[str], path: str = "the solution") -> str:
    """Replace each function body of a solution with one line that raises NotImplementedError.

    Raises CommandError for a missing function, and for any code outside the marks that is not an import.
    """
    marks = re.findall(r"^\s*# (BEGIN|END) SOLUTION", source, re.MULTILINE)
    if marks != ["BEGIN", "END"] * (len(marks) // 2):
        raise CommandError(f"{path}: # BEGIN SOLUTION and # END SOLUTION must come in pairs")
    text = re.sub(r"^( *)# BEGIN SOLUTION$.*?^ *# END SOLUTION$", r"\1...", source, flags=re.MULTILINE | re.DOTALL)
    lines, stubs = text.split("\n"), set()
    for node in ast.parse(text).body:
        is_text = (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        )
        # `...` replaces a whole body, if at most a docstring precedes it.
        before = 1 if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None else 0
        if isinstance(node, ast.FunctionDef) and [ast.unparse(statement) for statement in node.body[before:]] == [
            "..."
        ]:
            prompt = node.body[-1]
            raising = f'raise NotImplementedError("{node.name} is not written yet")'
            lines[prompt.lineno - 1] = " " * prompt.col_offset + raising
            stubs.add(node.name)
        elif not isinstance(node, ast.Import | ast.ImportFrom) and not is_text:
            what = node.name if isinstance(node, ast.FunctionDef | ast.ClassDef) else lines[node.lineno - 1].strip()
            raise CommandError(
                f"{path}: students would get all of {what!r}. Put # BEGIN SOLUTION and # END SOLUTION around code that is "
                "not for students; move code for students to a separate file, listed under `files` in the notebook"
            )
    if missing := [function for function in functions if function not in stubs]:
        raise CommandError(f"{path}: there is no function {missing[0]}, which rubric.yaml has")
    return "\n".join(lines)


def readme(text: str, rubric: Rubric) -> str:
    """Return the students' pages: tables replace two marked lines, and values of the rubric replace names in braces.

    Lines "- `module.py`: ..." and text between <!-- needs module --> and <!-- end --> are dropped if the rubric lacks
    that module or the group `tests`. Raises CommandError unless each marker occurs exactly once.
    """
    text = re.sub(
        r"^<!-- needs (\w+) -->\n(.*?)^<!-- end -->\n",
        lambda block: block[2] if block[1] in rubric.groups else "",
        text,
        flags=re.MULTILINE | re.DOTALL,
    )
    text = re.sub(r"^- `(\w+)\.py`: .*\n", lambda line: line[0] if line[1] in rubric.modules else "", text, flags=re.M)
    modules = ["| file | topic | functions to write |", "|---|---|---|"]
    for module, entry in rubric.modules.items():
        functions = ", ".join(f"`{function}`" for function in entry.functions)
        modules.append(f"| `{module}.py` | {entry.title} | {functions} |")
    criteria = ["| criterion | points | what it tests | result shown |", "|---|---:|---|---|"]
    for group in rubric.groups:
        title = "Everything together" if group == INTEGRATION else rubric.titles[group]
        most = number(sum(criterion.most for criterion in rubric.of(group)))
        criteria.append(f"| **{group}** | **{most}** | **{title}** | |")
        for criterion in rubric.of(group):
            about = criterion.about.replace("|", "\\|")
            criteria.append(f"| {criterion.id} | {number(criterion.most)} | {about} | {WHEN[criterion.visibility]} |")
    criteria.append(f"| **all** | **{number(rubric.most)}** | | |")
    for marker, table in ((MODULES, modules), (MARKER, criteria)):
        if text.split("\n").count(marker) != 1:
            raise CommandError(
                f"{' and '.join(PAGES)}: the line {marker} must occur exactly once: its table is inserted there"
            )
        text = text.replace(marker, "\n".join(table))
    for name, value in _values(rubric).items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _unknown_names(path: Path, rubric: Rubric) -> Iterator[str]:
    """Yield a sentence for each name in braces on a page that has no value."""
    values = _values(rubric)
    for row, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for name in re.findall(r"(?<![\w\\^}${])\{([^\W\d][\w-]+)\}", line):  # not in x_{max}, \frac{ab}{cd} or ${HOME}
            if name not in values:
                yield f"{path}:{row}: {{{name}}} is unknown; known: {', '.join(f'{{{value}}}' for value in values)}"


def _values(rubric: Rubric) -> dict[str, str]:
    """Return the texts that replace names in braces on the students' pages."""
    module, entry = next(iter(rubric.modules.items()))
    numbers = {name: getattr(rubric.limits, name) for name in ("call_seconds", "submission_seconds", "memory_mb")}
    numbers["points"] = rubric.most
    numbers["visible"] = sum(criterion.most for criterion in rubric.criteria.values() if criterion.visible)
    words = {"module": module, "function": next(iter(entry.functions))}
    return words | {name: str(number(value)) for name, value in numbers.items()}


def ordered_checks(text: str, rubric: Rubric) -> str:
    """Return the public checks' conftest.py with the rubric's modules, in order, in its list MODULES."""
    body = ast.parse(text).body
    assignments = [node for node in body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "MODULES"]
    if len(assignments) != 1:
        raise CommandError(f"solutions/{CHECKS}: it must have exactly one list MODULES = [...]")
    lines = text.splitlines(keepends=True)
    names = [f'    "{module}",\n' for module in rubric.modules]
    lines[assignments[0].lineno - 1 : assignments[0].end_lineno] = ["MODULES = [\n", *names, "]\n"]
    return "".join(lines)


def without_otter(text: str, export: str) -> str:
    """Return the students' notebook without Otter: its cells run the public checks, and its last cell is `export`.

    That cell zips the notebook, the predictions, and every .py file next to it, including files that students add. It
    works without running all cells, since figures wait for predictions. Cells with the tag "instructor" are left out.
    Raises CommandError if Otter adds other cells.
    """
    notebook = json.loads(text)
    notebook["metadata"].pop("otter", None)  # the tests of its questions
    notebook["cells"] = [cell for cell in notebook["cells"] if "instructor" not in cell["metadata"].get("tags", [])]
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if source.startswith(CHECK):
            question = source.removeprefix(CHECK).removesuffix('")')
            argument = "" if question == INTEGRATION else f'"{question}"'
            hint = "check(" + (argument or '""') + ', "--hint")'
            cell["source"] = [
                "from checks.cells import check\n",
                "\n",
                f"check({argument})\n",
                f"# For a hint, run: {hint}",
            ]
            cell["metadata"] = {}  # students may edit it
        elif "otter.Notebook(" in source or "grader.export(" in source:
            raise CommandError("the notebook's first cell must have `init_cell: false` and `export_cell: false`")
    fixed = {"deletable": False, "editable": False}
    lines = export.splitlines(keepends=True)
    notebook["cells"].append(
        {"cell_type": "code", "execution_count": None, "metadata": fixed, "outputs": [], "source": lines}
    )
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True, separators=(",", ": ")) + "\n"
