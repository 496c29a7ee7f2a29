"""Misconceptions about positional_encoding."""

import numpy as np

from autograder.homework.library import KEPT, written

PE = "the formula in the docstring of `positional_encoding`; Vaswani et al. 2017, section 3.5"
PAIRS = "np.stack([np.sin(angles), np.cos(angles)], axis=-1)"
COLUMNS = "np.where(np.arange(d_model) % 2 == 0, np.sin(angles), np.cos(angles))"
SHARED = "The sine and cosine of pair i share the angle p / 10000**(2i / d_model)."


@written
def positional_encoding(t, d_model):
    if d_model % 2 != 0:
        raise ValueError("d_model must be even")
    positions = np.arange(t)[:, None]
    exponents = np.arange(0, d_model, 2) / d_model
    angles = positions / 10000.0**exponents
    pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
    result = pairs.reshape(t, d_model)
    return result


positional_encoding.wrong("halves", "positions", {"np.stack([np.sin(angles), np.cos(angles)], axis=-1)":
    "np.concatenate([np.sin(angles), np.cos(angles)], axis=1)"},
    does="Your code puts all sines before all cosines.", right="Alternate sines and cosines column by column.",
    read=PE)
positional_encoding.wrong("cosine_first", "positions", {"np.sin(": "np.cos(", "np.cos(": "np.sin("},
    does="Your code puts cosines in the even columns and sines in the odd ones.", right="Even columns are sines, odd columns are cosines.", read=PE)
positional_encoding.wrong("only_sines", "positions", {"np.cos(": "np.sin("},
    does="Your code puts sines in the odd columns too.", right="Even columns are sines, odd columns are cosines.", read=PE)
positional_encoding.wrong("from_one", "positions", {"np.arange(t)": "np.arange(1, t + 1)"},
    does="Your code counts the positions from 1, so every position gets the vector of the next one.", right="The first position is p = 0.", read=PE)
positional_encoding.wrong("scaled_to_length", "positions", {"np.arange(t)[:, None]": "np.arange(t)[:, None] / t"},
    {"np.arange(t)[:, None]": "np.arange(t)[:, None] / max(t - 1, 1)"},
    does="Your code divides the positions by the length of the sequence, so the distance of two tokens looks different in texts of different length.",
    right="The positions are 0, 1, 2, ... for every length.", read=PE)
OWN = "Every position has its own encoding."
for length in (64, 512):
    positional_encoding.wrong(f"wrapped_at_{length}", "positions", {"np.arange(t)": f"(np.arange(t) % {length})"},
        does=f"Your code restarts at 0 at position {length}.", right=OWN, read=PE)
positional_encoding.wrong("clamped", "positions", {"np.arange(t)": "np.minimum(np.arange(t), 63)"},
    {"np.arange(t)": "np.minimum(np.arange(t), 511)"},
    does="Your code gives the same encoding to all positions from 63 or 511 on.", right=OWN, read=PE)
positional_encoding.wrong("half_exponent", "positions", {"np.arange(0, d_model, 2)": "np.arange(d_model // 2)"},
    {"10000.0": "100.0"},
    does="Your exponent is half of the correct one.", right=SHARED, read=PE)
positional_encoding.wrong("double_exponent", "positions", {"np.arange(0, d_model, 2)": "2 * np.arange(0, d_model, 2)"},
    does="Your exponent is twice the correct one, as happens when i runs over 0, 2, 4, ... and is doubled again.", right=SHARED, read=PE)
positional_encoding.wrong("own_frequency", "positions", {"np.arange(0, d_model, 2)": "np.arange(d_model)", PAIRS: COLUMNS},
    {"np.arange(0, d_model, 2)": "2 * np.arange(d_model)", PAIRS: COLUMNS},
    does="Your code gives every column its own frequency, so a shift by some positions is no longer a rotation of each pair of columns.", right=SHARED, read=PE)
positional_encoding.wrong("tensor2tensor", "positions", {"np.arange(0, d_model, 2) / d_model":
    "np.arange(d_model // 2) / max(d_model // 2 - 1, 1)"},
    does="Your frequencies end at exactly 1 / 10000, as in the tensor2tensor library.", right=SHARED,
    read="Vaswani et al. 2017, section 3.5")
