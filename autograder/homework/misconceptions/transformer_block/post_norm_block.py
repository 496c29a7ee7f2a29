"""Misconceptions about post_norm_block."""

import numpy as np

from autograder.homework.library import ANY_ORDER, KEPT, written
from layernorm import layer_norm
from scaled_attention import multi_head_attention
from transformer_block import feed_forward

LEADING = "Accept any number of leading axes, including none."
PASS_MASK = "Pass mask to multi_head_attention."
PASS_HEADS = "Pass n_heads to the attention."
OWN = "LN_1 uses the parameters ln_1, and LN_2 uses ln_2."
POST = "A post-norm block is h = LN_1(x + MHA(x)), then LN_2(h + FFN(h))."
POST_FORMULA = "the formula in the docstring of `post_norm_block`; Xiong et al. 2020, table 1"
FFN = {
    "w_1": np.array([[2.0, -1.0, 0.5], [0.5, 1.0, -1.0]]),
    "b_1": np.array([0.5, -0.5, 0.2]),
    "w_2": np.array([[2.0, 0.0], [0.5, -1.0], [1.0, 1.0]]),
    "b_2": np.array([0.1, -0.3]),
}


@written
def post_norm_block(x, params, n_heads, mask=None):
    first, second = params["ln_1"], params["ln_2"]
    attended = multi_head_attention(x, params["attention"], n_heads, mask)
    total = x + attended
    h = layer_norm(total, first["gamma"], first["beta"])
    last = h + feed_forward(h, params["ffn"])
    result = layer_norm(last, second["gamma"], second["beta"])
    return result


post_norm_block.wrong("pre_norm", "post_norm",
    {"multi_head_attention(x,": 'multi_head_attention(layer_norm(x, first["gamma"], first["beta"]),',
    'layer_norm(total, first["gamma"], first["beta"])': "total",
    "feed_forward(h,": 'feed_forward(layer_norm(h, second["gamma"], second["beta"]),',
    'layer_norm(last, second["gamma"], second["beta"])': "last"},
    does="Your code normalises before the sublayers, as a pre-norm block does.", right=POST, read=POST_FORMULA)
post_norm_block.wrong("norm_before_addition", "post_norm",
    {"x + attended": 'x + layer_norm(attended, first["gamma"], first["beta"])',
    'layer_norm(total, first["gamma"], first["beta"])': "total", 'h + feed_forward(h, params["ffn"])':
    'h + layer_norm(feed_forward(h, params["ffn"]), second["gamma"], second["beta"])', 'layer_norm(last, second["gamma"], second["beta"])': "last"},
    does="Your code normalises the outputs of the sublayers, before the additions.", right=POST, read=POST_FORMULA)
post_norm_block.wrong("no_first_norm", "post_norm", {'layer_norm(total, first["gamma"], first["beta"])': "total"},
    does="Your code does not normalise the sum after the attention.", right=POST, read=POST_FORMULA)
post_norm_block.wrong("no_second_norm", "post_norm", {'layer_norm(last, second["gamma"], second["beta"])': "last"},
    does="Your code does not normalise the sum after the feed-forward network.", right=POST, read=POST_FORMULA)
post_norm_block.wrong("both_sides", "post_norm",
    {"multi_head_attention(x,": 'multi_head_attention(layer_norm(x, first["gamma"], first["beta"]),'},
    {"multi_head_attention(x,": 'multi_head_attention(layer_norm(x, first["gamma"], first["beta"]),',
     "feed_forward(h,": 'feed_forward(layer_norm(h, second["gamma"], second["beta"]),'},
    does="Your code normalises the input of a sublayer.", right=POST, read=POST_FORMULA)
post_norm_block.wrong("pre_norm_attention", "post_norm",
    {"multi_head_attention(x,": 'multi_head_attention(layer_norm(x, first["gamma"], first["beta"]),',
    'layer_norm(total, first["gamma"], first["beta"])': "total"},
    does="Your code applies LN_1 to the input of the attention instead of to the sum.", right=POST, read=POST_FORMULA)
post_norm_block.wrong("second_residual_from_x", "post_norm", {"last = h +": "last = x +"},
    does="Your second residual adds x instead of h, so the output of attention passes on only through the feed-forward network.", right="Add h, the sum after the first sublayer.", read=POST_FORMULA)
post_norm_block.wrong("residual_before_norm", "post_norm", {"last = h +": "last = total +"},
    does="Your second residual adds the sum before LN_1 instead of h.", right=POST, read=POST_FORMULA)
post_norm_block.wrong("ffn_before_norm", "post_norm", {"feed_forward(h,": "feed_forward(total,"},
    does="Your feed-forward network takes the sum before LN_1 instead of h.", right=POST, read=POST_FORMULA)
post_norm_block.wrong("ffn_from_x", "post_norm", {"feed_forward(h,": "feed_forward(x,"},
    does="Your feed-forward network takes x instead of h.", right=POST, read=POST_FORMULA)
post_norm_block.wrong("no_first_residual", "post_norm", {"x + attended": "attended"},
    does="Your code has no residual connection around the attention.", right="Add x to the output of the attention.", read=POST_FORMULA)
