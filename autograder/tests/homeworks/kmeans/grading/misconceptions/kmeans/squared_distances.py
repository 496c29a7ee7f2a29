"""Misconceptions about `squared_distances`."""

import numpy as np

from autograder.homework.library import written


@written
def squared_distances(x, centres):
    differences = x[:, np.newaxis] - centres
    return (differences**2).sum(axis=-1)


squared_distances.wrong("not_squared", "distances", {"(differences**2).sum(axis=-1)": "np.sqrt((differences**2).sum(axis=-1))"},
    does="Your code takes the square root.", right="Return the squared distances.")
squared_distances.wrong("city_block", "distances", {"differences**2": "np.abs(differences)"},
    does="Your code adds the absolute differences.", right="Add the squares of the differences.")
squared_distances.wrong("mean", "distances", {".sum(": ".mean("},
    does="Your code averages the squared differences.", right="Add the squared differences.")

EXAMPLES = {
    "squared_distances": [((np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 1.0]])), {})],
}
