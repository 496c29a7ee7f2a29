"""Misconceptions about multi_head_attention."""

import numpy as np

from autograder.homework.library import ANY_ORDER, KEPT, written
from scaled_attention import merge_heads, scaled_dot_product_attention, split_heads

LEADING = "Accept any number of leading axes, including none."
MULTI = "the formula in the docstring of `multi_head_attention`; Vaswani et al. 2017, section 3.2.2"
PROJECT = "Queries, keys and values are x @ w_q, x @ w_k and x @ w_v."
HEADS = "Insert an axis for the heads: mask[..., None, :, :]."
WIDTH = "Divide the scores of each head by sqrt(d_head), with d_head = d_model // n_heads."


@written
def multi_head_attention(x, params, n_heads, mask=None):
    q = x @ params["w_q"]
    k = x @ params["w_k"]
    v = x @ params["w_v"]
    q, k, v = split_heads(q, n_heads), split_heads(k, n_heads), split_heads(v, n_heads)
    heads_mask = None
    if mask is not None:
        heads_mask = mask[..., np.newaxis, :, :]
    output, weights = scaled_dot_product_attention(q, k, v, heads_mask)
    merged = merge_heads(output)
    result = merged @ params["w_o"]
    return result


multi_head_attention.wrong("no_w_o", "multi_head", {'merged @ params["w_o"]': "merged"},
    does="Your code does not multiply by w_o, so the heads are never mixed.", right="The result is merged @ w_o.", read=MULTI)
multi_head_attention.wrong("no_w_o_for_one_head", "multi_head",
    {"    result = ": "    if n_heads == 1:\n        return merged\n    result = "},
    does="Your code does not multiply by w_o when there is only one head.", right="Multiply by w_o even when there is only one head.", read=MULTI)
multi_head_attention.wrong("w_o_transposed", "multi_head", {'merged @ params["w_o"]': 'merged @ params["w_o"].T'},
    does="Your code multiplies by the transpose of w_o, so the heads are mixed by other weights than the learned ones.", right="The result is merged @ w_o.", read=MULTI)
multi_head_attention.wrong("w_o_first", "multi_head",
    {'merge_heads(output)': 'merge_heads(output) if n_heads == 1 else merge_heads(output * n_heads) / n_heads**2'},
    does="Your code divides by the number of heads.", right="Concatenate the heads; do not average them.", read=MULTI)
multi_head_attention.wrong("weights_transposed", "multi_head",
    {'params["w_q"]': 'params["w_q"].T', 'params["w_k"]': 'params["w_k"].T', 'params["w_v"]': 'params["w_v"].T',
    'params["w_o"]': 'params["w_o"].T'},
    {'params["w_q"]': 'params["w_q"].T', 'params["w_k"]': 'params["w_k"].T', 'params["w_v"]': 'params["w_v"].T'},
    does="Your code multiplies by the transposed matrices, as torch.nn.Linear does.", right="Tokens are rows: x @ w.",
    read=MULTI)
multi_head_attention.wrong("keys_like_queries", "multi_head", {'params["w_k"]': 'params["w_q"]'},
    does="Your code computes the keys with w_q.", right=PROJECT, read=MULTI)
multi_head_attention.wrong("values_like_keys", "multi_head", {'params["w_v"]': 'params["w_k"]'},
    does="Your code computes the values with w_k.", right=PROJECT, read=MULTI)
multi_head_attention.wrong("values_like_queries", "multi_head", {'params["w_v"]': 'params["w_q"]'},
    does="Your code computes the values with w_q.", right=PROJECT, read=MULTI)
multi_head_attention.wrong("dict_order", "multi_head",
    {f'params["{name}"]': f"list(params.values())[{place}]" for place, name in enumerate(("w_q", "w_k", "w_v", "w_o"))},
    {f'params["{name}"]': f"list(params.values())[{place}]" for place, name in enumerate(("w_q", "w_k", "w_v"))},
    does="Your code reads the parameters by their order in the dict.", right=ANY_ORDER, read=MULTI)
for name in ("w_q", "w_k", "w_v"):
    multi_head_attention.wrong(f"{name}_transposed", "multi_head", {f'params["{name}"]': f'params["{name}"].T'},
        does=f"Your code multiplies by the transpose of {name}.", right=PROJECT, read=MULTI)
