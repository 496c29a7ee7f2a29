"""Uploads that aim at what Otter does before it asks the kit. Each function adds one to a folder; its docstring says what it tries.

`victim` is a file of the machine that nothing may change, `place` a name that does not exist and where student code may read.
"""

from collections.abc import Callable
from pathlib import Path

from autograder.homework import rubric as rubrics

Attack = Callable[[Path, Path, Path], None]
OTTER: dict[str, Attack] = {}

# A module that takes its functions out of whatever carries the solutions.
THIEF = """\
import io, os, zipfile
for top, _, names in os.walk({place!r}) if os.path.isdir({place!r}) else [("", [], [{place!r}])]:
    for name in names:
        archive = zipfile.ZipFile(os.path.join(top, name))
        exec(archive.read("autograder/kit/solutions/" + os.path.basename(__file__)))
"""


def attack(make: Attack) -> Attack:
    OTTER[make.__name__] = make
    return make


def _thieves(folder: Path, place: Path) -> None:
    for module in rubrics.current().modules:
        (folder / f"{module}.py").write_text(THIEF.format(place=str(place)))


@attack
def wheel_through_a_link(folder: Path, victim: Path, place: Path) -> None:
    """Links called like the kit's wheel, whose name is public, carry it to where the modules can read it."""
    _thieves(folder, place)
    (folder / "transformer_homework-1.0.0-py3-none-any.whl").symlink_to(place)


@attack
def wheel_through_a_folder(folder: Path, victim: Path, place: Path) -> None:
    """The same with a link called like the folder that the wheel lies in."""
    _thieves(folder, place)
    place.mkdir()
    (folder / "kit-wheel").symlink_to(place)


@attack
def overwritten_through_a_link(folder: Path, victim: Path, place: Path) -> None:
    """A link called like the notebook that Otter puts in place: what it leads to is overwritten."""
    (folder / "transformer.ipynb").symlink_to(victim)


@attack
def made_through_a_link(folder: Path, victim: Path, place: Path) -> None:
    """A link called like the empty file that Otter makes: a file appears where it leads."""
    (folder / "__init__.py").symlink_to(place)


@attack
def emptied_through_a_link(folder: Path, victim: Path, place: Path) -> None:
    """A link called like the folder that Otter empties."""
    (folder / "tests").symlink_to(victim.parent)


@attack
def folder_called_as_a_file(folder: Path, victim: Path, place: Path) -> None:
    """Folders and a pipe's name where Otter writes files: it would end without a result."""
    for name in ("__init__.py", "transformer.ipynb"):
        (folder / name).mkdir()
    (folder / "tests").write_text("")
