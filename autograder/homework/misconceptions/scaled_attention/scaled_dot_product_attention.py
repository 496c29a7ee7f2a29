"""Misconceptions about scaled_dot_product_attention."""

import numpy as np

from autograder.homework.library import KEPT, written
from scaled_attention import softmax

SCALE = "Divide the scores by sqrt(d_k), where d_k is the width of the queries and keys."
BEFORE = "Set masked scores to -inf before the softmax."
SEEN = "True means that the query may attend to the key; rows are queries, columns are keys."
NOTHING = "A query with no allowed key gets zero weights and a zero output."
LAST_TWO = "Queries, keys and values may have leading axes: swap only the last two axes of the keys."
DOCSTRING = "the docstring of `scaled_dot_product_attention`"
FORMULA = "the formula in the docstring of `scaled_dot_product_attention`; Vaswani et al. 2017, section 3.2.1"


@written
def scaled_dot_product_attention(q, k, v, mask=None):
    scale = q.shape[-1] ** 0.5
    keys = np.swapaxes(k, -1, -2)
    scores = q @ keys
    scores = scores / scale
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    output = weights @ v
    return output, weights


scaled_dot_product_attention.wrong("no_scaling", "attention", {"scores / scale": "scores"},
    does="Your code does not scale the scores, so with wide keys nearly all weight falls on one key.", right=SCALE, read=FORMULA)
scaled_dot_product_attention.wrong("divided_by_d_k", "attention", {"q.shape[-1] ** 0.5": "q.shape[-1]"},
    {"scores / scale": "scores / scale**2"},
    does="Your code divides the scores by d_k, so attention is too even, most of all for wide heads.", right=SCALE, read=FORMULA)
scaled_dot_product_attention.wrong("fourth_root", "attention", {"** 0.5": "** 0.25"},
    does="Your code divides the scores by the fourth root of d_k.", right=SCALE, read=FORMULA)
scaled_dot_product_attention.wrong("multiplied", "attention", {"scores / scale": "scores * scale"},
    does="Your code multiplies the scores by sqrt(d_k).", right=SCALE, read=FORMULA)
scaled_dot_product_attention.wrong("scaled_by_d_v", "attention", {"q.shape[-1]": "v.shape[-1]"},
    does="Your code divides the scores by sqrt(d_v).", right=SCALE, read=FORMULA)
scaled_dot_product_attention.wrong("scaled_by_t_k", "attention", {"q.shape[-1]": "k.shape[-2]"},
    does="Your code divides the scores by the square root of the number of keys, so attention becomes less sharp the longer the sequence is.", right=SCALE, read=FORMULA)
scaled_dot_product_attention.wrong("scaled_by_t_q", "attention", {"q.shape[-1]": "q.shape[-2]"},
    does="Your code divides the scores by the square root of the number of queries.", right=SCALE, read=FORMULA)
scaled_dot_product_attention.wrong("scaled_by_second_axis", "attention", {"q.shape[-1]": "q.shape[1]"},
    {"q.shape[-1]": "k.shape[1]"},
    does="Your code reads d_k from axis 1, which is the last axis only for a 2-D array.",
    right="d_k is the length of the last axis: q.shape[-1].", read=FORMULA)
scaled_dot_product_attention.wrong("scaled_by_first_axis", "attention", {"q.shape[-1]": "q.shape[0]"}, {"q.shape[-1]": "len(k)"},
    does="Your code reads d_k from the first axis.", right="d_k is the length of the last axis: q.shape[-1].", read=FORMULA)
scaled_dot_product_attention.wrong("scaled_after_softmax", "attention", {"scores = scores / scale": "scores = scores",
    "softmax(scores)": "softmax(scores) / scale"},
    does="Your code scales the weights after the softmax, so they do not sum to 1.", right=SCALE, read=FORMULA)
