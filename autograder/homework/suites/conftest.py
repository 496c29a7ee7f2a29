"""The fixtures of the hidden suites, and `--submission`."""

pytest_plugins = ["autograder.grading.pytest_plugin", "autograder.grading.by_hand"]
