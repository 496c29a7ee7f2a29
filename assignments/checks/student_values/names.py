"""Finds the module that a misnamed file was probably meant for."""

import unicodedata
from pathlib import PurePosixPath


def mend(name: str, wanted: str) -> str:
    """How to rename a misnamed file."""
    if PurePosixPath(name).suffix.lower() == ".ipynb":
        return f"that is a notebook: copy its code into a file {wanted}"
    return f"rename it to {wanted}"


def resembles(name: str, module: str) -> bool:
    """`MyModule.py`, `my_module (1).py`, `my-module.py.txt`, `my_module_final.py` for my_module."""
    stem = PurePosixPath(name).name.lower().split(".")[0]
    letters = "".join(c for c in unicodedata.normalize("NFKD", stem) if c.isalpha())
    wanted = module.replace("_", "")
    return bool(letters) and (letters == wanted or letters.startswith(wanted) or letters.endswith(wanted))