scaled_dot_product_attention.wrong("fixed_scale", "attention", {"q.shape[-1] ** 0.5": "8.0"}, {"q.shape[-1] ** 0.5": "2.0"},
    {"q.shape[-1] ** 0.5": "512**0.5"},
    does="Your code divides the scores by a fixed number.", right=SCALE, read=FORMULA)
scaled_dot_product_attention.wrong("log_scale", "attention", {"q.shape[-1] ** 0.5": "max(np.log(q.shape[-1]), 1e-9)"},
    does="Your code divides the scores by the logarithm of d_k.", right=SCALE, read=FORMULA)
scaled_dot_product_attention.wrong("softmax_over_queries", "attention", {"softmax(scores)": "softmax(scores, axis=-2)"},
    does="Your code applies the softmax over the queries, so the weights of a query do not sum to 1.", right="Apply the softmax over the keys, the last axis.",
    read=FORMULA)
scaled_dot_product_attention.wrong("softmax_axis_one", "attention", {"softmax(scores)": "softmax(scores, axis=1)"},
    {"softmax(scores)": "softmax(scores, axis=0)"},
    does="Your code applies the softmax along an axis counted from the front.",
    right="Apply the softmax over the keys, the last axis.",
    read=FORMULA)
scaled_dot_product_attention.wrong("no_softmax", "attention", {"softmax(scores)": "scores"},
    {"softmax(scores)": "np.where(np.isfinite(scores), scores, 0.0)"},
    does="Your code uses the scores as weights.", right="The weights are the softmax of the scores over the keys.", read=FORMULA)
scaled_dot_product_attention.wrong("normalised_by_sum", "attention",
    {"softmax(scores)": "scores / scores.sum(axis=-1, keepdims=True)"},
    does="Your code divides the scores by their sum.", right="The weights are the softmax of the scores over the keys.", read=FORMULA)
scaled_dot_product_attention.wrong("matrices_only", "attention", {"np.swapaxes(k, -1, -2)": "k.T"},
    {"np.swapaxes(k, -1, -2)": "k.transpose(1, 0)"}, {"    keys": "    _, _ = q.shape\n    keys"},
    {"q @ keys": "np.dot(q, k.T)", "weights @ v": "np.dot(weights, v)"},
    does="Your code works only for 2-D arrays. For example, k.T reverses all axes, including the leading ones.", right=LAST_TWO,
    read="numpy.transpose, and numpy.swapaxes")
scaled_dot_product_attention.wrong("batch_required", "attention", {"np.swapaxes(k, -1, -2)": "k.transpose(0, 2, 1)"},
    {"    keys": "    _, _, _ = q.shape\n    keys"},
    does="Your code requires exactly one leading axis.", right="Accept any number of leading axes, including none.", read="numpy.swapaxes")
scaled_dot_product_attention.wrong("heads_required", "attention", {"np.swapaxes(k, -1, -2)": "k.transpose(0, 1, 3, 2)"},
    {"    keys": "    _, _, _, _ = q.shape\n    keys"},
    does="Your code requires exactly two leading axes, as if every call had a batch of heads.",
    right="Accept any number of leading axes, including none.", read="numpy.swapaxes")
scaled_dot_product_attention.wrong("query_query_scores", "attention", {"np.swapaxes(k, -1, -2)": "np.swapaxes(q, -1, -2)"},
    does="Your code computes the scores only from the queries.", right="The scores are q @ k^T.", read=FORMULA)
scaled_dot_product_attention.wrong("keys_for_values", "attention", {"weights @ v": "weights @ k"},
    does="Your code averages the keys.", right="Average the values: weights @ v.", read=FORMULA)
scaled_dot_product_attention.wrong("distances", "attention",
    {"scores = q @ keys": "scores = -((q[..., :, None, :] - k[..., None, :, :]) ** 2).sum(axis=-1)"},
    does="Your scores are negative squared distances.", right="The scores are dot products: q @ k^T.", read=FORMULA)
