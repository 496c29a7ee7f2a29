"""The fixtures of the hidden suites."""

pytest_plugins = ["autograder.pytest_plugin"]
