"""Known mistakes in scaled_attention.py."""

import numpy as np

from autograder.homework.mistakes import written
from autograder.homework.reference import merge_heads, scaled_dot_product_attention, softmax, split_heads

COPIES = "NumPy's page on copies and views"
KEPT = "the Python FAQ on default values shared between calls"
PROMOTION = "NumPy's page on data type promotion (NEP 50)"
KEEPDIMS = "numpy.sum, argument keepdims, and NumPy's page on broadcasting"
LARGEST = "Subtract the largest score of each slice before exp."
EMPTY = "A slice that is -inf throughout gives zeros."
ALONG = "Each slice along axis has its own sum."


@written
def softmax(scores, axis=-1):
    largest = scores.max(axis=axis, keepdims=True)
    shift = np.where(largest == -np.inf, 0.0, largest)
    exponentials = np.exp(scores - shift)
    total = exponentials.sum(axis=axis, keepdims=True)
    divisor = np.where(total == 0, 1.0, total)
    weights = exponentials / divisor
    return weights


softmax.wrong("axis_ignored", "softmax", {"axis=axis": "axis=-1"},
    does="Your code does not use the argument axis: it sums along the last axis.", right="Sum along axis.",
    read="numpy.sum, argument axis")
softmax.wrong("axis_ignored_in_sum", "softmax", {".sum(axis=axis": ".sum(axis=-1"},
    does="Your sum runs along the last axis whatever axis says.", right="Sum along axis.", read="numpy.sum, argument axis")
softmax.wrong("first_axis_by_default", "softmax", {"axis=-1)": "axis=0)"}, {"axis=-1)": "axis=1)"},
    does="Your default of axis is not -1.", right="The default of `softmax` is the last axis, axis=-1.",
    read="the signature of `softmax`")
softmax.wrong("one_sum_for_all", "softmax", {".sum(axis=axis, keepdims=True)": ".sum()"},
    does="Your code divides by the sum over the whole array.", right=ALONG, read="numpy.sum, argument axis")
softmax.wrong("whole_array", "softmax", {"axis=axis": "axis=None"},
    does="Your code takes the softmax over the whole array.", right=ALONG, read="numpy.sum, argument axis")
softmax.wrong("last_two_axes", "softmax", {"axis=axis": "axis=(-2, -1) if scores.ndim > 1 else axis"},
    does="Your code takes the softmax over the last two axes together.", right=ALONG, read="numpy.sum, argument axis")
softmax.wrong("no_keepdims", "softmax", {".sum(axis=axis, keepdims=True)": ".sum(axis=axis)"}, {", keepdims=True": ""},
    does="Your sums have lost their axis and are lined up with another one.", right="Keep it with keepdims=True.", read=KEEPDIMS)
softmax.wrong("matrices_only", "softmax", {"    largest = ": "    scores.shape[1]\n    largest = "},
    {"    largest = ": "    _, _ = scores.shape\n    largest = "},
    does="Your code handles matrices only.", right="Scores may have any number of dimensions from one on.",
    read="the docstring of `softmax`")
softmax.wrong("not_normalised", "softmax", {"exponentials / divisor": "exponentials"},
    does="Your code does not divide by the sum.", right="The weights of a slice sum to 1.",
    read="the formula in the docstring of `softmax`")
softmax.wrong("log", "softmax", {"return weights": "return np.log(weights)"},
    does="Your code returns the logarithms of the weights.", right="Return the weights.",
    read="the formula in the docstring of `softmax`")
softmax.wrong("powers_of_two", "softmax", {"np.exp(scores - shift)": "2.0 ** (scores - shift)"},
    does="Your code takes powers of 2.", right="Take np.exp.", read="the formula in the docstring of `softmax`")
softmax.wrong("negated", "softmax", {"np.exp(scores - shift)": "np.exp(shift - scores)"},
    does="Your code takes exp of the negative scores.", right="The largest score gets the largest weight.",
    read="the formula in the docstring of `softmax`")
softmax.wrong("epsilon_in_the_sum", "softmax", {"np.where(total == 0, 1.0, total)": "total + 1e-6"},
    {"np.where(total == 0, 1.0, total)": "total + 1e-8"}, {"np.where(total == 0, 1.0, total)": "total + 1e-9"},
    {"np.where(total == 0, 1.0, total)": "total + 1e-5"}, {"np.where(total == 0, 1.0, total)": "total + 1e-7"},
    does="Your code adds a small number to the sum, so that the weights miss 1.", right="Only a sum of zero needs care.",
    read="the docstring of `softmax`")
softmax.wrong("transposed", "softmax", {"return weights": "return weights.T"},
    does="Your result is transposed.", right="It has the shape of scores.", read="the part Returns of the docstring of `softmax`")

softmax.wrong("no_maximum", "softmax_stability", {"np.exp(scores - shift)": "np.exp(scores)"},
    {"np.exp(scores - shift)": "np.exp(scores)", "np.where(total == 0, 1.0, total)": "total"},
    does="Your exponentials of large scores overflow.", right=LARGEST, read="the docstring of `softmax`")
softmax.wrong("one_maximum_for_all", "softmax_stability", {"scores.max(axis=axis, keepdims=True)": "np.array(scores.max())"},
    {"scores.max(axis=axis, keepdims=True)": "np.array(scores.max())", "np.where(total == 0, 1.0, total)": "total"},
    does="Your code subtracts the largest score of all, so that slices far below it vanish.",
    right="Each slice has its own largest score.",
    read="numpy.max, arguments axis and keepdims")
softmax.wrong("smallest_subtracted", "softmax_stability", {"scores.max(": "scores.min("},
    does="Your code subtracts the smallest score, so that large ones overflow.", right=LARGEST, read="the docstring of `softmax`")
softmax.wrong("mean_subtracted", "softmax_stability", {"scores.max(": "scores.mean("},
    does="Your code subtracts the mean of the scores.", right=LARGEST, read="the docstring of `softmax`")
softmax.wrong("clipped", "softmax_stability", {"np.exp(scores - shift)": "np.exp(np.clip(scores, -50, 50))"},
    {"np.exp(scores - shift)": "np.exp(np.clip(scores, -100, 100))"}, {"np.exp(scores - shift)": "np.exp(np.minimum(scores, 500))"},
    {"np.exp(scores - shift)": "np.exp(np.clip(scores, -500, 500))"},
    {"np.exp(scores - shift)": "np.exp(np.clip(scores, -700, 700))"},
    does="Your code cuts scores off at a bound, so that those beyond it get equal weights.", right=LARGEST, read="numpy.clip")
