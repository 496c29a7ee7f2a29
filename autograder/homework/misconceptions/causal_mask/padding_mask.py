"""Misconceptions about padding_mask."""

import numpy as np

from autograder.homework.library import written

BOOLEAN = "Return a boolean array: True where the query may attend to the key."


@written
def padding_mask(lengths, t):
    if np.any(lengths < 0) or np.any(lengths > t):
        raise ValueError("a length is out of range")
    keys = np.arange(t)
    seen = keys < lengths[:, np.newaxis]
    return seen[:, np.newaxis, :]


FIRST = "A sequence of length n allows the keys 0 to n - 1."
THREE_AXES = "The shape is (b, 1, t), with an axis of length 1 for the queries."
RANGE = "Raise ValueError if and only if a length is negative or above t."
RAISES = "the section Raises of the docstring of `padding_mask`"
CHECK = '    if np.any(lengths < 0) or np.any(lengths > t):\n        raise ValueError("a length is out of range")\n'

padding_mask.wrong("inverted", "padding", {"keys <": "keys >="}, does="Your mask is True for the padding, so the queries attend to the padding instead of the tokens.",
    right="True marks the keys that queries may attend to. " + FIRST)
padding_mask.wrong("one_too_many", "padding", {"keys <": "keys <="}, does="Your mask allows one key too many, so padding leaks into the output of shorter sequences.", right=FIRST)
padding_mask.wrong("one_too_few", "padding", {"keys <": "keys + 1 <"}, does="Your mask hides the last key of each sequence, so no query attends to the last token.",
    right=FIRST)
padding_mask.wrong("padding_in_front", "padding", {"np.arange(t)": "np.arange(t)[::-1]"},
    does="Your mask hides the first keys of the shorter sequences, so tokens are hidden and padding leaks into the output.", right="The padding is at the end. " + FIRST)
padding_mask.wrong("sorted", "padding", {"    keys": "    lengths = np.sort(lengths)[::-1]\n    keys"},
    {"    keys": "    lengths = np.sort(lengths)\n    keys"},
    does="Your code sorts the lengths, so the rows no longer match the sequences.",
    right="Keep the order: row i belongs to lengths[i].")
padding_mask.wrong("first_for_all", "padding", {"lengths[:, np.newaxis]": "np.full((len(lengths), 1), lengths[0])"},
    {"lengths[:, np.newaxis]": "np.full((len(lengths), 1), lengths.max())"},
    {"lengths[:, np.newaxis]": "np.full((len(lengths), 1), lengths.min())"},
    does="Your code uses one length for all sequences.", right="Row i belongs to lengths[i].")
padding_mask.wrong("reshaped", "padding",
    {"seen = keys < lengths[:, np.newaxis]": "seen = (keys[:, np.newaxis] < lengths).reshape(len(lengths), t)"},
    does="Your code compares in the shape (t, b) and reshapes, which mixes the sequences.",
    right="Compare keys < lengths[:, None], which has the shape (b, t).",
    read="numpy.reshape, and the NumPy user guide, Broadcasting")
padding_mask.wrong("no_query_axis", "padding", {"seen[:, np.newaxis, :]": "seen"}, does="Your mask has no axis for the queries, so against scores of shape (b, t, t) its first axis is taken for the queries.",
    right=THREE_AXES)
padding_mask.wrong("queries_masked", "padding", {"[:, np.newaxis, :]": "[:, :, np.newaxis]"},
    does="Your mask has the keys on the axis of the queries.", right=THREE_AXES)
padding_mask.wrong("every_query", "padding", {"seen[:, np.newaxis, :]": "np.repeat(seen[:, np.newaxis, :], t, axis=1)"},
    does="Your mask has t rows, one per query.", right=THREE_AXES)
padding_mask.wrong("pairs", "padding", {"seen[:, np.newaxis, :]": "seen[:, np.newaxis, :] & seen[:, :, np.newaxis]"},
    does="Your mask hides queries as well as keys.", right=THREE_AXES)
