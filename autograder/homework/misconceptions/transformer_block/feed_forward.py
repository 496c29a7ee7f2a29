"""Misconceptions about feed_forward."""

import numpy as np

from autograder.homework.library import ANY_ORDER, KEPT, written

FFN_FORMULA = "the formula in the docstring of `feed_forward`; Vaswani et al. 2017, section 3.3"
LEADING = "Accept any number of leading axes, including none."
BETWEEN = "Apply the relu between the two layers: relu(x @ w_1 + b_1) @ w_2 + b_2."


@written
def feed_forward(x, params):
    hidden = x @ params["w_1"]
    hidden = hidden + params["b_1"]
    active = np.maximum(hidden, 0)
    result = active @ params["w_2"]
    result = result + params["b_2"]
    return result


feed_forward.wrong("no_relu", "feed_forward", {"np.maximum(hidden, 0)": "hidden"},
    does="Your code has no relu between the two layers, so they act like one linear layer.", right="Apply the relu between the two layers.", read=FFN_FORMULA)
feed_forward.wrong("relu_last", "feed_forward", {"np.maximum(hidden, 0)": "hidden",
    "return result": "return np.maximum(result, 0)"},
    does="Your code applies the relu after the second layer.", right="Apply the relu between the two layers.", read=FFN_FORMULA)
feed_forward.wrong("relu_twice", "feed_forward", {"return result": "return np.maximum(result, 0)"},
    does="Your code applies the relu after both layers.", right="Return the second layer without a relu.", read=FFN_FORMULA)
feed_forward.wrong("relu_on_input", "feed_forward", {"hidden = x @": "hidden = np.maximum(x, 0) @"},
    {"hidden = x @": "hidden = np.maximum(x, 0) @", "np.maximum(hidden, 0)": "hidden"},
    does="Your code applies the relu to x, so the negative features of every token are lost.", right="Apply the relu to x @ w_1 + b_1.", read=FFN_FORMULA)
feed_forward.wrong("gelu", "feed_forward",
    {"np.maximum(hidden, 0)": "0.5 * hidden * (1 + np.tanh((2 / np.pi) ** 0.5 * (hidden + 0.044715 * hidden**3)))"},
    {"np.maximum(hidden, 0)": "hidden / (1 + np.exp(-1.702 * hidden))"},
    does="Your code uses a GELU, as GPT-2 does.", right="Use relu, as the original paper does.", read=FFN_FORMULA)
feed_forward.wrong("leaky_relu", "feed_forward", {"np.maximum(hidden, 0)": "np.maximum(hidden, 0.01 * hidden)"},
    does="Your code uses a leaky relu.", right="Use relu: it replaces negative entries by 0.",
    read=FFN_FORMULA)
feed_forward.wrong("tanh", "feed_forward", {"np.maximum(hidden, 0)": "np.tanh(hidden)"},
    {"np.maximum(hidden, 0)": "1 / (1 + np.exp(-hidden))"},
    does="Your code uses tanh or sigmoid instead of relu.", right="Use relu: it replaces negative entries by 0.", read=FFN_FORMULA)
feed_forward.wrong("silu", "feed_forward", {"np.maximum(hidden, 0)": "hidden / (1 + np.exp(-hidden))"},
    does="Your code uses SiLU instead of relu.", right="Use relu: it replaces negative entries by 0.", read=FFN_FORMULA)
feed_forward.wrong("absolute", "feed_forward", {"np.maximum(hidden, 0)": "np.abs(hidden)"},
    does="Your code uses the absolute value instead of relu.", right="Use relu: it replaces negative entries by 0.", read=FFN_FORMULA)
feed_forward.wrong("minimum", "feed_forward", {"np.maximum(": "np.minimum("},
    does="Your code keeps the negative values instead of the positive ones.", right="Use relu: it replaces negative entries by 0.", read=FFN_FORMULA)
feed_forward.wrong("maximum_of_all", "feed_forward", {"np.maximum(hidden, 0)": "np.max(hidden) * (hidden > 0)"},
    does="Your code uses the maximum of the whole array.", right="Use np.maximum, not np.max.",
    read="numpy.maximum")