scaled_dot_product_attention.wrong("cosines", "attention", {"scores = q @ keys":
    "scores = (q / np.linalg.norm(q, axis=-1, keepdims=True)) @ (keys / np.linalg.norm(keys, axis=-2, keepdims=True))"},
    does="Your scores are cosine similarities.", right="The scores are dot products: q @ k^T.", read=FORMULA)
scaled_dot_product_attention.wrong("results_swapped", "attention", {"return output, weights": "return weights, output"},
    does="Your code returns the weights before the output.", right="Return (output, weights).", read="the section Returns of the docstring")
scaled_dot_product_attention.wrong("output_in_the_shape_of_q", "attention",
    {"    output = weights @ v": "    output = np.empty_like(q)\n    output[...] = weights @ v"},
    does="Your output has the shape of q.", right="The output has the shape (..., t_q, d_v).", read=FORMULA)
scaled_dot_product_attention.wrong("only_output", "attention", {"return output, weights": "return output"},
    does="Your code returns only the output.", right="Return (output, weights).",
    read="the section Returns of the docstring")
scaled_dot_product_attention.wrong("scores_returned", "attention", {"return output, weights": "return output, scores"},
    does="Your code returns the scores instead of the weights.", right="Return (output, weights).",
    read="the section Returns of the docstring")
scaled_dot_product_attention.wrong("weights_transposed", "attention",
    {"return output, weights": "return output, np.swapaxes(weights, -1, -2)"},
    does="Your weights are transposed.", right="The weights have the shape (..., t_q, t_k): one row per query.",
    read="the section Returns of the docstring")
scaled_dot_product_attention.wrong("residual_inside", "attention", {"return output, weights": "return output + q, weights"},
    does="Your code adds the queries to the output.", right="The output is weights @ v.", read=FORMULA)
scaled_dot_product_attention.wrong("overflow", "attention", {"softmax(scores)":
    "np.exp(scores) / np.where(np.exp(scores).sum(axis=-1, keepdims=True) == 0, 1.0, np.exp(scores).sum(axis=-1, keepdims=True))"},
    {"softmax(scores)": "np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)"},
    does="Your exponentials of large scores overflow.", right="Subtract the largest score of each query before exp.",
    read="the docstring of `softmax`")
scaled_dot_product_attention.wrong("epsilon_in_the_sum", "attention", {"    output =":
    "    top = scores.max(axis=-1, keepdims=True)\n"
    "    total = np.exp(scores - np.where(np.isneginf(top), 0.0, top)).sum(axis=-1, keepdims=True)\n"
    "    weights = weights * total / (total + 1e-6)\n    output ="},
    does="Your code adds a small number to the sum, so the weights do not sum to 1.", right="Only a sum of zero needs special treatment.",
    read=FORMULA)
scaled_dot_product_attention.wrong("mask_ignored", "mask", {"if mask is not None": "if False"},
    does="Your code does not use the mask, so positions attend to padding and to the tokens they have to predict.", right=BEFORE, read="the docstring of `scaled_dot_product_attention`")
scaled_dot_product_attention.wrong("mask_of_matrices_only", "mask",
    {"if mask is not None": "if mask is not None and mask.ndim == 2"},
    {"if mask is not None": "if mask is not None and mask.shape == scores.shape"},
    does="Your code uses the mask only if it has a certain shape.",
    right="Apply every mask that broadcasts to the shape of the scores.", read=DOCSTRING)
scaled_dot_product_attention.wrong("mask_inverted", "mask", {"np.where(mask": "np.where(~mask"},
    does="Your code masks the keys where the mask is True, so under a causal mask every position attends only to the future.", right=SEEN, read="the docstring of `scaled_dot_product_attention`")