post_norm_block.wrong("no_second_residual", "post_norm", {"last = h +": "last ="},
    does="Your code has no residual connection around the feed-forward network.", right="Add h to the output of the feed-forward network.", read=POST_FORMULA)
post_norm_block.wrong("no_ffn", "post_norm", {'last = h + feed_forward(h, params["ffn"])': "last = h"},
    does="Your block has no feed-forward network.", right=POST, read=POST_FORMULA)
post_norm_block.wrong("no_attention", "post_norm", {"x + attended": "x"},
    does="Your block has no attention.", right=POST, read=POST_FORMULA)
post_norm_block.wrong("norms_swapped", "post_norm", {'params["ln_1"], params["ln_2"]': 'params["ln_2"], params["ln_1"]'},
    does="Your code swaps ln_1 and ln_2, so each norm uses the scale and shift learned for the other.", right=OWN, read=POST_FORMULA)
post_norm_block.wrong("one_norm_twice", "post_norm", {'params["ln_1"], params["ln_2"]': 'params["ln_1"], params["ln_1"]'},
    does="Both of your norms use ln_1.", right=OWN, read=POST_FORMULA)
post_norm_block.wrong("second_norm_twice", "post_norm", {'params["ln_1"], params["ln_2"]': 'params["ln_2"], params["ln_2"]'},
    does="Both of your norms use ln_2.", right=OWN, read=POST_FORMULA)
post_norm_block.wrong("dict_order", "post_norm",
    {f'params["{name}"]': f"list(params.values())[{place}]" for place, name in enumerate(("ln_1", "attention", "ln_2", "ffn"))},
    {'first["gamma"], first["beta"]': "*first.values()", 'second["gamma"], second["beta"]': "*second.values()"},
    does="Your code reads the parameters by their order in the dict.", right=ANY_ORDER,
    read=POST_FORMULA)
post_norm_block.wrong("gamma_beta_swapped", "post_norm", {'["gamma"]': '["beta"]', '["beta"]': '["gamma"]'},
    {'second["gamma"], second["beta"]': 'second["beta"], second["gamma"]'},
    {'first["gamma"], first["beta"]': 'first["beta"], first["gamma"]'},
    does="Your code swaps gamma and beta.", right="Call layer_norm(x, gamma, beta).",
    read="the signature of `layer_norm`")
post_norm_block.wrong("no_gamma_beta", "post_norm", {'params["ln_1"], params["ln_2"]':
    '({"gamma": np.ones(x.shape[-1], x.dtype), "beta": np.zeros(x.shape[-1], x.dtype)},) * 2'},
    does="Your norms use neither gamma nor beta.", right=OWN, read=POST_FORMULA)
post_norm_block.wrong("mask_ignored", "post_norm", {"n_heads, mask)\n    total": "n_heads)\n    total"},
    does="Your code does not pass the mask to the attention, so under a causal mask every position also attends to the tokens it has to predict.", right=PASS_MASK, read="the docstring of `post_norm_block`")
post_norm_block.wrong("mask_inverted", "post_norm",
    {"n_heads, mask)\n    total": "n_heads, None if mask is None else ~mask)\n    total"},
    does="Your code inverts the mask.", right="True means that the query may attend to the key.", read=POST_FORMULA)
post_norm_block.wrong("always_causal", "post_norm",
    {"n_heads, mask)\n    total": "n_heads, np.tri(x.shape[-2], dtype=bool) if mask is None else mask)\n    total"},
    {"n_heads, mask)\n    total": "n_heads, np.tri(x.shape[-2], dtype=bool))\n    total"},
    does="Your code applies a causal mask that the caller did not pass.", right="Apply exactly the mask that is passed in; with mask=None, attend to every position.", read=POST_FORMULA)
post_norm_block.wrong("mask_truthiness", "post_norm", {"n_heads, mask)\n    total": "n_heads, mask if mask else None)\n    total"},
    does="Your code tests the truth value of the mask, which raises ValueError for an array.",
    right="Test `mask is not None`.",
    read="the Python documentation, Truth Value Testing")
post_norm_block.wrong("one_head", "post_norm", {'params["attention"], n_heads': 'params["attention"], 1'},
    does="Your code always runs attention with one head.", right=PASS_HEADS, read=POST_FORMULA)
post_norm_block.wrong("attention_not_scaled", "post_norm",
    {'    total = x + attended': '    scaled = params["attention"] | {"w_q": params["attention"]["w_q"] * (x.shape[-1] // n_heads) ** 0.5}\n'
     '    attended = multi_head_attention(x, scaled, n_heads, mask)\n    total = x + attended'},
    does="Your attention does not divide the scores by sqrt(d_head), so with wide heads nearly all weight falls on one key.",
    right="Divide the scores of each head by sqrt(d_head).", read="Vaswani et al. 2017, section 3.2.1")
post_norm_block.wrong("nan_when_nothing_is_seen", "post_norm",
    {"    total = x + attended": "    if mask is not None:\n        attended = np.where(mask.any(axis=-1, keepdims=True), attended, np.nan)\n"
     "    total = x + attended"},
    does="Your attention returns nan for a query that may attend to no key.",
    right="Such a query gets zero weights and a zero output.", read="the docstring of `scaled_dot_product_attention`")
