"""Misconceptions about split_heads."""

import numpy as np

from autograder.homework.library import KEPT, written

RUNS = "Head h takes the h-th run of consecutive features."
PLACE = "The shape is (..., n_heads, t, d_head)."
LEADING = "Accept any number of leading axes, including none."
DIVIDES = "Raise ValueError if n_heads does not divide d_model."
SPLIT = "the formula in the docstring of `split_heads`; Vaswani et al. 2017, section 3.2.2"


@written
def split_heads(x, n_heads):
    *leading, t, d_model = x.shape
    if d_model % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    d_head = d_model // n_heads
    heads = x.reshape(*leading, t, n_heads, d_head)
    result = np.swapaxes(heads, -3, -2)
    return result


split_heads.wrong("reshape_only", "split_heads", {"(*leading, t, n_heads, d_head)": "(*leading, n_heads, t, d_head)",
    "np.swapaxes(heads, -3, -2)": "heads"},
    does="Your code only reshapes, which mixes tokens.", right="Split the last axis, then move the head axis before the token axis.",
    read=SPLIT)
split_heads.wrong("interleaved", "split_heads", {"(*leading, t, n_heads, d_head)": "(*leading, t, d_head, n_heads)",
    "np.swapaxes(heads, -3, -2)": "np.moveaxis(heads, -1, -3)"}, does="Your head h takes every n_heads-th feature.", right=RUNS,
    read=SPLIT)
split_heads.wrong("heads_after_tokens", "split_heads", {"np.swapaxes(heads, -3, -2)": "heads"},
    does="Your code puts the heads after the tokens.", right=PLACE, read=SPLIT)
split_heads.wrong("heads_first", "split_heads", {"np.swapaxes(heads, -3, -2)": "np.moveaxis(heads, -2, 0)"},
    does="Your code puts the heads before the leading axes.", right=PLACE, read=SPLIT)
split_heads.wrong("heads_last", "split_heads", {"np.swapaxes(heads, -3, -2)": "np.moveaxis(heads, -2, -1)"},
    does="Your code puts the heads last.", right=PLACE, read=SPLIT)
split_heads.wrong("features_before_tokens", "split_heads", {"np.swapaxes(heads, -3, -2)": "np.moveaxis(heads, -3, -1)"},
    does="Your code puts the tokens last.", right=PLACE, read=SPLIT)
split_heads.wrong("count_as_width", "split_heads", {"d_head = d_model // n_heads": "n_heads, d_head = d_model // n_heads, n_heads"},
    does="Your code uses n_heads as the width of a head.", right="Create n_heads heads of width d_model // n_heads.",
    read=SPLIT)
split_heads.wrong("heads_reversed", "split_heads", {"return result": "return result[..., ::-1, :, :]"},
    does="Your heads are in reverse order.", right=RUNS, read=SPLIT)
split_heads.wrong("one_sequence_only", "split_heads", {"*leading, t, d_model = x.shape": "t, d_model = x.shape\n    leading = []"},
    does="Your code handles only the shape (t, d_model).", right=LEADING, read=SPLIT)
split_heads.wrong("batch_required", "split_heads",
    {"*leading, t, d_model = x.shape": "batch, t, d_model = x.shape\n    leading = [batch]"},
    does="Your code requires exactly one leading axis.", right=LEADING, read=SPLIT)
split_heads.wrong("axes_from_the_front", "split_heads", {"np.swapaxes(heads, -3, -2)": "np.swapaxes(heads, 1, 2)"},
    {"np.swapaxes(heads, -3, -2)": "np.swapaxes(heads, 0, 1)"},
    does="Your code swaps axes counted from the front.", right=PLACE, read="numpy.swapaxes")
split_heads.wrong("leading_folded", "split_heads", {"x.reshape(*leading, t,": "x.reshape(-1,", "heads, -3, -2)": "heads, 0, 1)"},
    {"return result": "return result.reshape(-1, *result.shape[-3:])"},
    does="Your code merges the leading axes into one.", right=LEADING, read=SPLIT)
split_heads.wrong("squeezed", "split_heads", {"return result": "return result.squeeze()"},
    does="Your code removes axes of length 1.", right="Keep axes of length 1.", read="numpy.squeeze")
split_heads.wrong("list", "split_heads", {"return result": "return list(np.moveaxis(result, -3, 0))"},
    {"return result": "return list(result)"},
    does="Your code returns a list.", right="Return an array.", read="numpy.stack")
split_heads.wrong("rest_dropped", "split_heads", {"if d_model % n_heads != 0": "if False",
    "x.reshape(": "x[..., : n_heads * d_head].reshape("},
    does="Your code drops features that do not fit into the heads.", right=DIVIDES,
    read="the section Raises of the docstring of `split_heads`")
split_heads.wrong("assert", "split_heads", {"raise ValueError": "raise AssertionError"},
    does="Your code checks with assert, which raises AssertionError.", right=DIVIDES,
    read="the section Raises of the docstring of `split_heads`")
split_heads.wrong("tokens_must_divide", "split_heads", {"if d_model % n_heads": "if t % n_heads"},
    does="Your ValueError depends on the number of tokens.", right=DIVIDES,
    read="the section Raises of the docstring of `split_heads`")
split_heads.wrong("one_head_refused", "split_heads", {"!= 0:": "!= 0 or n_heads == 1:"},
    does="Your code rejects n_heads = 1.", right="Accept n_heads = 1.", read=SPLIT)
split_heads.wrong("full_width_refused", "split_heads", {"!= 0:": "!= 0 or n_heads == d_model:"},
    does="Your code rejects n_heads = d_model.", right="Accept n_heads = d_model.", read=SPLIT)
split_heads.wrong("changes_x", "purity",
    {"x.reshape(*leading, t, n_heads, d_head)": "x\n    heads.shape = (*leading, t, n_heads, d_head)"},
    {"    heads = ": "    x *= 2\n    x /= 4\n    heads = "})
split_heads.wrong("remembers", "purity", {"n_heads):": "n_heads, kept={}):",
    "return result": "return kept.setdefault((x.shape, n_heads), result)"}, memory=True,
    does="Your code returns the result of an earlier call.", right="Use the x of this call.", read=KEPT)
split_heads.wrong("float64_result", "dtype", {"return result": "return result.astype(float)"})


TOKENS = np.array([[9.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [0.0, -1.0, -2.0, -3.0]])

EXAMPLES = {
    "split_heads": [
        ((TOKENS[:2], 2), {}),
        ((TOKENS[:, :2], 2), {}),
        ((np.stack([TOKENS[:2], -TOKENS[:2]]), 2), {}),
        ((TOKENS[:2, :3], 2), {}),
    ],
}