softmax.wrong("nan_for_an_empty_slice", "softmax_stability", {"np.where(largest == -np.inf, 0.0, largest)": "largest",
    "np.where(total == 0, 1.0, total)": "total"}, {"np.where(total == 0, 1.0, total)": "total"},
    {"np.where(largest == -np.inf, 0.0, largest)": "largest"},
    does="For a slice that is -inf throughout your code gives nan.", right=EMPTY, read="the docstring of `softmax`")
softmax.wrong("equal_weights_for_an_empty_slice", "softmax_stability",
    {"return weights": "return np.where(total == 0, 1.0 / scores.shape[axis], weights)"},
    {"    largest =": "    scores = np.where(np.isneginf(scores), -1e9, scores)\n    largest ="},
    {"    largest =": "    scores = np.nan_to_num(scores)\n    largest ="},
    does="For a slice that is -inf throughout your code gives equal weights.", right=EMPTY, read="the docstring of `softmax`")
softmax.wrong("infinities_as_zero", "softmax_stability",
    {"    largest =": "    scores = np.where(np.isinf(scores), 0.0, scores)\n    largest ="},
    does="Your code gives entries of -inf a weight.", right="An entry of -inf gets the weight 0.",
    read="the docstring of `softmax`")
softmax.wrong("infinity_refused", "softmax_stability",
    {"    largest =": "    if np.isinf(scores).any():\n        raise ValueError\n    largest ="},
    does="Your code refuses scores of -inf.", right="An entry of -inf gets the weight 0.", read="the docstring of `softmax`")
softmax.wrong("float32_inside", "softmax", {"    largest =": "    scores = scores.astype(np.float32)\n    largest ="},
    {"    largest =": "    scores = scores.astype(np.float16)\n    largest ="}, inexact=True,
    does="Your code is only as accurate as float32, also for float64 scores.", right="Compute in the dtype of scores.",
    read="numpy.ndarray.astype")
softmax.wrong("changes_scores", "purity", {"np.exp(scores - shift)": "np.exp(np.subtract(scores, shift, out=scores))"},
    does="Your code changes the argument `scores`.", right="Work on new arrays: scores - largest makes one.", read=COPIES)
softmax.wrong("remembers", "purity", {"axis=-1)": "axis=-1, kept={})",
    "    shift": "    largest = kept.setdefault(scores.shape, largest)\n    shift",
    "    divisor": "    total = kept.setdefault((scores.shape, 0), total)\n    divisor"}, memory=True,
    does="Your code uses figures of an earlier call again.", right="Compute them from the scores of this call.", read=KEPT)
softmax.wrong("float64_result", "dtype", {"return weights": "return weights.astype(float)"},
    does="Your result is float64 for float32 arguments.", right="Return the dtype of the arguments.", read=PROMOTION)


SCALE = "Divide the scores by sqrt(d_k), the root of the width of queries and keys."
BEFORE = "Set hidden scores to -inf before the softmax."
SEEN = "True means that the query may see the key; rows are queries, columns keys."
NOTHING = "A query that may see nothing gets zero weights and a zero output."
FORMULA = "the formula in the docstring of `scaled_dot_product_attention`"


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


attention = scaled_dot_product_attention
attention.wrong("no_scaling", "attention", {"scores / scale": "scores"},
    does="Your code does not scale the scores.", right=SCALE, read=FORMULA)
attention.wrong("divided_by_d_k", "attention", {"q.shape[-1] ** 0.5": "q.shape[-1]"},
    does="Your code divides the scores by d_k.", right=SCALE, read=FORMULA)
attention.wrong("fourth_root", "attention", {"** 0.5": "** 0.25"},
    does="Your code divides the scores by the fourth root of d_k.", right=SCALE, read=FORMULA)
attention.wrong("multiplied", "attention", {"scores / scale": "scores * scale"},
    does="Your code multiplies the scores by sqrt(d_k).", right=SCALE, read=FORMULA)
attention.wrong("scaled_twice", "attention", {"scores / scale": "scores / scale**2"},
    does="Your code divides the scores by sqrt(d_k) twice.", right=SCALE, read=FORMULA)
attention.wrong("scaled_by_d_v", "attention", {"q.shape[-1]": "v.shape[-1]"},
    does="Your scale is the width of the values.", right=SCALE, read=FORMULA)
attention.wrong("scaled_by_t_k", "attention", {"q.shape[-1]": "k.shape[-2]"},
    does="Your scale is the number of keys.", right=SCALE, read=FORMULA)
attention.wrong("scaled_by_t_q", "attention", {"q.shape[-1]": "q.shape[-2]"},
    does="Your scale is the number of queries.", right=SCALE, read=FORMULA)
attention.wrong("scaled_by_second_axis", "attention", {"q.shape[-1]": "q.shape[1]"}, {"q.shape[-1]": "k.shape[1]"},
    does="Your code reads d_k from axis 1, which is right for matrices only.",
    right="It is the length of the last axis: q.shape[-1].", read=FORMULA)
attention.wrong("scaled_by_first_axis", "attention", {"q.shape[-1]": "q.shape[0]"}, {"q.shape[-1]": "len(k)"},
    does="Your code reads d_k from the first axis.", right="It is the length of the last axis: q.shape[-1].", read=FORMULA)
attention.wrong("scaled_after_softmax", "attention", {"scores = scores / scale": "scores = scores",
    "softmax(scores)": "softmax(scores) / scale"},
    does="Your code scales the weights after the softmax, so that they do not sum to 1.", right=SCALE, read=FORMULA)
attention.wrong("fixed_scale", "attention", {"q.shape[-1] ** 0.5": "8.0"}, {"q.shape[-1] ** 0.5": "2.0"},
    {"q.shape[-1] ** 0.5": "512**0.5"},
    does="Your scale is a fixed number.", right=SCALE, read=FORMULA)
attention.wrong("log_scale", "attention", {"q.shape[-1] ** 0.5": "max(np.log(q.shape[-1]), 1e-9)"},
    does="Your code divides the scores by the logarithm of d_k.", right=SCALE, read=FORMULA)

attention.wrong("softmax_over_queries", "attention", {"softmax(scores)": "softmax(scores, axis=-2)"},
    does="Your softmax runs over the queries.", right="Each query spreads its weight over the keys, along the last axis.",
    read=FORMULA)
attention.wrong("softmax_axis_one", "attention", {"softmax(scores)": "softmax(scores, axis=1)"},
    {"softmax(scores)": "softmax(scores, axis=0)"},
    does="Your softmax runs along an axis counted from the front.",
    right="Each query spreads its weight over the keys, along the last axis.",
    read=FORMULA)
