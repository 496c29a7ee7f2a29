"""One upload graded as Gradescope would: the tree of folders, the environment, the run, and what is printed of it.

`otter run` alone is not that: it takes no folder, fails on a zip that is damaged, grades with whatever is installed
instead of what the zip asks for, has no time limit, and does not use the zip's run_otter.py.
"""
