"""The grader's code in a student's process. It has no tests, solutions or expected values."""