attention.wrong("no_softmax", "attention", {"softmax(scores)": "scores"},
    {"softmax(scores)": "np.where(np.isfinite(scores), scores, 0.0)"},
    does="Your code uses the scores as weights.", right="The weights are their softmax over the keys.", read=FORMULA)
attention.wrong("normalised_by_sum", "attention", {"softmax(scores)": "scores / scores.sum(axis=-1, keepdims=True)"},
    does="Your code divides the scores by their sum.", right="The weights are their softmax over the keys.", read=FORMULA)
attention.wrong("all_axes_reversed", "attention", {"np.swapaxes(k, -1, -2)": "k.T"},
    does="Your k.T reverses all axes, the leading ones too.", right="Swap the last two axes only.",
    read="numpy.transpose, and numpy.swapaxes")
attention.wrong("matrices_only", "attention", {"np.swapaxes(k, -1, -2)": "k.transpose(1, 0)"},
    {"    keys": "    _, _ = q.shape\n    keys"},
    does="Your code handles matrices only.", right="Queries, keys and values may have leading axes.", read="numpy.swapaxes")
attention.wrong("batch_required", "attention", {"np.swapaxes(k, -1, -2)": "k.transpose(0, 2, 1)"},
    {"    keys": "    _, _, _ = q.shape\n    keys"},
    does="Your code takes exactly one leading axis for granted.", right="There may be none or several.", read="numpy.swapaxes")
attention.wrong("query_query_scores", "attention", {"np.swapaxes(k, -1, -2)": "np.swapaxes(q, -1, -2)"},
    does="Your code scores the queries against the queries.", right="Score them against the keys: q @ k^T.", read=FORMULA)
attention.wrong("keys_for_values", "attention", {"weights @ v": "weights @ k"},
    does="Your code averages the keys.", right="Average the values: weights @ v.", read=FORMULA)
attention.wrong("distances", "attention",
    {"scores = q @ keys": "scores = -((q[..., :, None, :] - k[..., None, :, :]) ** 2).sum(axis=-1)"},
    does="Your scores are distances.", right="They are dot products: q @ k^T.", read=FORMULA)
attention.wrong("cosines", "attention", {"scores = q @ keys":
    "scores = (q / np.linalg.norm(q, axis=-1, keepdims=True)) @ (keys / np.linalg.norm(keys, axis=-2, keepdims=True))"},
    does="Your scores are cosines.", right="They are dot products, not divided by lengths: q @ k^T.", read=FORMULA)
attention.wrong("results_swapped", "attention", {"return output, weights": "return weights, output"},
    does="Your code returns the weights first.", right="The result is (output, weights).", read="the part Returns of the docstring")
attention.wrong("only_output", "attention", {"return output, weights": "return output"},
    does="Your code returns the output alone.", right="Return the tuple (output, weights).",
    read="the part Returns of the docstring")
attention.wrong("scores_returned", "attention", {"return output, weights": "return output, scores"},
    does="Your code returns the scores in the place of the weights.", right="Return the tuple (output, weights).",
    read="the part Returns of the docstring")
attention.wrong("weights_transposed", "attention", {"return output, weights": "return output, np.swapaxes(weights, -1, -2)"},
    does="Your weights are transposed.", right="They are (..., t_q, t_k): a row for each query.",
    read="the part Returns of the docstring")
attention.wrong("residual_inside", "attention", {"return output, weights": "return output + q, weights"},
    does="Your code adds the queries to the output.", right="The output is weights @ v alone.", read=FORMULA)
attention.wrong("overflow", "attention", {"softmax(scores)":
    "np.exp(scores) / np.where(np.exp(scores).sum(axis=-1, keepdims=True) == 0, 1.0, np.exp(scores).sum(axis=-1, keepdims=True))"},
    {"softmax(scores)": "np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)"},
    does="Your exponentials of large scores overflow.", right="Subtract the largest score of each query before exp.",
    read="the docstring of `softmax`")
attention.wrong("epsilon_in_the_sum", "attention", {"    output =":
    "    weights = weights * (np.exp(scores - scores.max(axis=-1, keepdims=True)).sum(axis=-1, keepdims=True) / "
    "(np.exp(scores - scores.max(axis=-1, keepdims=True)).sum(axis=-1, keepdims=True) + 1e-9))\n    output ="},
    does="Your code adds a small number to the sum, so that the weights miss 1.", right="Only a sum of zero needs care.",
    read=FORMULA)

attention.wrong("mask_ignored", "mask", {"if mask is not None": "if False"},
    does="Your code does not use the mask.", right=BEFORE, read="the docstring of `scaled_dot_product_attention`")
attention.wrong("mask_inverted", "mask", {"np.where(mask": "np.where(~mask"},
    does="Your code hides the keys where the mask is True.", right=SEEN, read="the docstring of `scaled_dot_product_attention`")
attention.wrong("mask_transposed", "mask", {"np.where(mask": "np.where(np.swapaxes(mask, -1, -2)"},
    {"np.where(mask": "np.where(mask.T"},
    does="Your mask is transposed.", right=SEEN, read="the docstring of `scaled_dot_product_attention`")
attention.wrong("mask_only_if_any", "fully_masked", {"if mask is not None": "if mask is not None and mask.any()"},
    does="Your code uses the mask only if anything may be seen.", right=NOTHING,
    read="the docstring of `scaled_dot_product_attention`")
attention.wrong("mask_truthiness", "mask", {"if mask is not None": "if mask"},
    does="Your code asks whether the mask as a whole is true, which raises ValueError for an array.",
    right="Ask whether it is None.",
    read="NumPy's page on the truth value of an array")
attention.wrong("mask_default", "mask",
    {"if mask is not None:": "if mask is None:\n        mask = np.tri(q.shape[-2], k.shape[-2], dtype=bool)\n    if True:"},
    does="Without a mask your code uses a causal one.", right="With mask=None every query sees every key.", read="the signature")
attention.wrong("zero_instead_of_minus_infinity", "mask", {"scores, -np.inf": "scores, 0.0"},
    does="Your code sets hidden scores to zero, which still gets a weight since exp(0) = 1.", right=BEFORE, read=FORMULA)
attention.wrong("multiplied_by_mask", "mask", {"np.where(mask, scores, -np.inf)": "scores * mask"},
    does="Your code multiplies the scores by the mask, and a score of zero still gets a weight.", right=BEFORE, read=FORMULA)
attention.wrong("mask_added", "mask", {"np.where(mask, scores, -np.inf)": "scores + mask"},
    does="Your code adds the mask to the scores.", right=BEFORE, read=FORMULA)