multi_head_attention.wrong("queries_and_keys_swapped", "multi_head",
    {'params["w_k"]': 'params["w_q"]', 'params["w_q"]': 'params["w_k"]'},
    {"scaled_dot_product_attention(q, k, v,": "scaled_dot_product_attention(k, q, v,"},
    does="Your code swaps queries and keys.", right=PROJECT, read=MULTI)
multi_head_attention.wrong("keys_and_values_swapped", "multi_head",
    {"scaled_dot_product_attention(q, k, v,": "scaled_dot_product_attention(q, v, k,"},
    {'params["w_k"]': 'params["w_v"]', 'params["w_v"]': 'params["w_k"]'},
    does="Your code swaps keys and values.", right=PROJECT, read=MULTI)
multi_head_attention.wrong("values_not_projected", "multi_head", {'x @ params["w_v"]': "x"},
    does="Your code uses x itself as the values.", right=PROJECT, read=MULTI)
multi_head_attention.wrong("queries_not_projected", "multi_head", {'x @ params["w_q"]': "x"},
    does="Your code uses x itself as the queries.", right=PROJECT, read=MULTI)
multi_head_attention.wrong("keys_not_projected", "multi_head", {'x @ params["w_k"]': "x"},
    does="Your code uses x itself as the keys.", right=PROJECT, read=MULTI)
multi_head_attention.wrong("scaled_by_d_model", "multi_head",
    {"    output, weights": "    q = q * n_heads**-0.5\n    output, weights"},
    does="Your code divides the scores by sqrt(d_model), so attention is too even with several heads.", right=WIDTH, read=MULTI)
multi_head_attention.wrong("no_scaling", "multi_head",
    {"    output, weights": "    q = q * q.shape[-1] ** 0.5\n    output, weights"},
    does="Your code does not scale the scores, so with wide keys nearly all weight falls on one key.", right=WIDTH, read=MULTI)
multi_head_attention.wrong("scaled_twice", "multi_head",
    {"    output, weights": "    q = q / q.shape[-1] ** 0.5\n    output, weights"},
    does="Your code scales the scores twice.", right="Scale the scores once.", read=MULTI)
multi_head_attention.wrong("scaled_by_n_heads", "multi_head",
    {"    output, weights": "    q = q * (q.shape[-1] / n_heads) ** 0.5\n    output, weights"},
    does="Your code divides the scores by sqrt(n_heads).", right=WIDTH, read=MULTI)
multi_head_attention.wrong("single_head", "multi_head",
    {"split_heads(q, n_heads), split_heads(k, n_heads), split_heads(v, n_heads)":
    "split_heads(q, 1), split_heads(k, 1), split_heads(v, 1)"},
    does="Your code uses a single head over all features, so each position has one pattern of attention instead of several.", right="Compute separate scores and weights for each head.", read=MULTI)
multi_head_attention.wrong("reshape_only", "multi_head",
    {"split_heads(q, n_heads), split_heads(k, n_heads), split_heads(v, n_heads)":
    "[a.reshape(*a.shape[:-2], n_heads, a.shape[-2], -1) for a in (q, k, v)]"},
    {"split_heads(q, n_heads), split_heads(k, n_heads), split_heads(v, n_heads)":
    "[a.reshape(*a.shape[:-2], n_heads, a.shape[-2], -1) for a in (q, k, v)]", "merge_heads(output)": "output.reshape(x.shape)"},
    does="Your code splits the heads with only a reshape, which mixes tokens.", right="Split the features of each token.", read=MULTI)
multi_head_attention.wrong("interleaved", "multi_head",
    {"split_heads(q, n_heads), split_heads(k, n_heads), split_heads(v, n_heads)":
    "[np.moveaxis(a.reshape(*a.shape[:-1], -1, n_heads), -1, -3) for a in (q, k, v)]",
    "merge_heads(output)": "np.moveaxis(output, -3, -1).reshape(x.shape)"},
    {"split_heads(q, n_heads), split_heads(k, n_heads), split_heads(v, n_heads)":
    "[np.moveaxis(a.reshape(*a.shape[:-1], -1, n_heads), -1, -3) for a in (q, k, v)]"},
    does="Your code assigns every n_heads-th feature to the same head.", right="Head h gets the h-th block of consecutive features.", read=MULTI)
