"""`python -m autograder`: the commands without an installation."""

from autograder.cli import main

main()
