"""One file: imports the functions from the student's own everything.py."""

from everything import batch_norm, influence, norm_moments

__all__ = ["batch_norm", "influence", "norm_moments"]
