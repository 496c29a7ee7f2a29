"""Looks for the kit beside NumPy, in every site-packages, in its wheel, and in Gradescope's folders."""

import glob
import os
import sys

import numpy

NEEDS = ("landlock",)
FOLDERS = {os.path.dirname(os.path.dirname(numpy.__file__)), "/autograder", "/autograder/source", "/autograder/submission"}
FOLDERS |= {os.path.join(prefix, "lib") for prefix in (sys.prefix, sys.base_prefix)}
for path in (sys.argv[0], sys.executable, os.__file__):
    FOLDERS |= {os.path.dirname(path), os.path.dirname(os.path.dirname(path)), os.path.abspath(path + "/../../..")}
for folder in FOLDERS:
    kit = glob.glob(folder + "/autograder*") + glob.glob(folder + "/*.whl")
    if kit:
        raise RuntimeError(f"SUCCEEDED: found {kit[:3]}")
