"""An auto-graded homework kit: a Transformer decoder in NumPy."""

__version__ = "1.0.0"
