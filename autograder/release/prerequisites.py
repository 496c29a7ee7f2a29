"""Checks the prerequisites of the commands in this package: a clone, Otter, a Jupyter kernel, disk space.

Anything missing is reported in one line that says what to do.
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

OTTER_VERSION = "7"  # the supported major version
KERNEL = "python3"


def tree() -> Path:
    """The tree to build: the clone, or the folder of a homework outside the package.

    Raises CommandError if there is none, or if the kit is installed from another clone.
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
    """Raises CommandError without Otter, or with an unsupported version."""
    needed = f"Otter {OTTER_VERSION} is needed: pip install 'otter-grader[grading]>={OTTER_VERSION},<{int(OTTER_VERSION) + 1}'"
    try:
        version = importlib.metadata.version("otter-grader")
    except importlib.metadata.PackageNotFoundError:
        raise CommandError(f"Otter is not installed; {needed}") from None
    if version.split(".")[0] != OTTER_VERSION:
        raise CommandError(f"Otter {version} is installed; {needed}")


def require_kernel() -> None:
    """Raises CommandError if Jupyter has no Python kernel: Otter starts one even if no notebook is run."""
    # Only here, to save start-up time: jupyter_client takes a third of a second.
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        KernelSpecManager().get_kernel_spec(KERNEL)
    except NoSuchKernel:
        advice = "Otter needs one to grade; install it with: pip install ipykernel"
        raise CommandError(f"there is no Jupyter kernel named {KERNEL}. {advice}") from None


@contextlib.contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """A folder that is removed afterwards.

    Raises CommandError, also for an OSError inside, which means a full or read-only disk.
    """
    try:
        with tempfile.TemporaryDirectory(prefix=prefix) as place:
            yield Path(place).resolve()
    except OSError as error:
        raise of_system(error, tempfile.tempdir or "TMPDIR") from error


# The packages of the image for grading: those installed here, at these versions, and their dependencies.
#
# Grades must not depend on the day on which Gradescope builds the image: a new NumPy may sum in another order. pip's own
# resolver would need a network for this; `pip freeze` would also pin the tools of developers.

# The platform of the image: Gradescope's images are Linux on x86.
IMAGE = {"os_name": "posix", "platform_machine": "x86_64", "platform_system": "Linux", "sys_platform": "linux"}


def python_version() -> str:
    """The version of Python for the image: the running one, for which the installed packages were chosen."""
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def pinned(requirements: Iterable[str]) -> list[str]:
    """`name==version` for every package that the requirements lead to, sorted by name.

    A package that Linux needs and this machine does not have is left to pip, as when building on macOS.
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
    """The pinned packages with another version here, or none, and the pinned version."""
    lines = []
    for name, _, version in (pin.partition("==") for pin in pins):
        try:
            here = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            here = "not installed"
        if version and here != version:
            lines.append(f"{name} {here} (zip: {version})")
    return lines