padding_mask.wrong("heads_axis", "padding", {"[:, np.newaxis, :]": "[:, np.newaxis, np.newaxis, :]"},
    does="Your mask has an extra axis.", right=THREE_AXES)
padding_mask.wrong("width_of_the_longest", "padding", {"np.arange(t)": "np.arange(lengths.max())"},
    does="Your mask is only as wide as the longest sequence, so it does not fit the scores of a batch that is padded to t.", right="The last axis has length t.")
padding_mask.wrong("numbers", "padding", {"return seen[:, np.newaxis, :]": "return seen[:, np.newaxis, :].astype(float)"},
    {"return seen[:, np.newaxis, :]": "return seen[:, np.newaxis, :].astype(int)"}, does="Your mask contains numbers, such as 0 and 1, or 0 and -inf.", right=BOOLEAN,
    read="numpy.ndarray.astype")
padding_mask.wrong("squeezed", "padding", {"    return seen[:, np.newaxis, :]": "    return seen if len(seen) == 1 else seen[:, np.newaxis, :]"},
    {"return seen[:, np.newaxis, :]": "return seen[:, np.newaxis, :].squeeze()"},
    does="Your code removes axes of length 1.", right=THREE_AXES + " This includes a single sequence.", read="numpy.squeeze")
padding_mask.wrong("list", "padding", {"[:, np.newaxis, :]": "[:, np.newaxis, :].tolist()"}, does="Your mask is a list.",
    right=BOOLEAN, read="numpy.array")
padding_mask.wrong("no_error", "padding", {CHECK: ""}, {" or ": " and "},
    does="Your code accepts a length out of range. If you combine the two conditions with `and`, use `or`.",
    right=RANGE, read=RAISES)
padding_mask.wrong("negative_accepted", "padding", {"np.any(lengths < 0) or ": ""}, does="Your code accepts negative lengths.",
    right=RANGE, read=RAISES)
padding_mask.wrong("above_accepted", "padding", {" or np.any(lengths > t)": ""}, does="Your code accepts a length above t.",
    right=RANGE, read=RAISES)
padding_mask.wrong("only_all", "padding", {"np.any": "np.all"}, does="Your code raises only if all lengths are out of range.",
    right=RANGE, read="numpy.any")
padding_mask.wrong("first_checked", "padding", {"(lengths < 0)": "(lengths[0] < 0)", "(lengths > t)": "(lengths[0] > t)"},
    does="Your code checks only the first length.", right=RANGE, read="numpy.any")
padding_mask.wrong("zero_refused", "padding", {"lengths < 0": "lengths < 1"},
    does="Your code rejects a length of 0.", right="Such a sequence is all padding, and its mask is all False. " + RANGE, read=RAISES)
padding_mask.wrong("full_length_refused", "padding", {"lengths > t": "lengths >= t"},
    does="Your code rejects a length of t.", right="Such a sequence has no padding. " + RANGE, read=RAISES)
for name, error in (("assertion", "AssertionError"), ("index_error", "IndexError"), ("type_error", "TypeError")):
    padding_mask.wrong(name, "padding", {"ValueError": error}, does=f"Your code raises {error} for a length out of range.",
    right=RANGE, read=RAISES)
padding_mask.wrong("changes_lengths", "purity", {"    keys": "    lengths -= 1\n    keys", "keys <": "keys <="},
    {"    keys": "    lengths.sort()\n    keys"})


EXAMPLES = {
    "padding_mask": [
        ((np.array([1, 2, 0]), 3), {}),
        ((np.array([0, 3]), 3), {}),
        ((np.array([1, 3]), 2), {}),
        ((np.array([2]), 3), {}),
        ((np.array([1, -1]), 2), {}),
        ((np.array([3, 1]), 2), {}),
        ((np.array([-1, 1]), 2), {}),
    ],
}
