"""The student's process and the wire to it."""
