"""Compares, describes and displays values: pure NumPy, independent of the rest of the kit.

The grader uses these files, and `autograder build` copies them into the public checks, so that both give the same
feedback. Imports are relative, since the copy has another package name.
"""