attention.wrong("small_finite", "mask", {"scores, -np.inf": "scores, -100.0"}, {"scores, -np.inf": "scores, -10.0"},
    {"scores, -np.inf": "scores, -1000.0"},
    {"scores, -np.inf": "scores, -50.0"}, {"np.where(mask, scores, -np.inf)": "np.where(mask, scores, scores - 100.0)"},
    does="Your hidden scores are a finite number that is not far enough below the others.", right=BEFORE, read=FORMULA)
attention.wrong("mask_after_softmax", "mask", {"np.where(mask, scores, -np.inf)": "scores",
    "softmax(scores)": "softmax(scores)\n    weights = weights if mask is None else np.where(mask, weights, 0.0)"},
    does="Your code zeroes weights after the softmax, so that the others do not sum to 1.", right=BEFORE, read=FORMULA)
attention.wrong("renormalised", "mask", {"np.where(mask, scores, -np.inf)": "scores", "softmax(scores)":
    "softmax(scores)\n    weights = weights if mask is None else np.where(mask, weights, 0.0)\n"
    "    weights = weights / np.where(weights.sum(axis=-1, keepdims=True) == 0, 1.0, weights.sum(axis=-1, keepdims=True))"},
    {"np.where(mask, scores, -np.inf)": "scores", "softmax(scores)":
    "softmax(scores)\n    weights = weights if mask is None else np.where(mask, weights, 0.0)\n    weights = weights / weights.sum(axis=-1, keepdims=True)"},
    does="Your code zeroes weights after the softmax and divides by what is left, which fails where hidden scores are far above the others.",
    right=BEFORE, read=FORMULA)
attention.wrong("output_masked_only", "mask", {"return output, weights": "return output, softmax(q @ keys / scale)"},
    does="Your code returns the weights as they were without the mask.", right="Return the weights that made the output.",
    read=FORMULA)
attention.wrong("weights_masked_only", "mask", {"output = weights @ v": "output = softmax(q @ keys / scale) @ v"},
    does="Your output is made of weights without the mask.", right="Use the same weights for both results.", read=FORMULA)
attention.wrong("mask_as_index", "mask",
    {"scores = np.where(mask, scores, -np.inf)": "scores = scores.copy()\n        scores[~mask] = -np.inf"},
    does="Your code uses the mask as an index, which needs it in full shape.", right="Let it broadcast, as np.where does.",
    read="NumPy's page on broadcasting")
attention.wrong("last_mask_for_all", "mask", {"np.where(mask": "np.where(mask[(0,) * (mask.ndim - 2)]"},
    does="Your code uses one mask for the whole batch.", right="Each batch entry has its own mask: let it broadcast.",
    read="NumPy's page on broadcasting")
attention.wrong("minus_1e9", "fully_masked", {"scores, -np.inf": "scores, -1e9"},
    {"scores, -np.inf": "scores, np.finfo(scores.dtype).min"},
    {"scores, -np.inf": "scores, -1e10"}, {"scores, -np.inf": "scores, -1e30"}, {"scores, -np.inf": "scores, -1e4"},
    {"scores, -np.inf": "scores, -1e5"}, {"scores, -np.inf": "scores, -1e6"},
    does="Your hidden scores are a large negative number, so that a query that may see nothing gets equal weights.", right=NOTHING,
    read=FORMULA)
attention.wrong("adds_1e9", "fully_masked", {"np.where(mask, scores, -np.inf)": "np.where(mask, scores, scores - 1e9)"},
    {"np.where(mask, scores, -np.inf)": "np.where(mask, scores, scores - 1e10)"},
    {"np.where(mask, scores, -np.inf)": "np.where(mask, scores, scores - 1e6)"},
    {"np.where(mask, scores, -np.inf)": "np.where(mask, scores, scores - 1e4)"},
    does="Your code subtracts a large number from hidden scores, so that a query that may see nothing sees everything.",
    right=NOTHING, read=FORMULA)
attention.wrong("nan_when_nothing_is_seen", "fully_masked", {"softmax(scores)":
    "np.exp(scores - scores.max(axis=-1, keepdims=True))\n    weights = weights / weights.sum(axis=-1, keepdims=True)"},
    does="A query that may see nothing gets nan, from -inf minus -inf.", right=NOTHING, read=FORMULA)
attention.wrong("equal_weights_when_nothing_is_seen", "fully_masked", {"    output =":
    "    weights = np.where(np.isneginf(scores).all(axis=-1, keepdims=True), 1.0 / k.shape[-2], weights)\n    output ="},
    does="A query that may see nothing gets equal weights.", right=NOTHING, read=FORMULA)
attention.wrong("sees_itself_at_least", "fully_masked", {"np.where(mask,": "np.where(mask | ~mask.any(axis=-1, keepdims=True),"},
    does="A query that may see nothing sees everything.", right=NOTHING, read=FORMULA)
attention.wrong("nothing_seen_refused", "fully_masked",
    {"if mask is not None:": "if mask is not None:\n        if not mask.any(axis=-1).all():\n            raise ValueError"},
    does="Your code refuses a query that may see nothing.", right=NOTHING, read=FORMULA)
attention.wrong("changes_q", "purity", {"scores = q @ keys\n    scores = scores / scale": "q /= scale\n    scores = q @ keys"},
    does="Your code changes the argument `q`.", right="Work on new arrays: q / scale makes one.", read=COPIES)
attention.wrong("changes_mask", "purity",
    {"np.where(mask, scores, -np.inf)": "np.where(np.logical_not(mask, out=mask), -np.inf, scores)"},
    does="Your code changes the argument `mask`.", right="Work on new arrays: ~mask makes one.", read=COPIES)
attention.wrong("remembers", "purity", {"mask=None)": "mask=None, kept={})", "    weights = softmax(scores)":
    "    weights = kept.setdefault(scores.shape, softmax(scores))"}, memory=True,
    does="Your code uses the weights of an earlier call again.", right="Compute them from the arguments of this call.", read=KEPT)
attention.wrong("float64_result", "dtype", {"scores / scale": "scores / np.sqrt(q.shape[-1])"},
    does="Your result is float64 for float32 arguments.",
    right="Divide by a Python float, d_k**0.5: float32 / np.sqrt(8) is float64 in NumPy 2.",
    read=PROMOTION)


RUNS = "Head h takes the h-th consecutive run of features."
PLACE = "The heads stand right before the tokens: (..., n_heads, t, d_head)."
LEADING = "There may be no leading axes or several."
DIVIDES = "Raise ValueError if n_heads does not divide d_model."
SPLIT = "the formula in the docstring of `split_heads`"


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
    does="Your code only reshapes, which cuts across tokens.", right="Split the last axis, then move the heads before the tokens.",
    read=SPLIT)
