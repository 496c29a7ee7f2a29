"""Figures for the README, measured side by side in one run: `python -m autograder.benchmarks`."""
