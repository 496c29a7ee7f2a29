"""Misconceptions about pre_norm_block."""

import numpy as np

from autograder.homework.library import ANY_ORDER, KEPT, written
from layernorm import layer_norm
from scaled_attention import multi_head_attention
from transformer_block import feed_forward

LEADING = "Accept any number of leading axes, including none."
PRE = "A pre-norm block is h = x + MHA(LN_1(x)), then h + FFN(LN_2(h))."
PRE_FORMULA = "the formula in the docstring of `pre_norm_block`; Xiong et al. 2020, table 1"
PASS_MASK = "Pass mask to multi_head_attention."
PASS_HEADS = "Pass n_heads to the attention."
OWN = "LN_1 uses the parameters ln_1, and LN_2 uses ln_2."
FFN = {
    "w_1": np.array([[2.0, -1.0, 0.5], [0.5, 1.0, -1.0]]),
    "b_1": np.array([0.5, -0.5, 0.2]),
    "w_2": np.array([[2.0, 0.0], [0.5, -1.0], [1.0, 1.0]]),
    "b_2": np.array([0.1, -0.3]),
}


@written
def pre_norm_block(x, params, n_heads, mask=None):
    first, second = params["ln_1"], params["ln_2"]
    normed = layer_norm(x, first["gamma"], first["beta"])
    attended = multi_head_attention(normed, params["attention"], n_heads, mask)
    h = x + attended
    inner = layer_norm(h, second["gamma"], second["beta"])
    result = h + feed_forward(inner, params["ffn"])
    return result


pre_norm_block.wrong("post_norm", "pre_norm", {"normed = layer_norm(x, first[\"gamma\"], first[\"beta\"])": "normed = x",
    "h = x + attended": 'h = layer_norm(x + attended, first["gamma"], first["beta"])', 'inner = layer_norm(h, second["gamma"], second["beta"])': "inner = h",
    "return result": 'return layer_norm(result, second["gamma"], second["beta"])'},
    does="Your code normalises after the additions, as a post-norm block does, so the residual path from input to output is interrupted.", right=PRE, read=PRE_FORMULA)
pre_norm_block.wrong("no_first_norm", "pre_norm", {'layer_norm(x, first["gamma"], first["beta"])': "x"},
    does="Your attention takes x instead of LN_1(x).", right="The attention takes LN_1(x).", read=PRE_FORMULA)
pre_norm_block.wrong("no_second_norm", "pre_norm", {'layer_norm(h, second["gamma"], second["beta"])': "h"},
    does="Your feed-forward network takes h instead of LN_2(h).", right="The feed-forward network takes LN_2(h).", read=PRE_FORMULA)
pre_norm_block.wrong("first_residual_from_normed", "pre_norm", {"h = x + attended": "h = normed + attended"},
    does="Your first residual adds LN_1(x) instead of x.", right="Add x itself: x + MHA(LN_1(x)).", read=PRE_FORMULA)
pre_norm_block.wrong("second_residual_from_normed", "pre_norm", {"result = h +": "result = inner +"},
    does="Your second residual adds LN_2(h) instead of h.", right="Add h itself: h + FFN(LN_2(h)).", read=PRE_FORMULA)
pre_norm_block.wrong("residual_from_normed", "pre_norm", {"h = x + attended": "h = normed + attended",
    "result = h +": "result = inner +"},
    does="Your residuals add the normalised values LN_1(x) and LN_2(h).", right="Add x and h themselves.", read=PRE_FORMULA)
pre_norm_block.wrong("second_residual_from_x", "pre_norm", {"result = h +": "result = x +"},
    does="Your second residual adds x instead of h, so the output of attention passes on only through the feed-forward network.", right="Add h, the sum after the first sublayer.", read=PRE_FORMULA)
pre_norm_block.wrong("parallel", "pre_norm", {"inner = layer_norm(h,": "inner = layer_norm(x,"},
    does="Your second layer norm takes x instead of h, so the feed-forward network does not see the output of attention.", right="Normalise h, the sum after the attention.", read=PRE_FORMULA)
pre_norm_block.wrong("ffn_from_first_norm", "pre_norm", {'layer_norm(h, second["gamma"], second["beta"])': "normed"},
    does="Your feed-forward network takes LN_1(x) instead of LN_2(h).", right="The feed-forward network takes LN_2(h).", read=PRE_FORMULA)
pre_norm_block.wrong("ffn_from_attention", "pre_norm", {"layer_norm(h, second": "layer_norm(attended, second"},
    does="Your second layer norm takes the output of the attention without x.", right="Normalise h, the sum of x and the output of the attention.", read=PRE_FORMULA)
pre_norm_block.wrong("no_first_residual", "pre_norm", {"h = x + attended": "h = attended"},
    does="Your code has no residual connection around the attention.", right="Add x to the output of the attention.", read=PRE_FORMULA)