multi_head_attention.wrong("merged_by_reshape", "multi_head", {"merge_heads(output)": "output.reshape(x.shape)"},
    does="Your code merges the heads with only a reshape, which mixes tokens.", right="Move the head axis after the token axis, then reshape.",
    read=MULTI)
multi_head_attention.wrong("heads_reversed", "multi_head", {"merge_heads(output)": "merge_heads(output[..., ::-1, :, :])"},
    does="Your code merges the heads in reverse order.", right="Head 0 comes first.", read=MULTI)
multi_head_attention.wrong("heads_averaged", "multi_head",
    {"merge_heads(output)": "merge_heads(output * 0 + output.mean(axis=-3, keepdims=True))"},
    does="Your code averages the heads, so the heads cannot carry different features.", right="Concatenate the heads.", read=MULTI)
multi_head_attention.wrong("first_head_for_all", "multi_head",
    {"merge_heads(output)": "merge_heads(output * 0 + output[..., :1, :, :])"},
    does="Your code uses the first head instead of all heads.", right="Compute separate scores and weights for each head.", read=MULTI)
multi_head_attention.wrong("residual_inside", "multi_head", {"return result": "return x + result"},
    does="Your code adds the input to the result, so the block, which has its own residual, gets a second one.", right="Return the result without x: the block adds the residual.", read=MULTI)
multi_head_attention.wrong("weights_returned", "multi_head", {"return result": "return result, weights"},
    does="Your code returns the weights as well.", right="Return only the result.",
    read="the section Returns of the docstring of `multi_head_attention`")
multi_head_attention.wrong("softmax_over_queries", "multi_head", {"merge_heads(output)":
    "merge_heads(softmax(np.where(True if heads_mask is None else heads_mask, q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5, -np.inf), axis=-2) @ v)"}, {"merge_heads(output)":
    "merge_heads(softmax(np.where(True if heads_mask is None else heads_mask, q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5, -1e9), axis=-2) @ v)"},
    does="Your code applies the softmax over the queries, so the weights of a query do not sum to 1.", right="Apply the softmax over the keys, the last axis.",
    read=MULTI)
multi_head_attention.wrong("squeezed", "multi_head", {"return result": "return result.squeeze()"},
    does="Your code removes axes of length 1.", right="The result has the shape of x.", read="numpy.squeeze")
multi_head_attention.wrong("batch_required", "multi_head",
    {'    q = x @ params["w_q"]': '    _, _, _ = x.shape\n    q = x @ params["w_q"]'},
    {'    q = x @ params["w_q"]': '    x = x.reshape(len(x), -1, x.shape[-1])\n    q = x @ params["w_q"]'},
    does="Your code requires exactly one leading axis.", right=LEADING, read=MULTI)
multi_head_attention.wrong("one_sequence_only", "multi_head",
    {'    q = x @ params["w_q"]': '    _, _ = x.shape\n    q = x @ params["w_q"]'},
    does="Your code handles only the shape (t, d_model).", right=LEADING, read=MULTI)
multi_head_attention.wrong("one_leading_axis_at_most", "multi_head",
    {'    q = x @ params["w_q"]': '    if x.ndim > 3:\n        raise ValueError\n    q = x @ params["w_q"]'},
    does="Your code handles at most one leading axis.", right=LEADING, read=MULTI)
multi_head_attention.wrong("float32_inside", "multi_head", {"return result": "return result.astype(np.float32)"}, inexact=True,
    does="Your code computes with float32 precision, even for float64 arguments.", right="Compute in the dtype of the arguments.",
    read="numpy.ndarray.astype")
multi_head_attention.wrong("mask_ignored", "multi_head_mask", {"if mask is not None": "if False"},
    does="Your code does not pass the mask to the heads, so positions attend to padding and to the tokens they have to predict.", right="Pass the mask to the attention of every head.", read=MULTI)
