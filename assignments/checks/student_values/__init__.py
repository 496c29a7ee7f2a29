"""What values are, how they are compared and how they are shown: pure NumPy, and nothing else of the kit.

The grader uses these files, and `autograder build` copies them into the students' checks, so that both say the same.
They import one another relatively, since the copy has another name.
"""
