"""The fixtures of the hidden suites, and `--submission`."""

pytest_plugins = ["autograder.grading.recorder", "autograder.grading.by_hand"]
