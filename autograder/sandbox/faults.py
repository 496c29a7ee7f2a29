"""What is wrong with the machine or the kit, and never with the student."""


class SandboxFault(Exception):
    """The machine, not the student, is to blame."""
