"""Which packages the image for grading gets: those installed here, at these versions, and all that they need.

Grades must not depend on the day on which Gradescope builds the image: a new NumPy may sum in another order. pip's own
resolver would need a network to say the same; `pip freeze` would also pin what only developers have.
"""

import importlib.metadata
import sys
from collections.abc import Iterable

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# What the image is, whatever machine builds the homework: Gradescope's images are Linux on x86.
IMAGE = {
    "os_name": "posix",
    "platform_machine": "x86_64",
    "platform_system": "Linux",
    "sys_platform": "linux",
}


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
    found = []
    for name, _, version in (pin.partition("==") for pin in pins):
        try:
            here = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            here = "not installed"
        if version and here != version:
            found.append(f"{name} {here} (zip: {version})")
    return found
