"""Loops over points and centres."""

import numpy as np


def squared_distances(x, centres):
    return np.array([[np.dot(point - centre, point - centre) for centre in centres] for point in x])


def nearest(x, centres):
    labels = []
    for row in squared_distances(x, centres):
        best = 0
        for k, distance in enumerate(row):
            if distance < row[best]:
                best = k
        labels.append(best)
    return np.array(labels)


def new_centres(x, labels, centres):
    sums, counts = np.zeros(centres.shape), np.zeros(len(centres))
    np.add.at(sums, labels, x)
    np.add.at(counts, labels, 1)
    return np.where(counts[:, np.newaxis] > 0, sums / np.maximum(counts, 1)[:, np.newaxis], centres)
