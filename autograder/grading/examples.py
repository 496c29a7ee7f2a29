"""Which wrong public example is shown of a lost criterion: one that shows the mistakes that it was lost to."""

from collections.abc import Mapping, Sequence

import numpy as np

from autograder.grading.charge import Charge
from autograder.grading.diagnosis import Explanation, has
from autograder.grading.played import wrong_in_value
from autograder.grading.record import Record
from autograder.grading.thresholds import SMALLEST_TELLING


def tells_little(record: Record) -> bool:
    """Whether an example shows less than others may: a single number, or a difference below what is printed."""
    expected = record.step.expected
    single = np.size(expected) < 2 if not isinstance(expected, tuple) else False
    return single or record.deviation < SMALLEST_TELLING


def shown(
    charge: Charge, explanations: Mapping[str, Explanation], examples: Sequence[Record], alone: Record | None
) -> Record | None:
    """The example that shows a mistake which the criterion was lost to; None: none does.

    `examples` are the wrong ones of the criterion's function as first played, those first that tell much; `alone` is the first
    that is wrong also when it is played alone. An example that is wrong by a known mistake need not be tried alone.
    """
    if charge.record is None:
        return None
    explanation = explanations.get(charge.record.target.function)
    found, chosen = alone, explanation.chosen if explanation is not None else None
    if chosen is not None and chosen.is_complete and wrong_in_value(charge.record):
        every = (*chosen.mistakes, *chosen.table.helpers)
        own = [m for m in charge.mistakes if has(chosen.mistakes, m) and not any(other.memory for other in every)]
        if own:
            leasts = (SMALLEST_TELLING, 0.0)
            found = next((e for least in leasts for e in examples if chosen.shows(own, e, least)), None)
    only_dtype = found is not None and found.fault is not None and found.fault.kind == "dtype"
    in_value = charge.record.fault is not None and charge.record.fault.kind != "dtype"
    return None if only_dtype and in_value else found  # an example of a dtype is shown only where the dtype counted
