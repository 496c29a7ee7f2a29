"""Known mistakes in scaled_attention.py."""

import numpy as np

from autograder.homework.catalogue import misconception
from autograder.homework.reference import merge_heads, scaled_dot_product_attention, softmax, split_heads

# softmax


@misconception(
    "exp is taken of the scores themselves and overflows; subtract the largest score of each slice first.",
    read="softmax docstring, on subtracting the largest score",
)
def softmax__no_maximum(scores, axis=-1):
    e = np.exp(scores)
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1.0, total)


@misconception(
    "The largest score of all is subtracted, and slices far below it vanish; each slice has its own.",
    read="np.max, arguments axis and keepdims",
)
def softmax__one_maximum_for_all(scores, axis=-1):
    e = np.exp(scores - scores.max())
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1.0, total)


@misconception(
    "The argument axis is not used: the result always sums to 1 along the last axis.",
    read="softmax docstring, argument axis",
)
def softmax__axis_ignored(scores, axis=-1):
    highest = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(highest == -np.inf, 0.0, highest))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1.0, total)


@misconception(
    "Without being told otherwise the softmax runs along the first axis; the default is the last one.",
    read="softmax docstring, argument axis",
)
def softmax__first_axis_by_default(scores, axis=0):
    highest = scores.max(axis=axis, keepdims=True)
    e = np.exp(scores - np.where(highest == -np.inf, 0.0, highest))
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1.0, total)


@misconception(
    "The weights are divided by the sum over the whole array; every slice has its own sum.",
    read="np.sum, arguments axis and keepdims",
)
def softmax__one_sum_for_all(scores, axis=-1):
    highest = scores.max(axis=axis, keepdims=True)
    e = np.exp(scores - np.where(highest == -np.inf, 0.0, highest))
    return e / max(float(e.sum()), 1e-300)


@misconception(
    "The sums have lost their axis and line up with the wrong one; keep it with keepdims=True.",
    read="NumPy manual, Broadcasting",
)
def softmax__no_keepdims(scores, axis=-1):
    highest = scores.max(axis=axis, keepdims=True)
    e = np.exp(scores - np.where(highest == -np.inf, 0.0, highest))
    total = e.sum(axis=axis)
    return e / np.where(total == 0, 1.0, total)


@misconception(
    "A small number is added to the sum and the weights miss 1; only a sum of zero needs care.",
    read="softmax docstring, formula",
)
def softmax__epsilon_in_the_sum(scores, axis=-1):
    highest = scores.max(axis=axis, keepdims=True)
    e = np.exp(scores - np.where(highest == -np.inf, 0.0, highest))
    return e / (e.sum(axis=axis, keepdims=True) + 1e-6)


@misconception(
    "A slice that is -inf throughout gives nan, from -inf minus -inf; it gives zeros.",
    read="softmax docstring, on a slice that is -inf throughout",
)
def softmax__nan_for_an_empty_slice(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@misconception(
    "A slice that is -inf throughout gives equal weights; it gives zeros.",
    read="softmax docstring, on a slice that is -inf throughout",
)
def softmax__equal_weights_for_an_empty_slice(scores, axis=-1):
    finite = np.maximum(scores, -1e9)
    e = np.exp(finite - finite.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@misconception(
    "Weights of integer scores are stored in an integer array, which cuts off their fractions.",
    read="np.zeros_like, argument dtype",
)
def softmax__cut_to_integers(scores, axis=-1):
    result = np.zeros_like(scores)
    highest = scores.max(axis=axis, keepdims=True)
    e = np.exp(scores - np.where(highest == -np.inf, 0.0, highest))
    total = e.sum(axis=axis, keepdims=True)
    result[...] = e / np.where(total == 0, 1.0, total)
    return result


@misconception(
    "Only matrices are handled; scores may have any number of dimensions from one up.",
    read="softmax docstring, Arguments",
)
def softmax__matrices_only(scores, axis=-1):
    _, _ = scores.shape
    highest = scores.max(axis=axis, keepdims=True)
    e = np.exp(scores - np.where(highest == -np.inf, 0.0, highest))
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1.0, total)


@misconception(
    "The maximum is subtracted inside the caller's array; work on a new one.",
    read="NumPy manual, Copies and views",
)
def softmax__in_place(scores, axis=-1):
    highest = scores.max(axis=axis, keepdims=True)
    scores -= np.where(highest == -np.inf, 0, highest).astype(scores.dtype)
    e = np.exp(scores)
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1.0, total)


