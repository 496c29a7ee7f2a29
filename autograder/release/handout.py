"""Turns the solutions into the student folder: functions become stubs, and tables are filled in from rubric.yaml.

A file that would reveal any part of a solution is rejected.
"""

import ast
import importlib
import inspect
import json
import math
import re
import shutil
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from autograder.exceptions import CommandError
from autograder.feedback.observations import others
from autograder.grading.call_results import Target, TestCall
from autograder.homework import kit, library, reference
from autograder.homework.rubric import INTEGRATION, TESTS_FILE, Rubric
from autograder.sandbox.protocol import Call
from autograder.submissions.text import number
from autograder.values.tree import copied, mapped

MARKER = "<!-- grading table -->"
MODULES = "<!-- modules -->"
CHECKS = "checks/conftest.py"
AGENTS = "AGENTS.md"
VALUES = "checks/student_values"  # a copy of autograder/values, to which the solutions only refer
EXPORT = """import glob
import zipfile

given = {GIVEN}
files = sorted({*glob.glob("*.py"), *glob.glob("*.ipynb"), *glob.glob("guesses.json")} - given)
with zipfile.ZipFile("NAME", "w", zipfile.ZIP_DEFLATED) as archive:
    for file in files:
        archive.write(file)
print("NAME has", ", ".join(files))"""
WHEN = {
    "visible": "immediately",
    "after_due_date": "after the due date",
    "after_published": "when grades are released",
    "hidden": "never",
}


def write(folder: Path, solutions: Path, rubric: Rubric, notebook: str) -> None:
    """Complete the student folder: stubs, README, AGENTS.md, the order of the checks, and the export cell of the notebook."""
    for module, entry in rubric.modules.items():
        path = solutions / f"{module}.py"
        if not path.is_file():
            raise CommandError(f"rubric.yaml has the module {module}, but there is no {path}")
        _rewrite(path, folder / path.name, stub, tuple(entry.functions), str(path))
    _rewrite(solutions / "README.md", folder / "README.md", readme, rubric)
    _rewrite(solutions / CHECKS, folder / CHECKS, ordered_checks, rubric)
    shutil.copy(solutions / "conftest.py", folder)
    if rubric.agents_file:
        shutil.copy(solutions / AGENTS, folder)
    if rubric.tests:
        shutil.copy(solutions / TESTS_FILE, folder)
    else:
        (folder / "checks" / "my_tests.py").unlink(missing_ok=True)
    shutil.copytree(kit.PACKAGE / "values", folder / VALUES, dirs_exist_ok=True)
    given = sorted({path.name for path in folder.glob("*.py")} - {*rubric.files, TESTS_FILE})
    export = EXPORT.replace("NAME", f"{Path(notebook).stem}.zip").replace("GIVEN", json.dumps(given)[1:-1])
    _rewrite(folder / notebook, folder / notebook, without_otter, export)
    # Remove files of the instructor's runs from the folders that Otter copied.
    for path in [*folder.rglob("__pycache__"), *folder.rglob(".*")]:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    (folder / MISTAKES).write_text(mistakes_table(solutions, rubric), encoding="utf-8", newline="\n")
    if forgotten := list(_missing(folder, solutions, rubric, notebook)):
        raise CommandError("; ".join(forgotten))


def _rewrite(source: Path, target: Path, change: Callable[..., str], *arguments: Any) -> None:
    target.parent.mkdir(exist_ok=True)
    target.write_text(change(source.read_text(encoding="utf-8"), *arguments), encoding="utf-8", newline="\n")


