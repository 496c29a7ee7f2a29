"""Misconceptions about residual."""

import numpy as np

from autograder.homework.library import KEPT, written

ADDS = "Return x + sublayer(x)."


@written
def residual(x, sublayer):
    branch = sublayer(x)
    result = x + branch
    return result


residual.wrong("no_skip", "residual", {"x + branch": "branch"},
    does="Your code returns only sublayer(x).", right=ADDS, read="the docstring of `residual`")
residual.wrong("no_branch", "residual", {"x + branch": "x + 0 * branch"},
    does="Your code does not add sublayer(x).", right=ADDS, read="the docstring of `residual`")
residual.wrong("subtracted", "residual", {"x + branch": "x - branch"}, {"x + branch": "branch - x"},
    does="Your code subtracts instead of adding.", right=ADDS, read="the docstring of `residual`")
residual.wrong("averaged", "residual", {"x + branch": "(x + branch) / 2"},
    does="Your code divides the sum by 2, so the signal of early layers halves with every addition.", right=ADDS, read="the docstring of `residual`")
residual.wrong("root_of_two", "residual", {"x + branch": "(x + branch) / 2**0.5"},
    does="Your code divides the sum by sqrt(2).", right=ADDS, read="the docstring of `residual`")
residual.wrong("skip_twice", "residual", {"x + branch": "2 * x + branch"},
    does="Your code adds x twice, so the signal of early layers doubles with every addition.", right=ADDS, read="the docstring of `residual`")
residual.wrong("branch_twice", "residual", {"x + branch": "x + 2 * branch"},
    does="Your code adds sublayer(x) twice.", right=ADDS, read="the docstring of `residual`")
residual.wrong("multiplied", "residual", {"x + branch": "x * branch"},
    does="Your code multiplies instead of adding.", right=ADDS, read="the docstring of `residual`")
residual.wrong("applied_twice", "residual", {"sublayer(x)": "sublayer(sublayer(x))"},
    {"x + branch": "x + branch + sublayer(x + branch)"},
    does="Your code applies the sublayer twice.", right=ADDS, read="the docstring of `residual`")
residual.wrong("overwritten", "residual", {"x + branch": "branch + branch"},
    does="Your code overwrites x with sublayer(x) before adding.", right=ADDS, read="the docstring of `residual`")
residual.wrong("normed_input", "residual",
    {"sublayer(x)": "sublayer((x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5))"},
    does="Your code normalises the input of the sublayer.", right="Return x + sublayer(x); the block applies the norm.",
    read="the docstring of `residual`")
residual.wrong("normed_sum", "residual",
    {"return result": "return (result - result.mean(-1, keepdims=True)) / np.sqrt(result.var(-1, keepdims=True) + 1e-5)"},
    does="Your code normalises the sum.", right="Return x + sublayer(x); the block applies the norm.",
    read="the docstring of `residual`")
residual.wrong("relu_after", "residual", {"return result": "return np.maximum(result, 0)"},
    does="Your code applies a relu to the sum, as ResNets do.", right=ADDS, read="the docstring of `residual`")
residual.wrong("concatenated", "residual", {"x + branch": "np.concatenate([x, branch], axis=-1)"},
    does="Your code concatenates x and sublayer(x).", right=ADDS, read="the docstring of `residual`")
residual.wrong("row_by_row", "residual", {"sublayer(x)": "np.stack([sublayer(row) for row in x])"},
    {"sublayer(x)": "np.stack([sublayer(row[None])[0] for row in x])"},
    does="Your code calls the sublayer for one row at a time.", right="Call the sublayer once with all of x: attention mixes the rows.",
    read="the docstring of `residual`")
residual.wrong("changes_x", "purity", {"x + branch": "np.add(x, branch, out=x)"})
residual.wrong("remembers", "purity", {"(x, sublayer):": "(x, sublayer, cache={}):",
    "    result =": "    branch = cache.setdefault(x.shape, branch)\n    result ="}, memory=True,
    does="Your code reuses the output from an earlier call.", right="Call the sublayer in every call.", read=KEPT)
residual.wrong("float64_result", "dtype", {"return result": "return result.astype(float)"})


X = np.array([[2.0, 1.0], [0.5, -1.0]])

EXAMPLES = {
    "residual": [
        ((np.array([2.0, -1.0, 3.0]), lambda h: 0.5 * h), {}),
        ((X, lambda h: h[::-1] - 1), {}),
    ],
}