pre_norm_block.wrong("no_second_residual", "pre_norm", {"result = h +": "result ="},
    does="Your code has no residual connection around the feed-forward network.", right="Add h to the output of the feed-forward network.", read=PRE_FORMULA)
pre_norm_block.wrong("x_added_again", "pre_norm", {"return result": "return x + result"},
    does="Your code adds x once more at the end.", right=PRE, read=PRE_FORMULA)
pre_norm_block.wrong("norm_after_sublayer", "pre_norm", {'normed = layer_norm(x, first["gamma"], first["beta"])': "normed = x",
    "x + attended": 'x + layer_norm(attended, first["gamma"], first["beta"])', 'inner = layer_norm(h, second["gamma"], second["beta"])': "inner = h",
    'h + feed_forward(inner, params["ffn"])': 'h + layer_norm(feed_forward(inner, params["ffn"]), second["gamma"], second["beta"])'},
    does="Your code normalises the outputs of the sublayers, before the additions.", right=PRE, read=PRE_FORMULA)
pre_norm_block.wrong("ffn_first", "pre_norm", {
    'normed = layer_norm(x, first["gamma"], first["beta"])': 'normed = layer_norm(x, second["gamma"], second["beta"])',
    'attended = multi_head_attention(normed, params["attention"], n_heads, mask)': 'attended = feed_forward(normed, params["ffn"])',
    'inner = layer_norm(h, second["gamma"], second["beta"])': 'inner = layer_norm(h, first["gamma"], first["beta"])',
    'feed_forward(inner, params["ffn"])': 'multi_head_attention(inner, params["attention"], n_heads, mask)'},
    does="Your code applies the feed-forward network before the attention.", right=PRE, read=PRE_FORMULA)
pre_norm_block.wrong("no_ffn", "pre_norm", {'result = h + feed_forward(inner, params["ffn"])': "result = h"},
    does="Your block has no feed-forward network.", right=PRE, read=PRE_FORMULA)
pre_norm_block.wrong("no_attention", "pre_norm", {"h = x + attended": "h = x"},
    does="Your block has no attention.", right=PRE, read=PRE_FORMULA)
pre_norm_block.wrong("norms_swapped", "pre_norm", {'params["ln_1"], params["ln_2"]': 'params["ln_2"], params["ln_1"]'},
    does="Your code swaps ln_1 and ln_2, so each norm uses the scale and shift learned for the other.", right=OWN, read=PRE_FORMULA)
pre_norm_block.wrong("one_norm_twice", "pre_norm", {'params["ln_1"], params["ln_2"]': 'params["ln_1"], params["ln_1"]'},
    does="Both of your norms use ln_1.", right=OWN, read=PRE_FORMULA)
pre_norm_block.wrong("second_norm_twice", "pre_norm", {'params["ln_1"], params["ln_2"]': 'params["ln_2"], params["ln_2"]'},
    does="Both of your norms use ln_2.", right=OWN, read=PRE_FORMULA)
pre_norm_block.wrong("dict_order", "pre_norm",
    {f'params["{name}"]': f"list(params.values())[{place}]" for place, name in enumerate(("ln_1", "attention", "ln_2", "ffn"))},
    {'first["gamma"], first["beta"]': "*first.values()", 'second["gamma"], second["beta"]': "*second.values()"},
    does="Your code reads the parameters by their order in the dict.", right=ANY_ORDER,
    read=PRE_FORMULA)
pre_norm_block.wrong("gamma_beta_swapped", "pre_norm", {'["gamma"]': '["beta"]', '["beta"]': '["gamma"]'},
    does="Your code swaps gamma and beta.", right="Call layer_norm(x, gamma, beta).",
    read="the signature of `layer_norm`")
pre_norm_block.wrong("no_gamma_beta", "pre_norm", {'params["ln_1"], params["ln_2"]':
    '({"gamma": np.ones(x.shape[-1], x.dtype), "beta": np.zeros(x.shape[-1], x.dtype)},) * 2'},
    does="Your norms use neither gamma nor beta.", right=OWN, read=PRE_FORMULA)
pre_norm_block.wrong("final_norm", "pre_norm", {"return result": 'return layer_norm(result, second["gamma"], second["beta"])'},
    does="Your code normalises the output of the block.", right="A pre-norm block ends with the residual addition.", read=PRE_FORMULA)
pre_norm_block.wrong("mask_ignored", "pre_norm", {"n_heads, mask)\n    h": "n_heads)\n    h"},
    does="Your code does not pass the mask to the attention, so under a causal mask every position also attends to the tokens it has to predict.", right=PASS_MASK, read="the docstring of `pre_norm_block`")
pre_norm_block.wrong("mask_inverted", "pre_norm", {"n_heads, mask)\n    h": "n_heads, None if mask is None else ~mask)\n    h"},
    does="Your code inverts the mask.", right="True means that the query may attend to the key.", read=PRE_FORMULA)