split_heads.wrong("interleaved", "split_heads", {"(*leading, t, n_heads, d_head)": "(*leading, t, d_head, n_heads)",
    "np.swapaxes(heads, -3, -2)": "np.moveaxis(heads, -1, -3)"}, does="Your code deals the features out in turn.", right=RUNS,
    read=SPLIT)
split_heads.wrong("heads_after_tokens", "split_heads", {"np.swapaxes(heads, -3, -2)": "heads"},
    does="Your heads stand after the tokens.", right=PLACE, read=SPLIT)
split_heads.wrong("heads_first", "split_heads", {"np.swapaxes(heads, -3, -2)": "np.moveaxis(heads, -2, 0)"},
    does="Your heads stand before the leading axes.", right=PLACE, read=SPLIT)
split_heads.wrong("heads_last", "split_heads", {"np.swapaxes(heads, -3, -2)": "np.moveaxis(heads, -2, -1)"},
    does="Your heads stand last.", right=PLACE, read=SPLIT)
split_heads.wrong("features_before_tokens", "split_heads", {"np.swapaxes(heads, -3, -2)": "np.moveaxis(heads, -3, -1)"},
    does="Your tokens stand last.", right=PLACE, read=SPLIT)
split_heads.wrong("count_as_width", "split_heads", {"d_head = d_model // n_heads": "n_heads, d_head = d_model // n_heads, n_heads"},
    does="Your code takes n_heads for the width of a head.", right="There are n_heads heads of the width d_model // n_heads.",
    read=SPLIT)
split_heads.wrong("heads_reversed", "split_heads", {"return result": "return result[..., ::-1, :, :]"},
    does="Your heads are in reverse order.", right=RUNS, read=SPLIT)
split_heads.wrong("one_sequence_only", "split_heads", {"*leading, t, d_model = x.shape": "t, d_model = x.shape\n    leading = []"},
    does="Your code handles (t, d_model) only.", right=LEADING, read=SPLIT)
split_heads.wrong("batch_required", "split_heads",
    {"*leading, t, d_model = x.shape": "batch, t, d_model = x.shape\n    leading = [batch]"},
    does="Your code takes exactly one leading axis for granted.", right=LEADING, read=SPLIT)
split_heads.wrong("axes_from_the_front", "split_heads", {"np.swapaxes(heads, -3, -2)": "np.swapaxes(heads, 1, 2)"},
    {"np.swapaxes(heads, -3, -2)": "np.swapaxes(heads, 0, 1)"},
    does="Your code swaps axes counted from the front.", right=PLACE, read="numpy.swapaxes")
split_heads.wrong("leading_folded", "split_heads", {"x.reshape(*leading, t,": "x.reshape(-1,", "heads, -3, -2)": "heads, 0, 1)"},
    {"return result": "return result.reshape(-1, *result.shape[-3:])"},
    does="Your code folds the leading axes into one.", right=LEADING, read=SPLIT)
split_heads.wrong("squeezed", "split_heads", {"return result": "return result.squeeze()"},
    does="Your code removes axes of length 1.", right="One head or one token keeps its axis.", read="numpy.squeeze")
split_heads.wrong("list", "split_heads", {"return result": "return list(np.moveaxis(result, -3, 0))"},
    {"return result": "return list(result)"},
    does="Your code returns a list.", right="Return one array.", read="numpy.stack")
split_heads.wrong("rest_dropped", "split_heads", {"if d_model % n_heads != 0": "if False",
    "x.reshape(": "x[..., : n_heads * d_head].reshape("},
    does="Your code drops features that do not fit.", right=DIVIDES, read=SPLIT)
split_heads.wrong("assert", "split_heads", {"raise ValueError": "raise AssertionError"},
    does="Your code refuses with an assert, which raises AssertionError.", right=DIVIDES,
    read="the part Raises of the docstring of `split_heads`")
split_heads.wrong("tokens_must_divide", "split_heads", {"if d_model % n_heads": "if t % n_heads"},
    does="Your ValueError depends on the number of tokens.", right=DIVIDES,
    read="the part Raises of the docstring of `split_heads`")
split_heads.wrong("one_head_refused", "split_heads", {"!= 0:": "!= 0 or n_heads == 1:"},
    does="Your code refuses one head.", right="One head is allowed.", read=SPLIT)
split_heads.wrong("full_width_refused", "split_heads", {"!= 0:": "!= 0 or n_heads == d_model:"},
    does="Your code refuses as many heads as features.", right="A head may be one feature wide.", read=SPLIT)
split_heads.wrong("changes_x", "purity",
    {"x.reshape(*leading, t, n_heads, d_head)": "x\n    heads.shape = (*leading, t, n_heads, d_head)"},
    {"    heads = ": "    x *= 2\n    x /= 4\n    heads = "},
    does="Your code changes the argument `x`.", right="Work on new arrays: x.reshape(...) makes one.", read=COPIES)
split_heads.wrong("remembers", "purity", {"n_heads):": "n_heads, kept={}):",
    "return result": "return kept.setdefault((x.shape, n_heads), result)"}, memory=True,
    does="Your code returns the result of an earlier call.", right="Use the x of this call.", read=KEPT)
split_heads.wrong("float64_result", "dtype", {"return result": "return result.astype(float)"},
    does="Your result is float64 for float32 arguments.", right="Return the dtype of x.", read="numpy.zeros, argument dtype")


MERGE = "the formula in the docstring of `merge_heads`"
SIDE = "The heads of a token stand side by side along its features."


@written
def merge_heads(x):
    *leading, n_heads, t, d_head = x.shape
    tokens = np.swapaxes(x, -3, -2)
    result = tokens.reshape(*leading, t, n_heads * d_head)
    return result


merge_heads.wrong("reshape_only", "merge_heads", {"np.swapaxes(x, -3, -2)": "x"},
    does="Your code only reshapes, which puts different tokens side by side.", right="Move the heads behind the tokens first.",
    read=MERGE)
merge_heads.wrong("interleaved", "merge_heads", {"np.swapaxes(x, -3, -2)": "np.moveaxis(x, -3, -1)"},
    does="Your features of the heads alternate.", right="Each head keeps its consecutive run.", read=MERGE)
merge_heads.wrong("wrong_axes_exchanged", "merge_heads", {"np.swapaxes(x, -3, -2)": "np.swapaxes(x, -1, -2)"},
    does="Your code exchanges tokens and features before the reshape.", right="Exchange heads and tokens.", read=MERGE)
merge_heads.wrong("averaged", "merge_heads", {"tokens.reshape(*leading, t, n_heads * d_head)": "x.mean(axis=-3)"},
    does="Your code averages the heads.", right=SIDE, read=MERGE)
