"""Known mistakes in causal_mask."""

import numpy as np

from autograder.homework.mistakes import KEPT, written

LOOK = "True means that the query may look."


@written
def causal_mask(t):
    return np.tril(np.ones((t, t), dtype=bool))


SEES = "A position sees itself and what came before: mask[i, j] = (j <= i)."
BOOLEAN = "Return a boolean array, True where the query may look."
WHOLE = "np.tril(np.ones((t, t), dtype=bool))"

causal_mask.wrong("strict", "causal", {"=bool))": "=bool), k=-1)"}, does="The diagonal of your mask is False.", right=SEES,
    read="numpy.tril, argument k")
causal_mask.wrong("one_ahead", "causal", {"=bool))": "=bool), k=1)"},
    does="Your mask shows the next position as well.", right=SEES, read="numpy.tril, argument k")
causal_mask.wrong("transposed", "causal", {"np.tril": "np.triu"},
    does="Your mask shows the future and hides the past.", right="Rows are queries, columns are keys: mask[i, j] = (j <= i).")
causal_mask.wrong("inverted", "causal", {WHOLE: "np.triu(np.ones((t, t), dtype=bool), k=1)"},
    does="In your mask True marks what is hidden.", right=LOOK)
causal_mask.wrong("nothing_hidden", "causal", {WHOLE: "np.ones((t, t), dtype=bool)"}, does="Your mask hides nothing.", right=SEES)
causal_mask.wrong("only_itself", "causal", {WHOLE: "np.eye(t, dtype=bool)"}, does="Your mask shows the diagonal alone.", right=SEES)
causal_mask.wrong("additive", "causal", {WHOLE: "np.where(np.tri(t, dtype=bool), 0.0, -np.inf)"},
    {WHOLE: "np.where(np.tri(t, dtype=bool), 0.0, -1e9)"}, does="Your mask holds numbers to be added to scores.", right=BOOLEAN)
causal_mask.wrong("numbers", "causal", {"dtype=bool": "dtype=float"}, {"dtype=bool": "dtype=int"},
    {"dtype=bool": "dtype=np.float32"},
    {"dtype=bool": "dtype=np.int8"}, {"dtype=bool": "dtype=np.uint8"},
    does="Your mask holds the numbers 0 and 1.", right=BOOLEAN, read="numpy.ones, argument dtype")
causal_mask.wrong("list", "causal", {WHOLE: WHOLE + ".tolist()"}, does="Your mask is a list.", right=BOOLEAN,
    read="numpy.array")
causal_mask.wrong("batch_axis", "causal", {WHOLE: WHOLE + "[np.newaxis]"},
    does="Your mask has a leading axis of length one.", right="Its shape is (t, t).")
causal_mask.wrong("one_too_large", "causal", {"(t, t)": "(t + 1, t + 1)"}, {"(t, t)": "(t - 1, t - 1)"},
    does="Your mask has another size.", right="Its shape is (t, t).")
causal_mask.wrong("fixed_size", "causal", {"(t, t)": "(8, 8)", "=bool))": "=bool))[:t, :t]"}, {"(t, t)": "(32, 32)",
    "=bool))": "=bool))[:t, :t]"},
    does="Your mask is cut from a table of a fixed size.", right="Make it as large as t asks for.")
causal_mask.wrong("first_size_kept", "causal",
    {"(t):": "(t, kept=[]):", f"return {WHOLE}": f"kept.append({WHOLE})\n    return kept[0][:t, :t]"},
    memory=True, does="Your code cuts the mask from that of an earlier call.", right="Make it anew for each t.",
    read=KEPT)
causal_mask.wrong("one_refused", "causal", {"    return": '    if t < 2:\n        raise ValueError("t is too small")\n    return'},
    does="Your code refuses a single position.", right="t may be 1, and the mask is [[True]].")


EXAMPLES = {
    "causal_mask": [((1,), {}), ((3,), {}), ((2,), {}), ((9,), {})],
}
