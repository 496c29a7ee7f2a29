"""The maintainer's page knows every file of the kit, and names none that is not there."""

import re

from autograder import kit

PAGE = (kit.PACKAGE / "docs" / "maintainer.md").read_text()
TABLE = PAGE[PAGE.index("| file |") : PAGE.index("The engine never names")]
NAMED = set(re.findall(r"`([\w/]+(?:\.py|/))`", "".join(line.split("|")[1] for line in TABLE.splitlines()[2:] if line)))


def test_every_file_has_its_line() -> None:
    files = {str(path.relative_to(kit.PACKAGE)) for path in kit.PACKAGE.rglob("*.py")}
    missing = {
        file
        for file in files
        if not file.endswith("__init__.py")
        and file not in NAMED
        and not any(file.startswith(folder) for folder in NAMED if folder.endswith("/"))
    }
    assert not missing


def test_every_line_has_its_file() -> None:
    assert NAMED
    assert not {name for name in NAMED if not (kit.PACKAGE / name).exists()}