pre_norm_block.wrong("always_causal", "pre_norm",
    {"n_heads, mask)\n    h": "n_heads, np.tri(x.shape[-2], dtype=bool) if mask is None else mask)\n    h"},
    {"n_heads, mask)\n    h": "n_heads, np.tri(x.shape[-2], dtype=bool))\n    h"},
    does="Your code applies a causal mask that the caller did not pass.", right="Apply exactly the mask that is passed in; with mask=None, attend to every position.", read=PRE_FORMULA)
pre_norm_block.wrong("mask_truthiness", "pre_norm", {"n_heads, mask)\n    h": "n_heads, mask if mask else None)\n    h"},
    does="Your code tests the truth value of the mask, which raises ValueError for an array.",
    right="Test `mask is not None`.",
    read="the Python documentation, Truth Value Testing")
pre_norm_block.wrong("one_head", "pre_norm", {'params["attention"], n_heads': 'params["attention"], 1'},
    does="Your code always runs attention with one head.", right=PASS_HEADS, read=PRE_FORMULA)
pre_norm_block.wrong("attention_not_scaled", "pre_norm",
    {'    h = x + attended': '    scaled = params["attention"] | {"w_q": params["attention"]["w_q"] * (x.shape[-1] // n_heads) ** 0.5}\n'
     '    attended = multi_head_attention(normed, scaled, n_heads, mask)\n    h = x + attended'},
    does="Your attention does not divide the scores by sqrt(d_head), so with wide heads nearly all weight falls on one key.",
    right="Divide the scores of each head by sqrt(d_head).", read="Vaswani et al. 2017, section 3.2.1")
pre_norm_block.wrong("nan_when_nothing_is_seen", "pre_norm",
    {"    h = x + attended": "    if mask is not None:\n        attended = np.where(mask.any(axis=-1, keepdims=True), attended, np.nan)\n"
     "    h = x + attended"},
    does="Your attention returns nan for a query that may attend to no key.",
    right="Such a query gets zero weights and a zero output.", read="the docstring of `scaled_dot_product_attention`")
pre_norm_block.wrong("eps_outside_root", "pre_norm", *({"layer_norm(": "(lambda a, gamma, beta: gamma * (a - a.mean(-1, keepdims=True)) / "
    f"(a.std(-1, keepdims=True) + {number}) + beta)("} for number in ("1e-5", "1e-6", "1e-8")),
    does="Your layer norms add eps to the standard deviation, outside the root.", right="Divide by sqrt(var + eps).", read="the formula in the docstring of `layer_norm`")
pre_norm_block.wrong("minus_1e9", "pre_norm", {"    h = x + attended": "    if mask is not None:\n"
    '        values = (normed @ params["attention"]["w_v"]).mean(axis=-2, keepdims=True)\n'
    '        attended = np.where(mask.any(axis=-1, keepdims=True), attended, values @ params["attention"]["w_o"])\n'
    "    h = x + attended"},
    does="Your attention gives equal weights to a query with no allowed key, as happens when masked scores are a finite number such as -1e9.",
    right="Such a query gets zero weights and a zero output.", read="the docstring of `scaled_dot_product_attention`")
pre_norm_block.wrong("no_ffn_biases", "pre_norm", {'params["ffn"]': '{name: w * (w.ndim > 1) for name, w in params["ffn"].items()}'},
    does="Your feed-forward network has no biases.", right="Add b_1 and b_2: relu(x @ w_1 + b_1) @ w_2 + b_2.", read="the docstring of `feed_forward`")
pre_norm_block.wrong("gelu", "pre_norm", {"feed_forward(": "(lambda a, p: (lambda z: 0.5 * z * (1 + np.tanh((2 / np.pi) ** 0.5 * (z + 0.044715 * z**3))))"
    "(a @ p['w_1'] + p['b_1']) @ p['w_2'] + p['b_2'])("},
    does="Your feed-forward network uses a GELU, as GPT-2 does.", right="Use relu, as the original paper does.", read="the docstring of `feed_forward`")
pre_norm_block.wrong("mask_replaced", "pre_norm",
    {"n_heads, mask)\n    h": "n_heads, None if mask is None else np.tri(x.shape[-2], dtype=bool))\n    h"},
    does="Your code applies a causal mask in place of every mask that is passed.", right="Apply exactly the mask that is passed in.", read=PRE_FORMULA)
pre_norm_block.wrong("another_eps", "pre_norm",
    *({'["beta"])': f'["beta"], {number})'} for number in ("1e-3", "1e-6", "1e-8")),
    does="Your layer norms use another eps than 1e-5.", right="Use the default eps of `layer_norm`, 1e-5.", read="the signature of `layer_norm`")
