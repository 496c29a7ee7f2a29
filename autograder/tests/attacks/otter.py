"""Uploads that aim at what Otter does before it asks the kit. Each function adds one to a folder; its docstring says what it tries.

`victim` is a file of the machine that nothing may change, `place` a name that does not exist and where student code may read.
"""

from collections.abc import Callable
from pathlib import Path

Attack = Callable[[Path, Path, Path], None]
OTTER: dict[str, Attack] = {}

# A layernorm.py that takes its functions out of whatever carries the solutions, where it lay or where NumPy is seen from here.
THIEF = """\
import glob, os, zipfile
import numpy
places = (os.path.join(numpy.__path__[0], os.path.basename({place!r})), {place!r})
found = [name for place in places for name in (place, *glob.glob(place + "/*")) if os.path.isfile(name)]
with zipfile.ZipFile(found[0]) as archive:
    exec(archive.read("autograder/kit/solutions/layernorm.py"))
"""


def attack(make: Attack) -> Attack:
    OTTER[make.__name__] = make
    return make


@attack
def wheel_through_a_link(folder: Path, victim: Path, place: Path) -> None:
    """Links called like the kit's wheel, whose name is public, carry it to where layernorm.py can read it."""
    (folder / "layernorm.py").write_text(THIEF.format(place=str(place)))
    (folder / "transformer_homework-1.0.0-py3-none-any.whl").symlink_to(place)


@attack
def wheel_through_a_folder(folder: Path, victim: Path, place: Path) -> None:
    """The same with a link called like the folder that the wheel lies in."""
    (folder / "layernorm.py").write_text(THIEF.format(place=str(place)))
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
