"""Public checks of centred_rows.py."""

import numpy as np
from student_calls import Caller


def test_the_mean_is_subtracted(call: Caller) -> None:
    call.centred_rows(np.array([1.0, 5.0])).gives(np.array([-2.0, 2.0]))


def test_every_row_has_its_own_mean(call: Caller) -> None:
    call.centred_rows(np.array([[1.0, 5.0], [2.0, 8.0]])).gives(np.array([[-2.0, 2.0], [-3.0, 3.0]]))


def test_three_features_after_two(call: Caller) -> None:
    call.centred_rows(np.array([6.0, 2.0])).gives(np.array([2.0, -2.0]))
    call.centred_rows(np.array([1.0, 2.0, 6.0])).gives(np.array([-2.0, -1.0, 3.0]))
