"""Misconceptions about apply_mask."""

import numpy as np

from autograder.homework.library import COPIES, written

LOOK = "True means that the query may attend to the key."


@written
def apply_mask(scores, mask):
    result = np.where(mask, scores, -np.inf)
    return result


HIDDEN = "Set masked scores to -inf, so that the softmax gives them zero weight."
CHOOSE = "Select with np.where, which broadcasts the mask."
NEW = "Return a new array and leave the scores unchanged."
CALL = "np.where(mask, scores, -np.inf)"

apply_mask.wrong("inverted", "apply", {"scores, -np.inf": "-np.inf, scores"},
    does="Your code masks the scores where the mask is True, so under a causal mask every position attends only to the future.", right=LOOK)
apply_mask.wrong("zero", "apply", {"-np.inf": "0.0"},
    does="Your code sets masked scores to 0, which still get weight because exp(0) = 1.", right=HIDDEN)
FINITE = ("1e9", "1e10", "1e4", "1e5", "1e6", "1e8", "1e12", "1e20", "1e30", "100.0", "1000.0")
apply_mask.wrong("minus_1e9", "apply", *({"-np.inf": f"-{number}"} for number in FINITE),
    {"-np.inf": "np.finfo(scores.dtype).min"}, *({"-np.inf": f"scores - {number}"} for number in FINITE[:6]), does="Your code sets masked scores to a finite number, so a query with no allowed key still attends to keys.", right=HIDDEN)
apply_mask.wrong("infinity", "apply", {"-np.inf": "np.inf"}, does="Your code sets masked scores to +inf.", right=HIDDEN)
apply_mask.wrong("nan", "apply", {"-np.inf": "np.nan"}, does="Your code sets masked scores to nan.", right=HIDDEN)
apply_mask.wrong("infinity_times_zero", "apply", {CALL: "scores + ~mask * -np.inf"}, {CALL: "scores + (1 - mask) * -np.inf"},
    does="Your code multiplies the mask by -inf, and 0 * -inf is nan.", right=CHOOSE, read="numpy.where")
apply_mask.wrong("added", "apply", {CALL: "scores + mask"}, does="Your code adds the mask to the scores.", right=CHOOSE,
    read="numpy.where")
apply_mask.wrong("softmax_too", "apply", {CALL: f"np.exp({CALL}) / np.exp({CALL}).sum(axis=-1, keepdims=True)"},
    does="Your code also applies the softmax.", right="Return the masked scores; the softmax is a separate step.")
apply_mask.wrong("nothing_hidden", "apply", {CALL: "scores.copy()"}, does="Your code does not use the mask.", right=HIDDEN)
apply_mask.wrong("transposed", "apply", {"(mask,": "(np.swapaxes(mask, -1, -2),"},
    does="Your code transposes the mask.", right="Rows are queries, columns are keys.")
apply_mask.wrong("mask_as_index", "apply", {CALL: "scores.copy()\n    result[..., ~mask] = -np.inf"},
    {CALL: "scores.copy()\n    result[~mask] = -np.inf"},
    does="Your code indexes with the mask, which does not broadcast an axis of length 1.", right=CHOOSE,
    read="numpy.where; the NumPy user guide, Broadcasting")
apply_mask.wrong("shares_memory", "apply", {"return result": "return scores if mask.all() else result"},
    does="Your code returns the argument scores, or a view of it, when nothing is masked.", right=NEW, read=COPIES)
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
        ((SCORES[np.newaxis, np.newaxis], np.array([[[[True, False]]]])), {}),
        ((SCORES.astype(np.float32), np.array([[True, False], [True, True]])), {}),
    ],
}