scaled_dot_product_attention.wrong("mask_transposed", "mask", {"np.where(mask": "np.where(np.swapaxes(mask, -1, -2)"},
    {"np.where(mask": "np.where(mask.T"},
    {"np.where(mask": "np.where(np.swapaxes(mask, -1, -2) if mask.shape[-1] == mask.shape[-2] else mask"},
    does="Your code transposes the mask, so a causal mask shows the future instead of the past.", right=SEEN, read="the docstring of `scaled_dot_product_attention`")
scaled_dot_product_attention.wrong("mask_only_if_any", "fully_masked",
    {"if mask is not None": "if mask is not None and mask.any()"},
    does="Your code ignores a mask that is all False.", right=NOTHING,
    read="the docstring of `scaled_dot_product_attention`")
scaled_dot_product_attention.wrong("mask_truthiness", "mask", {"if mask is not None": "if mask"},
    does="Your code tests the truth value of the mask, which raises ValueError for an array.",
    right="Test `mask is not None`.",
    read="the Python documentation, Truth Value Testing")
scaled_dot_product_attention.wrong("mask_default", "mask",
    {"if mask is not None:": "if mask is None:\n        mask = np.tri(q.shape[-2], k.shape[-2], dtype=bool)\n    if True:"},
    {"if mask is not None:": "mask = np.tri(q.shape[-2], k.shape[-2], dtype=bool)\n    if True:"},
    {"if mask is not None:": "mask = np.tri(q.shape[-2], k.shape[-2], dtype=bool) & (mask is None or mask)\n    if True:"},
    {"if mask is not None:": "mask = np.ones((q.shape[-2], k.shape[-2]), bool)\n    mask[np.triu_indices(q.shape[-2], k=1)] = False\n    if True:"},
    does="Your code applies a causal mask that the caller did not pass.", right="Apply exactly the mask that is passed in; with mask=None, attend to every position.", read="the signature")
scaled_dot_product_attention.wrong("zero_instead_of_minus_infinity", "mask", {"scores, -np.inf": "scores, 0.0"},
    {"np.where(mask, scores, -np.inf)": "scores * mask"},
    does="Your code sets masked scores to 0, which still get weight because exp(0) = 1.",
    right=BEFORE, read=DOCSTRING)
scaled_dot_product_attention.wrong("zero_scores_hidden", "mask",
    {"np.where(mask, scores, -np.inf)": "np.where(scores * mask == 0, -np.inf, scores)"},
    does="Your code sets masked scores to 0 and then masks every score of 0.",
    right=BEFORE, read=DOCSTRING)
scaled_dot_product_attention.wrong("mask_added", "mask", {"np.where(mask, scores, -np.inf)": "scores + mask"},
    does="Your code adds the mask to the scores.", right=BEFORE, read=DOCSTRING)
scaled_dot_product_attention.wrong("masked_with_nan", "mask", {"scores, -np.inf": "scores, np.nan"},
    does="Your code sets masked scores to nan, so the whole row of weights is nan.", right=BEFORE, read=DOCSTRING)
scaled_dot_product_attention.wrong("small_finite", "mask", {"scores, -np.inf": "scores, -10.0"}, {"np.where(mask, scores, -np.inf)": "np.where(mask, scores, scores - 100.0)"},
    does="Your code does not lower masked scores enough, so masked keys still get weight.", right=BEFORE, read=DOCSTRING)
scaled_dot_product_attention.wrong("mask_after_softmax", "mask", {"np.where(mask, scores, -np.inf)": "scores",
    "softmax(scores)": "softmax(scores)\n    weights = weights if mask is None else np.where(mask, weights, 0.0)"},
    does="Your code masks the weights after the softmax, so the remaining weights do not sum to 1.", right=BEFORE, read=DOCSTRING)
