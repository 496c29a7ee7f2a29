"""`python -m autograder`: the commands without an installation."""

from autograder.cli.main import main

main()