@misconception(
    "The result is float64 whatever the scores are; float32 scores give float32 weights.",
    read="NumPy manual, Data type promotion",
)
def softmax__always_float64(scores, axis=-1):
    scores = scores.astype(np.float64)
    highest = scores.max(axis=axis, keepdims=True)
    e = np.exp(scores - np.where(highest == -np.inf, 0.0, highest))
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1.0, total)


# scaled_dot_product_attention


@misconception(
    "The scores are not scaled; divide them by the square root of d_k.",
    read="Attention Is All You Need, section 3.2.1",
)
def scaled_dot_product_attention__no_scaling(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ v, weights


@misconception(
    "The scores are divided by d_k; it is the square root of d_k.",
    read="Attention Is All You Need, section 3.2.1",
)
def scaled_dot_product_attention__divided_by_d_k(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / q.shape[-1]
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ v, weights


@misconception(
    "The scores are multiplied by the square root of d_k; they are divided by it.",
    read="scaled_dot_product_attention docstring, formula",
)
def scaled_dot_product_attention__multiplied(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) * q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ v, weights


@misconception(
    "The scale is the width of the values; it is the width of queries and keys, d_k.",
    read="scaled_dot_product_attention docstring, formula",
)
def scaled_dot_product_attention__scaled_by_d_v(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / v.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ v, weights


@misconception(
    "The scale is the number of keys; it is their width, d_k.",
    read="scaled_dot_product_attention docstring, formula",
)
def scaled_dot_product_attention__scaled_by_t_k(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / k.shape[-2] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ v, weights


@misconception(
    "d_k is read from the second axis, which is right for matrices only; it is the length of the last.",
    read="NumPy manual, ndarray.shape",
)
def scaled_dot_product_attention__scaled_by_second_axis(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / q.shape[1] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ v, weights


@misconception(
    "The weights are scaled after the softmax and no longer sum to 1; scale the scores before it.",
    read="scaled_dot_product_attention docstring, formula",
)
def scaled_dot_product_attention__scaled_after_softmax(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores) / q.shape[-1] ** 0.5
    return weights @ v, weights


@misconception(
    "The softmax runs over the queries; each query spreads its weight over the keys, along the last axis.",
    read="scaled_dot_product_attention docstring, formula",
)
def scaled_dot_product_attention__softmax_over_queries(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=-2)
    return weights @ v, weights


@misconception(
    "k.T reverses all axes, the leading ones too; only the last two are to be swapped.",
    read="np.swapaxes",
)
def scaled_dot_product_attention__all_axes_reversed(q, k, v, mask=None):
    scores = q @ k.T / q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ v, weights


@misconception(
    "The weights come first; the result is (output, weights).",
    read="scaled_dot_product_attention docstring, Returns",
)
def scaled_dot_product_attention__results_swapped(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights, weights @ v


@misconception(
    "The softmax written here overflows for large scores; subtract the largest score of each query first.",
    read="softmax docstring, on subtracting the largest score",
)
def scaled_dot_product_attention__overflow(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    e = np.exp(scores)
    total = e.sum(axis=-1, keepdims=True)
    weights = e / np.where(total == 0, 1.0, total)
    return weights @ v, weights


@misconception(
    "The mask is not used; hide the scores where it is False.",
    read="scaled_dot_product_attention docstring, argument mask",
)
def scaled_dot_product_attention__mask_ignored(q, k, v, mask=None):
    weights = softmax(q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5)
    return weights @ v, weights


@misconception(
    "Keys are hidden where the mask is True; True means that the query may look.",
    read="module docstring, on masks",
)
def scaled_dot_product_attention__mask_inverted(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, -np.inf, scores)
    weights = softmax(scores)
    return weights @ v, weights


@misconception(
    "The mask is transposed; its rows are the queries and its columns the keys.",
    read="scaled_dot_product_attention docstring, argument mask",
)
def scaled_dot_product_attention__mask_transposed(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(np.swapaxes(mask, -1, -2), scores, -np.inf)
    weights = softmax(scores)
    return weights @ v, weights


@misconception(
    "Hidden scores are set to zero, which still gets a weight since exp(0) = 1; they become -inf.",
    read="scaled_dot_product_attention docstring, argument mask",
)
def scaled_dot_product_attention__zero_instead_of_minus_infinity(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores * mask
    weights = softmax(scores)
    return weights @ v, weights


@misconception(
    "The mask zeroes weights after the softmax, so that they no longer sum to 1; hide the scores before it.",
    read="scaled_dot_product_attention docstring, argument mask",
)
def scaled_dot_product_attention__mask_after_softmax(q, k, v, mask=None):
    weights = softmax(q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5)
    if mask is not None:
        weights = weights * mask
    return weights @ v, weights


@misconception(
    "Indexing with the mask needs it in full shape; let it broadcast, as np.where does.",
    read="np.where; NumPy manual, Broadcasting",
)
def scaled_dot_product_attention__mask_as_index(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
    if mask is not None:
        scores[..., ~mask] = -np.inf
    weights = softmax(scores)
    return weights @ v, weights


@misconception(
    "Hidden scores are -1e9, so that a query that may see nothing spreads equal weights; use -inf.",
    read="scaled_dot_product_attention docstring, on a query that may see nothing",
)
def scaled_dot_product_attention__minus_1e9(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    weights = softmax(scores)
    return weights @ v, weights


@misconception(
    "A query that may see nothing gets nan, from -inf minus -inf; it gets zero weights and a zero output.",
    read="scaled_dot_product_attention docstring, on a query that may see nothing",
)
def scaled_dot_product_attention__nan_when_nothing_is_seen(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ v, weights


@misconception(
    "Dividing by np.sqrt(d_k) turns float32 into float64 in NumPy 2; divide by a Python float, d_k**0.5.",
    read="NumPy manual, Data type promotion",
)
def scaled_dot_product_attention__float64_from_sqrt(q, k, v, mask=None):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ v, weights


@misconception(
    "The caller's queries are scaled in place; write q / d_k**0.5, which makes a new array.",
    read="NumPy manual, Copies and views",
)
def scaled_dot_product_attention__queries_in_place(q, k, v, mask=None):
    scale = q.shape[-1] ** 0.5
    k = k.copy()
    q /= scale
    scores = q @ np.swapaxes(k, -1, -2)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ v, weights


# split_heads


@misconception(
    "A reshape alone cuts across tokens; split the last axis, then move the heads before the tokens.",
    read="split_heads docstring, formula",
)
def split_heads__reshape_only(x, n_heads):
    *leading, t, d_model = x.shape
    if d_model % n_heads:
        raise ValueError("n_heads must divide d_model")
    return x.reshape(*leading, n_heads, t, d_model // n_heads)


@misconception(
    "The features are dealt out in turn; head h takes the h-th consecutive run of features.",
    read="split_heads docstring, formula",
)
def split_heads__interleaved(x, n_heads):
    *leading, t, d_model = x.shape
    if d_model % n_heads:
        raise ValueError("n_heads must divide d_model")
    return np.moveaxis(x.reshape(*leading, t, d_model // n_heads, n_heads), -1, -3)


@misconception(
    "The heads still stand after the tokens; the result is (..., n_heads, t, d_head).",
    read="split_heads docstring, Returns",
)
def split_heads__heads_after_tokens(x, n_heads):
    *leading, t, d_model = x.shape
    if d_model % n_heads:
        raise ValueError("n_heads must divide d_model")
    return x.reshape(*leading, t, n_heads, d_model // n_heads)


@misconception(
    "The heads stand before the leading dimensions; their axis comes right before the tokens.",
    read="np.stack, argument axis",
)
def split_heads__heads_first(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError("n_heads must divide d_model")
    return np.stack(np.split(x, n_heads, axis=-1))


@misconception(
    "n_heads is taken for the width of a head; there are n_heads heads of width d_model // n_heads.",
    read="split_heads docstring, formula",
)
def split_heads__count_as_width(x, n_heads):
    *leading, t, d_model = x.shape
    if d_model % n_heads:
        raise ValueError("n_heads must divide d_model")
    return np.swapaxes(x.reshape(*leading, t, d_model // n_heads, n_heads), -3, -2)


@misconception(
    "Exactly one leading dimension is taken for granted; there may be none or several.",
    read="split_heads docstring, Arguments",
)
def split_heads__batch_required(x, n_heads):
    b, t, d_model = x.shape
    if d_model % n_heads:
        raise ValueError("n_heads must divide d_model")
    return x.reshape(b, t, n_heads, d_model // n_heads).transpose(0, 2, 1, 3)


@misconception(
    "Only (t, d_model) is handled; there may be leading dimensions.",
    read="split_heads docstring, Arguments",
)
def split_heads__one_sequence_only(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError("n_heads must divide d_model")
    t, d_model = x.shape
    return x.reshape(t, n_heads, d_model // n_heads).transpose(1, 0, 2)


@misconception(
    "Features that do not fit are dropped; ValueError is due when n_heads does not divide d_model.",
    read="split_heads docstring, Raises",
)
def split_heads__rest_dropped(x, n_heads):
    *leading, t, d_model = x.shape
    d_head = d_model // n_heads
    return np.swapaxes(x[..., : n_heads * d_head].reshape(*leading, t, n_heads, d_head), -3, -2)


@misconception(
    "An assert raises AssertionError; ValueError is due when n_heads does not divide d_model.",
    read="split_heads docstring, Raises",
)
def split_heads__assertion(x, n_heads):
    *leading, t, d_model = x.shape
    assert d_model % n_heads == 0
    return np.swapaxes(x.reshape(*leading, t, n_heads, d_model // n_heads), -3, -2)


@misconception(
    "ValueError depends on the number of tokens; only d_model has to be divisible by n_heads.",
    read="split_heads docstring, Raises",
)
def split_heads__tokens_must_divide(x, n_heads):
    *leading, t, d_model = x.shape
    if d_model % n_heads or t % n_heads:
        raise ValueError("n_heads must divide d_model")
    return np.swapaxes(x.reshape(*leading, t, n_heads, d_model // n_heads), -3, -2)


@misconception(
    "The heads are collected in a float64 array; the result has the dtype of x.",
    read="np.zeros, argument dtype",
)
def split_heads__always_float64(x, n_heads):
    *leading, t, d_model = x.shape
    if d_model % n_heads:
        raise ValueError("n_heads must divide d_model")
    d_head = d_model // n_heads
    result = np.zeros((*leading, n_heads, t, d_head))
    for h in range(n_heads):
        result[..., h, :, :] = x[..., h * d_head : (h + 1) * d_head]
    return result


# merge_heads


@misconception(
    "A reshape alone puts different tokens side by side; move the heads behind the tokens first.",
    read="merge_heads docstring, formula",
)
def merge_heads__reshape_only(x):
    *leading, n_heads, t, d_head = x.shape
    return x.reshape(*leading, t, n_heads * d_head)


@misconception(
    "The features of the heads alternate; each head keeps its consecutive run.",
    read="merge_heads docstring, formula",
)
def merge_heads__interleaved(x):
    *leading, n_heads, t, d_head = x.shape
    return np.moveaxis(x, -3, -1).reshape(*leading, t, n_heads * d_head)


@misconception(
    "Tokens and features are exchanged before the reshape; heads and tokens are.",
    read="merge_heads docstring, formula",
)
def merge_heads__wrong_axes_exchanged(x):
    *leading, n_heads, t, d_head = x.shape
    return np.swapaxes(x, -2, -1).reshape(*leading, t, n_heads * d_head)


@misconception(
    "The heads are averaged; they are put side by side.",
    read="merge_heads docstring, formula",
)
def merge_heads__averaged(x):
    return x.mean(axis=-3)


@misconception(
    "The heads are placed one below the other, along the tokens; they stand side by side along the features.",
    read="np.concatenate, argument axis",
)
def merge_heads__along_tokens(x):
    *leading, n_heads, t, d_head = x.shape
    return x.reshape(*leading, n_heads * t, d_head)


@misconception(
    "The first axis is taken for the heads; with leading dimensions it is the third from the end.",
    read="merge_heads docstring, Arguments",
)
def merge_heads__first_axis(x):
    return np.concatenate(list(x), axis=-1)


@misconception(
    "Exactly one leading dimension is taken for granted; there may be none or several.",
    read="merge_heads docstring, Arguments",
)
def merge_heads__batch_required(x):
    b, n_heads, t, d_head = x.shape
    return x.transpose(0, 2, 1, 3).reshape(b, t, n_heads * d_head)


@misconception(
    "The order of the heads is reversed; head 0 comes first.",
    read="merge_heads docstring, formula",
)
def merge_heads__last_head_first(x):
    *leading, n_heads, t, d_head = x.shape
    return np.swapaxes(x[..., ::-1, :, :], -3, -2).reshape(*leading, t, n_heads * d_head)


@misconception(
    "The heads are collected in a float64 array; the result has the dtype of x.",
    read="np.zeros, argument dtype",
)
def merge_heads__always_float64(x):
    *leading, n_heads, t, d_head = x.shape
    result = np.zeros((*leading, t, n_heads * d_head))
    for h in range(n_heads):
        result[..., h * d_head : (h + 1) * d_head] = x[..., h, :, :]
    return result


# multi_head_attention


@misconception(
    "The last projection is missing; the merged heads are multiplied by w_o.",
    read="multi_head_attention docstring, formula",
)
def multi_head_attention__no_w_o(x, params, n_heads, mask=None):
    q, k, v = (split_heads(x @ params[name], n_heads) for name in ("w_q", "w_k", "w_v"))
    mask = None if mask is None else mask[..., np.newaxis, :, :]
    return merge_heads(scaled_dot_product_attention(q, k, v, mask)[0])


@misconception(
    "The keys are projected with w_q; they have their own projection w_k.",
    read="multi_head_attention docstring, formula",
)
def multi_head_attention__keys_like_queries(x, params, n_heads, mask=None):
    q, k, v = (split_heads(x @ params[name], n_heads) for name in ("w_q", "w_q", "w_v"))
    mask = None if mask is None else mask[..., np.newaxis, :, :]
    return merge_heads(scaled_dot_product_attention(q, k, v, mask)[0]) @ params["w_o"]


@misconception(
    "The projections are transposed; tokens are rows, so it is x @ w.",
    read="multi_head_attention docstring, formula",
)
def multi_head_attention__weights_transposed(x, params, n_heads, mask=None):
    q, k, v = (split_heads(x @ params[name].T, n_heads) for name in ("w_q", "w_k", "w_v"))
    mask = None if mask is None else mask[..., np.newaxis, :, :]
    return merge_heads(scaled_dot_product_attention(q, k, v, mask)[0]) @ params["w_o"].T


@misconception(
    "The scores are divided by the square root of d_model; each head divides by that of its own width.",
    read="Attention Is All You Need, section 3.2.2",
)
def multi_head_attention__scaled_by_d_model(x, params, n_heads, mask=None):
    q, k, v = (split_heads(x @ params[name], n_heads) for name in ("w_q", "w_k", "w_v"))
    mask = None if mask is None else mask[..., np.newaxis, :, :]
    return merge_heads(scaled_dot_product_attention(q / n_heads**0.5, k, v, mask)[0]) @ params["w_o"]


@misconception(
    "All features attend as a single head; every head has its own scores and weights.",
    read="Attention Is All You Need, section 3.2.2",
)
def multi_head_attention__single_head(x, params, n_heads, mask=None):
    q, k, v = (x @ params[name] for name in ("w_q", "w_k", "w_v"))
    return scaled_dot_product_attention(q, k, v, mask)[0] @ params["w_o"]


@misconception(
    "The heads are cut by a reshape alone, which mixes tokens; split the features of each token.",
    read="split_heads docstring, formula",
)
def multi_head_attention__reshape_only(x, params, n_heads, mask=None):
    *leading, t, d_model = x.shape
    shape = (*leading, n_heads, t, d_model // n_heads)
    q, k, v = ((x @ params[name]).reshape(shape) for name in ("w_q", "w_k", "w_v"))
    mask = None if mask is None else mask[..., np.newaxis, :, :]
    return scaled_dot_product_attention(q, k, v, mask)[0].reshape(*leading, t, d_model) @ params["w_o"]


@misconception(
    "The heads take every n-th feature, when splitting and when merging; each takes a consecutive run.",
    read="split_heads docstring, formula",
)
def multi_head_attention__interleaved(x, params, n_heads, mask=None):
    *leading, t, d_model = x.shape

    def split(y):
        return np.moveaxis(y.reshape(*leading, t, d_model // n_heads, n_heads), -1, -3)

    q, k, v = (split(x @ params[name]) for name in ("w_q", "w_k", "w_v"))
    mask = None if mask is None else mask[..., np.newaxis, :, :]
    heads = scaled_dot_product_attention(q, k, v, mask)[0]
    return np.moveaxis(heads, -3, -1).reshape(*leading, t, d_model) @ params["w_o"]


@misconception(
    "The heads are merged by a reshape alone, which mixes tokens; move the heads behind the tokens first.",
    read="merge_heads docstring, formula",
)
def multi_head_attention__merged_by_reshape(x, params, n_heads, mask=None):
    q, k, v = (split_heads(x @ params[name], n_heads) for name in ("w_q", "w_k", "w_v"))
    mask = None if mask is None else mask[..., np.newaxis, :, :]
    return scaled_dot_product_attention(q, k, v, mask)[0].reshape(x.shape) @ params["w_o"]


@misconception(
    "The input is added to the result; the residual connection belongs to the block, not to the attention.",
    read="multi_head_attention docstring, formula",
)
def multi_head_attention__residual_inside(x, params, n_heads, mask=None):
    q, k, v = (split_heads(x @ params[name], n_heads) for name in ("w_q", "w_k", "w_v"))
    mask = None if mask is None else mask[..., np.newaxis, :, :]
    return x + merge_heads(scaled_dot_product_attention(q, k, v, mask)[0]) @ params["w_o"]


@misconception(
    "The mask is not handed on to the attention of the heads.",
    read="multi_head_attention docstring, argument mask",
)
def multi_head_attention__mask_ignored(x, params, n_heads, mask=None):
    q, k, v = (split_heads(x @ params[name], n_heads) for name in ("w_q", "w_k", "w_v"))
    return merge_heads(scaled_dot_product_attention(q, k, v)[0]) @ params["w_o"]


@misconception(
    "The mask has no axis for the heads, so that its batch axis meets theirs; insert one third from the end.",
    read="multi_head_attention docstring, argument mask",
)
def multi_head_attention__mask_without_heads_axis(x, params, n_heads, mask=None):
    q, k, v = (split_heads(x @ params[name], n_heads) for name in ("w_q", "w_k", "w_v"))
    return merge_heads(scaled_dot_product_attention(q, k, v, mask)[0]) @ params["w_o"]


@misconception(
    "The heads axis is inserted second, which is wrong without a batch axis; count it from the end.",
    read="np.expand_dims, argument axis",
)
def multi_head_attention__mask_axis_second(x, params, n_heads, mask=None):
    q, k, v = (split_heads(x @ params[name], n_heads) for name in ("w_q", "w_k", "w_v"))
    mask = None if mask is None else mask[:, np.newaxis]
    return merge_heads(scaled_dot_product_attention(q, k, v, mask)[0]) @ params["w_o"]


@misconception(
    "Exactly one leading dimension is taken for granted; there may be none or several.",
    read="multi_head_attention docstring, Arguments",
)
def multi_head_attention__batch_required(x, params, n_heads, mask=None):
    _, _, _ = x.shape
    q, k, v = (split_heads(x @ params[name], n_heads) for name in ("w_q", "w_k", "w_v"))
    mask = None if mask is None else mask[..., np.newaxis, :, :]
    return merge_heads(scaled_dot_product_attention(q, k, v, mask)[0]) @ params["w_o"]


@misconception(
    "w_o is taken out of the caller's params; reading it with square brackets leaves it there.",
    read="Python documentation, dict.pop",
)
def multi_head_attention__params_popped(x, params, n_heads, mask=None):
    w_o = params.pop("w_o")
    q, k, v = (split_heads(x @ params[name], n_heads) for name in ("w_q", "w_k", "w_v"))
    mask = None if mask is None else mask[..., np.newaxis, :, :]
    return merge_heads(scaled_dot_product_attention(q, k, v, mask)[0]) @ w_o


@misconception(
    "The projections of the first call are kept and used again in later calls; use the params of each call.",
    read="Python tutorial, Default argument values",
)
def multi_head_attention__params_remembered(x, params, n_heads, mask=None, cache={}):
    params = cache.setdefault(x.shape, params)
    q, k, v = (split_heads(x @ params[name], n_heads) for name in ("w_q", "w_k", "w_v"))
    mask = None if mask is None else mask[..., np.newaxis, :, :]
    return merge_heads(scaled_dot_product_attention(q, k, v, mask)[0]) @ params["w_o"]


@misconception(
    "The heads are collected in a float64 array; the result has the dtype of the arguments.",
    read="np.zeros, argument dtype",
)
def multi_head_attention__always_float64(x, params, n_heads, mask=None):
    q, k, v = (split_heads(x @ params[name], n_heads) for name in ("w_q", "w_k", "w_v"))
    mask = None if mask is None else mask[..., np.newaxis, :, :]
    heads = np.zeros(v.shape)
    heads[...] = scaled_dot_product_attention(q, k, v, mask)[0]
    return merge_heads(heads) @ params["w_o"]


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
        ((np.array([[1, 0, 2]]),), {}),
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
