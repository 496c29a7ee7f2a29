"""Fixtures of the hidden suites, and the option `--submission`."""

from pathlib import Path

from autograder.homework import kit

kit.use(Path(__file__).resolve().parents[2])
pytest_plugins = ["autograder.grading.recorder", "autograder.grading.manual"]
