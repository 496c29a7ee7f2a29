"""K-means: one step of Lloyd's algorithm, which moves every centre to the mean of the points nearest to it.

Source: S. Lloyd, Least squares quantization in PCM, 1982.
"""

import numpy as np


def squared_distances(x: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Compute the squared Euclidean distance of every point to every centre.

    Arguments: x (n, d), centres (k, d).
    Returns: (n, k).

    >>> squared_distances(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 1.0]]))
    array([[ 1.],
           [18.]])
    """
    # BEGIN SOLUTION
    return ((x[:, np.newaxis, :] - centres) ** 2).sum(axis=-1)
    # END SOLUTION


def nearest(x: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Find the index of the nearest centre of every point. If several are equally near, take the first.

    Arguments: x (n, d), centres (k, d).
    Returns: (n,), integers.

    >>> nearest(np.array([[0.0], [4.0], [9.0]]), np.array([[1.0], [8.0]]))
    array([0, 0, 1])
    """
    # BEGIN SOLUTION
    return squared_distances(x, centres).argmin(axis=1)
    # END SOLUTION


def new_centres(x: np.ndarray, labels: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Move every centre to the mean of its points. A centre without points stays where it is.

    Arguments: x (n, d); labels (n,), the index of the centre of every point; centres (k, d).
    Returns: (k, d), a new array.

    >>> new_centres(np.array([[0.0], [4.0], [9.0]]), np.array([0, 0, 1]), np.array([[1.0], [8.0], [5.0]]))
    array([[2.],
           [9.],
           [5.]])
    """
    # BEGIN SOLUTION
    means = [x[labels == k].mean(axis=0) if (labels == k).any() else centre for k, centre in enumerate(centres)]
    return np.array(means)
    # END SOLUTION
