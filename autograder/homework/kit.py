"""Where the kit's files lie: beside this package in a clone, inside it in a wheel."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


def home() -> Path:
    """The folder that holds rubric.yaml and solutions/."""
    clone = PACKAGE.parent
    return clone if (clone / "rubric.yaml").is_file() else PACKAGE / "kit"


def solutions() -> Path:
    return home() / "solutions"


def rubric_file() -> Path:
    return home() / "rubric.yaml"


def suites() -> Path:
    return PACKAGE / "homework" / "suites"


def secret() -> list[Path]:
    """The folders and files that no student's process may read: the kit, with its solutions, suites and mistakes."""
    return [PACKAGE, home()]


def alternatives() -> Path:
    """Correct solutions in other styles, a folder each."""
    return PACKAGE / "audit" / "alternatives"


def catalogue() -> Path:
    return PACKAGE / "homework" / "catalogue"
