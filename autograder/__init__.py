"""An auto-graded homework kit."""

__version__ = "1.1.0"