positional_encoding.wrong("base_1000", "positions", {"10000.0": "1000.0"}, {"10000.0": "np.e"},
    does="Your code uses a base other than 10000.", right=SHARED, read="Vaswani et al. 2017, section 3.5")
positional_encoding.wrong("multiplied", "positions", {"positions / ": "positions * "},
    does="Your code multiplies the position by the power of 10000 instead of dividing, so the later columns turn so fast that neighbouring positions look unrelated.", right="The angle is p / 10000**(2i / d_model).", read=PE)
positional_encoding.wrong("degrees", "positions", {"    pairs": "    angles = np.deg2rad(angles)\n    pairs"},
    does="Your code converts the angles from degrees.", right="The angles are in radians, as np.sin expects.", read="numpy.sin")
positional_encoding.wrong("transposed", "positions", {"return result": "return result.T"},
    does="Your result is the transpose of the expected one.", right="The shape is (t, d_model): one row per position.", read=PE)
positional_encoding.wrong("batch_axis", "positions", {"return result": "return result[None]"},
    does="Your result has an extra leading axis of length 1.", right="Return an array of shape (t, d_model).", read=PE)
positional_encoding.wrong("squeezed", "positions", {"return result": "return result.squeeze()"},
    does="Your code removes an axis of length 1.", right="One position gives an array of shape (1, d_model).", read="numpy.squeeze")
positional_encoding.wrong("odd_accepted", "positions", {"    if d_model % 2 != 0:\n": "    if False:\n",
    "pairs.reshape(t, d_model)": "pairs.reshape(t, -1)[:, :d_model]"},
    does="Your code accepts an odd d_model.", right="Raise ValueError for an odd d_model.",
    read="the section Raises of the docstring of `positional_encoding`")
positional_encoding.wrong("assert", "positions", {'    if d_model % 2 != 0:\n        raise ValueError("d_model must be even")\n':
    "    assert d_model % 2 == 0\n"},
    does="Your code checks d_model with assert, which raises AssertionError.", right="Raise ValueError.",
    read="the section Raises of the docstring of `positional_encoding`")
positional_encoding.wrong("one_column_accepted", "positions", {"if d_model % 2 != 0": "if d_model % 2 != 0 and d_model > 1",
    "pairs.reshape(t, d_model)": "pairs.reshape(t, -1)[:, :d_model]"},
    does="Your code rejects larger odd numbers, but accepts d_model=1.",
    right="Check d_model yourself: NumPy's broadcasting raises ValueError only for odd numbers above 1.",
    read="the section Raises of the docstring of `positional_encoding`")
positional_encoding.wrong("odd_length_refused", "positions", {"if d_model % 2 != 0": "if d_model % 2 != 0 or (t > 1 and t % 2)"},
    {"if d_model % 2 != 0": "if d_model % 2 != 0 or t % 2"},
    does="Your code rejects an odd number of positions.", right="Only d_model must be even.",
    read="the section Raises of the docstring of `positional_encoding`")
positional_encoding.wrong("one_position_refused", "positions", {"if d_model % 2 != 0": "if d_model % 2 != 0 or t < 2"},
    does="Your code rejects a single position.", right="Accept any t >= 1.", read=PE)
positional_encoding.wrong("float32_result", "dtype", {"return result": "return result.astype(np.float32)"},
    does="Your result is float32.", right="The docstring asks for float64.",
    read="the section Returns of the docstring of `positional_encoding`")
positional_encoding.wrong("cached", "positions",
    {"def positional_encoding(t, d_model)": "def positional_encoding(t, d_model, cache={})",
     "    return result": "    result = cache.setdefault(d_model, result)[:t]\n    return result"}, memory=True,
    does="Your code reuses the encoding of the first call with the same d_model.", right="Compute the encoding in every call: t may differ.", read=KEPT)


EXAMPLES = {
    "positional_encoding": [((1, 2), {}), ((2, 4), {}), ((4, 4), {}), ((2, 3), {}), ((2, 1), {}), ((65, 2), {})],
}
