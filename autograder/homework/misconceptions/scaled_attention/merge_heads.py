"""Misconceptions about merge_heads."""

import numpy as np

from autograder.homework.library import KEPT, written

LEADING = "Accept any number of leading axes, including none."
MERGE = "the formula in the docstring of `merge_heads`; Vaswani et al. 2017, section 3.2.2"
SIDE = "Concatenate the heads of each token along the features."


@written
def merge_heads(x):
    *leading, n_heads, t, d_head = x.shape
    tokens = np.swapaxes(x, -3, -2)
    result = tokens.reshape(*leading, t, n_heads * d_head)
    return result


merge_heads.wrong("reshape_only", "merge_heads", {"np.swapaxes(x, -3, -2)": "x"},
    does="Your code only reshapes, which mixes tokens.", right="Move the axis of the heads behind the tokens, then reshape.",
    read=MERGE)
merge_heads.wrong("interleaved", "merge_heads", {"np.swapaxes(x, -3, -2)": "np.moveaxis(x, -3, -1)"},
    does="Your code interleaves the features of the heads.", right="Each head fills consecutive features.", read=MERGE)
merge_heads.wrong("wrong_axes_exchanged", "merge_heads", {"np.swapaxes(x, -3, -2)": "np.swapaxes(x, -1, -2)"},
    does="Your code swaps tokens and features before the reshape.", right="Swap heads and tokens.", read=MERGE)
merge_heads.wrong("averaged", "merge_heads", {"tokens.reshape(*leading, t, n_heads * d_head)": "x.mean(axis=-3)"},
    {"tokens.reshape(*leading, t, n_heads * d_head)": "np.concatenate([x.mean(axis=-3)] * n_heads, axis=-1)"},
    does="Your code averages the heads, so the heads cannot carry different features.", right=SIDE, read=MERGE)
merge_heads.wrong("summed", "merge_heads", {"tokens.reshape(*leading, t, n_heads * d_head)": "x.sum(axis=-3)"},
    does="Your code sums the heads.", right=SIDE, read=MERGE)
merge_heads.wrong("along_tokens", "merge_heads",
    {"tokens.reshape(*leading, t, n_heads * d_head)": "x.reshape(*leading, n_heads * t, d_head)"},
    does="Your code concatenates the heads along the tokens.", right=SIDE, read=MERGE)
merge_heads.wrong("first_axis", "merge_heads", {"np.swapaxes(x, -3, -2)": "np.moveaxis(x, 0, -2)"},
    {"np.swapaxes(x, -3, -2)": "np.swapaxes(x, 0, 1)"},
    does="Your code uses the first axis as the heads.", right="The heads are the third axis from the end.", read=MERGE)
merge_heads.wrong("second_axis", "merge_heads", {"np.swapaxes(x, -3, -2)": "np.swapaxes(x, 1, 2)"},
    does="Your code swaps axes counted from the front.", right="The heads are the third axis from the end.", read="numpy.swapaxes")
merge_heads.wrong("one_sequence_only", "merge_heads",
    {"*leading, n_heads, t, d_head = x.shape": "n_heads, t, d_head = x.shape\n    leading = []"},
    does="Your code handles only the shape (n_heads, t, d_head).", right=LEADING, read=MERGE)
merge_heads.wrong("batch_required", "merge_heads",
    {"*leading, n_heads, t, d_head = x.shape": "batch, n_heads, t, d_head = x.shape\n    leading = [batch]"},
    does="Your code requires exactly one leading axis.", right=LEADING, read=MERGE)
merge_heads.wrong("one_leading_axis_at_most", "merge_heads", {"    tokens = ":
    "    if x.ndim > 3:\n        return np.concatenate([x[:, h] for h in range(x.shape[1])], axis=-1)\n    tokens = "},
    does="Your code uses axis 1 as the heads if there are leading axes.", right=LEADING, read=MERGE)
merge_heads.wrong("leading_folded", "merge_heads", {"reshape(*leading, t,": "reshape(-1,"},
    does="Your code merges the leading axes with the tokens.", right=LEADING, read=MERGE)
merge_heads.wrong("heads_reversed", "merge_heads", {"np.swapaxes(x, -3, -2)": "np.swapaxes(x[..., ::-1, :, :], -3, -2)"},
    does="Your heads are in reverse order.", right="Head 0 comes first.", read=MERGE)
merge_heads.wrong("squeezed", "merge_heads", {"return result": "return result.squeeze()"},
    does="Your code removes axes of length 1.", right="Keep axes of length 1.", read="numpy.squeeze")
merge_heads.wrong("changes_x", "purity", {"    tokens = ": "    x *= 2\n    x /= 4\n    tokens = "})
merge_heads.wrong("remembers", "purity", {"(x):": "(x, kept={}):", "return result": "return kept.setdefault(x.shape, result)"},
    memory=True,
    does="Your code returns the result of an earlier call.", right="Use the x of this call.", read=KEPT)
merge_heads.wrong("float64_result", "dtype", {"return result": "return result.astype(float)"})


EXAMPLES = {
    "merge_heads": [
        ((np.array([[[5.0, 2.0]], [[3.0, 4.0]]]),), {}),
        ((np.array([[[9.0, 2.0], [5.0, 6.0]], [[3.0, 4.0], [7.0, 8.0]]]),), {}),
        ((np.arange(2.0, 14.0).reshape(2, 3, 2),), {}),
        ((np.arange(2.0, 10.0).reshape(2, 2, 1, 2),), {}),
    ],
}
