"""An auto-graded homework kit."""

__version__ = "1.0.0"
