"""Misconceptions about causal_mask."""

import numpy as np

from autograder.homework.library import KEPT, written

LOOK = "True means that the query may attend to the key."


@written
def causal_mask(t):
    return np.tril(np.ones((t, t), dtype=bool))


SEES = "A position attends to itself and to earlier positions: mask[i, j] = (j <= i)."
BOOLEAN = "Return a boolean array: True where the query may attend to the key."
WHOLE = "np.tril(np.ones((t, t), dtype=bool))"

causal_mask.wrong("strict", "causal", {"=bool))": "=bool), k=-1)"}, does="The diagonal of your mask is False, so the first position attends to nothing, and no position to its own token.", right=SEES,
    read="numpy.tril, argument k")
causal_mask.wrong("one_ahead", "causal", {"=bool))": "=bool), k=1)"},
    does="Your mask also allows the next position.", right=SEES, read="numpy.tril, argument k")
causal_mask.wrong("transposed", "causal", {"np.tril": "np.triu"},
    does="Your mask allows the future and hides the past, so every position attends to the tokens it has to predict.", right="Rows are queries, columns are keys: mask[i, j] = (j <= i).")
causal_mask.wrong("inverted", "causal", {WHOLE: "np.triu(np.ones((t, t), dtype=bool), k=1)"},
    does="Your mask is True where attention is not allowed.", right=LOOK)
causal_mask.wrong("nothing_hidden", "causal", {WHOLE: "np.ones((t, t), dtype=bool)"}, does="Your mask hides nothing.", right=SEES)
causal_mask.wrong("only_itself", "causal", {WHOLE: "np.eye(t, dtype=bool)"}, does="Your mask allows only the diagonal.", right=SEES)
causal_mask.wrong("numbers", "causal", {"dtype=bool": "dtype=float"}, {"dtype=bool": "dtype=int"},
    {"dtype=bool": "dtype=np.float32"},
    {"dtype=bool": "dtype=np.int8"}, {"dtype=bool": "dtype=np.uint8"}, {WHOLE: "np.where(np.tri(t, dtype=bool), 0.0, -np.inf)"},
    does="Your mask contains numbers, such as 0 and 1, or 0 and -inf.", right=BOOLEAN, read="numpy.ones, argument dtype")
causal_mask.wrong("list", "causal", {WHOLE: WHOLE + ".tolist()"}, does="Your mask is a list.", right=BOOLEAN,
    read="numpy.array")
causal_mask.wrong("batch_axis", "causal", {WHOLE: WHOLE + "[np.newaxis]"},
    does="Your mask has an extra leading axis of length 1.", right="The shape is (t, t).")
causal_mask.wrong("one_too_large", "causal", {"(t, t)": "(t + 1, t + 1)"}, {"(t, t)": "(t - 1, t - 1)"},
    does="Your mask has the wrong size.", right="The shape is (t, t).")
causal_mask.wrong("fixed_size", "causal", {"(t, t)": "(8, 8)", "=bool))": "=bool))[:t, :t]"}, {"(t, t)": "(32, 32)",
    "=bool))": "=bool))[:t, :t]"},
    does="Your mask is a slice of an array of fixed size.", right="Create a mask of shape (t, t) for any t.")
causal_mask.wrong("first_size_kept", "causal",
    {"(t):": "(t, kept=[]):", f"return {WHOLE}": f"kept.append({WHOLE})\n    return kept[0][:t, :t]"},
    memory=True, does="Your code returns a slice of the mask of an earlier call.", right="Create a new mask in every call.",
    read=KEPT)
causal_mask.wrong("one_refused", "causal", {"    return": '    if t < 2:\n        raise ValueError("t is too small")\n    return'},
    does="Your code rejects a single position.", right="For t = 1 the mask is [[True]].")


EXAMPLES = {
    "causal_mask": [((1,), {}), ((3,), {}), ((2,), {}), ((9,), {})],
}
