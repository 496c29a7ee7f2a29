"""Benchmarks for the documentation, measured side by side in one run: `python -m autograder.benchmarks`."""
