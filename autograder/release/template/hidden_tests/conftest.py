"""Fixtures of the hidden suites, and the option `--submission`."""

pytest_plugins = ["autograder.grading.recorder", "autograder.grading.manual"]
