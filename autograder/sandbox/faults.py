"""What is wrong with the machine or the kit, and never with the student."""

from autograder.faults import CommandError


class SandboxFault(CommandError):
    """The machine, not the student, is to blame."""