scaled_dot_product_attention.wrong("renormalised", "mask", {"np.where(mask, scores, -np.inf)": "scores", "softmax(scores)":
    "softmax(scores)\n    weights = weights if mask is None else np.where(mask, weights, 0.0)\n"
    "    weights = weights / np.where(weights.sum(axis=-1, keepdims=True) == 0, 1.0, weights.sum(axis=-1, keepdims=True))"},
    {"np.where(mask, scores, -np.inf)": "scores", "softmax(scores)":
    "softmax(scores)\n    weights = weights if mask is None else np.where(mask, weights, 0.0)\n    weights = weights / weights.sum(axis=-1, keepdims=True)"},
    {"np.where(mask, scores, -np.inf)": "scores", "softmax(scores)":
    "softmax(scores)\n    weights = weights if mask is None else np.where(mask, weights, 0.0)\n"
    "    total = weights.sum(axis=-1, keepdims=True)\n"
    "    weights = weights / (total if mask is None else np.where(np.any(mask, axis=-1, keepdims=True), total, 1.0))"},
    does="Your code masks the weights after the softmax and renormalises, which fails if masked scores are much larger than the others.",
    right=BEFORE, read=DOCSTRING)
HIDDEN_SCORES = "np.where(mask, scores, -np.inf)", "weights = softmax(scores)"
scaled_dot_product_attention.wrong("not_low_enough", "mask",
    *({HIDDEN_SCORES[0]: f"np.where(mask, scores, {low})", HIDDEN_SCORES[1]: "weights = softmax(scores)\n"
       "    if mask is not None:\n        weights = np.where(np.any(mask, axis=-1, keepdims=True), weights, 0.0)"}
      for low in ("-100.0", "-50.0", "-1000.0", "-1e4")),
    does="Your code sets masked scores to a finite number, so masked keys get weight if all other scores are even lower.",
    right=BEFORE, read=DOCSTRING)
scaled_dot_product_attention.wrong("output_masked_only", "mask",
    {"return output, weights": "return output, softmax(q @ keys / scale)"},
    does="Your code returns weights that ignore the mask, so they show attention to keys that the output does not use.", right="Return the weights that were used for the output.",
    read=FORMULA)
scaled_dot_product_attention.wrong("weights_masked_only", "mask",
    {"output = weights @ v": "output = softmax(q @ keys / scale) @ v"},
    does="Your code computes the output with weights that ignore the mask.", right="Use the same weights for both results.", read=FORMULA)
scaled_dot_product_attention.wrong("mask_as_index", "mask",
    {"scores = np.where(mask, scores, -np.inf)": "scores = scores.copy()\n        scores[~mask] = -np.inf"},
    does="Your code indexes with the mask, which does not broadcast.", right="Use np.where, which broadcasts the mask, with -inf for the masked scores.",
    read="the NumPy user guide, Broadcasting")
scaled_dot_product_attention.wrong("last_mask_for_all", "mask", {"np.where(mask": "np.where(mask[(0,) * (mask.ndim - 2)]"},
    does="Your code uses one mask for the whole batch.", right="Use the mask of each batch entry: let it broadcast.",
    read="the NumPy user guide, Broadcasting")
scaled_dot_product_attention.wrong("minus_1e9", "fully_masked", {"scores, -np.inf": "scores, -1e9"},
    {"scores, -np.inf": "scores, np.finfo(scores.dtype).min"},
    {"scores, -np.inf": "scores, -1e10"}, {"scores, -np.inf": "scores, -1e30"}, {"scores, -np.inf": "scores, -1e4"},
    {"scores, -np.inf": "scores, -1e5"}, {"scores, -np.inf": "scores, -1e6"}, {"scores, -np.inf": "scores, -1000.0"},
    {"scores, -np.inf": "scores, -100.0"}, {"scores, -np.inf": "scores, -50.0"}, {"    output =":
    "    weights = np.where(np.isneginf(scores).all(axis=-1, keepdims=True), 1.0 / k.shape[-2], weights)\n    output ="},
    does="A query with no allowed key gets equal weights, as when masked scores are a finite number such as -1e9.",
    right=f"Set masked scores to -np.inf. {NOTHING}", read=DOCSTRING)