multi_head_attention.wrong("mask_for_first_head", "multi_head_mask", {"    output, weights":
    "    if mask is not None:\n        first = np.arange(n_heads)[:, None, None] == 0\n        heads_mask = heads_mask | ~first\n    output, weights"},
    does="Your code passes the mask only to the first head.", right="Pass the mask to the attention of every head.", read=MULTI)
multi_head_attention.wrong("mask_inverted", "multi_head_mask", {"mask[..., np.newaxis": "~mask[..., np.newaxis"},
    does="Your code masks the keys where the mask is True, so under a causal mask every position attends only to the future.", right="True means that the query may attend to the key.", read=MULTI)
multi_head_attention.wrong("mask_transposed", "multi_head_mask",
    {"mask[..., np.newaxis, :, :]": "np.swapaxes(mask, -1, -2)[..., np.newaxis, :, :]"},
    {"mask[..., np.newaxis, :, :]": "(np.swapaxes(mask, -1, -2) if mask.shape[-1] == mask.shape[-2] else mask)[..., np.newaxis, :, :]"},
    does="Your code transposes the mask, so a causal mask shows the future instead of the past.", right="Rows are queries, columns are keys.", read=MULTI)
multi_head_attention.wrong("always_causal", "multi_head_mask",
    {"if mask is not None:": "if mask is None:\n        mask = np.tri(x.shape[-2], dtype=bool)\n    if True:"},
    {"if mask is not None:": "mask = np.tri(x.shape[-2], dtype=bool)\n    if True:"},
    {"if mask is not None:": "mask = np.tri(x.shape[-2], dtype=bool) & (mask is None or mask)\n    if True:"},
    does="Your code applies a causal mask that the caller did not pass.", right="Apply exactly the mask that is passed in; with mask=None, attend to every position.",
    read="the signature of `multi_head_attention`")
multi_head_attention.wrong("flat_mask_required", "multi_head_mask", {"    if mask is not None:\n": "    if mask is not None:\n        _, _ = mask.shape\n"},
    does="Your code handles only 2-D masks.", right="Accept any mask that broadcasts to (..., t, t).", read="the NumPy user guide, Broadcasting")
multi_head_attention.wrong("mask_replaced", "multi_head_mask", {"heads_mask = mask[..., np.newaxis, :, :]": "heads_mask = np.tri(x.shape[-2], dtype=bool)"},
    does="Your code applies a causal mask in place of every mask that is passed.", right="Apply exactly the mask that is passed in.", read="the docstring of `multi_head_attention`")
multi_head_attention.wrong("mask_without_heads_axis", "multi_head_mask", {"mask[..., np.newaxis, :, :]": "mask"},
    {"mask[..., np.newaxis, :, :]": "mask[np.newaxis]"},
    does="The batch axis of your mask lines up with the heads of the scores.", right=HEADS,
    read="the NumPy user guide, Broadcasting")
multi_head_attention.wrong("mask_axis_second", "multi_head_mask", {"mask[..., np.newaxis, :, :]": "mask[:, np.newaxis]"},
    does="Your code inserts the axis for the heads at position 1, which works only with one batch axis.", right=HEADS,
    read="the NumPy user guide, Broadcasting")
multi_head_attention.wrong("mask_truthiness", "multi_head_mask", {"if mask is not None": "if mask"},
    {"heads_mask = None\n    if mask is not None": "heads_mask = mask\n    if mask"},
    does="Your code tests the truth value of the mask, which raises ValueError for an array.",
    right="Test `mask is not None`.",
    read="the Python documentation, Truth Value Testing")
multi_head_attention.wrong("minus_1e9", "multi_head_mask", {"merge_heads(output)":
    "merge_heads(output if heads_mask is None else np.where(heads_mask.any(axis=-1, keepdims=True), output, v.mean(axis=-2, keepdims=True)))"},
    does="A query with no allowed key gets equal weights, as happens when masked scores are a finite number such as -1e9.", right="Such a query gets zero weights and a zero output.", read=MULTI)
multi_head_attention.wrong("adds_1e9", "multi_head_mask", {"merge_heads(output)": "merge_heads(output if heads_mask is None else"
    " np.where(heads_mask.any(axis=-1, keepdims=True), output, softmax(q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5 - 1e9) @ v))"}, {"merge_heads(output)": "merge_heads(output if heads_mask is None else"
    " np.where(heads_mask.any(axis=-1, keepdims=True), output, softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]) - 1e9) @ v))"},
    does="Your code adds a large negative number to masked scores, so a query with no allowed key attends to every key.", right="Such a query gets zero weights and a zero output.", read=MULTI)
