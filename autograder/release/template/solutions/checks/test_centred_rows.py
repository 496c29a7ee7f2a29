"""Public checks of centred_rows.py."""

import numpy as np
from student_calls import Caller


def test_the_mean_is_subtracted(call: Caller) -> None:
    call.centred_rows(np.array([1.0, 5.0])).gives(np.array([-2.0, 2.0]))
