"""Misconceptions about `new_centres`."""

import numpy as np

from autograder.homework.library import written


@written
def new_centres(x, labels, centres):
    out = centres.copy()
    for k in range(len(centres)):
        points = x[labels == k]
        if len(points) > 0:
            out[k] = points.mean(axis=0)
    return out


new_centres.wrong("sum", "means", {"mean(axis=0)": "sum(axis=0)"},
    does="Your code adds the points of each centre.", right="Average the points of each centre.")
new_centres.wrong("median", "means", {"points.mean(axis=0)": "np.median(points, axis=0)"},
    does="Your code takes the median of the points of each centre.", right="Average the points of each centre.")
new_centres.wrong("empty_is_zero", "empty", {"centres.copy()": "np.zeros(centres.shape)"},
    does="Your code moves a centre without points to zero.", right="A centre without points stays where it is.")

EXAMPLES = {
    "new_centres": [
        ((np.array([[0.0], [4.0], [9.0], [5.0]]), np.array([0, 0, 1, 0]), np.array([[1.0], [8.0]])), {}),
        ((np.array([[2.0], [4.0]]), np.array([0, 0]), np.array([[1.0], [8.0]])), {}),
    ],
}