merge_heads.wrong("summed", "merge_heads", {"tokens.reshape(*leading, t, n_heads * d_head)": "x.sum(axis=-3)"},
    does="Your code adds the heads.", right=SIDE, read=MERGE)
merge_heads.wrong("along_tokens", "merge_heads",
    {"tokens.reshape(*leading, t, n_heads * d_head)": "x.reshape(*leading, n_heads * t, d_head)"},
    does="Your heads stand one below the other, along the tokens.", right=SIDE, read=MERGE)
merge_heads.wrong("first_axis", "merge_heads", {"np.swapaxes(x, -3, -2)": "np.moveaxis(x, 0, -2)"},
    {"np.swapaxes(x, -3, -2)": "np.swapaxes(x, 0, 1)"},
    does="Your code takes the first axis for the heads.", right="With leading axes it is the third from the end.", read=MERGE)
merge_heads.wrong("second_axis", "merge_heads", {"np.swapaxes(x, -3, -2)": "np.swapaxes(x, 1, 2)"},
    does="Your code swaps axes counted from the front.", right="The heads are the third axis from the end.", read="numpy.swapaxes")
merge_heads.wrong("one_sequence_only", "merge_heads",
    {"*leading, n_heads, t, d_head = x.shape": "n_heads, t, d_head = x.shape\n    leading = []"},
    does="Your code handles (n_heads, t, d_head) only.", right=LEADING, read=MERGE)
merge_heads.wrong("batch_required", "merge_heads",
    {"*leading, n_heads, t, d_head = x.shape": "batch, n_heads, t, d_head = x.shape\n    leading = [batch]"},
    does="Your code takes exactly one leading axis for granted.", right=LEADING, read=MERGE)
merge_heads.wrong("leading_folded", "merge_heads", {"reshape(*leading, t,": "reshape(-1,"},
    does="Your code folds the leading axes into the tokens.", right=LEADING, read=MERGE)
merge_heads.wrong("heads_reversed", "merge_heads", {"np.swapaxes(x, -3, -2)": "np.swapaxes(x[..., ::-1, :, :], -3, -2)"},
    does="Your heads are in reverse order.", right="Head 0 comes first.", read=MERGE)
merge_heads.wrong("squeezed", "merge_heads", {"return result": "return result.squeeze()"},
    does="Your code removes axes of length 1.", right="One token or one batch entry keeps its axis.", read="numpy.squeeze")
merge_heads.wrong("changes_x", "purity", {"    tokens = ": "    x *= 2\n    x /= 4\n    tokens = "},
    does="Your code changes the argument `x`.", right="Work on new arrays.", read=COPIES)
merge_heads.wrong("remembers", "purity", {"(x):": "(x, kept={}):", "return result": "return kept.setdefault(x.shape, result)"},
    memory=True,
    does="Your code returns the result of an earlier call.", right="Use the x of this call.", read=KEPT)
merge_heads.wrong("float64_result", "dtype", {"return result": "return result.astype(float)"},
    does="Your result is float64 for float32 arguments.", right="Return the dtype of x.", read="numpy.zeros, argument dtype")


MULTI = "the formula in the docstring of `multi_head_attention`"
PROJECT = "Queries, keys and values are x @ w_q, x @ w_k and x @ w_v."
HEADS = "Insert an axis for the heads third from the end: mask[..., None, :, :]."
WIDTH = "Each head divides its scores by the root of its own width, d_model // n_heads."


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


multi = multi_head_attention
multi.wrong("no_w_o", "multi_head", {'merged @ params["w_o"]': "merged"},
    does="Your code does not multiply by w_o.", right="The result is merged @ w_o.", read=MULTI)
multi.wrong("w_o_transposed", "multi_head", {'merged @ params["w_o"]': 'merged @ params["w_o"].T'},
    does="Your code multiplies by the transpose of w_o.", right="The result is merged @ w_o.", read=MULTI)
multi.wrong("w_o_first", "multi_head",
    {'merge_heads(output)': 'merge_heads(output) if n_heads == 1 else merge_heads(output * n_heads) / n_heads**2'},
    does="Your code divides by the number of heads.", right="The heads are put side by side, not averaged.", read=MULTI)
multi.wrong("weights_transposed", "multi_head",
    {'params["w_q"]': 'params["w_q"].T', 'params["w_k"]': 'params["w_k"].T', 'params["w_v"]': 'params["w_v"].T',
    'params["w_o"]': 'params["w_o"].T'},
    {'params["w_q"]': 'params["w_q"].T', 'params["w_k"]': 'params["w_k"].T', 'params["w_v"]': 'params["w_v"].T'},
    does="Your code multiplies by the transposed matrices, as torch.nn.Linear stores them.", right="Tokens are rows: x @ w.",
    read=MULTI)
multi.wrong("keys_like_queries", "multi_head", {'params["w_k"]': 'params["w_q"]'},
    does="Your code makes the keys with w_q.", right=PROJECT, read=MULTI)
multi.wrong("values_like_keys", "multi_head", {'params["w_v"]': 'params["w_k"]'},
    does="Your code makes the values with w_k.", right=PROJECT, read=MULTI)
multi.wrong("values_like_queries", "multi_head", {'params["w_v"]': 'params["w_q"]'},
    does="Your code makes the values with w_q.", right=PROJECT, read=MULTI)
multi.wrong("queries_and_keys_swapped", "multi_head", {'params["w_k"]': 'params["w_q"]', 'params["w_q"]': 'params["w_k"]'},
    {"scaled_dot_product_attention(q, k, v,": "scaled_dot_product_attention(k, q, v,"},
    does="Your code exchanges queries and keys.", right=PROJECT, read=MULTI)
multi.wrong("keys_and_values_swapped", "multi_head",
    {"scaled_dot_product_attention(q, k, v,": "scaled_dot_product_attention(q, v, k,"},
    {'params["w_k"]': 'params["w_v"]', 'params["w_v"]': 'params["w_k"]'},
    does="Your code exchanges keys and values.", right=PROJECT, read=MULTI)
multi.wrong("values_not_projected", "multi_head", {'x @ params["w_v"]': "x"},
    does="Your code uses x itself as the values.", right=PROJECT, read=MULTI)
multi.wrong("queries_not_projected", "multi_head", {'x @ params["w_q"]': "x"},
    does="Your code uses x itself as the queries.", right=PROJECT, read=MULTI)
multi.wrong("keys_not_projected", "multi_head", {'x @ params["w_k"]': "x"},
    does="Your code uses x itself as the keys.", right=PROJECT, read=MULTI)
multi.wrong("scaled_by_d_model", "multi_head", {"    output, weights": "    q = q * n_heads**-0.5\n    output, weights"},
    does="Your code divides the scores by sqrt(d_model).", right=WIDTH, read=MULTI)
