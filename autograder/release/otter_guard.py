"""Keeps `otter assign NOTEBOOK RESULT` from deleting a kit: Otter deletes RESULT/autograder before it calls any plugin.

Until then, Otter only reads the notebook as data and runs no code of the kit. Python itself runs this module at
startup, through transformer_homework_otter_guard.pth in site-packages, if the arguments of the process look like `otter
assign`.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

KIT = ("autograder", "release", "otter_guard.py")  # identifies a kit


def kit_in_danger(arguments: Sequence[str]) -> Path | None:
    """The folder of a kit that this command line would delete, or None."""
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
        os._exit(2)  # an exception during Python's startup would look like a crash


main()
