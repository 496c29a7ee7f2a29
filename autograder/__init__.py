"""An auto-graded homework kit: a Transformer decoder in NumPy."""
