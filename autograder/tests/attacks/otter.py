"""Uploads that attack what Otter does before it calls the kit. Each function adds one to a folder.

`victim` is a file of the machine that must not change. `place` does not exist, and student code may read it.
"""

from collections.abc import Callable
from pathlib import Path

from autograder import __version__

Attack = Callable[[Path, Path, Path], None]
OTTER: dict[str, Attack] = {}

# A layernorm.py that takes its functions from the kit's wheel, at `place` or under the same name in NumPy's folder.
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
    """A link named like the kit's wheel, a public name: the wheel would be copied to where layernorm.py can read it."""
    (folder / "layernorm.py").write_text(THIEF.format(place=str(place)))
    (folder / f"transformer_homework-{__version__}-py3-none-any.whl").symlink_to(place)


@attack
def wheel_through_a_folder(folder: Path, victim: Path, place: Path) -> None:
    """The same with a link named like the folder of the wheel."""
    (folder / "layernorm.py").write_text(THIEF.format(place=str(place)))
    place.mkdir()
    (folder / "kit-wheel").symlink_to(place)


@attack
def overwritten_through_a_link(folder: Path, victim: Path, place: Path) -> None:
    """A link named like the notebook that Otter copies: its target would be overwritten."""
    (folder / "transformer.ipynb").symlink_to(victim)


@attack
def made_through_a_link(folder: Path, victim: Path, place: Path) -> None:
    """A link named like the empty file that Otter creates: its target would be created."""
    (folder / "__init__.py").symlink_to(place)


@attack
def emptied_through_a_link(folder: Path, victim: Path, place: Path) -> None:
    """A link named like the folder that Otter empties: its target would be emptied."""
    (folder / "tests").symlink_to(victim.parent)


@attack
def folder_called_as_a_file(folder: Path, victim: Path, place: Path) -> None:
    """Folders in place of files that Otter writes, and a file in place of a folder: it would end without a result."""
    for name in ("__init__.py", "transformer.ipynb"):
        (folder / name).mkdir()
    (folder / "tests").write_text("")