def _missing(folder: Path, solutions: Path, rubric: Rubric, notebook: str) -> Iterator[str]:
    """A sentence for each missing part of a module: its public checks, its question in the notebook, or its EXAMPLES."""
    text = (folder / notebook).read_text(encoding="utf-8")
    for module, entry in rubric.modules.items():
        checks = solutions / "checks" / f"test_{module}.py"
        if not checks.is_file():
            yield f"there are no public checks of {module}: {checks}"
        if f"-m pytest checks/{checks.name}" not in text:
            yield f"{solutions / notebook} has no question named {module}"
        bare = [function for function in entry.functions if not library.examples(module, function)]
        if bare and rubric.explains(module):
            where, example = kit.misconceptions() / module, "[((np.array([1.0, 2.0]),), {})]"
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
        if isinstance(node, ast.FunctionDef) and [ast.unparse(part) for part in node.body[before:]] == ["..."]:
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
    """The students' README: tables replace two marked lines, and values of the rubric replace names in braces.

    Lines "- `module.py`: ..." and text between <!-- needs module --> and <!-- end --> are dropped if the rubric lacks
    that module or the group `tests`. Raises CommandError unless each marker occurs exactly once.
    """
    text = re.sub(
        r"^<!-- needs (\w+) -->\n(.*?)^<!-- end -->\n",
        lambda part: part[2] if part[1] in rubric.groups else "",
        text,
        flags=re.MULTILINE | re.DOTALL,
    )
    text = re.sub(r"^- `(\w+)\.py`: .*\n", lambda line: line[0] if line[1] in rubric.modules else "", text, flags=re.M)
    for marker, table in ((MODULES, modules_table(rubric)), (MARKER, grading_table(rubric))):
        if text.split("\n").count(marker) != 1:
            raise CommandError(
                f"solutions/README.md: the line {marker} must occur exactly once: its table is inserted there"
            )
        text = text.replace(marker, table)
    module, entry = next(iter(rubric.modules.items()))
    numbers = {name: getattr(rubric.limits, name) for name in ("call_seconds", "submission_seconds", "memory_mb")}
    numbers["points"] = rubric.most
    numbers["visible"] = sum(criterion.most for criterion in rubric.criteria.values() if criterion.visible)
    words = {"module": module, "function": next(iter(entry.functions))}
    for name, value in (words | {name: str(number(value)) for name, value in numbers.items()}).items():
        text = text.replace(f"{{{name}}}", value)
    return text


def modules_table(rubric: Rubric) -> str:
    """The files that a student writes, with their functions, in Markdown."""
    rows = ["| file | topic | functions to write |", "|---|---|---|"]
    for module, entry in rubric.modules.items():
        functions = ", ".join(f"`{function}`" for function in entry.functions)
        rows.append(f"| `{module}.py` | {entry.title} | {functions} |")
    return "\n".join(rows)


def ordered_checks(text: str, rubric: Rubric) -> str:
    """The public checks' conftest.py with the rubric's modules, in order."""
    names = "".join(f'    "{module}",\n' for module in rubric.modules)
    changed, count = re.subn(r"^MODULES = \[.*?^\]$", f"MODULES = [\n{names}]", text, flags=re.MULTILINE | re.DOTALL)
    if count != 1:
        raise CommandError(
            f"solutions/{CHECKS}: it must have exactly one list MODULES = [...], with one entry per line"
        )
    return changed


def without_otter(text: str, export: str) -> str:
    """The students' notebook without Otter: its checks start pytest, and its last cell is `export`.

    That cell zips the notebook, the predictions, and every .py file next to it, including files that students add. It
    works without running all cells, since figures wait for predictions. Raises CommandError.
    """
    notebook = json.loads(text)
    notebook["metadata"].pop("otter", None)  # the tests of its questions
    exports, cells = 0, []
    for cell in notebook["cells"]:
        cell["metadata"].pop("needs", None)  # for `autograder build --only`
        source = "".join(cell["source"])
        if "# Initialize Otter" in source:
            continue
        if question := re.fullmatch(r'grader\.check\("(\w+)"\)', source):
            checks = "checks" if question[1] == INTEGRATION else f"checks/test_{question[1]}.py"
            source = f'import sys\n\n!"{{sys.executable}}" -m pytest {checks}'
        elif source.startswith("## Submission"):
            source = re.sub(r"Make sure you have run .*?The cell below will generate", "The cell below makes", source)
            source = source.replace(" file for you to submit.", " that you upload.")
        elif "grader.export(" in source:
            source, exports = export, exports + 1
        cell["source"] = source.splitlines(keepends=True)
        cells.append(cell)
    notebook["cells"] = cells
    if exports != 1:
        raise CommandError("the notebook must have an export cell; restore export_cell in its first cell")
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True, separators=(",", ": ")) + "\n"