scaled_dot_product_attention.wrong("adds_1e9", "fully_masked",
    {"np.where(mask, scores, -np.inf)": "np.where(mask, scores, scores - 1e9)"},
    {"np.where(mask, scores, -np.inf)": "np.where(mask, scores, scores - 1e10)"},
    {"np.where(mask, scores, -np.inf)": "np.where(mask, scores, scores - 1e6)"},
    {"np.where(mask, scores, -np.inf)": "np.where(mask, scores, scores - 1e4)"},
    does="Your code adds a large negative number to masked scores, so a query with no allowed key attends to every key.",
    right=NOTHING, read=DOCSTRING)
scaled_dot_product_attention.wrong("nan_when_nothing_is_seen", "fully_masked", {"softmax(scores)":
    "np.exp(scores - scores.max(axis=-1, keepdims=True))\n    weights = weights / weights.sum(axis=-1, keepdims=True)"},
    does="A query with no allowed key gets nan, from -inf minus -inf.", right=NOTHING, read=DOCSTRING)
scaled_dot_product_attention.wrong("sees_itself_at_least", "fully_masked",
    {"np.where(mask,": "np.where(mask | ~mask.any(axis=-1, keepdims=True),"},
    does="A query with no allowed key attends to every key.", right=NOTHING, read=DOCSTRING)
scaled_dot_product_attention.wrong("nothing_seen_refused", "fully_masked",
    {"if mask is not None:": "if mask is not None:\n        if not mask.any(axis=-1).all():\n            raise ValueError"},
    does="Your code rejects a query with no allowed key.", right=NOTHING, read=DOCSTRING)
scaled_dot_product_attention.wrong("changes_q", "purity",
    {"scores = q @ keys\n    scores = scores / scale": "q /= scale\n    scores = q @ keys"})
scaled_dot_product_attention.wrong("changes_mask", "purity",
    {"np.where(mask, scores, -np.inf)": "np.where(np.logical_not(mask, out=mask), -np.inf, scores)"})
scaled_dot_product_attention.wrong("remembers", "purity", {"mask=None)": "mask=None, kept={})", "    weights = softmax(scores)":
    "    weights = kept.setdefault(scores.shape, softmax(scores))"}, memory=True,
    does="Your code reuses the weights from an earlier call.", right="Compute them from the arguments of this call.", read=KEPT)
scaled_dot_product_attention.wrong("float64_result", "dtype", {"scores / scale": "scores / np.sqrt(q.shape[-1])"})


ROW = np.array([[2.0, -1.0]])
SOME = np.array([[True, False, True]])
TWO = np.array([[2.0, 0.0], [1.0, -1.0]])
THREE = np.array([[0.5, 0.0], [0.0, 2.0], [-1.0, 1.0]])
VALUES = np.array([[3.0, 0.0, 2.0], [0.0, 1.0, -1.0], [2.0, 2.0, 0.0]])

EXAMPLES = {
    "scaled_dot_product_attention": [
        ((ROW, TWO, VALUES[:2]), {}),
        ((TWO, THREE, VALUES), {"mask": np.array([[True, True, False], [False, False, False]])}),
        ((TWO, THREE, VALUES), {"mask": SOME}),
        ((np.stack([ROW, -ROW]), np.stack([THREE, THREE]), np.stack([VALUES, VALUES])), {}),
        ((1000.0 * ROW, TWO, VALUES[:2]), {}),
        ((ROW[np.newaxis, np.newaxis], TWO[np.newaxis, np.newaxis], VALUES[np.newaxis, np.newaxis, :2]), {}),
        (
            (np.stack([TWO, -TWO]), np.stack([THREE, THREE]), np.stack([VALUES, VALUES])),
            {"mask": np.array([[[True, True, False]], [[False, True, True]]])},
        ),
    ],
}