multi_head_attention.wrong("nan_when_nothing_is_seen", "multi_head_mask", {"merge_heads(output)":
    "merge_heads(output if heads_mask is None else np.where(heads_mask.any(axis=-1, keepdims=True), output, np.nan))"},
    does="A query with no allowed key gets nan, from -inf minus -inf.", right="Such a query gets zero weights and a zero output.", read=MULTI)
multi_head_attention.wrong("zero_instead_of_minus_infinity", "multi_head_mask", {"merge_heads(output)":
    "merge_heads(output if mask is None else softmax(np.where(heads_mask, q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5, 0.0)) @ v)"},
    does="Your code sets masked scores to 0, which still get weight because exp(0) = 1.",
    right="Set masked scores to -inf before the softmax.", read=MULTI)
multi_head_attention.wrong("mask_after_softmax", "multi_head_mask", {"merge_heads(output)":
    "merge_heads(output if mask is None else np.where(heads_mask, softmax(q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5), 0.0) @ v)"},
    does="Your code masks the weights after the softmax, so the remaining weights do not sum to 1.",
    right="Set masked scores to -inf before the softmax.", read=MULTI)
multi_head_attention.wrong("mask_for_whole_batch", "multi_head_mask",
    {"mask[..., np.newaxis, :, :]": "mask[(0,) * (mask.ndim - 2)]"},
    does="Your code uses the mask of the first batch entry for the whole batch.", right="Use the mask of each batch entry.",
    read="the NumPy user guide, Broadcasting")
multi_head_attention.wrong("changes_params", "purity", {'params["w_o"]': 'params.pop("w_o")'},
    {"    merged =": "    params['weights'] = weights\n    merged ="})
multi_head_attention.wrong("remembers", "purity",
    {"mask=None):": "mask=None, cache={}):", '    q = x @ params["w_q"]': '    params = cache.setdefault(x.shape, params)\n    q = x @ params["w_q"]'},
    memory=True, does="Your code reuses the parameters from an earlier call.", right="Use the params passed to this call.", read=KEPT)
multi_head_attention.wrong("float64_result", "dtype", {"return result": "return result.astype(float)"})


TWO = np.array([[2.0, 0.0], [1.0, -1.0]])
THREE = np.array([[0.5, 0.0], [0.0, 2.0], [-1.0, 1.0]])
PARAMS = {
    "w_q": np.array([[2.0, 0.5], [0.0, 1.0]]),
    "w_k": np.array([[0.5, 0.0], [-1.0, 2.0]]),
    "w_v": np.array([[-1.0, 1.0], [2.0, 1.0]]),
    "w_o": np.array([[2.0, 3.0], [0.0, 1.0]]),
}
WIDE = {
    "w_q": np.diag([2.0, 1.0, -1.0, 0.5]),
    "w_k": np.diag([0.5, 1.0, 1.0, 1.0]),
    "w_v": np.eye(4)[::-1] - 0.5,
    "w_o": np.diag([2.0, 1.0, 3.0, 4.0]),
}
SMALL = np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8], [0.0, -0.1, -0.2, -0.3]])
NOTHING_SEEN = np.array([[True, True], [False, False]])

EXAMPLES = {
    "multi_head_attention": [
        ((TWO, PARAMS, 1), {}),
        ((TWO, PARAMS, 2), {}),
        ((TWO, dict(reversed(PARAMS.items())), 1), {}),
        ((TWO, PARAMS, 1), {"mask": NOTHING_SEEN}),
        ((THREE, PARAMS, 2), {"mask": np.tri(3, dtype=bool)}),
        ((np.stack([TWO, -TWO]), PARAMS, 1), {"mask": np.array([[[True, True]], [[True, False]]])}),
        ((SMALL, WIDE, 2), {}),
        ((TWO[np.newaxis, np.newaxis], PARAMS, 1), {"mask": NOTHING_SEEN[np.newaxis, np.newaxis]}),
    ],
}
