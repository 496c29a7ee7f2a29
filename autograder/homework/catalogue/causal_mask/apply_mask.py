"""Known mistakes in apply_mask."""

import numpy as np

from autograder.homework.mistakes import COPIES, written

LOOK = "True means that the query may look."


@written
def apply_mask(scores, mask):
    result = np.where(mask, scores, -np.inf)
    return result


HIDDEN = "Hidden scores become -inf, so that the softmax gives them no weight at all."
CHOOSE = "Let the mask broadcast, as np.where does."
NEW = "Return a new array and leave the scores as they are."
CALL = "np.where(mask, scores, -np.inf)"

apply_mask.wrong("inverted", "apply", {"scores, -np.inf": "-np.inf, scores"},
    does="Your code hides the scores where the mask is True.", right=LOOK)
apply_mask.wrong("zero", "apply", {"-np.inf": "0.0"},
    does="Your hidden scores become 0, which still gets weight since exp(0) = 1.", right=HIDDEN)
FINITE = ("1e9", "1e10", "1e4", "1e5", "1e6", "1e8", "1e12", "1e20", "1e30", "100.0", "1000.0")
apply_mask.wrong("minus_1e9", "apply", *({"-np.inf": f"-{number}"} for number in FINITE),
    {"-np.inf": "np.finfo(scores.dtype).min"}, does="Your hidden scores become a finite number.", right=HIDDEN)
apply_mask.wrong("infinity", "apply", {"-np.inf": "np.inf"}, does="Your hidden scores become +inf.", right=HIDDEN)
apply_mask.wrong("nan", "apply", {"-np.inf": "np.nan"}, does="Your hidden scores become nan.", right=HIDDEN)
apply_mask.wrong("infinity_times_zero", "apply", {CALL: "scores + ~mask * -np.inf"}, {CALL: "scores + (1 - mask) * -np.inf"},
    does="Your code adds -inf times the mask, and -inf * 0 is nan.", right=CHOOSE, read="numpy.where")
apply_mask.wrong("added", "apply", {CALL: "scores + mask"}, does="Your code adds the mask, whose True counts as 1.", right=CHOOSE,
    read="numpy.where")
apply_mask.wrong("softmax_too", "apply", {CALL: f"np.exp({CALL}) / np.exp({CALL}).sum(axis=-1, keepdims=True)"},
    does="Your code takes the softmax as well.", right="Return the scores; the softmax comes next.")
apply_mask.wrong("nothing_hidden", "apply", {CALL: "scores.copy()"}, does="Your code does not use the mask.", right=HIDDEN)
apply_mask.wrong("transposed", "apply", {"(mask,": "(np.swapaxes(mask, -1, -2),"},
    does="Your code transposes the mask.", right="Its rows are the queries and its columns the keys.")
apply_mask.wrong("mask_as_index", "apply", {CALL: "scores.copy()\n    result[..., ~mask] = -np.inf"},
    {CALL: "scores.copy()\n    result[~mask] = -np.inf"},
    does="Your code indexes with the mask, so that an axis of length 1 is not repeated along the scores.", right=CHOOSE,
    read="numpy.where; NumPy's page on broadcasting")
apply_mask.wrong("shares_memory", "apply", {"return result": "return scores if mask.all() else result"},
    does="Your code returns the scores themselves where nothing is hidden.", right=NEW, read=COPIES)
apply_mask.wrong("changes_scores", "purity", {"return result": "scores[...] = result\n    return scores"},
    {"return result": "scores[...] = result\n    return result"})
apply_mask.wrong("float64_result", "dtype", {"-np.inf": "np.full(scores.shape, -np.inf)"})


SCORES = np.array([[2.0, 1.0], [3.0, 4.0]])
WIDE_SCORES = np.array([[2.0, 0.0, 1.0], [0.5, -1.0, 3.0]])

EXAMPLES = {
    "apply_mask": [
        ((SCORES, np.array([[True, False], [True, True]])), {}),
        ((WIDE_SCORES, np.array([[True, False, True]])), {}),
        ((np.array([SCORES, -SCORES]), np.array([[[True, False]], [[True, True]]])), {}),
        ((SCORES.astype(np.float32), np.array([[True, False], [True, True]])), {}),
    ],
}