multi.wrong("no_scaling", "multi_head", {"    output, weights": "    q = q * q.shape[-1] ** 0.5\n    output, weights"},
    does="Your code does not scale the scores.", right=WIDTH, read=MULTI)
multi.wrong("scaled_twice", "multi_head", {"    output, weights": "    q = q / q.shape[-1] ** 0.5\n    output, weights"},
    does="Your code scales the scores twice.", right="The attention of each head scales them already.", read=MULTI)
multi.wrong("scaled_by_n_heads", "multi_head",
    {"    output, weights": "    q = q * (q.shape[-1] / n_heads) ** 0.5\n    output, weights"},
    does="Your code divides the scores by the root of the number of heads.", right=WIDTH, read=MULTI)
multi.wrong("single_head", "multi_head", {"split_heads(q, n_heads), split_heads(k, n_heads), split_heads(v, n_heads)":
    "split_heads(q, 1), split_heads(k, 1), split_heads(v, 1)"},
    does="Your code attends with a single head over all features.", right="Every head has its own scores and weights.", read=MULTI)
multi.wrong("reshape_only", "multi_head", {"split_heads(q, n_heads), split_heads(k, n_heads), split_heads(v, n_heads)":
    "[a.reshape(*a.shape[:-2], n_heads, a.shape[-2], -1) for a in (q, k, v)]"},
    {"split_heads(q, n_heads), split_heads(k, n_heads), split_heads(v, n_heads)":
    "[a.reshape(*a.shape[:-2], n_heads, a.shape[-2], -1) for a in (q, k, v)]", "merge_heads(output)": "output.reshape(x.shape)"},
    does="Your code cuts the heads by a reshape alone, which mixes tokens.", right="Split the features of each token.", read=MULTI)
multi.wrong("interleaved", "multi_head", {"split_heads(q, n_heads), split_heads(k, n_heads), split_heads(v, n_heads)":
    "[np.moveaxis(a.reshape(*a.shape[:-1], -1, n_heads), -1, -3) for a in (q, k, v)]",
    "merge_heads(output)": "np.moveaxis(output, -3, -1).reshape(x.shape)"},
    {"split_heads(q, n_heads), split_heads(k, n_heads), split_heads(v, n_heads)":
    "[np.moveaxis(a.reshape(*a.shape[:-1], -1, n_heads), -1, -3) for a in (q, k, v)]"},
    does="Your heads take every n-th feature.", right="Each head takes a consecutive run.", read=MULTI)
multi.wrong("merged_by_reshape", "multi_head", {"merge_heads(output)": "output.reshape(x.shape)"},
    does="Your code merges the heads by a reshape alone, which mixes tokens.", right="Move the heads behind the tokens first.",
    read=MULTI)
multi.wrong("heads_reversed", "multi_head", {"merge_heads(output)": "merge_heads(output[..., ::-1, :, :])"},
    does="Your heads are merged in reverse order.", right="Head 0 comes first.", read=MULTI)
multi.wrong("heads_averaged", "multi_head",
    {"merge_heads(output)": "merge_heads(output * 0 + output.mean(axis=-3, keepdims=True))"},
    does="Your code averages the heads.", right="Put them side by side.", read=MULTI)
multi.wrong("first_head_for_all", "multi_head", {"merge_heads(output)": "merge_heads(output * 0 + output[..., :1, :, :])"},
    does="Your code uses the first head in the place of all.", right="Each head attends on its own.", read=MULTI)
multi.wrong("residual_inside", "multi_head", {"return result": "return x + result"},
    does="Your code adds the input to the result.", right="The residual connection belongs to the block.", read=MULTI)
multi.wrong("weights_returned", "multi_head", {"return result": "return result, weights"},
    does="Your code returns the weights as well.", right="Return the result alone.",
    read="the part Returns of the docstring of `multi_head_attention`")
multi.wrong("softmax_over_queries", "multi_head", {"merge_heads(output)":
    "merge_heads(softmax(np.where(True if heads_mask is None else heads_mask, q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5, -np.inf), axis=-2) @ v)"},
    does="Your softmax runs over the queries.", right="Each query spreads its weight over the keys, along the last axis.",
    read=MULTI)
multi.wrong("squeezed", "multi_head", {"return result": "return result.squeeze()"},
    does="Your code removes axes of length 1.", right="The result has the shape of x.", read="numpy.squeeze")
multi.wrong("batch_required", "multi_head", {'    q = x @ params["w_q"]': '    _, _, _ = x.shape\n    q = x @ params["w_q"]'},
    does="Your code takes exactly one leading axis for granted.", right=LEADING, read=MULTI)
multi.wrong("one_sequence_only", "multi_head", {'    q = x @ params["w_q"]': '    _, _ = x.shape\n    q = x @ params["w_q"]'},
    does="Your code handles (t, d_model) only.", right=LEADING, read=MULTI)
multi.wrong("float32_inside", "multi_head", {"return result": "return result.astype(np.float32)"}, inexact=True,
    does="Your code is only as accurate as float32, also for float64 arguments.", right="Compute in the dtype of x.",
    read="numpy.ndarray.astype")

multi.wrong("mask_ignored", "multi_head_mask", {"if mask is not None": "if False"},
    does="Your code does not hand the mask to the heads.", right="Pass it to the attention of every head.", read=MULTI)
multi.wrong("mask_for_first_head", "multi_head_mask", {"    output, weights":
    "    if mask is not None:\n        first = np.arange(n_heads)[:, None, None] == 0\n        heads_mask = heads_mask | ~first\n    output, weights"},
    does="Your code hands the mask to the first head only.", right="Pass it to the attention of every head.", read=MULTI)
multi.wrong("mask_inverted", "multi_head_mask", {"mask[..., np.newaxis": "~mask[..., np.newaxis"},
    does="Your code hides the keys where the mask is True.", right="True means that the query may see the key.", read=MULTI)
multi.wrong("mask_transposed", "multi_head_mask",
    {"mask[..., np.newaxis, :, :]": "np.swapaxes(mask, -1, -2)[..., np.newaxis, :, :]"},
    does="Your mask is transposed.", right="Rows are queries, columns keys.", read=MULTI)
multi.wrong("always_causal", "multi_head_mask",
    {"if mask is not None:": "if mask is None:\n        mask = np.tri(x.shape[-2], dtype=bool)\n    if True:"},
    does="Without a mask your code uses a causal one.", right="With mask=None every position sees every other.",
    read="the signature of `multi_head_attention`")
