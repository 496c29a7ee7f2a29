"""Keeps `otter assign NOTEBOOK RESULT` from deleting a kit: Otter deletes RESULT/autograder before it calls any plugin.

Otter reads only the notebook before that, as data, so nothing of the kit's runs there. Python itself runs this at its start,
through transformer_homework_otter_guard.pth in site-packages, in a process whose arguments look like `otter assign`.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

KIT = ("autograder", "release", "otter_guard.py")  # a file by which a kit is known


def kit_in_danger(arguments: Sequence[str]) -> Path | None:
    """The folder of a kit that this command line would delete."""
    if "assign" not in arguments:
        return None
    at = arguments.index("assign")
    if not any("otter" in Path(argument).name for argument in arguments[:at]):
        return None
    folders = (Path(os.path.abspath(argument)) for argument in arguments[at + 1 :])
    return next((folder / KIT[0] for folder in folders if folder.joinpath(*KIT).is_file()), None)


def main() -> None:
    if folder := kit_in_danger(sys.orig_argv):
        print(f"autograder: otter assign would delete {folder}; give a RESULT outside this repository", file=sys.stderr)
        sys.stderr.flush()
        os._exit(2)  # an exception at this point of Python's start would be shown as a crash


main()
