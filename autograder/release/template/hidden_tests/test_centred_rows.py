"""Hidden tests of centred_rows.py. The inputs of `example` are those in the docstrings."""

import numpy as np

from autograder.homework.suite import criterion


@criterion("centred_rows.example")
def test_the_worked_examples(check):
    check.centred_rows(np.array([1.0, 2.0, 6.0]))


@criterion("centred_rows.rows")
def test_every_row_has_its_own_mean(check, rng):
    check.centred_rows(rng.normal(3, 1, 5))
    check.centred_rows(rng.normal(3, 1, (3, 4)))
    check.centred_rows(rng.normal(3, 1, (2, 3, 4)))
