"""`python -m autograder`: the commands without an installation."""

from autograder.commands.main import main

main()