post_norm_block.wrong("eps_outside_root", "post_norm", *({"layer_norm(": "(lambda a, gamma, beta: gamma * (a - a.mean(-1, keepdims=True)) / "
    f"(a.std(-1, keepdims=True) + {number}) + beta)("} for number in ("1e-5", "1e-6", "1e-8")),
    does="Your layer norms add eps to the standard deviation, outside the root.", right="Divide by sqrt(var + eps).", read="the formula in the docstring of `layer_norm`")
post_norm_block.wrong("minus_1e9", "post_norm", {"    total = x + attended": "    if mask is not None:\n"
    '        values = (x @ params["attention"]["w_v"]).mean(axis=-2, keepdims=True)\n'
    '        attended = np.where(mask.any(axis=-1, keepdims=True), attended, values @ params["attention"]["w_o"])\n'
    "    total = x + attended"},
    does="Your attention gives equal weights to a query with no allowed key, as happens when masked scores are a finite number such as -1e9.",
    right="Such a query gets zero weights and a zero output.", read="the docstring of `scaled_dot_product_attention`")
post_norm_block.wrong("no_ffn_biases", "post_norm", {'params["ffn"]': '{name: w * (w.ndim > 1) for name, w in params["ffn"].items()}'},
    does="Your feed-forward network has no biases.", right="Add b_1 and b_2: relu(x @ w_1 + b_1) @ w_2 + b_2.", read="the docstring of `feed_forward`")
post_norm_block.wrong("gelu", "post_norm", {"feed_forward(": "(lambda a, p: (lambda z: 0.5 * z * (1 + np.tanh((2 / np.pi) ** 0.5 * (z + 0.044715 * z**3))))"
    "(a @ p['w_1'] + p['b_1']) @ p['w_2'] + p['b_2'])("},
    does="Your feed-forward network uses a GELU, as GPT-2 does.", right="Use relu, as the original paper does.", read="the docstring of `feed_forward`")
post_norm_block.wrong("mask_replaced", "post_norm",
    {"n_heads, mask)\n    total": "n_heads, None if mask is None else np.tri(x.shape[-2], dtype=bool))\n    total"},
    does="Your code applies a causal mask in place of every mask that is passed.", right="Apply exactly the mask that is passed in.", read=POST_FORMULA)
post_norm_block.wrong("another_eps", "post_norm",
    *({'["beta"])': f'["beta"], {number})'} for number in ("1e-3", "1e-6", "1e-8")),
    does="Your layer norms use another eps than 1e-5.", right="Use the default eps of `layer_norm`, 1e-5.", read="the signature of `layer_norm`")
post_norm_block.wrong("two_dimensions_only", "post_norm", {"    first,": "    _, _ = x.shape\n    first,"},
    does="Your code handles only the shape (t, d).", right=LEADING, read=POST_FORMULA)
post_norm_block.wrong("three_dimensions_only", "post_norm", {"    first,": "    _, _, _ = x.shape\n    first,"},
    does="Your code requires exactly one leading axis.", right=LEADING, read=POST_FORMULA)
post_norm_block.wrong("one_leading_axis_at_most", "post_norm", {"    first,": "    if x.ndim > 3:\n        raise ValueError\n    first,"},
    does="Your code handles at most one leading axis.", right=LEADING, read=POST_FORMULA)
post_norm_block.wrong("flat_mask_required", "post_norm", {"    attended = multi_head": "    if mask is not None:\n        _, _ = mask.shape\n    attended = multi_head"},
    does="Your code handles only 2-D masks.", right="Accept any mask that broadcasts to (..., t, t).", read="the NumPy user guide, Broadcasting")
post_norm_block.wrong("squeezed", "post_norm", {"return result": "return result.squeeze()"},
    does="Your code removes axes of length 1.", right="The result has the shape of x.", read="numpy.squeeze")
post_norm_block.wrong("changes_x", "purity", {"total = x + attended": "x += attended\n    total = x"})
post_norm_block.wrong("changes_params", "purity", {'params["ln_1"], params["ln_2"]': 'params.pop("ln_1"), params["ln_2"]'})
post_norm_block.wrong("remembers", "purity", {"mask=None):": "mask=None, cache={}):",
    "    first,": '    params = cache.setdefault(x.shape, params)\n    first,'},
    memory=True, does="Your code reuses the parameters from an earlier call.", right="Use the params passed to this call.", read=KEPT)
post_norm_block.wrong("float64_result", "dtype", {"return result": "return result.astype(float)"})


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
    "post_norm_block": [
        ((X_WIDE[:2], WIDE_BLOCK, 3), {}),
        ((X_WIDE[None], WIDE_BLOCK, 3), {"mask": PADDING}),
        ((X, reordered(BLOCK), 2), {}),
        ((X, BLOCK, 2), {"mask": NOTHING_SEEN}),
        ((X[None, None], BLOCK, 2), {}),
    ],
}