feed_forward.wrong("no_b_1", "feed_forward", {'    hidden = hidden + params["b_1"]\n': ""},
    does="Your code does not add b_1.", right="Add b_1 before the relu.", read=FFN_FORMULA)
feed_forward.wrong("no_b_2", "feed_forward", {'    result = result + params["b_2"]\n': ""},
    does="Your code does not add b_2, so a token that activates no hidden unit gets 0 instead of b_2.", right="Add b_2 after the second layer.", read=FFN_FORMULA)
feed_forward.wrong("bias_after_relu", "feed_forward", {'    hidden = hidden + params["b_1"]\n': "",
    "np.maximum(hidden, 0)": 'np.maximum(hidden, 0) + params["b_1"]'},
    does="Your code adds b_1 after the relu.", right="Add b_1 before the relu.", read=FFN_FORMULA)
feed_forward.wrong("dict_order", "feed_forward",
    {f'params["{name}"]': f"list(params.values())[{place}]" for place, name in enumerate(("w_1", "b_1", "w_2", "b_2"))},
    does="Your code reads the parameters by their order in the dict.", right=ANY_ORDER, read=FFN_FORMULA)
feed_forward.wrong("adds_input", "feed_forward", {"return result": "return x + result"},
    does="Your code adds x to the result, so the block, which has its own residual, gets a second one.", right="Return the result without x: the block adds the residual.", read=FFN_FORMULA)
feed_forward.wrong("transposed_weights", "feed_forward", {'x @ params["w_1"]': 'x @ params["w_1"].T'},
    does="Your code multiplies by the transposed matrices, as torch.nn.Linear does.", right="Tokens are rows: x @ w_1.",
    read=FFN_FORMULA)
feed_forward.wrong("two_dimensions_only", "feed_forward", {"    hidden = x": "    _, _ = x.shape\n    hidden = x"},
    does="Your code handles only the shape (t, d).", right=LEADING, read=FFN_FORMULA)
feed_forward.wrong("three_dimensions_only", "feed_forward", {"    hidden = x": "    _, _, _ = x.shape\n    hidden = x"},
    does="Your code requires exactly one leading axis before the tokens.", right=LEADING, read=FFN_FORMULA)
feed_forward.wrong("no_single_vector", "feed_forward", {"    hidden = x": "    x.shape[1]\n    hidden = x"},
    does="Your code does not handle a single vector (d,).", right=LEADING, read=FFN_FORMULA)
feed_forward.wrong("stays_flat", "feed_forward", {"return result": "return result.reshape(-1, result.shape[-1])"},
    does="Your code merges the leading axes into one.", right="The result has the shape of x.", read="numpy.reshape")
feed_forward.wrong("squeezed", "feed_forward", {"return result": "return result.squeeze()"},
    does="Your code removes axes of length 1.", right="The result has the shape of x.", read="numpy.squeeze")
feed_forward.wrong("changes_x", "purity", {"    hidden = x": "    np.maximum(x, 0, out=x)\n    hidden = x"})
feed_forward.wrong("changes_params", "purity",
    {'hidden = hidden + params["b_1"]': 'hidden = params["b_1"] = hidden + params["b_1"]'})
feed_forward.wrong("remembers", "purity", {"(x, params):": "(x, params, cache={}):",
    "    hidden = x": '    params = cache.setdefault(params["w_1"].shape, params)\n    hidden = x'},
    memory=True, does="Your code reuses the parameters from an earlier call.", right="Use the params passed to this call.", read=KEPT)
feed_forward.wrong("float64_result", "dtype", {"return result": "return result.astype(float)"})


X = np.array([[2.0, 1.0], [0.5, -1.0]])
FFN = {
    "w_1": np.array([[2.0, -1.0, 0.5], [0.5, 1.0, -1.0]]),
    "b_1": np.array([0.5, -0.5, 0.2]),
    "w_2": np.array([[2.0, 0.0], [0.5, -1.0], [1.0, 1.0]]),
    "b_2": np.array([0.1, -0.3]),
}

EXAMPLES = {
    "feed_forward": [
        ((np.array([2.0, -1.0]), FFN), {}),
        ((X[None], FFN), {}),
        ((X[None, None], FFN), {}),
        ((X, dict(reversed(FFN.items()))), {}),
    ],
}
