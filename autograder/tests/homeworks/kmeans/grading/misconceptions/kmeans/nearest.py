"""Misconceptions about `nearest`."""

import numpy as np
from kmeans import squared_distances

from autograder.homework.library import written


@written
def nearest(x, centres):
    distances = squared_distances(x, centres)
    return distances.argmin(axis=1)


nearest.wrong("farthest", "nearest", {"argmin": "argmax"},
    does="Your code finds the farthest centre.", right="Find the nearest centre.")
nearest.wrong("nearest_point", "nearest", {"axis=1": "axis=0"},
    does="Your code finds the nearest point of every centre.", right="Find the nearest centre of every point.")
nearest.wrong("last", "nearest", {"distances.argmin(axis=1)": "len(centres) - 1 - distances[:, ::-1].argmin(axis=1)"},
    does="If several centres are equally near, your code takes the last one.", right="Take the first one.")

EXAMPLES = {
    "nearest": [
        ((np.array([[0.0], [4.0], [9.0]]), np.array([[1.0], [8.0]])), {}),
        ((np.array([[0.0]]), np.array([[1.0], [-1.0]])), {}),
    ],
}
