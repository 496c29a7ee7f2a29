"""One row after the other, with the mean as a sum."""

import numpy as np


def centred_rows(x):
    out = np.empty_like(x)
    for place in np.ndindex(x.shape[:-1]):
        out[place] = x[place] - sum(x[place]) / x.shape[-1]
    return out
