"""Which kit a command grades with, said where that is not the one in the folder that it runs in.

Two clones, or `pip install .` without -e, and later edits of rubric.yaml are ignored without a word.
"""

from pathlib import Path

from autograder.homework import kit


def notice(folder: Path) -> str:
    """A line if `folder` lies in a clone that is not the kit's own home, else ""."""
    clone = next((place for place in (folder, *folder.parents) if _is_clone(place)), None)
    if clone is None or clone == kit.home():
        return ""
    advice = f"to use the one here: pip install -e {clone}"
    return f"note: this grades by {kit.rubric_file()}, not by the rubric.yaml in {clone}; {advice}"


def _is_clone(folder: Path) -> bool:
    return all((folder / name).exists() for name in ("rubric.yaml", "solutions", "autograder", "pyproject.toml"))
