"""Centred rows: subtract the mean of every row.

Source: the first step of principal component analysis.
"""

import numpy as np


def centred_rows(x: np.ndarray) -> np.ndarray:
    """Subtract its mean from every row.

        y = x - mean(x)

    Arguments: x (..., d).
    Returns: (..., d), in the dtype of x.

    >>> centred_rows(np.array([1.0, 2.0, 6.0]))
    array([-2., -1.,  3.])
    """
    # BEGIN SOLUTION
    return x - x.mean(axis=-1, keepdims=True)
    # END SOLUTION
