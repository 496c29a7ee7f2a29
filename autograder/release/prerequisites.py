"""What the commands of this folder need of a machine: a clone, Otter, a Jupyter kernel, room for temporary files.

Whatever is missing is said in one line, with what to do.
"""

import contextlib
import importlib.metadata
import tempfile
from collections.abc import Iterator
from pathlib import Path

from autograder.faults import CommandError, of_system
from autograder.homework import kit

MASTER = "transformer.ipynb"  # the master notebook, in solutions/
OTTER_VERSION = "7"  # the major version that this kit was made for
KERNEL = "python3"


def clone() -> Path:
    """The tree that is built.

    Raises CommandError where the kit is not installed from a clone, or is, but from another one than we are in.
    """
    for needed in (kit.home() / "pyproject.toml", kit.solutions() / MASTER):
        if not needed.is_file():
            raise CommandError(
                f"there is no {needed}; build needs a clone and the kit installed from it: pip install -e ."
            )
    here = Path.cwd()
    around = [folder for folder in (here, *here.parents) if (folder / "autograder" / "homework" / "kit.py").is_file()]
    if around and around[0] != kit.home():
        advice = f"first run: pip install -e {around[0]}"
        raise CommandError(f"this is the clone {around[0]}, but the kit that is installed is {kit.home()}; {advice}")
    return kit.home()


def require_otter() -> None:
    """Raises CommandError for no Otter, or another one than the kit was made for."""
    needed = f"Otter {OTTER_VERSION} is needed: pip install 'otter-grader[grading]>={OTTER_VERSION},<{int(OTTER_VERSION) + 1}'"
    try:
        version = importlib.metadata.version("otter-grader")
    except importlib.metadata.PackageNotFoundError:
        raise CommandError(f"Otter is not installed; {needed}") from None
    if version.split(".")[0] != OTTER_VERSION:
        raise CommandError(f"Otter {version} is installed; {needed}")


def require_kernel() -> None:
    """Raises CommandError if Jupyter has no Python kernel: Otter starts one even where no notebook is run."""
    # Only here, to save start-up time: jupyter_client takes a third of a second.
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        KernelSpecManager().get_kernel_spec(KERNEL)
    except NoSuchKernel:
        advice = "Otter starts it to grade; get it with: pip install ipykernel"
        raise CommandError(f"there is no Jupyter kernel named {KERNEL}. {advice}") from None


@contextlib.contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """A folder that is gone afterwards.

    Raises CommandError, also for an OSError inside, which for a folder of our own means a disk that is full or closed.
    """
    try:
        with tempfile.TemporaryDirectory(prefix=prefix) as place:
            yield Path(place).resolve()
    except OSError as error:
        raise of_system(error, tempfile.tempdir or "TMPDIR") from error
