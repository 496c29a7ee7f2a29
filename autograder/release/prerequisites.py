"""What the commands of this folder need of a machine: a clone, Otter, a Jupyter kernel, room for temporary files.

Whatever is missing is said in one line, with what to do.
"""

import contextlib
import importlib.metadata
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from autograder.exceptions import CommandError, of_system
from autograder.homework import kit

OTTER_VERSION = "7"  # the major version that this kit was made for
KERNEL = "python3"


def tree() -> Path:
    """The tree that is built: the clone, or the folder of a homework outside the package.

    Raises CommandError where there is none, or where the kit is installed from another clone than we are in.
    """
    if kit.outside():
        return kit.home()
    needed = kit.home() / "pyproject.toml"
    if not needed.is_file():
        raise CommandError(
            f"there is no {needed}; run this in the folder of a homework (`autograder new --homework DIR` writes one), "
            "or in a clone with the kit installed from it: pip install -e ."
        )
    here = Path.cwd()
    around = [folder for folder in (here, *here.parents) if (folder / "autograder" / "homework" / "kit.py").is_file()]
    if around and around[0] != kit.home():
        advice = f"first run: pip install -e {around[0]}"
        raise CommandError(f"this is the clone {around[0]}, but the installed kit is {kit.home()}; {advice}")
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
        advice = "Otter needs one to grade; install it with: pip install ipykernel"
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


# Which packages the image for grading gets: those installed here, at these versions, and all that they need.
#
# Grades must not depend on the day on which Gradescope builds the image: a new NumPy may sum in another order. pip's own
# resolver would need a network to say the same; `pip freeze` would also pin what only developers have.

# What the image is, whatever machine builds the homework: Gradescope's images are Linux on x86.
IMAGE = {"os_name": "posix", "platform_machine": "x86_64", "platform_system": "Linux", "sys_platform": "linux"}


def python_version() -> str:
    """The version of Python for the image, the one that runs now: the packages installed here were chosen for it."""
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def pinned(requirements: Iterable[str]) -> list[str]:
    """`name==version` for every package that the requirements lead to, in order of their names.

    A package that is needed on Linux and not installed here is left to pip, as when building on macOS.
    """
    versions: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [(requirement, "") for requirement in map(Requirement, requirements)]
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate(IMAGE | {"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        try:
            package = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        versions[name] = package.version
        for wanted in {("", name), *((extra, name) for extra in requirement.extras)} - seen:
            seen.add(wanted)
            waiting += [(needed, wanted[0]) for needed in map(Requirement, package.requires or ())]
    return [f"{name}=={version}" for name, version in sorted(versions.items())]


def otherwise_here(pins: Iterable[str]) -> list[str]:
    """The pinned packages that have another version here, or are not here, with what is pinned."""
    lines = []
    for name, _, version in (pin.partition("==") for pin in pins):
        try:
            here = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            here = "not installed"
        if version and here != version:
            lines.append(f"{name} {here} (zip: {version})")
    return lines