multi.wrong("mask_without_heads_axis", "multi_head_mask", {"mask[..., np.newaxis, :, :]": "mask"},
    does="Your mask has no axis for the heads, so that its batch axis meets theirs.", right=HEADS,
    read="NumPy's page on broadcasting")
multi.wrong("mask_axis_second", "multi_head_mask", {"mask[..., np.newaxis, :, :]": "mask[:, np.newaxis]"},
    does="Your code inserts the axis for the heads second, which is right with one batch axis only.", right=HEADS,
    read="NumPy's page on broadcasting")
multi.wrong("mask_axis_first", "multi_head_mask", {"mask[..., np.newaxis, :, :]": "mask[np.newaxis]"},
    does="Your code inserts the axis for the heads first.", right=HEADS, read="NumPy's page on broadcasting")
multi.wrong("mask_truthiness", "multi_head_mask", {"if mask is not None": "if mask"},
    does="Your code asks whether the mask as a whole is true, which raises ValueError for an array.",
    right="Ask whether it is None.",
    read="NumPy's page on the truth value of an array")
multi.wrong("minus_1e9", "multi_head_mask", {"merge_heads(output)":
    "merge_heads(output if heads_mask is None else np.where(heads_mask.any(axis=-1, keepdims=True), output, v.mean(axis=-2, keepdims=True)))"},
    does="A query that may see nothing gets equal weights.", right="It gets zero weights: set hidden scores to -inf.", read=MULTI)
multi.wrong("nan_when_nothing_is_seen", "multi_head_mask", {"merge_heads(output)":
    "merge_heads(output if heads_mask is None else np.where(heads_mask.any(axis=-1, keepdims=True), output, np.nan))"},
    does="A query that may see nothing gets nan.", right="It gets zero weights and a zero output.", read=MULTI)
multi.wrong("zero_instead_of_minus_infinity", "multi_head_mask", {"merge_heads(output)":
    "merge_heads(output if mask is None else softmax(np.where(heads_mask, q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5, 0.0)) @ v)"},
    does="Your hidden scores are zero, which still gets a weight since exp(0) = 1.",
    right="Set hidden scores to -inf before the softmax.", read=MULTI)
multi.wrong("mask_after_softmax", "multi_head_mask", {"merge_heads(output)":
    "merge_heads(output if mask is None else np.where(heads_mask, softmax(q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5), 0.0) @ v)"},
    does="Your code zeroes weights after the softmax, so that the others do not sum to 1.",
    right="Set hidden scores to -inf before the softmax.", read=MULTI)
multi.wrong("mask_for_whole_batch", "multi_head_mask", {"mask[..., np.newaxis, :, :]": "mask[(0,) * (mask.ndim - 2)]"},
    does="Your code uses the mask of the first batch entry for all.", right="Each batch entry has its own mask.",
    read="NumPy's page on broadcasting")
multi.wrong("changes_params", "purity", {'params["w_o"]': 'params.pop("w_o")'},
    {"    merged =": "    params['weights'] = weights\n    merged ="},
    does="Your code changes the argument `params`.", right="Leave the caller's dictionary as it is.",
    read="the Python tutorial, Dictionaries")
multi.wrong("remembers", "purity",
    {"mask=None):": "mask=None, cache={}):", '    q = x @ params["w_q"]': '    params = cache.setdefault(x.shape, params)\n    q = x @ params["w_q"]'},
    memory=True, does="Your code uses the matrices of an earlier call again.", right="Use the params of this call.", read=KEPT)
multi.wrong("float64_result", "dtype", {"return result": "return result.astype(float)"},
    does="Your result is float64 for float32 arguments.", right="Return the dtype of the arguments.",
    read="numpy.zeros, argument dtype")


ROW = np.array([[1.0, 0.0]])
SOME = np.array([[True, False, True]])
TWO = np.array([[1.0, 0.0], [2.0, -1.0]])
THREE = np.array([[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0]])
VALUES = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, -1.0], [2.0, 2.0, 0.0]])
TOKENS = np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [0.0, -1.0, -2.0, -3.0]])
PARAMS = {
    "w_q": np.array([[1.0, 0.5], [0.0, 1.0]]),
    "w_k": np.array([[1.0, 0.0], [-1.0, 2.0]]),
    "w_v": np.array([[0.0, 1.0], [2.0, 1.0]]),
    "w_o": np.array([[1.0, 3.0], [0.0, 1.0]]),
}
WIDE = {
    "w_q": np.diag([1.0, 2.0, -1.0, 0.5]),
    "w_k": np.eye(4),
    "w_v": np.eye(4)[::-1],
    "w_o": np.diag([1.0, 2.0, 3.0, 4.0]),
}
SMALL = TOKENS / 10

EXAMPLES = {
    "softmax": [
        ((np.array([1.0, 0.0, 2.0]),), {}),
        ((np.array([[1.0, 0.0, -1.0], [3.0, 2.0, 0.5]]),), {"axis": 0}),
        ((np.array([[0.0, -np.inf], [-np.inf, -np.inf]]),), {}),
        ((np.array([[1000.0, 1001.0], [-1000.0, -1002.0]]),), {}),
    ],
    "scaled_dot_product_attention": [
        ((ROW, TWO, VALUES[:2]), {}),
        ((TWO, THREE, VALUES), {"mask": np.array([[True, True, False], [False, False, False]])}),
        ((TWO, THREE, VALUES), {"mask": SOME}),
        ((np.stack([ROW, -ROW]), np.stack([THREE, THREE]), np.stack([VALUES, VALUES])), {}),
        ((1000.0 * ROW, TWO, VALUES[:2]), {}),
    ],
    "split_heads": [
        ((TOKENS[:2], 2), {}),
        ((TOKENS[:, :2], 2), {}),
        ((np.stack([TOKENS[:2], -TOKENS[:2]]), 2), {}),
        ((TOKENS[:2, :3], 2), {}),
    ],
    "merge_heads": [
        ((np.array([[[1.0, 2.0]], [[3.0, 4.0]]]),), {}),
        ((np.array([[[1.0, 2.0], [5.0, 6.0]], [[3.0, 4.0], [7.0, 8.0]]]),), {}),
        ((np.arange(12.0).reshape(2, 3, 2),), {}),
        ((np.arange(8.0).reshape(2, 2, 1, 2),), {}),
    ],
    "multi_head_attention": [
        ((TWO, PARAMS, 1), {}),
        ((TWO, PARAMS, 2), {}),
        ((THREE, PARAMS, 2), {"mask": np.tri(3, dtype=bool)}),
        ((np.stack([TWO, -TWO]), PARAMS, 1), {"mask": np.array([[[True, True]], [[True, False]]])}),
        ((SMALL, WIDE, 2), {}),
    ],
}