def grading_table(rubric: Rubric) -> str:
    """All criteria with their points, in Markdown."""
    rows = ["| criterion | points | what it tests | result shown |", "|---|---:|---|---|"]
    for group in rubric.groups:
        criteria = rubric.of(group)
        title = "Everything together" if group == INTEGRATION else rubric.titles[group]
        rows.append(f"| **{group}** | **{number(sum(c.most for c in criteria))}** | **{title}** | |")
        for criterion in criteria:
            about = criterion.about.replace("|", "\\|")
            rows.append(f"| {criterion.id} | {number(criterion.most)} | {about} | {WHEN[criterion.visibility]} |")
    rows.append(f"| **all** | **{number(rubric.most)}** | | |")
    return "\n".join(rows)


# checks/mistakes.json of the student folder: the wrong results of misconceptions for the inputs of the public checks, their
# sentences, and fingerprints of correct results for other arguments.
#
# The public checks show the correct results for these inputs, so the wrong ones reveal nothing. The table contains no code.
# solutions/checks/known_mistakes.py reads it and describes its format. Only the kit's own code runs here.

MISTAKES = "checks/mistakes.json"
# Digits of a result in the table: few enough to remove rounding errors; costs a tenth of the checks' tolerance.
DIGITS = 7
SINGLE = 1e-5  # more than the rounding error of any public check in single precision
NOT_SENT = Call("", "")


def mistakes_table(solutions: Path, rubric: Rubric) -> str:
    """The whole table. The same tree gives the same bytes."""
    with importable_checks(solutions):
        table = {module: table_of(module, rubric) for module in rubric.modules if rubric.explains(module)}
    return json.dumps(table, separators=(",", ":")) + "\n"


def importable_checks(solutions: Path) -> AbstractContextManager[None]:
    """Make the public checks importable. The hidden suites have the same module names and are set aside."""
    folder = solutions / "checks"
    return reference.importable(folder, {path.stem for path in folder.iterdir()} - {"conftest"})


def table_of(module: str, rubric: Rubric) -> dict[str, Any]:
    """The table of one module; the public checks must be importable."""
    calls = importlib.import_module("student_calls").calls_in(module)
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        return {
            function: _of_function(module, function, [c for c in calls if c.function == function and c.told])
            for function in rubric.modules[module].functions
        }


IGNORES, ANY = "Your code ignores the argument ", " and uses a fixed number."


def _of_function(module: str, function: str, calls: list[Any]) -> dict[str, Any]:
    right = reference.functions()[function]
    expected = [(call, call.due(right)) for call in {call.key: call for call in calls}.values()]
    results: list[list[Any]] = [[] for _ in expected]
    rows: list[list[Any]] = []
    for misconception in library.of_function(module, function):
        default = _wrong_default(right, misconception.fresh())
        words = [misconception.does, misconception.read, misconception.right]
        found = [(words, _wrong_results(expected, misconception.fresh), default)]
        if default:
            found.append((*_ignored(function, right, expected, misconception.fresh, default), {}))
        for words, wrong, needed in found:
            row = [*words, {str(place): _place(result, results[place]) for place, result in wrong.items()}, needed]
            if wrong and row not in rows:  # two variants of a mistake may give the same results
                rows.append(row)
    exact = [row[3] for row in rows if row[0].startswith(IGNORES) and not row[0].endswith(ANY)]
    sentences: list[Any] = []
    others = {str(place): prints for place, (call, _) in enumerate(expected) if (prints := _others(call, sentences))}
    return {
        "parameters": ", ".join(inspect.signature(right).parameters),
        "calls": [call.key for call, _ in expected],
        "results": results,
        "mistakes": [row for row in rows if not row[0].endswith(ANY) or row[3] not in exact],
        "sentences": sentences,
        "others": others,
    }


def _wrong_results(expected: list[tuple[Any, Any]], fresh: Callable[[], Callable[..., Any]]) -> dict[int, Any]:
    """The wrong results of a function for these calls, by the number of the call."""
    home, tolerance = importlib.import_module("known_mistakes"), importlib.import_module("student_calls").TOLERANCE
    single, double = fresh(), fresh()  # two, since a function may keep state between calls
    wrong = {}
    for place, (call, entry) in enumerate(expected):
        # The last digits of single precision depend on the machine (BLAS kernels), so they come from double precision.
        result = _steady(call.entry_of(single), _in_double(call).entry_of(double))
        if not home.same(result, entry, tolerance):
            no_error = "raised" in entry and "raised" not in result
            wrong[place] = home.NO_ERROR if no_error else mapped(_short, result)
    return wrong


