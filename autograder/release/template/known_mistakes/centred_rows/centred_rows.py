"""Misconceptions about `centred_rows`."""

import numpy as np

from autograder.homework.library import written


@written
def centred_rows(x):
    mean = x.mean(axis=-1, keepdims=True)
    return x - mean


centred_rows.wrong("first_axis", "rows", {"axis=-1": "axis=0"},
    does="Your code averages over the first axis.", right="Average over the last axis: every row has its own mean.")
centred_rows.wrong("one_mean", "rows", {"axis=-1, keepdims=True": ""},
    does="Your code subtracts the mean of the whole array.", right="Every row has its own mean.")
centred_rows.wrong("mean_returned", "rows", {"x - mean": "mean + 0 * x"},
    does="Your code returns the mean.", right="Return x minus the mean.")

EXAMPLES = {
    "centred_rows": [
        ((np.array([1.0, 5.0]),), {}),
        ((np.array([[1.0, 5.0], [2.0, 8.0]]),), {}),
    ],
}
