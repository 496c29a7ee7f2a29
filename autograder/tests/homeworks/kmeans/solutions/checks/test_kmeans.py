"""Public checks of kmeans.py."""

import numpy as np
from student_calls import Caller

X = np.array([[0.0, 0.0], [2.0, 0.0], [5.0, 1.0]])
CENTRES = np.array([[0.0, 1.0], [4.0, 0.0]])


def test_squared_distances(call: Caller) -> None:
    call.squared_distances(X, CENTRES).gives(np.array([[1.0, 16.0], [5.0, 4.0], [25.0, 2.0]]))


def test_nearest_centres(call: Caller) -> None:
    call.nearest(X, CENTRES).gives(np.array([0, 1, 1]))


def test_means_of_the_points(call: Caller) -> None:
    call.new_centres(X, np.array([0, 1, 1]), CENTRES).gives(np.array([[0.0, 0.0], [3.5, 0.5]]))


def test_centre_without_points(call: Caller) -> None:
    call.new_centres(X, np.array([0, 0, 0]), CENTRES).gives(np.array([[7 / 3, 1 / 3], [4.0, 0.0]]))
