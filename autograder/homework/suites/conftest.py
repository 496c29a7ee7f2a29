"""The fixtures of the hidden suites."""

pytest_plugins = ["autograder.grading.pytest_plugin"]