def _wrong_default(right: Callable[..., Any], wrong: Callable[..., Any]) -> dict[str, Any]:
    """The parameter whose default value differs, as {"eps": 1e-6}; {} unless it is exactly one."""
    mine, other = ({p.name: p.default for p in inspect.signature(f).parameters.values()} for f in (right, wrong))
    changed = {name: other[name] for name in mine if name in other and other[name] != mine[name]}
    simple = len(changed) == 1 and all(isinstance(value, bool | int | float | str) for value in changed.values())
    return changed if simple else {}


def _ignored(
    function: str,
    right: Callable[..., Any],
    expected: list[tuple[Any, Any]],
    fresh: Callable[[], Callable[..., Any]],
    default: dict[str, Any],
) -> tuple[list[str], dict[int, Any]]:
    """Sentences and results of code that ignores an argument and uses a wrong default value.

    There are no results unless a public call that passes the argument detects this.
    """
    signature, ((name, value),) = inspect.signature(right), default.items()
    forced, passed = [], set()
    for place, (call, entry) in enumerate(expected):
        bound = signature.bind(*call.args, **call.kwargs)
        passed |= {place} if name in bound.arguments else set()
        bound.arguments.update(default)
        forced.append((replace(call, args=bound.args, kwargs=bound.kwargs), entry))
    wrong = _wrong_results(forced, fresh)
    used, due = (
        re.sub(r"e-0", "e-", f"{one:g}") if isinstance(one, float) else repr(one)
        for one in (value, signature.parameters[name].default)
    )
    sentences = [
        f"{IGNORES}{name} and uses {used}.",
        f"the docstring of `{function}`",
        f"Use the argument {name}, whose default is {due}.",
    ]
    return sentences, wrong if passed & wrong.keys() else {}


def _others(call: Any, sentences: list[Any]) -> list[list[Any]]:
    """Fingerprints of the correct result and of the results for other arguments, each with the number of its sentence."""
    home, tolerance = importlib.import_module("known_mistakes"), importlib.import_module("student_calls").TOLERANCE
    try:
        call = _in_double(call)
        right = reference.functions()[call.function](*copied(call.args), **copied(call.kwargs))
    except ValueError:
        return []
    test_call = TestCall(0, Target(call.module, call.function), NOT_SENT, call.args, call.kwargs, right, tolerance)
    given = [[_place(sentence, sentences), home.fingerprints(value)] for sentence, value in others(test_call).items()]
    return mapped(_short, [[-1, home.fingerprints(right)], *given]) if given else []


def _in_double(call: Any) -> Any:
    def widened(leaf: Any) -> Any:
        return leaf.astype(float) if isinstance(leaf, np.ndarray) and leaf.dtype == np.float32 else leaf

    return replace(call, args=mapped(widened, call.args), kwargs=mapped(widened, call.kwargs))


def _steady(single: Any, double: Any) -> Any:
    """Replace numbers by their double-precision versions where both agree up to single-precision rounding."""
    if isinstance(single, dict) and isinstance(double, dict):
        return {key: _steady(part, double.get(key)) for key, part in single.items()}
    if isinstance(single, list | tuple) and isinstance(double, list | tuple) and len(single) == len(double):
        return [*map(_steady, single, double)]
    both = isinstance(single, float) and isinstance(double, float) and math.isfinite(double)
    return double if both and abs(single - double) <= SINGLE * (1 + abs(double)) else single


def _place(result: Any, results: list[Any]) -> int:
    """The index of a result, which is appended if missing."""
    if result not in results:
        results.append(result)
    return results.index(result)


def _short(leaf: Any) -> Any:
    """Round a number to few digits, in two steps: half a last digit could round up on one machine and down on another."""
    if not isinstance(leaf, float):
        return leaf
    return round(float(f"{float(f'{leaf:.12g}'):.{DIGITS}g}"), DIGITS) + 0.0  # no -0.0
