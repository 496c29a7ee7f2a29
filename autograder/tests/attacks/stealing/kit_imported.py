"""Imports the kit and its suites, through every folder that the interpreter has ever known."""

import importlib
import os
import sys
import sysconfig

import numpy

from forge import kit_folder

NEEDS = ("landlock",)
FOLDERS = [*sysconfig.get_paths().values(), os.path.dirname(kit_folder()), os.path.dirname(os.path.dirname(numpy.__file__))]
sys.path += FOLDERS
for name in ("autograder.homework.reference", "autograder.homework.suites.test_layernorm", "reference", "suites.test_layernorm", "otter",
             "autograder.homework.misconceptions.layernorm", "test_layernorm", "yaml", "pytest"):  # fmt: skip
    try:
        importlib.import_module(name)
    except ImportError:
        continue
    raise RuntimeError(f"SUCCEEDED: imported {name}")
