"""Hidden tests of kmeans.py."""

import numpy as np

from autograder.homework.suite import criterion, worked_examples


@criterion("kmeans.example")
def test_the_worked_examples(check):
    worked_examples(check, "kmeans")


@criterion("kmeans.distances")
def test_every_point_and_every_centre(check, rng):
    check.squared_distances(rng.normal(0, 2, (6, 3)), rng.normal(0, 2, (4, 3)))
    check.squared_distances(rng.normal(0, 2, (3, 3)), rng.normal(0, 2, (3, 3)))
    check.squared_distances(rng.normal(0, 2, (5, 1)), rng.normal(0, 2, (1, 1)))


@criterion("kmeans.nearest")
def test_the_first_of_the_nearest(check, rng):
    check.nearest(rng.normal(0, 2, (8, 3)), rng.normal(0, 2, (4, 3)))
    check.nearest(rng.normal(0, 2, (5, 2)), rng.normal(0, 2, (5, 2)))
    check.nearest(np.array([[0.0, 0.0], [2.0, 0.0]]), np.array([[3.0, 0.0], [-1.0, 0.0], [1.0, 0.0]]))


@criterion("kmeans.means")
def test_the_mean_of_the_points_of_each_centre(check, rng):
    check.new_centres(rng.normal(0, 2, (7, 3)), np.array([2, 0, 1, 1, 0, 2, 2]), rng.normal(0, 2, (3, 3)))
    check.new_centres(rng.normal(0, 2, (4, 1)), np.array([0, 1, 1, 1]), rng.normal(0, 2, (2, 1)))


@criterion("kmeans.empty")
def test_a_centre_without_points_stays(check, rng):
    check.new_centres(rng.normal(0, 2, (4, 2)), np.array([2, 0, 2, 0]), rng.normal(0, 2, (3, 2)))
    check.new_centres(rng.normal(0, 2, (3, 2)), np.array([0, 0, 0]), rng.normal(0, 2, (3, 2)))