pre_norm_block.wrong("two_dimensions_only", "pre_norm", {"    first,": "    _, _ = x.shape\n    first,"},
    does="Your code handles only the shape (t, d).", right=LEADING, read=PRE_FORMULA)
pre_norm_block.wrong("three_dimensions_only", "pre_norm", {"    first,": "    _, _, _ = x.shape\n    first,"},
    does="Your code requires exactly one leading axis.", right=LEADING, read=PRE_FORMULA)
pre_norm_block.wrong("one_leading_axis_at_most", "pre_norm", {"    first,": "    if x.ndim > 3:\n        raise ValueError\n    first,"},
    does="Your code handles at most one leading axis.", right=LEADING, read=PRE_FORMULA)
pre_norm_block.wrong("flat_mask_required", "pre_norm", {"    attended = multi_head": "    if mask is not None:\n        _, _ = mask.shape\n    attended = multi_head"},
    does="Your code handles only 2-D masks.", right="Accept any mask that broadcasts to (..., t, t).", read="the NumPy user guide, Broadcasting")
pre_norm_block.wrong("squeezed", "pre_norm", {"return result": "return result.squeeze()"},
    does="Your code removes axes of length 1.", right="The result has the shape of x.", read="numpy.squeeze")
pre_norm_block.wrong("changes_x", "purity", {"h = x + attended": "x += attended\n    h = x"},
    {"h = x + attended": "x += attended\n    h = x.copy()"})
pre_norm_block.wrong("changes_params", "purity", {'params["ln_1"], params["ln_2"]': 'params.pop("ln_1"), params["ln_2"]'})
pre_norm_block.wrong("remembers", "purity", {"mask=None):": "mask=None, cache={}):",
    "    first,": '    params = cache.setdefault(x.shape, params)\n    first,'},
    memory=True, does="Your code reuses the parameters from an earlier call.", right="Use the params passed to this call.", read=KEPT)
pre_norm_block.wrong("float64_result", "dtype", {"return result": "return result.astype(float)"})


X = np.array([[2.0, 1.0], [0.5, -1.0]])
BLOCK = {
    "ln_1": {"gamma": np.array([2.0, 0.5]), "beta": np.array([0.2, -0.1])},
    "attention": {
        "w_q": np.array([[0.5, -1.0], [1.0, 0.5]]),
        "w_k": np.array([[0.5, 0.0], [-1.0, 1.0]]),
        "w_v": np.array([[2.0, -0.5], [0.5, 1.0]]),
        "w_o": np.array([[0.5, 1.0], [1.0, 0.0]]),
    },
    "ln_2": {"gamma": np.array([0.5, 2.0]), "beta": np.array([-0.2, 0.3])},
    "ffn": FFN,
}
NOTHING_SEEN = np.array([[True, True], [False, False]])
PADDING = np.array([[[True, False, True]]])
X_WIDE = np.array([[2.0, 1.0, -1.0], [0.5, -1.0, 1.5], [0.0, 1.0, 3.0]])
WIDE_BLOCK = {
    "ln_1": {"gamma": np.array([1.5, 0.5, 2.0]), "beta": np.array([0.2, -0.1, 0.5])},
    "attention": {
        "w_q": np.array([[2.0, 0.0, 0.5], [0.5, 1.0, 0.0], [0.0, -0.5, 1.0]]),
        "w_k": np.array([[0.5, 1.0, 0.0], [0.0, 0.5, 1.0], [1.0, 0.0, -0.5]]),
        "w_v": np.array([[0.5, 2.0, 0.0], [-1.0, 0.5, 1.0], [0.0, 1.0, 0.5]]),
        "w_o": np.array([[-1.0, 1.0, 0.5], [1.0, 0.0, -1.0], [0.5, 0.5, 0.0]]),
    },
    "ln_2": {"gamma": np.array([0.5, 1.5, 1.0]), "beta": np.array([0.4, 0.3, -0.2])},
    "ffn": {
        "w_1": np.array([[1.5, -0.5], [0.5, 2.0], [-1.0, 1.0]]),
        "b_1": np.array([0.5, -0.5]),
        "w_2": np.array([[2.0, 0.5, -1.0], [0.0, 2.0, 0.5]]),
        "b_2": np.array([0.1, -0.3, 0.2]),
    },
}

def reordered(params):
    """The parameters with the keys of every dict in reverse order."""
    return {key: reordered(params[key]) for key in reversed(params)} if isinstance(params, dict) else params


EXAMPLES = {
    "pre_norm_block": [
        ((X, BLOCK, 1), {}),
        ((X_WIDE[None], WIDE_BLOCK, 3), {"mask": PADDING}),
        ((X, reordered(BLOCK), 2), {}),
        ((X, BLOCK, 2), {"mask": NOTHING_SEEN}),
        ((X[None, None], BLOCK, 2), {}),
    ],
}
