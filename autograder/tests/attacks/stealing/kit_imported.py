"""Imports the kit and its suites, through every folder that the interpreter has ever known."""

import importlib
import json
import sys
import sysconfig

NEEDS = ("landlock",)
FOLDERS = [*json.loads(sys.argv[1])["imports"], *sysconfig.get_paths().values(), *json.loads(sys.argv[1])["holes"]]
sys.path += FOLDERS
for name in ("autograder.homework.reference", "autograder.homework.suites.test_layernorm", "reference", "suites.test_layernorm", "otter",
             "autograder.homework.misconceptions.layernorm", "test_layernorm", "yaml", "pytest"):  # fmt: skip
    try:
        importlib.import_module(name)
    except ImportError:
        continue
    raise RuntimeError(f"SUCCEEDED: imported {name}")
