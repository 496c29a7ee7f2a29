"""A smaller homework: a temporary copy of the tree with some modules only, to be built like the whole.

Left out go the rubric's entry, solution, public checks, suite, catalogue and notebook section of every other module, and the
integration. What is left must not need them: a module may only `use` modules that stay.
"""

import contextlib
import json
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from autograder.feedback.results import number
from autograder.homework import kit
from autograder.homework import rubric as rubrics
from autograder.homework.rubric import INTEGRATION, Rubric
from autograder.release import build, packing, sections

NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "tests", "benchmarks", "docs", "alternatives")
PLACES = (
    "solutions/{}.py",
    "solutions/checks/test_{}.py",
    "autograder/homework/suites/test_{}.py",
    "autograder/homework/misconceptions/{}.py",
)


class SelectionError(build.BuildError):
    """These modules cannot be a homework of their own; one line says why and what to do."""


def modules(only: Sequence[str], rubric: Rubric) -> tuple[str, ...]:
    """The chosen modules in the rubric's order.

    Raises SelectionError for a name that the rubric does not have, and for a module that uses one that is not chosen.
    """
    known = list(rubric.modules)
    for name in only:
        if name not in known:
            raise SelectionError(f"rubric.yaml has no module {name!r}; choose among {', '.join(known)}")
    needed = _with_all_used(only, rubric)
    for name in only:
        missing = [used for used in rubric.modules[name].uses if used not in only]
        if missing:
            advice = ",".join(module for module in known if module in needed)
            raise SelectionError(f"{name} uses {', '.join(missing)}; add what is left out: --only {advice}")
    return tuple(name for name in known if name in only)


def _with_all_used(names: Iterable[str], rubric: Rubric) -> set[str]:
    """The modules, what they use, what that uses, and so on."""
    found = list(names)
    for name in found:
        found += [used for used in rubric.modules[name].uses if used not in found]
    return set(found)


@contextlib.contextmanager
def selected(only: Sequence[str]) -> Iterator[Path]:
    """A copy of this kit's tree that has only some modules; gone afterwards.

    Raises SelectionError, or BuildError if the copy cannot be made.
    """
    home = build.clone()
    kept = modules(only, rubrics.current())
    with build.temporary_folder("autograder-selection-") as root:
        try:
            _copy(home, root)
            _leave_out(root, kept, [group for group in rubrics.current().groups if group not in kept])
        except sections.MixedSectionError as error:
            raise SelectionError(f"{build.MASTER}: {error}") from error
        except OSError as error:
            raise build.BuildError(f"{error.filename or root}: {error.strerror or error}") from error
        yield root


def _copy(home: Path, root: Path) -> None:
    for part in packing.PARTS:
        if (home / part).is_dir():
            shutil.copytree(home / part, root / part, ignore=NOT_COPIED)
        else:
            shutil.copy(home / part, root / part)


def _leave_out(root: Path, kept: Sequence[str], left_out: Sequence[str]) -> None:
    for name in left_out:
        for place in PLACES:
            (root / place.format(name)).unlink(missing_ok=True)
    rubric = root / kit.rubric_file().name
    smaller = yaml.safe_dump(smaller_rubric(rubric.read_text(encoding="utf-8"), kept), sort_keys=False, width=120)
    rubric.write_text(
        f"# Part of a larger homework: autograder build --only {','.join(kept)}\n{smaller}", encoding="utf-8"
    )
    master = root / "solutions" / build.MASTER
    notebook = json.loads(master.read_text(encoding="utf-8"))
    notebook["cells"] = [_adapted(cell, kept, left_out) for cell in sections.without(notebook["cells"], left_out)]
    master.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def smaller_rubric(text: str, kept: Sequence[str]) -> dict[str, Any]:
    """The rubric with some of its modules, without the integration; the points are what is left."""
    document: dict[str, Any] = yaml.safe_load(text)
    document["modules"] = {name: entry for name, entry in document["modules"].items() if name in kept}
    document.pop(INTEGRATION, None)
    document["points"] = number(sum(entry["points"] for entry in document["modules"].values()))
    return document


def _adapted(cell: sections.Cell, kept: Sequence[str], left_out: Sequence[str]) -> sections.Cell:
    """A cell that stays: no list of files to hand in, which comes from the rubric, and commands for files that are there."""
    text = re.sub(r"^student_files:\n( +- .*\n)*", "", sections.source(cell), flags=re.MULTILINE)
    for name in left_out:
        text = text.replace(f"checks/test_{name}.py", f"checks/test_{kept[0]}.py")
    return cell | {"source": text}
